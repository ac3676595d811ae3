"""Nothing meets a schema and breaks it too: the compiler knows that of each keyword, and of each type of the bundle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.gate.kinship import says_something
from conformance.wire.bundle import load
from strategies.from_schema import Compiler
from strategies.reasons import Impossible, Unbuilt
from strategies.schema_source import SchemaSource

BUNDLE = load()
SOURCE = SchemaSource(BUNDLE.registry)
COMPILER = Compiler(SOURCE, alone=True)

MOMENT = {"type": "string", "pattern": "Z$", "format": "date-time"}
KEYWORDS: list[dict[str, Any]] = [
    {"type": "integer"},
    {"enum": [1, "a"]},
    {"const": {"a": 1}},
    {"minimum": 1},
    {"exclusiveMaximum": 1},
    {"multipleOf": 3},
    {"multipleOf": 0.1},
    {"minLength": 3},
    {"maxLength": 2},
    {"pattern": "^a+$"},
    {"format": "date-time"},
    {"format": "uri"},
    {"minItems": 2},
    {"uniqueItems": True},
    {"items": {"pattern": "^a"}},
    {"items": [{"type": "string"}], "additionalItems": False},
    {"contains": MOMENT},
    {"minProperties": 2},
    {"maxProperties": 1},
    {"required": ["a", "b"]},
    {"properties": {"a": MOMENT}, "required": ["a"]},
    {"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
    {"properties": {"a": {}}, "additionalProperties": MOMENT},
    {"propertyNames": {"pattern": "^x"}},
    {"propertyNames": {"maxLength": 3}},
    {"dependencies": {"a": ["b"]}},
    {"dependencies": {"a": {"properties": {"b": MOMENT}}}},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
    {"oneOf": [{"minimum": 3}, {"maximum": 5}]},
    {"anyOf": [{"minimum": 3}, {"pattern": "a"}]},
    {"allOf": [{"minimum": 3}, {"pattern": "a"}]},
    {"not": {"pattern": "a"}},
]
TYPES = [{"$ref": ref} for ref, document in BUNDLE.documents.items() if says_something(document)]


def _possible(schema: Any) -> bool:
    """Say whether there may be an instance: one that is not built may be there all the same."""
    try:
        COMPILER.compile(SOURCE.adopted(schema, f"https://opposites.invalid/{json.dumps(schema)}"))
    except Impossible:
        return False
    except Unbuilt:
        return True
    return True


@pytest.mark.parametrize("schema", [*KEYWORDS, *TYPES], ids=json.dumps)
def test_nothing_meets_a_schema_and_breaks_it(schema: Any) -> None:
    assert _possible(schema)
    assert not _possible({"allOf": [schema, {"not": schema}]})


NARROWER = [
    ({"pattern": "^[ab]{2}$"}, {"pattern": "^[a-z]*$"}),
    ({"pattern": "^a", "maxLength": 4}, {"pattern": r"^[\s\S]{0,4}$"}),
    ({"propertyNames": {"pattern": "^x-[a-z]$"}}, {"propertyNames": {"pattern": "^x-"}}),
    (
        {"patternProperties": {"^x": {"const": 1}}, "additionalProperties": False},
        {"patternProperties": {"^x": {"type": "integer"}}},
    ),
]


@pytest.mark.parametrize(("narrow", "wide"), NARROWER, ids=json.dumps)
def test_nothing_meets_a_schema_and_breaks_a_wider_one(narrow: Any, wide: Any) -> None:
    objects = {"type": ["string", "object"]}
    assert not _possible({"allOf": [objects, narrow, {"not": wide}]})
    assert _possible({"allOf": [objects, wide, {"not": narrow}]})
