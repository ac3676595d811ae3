"""One alternative of a schema in plain form: what several keywords, and several schemas together, leave open.

A schema with ``anyOf``, ``oneOf``, ``not``, ``if`` or ``dependencies`` is a list of cases, of which an instance meets at least
one. Two cases that must hold together are merged field by field (``both``), by one table. A case says of each kind of value what
it may be; what it says of strings does not touch numbers.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from conformance.wire.canonical import same
from strategies.schema_source import Located

KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
"""Kinds of values without overlap: a number is an ``integer`` or a ``fraction``; 5.0 is an integer."""

OF_TYPE: Mapping[str, frozenset[str]] = MappingProxyType(
    {kind: frozenset({kind}) for kind in KINDS if kind != "fraction"} | {"number": frozenset({"integer", "fraction"})}
)


@dataclass(frozen=True, slots=True)
class Sub:
    """A demand on a value inside: to meet a schema, or to break it. ``left`` is how often recursion may still go on."""

    located: Located
    holds: bool = True
    left: int = 0

    def forbidding(self) -> Sub:
        """Give the demand for nothing at all, which stands for a member whose name this demand on names refuses."""
        return Sub(Located(False, f"{self.located.where}#name", self.located.resolver))


Conjunction = tuple[Sub, ...]
"""Demands that a value meets all at once; none means any value."""


@dataclass(frozen=True, slots=True)
class Items:
    """What one schema says of an array: of its first items one by one, and of each item after them."""

    first: Conjunction
    rest: Sub | None


@dataclass(frozen=True, slots=True)
class Shape:
    """What one schema says of an object's members: by name, by pattern, and of every other one."""

    named: Mapping[str, Sub]
    patterned: tuple[tuple[str, Sub], ...]
    other: Sub | None


@dataclass(frozen=True, slots=True)
class Outside:
    """A demand for a member that a shape neither names nor has a pattern for, with a value that breaks the shape's ``other``."""

    shape: Shape
    broken: Sub


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a case is not built: recursion goes on too long (``keyword`` is ``$ref``), or the keyword cannot be turned round."""

    where: str
    keyword: str
    why: str = "what breaks this keyword cannot be built"


@dataclass(frozen=True, slots=True)
class Case:
    """The demands of one alternative. A field at its default demands nothing."""

    where: str = ""
    kinds: frozenset[str] = frozenset(KINDS)
    values: tuple[Any, ...] | None = None
    excluded: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    multiples: tuple[float, ...] = ()
    unmultiples: tuple[float, ...] = ()
    min_length: int = 0
    max_length: int | None = None
    patterns: tuple[str, ...] = ()
    unpatterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    unformats: tuple[str, ...] = ()
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False
    repeated: bool = False
    items: tuple[Items, ...] = ()
    contains: tuple[Sub, ...] = ()
    min_properties: int = 0
    max_properties: int | None = None
    required: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    names: Conjunction = ()
    outside: tuple[Outside, ...] = ()
    strange: tuple[Sub, ...] = ()
    gap: Gap | None = field(default=None)


def _either(left: Any, right: Any) -> Any:
    return right if left is None else left


def _larger(left: Any, right: Any) -> Any:
    return _either(left, right) if left is None or right is None else max(left, right)


def _smaller(left: Any, right: Any) -> Any:
    return _either(left, right) if left is None or right is None else min(left, right)


def _joined(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    return left + tuple(item for item in right if item not in left) if left else right


def _common(left: tuple[Any, ...] | None, right: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    if left is None or right is None:
        return _either(left, right)  # type: ignore[no-any-return]
    return tuple(value for value in left if any(same(value, other) for other in right))


_MERGE: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "where": lambda left, right: left or right,
        "kinds": lambda left, right: left & right,
        "values": _common,
        "excluded": lambda left, right: left + right,
        "minimum": _larger,
        "maximum": _smaller,
        "above": _larger,
        "below": _smaller,
        "min_length": max,
        "max_length": _smaller,
        "min_items": max,
        "max_items": _smaller,
        "unique": lambda left, right: left or right,
        "repeated": lambda left, right: left or right,
        "min_properties": max,
        "max_properties": _smaller,
        "gap": _either,
    }
)
_NAMES = tuple(one.name for one in fields(Case))
_MERGES: tuple[Callable[[Any, Any], Any], ...] = tuple(_MERGE.get(name, _joined) for name in _NAMES)
_ALL_OF = attrgetter(*_NAMES)
_DEFAULTS = _ALL_OF(Case())


def both(left: Case, right: Case) -> Case:
    """Merge two cases that must hold together. This is what compiling a schema mostly does, so what is not said costs little."""
    merged = list(_ALL_OF(left))
    for place, value in enumerate(_ALL_OF(right)):
        if value is not _DEFAULTS[place]:
            merged[place] = _MERGES[place](merged[place], value)
    return Case(*merged)


def product(left: list[Case], right: list[Case]) -> list[Case]:
    """Merge each case of one list with each of the other, without those that a glance shows to be impossible."""
    merged = (both(a, b) for a in left for b in right)
    return [case for case in merged if case.kinds and case.values != ()]


def contradicts_itself(case: Case) -> bool:
    """Say whether what the case wants of a string is, word by word, what it forbids."""
    return not {*case.patterns}.isdisjoint(case.unpatterns) or not {*case.formats}.isdisjoint(case.unformats)


def case_label(case: Case) -> str:
    """Name a case: its place, and a sum over all that it says, the same one in each process."""
    said = f"{sorted(case.kinds)} {replace(case, kinds=frozenset())!r}"
    return f"{case.where} {zlib.crc32(said.encode()):08x}"
