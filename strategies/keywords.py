"""The keywords of draft-07, as rows: what an instance is where a keyword holds, and what it is where it is broken.

Both tables say it in fields of ``cases.Case``. A keyword that applies other schemas to the same instance (``allOf``, ``not`` and
their like) has no row; ``normalise`` multiplies these out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from strategies.cases import KINDS, OF_TYPE, Case, Gap, Items, Outside, Shape, Sub
from strategies.patterns import UnreadPattern, read, shortest
from strategies.schema_source import Located


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword where it stands: the schema around it, its value, and how often recursion may still go on inside."""

    at: Located
    left: int
    value: Any


Row = TypeVar("Row")

_SHAPE = ("properties", "patternProperties", "additionalProperties")
_NUMBERS = frozenset({"integer", "fraction"})


def _kinds_of(types: Any) -> frozenset[str]:
    return frozenset().union(*(OF_TYPE[name] for name in ([types] if isinstance(types, str) else types)))


def _shape(at: Located, left: int) -> dict[str, Any]:
    def subs(keyword: str) -> dict[str, Sub]:
        return {name: Sub(at.child(keyword, name), left=left) for name in at.schema.get(keyword, {})}

    other = Sub(at.child("additionalProperties"), left=left) if at.has("additionalProperties") else None
    return {"shapes": (Shape(subs("properties"), tuple(subs("patternProperties").items()), other),)}


def _items(at: Located, left: int) -> dict[str, Any]:
    if not isinstance(at.schema["items"], list):
        return {"items": (Items((), Sub(at.child("items"), left=left)),)}
    first = tuple(Sub(at.child("items", index), left=left) for index in range(len(at.schema["items"])))
    rest = Sub(at.child("additionalItems"), left=left) if at.has("additionalItems") else None
    return {"items": (Items(first, rest),)}


def _field(name: str, wrap: Callable[[Any], Any] = lambda value: value) -> Callable[[Keyword], dict[str, Any]]:
    return lambda k: {name: wrap(k.value)}


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return (value,)


ASSERTIONS: Mapping[str, Callable[[Keyword], dict[str, Any]]] = MappingProxyType(
    {
        "type": _field("kinds", _kinds_of),
        "enum": _field("values", tuple),
        "const": _field("values", _as_tuple),
        "minimum": _field("minimum"),
        "maximum": _field("maximum"),
        "exclusiveMinimum": _field("above"),
        "exclusiveMaximum": _field("below"),
        "multipleOf": _field("multiples", _as_tuple),
        "minLength": _field("min_length", int),
        "maxLength": _field("max_length", int),
        "pattern": _field("patterns", _as_tuple),
        "format": _field("formats", _as_tuple),
        "minItems": _field("min_items", int),
        "maxItems": _field("max_items", int),
        "uniqueItems": _field("unique", bool),
        "items": lambda k: _items(k.at, k.left),
        "contains": lambda k: {"contains": (Sub(k.at.child("contains"), left=k.left),)},
        "minProperties": _field("min_properties", int),
        "maxProperties": _field("max_properties", int),
        "required": _field("required", tuple),
        "properties": lambda k: _shape(k.at, k.left),
        "patternProperties": lambda k: _shape(k.at, k.left),
        "additionalProperties": lambda k: _shape(k.at, k.left),
        "propertyNames": lambda k: {"names": (Sub(k.at.child("propertyNames"), left=k.left),)},
    }
)
"""What each keyword demands, as fields of a case."""


def only(*kinds: str, **demands: Any) -> list[Case]:
    """Give the case of a value of these kinds, with further demands."""
    return [Case(kinds=frozenset(kinds), **demands)]


def _not_items(at: Located, left: int) -> list[Case]:
    first = at.schema["items"]
    if isinstance(first, list):
        places = [Sub(at.child("items", index), False, left) for index in range(len(first))]
        places += [Sub(at.child("additionalItems"), False, left)] if at.has("additionalItems") else []
        return [_broken_at(at, index, sub) for index, sub in enumerate(places)]
    return only("array", contains=(Sub(at.child("items"), False, left),))


def _broken_at(at: Located, index: int, broken: Sub) -> Case:
    anything = Sub(Located(True, f"{at.where}#any", at.resolver))
    return Case(kinds=frozenset({"array"}), min_items=index + 1, items=(Items((*[anything] * index, broken), None),))


def _not_pattern(at: Located, pattern: str, sub: Sub) -> Case:
    """Break a pattern's schema with the shortest name that the pattern takes."""
    try:
        name = shortest(read(pattern))
    except UnreadPattern:
        return Case(gap=Gap(at.where, "patternProperties"))
    return Case(kinds=frozenset({"object"}), required=(name,), shapes=(Shape({name: replace(sub, holds=False)}, (), None),))


def _not_shape(at: Located, left: int) -> list[Case]:
    (shape,) = _shape(at, left)["shapes"]
    cases = [
        Case(kinds=frozenset({"object"}), required=(name,), shapes=(Shape({name: replace(sub, holds=False)}, (), None),))
        for name, sub in shape.named.items()
        if sub.located.schema not in (True, {})
    ]
    cases += [_not_pattern(at, pattern, sub) for pattern, sub in shape.patterned]
    if shape.other is not None and shape.other.located.schema not in (True, {}):
        cases.append(Case(kinds=frozenset({"object"}), outside=(Outside(shape, replace(shape.other, holds=False)),)))
    return cases


OPPOSITES: Mapping[str, Callable[[Keyword], list[Case]]] = MappingProxyType(
    {
        "type": lambda k: only(*(frozenset(KINDS) - _kinds_of(k.value))),
        "enum": lambda k: [Case(excluded=tuple(k.value))],
        "const": lambda k: [Case(excluded=(k.value,))],
        "minimum": lambda k: only(*_NUMBERS, below=k.value),
        "maximum": lambda k: only(*_NUMBERS, above=k.value),
        "exclusiveMinimum": lambda k: only(*_NUMBERS, maximum=k.value),
        "exclusiveMaximum": lambda k: only(*_NUMBERS, minimum=k.value),
        "multipleOf": lambda k: only(*_NUMBERS, unmultiples=(k.value,)),
        "minLength": lambda k: only("string", max_length=int(k.value) - 1) if k.value else [],
        "maxLength": lambda k: only("string", min_length=int(k.value) + 1),
        "pattern": lambda k: only("string", unpatterns=(k.value,)),
        "format": lambda k: only("string", unformats=(k.value,)),
        "minItems": lambda k: only("array", max_items=int(k.value) - 1) if k.value else [],
        "maxItems": lambda k: only("array", min_items=int(k.value) + 1),
        "uniqueItems": lambda k: only("array", repeated=True) if k.value else [],
        "items": lambda k: _not_items(k.at, k.left),
        "contains": lambda k: only("array", items=(Items((), Sub(k.at.child("contains"), False, k.left)),)),
        "minProperties": lambda k: only("object", max_properties=int(k.value) - 1) if k.value else [],
        "maxProperties": lambda k: only("object", min_properties=int(k.value) + 1),
        "required": lambda k: [case for name in k.value for case in lacking(k.at, name)],
        "properties": lambda k: _not_shape(k.at, k.left),
        "patternProperties": lambda k: _not_shape(k.at, k.left),
        "additionalProperties": lambda k: _not_shape(k.at, k.left),
        "propertyNames": lambda k: only("object", strange=(Sub(k.at.child("propertyNames"), False, k.left),)),
    }
)
"""What an instance is where the keyword is broken: one of these cases. A keyword without a row cannot be turned round."""


def lacking(at: Located, name: str) -> list[Case]:
    """Give the case of an object without this member."""
    nothing = Sub(Located(False, f"{at.where}/required#{name}", at.resolver))
    return only("object", shapes=(Shape({name: nothing}, (), None),))


def rows(table: Mapping[str, Callable[[Keyword], Row]], at: Located, left: int) -> Iterator[Row]:
    """Give the answers of a table for the keywords of a schema; those that speak of members together are asked once."""
    shape = next((name for name in _SHAPE if at.has(name)), None)
    for word, value in at.schema.items():
        if word in table and (word == shape or word not in _SHAPE):
            yield table[word](Keyword(at, left, value))
