"""Values of a strategy, the same ones each time, without a test around them."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

ROUND = 12
"""After ten examples Hypothesis begins to vary what it has; several short rounds give more different values than a long one."""


def drawn(strategy: SearchStrategy[Any], count: int, start: int = 0) -> list[Any]:
    """Draw up to ``count`` values, the plainest one first; none where the strategy finds none."""
    values: list[Any] = []
    for number in range(0, count, ROUND):
        _one_round(strategy, values, min(ROUND, count - number), start + number // ROUND)
    return values


def _one_round(strategy: SearchStrategy[Any], values: list[Any], count: int, number: int) -> None:
    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: Any) -> None:
        values.append(value)

    try:
        collect()
    except Unsatisfiable:
        return
