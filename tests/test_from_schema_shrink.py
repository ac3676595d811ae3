"""The smallest value of a strategy is the plainest one, and what a failure does not need is shrunk away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import find, settings

from conformance.wire import bundle as bundles
from strategies.from_schema import compiled, from_schema

BUNDLE = bundles.load()
FIRST = "2000-01-01T00:00:00Z"
RECORD = {
    "schema_version": 1,
    "record_id": "a",
    "space_id": "a",
    "kind": "a",
    "content": {"text": ""},
    "scope": {"subject_id": "a"},
    "provenance": {"source": "author", "created_by": "a"},
    "revision": 1,
    "created_at": FIRST,
    "updated_at": FIRST,
    "extensions": {},
}


def smallest(strategy: Any, wanted: Callable[[Any], bool] = lambda value: True) -> Any:
    return find(strategy, wanted, settings=settings(max_examples=3000, database=None, derandomize=True))


def model(title: str, wanted: Callable[[Any], bool] = lambda value: True) -> Any:
    return smallest(compiled(BUNDLE, BUNDLE.model_ref(title)), wanted)


@pytest.mark.parametrize(
    ("title", "plainest"),
    [
        ("Id", "a"),
        ("OpenKind", "a"),
        ("SubjectKind", "a:a"),
        ("Timestamp", FIRST),
        ("Revision", 1),
        ("Ordinal", 0),
        ("Digest", "0" * 64),
        ("ExtensionMap", {}),
        ("GrantCapability", "admin"),
        ("PlacementScope", {"subject_id": "a"}),
        ("Content", {"text": ""}),
        ("ReadSelection", {"subject_id": "a", "mode": "shared"}),
        ("RetainedRecord", RECORD),
    ],
)
def test_the_plainest_value_of_a_model(title: str, plainest: Any) -> None:
    assert model(title) == plainest


@pytest.mark.parametrize(
    ("schema", "plainest"),
    [
        (True, None),
        ({"type": "object"}, {}),
        ({"type": "array"}, []),
        ({"type": "string"}, ""),
        ({"type": "number"}, 0),
        ({"type": "boolean"}, False),
        ({"enum": ["z", "a"]}, "z"),
        ({"type": "string", "minLength": 3}, "aaa"),
        ({"type": "array", "items": {"enum": ["b", "a"]}, "uniqueItems": True, "minItems": 1}, ["b"]),
        ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "null"}]}, None),
        ({"type": "object", "minProperties": 2}, {"a": None, "aa": None}),
    ],
    ids=str,
)
def test_the_plainest_value_of_a_schema(schema: Any, plainest: Any) -> None:
    assert smallest(from_schema(None, schema)) == plainest


def test_one_option_is_left_of_many() -> None:
    request = model("MemoryRecordsListRequest", lambda value: "recorded_before" in value.get("cognition_filter", {}))
    assert request == {
        "space_id": "a",
        "selection": {"subject_id": "a", "mode": "shared"},
        "cognition_filter": {"recorded_before": FIRST},
    }


def test_one_item_is_left_of_a_list() -> None:
    answer = model(
        "MemoryRecordsListResponse", lambda value: any("context_id" in one["scope"] for one in value.get("records", []))
    )
    assert answer == {"records": [RECORD | {"scope": {"subject_id": "a", "context_id": "a"}}], "total_authorized": 0}


def test_one_value_is_left_of_a_set() -> None:
    assert model("MemoryGrant", lambda value: "review" in value["capabilities"])["capabilities"] == ["review"]


def test_an_instant_comes_as_near_as_it_can() -> None:
    assert model("Timestamp", lambda value: value >= "2020-03-01").startswith("2020-03-01T00:00:00")


def test_the_alternative_that_is_needed_is_kept_and_no_more() -> None:
    decision = model("MemoryCandidatesReviewRequest", lambda value: value["decision"]["action"] == "fragment")["decision"]
    assert decision == {"action": "fragment", "fragments": [{"content": {"text": ""}}, {"content": {"text": ""}}]}
