"""What the tests of strategies ask of hypothesis: the plainest value, and a value of some kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

# ``explain`` re-runs a shrunk value many times over, to tell a person what matters in it; no test here reads that.
_SHRINK = settings(phases=(Phase.generate, Phase.shrink), database=None, derandomize=True, deadline=None)
_GENERATE = settings(phases=(Phase.generate,), database=None, derandomize=True, deadline=None, max_examples=5000)

CALM = settings(deadline=None, suppress_health_check=(HealthCheck.too_slow,))
"""For a property on a busy machine: how long an example takes says nothing of what it shows."""


def plainest(strategy: SearchStrategy[T]) -> T:
    """Return what ``strategy`` shrinks to when anything will do."""
    return find(strategy, lambda _: True, settings=_SHRINK)


def reached(strategy: SearchStrategy[T], wanted: Callable[[T], Any]) -> T:
    """Return some value of ``strategy`` that is wanted. Raises NoSuchExample where 5,000 examples hold none."""
    return find(strategy, lambda drawn: bool(wanted(drawn)), settings=_GENERATE)


def some(strategy: SearchStrategy[T], count: int) -> list[T]:
    """Return up to ``count`` values, the same ones each time. Raises Unsatisfiable where there is none."""
    values: list[T] = []

    @seed(1)
    @settings(max_examples=count, phases=(Phase.generate,), database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: T) -> None:
        values.append(value)

    collect()
    return values
