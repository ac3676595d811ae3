"""What the compiler does not build, drawn by hypothesis-jsonschema.

That library follows no reference into another file and none that recurs, so references are inlined for it first. Its last release
(0.23.1) fails on hypothesis 6.170.10 and later for every object schema; ``tests/test_from_schema_fallback.py`` guards that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis.strategies import SearchStrategy
from hypothesis_jsonschema import from_schema

from strategies.cases import Conjunction
from strategies.pieces import Piece
from strategies.reasons import Unbuilt
from strategies.schema_source import Located, SchemaSource

_NOT_ASSERTED = ("$id", "$schema", "definitions", "description", "examples", "title", "default", "$comment")


def piece(source: SchemaSource, demands: Conjunction, reason: Unbuilt) -> Piece:
    """Draw what meets all demands. Raises ``Unbuilt``, with the first reason in it, where that library cannot either."""
    schemas = [inlined(source, sub.located, reason) for sub in demands]
    whole: Any = {"allOf": [one if sub.holds else {"not": one} for one, sub in zip(schemas, demands, strict=True)]}
    try:
        strategy: SearchStrategy[Any] = from_schema(whole)
        empty = strategy.is_empty
    except Exception as error:
        raise Unbuilt(reason.where, reason.keyword, f"{reason.why}; hypothesis-jsonschema: {error}") from error
    if empty:
        raise Unbuilt(reason.where, reason.keyword, f"{reason.why}; hypothesis-jsonschema finds no value")
    return Piece(strategy.filter(lambda value: all(source.accepts(sub.located, value) is sub.holds for sub in demands)))


def inlined(source: SchemaSource, located: Located, reason: Unbuilt, trail: tuple[str, ...] = ()) -> Any:
    """Give a schema with its references replaced by what they lead to. Raises ``Unbuilt`` where they recur."""
    if not isinstance(located.schema, Mapping):
        return located.schema
    if located.has("$ref"):
        target = source.follow(located)
        if target.where in trail:
            raise Unbuilt(reason.where, reason.keyword, f"{reason.why}; and {target.where} recurs, so it cannot be inlined")
        return inlined(source, target, reason, (*trail, target.where))
    return {word: _value(source, located, word, reason, trail) for word in located.schema if word not in _NOT_ASSERTED}


def _value(source: SchemaSource, located: Located, word: str, reason: Unbuilt, trail: tuple[str, ...]) -> Any:
    value = located.schema[word]
    inner = {one.where: one for one in located.subschemas()}

    def replaced(part: Any, *path: str | int) -> Any:
        where = located.child(*path).where if isinstance(part, (dict, bool)) else ""
        return inlined(source, inner[where], reason, trail) if where in inner else part

    if isinstance(value, list):
        return [replaced(part, word, index) for index, part in enumerate(value)]
    if isinstance(value, Mapping) and word in ("dependencies", "patternProperties", "properties"):
        return {name: replaced(part, word, name) for name, part in value.items()}
    return replaced(value, word)
