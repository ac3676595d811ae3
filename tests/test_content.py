"""Contents, cognition and JSON values: what is promised of them, checked with the bundle and the contract's sentences."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given

from conformance.wire.bundle import load
from conformance.wire.canonical import NotCanonical, canonical, content_bytes, same
from strategies import cognition, content, json_values
from strategies.broken_cognition import FAULTS, labels
from tests.sampling import CALM, plainest, reached

BUNDLE = load()
CONTENT = BUNDLE.model("Content")
RECORD = BUNDLE.model("CognitionRecord")
FILTER = BUNDLE.model("CognitionFilter")


PLAIN_RECORD = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "a",
    "attribution": {"holder_id": "a"},
    "basis": {"kind": "stated", "refs": []},
    "time": {"recorded_at": "2000-01-01T00:00:00Z"},
}


def over_the_wire(value: Any) -> Any:
    return json.loads(json.dumps(value))


@CALM
@given(content.structured())
def test_structured_values_survive_the_wire_and_have_a_canonical_form(drawn: Any) -> None:
    assert same(over_the_wire(drawn), drawn)
    assert canonical(over_the_wire(drawn)) == canonical(drawn)
    assert json_values.depth(drawn) <= json_values.DEPTH_LIMIT


@pytest.mark.parametrize("number", json_values.HARD_NUMBERS)
def test_every_hard_number_is_a_double(number: float) -> None:
    assert int(float(number)) == number if isinstance(number, int) else float(number) == number


@pytest.mark.parametrize("wanted", [[], {}, None, {"a.b": 1, "$set": 2, "": 3}, {"a": None}], ids=str)
def test_structured_values_reach_what_flat_stores_lose(wanted: Any) -> None:
    assert reached(content.structured(), lambda drawn: same(drawn, wanted)) == wanted


def test_structured_values_reach_the_deep_and_the_wide() -> None:
    assert json_values.depth(reached(content.structured(), lambda drawn: json_values.depth(drawn) == 30)) == 30
    assert len(reached(content.structured(), lambda drawn: isinstance(drawn, dict) and len(drawn) >= 300)) == 300


@CALM
@given(content.uncanonical_values())
def test_an_uncanonical_value_travels_as_escapes_and_has_no_canonical_form(drawn: Any) -> None:
    spelled = json.dumps(drawn)
    assert spelled.isascii()
    assert same(json.loads(spelled), drawn)
    with pytest.raises(NotCanonical):
        canonical(drawn)


@CALM
@given(content.uncanonical_contents())
def test_an_uncanonical_content_passes_its_schema(drawn: dict[str, Any]) -> None:
    assert BUNDLE.model("ContentInput").accepts(drawn)
    with pytest.raises(NotCanonical):
        canonical(drawn)


@pytest.mark.parametrize("asked", get_args(content.Cognition))
def test_contents_are_valid_and_hold_the_cognition_asked_for(asked: content.Cognition) -> None:
    @CALM
    @given(content.contents(cognition=asked))
    def check(drawn: dict[str, Any]) -> None:
        assert CONTENT.accepts(drawn)
        assert ("cognition" in drawn) or asked in ("any", "absent")
        if asked != "any":
            assert bool(drawn.get("cognition")) == (asked == "filled")

    check()


@CALM
@given(content.profile_contents())
def test_profile_contents_are_valid(drawn: dict[str, Any]) -> None:
    assert BUNDLE.model("ProfileContent").accepts(drawn)


@pytest.mark.parametrize("multibyte", [False, True])
@pytest.mark.parametrize("size", [11, 12, 27, 28, 29, 1023, 1024, 65_536])
def test_a_content_has_exactly_the_bytes_asked_for(size: int, multibyte: bool) -> None:
    made = content.content_of_bytes(size, multibyte=multibyte)
    assert content_bytes(made) == size
    assert CONTENT.accepts(made)
    if multibyte and size > 28:
        text = made["text"]
        assert len(text) < len(text.encode("utf-16-le")) // 2 < len(text.encode()) < size - len('{"text":""}')


def test_no_content_is_smaller_than_the_empty_text() -> None:
    assert content.content_of_bytes(11) == {"text": ""}
    with pytest.raises(ValueError, match="no content has 10 bytes"):
        content.content_of_bytes(10)


def test_the_plainest_values_are_plain() -> None:
    assert plainest(content.contents()) == {"text": ""}
    assert plainest(content.contents(cognition="empty")) == {"text": "", "cognition": []}
    assert plainest(content.structured()) is None
    assert plainest(content.uncanonical_values()) == "\ud800"
    assert plainest(cognition.filters()) == {"dimension": "belief"}
    assert plainest(cognition.cognition_records()) == PLAIN_RECORD


# Cognition ----------------------------------------------------------------------------------------------------------------


@CALM
@given(cognition.cognition_records())
def test_every_cognition_record_is_valid(drawn: dict[str, Any]) -> None:
    assert RECORD.accepts(drawn)


@pytest.mark.parametrize("label", FAULTS)
def test_each_fault_breaks_one_thing_of_a_record(label: str) -> None:
    problems = RECORD.problems(FAULTS[label](PLAIN_RECORD))
    missing_all = label == "empty_record"
    assert problems
    assert missing_all or len({problem.pointer for problem in problems}) == 1, problems


@CALM
@given(content.broken_cognition_records())
def test_a_broken_record_is_invalid_and_labelled(drawn: tuple[str, Any]) -> None:
    label, record = drawn
    assert label in labels()
    assert not RECORD.accepts(record)


@CALM
@given(content.broken_cognition())
def test_broken_cognition_passes_dispatch_and_no_content_model(drawn: tuple[str, Any]) -> None:
    label, member = drawn
    assert BUNDLE.model("ContentInput").accepts({"text": "", "cognition": member}), label
    assert not CONTENT.accepts({"text": "", "cognition": member}), label


@CALM
@given(cognition.filters())
def test_every_filter_is_valid(drawn: dict[str, Any]) -> None:
    assert FILTER.accepts(drawn)


@CALM
@given(cognition.broken_filters())
def test_a_broken_filter_is_invalid_and_says_rightly_how(drawn: tuple[str, Any, str]) -> None:
    label, broken, fault = drawn
    problems = FILTER.problems(broken)
    assert problems, label
    keywords = {(problem.pointer, problem.keyword) for problem in problems}
    if fault == "unsupported":
        assert keywords <= {("", "additionalProperties"), ("/dimension", "enum")}, (label, broken)
    else:
        assert ("", "additionalProperties") not in keywords
        assert not isinstance(broken, dict) or not isinstance(broken.get("dimension", 0), str), (label, broken)


@CALM
@given(cognition.cognition_records().flatmap(lambda entry: cognition.filter_hitting(entry).map(lambda one: (entry, one))))
def test_a_hitting_filter_hits(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    entry, hitting = pair
    assert FILTER.accepts(hitting)
    assert cognition.matches(entry, hitting)


@CALM
@given(cognition.cognition_records().flatmap(lambda entry: cognition.filter_missing(entry).map(lambda one: (entry, one))))
def test_a_missing_filter_misses_by_one_member(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    entry, missing = pair
    assert FILTER.accepts(missing)
    assert not cognition.matches(entry, missing)
    failed = [name for name in missing if not cognition.matches(entry, {name: missing[name]})]
    assert len(failed) == 1


@CALM
@given(cognition.split_conjunction())
def test_a_split_conjunction_is_met_member_by_member_and_by_no_entry(drawn: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    entries, conjunction = drawn
    assert FILTER.accepts(conjunction)
    assert all(RECORD.accepts(entry) for entry in entries)
    assert len(conjunction) == 2
    assert all(any(cognition.matches(entry, {name: value}) for entry in entries) for name, value in conjunction.items())
    assert not cognition.record_matches({"text": "", "cognition": entries}, conjunction)


def test_after_is_inclusive_and_before_is_exclusive() -> None:
    entry = PLAIN_RECORD
    assert cognition.matches(entry, {"recorded_after": "2000-01-01T00:00:00.000Z"})
    assert not cognition.matches(entry, {"recorded_after": "2000-01-01T00:00:00.0000001Z"})
    assert not cognition.matches(entry, {"recorded_before": "2000-01-01T00:00:00.000Z"})
    assert cognition.matches(entry, {"recorded_before": "2000-01-01T00:00:00.0000001Z"})


def test_absent_and_empty_cognition_match_no_filter() -> None:
    assert not cognition.record_matches({"text": ""}, {"dimension": "belief"})
    assert not cognition.record_matches({"text": "", "cognition": []}, {"dimension": "belief"})
