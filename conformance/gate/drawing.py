"""Values of a strategy, the same ones each time, without a test around them."""

from __future__ import annotations

import time
import unittest
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.strategies import DrawFn, SearchStrategy

ROUND = 12
"""After ten examples Hypothesis begins to vary what it has; several short rounds give more different values than a long one."""

SECONDS = 3.0
"""CPU time that a round may take: a strategy that throws nearly everything away would go on for minutes."""


class _Enough(unittest.SkipTest):
    """The time is over. It is a ``SkipTest`` only so that hypothesis passes it through at once."""


def drawn(strategy: SearchStrategy[Any], count: int, start: int = 0) -> list[Any]:
    """Draw up to ``count`` values, the plainest one first; none where the strategy finds none in time."""
    values: list[Any] = []
    for number in range(0, count, ROUND):
        _one_round(strategy, values, min(ROUND, count - number), start + number // ROUND)
    return values


@st.composite
def _in_time(draw: DrawFn, strategy: SearchStrategy[Any], until: float) -> Any:
    if time.process_time() > until:
        raise _Enough("the time is over")
    return draw(strategy)


def _one_round(strategy: SearchStrategy[Any], values: list[Any], count: int, number: int) -> None:
    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(_in_time(strategy, time.process_time() + SECONDS))
    def collect(value: Any) -> None:
        values.append(value)

    try:
        collect()
    except (Unsatisfiable, _Enough, Flaky):  # that the time is over looks to hypothesis as if the strategy were another one
        return
