"""A schema in plain form: what it says, without how it is written.

References are followed, ``allOf`` is merged, annotations and keywords that say nothing are gone, lists without order are sorted.
Two schemas with equal forms accept the same instances; the reverse holds often, not always.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from strategies.cases import KINDS

Schema = bool | dict[str, Any]


@dataclass(frozen=True, eq=False)
class Form:
    """The plain form of one schema.

    ``keywords`` maps a keyword to its value, in which each schema is a ``Form``. ``kinds`` stands for ``type``, ``alternatives``
    for ``anyOf`` and ``oneOf``, ``conditions`` for ``if``; ``never`` is the schema that accepts nothing. ``where`` is the
    absolute reference of the schema; it is no part of what the form says.
    """

    keywords: Mapping[str, Any]
    where: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """A text that is equal for equal forms."""
        said = {name: _keyed(value) for name, value in self.keywords.items()}
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    @property
    def anything(self) -> bool:
        """True where every instance is accepted."""
        return not self.keywords

    @property
    def nothing(self) -> bool:
        """True where no instance is accepted."""
        return "never" in self.keywords

    def schema(self) -> Schema:
        """Write the form as a schema that stands alone."""
        if self.nothing:
            return False
        return written(self.keywords) if self.keywords else True

    def at(self, where: str) -> Form:
        """Give the same form for another place."""
        return Form(self.keywords, where)

    def __getitem__(self, keyword: str) -> Any:
        """Give a keyword's value, or what stands for its absence."""
        return self.keywords.get(keyword, ABSENT.get(keyword))


@dataclass(frozen=True)
class Alternatives:
    """``anyOf``, or ``oneOf`` where that is not the same. ``disjoint``: no instance meets two of them."""

    forms: tuple[Form, ...]
    disjoint: bool
    exactly_one: bool


@dataclass(frozen=True)
class Condition:
    """``if``, ``then`` and ``else``."""

    condition: Form
    then: Form
    otherwise: Form


@dataclass(frozen=True)
class Recursion:
    """A reference back to a schema that this one is part of: how many recursive schemas up, and which."""

    steps: int
    where: str


ANYTHING = Form(MappingProxyType({}))
NOTHING = Form(MappingProxyType({"never": True}))

ABSENT: Mapping[str, Any] = MappingProxyType(
    {
        "kinds": KINDS,
        "minLength": 0,
        "minItems": 0,
        "minProperties": 0,
        "required": (),
        "pattern": (),
        "format": (),
        "multipleOf": (),
        "properties": MappingProxyType({}),
        "patternProperties": MappingProxyType({}),
        "additionalProperties": ANYTHING,
        "propertyNames": (),
        "items": (),
        "rest": ANYTHING,
        "contains": (),
        "not": (),
        "alternatives": (),
        "conditions": (),
        "dependencies": MappingProxyType({}),
        "unmerged": (),
    }
)
"""What it means where a keyword of a form is not there."""


def _keyed(value: Any) -> Any:
    if isinstance(value, Form):
        return value.key
    if isinstance(value, Alternatives):
        return [value.exactly_one, sorted(form.key for form in value.forms)]
    if isinstance(value, Recursion):
        return value.steps
    if isinstance(value, Condition):
        return [value.condition.key, value.then.key, value.otherwise.key]
    if isinstance(value, Mapping):
        return {name: _keyed(inner) for name, inner in value.items()}
    return [_keyed(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _types(kinds: tuple[str, ...]) -> Schema:
    names = [kind for kind in kinds if kind not in ("integer", "fraction")]
    if "fraction" in kinds and "integer" not in kinds:
        return {"type": [*names, "number"], "not": {"type": "integer"}}
    names += ["number"] if "fraction" in kinds else ["integer"] if "integer" in kinds else []
    return {"type": names[0] if len(names) == 1 else names}


def _named(value: Mapping[str, Form]) -> dict[str, Schema]:
    return {name: form.schema() for name, form in value.items()}


def _each(keyword: str) -> Callable[[Any], list[Schema]]:
    return lambda values: [{keyword: value.schema() if isinstance(value, Form) else value} for value in values]


def _alternatives(values: tuple[Alternatives, ...]) -> list[Schema]:
    return [{"oneOf" if one.exactly_one else "anyOf": [form.schema() for form in one.forms]} for one in values]


def _conditions(values: tuple[Condition, ...]) -> list[Schema]:
    return [{"if": one.condition.schema(), "then": one.then.schema(), "else": one.otherwise.schema()} for one in values]


# form's keyword -> schemas that say it, to be held together
_SEVERAL: Mapping[str, Callable[[Any], list[Schema]]] = MappingProxyType(
    {
        "kinds": lambda value: [_types(value)],
        "pattern": _each("pattern"),
        "format": _each("format"),
        "multipleOf": _each("multipleOf"),
        "propertyNames": _each("propertyNames"),
        "contains": _each("contains"),
        "not": _each("not"),
        "alternatives": _alternatives,
        "conditions": _conditions,
        "unmerged": lambda value: [form.schema() for form in value],
        "recursive": lambda value: [{"$ref": value.where}],
    }
)
# form's keyword -> (the schema's, its value)
_ONE: Mapping[str, tuple[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "properties": ("properties", _named),
        "patternProperties": ("patternProperties", _named),
        "dependencies": ("dependencies", _named),
        "additionalProperties": ("additionalProperties", Form.schema),
        "enum": ("enum", list),
        "required": ("required", list),
    }
)


def written(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Write some keywords of a form as one schema."""
    made = {_ONE[name][0]: _ONE[name][1](value) for name, value in keywords.items() if name in _ONE}
    made |= _items(keywords)
    made |= {name: value for name, value in keywords.items() if name in SCALARS}
    beside: list[Schema] = []
    for part in (schema for name, value in keywords.items() if name in _SEVERAL for schema in _SEVERAL[name](value)):
        if isinstance(part, dict) and "$ref" not in part and not set(part) & set(made):
            made |= part
        else:
            beside.append(part)
    return {**made, "allOf": beside} if beside else made


def _items(keywords: Mapping[str, Any]) -> dict[str, Any]:
    first, rest = keywords.get("items", ()), keywords.get("rest", ANYTHING)
    if first:
        return {"items": [form.schema() for form in first], "additionalItems": rest.schema()}
    return {} if rest.anything else {"items": rest.schema()}


SCALARS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems",
    "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
"""Keywords whose value is a number or a truth, the same in a form as in a schema."""

OF_KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "string": ("minLength", "maxLength", "pattern", "format"),
        "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        "array": ("minItems", "maxItems", "uniqueItems", "items", "rest", "contains"),
        "object": (
            "minProperties", "maxProperties", "required", "properties", "patternProperties", "additionalProperties",
            "propertyNames", "dependencies",
        ),
    }
)  # fmt: skip
"""Which keywords speak of which kind of value; the others speak of all."""
