"""What the machine compares, and what it leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.machine import freedom
from conformance.machine.comparison import Sight, affected, as_instant, as_set, classification, exact, moment, paired_digest
from conformance.machine.stage import Stage
from conformance.wire.bundle import load
from tests.one_stage import fresh_stage

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def stage() -> Stage:
    return fresh_stage()


# -- the table


def test_profiles_whose_subject_and_kind_read_alike_when_joined_are_two() -> None:
    whole = [{"subject_id": "u1/x", "kind": "note"}, {"subject_id": "u1", "kind": "x/note"}]
    compare = freedom.TRAVELS["profile"]
    assert compare(Sight(), whole, whole[::-1], "") is None
    assert compare(Sight(), whole, whole[:1], "") is not None


def test_every_row_of_the_table_says_what_leaves_it_open_and_how_it_is_taken() -> None:
    for row in freedom.FREEDOM:
        assert row.sentence
        assert (row.how is None) == bool(row.by)
    assert len({(row.of, row.member) for row in freedom.FREEDOM}) == len(freedom.FREEDOM)


def test_the_table_names_members_that_there_are() -> None:
    """A row about a member that no schema has would leave open what it does not mean."""
    bundle = load()
    titles = {
        "space": "MemorySpace", "subject": "Subject", "grant": "MemoryGrant", "candidate": "MemoryCandidate",
        "record": "RetainedRecord", "profile": "ProfileDocument", "reflection": "Reflection", "receipt": "MemoryReceipt",
    }  # fmt: skip
    for row in freedom.FREEDOM:
        if row.of in titles:
            assert row.member in bundle.schema(bundle.model_ref(titles[row.of]))["properties"]


# -- comparators


@pytest.mark.parametrize(
    ("compare", "expected", "seen", "alike"),
    [
        (exact, {"a": [1, 2]}, {"a": [1, 2]}, True),
        (exact, {"a": [1, 2]}, {"a": [2, 1]}, False),
        (exact, {"a": 1}, {"a": True}, False),
        (exact, {"a": 1}, {}, False),
        (moment, NOW, "2026-01-01T00:00:00.4Z", True),
        (moment, NOW, "2026-01-01T00:00:01Z", False),
        (moment, "2025-12-31T23:59:59.7Z", NOW, True),
        (moment, "2025-11-30T23:59:59.7Z", "2025-12-01T00:00:00.2Z", True),
        (moment, "2025-11-30T23:59:59Z", "2025-12-01T00:00:00.2Z", False),
        (moment, NOW, None, False),
        (as_instant, "2026-01-01T00:00:00.50Z", "2026-01-01T00:00:00.5Z", True),
        (as_instant, NOW, "2026-01-01T00:00:00.5Z", False),
        (as_set, ["a", "b"], ["b", "a", "a"], True),
        (as_set, ["a", "b"], ["b"], False),
        (classification, {"signals": ["cognition"]}, {"signals": ["x", "cognition"]}, True),
        (classification, {"signals": []}, {"signals": ["cognition"]}, False),
        (freedom.RECORD, {"kind": "a", "updated_at": NOW}, {"kind": "a", "updated_at": NOW}, True),
        (freedom.RECORD, {"kind": "a"}, {"kind": "b"}, False),
        (freedom.RECORD, {"content": {"created_at": NOW}}, {"content": {"created_at": "2026-01-01T00:00:00.0Z"}}, False),
        (freedom.RECORD, {"kind": "a"}, {"kind": "a", "tombstone": {}}, False),
    ],
)
def test_a_comparator_tells_what_differs(compare: Any, expected: Any, seen: Any, alike: bool) -> None:
    assert (compare(Sight(), expected, seen, "") is None) == alike


IMPORT = {"type": "import", "id": "i"}
SPACE = {"type": "space", "id": "s"}


@pytest.mark.parametrize(
    ("expected", "seen", "alike"),
    [
        ([IMPORT], [IMPORT], True),
        ([IMPORT], [IMPORT, SPACE], True),
        ([IMPORT], [IMPORT, {**SPACE, "revision": 2}], False),
        ([IMPORT, {**SPACE, "revision": 2}], [IMPORT, SPACE], False),
        ([], [IMPORT, SPACE], False),
    ],
)
def test_a_pending_activation_may_name_its_space(expected: Any, seen: Any, alike: bool) -> None:
    assert (affected(Sight(), expected, seen, "") is None) == alike


def test_an_activation_that_failed_for_two_reasons_tells_either() -> None:
    mine, other, third = ({"receipt_id": "r", "error": {"code": code}} for code in ("A", "B", "C"))
    sight = Sight(failures={"r": frozenset({"A", "B"})})
    assert freedom.RECEIPT(sight, mine, other, "") is None
    assert freedom.RECEIPT(sight, mine, third, "") is not None
    assert freedom.RECEIPT(Sight(), mine, other, "") is not None


@pytest.mark.parametrize(
    ("seen", "alike"),
    [
        ({"acme": {"x": 1}}, True),
        ({"acme": {"x": 1}, "engine": {"node": "a", "load": [0.5, None]}}, True),
        ({}, False),
        ({"acme": {"x": 2}}, False),
        ({"acme": {"x": 1}, "later": {}}, False),
        ({"acme": {"x": 1}, "audit": {"summary": "the cat sat"}}, False),
        ({"acme": {"x": 1}, "audit": {"chunks": [{"text": "Note: the cat sat on the mat."}]}}, False),
        ({"acme": {"x": 1}, "audit": {"why": "so decided"}}, False),
        ({"acme": {"x": 1}, "audit": {"why": "the cat"}}, True),
        (None, False),
    ],
)
def test_an_object_carries_its_requests_extensions_and_may_carry_its_providers(seen: Any, alike: bool) -> None:
    sight = Sight()
    sight.hear({"extensions": {"acme": {"x": 1}}, "content": {"text": "the cat sat on the mat"}})
    sight.hear({"extensions": {"later": {}}, "decision": {"content_override": {"text": "so decided"}}})
    model, target = ({"receipt_id": "r", "extensions": extensions} for extensions in ({"acme": {"x": 1}}, seen))
    assert (freedom.RECEIPT(sight, model, target, "") is None) == alike


def test_a_clock_of_the_targets_own_is_not_compared() -> None:
    assert moment(Sight(timed=False), NOW, "2030-01-01T00:00:00Z", "") is None
    assert moment(Sight(timed=False), NOW, None, "") is not None


def test_state_digests_are_paired() -> None:
    sight = Sight()
    assert paired_digest(sight, "mine", "theirs", "") is None
    assert paired_digest(sight, "mine", "theirs", "") is None
    assert paired_digest(sight, "mine", "another", "") is not None
    assert paired_digest(sight, "other", "theirs", "") is not None


def test_the_text_of_a_reflection_stays_as_it_was_first_seen() -> None:
    sight = Sight()
    mine = {"reflection_id": "r", "text": "mine", "created_at": NOW}
    assert freedom.REFLECTION(sight, mine, {**mine, "text": "theirs"}, "") is None
    assert freedom.REFLECTION(sight, mine, {**mine, "text": "theirs"}, "") is None
    assert freedom.REFLECTION(sight, mine, {**mine, "text": "changed"}, "") is not None
