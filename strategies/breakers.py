"""How each keyword of a schema is broken: one table, one signature.

A breaker gets the keyword's argument, a valid value at the place where the keyword applies, and the surroundings. It gives
values that break the keyword, the best first; a value that breaks others too is sorted out by whoever proves the edit. What it
gives is wrong under every reading of the contract: 5.0 is an integer and true is not (protocol.md section 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.wire.validation import pointer
from strategies.schema_walk import Site
from strategies.timestamps import INVALID_TIMESTAMPS

Sample = Callable[[str], Any]
"""Gives a valid value for a reference of the bundle."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a breaker may need besides the value: the site, the other sites of the request by place, and valid values."""

    site: Site
    by_place: Mapping[str, Sequence[Site]]
    sample: Sample

    @property
    def beside(self) -> Mapping[str, Any]:
        """The schema object that holds the keyword."""
        return self.site.beside

    def constants(self) -> Iterator[Any]:
        """Give the values that other keywords name at the same place: right there, and yet wrong here."""
        for other in self.by_place.get(pointer(self.site.spot.place), ()):
            if other.keyword in ("enum", "const"):
                yield from other.argument if other.keyword == "enum" else [other.argument]

    def valid(self, *segments: str) -> Any:
        """Give a valid value for a schema below the one that holds the keyword."""
        return self.sample(self.site.spot.inside(*segments).ref)

    def valid_member(self) -> Any:
        """Give a value for the member that the keyword speaks of, as other keywords of the request want it."""
        described = self.by_place.get(self.site.pointer, ())
        return self.sample(described[0].spot.ref) if described else None


Breaker = Callable[[Any, Any, Surroundings], Iterator[Any]]

_OF_TYPE: Mapping[str, Sequence[Any]] = {
    "null": (None,),
    "string": ("", "a", "5", "true"),
    "object": ({}, {"a": 1}),
    "array": ([], [1]),
    "boolean": (True, False),
    "number": (0.5, 1.5),
    "integer": (0, 1, 5),
}


def _coercible(value: Any) -> Iterator[Any]:
    """Give what lax code turns back into ``value``: the text of a number, the list of one."""
    if isinstance(value, bool):
        yield from ("true" if value else "false", int(value))
    elif isinstance(value, int | float):
        yield from (str(value), value + 0.5)
    yield [value]
    if isinstance(value, list) and value:
        yield value[0]


def _has_type(value: Any, name: str) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    tests = {
        "null": value is None,
        "string": isinstance(value, str),
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "boolean": isinstance(value, bool),
        "number": is_number,
        "integer": is_number and float(value).is_integer(),
    }
    return tests[name]


def _type(argument: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    allowed = [argument] if isinstance(argument, str) else argument
    candidates = (*_coercible(value), *(one for values in _OF_TYPE.values() for one in values))
    for candidate in candidates:
        if not any(_has_type(candidate, name) for name in allowed):
            yield candidate


def _near(value: Any) -> Iterator[Any]:
    """Give values of the same type that careless code takes for ``value``."""
    if isinstance(value, str):
        yield from (
            f"{value}x",
            value.upper(),
            value.title(),
            f"{value} ",
            f" {value}",
            value[:-1],
            f"{value}\x00",
            f"{value}\n",
            "",
        )
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, -value)
    elif isinstance(value, dict):
        yield {**value, "a": 1}


def _enum(argument: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    yield from (one for one in around.constants() if one not in argument)
    for near in (*_near(value), *(near for one in argument for near in _near(one))):
        if near not in argument:
            yield near


def _const(argument: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    yield from _enum([argument], value, around)


def _required(name: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    yield {key: member for key, member in value.items() if key != name}


_STRANGERS = ("unexpected", "op", "principal_id", "principal", "__proto__", "constructor", "", "$comment", "a.b", "\U0001f600")
"""Names that no schema of the family knows, those of what a request must never say among them (protocol.md section 1)."""


def _unknown_members(_argument: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    known = around.beside.get("properties", {})
    alike = [other for name in known for other in (name.title(), f"{name}s", f"{name} ", name.replace("_", ""))]
    for name in (*_STRANGERS, *alike):
        if name not in known:
            yield {**value, name: "a"}
            yield {**value, name: None}


def _forbidden(_argument: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    yield {**value, str(around.site.member): around.valid_member()}


def _min_length(limit: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    yield value[: int(limit) - 1]
    yield "\U0001f600" * (int(limit) - 1)  # two UTF-16 units, four bytes, but one character


def _max_length(limit: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    longer = int(limit) + 1
    yield value.ljust(longer, "a")
    yield "a" * longer
    yield "\U0001f600" * longer
    yield "a" * (longer * 40)


def _pattern(_argument: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    # a newline at the end slips through where ``$`` matches before it; the last digits are letters to nobody
    yield from (
        f"{value}\n",
        value.upper(),
        value[:-1],
        f"{value}a",
        f" {value}",
        f"{value} ",
        f"x{value[1:]}",
        f"{value}\x00",
        "",
        "\n",
    )
    yield from (
        f"{value[:-1]}g",
        f"{value[:-1]}\uff10",
        value.replace(":", "", 1),
        value.replace("-", "/"),
        f"A{value}",
        "a b",
        "1a",
    )
    yield from INVALID_TIMESTAMPS


def _format(name: Any, _value: Any, _around: Surroundings) -> Iterator[Any]:
    yield from _BAD_FORMATS.get(str(name), ("", "a b", "\x00"))


_BAD_FORMATS: Mapping[str, Sequence[str]] = {
    "date-time": INVALID_TIMESTAMPS,
    "date": ("2025-02-29", "2025-13-01", "2025-1-1", "yesterday", ""),
    "uri": ("a b", "/a", "://", "", "http://[", "\\"),
    "uuid": ("", "00000000-0000-0000-0000-00000000000g", "00000000000000000000000000000000x"),
}


def _minimum(limit: Any, _value: Any, _around: Surroundings) -> Iterator[Any]:
    yield from (limit - 1, limit - 0.5, -(2**53), -1e308, limit - 2)


def _maximum(limit: Any, _value: Any, _around: Surroundings) -> Iterator[Any]:
    yield from (limit + 1, limit + 0.5, 2**53, 1e308)


def _exclusive(limit: Any, _value: Any, _around: Surroundings) -> Iterator[Any]:
    yield limit


def _multiple_of(unit: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    yield from (value + 1, value + unit / 2)


def _min_items(limit: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    yield value[: int(limit) - 1]
    yield []


def _max_items(limit: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    missing = int(limit) + 1 - len(value)
    if isinstance(around.beside.get("items"), Mapping):
        yield [*value, *(around.valid("items") for _ in range(missing))]
    yield (value or [None]) * (int(limit) + 1)


def _unique_items(_argument: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    if value:
        yield [*value, value[0]]
        yield [value[-1], *value]


def _contains(_argument: Any, _value: Any, _around: Surroundings) -> Iterator[Any]:
    yield from ([], [None], ["a"], [0], [{}])


def _additional_items(_argument: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    extras: Sequence[Any] = (None, "a", 0, {})
    yield from ([*value, extra] for extra in extras)


def _min_properties(limit: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    needed = [name for name in around.beside.get("required", ()) if name in value]
    order = [*needed, *(name for name in value if name not in needed)]
    yield {name: value[name] for name in order[: int(limit) - 1]}


def _max_properties(limit: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    members = around.beside.get("properties", {})
    yield {**{name: around.valid("properties", name) for name in members if members[name] is not False}, **value}
    rule = around.beside.get("additionalProperties", True)
    if rule is not False:
        names = [f"a{index}" for index in range(int(limit) + 1)]
        yield {**value, **{name: around.valid("additionalProperties") if rule is not True else None for name in names}}


def _dependencies(pair: Any, value: Any, _around: Surroundings) -> Iterator[Any]:
    yield {key: member for key, member in value.items() if key != pair[1]}


def _not(schema: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    wanted = around.valid("not")
    if isinstance(value, dict) and isinstance(wanted, dict):
        known = around.beside.get("properties", {})
        yield {**value, **{name: around.valid("properties", name) for name in schema.get("required", ()) if name in known}}
        yield {**value, **wanted}
    yield wanted


def _no_branch(_branches: Any, value: Any, around: Surroundings) -> Iterator[Any]:
    """Give values that no branch takes: a stranger where the branches tell themselves apart, a member less, another type."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield {**value, name: next(_near(member), None)}
        for name in value:
            yield {key: member for key, member in value.items() if key != name}
        yield {}
    yield from _type([name for name in _OF_TYPE if _has_type(value, name)], value, around)


BREAKERS: Mapping[str, Breaker] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "additionalProperties": _unknown_members,
    "false": _forbidden,
    "minLength": _min_length,
    "maxLength": _max_length,
    "pattern": _pattern,
    "format": _format,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive,
    "exclusiveMaximum": _exclusive,
    "multipleOf": _multiple_of,
    "minItems": _min_items,
    "maxItems": _max_items,
    "uniqueItems": _unique_items,
    "contains": _contains,
    "additionalItems": _additional_items,
    "minProperties": _min_properties,
    "maxProperties": _max_properties,
    "dependencies": _dependencies,
    "not": _not,
    "oneOf": _no_branch,
    "anyOf": _no_branch,
}
"""Keyword -> how it is broken. Every keyword that the walk can find is here (tests/test_negatives.py)."""
