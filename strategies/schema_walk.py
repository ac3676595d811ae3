"""A walk over a schema: every keyword that an instance can break, where it stands, and the way that leads there.

The walk goes through ``$ref`` across files, through the branches of ``oneOf`` and ``anyOf``, and through ``then`` and ``else``
(draft-07). It is mechanical: what a bundle says is what is found, so the list of keywords is the denominator of a coverage
figure. An ``if`` asserts nothing, so it is a way and no keyword to break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote, urljoin

from conformance.wire.bundle import Bundle
from conformance.wire.validation import pointer

StepKind = Literal["member", "present", "item", "value", "name", "branch", "then", "else"]

ANY = "*"
"""Stands in a pointer for any item of an array and for any member of a map."""

FORBIDDEN = "false"
"""The keyword of a member that a schema forbids outright (its schema is ``false``)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One decision on the way.

    Down the instance go ``member`` (``name``), ``item`` (``name`` is the index, empty for any) and ``value`` (of a map; ``name``
    is the pattern of its name, empty for any). At the same place stay ``present`` (the member ``name`` is there), ``name`` (the
    names of the members), ``branch`` (``ref`` names it, ``others`` those not to take; ``path`` is its evaluation, ``depth`` how
    far down the instance it stands), ``then`` and ``else`` (``ref`` names the ``if``).
    """

    kind: StepKind
    name: str = ""
    ref: str = ""
    others: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Spot:
    """Where the walk stands: in the instance, in the evaluation (references left out), in the bundle, and how it came there."""

    place: tuple[str, ...]
    path: tuple[str, ...]
    ref: str
    steps: tuple[Step, ...] = ()
    seen: tuple[str, ...] = ()

    def inside(self, *segments: str) -> Spot:
        """Stand deeper in the schema, at the same place of the instance."""
        tail = quote(pointer(segments), safe="/~")
        ref = self.ref + tail if "#" in self.ref else f"{self.ref}#{tail}"
        return replace(self, path=(*self.path, *segments), ref=ref)

    def via(self, step: Step, *down: str) -> Spot:
        """Take a step, which may lead deeper into the instance."""
        return replace(self, steps=(*self.steps, step), place=(*self.place, *down))


@dataclass(frozen=True, slots=True)
class Site:
    """A keyword at a spot. ``argument`` is its value, ``beside`` the schema object that holds it.

    ``member`` is the member that the keyword speaks of, where it is about one: a required name, a forbidden one, a
    dependency; the spot is then the object that has it or has it not.
    """

    spot: Spot
    keyword: str
    argument: Any
    beside: Mapping[str, Any]
    member: str | None = None

    @property
    def pointer(self) -> str:
        """The JSON pointer of what is right or wrong by this keyword, with ``*`` for any item or any map value."""
        own = () if self.member is None else (self.member,)
        return pointer((*self.spot.place, *own))

    @property
    def schema_pointer(self) -> str:
        """The JSON pointer of the keyword in the evaluation, references left out, as ``Problem.schema_pointer`` has it."""
        return pointer(self.evaluation)

    @property
    def evaluation(self) -> tuple[str, ...]:
        """The segments of ``schema_pointer``; a forbidding ``false`` is a schema itself and adds none."""
        return self.spot.path if self.keyword == FORBIDDEN else (*self.spot.path, self.keyword)


Walk = Callable[[Bundle, Spot, Any, Mapping[str, Any]], Iterator[Site]]


def sites(bundle: Bundle, ref: str) -> tuple[Site, ...]:
    """Return every keyword under the schema that ``ref`` names that an instance can break, in the order of the schema."""
    return tuple(_walk(bundle, Spot((), (), ref), bundle.schema(ref)))


def _walk(bundle: Bundle, spot: Spot, schema: Any) -> Iterator[Site]:
    if not isinstance(schema, Mapping):
        return  # ``true`` allows all; ``false`` is found where a member has it
    if "$ref" in schema:  # draft-07: what stands beside a reference counts for nothing
        yield from _follow(bundle, spot, schema["$ref"])
        return
    for keyword, argument in schema.items():
        walk = _WALKS.get(keyword)
        if walk is not None:
            yield from walk(bundle, spot, argument, schema)
        elif keyword in _ASSERTIONS:
            yield Site(spot, keyword, argument, schema)


def _follow(bundle: Bundle, spot: Spot, ref: str) -> Iterator[Site]:
    target = urljoin(spot.ref, ref)
    if target not in spot.seen:  # a recursive schema says the same again one level deeper
        yield from _walk(bundle, replace(spot, ref=target, seen=(*spot.seen, target)), bundle.schema(target))


_ASSERTIONS = frozenset(
    {
        "type", "enum", "const", "minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "contains", "additionalItems",
        "minProperties", "maxProperties", "not",
    }
)  # fmt: skip


def _required(_bundle: Bundle, spot: Spot, names: Any, schema: Mapping[str, Any]) -> Iterator[Site]:
    for name in names:
        yield Site(spot, "required", name, schema, member=name)


def _properties(bundle: Bundle, spot: Spot, members: Any, schema: Mapping[str, Any]) -> Iterator[Site]:
    for name, member in members.items():
        if member is False:
            yield Site(spot.inside("properties", name), FORBIDDEN, False, schema, member=name)
        else:
            yield from _walk(bundle, spot.inside("properties", name).via(Step("member", name), name), member)


def _pattern_properties(bundle: Bundle, spot: Spot, members: Any, _schema: Mapping[str, Any]) -> Iterator[Site]:
    for pattern, member in members.items():
        yield from _walk(bundle, spot.inside("patternProperties", pattern).via(Step("value", pattern), ANY), member)


def _additional_properties(bundle: Bundle, spot: Spot, rule: Any, schema: Mapping[str, Any]) -> Iterator[Site]:
    if rule is False:
        yield Site(spot, "additionalProperties", False, schema)
    yield from _walk(bundle, spot.inside("additionalProperties").via(Step("value"), ANY), rule)


def _property_names(bundle: Bundle, spot: Spot, rule: Any, _schema: Mapping[str, Any]) -> Iterator[Site]:
    yield from _walk(bundle, spot.inside("propertyNames").via(Step("name")), rule)


def _items(bundle: Bundle, spot: Spot, rule: Any, _schema: Mapping[str, Any]) -> Iterator[Site]:
    if isinstance(rule, list):
        for index, one in enumerate(rule):
            yield from _walk(bundle, spot.inside("items", str(index)).via(Step("item", str(index)), str(index)), one)
    else:
        yield from _walk(bundle, spot.inside("items").via(Step("item"), ANY), rule)


def _branches(keyword: str) -> Walk:
    def walk(bundle: Bundle, spot: Spot, branches: Any, schema: Mapping[str, Any]) -> Iterator[Site]:
        yield Site(spot, keyword, branches, schema)
        refs = [spot.inside(keyword, str(index)).ref for index in range(len(branches))]
        for index, branch in enumerate(branches):
            inner = spot.inside(keyword, str(index))
            others = tuple(ref for ref in refs if ref != inner.ref)
            step = Step("branch", ref=inner.ref, others=others, path=inner.path, depth=len(spot.place))
            yield from _walk(bundle, inner.via(step), branch)

    return walk


def _all_of(bundle: Bundle, spot: Spot, parts: Any, _schema: Mapping[str, Any]) -> Iterator[Site]:
    for index, part in enumerate(parts):
        yield from _walk(bundle, spot.inside("allOf", str(index)), part)


def _conditional(kind: Literal["then", "else"]) -> Walk:
    def walk(bundle: Bundle, spot: Spot, consequence: Any, schema: Mapping[str, Any]) -> Iterator[Site]:
        if "if" in schema:
            condition = Step(kind, ref=spot.inside("if").ref)
            yield from _walk(bundle, spot.inside(kind).via(condition), consequence)

    return walk


def _dependencies(bundle: Bundle, spot: Spot, rules: Any, schema: Mapping[str, Any]) -> Iterator[Site]:
    for trigger, rule in rules.items():
        if isinstance(rule, list):
            for needed in rule:
                yield Site(spot.via(Step("present", trigger)), "dependencies", [trigger, needed], schema, member=needed)
        else:
            yield from _walk(bundle, spot.inside("dependencies", trigger).via(Step("present", trigger)), rule)


_WALKS: Mapping[str, Walk] = {
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "items": _items,
    "oneOf": _branches("oneOf"),
    "anyOf": _branches("anyOf"),
    "allOf": _all_of,
    "then": _conditional("then"),
    "else": _conditional("else"),
    "dependencies": _dependencies,
}
"""Keyword -> how the walk goes on below it. A keyword that is neither here nor an assertion says nothing about instances."""
