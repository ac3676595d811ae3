"""The verbs of a check: what callers fill in, expect and count."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.bench import Bench
from conformance.caller import OMIT, all_made, made
from conformance.expect import CheckFailed, Inconclusive
from conformance.levers import Home, Login
from conformance.transport.in_process import InProcess
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Field, Flag, Reason
from tests import scripted

ENSURED = scripted.receipt("memory.subjects.ensure", {"type": "subject", "id": "u1", "revision": 1})


def committing(op: str, _payload: Any) -> scripted.Answer:
    return {"payload": {"receipt": {**ENSURED, "op": op}}}


def test_space_and_key_are_filled_in_unless_given_or_omitted() -> None:
    root = scripted.world(committing).root
    first = root.call("subjects.ensure", subject_id="u1")
    assert first.payload == {"space_id": "s1", "subject_id": "u1", "idempotency_key": "k1"}
    assert root.call("memory.subjects.ensure", subject_id="u1").payload["idempotency_key"] == "k2"
    assert root.call("subjects.ensure", subject_id="u1", space_id=OMIT, idempotency_key="k").payload == {
        "subject_id": "u1",
        "idempotency_key": "k",
    }
    assert root.call("describe").payload == {}


def test_a_scope_makes_its_subject_once() -> None:
    world = scripted.world(committing)
    assert world.scope() == {"subject_id": "u1", "context_id": "c1"}
    assert world.scope("u1", None) == {"subject_id": "u1"}
    assert [exchange.call.op for exchange in world.trace] == ["memory.subjects.ensure"]


def test_do_wants_success_and_refused_wants_the_named_code() -> None:
    accepting = scripted.world(committing).root
    assert accepting.do("subjects.ensure", subject_id="u1")["state"] == "committed"
    with pytest.raises(CheckFailed, match="was given what must be refused"):
        accepting.refused("subjects.ensure", Code.SPACE_FROZEN, subject_id="u1")
    refusing = scripted.world(lambda _op, _payload: scripted.error("SPACE_FROZEN")).root
    assert refusing.refused("subjects.ensure", Code.SPACE_FROZEN, subject_id="u1")["code"] == "SPACE_FROZEN"
    with pytest.raises(CheckFailed, match="refused for another reason"):
        refusing.denied("subjects.ensure", subject_id="u1")
    with pytest.raises(CheckFailed, match="was refused a request that the contract accepts"):
        refusing.do("subjects.ensure", subject_id="u1")


def test_reason_and_field_are_expected_where_named() -> None:
    details = {"reason": "invalid_cognition_record", "field": "content.cognition"}
    root = scripted.world(lambda _op, _payload: scripted.error("INVALID_INPUT", **details)).root
    root.refused("subjects.ensure", Code.INVALID_VALUE, reason=Reason.BAD_COGNITION_RECORD, field=Field.COGNITION, subject_id="u")
    with pytest.raises(CheckFailed, match=r"details\.reason"):
        root.refused("subjects.ensure", Code.INVALID_VALUE, reason=Reason.GRANT_EXCEEDS_ISSUER, subject_id="u")
    with pytest.raises(CheckFailed, match=r"details\.field"):
        root.refused("subjects.ensure", Code.INVALID_VALUE, field=Field.DECISION_KIND, subject_id="u")


def test_pending_is_polled_until_settled_and_only_where_the_table_allows_it() -> None:
    answers = iter(["pending", "pending", "committed"])

    def script(op: str, _payload: Any) -> scripted.Answer:
        state = next(answers)
        receipt = scripted.receipt("memory.exports.create", {"type": "export", "id": "e1"}, state=state)
        if state == "pending":
            del receipt["settled_at"]
        return {"payload": {"receipt": {**receipt, "op": receipt["op"] if op == "memory.receipts.get" else op}}}

    assert made(scripted.world(script).root.do("exports.create"), "export") == "e1"
    answers = iter(["pending"])
    with pytest.raises(CheckFailed, match="must commit at once"):
        scripted.world(script).root.do("subjects.ensure", subject_id="u1")


def test_a_failed_receipt_is_no_success() -> None:
    failed = scripted.receipt("memory.exports.create", state="failed", error={"code": "IMPORT_INVALID"})
    with pytest.raises(CheckFailed, match="settled failed"):
        scripted.world(lambda _op, _payload: {"payload": {"receipt": failed}}).root.do("exports.create")


def test_made_names_the_ids_and_fails_where_there_are_none() -> None:
    receipt = scripted.receipt("memory.capture", {"type": "record", "id": "a"}, {"type": "record", "id": "b"})
    assert all_made(receipt, "record") == ["a", "b"]
    with pytest.raises(CheckFailed, match="names no candidate"):
        made(receipt, "candidate")


def test_pages_follow_the_chain_with_the_limits_in_turn() -> None:
    asked = []

    def script(_op: str, payload: Any) -> scripted.Answer:
        asked.append(payload.get("page"))
        return {"payload": {"grants": [], **({"next_cursor": f"n{len(asked)}"} if len(asked) < 3 else {})}}

    assert scripted.world(script).root.all("grants.list", view="own", limits=[1, 2]) == []
    assert asked == [{"limit": 1}, {"cursor": "n1", "limit": 2}, {"cursor": "n2", "limit": 2}]


def test_flags_and_credentials_are_the_callers() -> None:
    world = scripted.world(committing)
    assert world.root.with_flags(Flag.CORE).flags == {world.bundle.flag(Flag.CORE)}
    call = world.root.with_credential(None).call("describe")
    assert (call.credential, call.caller) == (None, "root?")


def test_every_expectation_is_counted() -> None:
    world = scripted.world(committing)
    world.same({"a": 1}, {"a": 1.0}, "equal")
    world.same_set(["b", "a"], ["a", "b"], "same set")
    assert world._client.tally.assertions == 2
    with pytest.raises(CheckFailed, match="differ") as caught:
        world.same({"a": 1}, {"a": 2}, "differ")
    assert (caught.value.expected, caught.value.seen, caught.value.pointer) == (1, 2, "/a")


def test_a_bench_without_spaces_or_principals_is_inconclusive() -> None:
    contract = bundle.load()
    bench = Bench(InProcess(scripted.Scripted(committing)), contract, scripted.facts(contract, "hello"))
    assert bench.ran_nothing()
    with pytest.raises(Inconclusive, match="provisions no space"):
        bench.world()
    with pytest.raises(Inconclusive, match="makes no principals"):
        bench.login(0)


def test_a_shared_space_is_salted_and_its_grants_and_freeze_are_taken_back() -> None:
    contract = bundle.load()
    frozen = {
        **contract.schema(contract.model_ref("MemorySpace"))["examples"][0],
        "space_id": "s1",
        "state": "frozen",
        "revision": 7,
    }
    grant = {"type": "grant", "id": "g1", "revision": 1}
    provider = scripted.Scripted(
        lambda op, _payload: {
            "payload": {"spaces": [frozen]} if op == "memory.spaces.list" else {"receipt": scripted.receipt(op, grant)}
        }
    )
    home = Home("s1", Login("root-id", "c"), shared=True)
    bench = Bench(InProcess(provider), contract, scripted.facts(contract, "hello"), homes=[home], logins=[Login("p", "pc")])
    world = bench.world()
    world.principal("recall")
    assert world.name("u1") != "u1"
    bench.close()
    taken_back = {op: payload for _, _, op, payload in provider.asked}
    assert taken_back["memory.grants.revoke"]["grant_id"] == "g1"
    assert taken_back["memory.spaces.unfreeze"]["expected_revision"] == 7
    assert bench.world().name("u1") != world.name("u1")
