"""What the machine compares, what it leaves open, and which codes it takes where two reasons meet."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from conformance.bench import Bench
from conformance.errors import SuiteFault
from conformance.exchange import Reply
from conformance.machine import acts, coverage, freedom, reasons
from conformance.machine.chains import Chain
from conformance.machine.comparison import Sight, affected, as_instant, as_set, classification, exact, moment, paired_digest
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.invariants import Ledger
from conformance.machine.judging import Judged
from conformance.machine.model import Asked
from conformance.machine.stage import Stage
from conformance.machine.together import at_once
from conformance.oracle.refusals import Refusal
from conformance.target import open_target
from conformance.wire.bundle import load
from conformance.wire.vocabulary import Code

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def stage() -> Stage:
    bundle = load()
    opened = open_target("oracle", bundle=bundle).open()
    return Stage(Bench(opened.shim, bundle, opened.facts), Random(1))


def _home(stage: Stage) -> str:
    return stage.space_ids[0]


def _root(stage: Stage, stem: str, **members: Any) -> Reply:
    return stage.ask(stage.roots[_home(stage)], stem, _home(stage), **members)


def _created(stage: Stage, **members: Any) -> str:
    _root(stage, "subjects.ensure", subject_id="u1")
    given = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": "u1", "context_id": "c1"}, **members}
    return str(_root(stage, "records.create", **given).payload["receipt"]["affected"][0]["id"])


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


# -- two reasons at once


def _codes(stage: Stage, actor: Any, stem: str, **members: Any) -> set[Code]:
    asked = Asked(actor.principal_id, f"memory.{stem}", stage.request(stem, _home(stage), members))
    _, reply = stage.model.step(stage.model.state, asked)
    assert isinstance(reply, Refusal)
    return {one.symbol for one in reasons.reasons(stage.model, stage.model.state, asked, reply)}


def test_each_of_two_reasons_may_be_told(stage: Stage) -> None:
    record_id = _created(stage)
    root = stage.roots[_home(stage)]
    stale = {"record_id": record_id, "expected_revision": 7, "kind": "fact"}
    assert _codes(stage, root, "records.update", **stale) == {Code.REVISION_AHEAD}
    _root(stage, "spaces.freeze", expected_revision=1)
    assert _codes(stage, root, "records.update", **stale) == {Code.SPACE_FROZEN, Code.REVISION_AHEAD}
    big = {"text": "x" * 20_000}
    nobody = {"target": {"type": "subject", "subject_id": "nobody"}, "action": "fence", "expected_revision": 1}
    assert _codes(stage, root, "subjects.fence", **nobody) == {Code.SPACE_FROZEN, Code.NOT_FOUND}
    frozen_and_big = {**stale, "expected_revision": 1, "content": big}
    assert _codes(stage, root, "records.update", **frozen_and_big) == {Code.SPACE_FROZEN, Code.LIMIT_EXCEEDED}


def test_a_malformed_cognition_record_is_told_before_any_limit(stage: Stage) -> None:
    _created(stage)
    content = {"text": "x" * 20_000, "cognition": [{}]}
    members = {"kind": "note", "content": content, "scope": {"subject_id": "u1"}}
    assert _codes(stage, stage.roots[_home(stage)], "records.create", **members) == {Code.INVALID_VALUE}


def test_what_is_hidden_gives_no_further_reason(stage: Stage) -> None:
    record_id = _created(stage)
    _root(stage, "records.delete", record_id=record_id, expected_revision=1)
    stranger = stage.people[0]
    change = {"record_id": record_id, "expected_revision": 9, "kind": "fact"}
    assert _codes(stage, stranger, "records.update", **change) == {Code.NOT_FOUND}
    grant = {"grantee_id": stranger.principal_id, "capabilities": ["recall"], "shared_access": "none"}
    _root(stage, "grants.grant", **grant)
    assert _codes(stage, stranger, "records.update", **change) == {Code.NOT_FOUND}
    _root(stage, "spaces.freeze", expected_revision=1)
    assert _codes(stage, stranger, "records.update", **change) == {Code.NOT_FOUND, Code.SPACE_FROZEN}
    assert _codes(stage, stage.roots[_home(stage)], "records.update", **change) >= {Code.RECORD_TOMBSTONED, Code.REVISION_AHEAD}


def test_what_is_missing_gives_the_reasons_of_what_is_hidden(stage: Stage) -> None:
    record_id = _created(stage)
    stranger = stage.people[0]
    _root(stage, "grants.grant", grantee_id=stranger.principal_id, capabilities=["recall"], shared_access="none")
    target = {"type": "context", "context_id": "c1"}
    _root(stage, "subjects.fence", target=target, action="fence")

    def told(stem: str, **members: Any) -> list[set[Code]]:
        request = {"expected_revision": 1, **members}
        return [_codes(stage, stranger, stem, record_id=name, **request) for name in (record_id, "missing")]

    elsewhere, here = ({"subject_id": "u1", "context_id": name} for name in ("c2", "c1"))
    assert told("records.delete") == [{Code.NOT_FOUND}] * 2
    assert told("records.promote", to_scope=elsewhere) == [{Code.NOT_FOUND}] * 2
    assert told("records.promote", to_scope=here) == [{Code.NOT_FOUND, Code.CONTEXT_FENCED}] * 2
    _root(stage, "spaces.freeze", expected_revision=2)
    assert (
        told("records.update", content={"text": "x" * 20_000}) == [{Code.NOT_FOUND, Code.SPACE_FROZEN, Code.LIMIT_EXCEEDED}] * 2
    )
    assert told("records.delete") == [{Code.NOT_FOUND, Code.SPACE_FROZEN}] * 2


def test_a_reason_put_right_brings_no_new_one(stage: Stage) -> None:
    record_id = _created(stage)
    root = stage.roots[_home(stage)]
    other = {"record_id": record_id, "expected_revision": 1, "to_scope": {"subject_id": "u2", "context_id": "c1"}}
    assert _codes(stage, root, "records.promote", **other) == {Code.INVALID_VALUE}
    subject = {"target": {"type": "subject", "subject_id": "u1"}, "expected_revision": 1}
    _root(stage, "subjects.fence", **subject, action="archive")
    for action in ("fence", "unfence", "archive"):
        again = {**subject, "action": action, "expected_revision": 2}
        assert _codes(stage, root, "subjects.fence", **again) == {Code.SUBJECT_ARCHIVED}


def test_an_import_that_is_over_remembers_its_turn(stage: Stage) -> None:
    _created(stage)
    bundle, chunks = _exported(stage)
    import_id = _root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    _root(stage, "imports.discard", import_id=import_id)
    root = stage.roots[_home(stage)]
    for chunk, codes in ((chunks[1], {Code.WRONG_STATE}), (chunks[2], {Code.WRONG_STATE, Code.IMPORT_SEQUENCE})):
        assert _codes(stage, root, "imports.stage", bundle=bundle, chunk=chunk, import_id=import_id) == codes


def test_what_is_forged_is_not_brought_in_by_imagining(stage: Stage) -> None:
    _created(stage)
    bundle, chunks = _exported(stage)
    forged = {**chunks[0], "items": [{"type": "nothing", "value": {}}]}
    import_id = _root(stage, "imports.stage", bundle=bundle, chunk=forged).payload["receipt"]["affected"][0]["id"]
    _root(stage, "spaces.freeze", expected_revision=1)
    activation = {"import_id": import_id, "expected_authority_generation": 1}
    assert _codes(stage, stage.roots[_home(stage)], "imports.activate", **activation) == {Code.WRONG_STATE}


SCOPE = {"subject_id": "u1", "context_id": "c1"}
WHOLE = {"subject_id": "u1", "mode": "all_authorized"}
OTHER_DIGEST = "0" * 64


def _fence(stage: Stage, action: str = "fence", revision: int = 1) -> None:
    target = {"type": "subject", "subject_id": "u1"}
    _root(stage, "subjects.fence", target=target, action=action, expected_revision=revision)


def _fence_context(stage: Stage, context_id: str = "c1") -> None:
    _root(stage, "subjects.fence", target={"type": "context", "context_id": context_id}, action="fence")


def _narrow(stage: Stage, *capabilities: str) -> Any:
    """Give somebody who holds capabilities in one context of one subject alone."""
    person = stage.people[0]
    narrow = {"subject_ids": ["u1"], "context_ids": ["c1"], "shared_access": "none"}
    _root(stage, "grants.grant", grantee_id=person.principal_id, capabilities=list(capabilities), **narrow)
    return person


def test_a_generation_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    root = stage.roots[_home(stage)]
    generation = {"selection": WHOLE, "expected_state_digest": OTHER_DIGEST}
    lacking = {Code.PROFILE_INCOMPLETE, Code.INSUFFICIENT_DATA, Code.REVISION_STALE}
    assert _codes(stage, root, "reflections.generate", **generation) == lacking | {Code.NOT_FOUND}
    _root(stage, "subjects.ensure", subject_id="u1")
    assert _codes(stage, root, "reflections.generate", **generation) == lacking
    profile = {"kind": "personality", "content": {"text": ""}, "expected_revision": None}
    _root(stage, "profile.update", subject_id="u1", **profile)
    lacking -= {Code.PROFILE_INCOMPLETE}
    assert _codes(stage, root, "reflections.generate", **generation) == lacking
    assert _codes(stage, root, "reflections.generate", selection=WHOLE) == {Code.INSUFFICIENT_DATA}
    _fence(stage)
    assert _codes(stage, root, "reflections.generate", **generation) == lacking | {Code.SUBJECT_FENCED}
    _fence(stage, "archive", 2)
    _root(stage, "spaces.freeze", expected_revision=1)
    assert _codes(stage, root, "reflections.generate", **generation) == lacking | {Code.SUBJECT_ARCHIVED, Code.SPACE_FROZEN}


@pytest.mark.parametrize(("action", "code"), [("fence", Code.SUBJECT_FENCED), ("archive", Code.SUBJECT_ARCHIVED)])
def test_a_promotion_to_where_a_record_is_tells_each_thing_that_is_wrong(stage: Stage, action: str, code: Code) -> None:
    promotion = {"record_id": _created(stage), "to_scope": SCOPE, "expected_revision": 7}
    _fence(stage, action)
    wrong = {code, Code.WRONG_STATE, Code.REVISION_AHEAD}
    assert _codes(stage, stage.roots[_home(stage)], "records.promote", **promotion) == wrong
    assert _codes(stage, _narrow(stage, "records_write"), "records.promote", **promotion) == wrong


def test_a_promotion_to_another_subject_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    record_id, root = _created(stage), stage.roots[_home(stage)]
    narrow = _narrow(stage, "records_write")
    promotion = {"record_id": record_id, "to_scope": {**SCOPE, "subject_id": "u2"}, "expected_revision": 7}
    wrong = {Code.INVALID_VALUE, Code.REVISION_AHEAD}
    assert _codes(stage, root, "records.promote", **promotion) == wrong
    _root(stage, "records.delete", record_id=record_id, expected_revision=1)
    _fence_context(stage)
    _fence(stage)
    wrong |= {Code.RECORD_TOMBSTONED, Code.CONTEXT_FENCED, Code.SUBJECT_FENCED}
    assert _codes(stage, root, "records.promote", **promotion) == wrong
    assert _codes(stage, narrow, "records.promote", **promotion) == wrong | {Code.NOT_AUTHORIZED}
    blind = {**promotion, "record_id": "missing"}
    assert _codes(stage, narrow, "records.promote", **blind) == {Code.NOT_FOUND, Code.CONTEXT_FENCED}


def test_whoever_cannot_see_a_subject_is_not_told_of_its_fence(stage: Stage) -> None:
    record_id = _created(stage)
    _root(stage, "subjects.ensure", subject_id="u2")
    target = {"type": "subject", "subject_id": "u2"}
    _root(stage, "subjects.fence", target=target, action="fence", expected_revision=1)
    promotion = {"record_id": record_id, "to_scope": {**SCOPE, "subject_id": "u2"}, "expected_revision": 1}
    assert Code.SUBJECT_FENCED in _codes(stage, stage.roots[_home(stage)], "records.promote", **promotion)
    narrow = _narrow(stage, "records_write")
    assert _codes(stage, narrow, "records.promote", **promotion) == {Code.NOT_AUTHORIZED, Code.INVALID_VALUE}


def _kindless(stage: Stage) -> str:
    _root(stage, "subjects.ensure", subject_id="u1")
    return str(_root(stage, "capture", scope=SCOPE, content={"text": "a"}).payload["receipt"]["affected"][0]["id"])


def test_a_review_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    candidate_id, root = _kindless(stage), stage.roots[_home(stage)]
    large = {"action": "promote", "content_override": {"text": "x" * 20_000}}
    review = {"candidate_id": candidate_id, "decision": large, "expected_revision": 7}
    wrong = {Code.INVALID_VALUE, Code.LIMIT_EXCEEDED, Code.REVISION_AHEAD}
    assert _codes(stage, root, "candidates.review", **review) == wrong
    _root(stage, "candidates.dismiss", candidate_id=candidate_id, expected_revision=1)
    _fence(stage)
    _fence_context(stage)
    wrong |= {Code.CANDIDATE_CONSUMED, Code.SUBJECT_FENCED, Code.CONTEXT_FENCED}
    assert _codes(stage, root, "candidates.review", **review) == wrong
    assert _codes(stage, _narrow(stage, "review", "records_write"), "candidates.review", **review) == wrong


def test_two_reasons_of_one_code_tell_the_details_of_either(stage: Stage) -> None:
    decision = {"action": "promote", "content_override": {"text": "a", "cognition": [{}]}}
    review = {"candidate_id": _kindless(stage), "decision": decision, "expected_revision": 1}
    for field, right in (("content.cognition", True), ("decision.kind", True), ("kind", False)):
        details = {"field": field, "reason": "invalid_cognition_record"}
        seen = Reply(error={"code": "INVALID_INPUT", "message": "", "extensions": {}, "details": details})
        assert (_judged(stage, seen, "candidates.review", **review).disagreement is None) == right


def test_a_change_of_a_record_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    record_id, root = _created(stage), stage.roots[_home(stage)]
    _root(stage, "records.delete", record_id=record_id, expected_revision=1)
    _fence(stage)
    _fence_context(stage)
    change = {"record_id": record_id, "expected_revision": 7}
    wrong = {Code.RECORD_TOMBSTONED, Code.SUBJECT_FENCED, Code.CONTEXT_FENCED, Code.REVISION_AHEAD}
    assert _codes(stage, root, "records.delete", **change) == wrong
    large = {**change, "content": {"text": "x" * 20_000}}
    assert _codes(stage, root, "records.update", **large) == wrong | {Code.LIMIT_EXCEEDED}


def test_a_profile_of_a_missing_subject_has_no_revision_either(stage: Stage) -> None:
    root = stage.roots[_home(stage)]
    update = {"subject_id": "nobody", "kind": "x", "content": {"text": ""}}
    assert _codes(stage, root, "profile.update", **update, expected_revision=None) == {Code.NOT_FOUND}
    assert _codes(stage, root, "profile.update", **update, expected_revision=1) == {Code.NOT_FOUND, Code.REVISION_AHEAD}


def test_a_fence_and_a_freeze_tell_each_thing_that_is_wrong(stage: Stage) -> None:
    _created(stage)
    root = stage.roots[_home(stage)]
    fence = {"target": {"type": "subject", "subject_id": "u1"}, "expected_revision": 7}
    assert _codes(stage, root, "subjects.fence", **fence, action="unfence") == {Code.WRONG_STATE, Code.REVISION_AHEAD}
    _fence(stage, "archive")
    assert _codes(stage, root, "subjects.fence", **fence, action="archive") == {Code.SUBJECT_ARCHIVED, Code.REVISION_AHEAD}
    assert _codes(stage, root, "spaces.unfreeze", expected_revision=7) == {Code.WRONG_STATE, Code.REVISION_AHEAD}


def test_an_activation_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    _created(stage)
    bundle, chunks = _exported(stage)
    import_id = _root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    root, wrong = stage.roots[_home(stage)], {Code.SPACE_NOT_FROZEN, Code.REVISION_AHEAD}
    for name, code in ((import_id, Code.WRONG_STATE), ("missing", Code.NOT_FOUND)):
        activation = {"import_id": name, "expected_authority_generation": 7}
        assert _codes(stage, root, "imports.activate", **activation) == wrong | {code}


def test_an_import_that_was_complete_has_no_further_chunk(stage: Stage) -> None:
    _created(stage)
    bundle, chunks = _exported(stage)
    import_id = _root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    for chunk in chunks[1:]:
        _root(stage, "imports.stage", bundle=bundle, chunk=chunk, import_id=import_id)
    _root(stage, "spaces.freeze", expected_revision=1)
    _root(stage, "imports.activate", import_id=import_id, expected_authority_generation=1)
    further = {"bundle": bundle, "import_id": import_id, "chunk": {**chunks[0], "ordinal": len(chunks)}}
    assert _codes(stage, stage.roots[_home(stage)], "imports.stage", **further) == {Code.WRONG_STATE, Code.IMPORT_SEQUENCE}


# -- the judge


def _judged(stage: Stage, seen: Reply, stem: str, **members: Any) -> Judged:
    root = stage.roots[_home(stage)]
    request = stage.request(stem, _home(stage), members)
    return stage.duo.judge.judge(stage.model.state, Asked(root.principal_id, f"memory.{stem}", request), seen)


def test_a_refusal_of_what_is_right_is_a_disagreement(stage: Stage) -> None:
    record_id = _created(stage)
    refused = Reply(error={"code": "NOT_FOUND", "message": "", "extensions": {}})
    found = _judged(stage, refused, "records.get", record_id=record_id).disagreement
    assert found is not None
    assert found.kind is Kind.REFUSED


def test_an_acceptance_of_what_is_wrong_is_a_disagreement(stage: Stage) -> None:
    record_id = _created(stage)
    right = _root(stage, "records.get", record_id=record_id)
    found = _judged(stage, right, "records.get", record_id="none").disagreement
    assert found is not None
    assert found.kind is Kind.ACCEPTED


def test_not_found_may_stand_for_not_authorized_and_not_the_other_way(stage: Stage) -> None:
    record_id = _created(stage)
    stranger = stage.people[0]
    _root(stage, "grants.grant", grantee_id=stranger.principal_id, capabilities=["recall"], shared_access="none")
    request = stage.request("subjects.get", _home(stage), {"subject_id": "u1"})
    by_name = Asked(stranger.principal_id, "memory.subjects.get", request)
    hidden = Asked(
        stranger.principal_id, "memory.records.get", stage.request("records.get", _home(stage), {"record_id": record_id})
    )
    told = {code: Reply(error={"code": code, "message": "", "extensions": {}}) for code in ("NOT_FOUND", "NOT_AUTHORIZED")}
    judge, state = stage.duo.judge, stage.model.state
    assert judge.judge(state, by_name, told["NOT_FOUND"]).disagreement is None
    assert judge.judge(state, by_name, told["NOT_AUTHORIZED"]).disagreement is None
    assert judge.judge(state, hidden, told["NOT_FOUND"]).disagreement is None
    found = judge.judge(state, hidden, told["NOT_AUTHORIZED"]).disagreement
    assert found is not None
    assert found.rule == "R013"


def test_details_are_held_to_the_contract(stage: Stage) -> None:
    record_id = _created(stage)
    wrong = {"expected_revision": 9, "actual_revision": 3}
    stale = Reply(error={"code": "REVISION_CONFLICT", "message": "", "extensions": {}, "details": wrong})
    found = _judged(stage, stale, "records.delete", record_id=record_id, expected_revision=9).disagreement
    assert found is not None
    assert found.pointer == "/error/details/actual_revision"


def test_an_operation_that_may_not_be_pending_is_found_pending(stage: Stage) -> None:
    _created(stage)
    members = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": "u1"}}
    request = stage.request("records.create", _home(stage), members)
    root = stage.roots[_home(stage)]
    seen = stage.duo.exchange(root, "memory.records.create", request)
    receipt = {name: value for name, value in seen.payload["receipt"].items() if name != "settled_at"} | {"state": "pending"}
    pending = Reply(payload={"receipt": receipt})
    asked = stage.duo.asked(root, "memory.records.create", request, pending)
    assert stage.duo.judge.judge(stage.model.state, asked, pending).disagreement is not None


def _exported(stage: Stage) -> tuple[Any, Any]:
    export_id = _root(stage, "exports.create", max_items_per_chunk=1).payload["receipt"]["affected"][0]["id"]
    stage.parcels.fetch(stage.roots[_home(stage)], _home(stage), export_id)
    export = stage.space(_home(stage)).exports.rows[export_id].doc
    return export["bundle"], export["chunks"]


def test_a_stage_under_another_bundle_may_be_refused_in_several_ways(stage: Stage) -> None:
    _created(stage)
    bundle, chunks = _exported(stage)
    import_id = _root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    due = {"chunk": chunks[1], "import_id": import_id}
    told = {code: Reply(error={"code": code, "message": "", "extensions": {}}) for code in ("STATE_CONFLICT", "NOT_FOUND")}
    other = {**bundle, "authority_generation": 7}
    assert _judged(stage, told["STATE_CONFLICT"], "imports.stage", bundle=other, **due).disagreement is None
    assert _judged(stage, told["NOT_FOUND"], "imports.stage", bundle=other, **due).disagreement is not None
    assert _judged(stage, told["STATE_CONFLICT"], "imports.stage", bundle=bundle, **due).disagreement is not None


def _issued(stage: Stage, actor: Any, **members: Any) -> Judged:
    """Judge how somebody issues what root may issue, as if the target had let it."""
    op, shape = "memory.grants.grant", {"grantee_id": "x", "capabilities": ["recall"], "shared_access": "read"}
    request = stage.request("grants.grant", _home(stage), {**shape, **members})
    payload = stage.duo.exchange(stage.roots[_home(stage)], op, request).payload
    seen = Reply(payload={"receipt": {**payload["receipt"], "principal_id": actor.principal_id}})
    return stage.duo.judge.judge(stage.model.state, stage.duo.asked(actor, op, request, seen), seen)


def test_what_is_expired_from_the_start_may_be_issued_whatever_it_covers(stage: Stage) -> None:
    over = {"expires_at": "2020-01-01T00:00:00Z"}
    assert _issued(stage, stage.people[0], **over).disagreement is not None
    issuer = _narrow(stage, "grants_issue", "recall")
    judged = _issued(stage, issuer, **over)
    assert judged.disagreement is None
    issued = [grant for grant in judged.state.spaces[_home(stage)].grants.all() if grant.get("expires_at") == over["expires_at"]]
    assert [grant["issuer_id"] for grant in issued] == [issuer.principal_id]
    assert len(judged.state.spaces[_home(stage)].grants.all()) == len(stage.space(_home(stage)).grants.all()) + 1
    assert _issued(stage, issuer, expires_at="9020-01-01T00:00:00Z").disagreement is not None
    assert _issued(stage, _narrow(stage, "recall"), **over).disagreement is None


# -- cursors


def _two_records(stage: Stage) -> Chain:
    _created(stage)
    _created(stage)
    selection = {"subject_id": "u1", "mode": "all_authorized"}
    root = stage.roots[_home(stage)]
    chain = Chain(root, "memory.records.list", stage.request("records.list", _home(stage), {"selection": selection}))
    stage.chains.page(chain, {"limit": 1})
    return chain


def test_a_cursor_lives_through_reads_and_dies_at_a_change_of_its_items(stage: Stage) -> None:
    chain = _two_records(stage)
    _root(stage, "records.get", record_id=next(iter(chain.taken)))
    stage.chains.age()
    assert (chain.dead, chain.doubtful) == (False, False)
    _root(stage, "subjects.ensure", subject_id="another")
    stage.chains.age()
    assert (chain.dead, chain.doubtful) == (False, True)
    _created(stage)
    stage.chains.age()
    assert chain.dead


def test_two_chains_that_are_alike_both_age(stage: Stage) -> None:
    first = _two_records(stage)
    again = Chain(first.actor, first.op, first.request)
    stage.chains.page(again, {"limit": 1})
    _created(stage)
    stage.chains.age()
    assert [chain.dead for chain in stage.chains.open] == [True, True]


def test_a_cursor_that_should_be_dead_and_lives_is_found(stage: Stage) -> None:
    chain = _two_records(stage)
    chain.dead = True
    with pytest.raises(Disagreement, match="R022"):
        stage.chains.page(chain, {})


def test_a_cursor_in_other_hands_is_refused(stage: Stage) -> None:
    chain = _two_records(stage)
    request = {**chain.request, "include_tombstones": True}
    seen = stage.chains.misuse(chain.actor, chain.op, request, chain.cursor)
    assert seen.code == "CURSOR_INVALID"


def _listing(stage: Stage, actor: Any) -> Chain:
    return Chain(actor, "memory.records.list", stage.request("records.list", _home(stage), {"selection": WHOLE}))


def test_a_page_may_be_short() -> None:
    bundle = load()
    opened = open_target("python:tests.other_answers:ShortPages", bundle=bundle).open()
    stage = Stage(Bench(opened.shim, bundle, opened.facts), Random(1))
    for _ in range(4):
        _created(stage)
    stage.chains.page(_listing(stage, stage.roots[_home(stage)]), {"limit": 1})
    chain = _listing(stage, _narrow(stage, "records_read"))
    assert len(stage.chains.page(chain, {"limit": 3}).payload["records"]) == 2
    assert len(stage.chains.page(chain, {"limit": 3}).payload["records"]) == 2
    assert not chain.cursor


@pytest.mark.parametrize(
    ("taken", "goes_on", "reason"),
    [
        (3, True, "above the limit"),
        (0, True, "an empty page that goes on"),
        (1, False, "an item is lacking"),
        (4, True, "goes on after the last item"),
        (1, True, ""),
        (2, True, ""),
    ],
)
def test_a_page_is_neither_too_long_nor_empty_nor_the_last_too_early(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, taken: int, goes_on: bool, reason: str
) -> None:
    for _ in range(4):
        _created(stage)
    chain = _listing(stage, stage.roots[_home(stage)])
    listed = stage.duo.exchange(chain.actor, chain.op, chain.request).payload["records"]
    whole = {"records": listed[:taken], "total_authorized": 4, **({"next_cursor": "c"} if goes_on else {})}
    monkeypatch.setattr(type(stage.duo), "exchange", lambda *_call: Reply(payload=whole))
    try:
        stage.chains.page(chain, {"limit": 2})
        found = ""
    except Disagreement as disagreement:
        found = disagreement.reason
    assert found == reason


# -- at once


def test_calls_at_once_are_explained_by_an_order(stage: Stage) -> None:
    record_id = _created(stage)
    root = stage.roots[_home(stage)]
    change = {"record_id": record_id, "expected_revision": 1}
    sent = [
        (root, "memory.records.update", stage.request("records.update", _home(stage), {**change, "kind": kind}))
        for kind in ("b", "c")
    ]
    replies = at_once(stage.duo, sent)
    assert sorted(reply.code or "" for reply in replies) == ["", "STORED_REVISION_STALE"]


@pytest.mark.parametrize(
    ("target", "wrong"),
    [("oracle", ""), ("python:tests.variants:completes_late", ""), ("python:tests.faults:r027_activates_twice", "R027")],
)
def test_activations_at_once_are_explained_by_an_order(target: str, wrong: str) -> None:
    """Also where they stay pending for a while, and settle in an order of the provider's."""
    bundle = load()
    opened = open_target(target, bundle=bundle).open()
    bench, found = Bench(opened.shim, bundle, opened.facts), ""
    try:
        for seed in range(4):
            stage = Stage(bench, Random(seed))
            acts.BY_NAME["records.crowd"].do(stage)
            acts.BY_NAME["crowds.activations"].do(stage)
    except Disagreement as disagreement:
        found = disagreement.rule
    assert found == wrong
    assert bench.client.tally.seen["memory.imports.activate", ""] > 0


# -- exact coverage

EVERYTHING = {
    "capabilities": ["recall", "review", "grants_issue"],
    "shared_access": "write",
    "created_at": NOW,
    "grantee_id": "root",
    "issuer_id": "root",
}


def _grant(**members: Any) -> dict[str, Any]:
    plain = {
        "capabilities": ["recall"],
        "shared_access": "none",
        "created_at": "2026-01-02T00:00:00Z",
        "grantee_id": "a",
        "issuer_id": "root",
    }
    return {**plain, **members}


@pytest.mark.parametrize(
    ("root", "child", "closed"),
    [
        ({}, {}, True),
        ({}, {"capabilities": ["admin"]}, False),
        ({"context_ids": ["c1"]}, {"context_ids": ["c1"]}, True),
        ({"context_ids": ["c1"]}, {"context_ids": ["c2"]}, False),
        ({"context_ids": ["c1"]}, {}, False),
        ({"subject_ids": ["u1"]}, {"subject_ids": ["u1", "u2"]}, False),
        ({"shared_access": "read"}, {"shared_access": "read"}, True),
        ({"shared_access": "read"}, {"shared_access": "write"}, False),
        ({"expires_at": NOW}, {"expires_at": "2025-01-01T00:00:00Z"}, True),
        ({"expires_at": NOW}, {"expires_at": "2026-01-01T00:00:00.001Z"}, False),
        ({"expires_at": NOW}, {}, False),
    ],
)
def test_no_chain_reaches_beyond_its_root(root: dict[str, Any], child: dict[str, Any], closed: bool) -> None:
    grants = [{**EVERYTHING, **root}, _grant(**child)]
    if closed:
        coverage.require_closed(grants, "root")
    else:
        with pytest.raises(Disagreement, match="R011"):
            coverage.require_closed(grants, "root")


def test_points_are_every_combination_of_a_grants_dimensions() -> None:
    grant = _grant(subject_ids=["u1", "u2"], context_ids=["c1"], shared_access="write")
    universe = coverage.Universe([grant])
    assert len(universe.points(grant)) == 1 * 2 * (1 + 2) * 1
    assert universe.points(_grant(subject_ids=["u1"], context_ids=["c1"])) < universe.points(grant)


def test_the_oracle_and_exact_coverage_agree_or_the_suite_is_at_fault(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    root = stage.roots[_home(stage)].principal_id
    shape = {"capabilities": ["recall"], "shared_access": "none"}
    coverage.agree(stage.model, root, _home(stage), shape)
    monkeypatch.setattr(coverage, "answered", lambda *_given: "refuse")
    with pytest.raises(SuiteFault, match="exact coverage refuse"):
        coverage.agree(stage.model, root, _home(stage), shape)


# -- invariants


def _heard(stage: Stage, change: Any) -> None:
    """Put an answer that was never given at the end of the trace."""
    trace = stage.world.trace.exchanges
    last = trace[-1]
    trace.append(replace(last, reply=Reply(payload=change(last.reply.payload))))


def test_a_tombstone_that_lives_breaks_an_invariant(stage: Stage) -> None:
    ledger, record_id = Ledger(), _created(stage)
    _root(stage, "records.delete", record_id=record_id, expected_revision=1)
    _root(stage, "records.get", record_id=record_id)
    ledger.check(stage)
    _heard(stage, lambda payload: {"record": {name: value for name, value in payload["record"].items() if name != "tombstone"}})
    with pytest.raises(Disagreement, match="R021"):
        ledger.check(stage)


def test_a_settled_receipt_that_changes_breaks_an_invariant(stage: Stage) -> None:
    ledger = Ledger()
    _created(stage)
    ledger.check(stage)
    _heard(stage, lambda payload: {"receipt": {**payload["receipt"], "authority_generation": 9}})
    with pytest.raises(Disagreement, match="R015"):
        ledger.check(stage)


def test_a_second_receipt_of_a_key_breaks_an_invariant(stage: Stage) -> None:
    ledger = Ledger()
    _created(stage)
    ledger.check(stage)
    _heard(stage, lambda payload: {"receipt": {**payload["receipt"], "receipt_id": "another"}})
    with pytest.raises(Disagreement, match="R014"):
        ledger.check(stage)


def test_a_generation_that_falls_breaks_an_invariant(stage: Stage) -> None:
    ledger = Ledger()
    stage.listed(stage.roots[_home(stage)], "spaces.list", _home(stage))
    _heard(stage, lambda payload: {"spaces": [{**space, "authority_generation": 5} for space in payload["spaces"]]})
    ledger.check(stage)
    _heard(stage, lambda payload: {"spaces": [{**space, "authority_generation": 4} for space in payload["spaces"]]})
    with pytest.raises(Disagreement, match="R005"):
        ledger.check(stage)
