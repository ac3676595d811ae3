"""What a pytest item is as a check: its id, its rule, what it needs, how many examples it wants."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import hypothesis
import pytest

from conformance.catalogue import Rule, rule_of_module
from conformance.modules import first_sentence
from conformance.wire.vocabulary import Flag

T = TypeVar("T")

EDGE = "edge"
MARKERS = (
    f"{EDGE}: the check is of targets that are reached over HTTP alone",
    "needs(flags=[Flag.X], controls=['clock']): what the target must offer for the check to be exercised",
    "examples(factor): scale the number of generated examples of the check",
)


@dataclass(frozen=True, slots=True)
class Check:
    """A check: ``flags`` and ``controls`` are what it needs of the target.

    ``drawn``: it is a property, of drawn examples; ``factor`` scales their number, as its marks say.
    """

    check_id: str
    rule: Rule
    sentence: str
    flags: tuple[Flag, ...]
    controls: tuple[str, ...]
    factor: float
    drawn: bool = False


def check_of(item: pytest.Item) -> Check | None:
    """Return the check that an item is, None where it is none of a rule module."""
    rule = rule_of_module(item.path.stem)
    if rule is None or not isinstance(item, pytest.Function):
        return None
    marked = list(item.iter_markers("needs"))
    flags = [*map(Flag, rule.flags), *(flag for mark in marked for flag in mark.kwargs.get("flags", ()))]
    controls = [control for mark in marked for control in mark.kwargs.get("controls", ())]
    return Check(
        check_id=f"{rule.rule_id}.{item.name.removeprefix('test_')}",
        rule=rule,
        sentence=first_sentence(inspect.getdoc(item.function)),
        flags=_unique(flags),
        controls=_unique(controls),
        factor=_factor(item),
        drawn=hypothesis.is_hypothesis_test(item.function),
    )


def _factor(item: pytest.Item) -> float:
    factor = 1.0
    for mark in item.iter_markers("examples"):
        factor *= float(mark.args[0] if mark.args else mark.kwargs["factor"])
    return factor


def _unique(values: Sequence[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))
