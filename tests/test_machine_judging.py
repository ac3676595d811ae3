"""What the machine judges: single answers, answers to calls at once, and what must hold whatever was called."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from conformance.bench import Bench
from conformance.exchange import Reply
from conformance.machine import acts
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.invariants import Ledger
from conformance.machine.judging import Judged
from conformance.machine.model import Asked
from conformance.machine.stage import Stage
from conformance.machine.together import at_once
from conformance.target import open_target
from conformance.wire.bundle import load
from tests.one_stage import by_root, confined, created, exported, fresh_stage, home, judged_of


@pytest.fixture
def stage() -> Stage:
    return fresh_stage()


# -- the judge


def test_a_refusal_of_what_is_right_is_a_disagreement(stage: Stage) -> None:
    record_id = created(stage)
    refused = Reply(error={"code": "NOT_FOUND", "message": "", "extensions": {}})
    found = judged_of(stage, refused, "records.get", record_id=record_id).disagreement
    assert found is not None
    assert found.kind is Kind.REFUSED


def test_an_acceptance_of_what_is_wrong_is_a_disagreement(stage: Stage) -> None:
    record_id = created(stage)
    right = by_root(stage, "records.get", record_id=record_id)
    found = judged_of(stage, right, "records.get", record_id="none").disagreement
    assert found is not None
    assert found.kind is Kind.ACCEPTED


def test_not_found_may_stand_for_not_authorized_and_not_the_other_way(stage: Stage) -> None:
    record_id = created(stage)
    stranger = stage.people[0]
    by_root(stage, "grants.grant", grantee_id=stranger.principal_id, capabilities=["recall"], shared_access="none")
    request = stage.request("subjects.get", home(stage), {"subject_id": "u1"})
    by_name = Asked(stranger.principal_id, "memory.subjects.get", request)
    hidden = Asked(
        stranger.principal_id, "memory.records.get", stage.request("records.get", home(stage), {"record_id": record_id})
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
    record_id = created(stage)
    wrong = {"expected_revision": 9, "actual_revision": 3}
    stale = Reply(error={"code": "REVISION_CONFLICT", "message": "", "extensions": {}, "details": wrong})
    found = judged_of(stage, stale, "records.delete", record_id=record_id, expected_revision=9).disagreement
    assert found is not None
    assert found.pointer == "/error/details/actual_revision"


def test_an_operation_that_may_not_be_pending_is_found_pending(stage: Stage) -> None:
    created(stage)
    members = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": "u1"}}
    request = stage.request("records.create", home(stage), members)
    root = stage.roots[home(stage)]
    seen = stage.duo.exchange(root, "memory.records.create", request)
    receipt = {name: value for name, value in seen.payload["receipt"].items() if name != "settled_at"} | {"state": "pending"}
    pending = Reply(payload={"receipt": receipt})
    asked = stage.duo.asked(root, "memory.records.create", request, pending)
    assert stage.duo.judge.judge(stage.model.state, asked, pending).disagreement is not None


def test_a_stage_under_another_bundle_may_be_refused_in_several_ways(stage: Stage) -> None:
    created(stage)
    bundle, chunks = exported(stage)
    import_id = by_root(stage, "imports.stage", bundle=bundle, chunk=chunks[0]).payload["receipt"]["affected"][0]["id"]
    due = {"chunk": chunks[1], "import_id": import_id}
    told = {code: Reply(error={"code": code, "message": "", "extensions": {}}) for code in ("STATE_CONFLICT", "NOT_FOUND")}
    other = {**bundle, "authority_generation": 7}
    assert judged_of(stage, told["STATE_CONFLICT"], "imports.stage", bundle=other, **due).disagreement is None
    assert judged_of(stage, told["NOT_FOUND"], "imports.stage", bundle=other, **due).disagreement is not None
    assert judged_of(stage, told["STATE_CONFLICT"], "imports.stage", bundle=bundle, **due).disagreement is not None


def _issued(stage: Stage, actor: Any, **members: Any) -> Judged:
    """Judge how somebody issues what root may issue, as if the target had let it."""
    op, shape = "memory.grants.grant", {"grantee_id": "x", "capabilities": ["recall"], "shared_access": "read"}
    request = stage.request("grants.grant", home(stage), {**shape, **members})
    payload = stage.duo.exchange(stage.roots[home(stage)], op, request).payload
    seen = Reply(payload={"receipt": {**payload["receipt"], "principal_id": actor.principal_id}})
    return stage.duo.judge.judge(stage.model.state, stage.duo.asked(actor, op, request, seen), seen)


def test_what_is_expired_from_the_start_may_be_issued_whatever_it_covers(stage: Stage) -> None:
    over = {"expires_at": "2020-01-01T00:00:00Z"}
    assert _issued(stage, stage.people[0], **over).disagreement is not None
    issuer = confined(stage, "grants_issue", "recall")
    judged = _issued(stage, issuer, **over)
    assert judged.disagreement is None
    issued = [grant for grant in judged.state.spaces[home(stage)].grants.all() if grant.get("expires_at") == over["expires_at"]]
    assert [grant["issuer_id"] for grant in issued] == [issuer.principal_id]
    assert len(judged.state.spaces[home(stage)].grants.all()) == len(stage.space(home(stage)).grants.all()) + 1
    assert _issued(stage, issuer, expires_at="9020-01-01T00:00:00Z").disagreement is not None
    assert _issued(stage, confined(stage, "recall"), **over).disagreement is None


# -- at once


def test_calls_at_once_are_explained_by_an_order(stage: Stage) -> None:
    record_id = created(stage)
    root = stage.roots[home(stage)]
    change = {"record_id": record_id, "expected_revision": 1}
    sent = [
        (root, "memory.records.update", stage.request("records.update", home(stage), {**change, "kind": kind}))
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


# -- invariants


def _heard(stage: Stage, change: Any) -> None:
    """Put an answer that was never given at the end of the trace."""
    trace = stage.world.trace.exchanges
    last = trace[-1]
    trace.append(replace(last, reply=Reply(payload=change(last.reply.payload))))


def test_a_tombstone_that_lives_breaks_an_invariant(stage: Stage) -> None:
    ledger, record_id = Ledger(), created(stage)
    by_root(stage, "records.delete", record_id=record_id, expected_revision=1)
    by_root(stage, "records.get", record_id=record_id)
    ledger.check(stage)
    _heard(stage, lambda payload: {"record": {name: value for name, value in payload["record"].items() if name != "tombstone"}})
    with pytest.raises(Disagreement, match="R021"):
        ledger.check(stage)


def test_a_settled_receipt_that_changes_breaks_an_invariant(stage: Stage) -> None:
    ledger = Ledger()
    created(stage)
    ledger.check(stage)
    _heard(stage, lambda payload: {"receipt": {**payload["receipt"], "authority_generation": 9}})
    with pytest.raises(Disagreement, match="R015"):
        ledger.check(stage)


def test_a_second_receipt_of_a_key_breaks_an_invariant(stage: Stage) -> None:
    ledger = Ledger()
    created(stage)
    ledger.check(stage)
    _heard(stage, lambda payload: {"receipt": {**payload["receipt"], "receipt_id": "another"}})
    with pytest.raises(Disagreement, match="R014"):
        ledger.check(stage)


def test_a_generation_that_falls_breaks_an_invariant(stage: Stage) -> None:
    ledger = Ledger()
    stage.listed(stage.roots[home(stage)], "spaces.list", home(stage))
    _heard(stage, lambda payload: {"spaces": [{**space, "authority_generation": 5} for space in payload["spaces"]]})
    ledger.check(stage)
    _heard(stage, lambda payload: {"spaces": [{**space, "authority_generation": 4} for space in payload["spaces"]]})
    with pytest.raises(Disagreement, match="R005"):
        ledger.check(stage)
