"""The client trusts neither side: our requests are validated before, the provider's answers after."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.errors import SuiteFault, TargetFault
from conformance.exchange import Call
from conformance.expect import CheckFailed
from conformance.world import World
from tests import scripted

SUBJECT = {
    "schema_version": 1,
    "space_id": "s1",
    "subject_id": "u1",
    "state": "active",
    "revision": 1,
    "created_at": scripted.NOW,
    "updated_at": scripted.NOW,
    "extensions": {},
}
GET = Call("memory.subjects.get", {"space_id": "s1", "subject_id": "u1"})


def answering(answer: Any) -> World:
    return scripted.world(lambda _op, _payload: answer)


def test_a_valid_answer_is_returned_recorded_and_counted() -> None:
    world = answering({"payload": {"subject": SUBJECT}})
    assert world.exchange(GET).payload == {"subject": SUBJECT}
    assert [exchange.call for exchange in world.trace] == [GET]
    assert world._client.tally.seen == {("memory.subjects.get", ""): 1}


def test_an_invalid_request_of_ours_is_our_fault_unless_meant() -> None:
    world = answering({"payload": {"subject": SUBJECT}})
    bad = Call("memory.subjects.get", {"space_id": "s1"})
    with pytest.raises(SuiteFault, match="subject_id"):
        world.exchange(bad)
    assert world.exchange(bad, meant_invalid=True).ok


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"payload": {"subject": {**SUBJECT, "surprise": 1}}}, "breaks its response schema"),
        ({"payload": {}}, "breaks its response schema"),
        ({"error": {"code": "NOT_FOUND", "message": "gone"}}, "error envelope"),
        (scripted.error("TEAPOT"), "none of the contract's"),
        (scripted.error("internal_error"), "internal error"),
        (scripted.error("NOT_FOUND", retry="later"), "retry class"),
    ],
)
def test_a_malformed_answer_fails_the_check(answer: Any, sentence: str) -> None:
    with pytest.raises(CheckFailed, match=sentence):
        answering(answer).exchange(GET)


def test_a_refusal_with_the_right_retry_class_or_none_is_well_formed() -> None:
    assert answering(scripted.error("NOT_FOUND", retry="never")).exchange(GET).code == "NOT_FOUND"
    assert answering(scripted.error("NOT_FOUND")).exchange(GET).code == "NOT_FOUND"


def test_success_of_an_operation_that_does_not_exist_fails_the_check() -> None:
    with pytest.raises(CheckFailed, match="does not exist"):
        answering({"payload": {}}).root.raw("memory.nothing", {})


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {"payload": {}, "error": {"code": "X"}},
        {"payload": None},
        {"payload": 5},
        {"error": "X"},
        {"error": {"code": 5}},
    ],
)
def test_an_answer_of_no_shape_is_the_targets_fault(answer: Any) -> None:
    with pytest.raises(TargetFault, match=r"memory\.subjects\.get"):
        answering(answer).exchange(GET)


def test_all_at_once_keeps_the_order_of_the_calls() -> None:
    world = scripted.world(lambda _op, payload: {"payload": {"subject": {**SUBJECT, "subject_id": payload["subject_id"]}}})
    calls = [Call("memory.subjects.get", {"space_id": "s1", "subject_id": name}) for name in ("a", "b", "c")]
    assert [reply.payload["subject"]["subject_id"] for reply in world.at_once(calls)] == ["a", "b", "c"]
    assert [exchange.call for exchange in world.trace] == calls
