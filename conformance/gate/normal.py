"""From a schema where it stands to its plain form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

from conformance.gate.forms import ANYTHING, NOTHING, SCALARS, Condition, Form, Recursion
from conformance.gate.meeting import alternatives, meet, plain
from strategies.cases import KINDS, OF_TYPE
from strategies.schema_source import Located, SchemaSource

Trail = tuple[str, ...]


class Reader:
    """Reads the schemas of one source; what was read is kept."""

    def __init__(self, source: SchemaSource) -> None:
        self._source = source
        self._read: dict[tuple[str, Trail], Form] = {}

    def form(self, ref: str) -> Form:
        """Give the plain form of what an absolute reference names."""
        return self._form(self._source.at(ref), ())

    def _form(self, at: Located, trail: Trail) -> Form:
        found = self._read.get((at.where, trail))
        if found is None:
            found = self._read[at.where, trail] = self._new(at, trail)
        return found

    def _new(self, at: Located, trail: Trail) -> Form:
        if isinstance(at.schema, bool):
            return (ANYTHING if at.schema else NOTHING).at(at.where)
        if not at.has("$ref"):
            return self._node(at, trail)
        target = self._source.follow(at)
        if target.where in trail:
            back = Recursion(len(trail) - trail.index(target.where), target.where)
            return Form(MappingProxyType({"recursive": back}), at.where)
        return self._form(target, (*trail, target.where) if self._source.recursive(target) else trail)

    def _node(self, at: Located, trail: Trail) -> Form:
        said: dict[str, Any] = {name: at.schema[name] for name in SCALARS if at.has(name)}
        for keyword, value in at.schema.items():
            if keyword in _PLAIN:
                name, read = _PLAIN[keyword]
                said[name] = read(value)
            elif keyword in _NESTED:
                said |= _NESTED[keyword](lambda *path: self._form(at.child(*path), trail), value)
        if "items" in said and at.has("additionalItems"):
            said["rest"] = self._form(at.child("additionalItems"), trail)
        if at.has("if"):
            said["conditions"] = (self._condition(at, trail),)
        own = plain(_both_values(said, at), at.where)
        return reduce(meet, self._applied(at, trail), own).at(at.where)

    def _condition(self, at: Located, trail: Trail) -> Condition:
        parts = [self._form(at.child(word), trail) if at.has(word) else ANYTHING for word in ("if", "then", "else")]
        return Condition(*parts)

    def _applied(self, at: Located, trail: Trail) -> list[Form]:
        def branches(keyword: str) -> list[Form]:
            return [self._form(at.child(keyword, index), trail) for index in range(len(at.schema.get(keyword, ())))]

        found = branches("allOf")
        for keyword in ("anyOf", "oneOf"):
            if at.has(keyword):
                found.append(alternatives(tuple(branches(keyword)), exactly_one=keyword == "oneOf"))
        return found


Child = Callable[..., Form]


def _both_values(said: dict[str, Any], at: Located) -> dict[str, Any]:
    """Hold ``enum`` and ``const`` together."""
    if at.has("const"):
        constant = Form({"enum": (at.schema["const"],)})
        said["enum"] = meet(Form({"enum": said["enum"]}), constant)["enum"] or () if "enum" in said else (at.schema["const"],)
    return said


def _kinds(value: Any) -> tuple[str, ...]:
    allowed = {kind for name in ([value] if isinstance(value, str) else value) for kind in OF_TYPE[name]}
    return tuple(kind for kind in KINDS if kind in allowed)


def _alone(value: Any) -> tuple[Any, ...]:
    return (value,)


# keyword -> (the form's, how its value is read)
_PLAIN: Mapping[str, tuple[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "type": ("kinds", _kinds),
        "enum": ("enum", tuple),
        "pattern": ("pattern", _alone),
        "format": ("format", _alone),
        "multipleOf": ("multipleOf", _alone),
        "required": ("required", lambda names: tuple(dict.fromkeys(names))),
    }
)


def _by_name(keyword: str) -> Callable[[Child, Any], dict[str, Any]]:
    return lambda child, value: {keyword: {name: child(keyword, name) for name in value}}


def _items(child: Child, value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"items": tuple(child("items", index) for index in range(len(value)))}
    return {"rest": child("items")}


def _dependencies(child: Child, value: Any) -> dict[str, Any]:
    def needed(name: str) -> Form:
        rule = value[name]
        return plain({"required": tuple(rule)}, "") if isinstance(rule, list) else child("dependencies", name)

    return {"dependencies": {name: needed(name) for name in value}}


# keyword with schemas -> what it says in a form
_NESTED: Mapping[str, Callable[[Child, Any], dict[str, Any]]] = MappingProxyType(
    {
        "properties": _by_name("properties"),
        "patternProperties": _by_name("patternProperties"),
        "additionalProperties": lambda child, _: {"additionalProperties": child("additionalProperties")},
        "propertyNames": lambda child, _: {"propertyNames": (child("propertyNames"),)},
        "items": _items,
        "contains": lambda child, _: {"contains": (child("contains"),)},
        "not": lambda child, _: {"not": (child("not"),)},
        "dependencies": _dependencies,
    }
)
