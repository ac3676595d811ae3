"""Whether what is hidden is answered as what does not exist (protocol.md section 5, Visibility; rule MEM-R013).

A request is sent for two made-up names and for the hidden one. Where the two answers agree, the third must agree too; where they
differ by themselves (a trace number in ``details``), nothing is asked of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.caller import Caller
from conformance.wire import canonical
from conformance.wire.vocabulary import Code
from conformance.world import World

VARIES = "(varies)"
"""Stands where answers to like requests differ by themselves."""
HOLE = "(the name)"
"""Stands in a request where the hidden name goes."""


def agreed(first: Any, second: Any) -> Any:
    """Return what two answers to like requests have in common; ``VARIES`` stands where they differ."""
    if canonical.same(first, second):
        return first
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) == set(second):
        return {name: agreed(first[name], second[name]) for name in first}
    return VARIES


def masked(pattern: Any, seen: Any) -> Any:
    """Return ``seen`` with ``VARIES`` wherever ``pattern`` has it."""
    if pattern == VARIES:
        return VARIES
    if isinstance(pattern, Mapping) and isinstance(seen, Mapping):
        return {name: masked(pattern.get(name), value) for name, value in seen.items()}
    return seen


def made_up(name: str, number: int) -> str:
    """Return a name shaped like ``name`` that nothing has."""
    return f"{name[:-2]}~{number}"


def told(envelope: Mapping[str, Any], name: str) -> Any:
    """Return what a refusal says, with the name that was asked for taken out of its texts."""
    return _without({"code": envelope["code"], "message": envelope["message"], "details": envelope.get("details", {})}, name)


def _without(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return {member: _without(inner, name) for member, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, name) for inner in value]
    return value.replace(name, HOLE) if isinstance(value, str) else value


def filled(value: Any, name: str) -> Any:
    """Return a request with ``name`` in its hole."""
    if isinstance(value, Mapping):
        return {member: filled(inner, name) for member, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, name) for inner in value]
    return name if value == HOLE else value


class Likeness:
    """What the names that nothing has are answered with in one world, asked once for each kind of request."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._patterns: dict[Any, Any] = {}

    def expect(self, caller: Caller, stem: str, hidden: str, request: Mapping[str, Any], codes: Sequence[Code]) -> None:
        """Expect the refusal for a hidden name to be the one for names that do not exist; ``request`` has ``HOLE`` for it."""
        key = (caller.principal_id, stem, str(request))
        if key not in self._patterns:
            first, second = (self._told(caller, stem, made_up(hidden, number), request, codes) for number in (0, 1))
            self._patterns[key] = agreed(first, second)
        seen = masked(self._patterns[key], self._told(caller, stem, hidden, request, codes))
        self._world.same(self._patterns[key], seen, f"{stem}: what is hidden is told from what does not exist")

    def _told(self, caller: Caller, stem: str, name: str, request: Mapping[str, Any], codes: Sequence[Code]) -> Any:
        return told(caller.refused(stem, *codes, **filled(request, name)), name)
