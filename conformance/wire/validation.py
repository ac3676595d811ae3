"""Validation against one schema of a bundle: a fast verdict and a slow explanation that agree.

``jsonschema-rs`` gives the verdict, ``jsonschema`` the explanation, and the verdict where the first cannot take the value
(an unpaired surrogate has no UTF-8 form).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import jsonschema_rs
from jsonschema import Draft7Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT7

from conformance.wire.formats import compiled, is_timestamp

_MESSAGE_LIMIT = 300
# No schema looks this deep into a value, so what lies deeper cannot change a verdict; printing it would overflow the stack.
_DEPTH_LIMIT = 128
# An integer of more bits overflows a double anyway, and Python refuses to print one of many thousands.
_BITS_LIMIT = 2048


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an instance is not valid: where in it, which keyword of which schema says so, and in words.

    ``pointer`` and ``schema_pointer`` are JSON pointers; the second one goes through references without naming them.
    ``keyword`` is ``false`` where a schema forbids the member outright.
    """

    pointer: str
    keyword: str
    schema_pointer: str
    message: str


def registry_of(documents: Mapping[str, Any]) -> Registry[Any]:
    """Build the registry in which references between documents are looked up; nothing is ever fetched."""
    empty: Registry[Any] = Registry()
    return empty.with_resources((identity, DRAFT7.create_resource(document)) for identity, document in documents.items())


@dataclass(frozen=True, slots=True)
class Engines:
    """What both libraries need of a bundle's documents."""

    slow: Registry[Any]
    fast: jsonschema_rs.Registry

    @classmethod
    def of(cls, documents: Mapping[str, Any]) -> Self:
        """Prepare the documents for both libraries."""
        # At a document with "$schema" jsonschema would leave our class for its own, and with it our patterns and formats.
        bare = {identity: {name: part for name, part in one.items() if name != "$schema"} for identity, one in documents.items()}
        return cls(registry_of(bare), jsonschema_rs.Registry(list(documents.items()), draft=jsonschema_rs.Draft7))


class Validator:
    """Judges instances against the schema that ``ref`` names."""

    def __init__(self, ref: str, engines: Engines) -> None:
        self.ref = ref
        self._engines = engines

    def accepts(self, instance: Any) -> bool:
        """Say whether ``instance`` is valid. Never raises, whatever the depth and the text of the value."""
        try:
            return self._fast.is_valid(instance)
        except (ValueError, RecursionError, TypeError):
            return not self.problems(instance)

    def problems(self, instance: Any) -> list[Problem]:
        """List why ``instance`` is not valid; the empty list exactly when it is. Never raises."""
        errors = self._slow.iter_errors(shallow(instance))
        return [_problem(error) for one in errors for error in _specific(one)]

    @cached_property
    def _fast(self) -> jsonschema_rs.Draft7Validator:
        return jsonschema_rs.Draft7Validator(
            {"$ref": self.ref}, registry=self._engines.fast, validate_formats=True, formats={"date-time": is_timestamp}
        )

    @cached_property
    def _slow(self) -> Any:
        return _ECMA_DRAFT_7({"$ref": self.ref}, registry=self._engines.slow, format_checker=_FORMATS)


def shallow(value: Any) -> Any:
    """Copy a JSON value without what lies deeper than any schema looks: such containers are empty in the copy."""
    top: list[Any] = [value]
    todo: list[tuple[Any, Any, int]] = [(top, 0, 0)]
    while todo:
        owner, place, depth = todo.pop()
        item = owner[place]
        if isinstance(item, dict):
            item = owner[place] = dict(item) if depth < _DEPTH_LIMIT else {}
            todo.extend((item, name, depth + 1) for name in item)
        elif isinstance(item, list):
            item = owner[place] = list(item) if depth < _DEPTH_LIMIT else []
            todo.extend((item, index, depth + 1) for index in range(len(item)))
        elif isinstance(item, int) and item.bit_length() > _BITS_LIMIT:
            owner[place] = (1 << _BITS_LIMIT) * (1 if item > 0 else -1)
    return top[0]


def pointer(path: Iterable[Any]) -> str:
    """Give the JSON pointer of a path (RFC 6901); the whole document is the empty text."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _problem(error: ValidationError) -> Problem:
    where, schema = pointer(error.absolute_path), pointer(error.absolute_schema_path)
    return Problem(where, str(error.validator), schema, error.message[:_MESSAGE_LIMIT])


def _specific(error: ValidationError) -> Iterator[ValidationError]:
    """Go into the branch of a ``oneOf`` or ``anyOf`` that was meant, where that can be told; else give the error itself."""
    meant = _meant_branch(error) if error.validator in ("oneOf", "anyOf") else []
    if not meant:
        yield error
    for inner in meant:
        yield from _specific(inner)


def _meant_branch(error: ValidationError) -> list[ValidationError]:
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or []:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    ranked = sorted(branches.values(), key=_strangeness)
    tied = len(ranked) > 1 and _strangeness(ranked[0]) == _strangeness(ranked[1])
    return ranked[0] if ranked and not tied else []


def _strangeness(errors: list[ValidationError]) -> tuple[int, int]:
    """Rank a branch: first whether a ``const`` speaks against it, then how many of its own members are missing or unknown."""
    wrong_const = sum(error.validator == "const" and len(error.path) == 1 for error in errors)
    return wrong_const, sum(not error.path for error in errors)


def _properties(validator: Any, members: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for name, subschema in members.items():
        if name in instance and subschema is False:  # the library would report the owner, not the member
            yield ValidationError(f"{name!r} is not allowed here", validator="false", path=[name], schema_path=[name])
        elif name in instance:
            yield from validator.descend(instance[name], subschema, path=name, schema_path=name)


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not compiled(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for name, member in instance.items():
            if compiled(pattern).search(name):
                yield from validator.descend(member, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rule: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    patterns = [compiled(pattern) for pattern in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    extra = [name for name in instance if name not in known and not any(one.search(name) for one in patterns)]
    if rule is False and extra:
        yield ValidationError(f"unknown members: {', '.join(map(repr, extra))}")
    elif isinstance(rule, dict):
        for name in extra:
            yield from validator.descend(instance[name], rule, path=name)


def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    checker.checks("date-time")(lambda value: not isinstance(value, str) or is_timestamp(value))
    return checker


_FORMATS = _formats()
_KEYWORDS = {
    "additionalProperties": _additional_properties,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "properties": _properties,
}
_ECMA_DRAFT_7 = extend(Draft7Validator, _KEYWORDS)  # type: ignore[no-untyped-call]  # the library leaves it unannotated
