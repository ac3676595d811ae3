"""Which codes the machine takes where two reasons meet."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.exchange import Reply
from conformance.machine import reasons
from conformance.machine.model import Asked
from conformance.machine.stage import Stage
from conformance.oracle.refusals import Refusal
from conformance.wire.vocabulary import Code
from tests.one_stage import SCOPE, WHOLE, by_root, confined, created, exported, fresh_stage, home, judged_of


@pytest.fixture
def stage() -> Stage:
    return fresh_stage()


# -- two reasons at once


def _codes(stage: Stage, actor: Any, stem: str, **members: Any) -> set[Code]:
    asked = Asked(actor.principal_id, f"memory.{stem}", stage.request(stem, home(stage), members))
    _, reply = stage.model.step(stage.model.state, asked)
    assert isinstance(reply, Refusal)
    return {one.symbol for one in reasons.reasons(stage.model, stage.model.state, asked, reply)}


def test_each_of_two_reasons_may_be_told(stage: Stage) -> None:
    record_id = created(stage)
    root = stage.roots[home(stage)]
    stale = {"record_id": record_id, "expected_revision": 7, "kind": "fact"}
    assert _codes(stage, root, "records.update", **stale) == {Code.REVISION_AHEAD}
    by_root(stage, "spaces.freeze", expected_revision=1)
    assert _codes(stage, root, "records.update", **stale) == {Code.SPACE_FROZEN, Code.REVISION_AHEAD}
    big = {"text": "x" * 20_000}
    nobody = {"target": {"type": "subject", "subject_id": "nobody"}, "action": "fence", "expected_revision": 1}
    assert _codes(stage, root, "subjects.fence", **nobody) == {Code.SPACE_FROZEN, Code.NOT_FOUND}
    frozen_and_big = {**stale, "expected_revision": 1, "content": big}
    assert _codes(stage, root, "records.update", **frozen_and_big) == {Code.SPACE_FROZEN, Code.LIMIT_EXCEEDED}


def test_a_malformed_cognition_record_is_told_before_any_limit(stage: Stage) -> None:
    created(stage)
    content = {"text": "x" * 20_000, "cognition": [{}]}
    members = {"kind": "note", "content": content, "scope": {"subject_id": "u1"}}
    assert _codes(stage, stage.roots[home(stage)], "records.create", **members) == {Code.INVALID_VALUE}


def test_what_is_hidden_gives_no_further_reason(stage: Stage) -> None:
    record_id = created(stage)
    by_root(stage, "records.delete", record_id=record_id, expected_revision=1)
    stranger = stage.people[0]
    change = {"record_id": record_id, "expected_revision": 9, "kind": "fact"}
    assert _codes(stage, stranger, "records.update", **change) == {Code.NOT_FOUND}
    grant = {"grantee_id": stranger.principal_id, "capabilities": ["recall"], "shared_access": "none"}
    by_root(stage, "grants.grant", **grant)
    assert _codes(stage, stranger, "records.update", **change) == {Code.NOT_FOUND}
    by_root(stage, "spaces.freeze", expected_revision=1)
    assert _codes(stage, stranger, "records.update", **change) == {Code.NOT_FOUND, Code.SPACE_FROZEN}
    assert _codes(stage, stage.roots[home(stage)], "records.update", **change) >= {Code.RECORD_TOMBSTONED, Code.REVISION_AHEAD}


def test_what_is_missing_gives_the_reasons_of_what_is_hidden(stage: Stage) -> None:
    record_id = created(stage)
    stranger = stage.people[0]
    by_root(stage, "grants.grant", grantee_id=stranger.principal_id, capabilities=["recall"], shared_access="none")
    target = {"type": "context", "context_id": "c1"}
    by_root(stage, "subjects.fence", target=target, action="fence")

    def told(stem: str, **members: Any) -> list[set[Code]]:
        request = {"expected_revision": 1, **members}
        return [_codes(stage, stranger, stem, record_id=name, **request) for name in (record_id, "missing")]

    elsewhere, here = ({"subject_id": "u1", "context_id": name} for name in ("c2", "c1"))
    assert told("records.delete") == [{Code.NOT_FOUND}] * 2
    assert told("records.promote", to_scope=elsewhere) == [{Code.NOT_FOUND}] * 2
    assert told("records.promote", to_scope=here) == [{Code.NOT_FOUND, Code.CONTEXT_FENCED}] * 2
    by_root(stage, "spaces.freeze", expected_revision=2)
    assert (
        told("records.update", content={"text": "x" * 20_000}) == [{Code.NOT_FOUND, Code.SPACE_FROZEN, Code.LIMIT_EXCEEDED}] * 2
    )
    assert told("records.delete") == [{Code.NOT_FOUND, Code.SPACE_FROZEN}] * 2


def test_a_reason_put_right_brings_no_new_one(stage: Stage) -> None:
    record_id = created(stage)
    root = stage.roots[home(stage)]
    other = {"record_id": record_id, "expected_revision": 1, "to_scope": {"subject_id": "u2", "context_id": "c1"}}
    assert _codes(stage, root, "records.promote", **other) == {Code.INVALID_VALUE}
    subject = {"target": {"type": "subject", "subject_id": "u1"}, "expected_revision": 1}
    by_root(stage, "subjects.fence", **subject, action="archive")
    for action in ("fence", "unfence", "archive"):
        again = {**subject, "action": action, "expected_revision": 2}
        assert _codes(stage, root, "subjects.fence", **again) == {Code.SUBJECT_ARCHIVED}


def test_an_import_that_is_over_remembers_its_turn(stage: Stage) -> None:
    created(stage)
    bundle, chunks = exported(stage)
    import_id = by_root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    by_root(stage, "imports.discard", import_id=import_id)
    root = stage.roots[home(stage)]
    for chunk, codes in ((chunks[1], {Code.WRONG_STATE}), (chunks[2], {Code.WRONG_STATE, Code.IMPORT_SEQUENCE})):
        assert _codes(stage, root, "imports.stage", bundle=bundle, chunk=chunk, import_id=import_id) == codes


def test_what_is_forged_is_not_brought_in_by_imagining(stage: Stage) -> None:
    created(stage)
    bundle, chunks = exported(stage)
    forged = {**chunks[0], "items": [{"type": "nothing", "value": {}}]}
    import_id = by_root(stage, "imports.stage", bundle=bundle, chunk=forged).payload["receipt"]["affected"][0]["id"]
    by_root(stage, "spaces.freeze", expected_revision=1)
    activation = {"import_id": import_id, "expected_authority_generation": 1}
    assert _codes(stage, stage.roots[home(stage)], "imports.activate", **activation) == {Code.WRONG_STATE}


OTHER_DIGEST = "0" * 64


def _fence(stage: Stage, action: str = "fence", revision: int = 1) -> None:
    target = {"type": "subject", "subject_id": "u1"}
    by_root(stage, "subjects.fence", target=target, action=action, expected_revision=revision)


def _fence_context(stage: Stage, context_id: str = "c1") -> None:
    by_root(stage, "subjects.fence", target={"type": "context", "context_id": context_id}, action="fence")


def test_a_generation_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    root = stage.roots[home(stage)]
    generation = {"selection": WHOLE, "expected_state_digest": OTHER_DIGEST}
    lacking = {Code.PROFILE_INCOMPLETE, Code.INSUFFICIENT_DATA, Code.REVISION_STALE}
    assert _codes(stage, root, "reflections.generate", **generation) == lacking | {Code.NOT_FOUND}
    by_root(stage, "subjects.ensure", subject_id="u1")
    assert _codes(stage, root, "reflections.generate", **generation) == lacking
    profile = {"kind": "personality", "content": {"text": ""}, "expected_revision": None}
    by_root(stage, "profile.update", subject_id="u1", **profile)
    lacking -= {Code.PROFILE_INCOMPLETE}
    assert _codes(stage, root, "reflections.generate", **generation) == lacking
    assert _codes(stage, root, "reflections.generate", selection=WHOLE) == {Code.INSUFFICIENT_DATA}
    _fence(stage)
    assert _codes(stage, root, "reflections.generate", **generation) == lacking | {Code.SUBJECT_FENCED}
    _fence(stage, "archive", 2)
    by_root(stage, "spaces.freeze", expected_revision=1)
    assert _codes(stage, root, "reflections.generate", **generation) == lacking | {Code.SUBJECT_ARCHIVED, Code.SPACE_FROZEN}


@pytest.mark.parametrize(("action", "code"), [("fence", Code.SUBJECT_FENCED), ("archive", Code.SUBJECT_ARCHIVED)])
def test_a_promotion_to_where_a_record_is_tells_each_thing_that_is_wrong(stage: Stage, action: str, code: Code) -> None:
    promotion = {"record_id": created(stage), "to_scope": SCOPE, "expected_revision": 7}
    _fence(stage, action)
    wrong = {code, Code.WRONG_STATE, Code.REVISION_AHEAD}
    assert _codes(stage, stage.roots[home(stage)], "records.promote", **promotion) == wrong
    assert _codes(stage, confined(stage, "records_write"), "records.promote", **promotion) == wrong


def test_a_promotion_to_another_subject_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    record_id, root = created(stage), stage.roots[home(stage)]
    narrow = confined(stage, "records_write")
    promotion = {"record_id": record_id, "to_scope": {**SCOPE, "subject_id": "u2"}, "expected_revision": 7}
    wrong = {Code.INVALID_VALUE, Code.REVISION_AHEAD}
    assert _codes(stage, root, "records.promote", **promotion) == wrong
    by_root(stage, "records.delete", record_id=record_id, expected_revision=1)
    _fence_context(stage)
    _fence(stage)
    wrong |= {Code.RECORD_TOMBSTONED, Code.CONTEXT_FENCED, Code.SUBJECT_FENCED}
    assert _codes(stage, root, "records.promote", **promotion) == wrong
    assert _codes(stage, narrow, "records.promote", **promotion) == wrong | {Code.NOT_AUTHORIZED}
    blind = {**promotion, "record_id": "missing"}
    assert _codes(stage, narrow, "records.promote", **blind) == {Code.NOT_FOUND, Code.CONTEXT_FENCED}


def test_whoever_cannot_see_a_subject_is_not_told_of_its_fence(stage: Stage) -> None:
    record_id = created(stage)
    by_root(stage, "subjects.ensure", subject_id="u2")
    target = {"type": "subject", "subject_id": "u2"}
    by_root(stage, "subjects.fence", target=target, action="fence", expected_revision=1)
    promotion = {"record_id": record_id, "to_scope": {**SCOPE, "subject_id": "u2"}, "expected_revision": 1}
    assert Code.SUBJECT_FENCED in _codes(stage, stage.roots[home(stage)], "records.promote", **promotion)
    narrow = confined(stage, "records_write")
    assert _codes(stage, narrow, "records.promote", **promotion) == {Code.NOT_AUTHORIZED, Code.INVALID_VALUE}


def _kindless(stage: Stage) -> str:
    by_root(stage, "subjects.ensure", subject_id="u1")
    return str(by_root(stage, "capture", scope=SCOPE, content={"text": "a"}).payload["receipt"]["affected"][0]["id"])


def test_a_review_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    candidate_id, root = _kindless(stage), stage.roots[home(stage)]
    large = {"action": "promote", "content_override": {"text": "x" * 20_000}}
    review = {"candidate_id": candidate_id, "decision": large, "expected_revision": 7}
    wrong = {Code.INVALID_VALUE, Code.LIMIT_EXCEEDED, Code.REVISION_AHEAD}
    assert _codes(stage, root, "candidates.review", **review) == wrong
    by_root(stage, "candidates.dismiss", candidate_id=candidate_id, expected_revision=1)
    _fence(stage)
    _fence_context(stage)
    wrong |= {Code.CANDIDATE_CONSUMED, Code.SUBJECT_FENCED, Code.CONTEXT_FENCED}
    assert _codes(stage, root, "candidates.review", **review) == wrong
    assert _codes(stage, confined(stage, "review", "records_write"), "candidates.review", **review) == wrong


def test_two_reasons_of_one_code_tell_the_details_of_either(stage: Stage) -> None:
    decision = {"action": "promote", "content_override": {"text": "a", "cognition": [{}]}}
    review = {"candidate_id": _kindless(stage), "decision": decision, "expected_revision": 1}
    for field, right in (("content.cognition", True), ("decision.kind", True), ("kind", False)):
        details = {"field": field, "reason": "invalid_cognition_record"}
        seen = Reply(error={"code": "INVALID_INPUT", "message": "", "extensions": {}, "details": details})
        assert (judged_of(stage, seen, "candidates.review", **review).disagreement is None) == right


def test_a_change_of_a_record_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    record_id, root = created(stage), stage.roots[home(stage)]
    by_root(stage, "records.delete", record_id=record_id, expected_revision=1)
    _fence(stage)
    _fence_context(stage)
    change = {"record_id": record_id, "expected_revision": 7}
    wrong = {Code.RECORD_TOMBSTONED, Code.SUBJECT_FENCED, Code.CONTEXT_FENCED, Code.REVISION_AHEAD}
    assert _codes(stage, root, "records.delete", **change) == wrong
    large = {**change, "content": {"text": "x" * 20_000}}
    assert _codes(stage, root, "records.update", **large) == wrong | {Code.LIMIT_EXCEEDED}


def test_a_profile_of_a_missing_subject_has_no_revision_either(stage: Stage) -> None:
    root = stage.roots[home(stage)]
    update = {"subject_id": "nobody", "kind": "x", "content": {"text": ""}}
    assert _codes(stage, root, "profile.update", **update, expected_revision=None) == {Code.NOT_FOUND}
    assert _codes(stage, root, "profile.update", **update, expected_revision=1) == {Code.NOT_FOUND, Code.REVISION_AHEAD}


def test_a_fence_and_a_freeze_tell_each_thing_that_is_wrong(stage: Stage) -> None:
    created(stage)
    root = stage.roots[home(stage)]
    fence = {"target": {"type": "subject", "subject_id": "u1"}, "expected_revision": 7}
    assert _codes(stage, root, "subjects.fence", **fence, action="unfence") == {Code.WRONG_STATE, Code.REVISION_AHEAD}
    _fence(stage, "archive")
    assert _codes(stage, root, "subjects.fence", **fence, action="archive") == {Code.SUBJECT_ARCHIVED, Code.REVISION_AHEAD}
    assert _codes(stage, root, "spaces.unfreeze", expected_revision=7) == {Code.WRONG_STATE, Code.REVISION_AHEAD}


def test_an_activation_tells_each_thing_that_is_wrong(stage: Stage) -> None:
    created(stage)
    bundle, chunks = exported(stage)
    import_id = by_root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    root, wrong = stage.roots[home(stage)], {Code.SPACE_NOT_FROZEN, Code.REVISION_AHEAD}
    for name, code in ((import_id, Code.WRONG_STATE), ("missing", Code.NOT_FOUND)):
        activation = {"import_id": name, "expected_authority_generation": 7}
        assert _codes(stage, root, "imports.activate", **activation) == wrong | {code}


def test_an_import_that_was_complete_has_no_further_chunk(stage: Stage) -> None:
    created(stage)
    bundle, chunks = exported(stage)
    import_id = by_root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    for chunk in chunks[1:]:
        by_root(stage, "imports.stage", bundle=bundle, chunk=chunk, import_id=import_id)
    by_root(stage, "spaces.freeze", expected_revision=1)
    by_root(stage, "imports.activate", import_id=import_id, expected_authority_generation=1)
    further = {"bundle": bundle, "import_id": import_id, "chunk": {**chunks[0], "ordinal": len(chunks)}}
    assert _codes(stage, stage.roots[home(stage)], "imports.stage", **further) == {Code.WRONG_STATE, Code.IMPORT_SEQUENCE}
