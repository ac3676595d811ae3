"""A schema bundle that uses every keyword of draft-07 in one request; the packaged one uses fewer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.wire.bundle import Bundle, load

OTHER_OP = "memory.describe"
"""The operation whose request is another one here."""

OTHER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "dependencies": {"text": ["number"], "uri": {"properties": {"even": {"minimum": 2}}}},
    "definitions": {
        "Tree": {"type": "object", "properties": {"left": {"$ref": "#/definitions/Tree"}}, "additionalProperties": False}
    },
    "properties": {
        "text": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
        "uri": {"type": "string", "format": "uri"},
        "when": {"type": "string", "format": "date-time"},
        "number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
        "even": {"type": "integer", "minimum": 0, "maximum": 100, "multipleOf": 2},
        "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
        "list": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4, "uniqueItems": True},
        "some": {"type": "array", "items": {"enum": [1, 2, 3]}, "contains": {"const": 2}},
        "not_it": {"type": "string", "not": {"enum": ["it"]}},
        "not_both": {
            "type": "object",
            "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
            "not": {"required": ["a", "b"]},
        },
        "open": {"type": "object", "additionalProperties": {"type": "integer", "maximum": 3}, "maxProperties": 2},
        "map": {"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "minProperties": 1, "maxProperties": 3},
        "either": {"oneOf": [{"type": "string", "const": "a"}, {"type": "integer", "minimum": 5}]},
        "any": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object", "properties": {"a": {}, "b": {}}},
        "all": {"allOf": [{"type": "string"}, {"minLength": 1}]},
        "tree": {"$ref": "#/definitions/Tree"},
        "gone": False,
    },
}


def other_bundle_in(directory: Path) -> Bundle:
    """Write the bundle into an empty directory and load it: the packaged one but for the request of one operation."""
    packaged = load()
    for identity, document in packaged.documents.items():
        path = directory.joinpath(*identity.split("/schemas/")[1].split("/"))
        path.parent.mkdir(exist_ok=True)
        heading = {key: document[key] for key in ("$schema", "$id", "title", "description")}
        other = identity == packaged.request_ref(OTHER_OP)
        path.write_text(json.dumps({**heading, **OTHER_SCHEMA} if other else document))
    return load(directory)
