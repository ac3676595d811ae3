"""Draw many values of a strategy inside a test, the same ones each time."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy


def drawn(strategy: SearchStrategy[Any], examples: int) -> list[Any]:
    """Draw ``examples`` values (fewer where there are no more different ones); nothing random comes in from outside."""
    values: list[Any] = []

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        values.append(value)

    collect()
    return values
