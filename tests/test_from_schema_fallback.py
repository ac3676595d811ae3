"""What the compiler leaves to hypothesis-jsonschema, the version trap of that library, and the words of ``CannotBuild``."""

from __future__ import annotations

from typing import Any

import hypothesis_jsonschema
import pytest

from conformance.wire import bundle as bundles
from strategies import fallback
from strategies.cases import Sub
from strategies.from_schema import CannotBuild, from_schema
from strategies.normalise import CASE_LIMIT, Normaliser
from strategies.reasons import Unbuilt
from strategies.schema_source import SchemaSource
from tests.drawing import drawn
from tests.test_from_schema_draft7 import valid

REASON = Unbuilt("urn:schema#", "anyOf", "asked for by a test")


def test_hypothesis_jsonschema_still_makes_an_object_with_this_hypothesis() -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
    strategy: Any = hypothesis_jsonschema.from_schema(schema)
    assert all(isinstance(value["a"], int) for value in drawn(strategy, 12))


def _many_alternatives() -> dict[str, Any]:
    """Multiply out to more cases than the compiler takes: ten members, each there or not, in two ways each."""
    names = [f"m{number}" for number in range(10)]
    return {
        "type": "object",
        "properties": {name: {"type": "null"} for name in names},
        "additionalProperties": False,
        "allOf": [{"anyOf": [{"required": [name]}, {"not": {"required": [name]}}]} for name in names],
    }


def test_what_the_compiler_does_not_build_goes_to_the_other_library() -> None:
    pair = [{"type": "boolean"}, {"type": "boolean"}]
    schema = {"type": "array", "items": pair, "additionalItems": False, "minItems": 2, "not": {"uniqueItems": True}}
    values = drawn(from_schema(None, schema), 12)
    assert {tuple(value) for value in values} <= {(False, False), (True, True)}
    assert values
    assert all(valid(schema, value) for value in values)


def test_references_are_inlined_before_the_other_library_sees_them() -> None:
    packaged = bundles.load()
    source = SchemaSource(packaged.registry)
    whole = fallback.inlined(source, source.at(packaged.model_ref("PlacementScope")), REASON)
    assert whole == {
        "type": "object",
        "required": ["subject_id"],
        "properties": {name: {"type": "string", "minLength": 1, "maxLength": 128} for name in ("subject_id", "context_id")},
        "additionalProperties": False,
    }


def test_a_member_named_like_an_annotation_is_kept() -> None:
    source, root = SchemaSource.of({"properties": {"title": {"type": "null"}, "$id": {"type": "null"}}, "title": "T"})
    assert fallback.inlined(source, root, REASON) == {"properties": {"title": {"type": "null"}, "$id": {"type": "null"}}}


def test_alternatives_are_multiplied_out_up_to_a_limit() -> None:
    schema = _many_alternatives()
    assert 2 ** len(schema["allOf"]) > CASE_LIMIT
    source, root = SchemaSource.of(schema)
    reasons = {case.gap and case.gap.why for case in Normaliser(source).cases((Sub(root),))}
    assert reasons == {f"there are more than {CASE_LIMIT} alternatives"}


def test_recursion_cannot_be_inlined_and_is_named() -> None:
    schema = _many_alternatives()
    schema["properties"]["m0"] = {"$ref": "#"}
    with pytest.raises(CannotBuild) as caught:
        from_schema(None, schema)
    assert caught.value.keyword == "anyOf"
    assert "recurs" in caught.value.why


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string", "minLength": 3, "maxLength": 2}, "urn:schema#: minLength: no length lies from 3 to 2"),
        ({"enum": [1], "type": "string"}, "urn:schema#: enum: "),
        ({"type": "array", "items": {"const": 1}, "uniqueItems": True, "minItems": 2}, "urn:schema#: uniqueItems: "),
        ({"type": "string", "pattern": "("}, "urn:schema#: pattern: '(' is not understood"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, "urn:schema#: "),
    ],
)
def test_the_sentence_names_the_place_the_keyword_and_why(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(CannotBuild) as caught:
        from_schema(None, schema)
    assert str(caught.value).startswith(message)


def test_a_reference_without_a_bundle_is_refused() -> None:
    with pytest.raises(CannotBuild, match="needs a bundle"):
        from_schema(None, "https://spoke42.invalid/schemas/common/common.schema.json#/definitions/Id")
