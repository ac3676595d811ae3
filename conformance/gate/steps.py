"""The way to a place inside an instance, and the schema of the instances in which such a place holds a given value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from conformance.gate.forms import Schema

StepKind = Literal["member", "pattern", "other", "name", "item", "any", "there", "holds", "breaks"]


@dataclass(frozen=True)
class Step:
    """One step of a way.

    Down the instance go ``member`` (``name``), ``pattern`` (a member whose name it matches), ``other`` (a member that is none of
    ``known``), ``item`` (at index ``name``) and ``any`` (an item from index ``name`` on). At the same place stay ``name`` (the
    name of a member), ``there`` (the member ``name`` is there), ``holds`` and ``breaks`` (a ``schema`` beside).
    """

    kind: StepKind
    name: str = ""
    known: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    schema: Schema = True

    @property
    def down(self) -> tuple[str, ...]:
        """What the step adds to a JSON pointer."""
        if self.kind in ("member", "item"):
            return (self.name,)
        return ("*",) if self.kind in ("pattern", "other", "any") else ()


Steps = tuple[Step, ...]


def leading(steps: Steps, goal: Schema) -> Schema:
    """Give the schema of what has a place at the end of the way that meets ``goal``."""
    for step in reversed(steps):
        goal = _LEADING[step.kind](step, goal)
    return goal


def _member(step: Step, goal: Schema) -> Schema:
    return {"type": "object", "required": [step.name], "properties": {step.name: goal}}


def _pattern(step: Step, goal: Schema) -> Schema:
    return {"type": "object", "not": {"patternProperties": {step.name: {"not": goal}}}}


def _other(step: Step, goal: Schema) -> Schema:
    named = dict.fromkeys(step.known, True)
    patterned = dict.fromkeys(step.patterns, True)
    broken: dict[str, Any] = {"properties": named, "patternProperties": patterned, "additionalProperties": {"not": goal}}
    return {"type": "object", "not": {keyword: value for keyword, value in broken.items() if value}}


def _name(_step: Step, goal: Schema) -> Schema:
    return {"type": "object", "not": {"propertyNames": {"not": goal}}}


def _item(step: Step, goal: Schema) -> Schema:
    index = int(step.name)
    return {"type": "array", "minItems": index + 1, "items": [*([True] * index), goal]}


def _any(step: Step, goal: Schema) -> Schema:
    first = int(step.name or 0)
    if first:
        return {"type": "array", "not": {"items": [True] * first, "additionalItems": {"not": goal}}}
    return {"type": "array", "contains": goal}


def _there(step: Step, goal: Schema) -> Schema:
    return {"allOf": [{"type": "object", "required": [step.name]}, goal]}


_LEADING: Mapping[str, Callable[[Step, Schema], Schema]] = MappingProxyType(
    {
        "member": _member,
        "pattern": _pattern,
        "other": _other,
        "name": _name,
        "item": _item,
        "any": _any,
        "there": _there,
        "holds": lambda step, goal: {"allOf": [step.schema, goal]},
        "breaks": lambda step, goal: {"allOf": [{"not": step.schema}, goal]},
    }
)
