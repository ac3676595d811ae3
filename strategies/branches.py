"""What the values of a schema can differ in: options there or not, alternatives, conditions, listed values, sizes.

This is the denominator of a coverage figure, so it is walked from the schema and knows nothing of the compiler. The same walk
tells which of it some values reached.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from conformance.wire.canonical import same
from strategies.admission import kind_of
from strategies.cases import OF_TYPE
from strategies.patterns import searches
from strategies.schema_source import Located, SchemaSource

BranchKind = Literal["present", "absent", "value", "kind", "alternative", "condition", "size"]


@dataclass(frozen=True, slots=True)
class Branch:
    """One thing to reach: where in the instance (``*`` is any item or member), what it is, and which schema says so."""

    pointer: str
    kind: BranchKind
    label: str
    where: str


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the walk stands: the schema, the place in the instance, the values there, references on the way, required names."""

    at: Located
    pointer: str
    values: Sequence[Any]
    trail: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()

    def inside(self, at: Located, name: str, values: Sequence[Any]) -> _Spot:
        return _Spot(at, f"{self.pointer}/{name}", values, self.trail)

    def applied(self, at: Located, values: Sequence[Any]) -> _Spot:
        return replace(self, at=at, values=values, required=self.required | {*self.at.schema.get("required", ())})


Reached = tuple[Branch, bool]


def all_branches(source: SchemaSource, ref: str) -> tuple[Branch, ...]:
    """List the branches of what a reference names, in the order of the schema. Recursion is followed once."""
    return tuple(dict.fromkeys(branch for branch, _ in _walk(source, _Spot(source.at(ref), "", []))))


def reached(source: SchemaSource, ref: str, values: Sequence[Any]) -> frozenset[Branch]:
    """Give the branches that at least one of these values takes."""
    return frozenset(branch for branch, hit in _walk(source, _Spot(source.at(ref), "", values)) if hit)


def _walk(source: SchemaSource, spot: _Spot) -> Iterator[Reached]:
    if isinstance(spot.at.schema, bool):
        return
    if spot.at.has("$ref"):
        target = source.follow(spot.at)
        if target.where not in spot.trail:
            yield from _walk(source, replace(spot, at=target, trail=(*spot.trail, target.where)))
        return
    yield from _values(spot)
    yield from _kinds(spot)
    for part in (_members, _items, _alternatives, _conditions):
        yield from part(source, spot)


def _values(spot: _Spot) -> Iterator[Reached]:
    for listed in spot.at.schema.get("enum", ()):
        hit = any(same(value, listed) for value in spot.values)
        yield Branch(spot.pointer, "value", json.dumps(listed), spot.at.where), hit


def _kinds(spot: _Spot) -> Iterator[Reached]:
    types = spot.at.schema.get("type", [] if _says_something(spot.at) else [*OF_TYPE])
    names = [types] if isinstance(types, str) else types
    if names == ["boolean"]:
        for truth in (False, True):
            hit = any(value is truth for value in spot.values)
            yield Branch(spot.pointer, "value", json.dumps(truth), spot.at.where), hit
    for name in names if len(names) > 1 else ():
        hit = any(kind_of(value) in OF_TYPE[name] for value in spot.values)
        yield Branch(spot.pointer, "kind", name, spot.at.where), hit


def _says_something(at: Located) -> bool:
    return any(word not in _ANNOTATIONS for word in at.schema)


_ANNOTATIONS = ("description", "title", "examples", "default", "definitions", "$comment", "$id", "$schema")


def _members(source: SchemaSource, spot: _Spot) -> Iterator[Reached]:
    at, objects = spot.at, [value for value in spot.values if isinstance(value, dict)]
    required = spot.required | {*at.schema.get("required", ())}
    for name, schema in at.schema.get("properties", {}).items():
        if schema is False:
            continue
        inner = [value[name] for value in objects if name in value]
        if name not in required:
            yield Branch(f"{spot.pointer}/{name}", "present", name, at.where), bool(inner)
            yield Branch(f"{spot.pointer}/{name}", "absent", name, at.where), len(inner) < len(objects)
        yield from _walk(source, spot.inside(at.child("properties", name), name, inner))
    for inside, matches in _unnamed(at):
        names = [[name for name in value if matches(name)] for value in objects]
        yield Branch(f"{spot.pointer}/*", "present", "*", inside.where), any(names)
        yield Branch(f"{spot.pointer}/*", "absent", "*", inside.where), not all(names)
        inner = [value[name] for value, found in zip(objects, names, strict=True) for name in found]
        yield from _walk(source, spot.inside(inside, "*", inner))


def _unnamed(at: Located) -> Iterator[tuple[Located, Callable[[str], bool]]]:
    """Give the schemas of members that are not named, each with the test of its names."""
    patterns = at.schema.get("patternProperties", {})
    for pattern in patterns:
        yield at.child("patternProperties", pattern), partial(searches, pattern)
    other = at.schema.get("additionalProperties", at.schema.get("type") == "object")
    if other is not False:
        inside = at.child("additionalProperties") if at.has("additionalProperties") else replace(at, schema=True)
        named = at.schema.get("properties", {})
        yield inside, lambda name: name not in named and not any(searches(pattern, name) for pattern in patterns)


def _items(source: SchemaSource, spot: _Spot) -> Iterator[Reached]:
    at, arrays = spot.at, [value for value in spot.values if isinstance(value, list)]
    if not isinstance(at.schema.get("items"), dict):
        return
    least, most = at.schema.get("minItems", 0), at.schema.get("maxItems", 2)
    for label, first, last in (("none", 0, 0), ("one", 1, 1), ("several", 2, 10**6)):
        if least <= last and most >= first:
            yield Branch(spot.pointer, "size", label, at.where), any(first <= len(value) <= last for value in arrays)
    yield from _walk(source, spot.inside(at.child("items"), "*", [item for value in arrays for item in value]))


def _alternatives(source: SchemaSource, spot: _Spot) -> Iterator[Reached]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        for index in range(len(spot.at.schema.get(keyword, ()))):
            branch = spot.at.child(keyword, index)
            taken = [value for value in spot.values if source.accepts(branch, value)]
            if keyword != "allOf":
                yield Branch(spot.pointer, "alternative", str(index), branch.where), bool(taken)
            yield from _walk(source, spot.applied(branch, taken))


def _conditions(source: SchemaSource, spot: _Spot) -> Iterator[Reached]:
    at = spot.at
    if not at.has("if"):
        return
    verdicts = [source.accepts(at.child("if"), value) for value in spot.values]
    for word, wanted in (("then", True), ("else", False)):
        taken = [value for value, verdict in zip(spot.values, verdicts, strict=True) if verdict is wanted]
        yield Branch(spot.pointer, "condition", word, at.where), bool(taken)
        if at.has(word):
            yield from _walk(source, spot.applied(at.child(word), taken))
