"""Races over a record, a candidate and a space: the calls, and what each asks of the model (conformance.races)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from conformance import scenes
from conformance.exchange import Call, Reply
from conformance.races import Asked, Change, Look, Race, Thing
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code
from conformance.world import World

Built = tuple[Race, Callable[["Plan"], tuple[Call, Asked]]]
Plan = tuple[str, int, str]
"""What to do: a deed of the object's, the revision to expect, the key."""

DEAD = "(deleted)"
PENDING = "pending"
DECIDED = frozenset({"promote", "discard", "dismiss"})


def record(world: World) -> Built:
    """Return a race over a record: updates, a deletion, readings."""
    record_id = world.root.create(content={"text": "first"})
    race = Race(world, _record_read, Thing(1, "first"), "memory.records")

    def build(plan: Plan) -> tuple[Call, Asked]:
        deed, expected, key = plan
        if deed == "read":
            return world.root.call("records.get", record_id=record_id), Look()
        named = {"record_id": record_id, "expected_revision": expected, "idempotency_key": scenes.own(world, key)}
        if deed == "delete":
            return _changing(world.root.call("records.delete", **named), DEAD, frozenset({DEAD}), Code.RECORD_TOMBSTONED)
        call = world.root.call("records.update", **named, content={"text": deed})
        return _changing(call, deed, frozenset({DEAD}), Code.RECORD_TOMBSTONED)

    return race, build


def _record_read(reply: Reply) -> tuple[int, str]:
    found = reply.payload["record"]
    return found["revision"], DEAD if "tombstone" in found else found["content"]["text"]


def candidate(world: World) -> Built:
    """Return a race over a candidate: decisions, a dismissal, readings."""
    candidate_id = world.root.capture()
    race = Race(world, _candidate_read, Thing(1, PENDING), "memory.candidates")

    def build(plan: Plan) -> tuple[Call, Asked]:
        deed, expected, key = plan
        if deed == "read":
            return world.root.call("candidates.get", candidate_id=candidate_id), Look()
        named = {"candidate_id": candidate_id, "expected_revision": expected, "idempotency_key": scenes.own(world, key)}
        if deed == "dismiss":
            call = world.root.call("candidates.dismiss", **named)
        else:
            call = world.root.call("candidates.review", **named, decision={"action": deed})
        return _changing(call, deed, DECIDED, Code.CANDIDATE_CONSUMED)

    return race, build


def _candidate_read(reply: Reply) -> tuple[int, str]:
    found = reply.payload["candidate"]
    return found["revision"], found["outcome"]["decision"] if "outcome" in found else PENDING


def space(world: World) -> Built:
    """Return a race over a space: freezing, unfreezing, readings."""
    facts = scenes.space(world)
    race = Race(world, _space_read(world.space_id), Thing(facts["revision"], facts["state"]), "memory.spaces")

    def build(plan: Plan) -> tuple[Call, Asked]:
        deed, expected, key = plan
        if deed == "read":
            return world.root.call("spaces.list"), Look()
        named = {"expected_revision": facts["revision"] + expected - 1, "idempotency_key": scenes.own(world, key)}
        becomes = BECOMES[deed]
        return _changing(world.root.call(f"spaces.{deed}", **named), becomes, frozenset({becomes}), Code.WRONG_STATE)

    return race, build


BECOMES: Mapping[str, str] = MappingProxyType({"freeze": "frozen", "unfreeze": "active"})


def _space_read(space_id: str) -> Callable[[Reply], tuple[int, str]]:
    def read(reply: Reply) -> tuple[int, str]:
        found = next(entry for entry in reply.payload["spaces"] if entry["space_id"] == space_id)
        return found["revision"], found["state"]

    return read


def _changing(call: Call, becomes: str, barred: frozenset[str], bar: Code) -> tuple[Call, Asked]:
    """Return a call with what it asks. A key belongs to one operation: in the model its name says which."""
    payload: Mapping[str, Any] = call.payload
    key = f"{call.op} {payload['idempotency_key']}"
    return call, Change(key, digest(payload), payload["expected_revision"], becomes, barred, bar)


def run(built: Built, rounds: Sequence[Sequence[Plan]]) -> None:
    """Send the rounds, read the object at last, and judge."""
    race, build = built
    for plans in rounds:
        race.together([build(plan) for plan in plans])
    race.together([build(("read", 1, ""))])
    race.judge()
