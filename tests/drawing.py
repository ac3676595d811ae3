"""Draw many values of a strategy inside a test, the same ones each time."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

ROUND = 12
"""After ten examples Hypothesis begins to vary what it has; many short rounds give more different values than a long one."""


def drawn(strategy: SearchStrategy[Any], examples: int, *, start: int = 0) -> list[Any]:
    """Draw at most ``examples`` values, in rounds with the seeds ``start``, ``start + 1`` and so on."""
    values: list[Any] = []
    for number in range(0, examples, ROUND):
        _one_round(strategy, values, min(ROUND, examples - number), start + number // ROUND)
    return values


def _one_round(strategy: SearchStrategy[Any], values: list[Any], count: int, number: int) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        values.append(value)

    collect()
