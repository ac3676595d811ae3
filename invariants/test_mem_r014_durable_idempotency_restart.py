"""MEM-R014, durable idempotency: keys outlive restarts, other keys and failure (F25)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.exchange import Call
from conformance.expect import Inconclusive
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

OTHER: dict[str, Any] = {"other": {}}
BURST = 40
OTHER_KEYS = 300
"""Keys that must not push an older one out of a table of limited size."""


def _thawed(world: World) -> World:
    if scenes.space(world)["state"] == "frozen":
        scenes.unfreeze(world)
    return world


def _one_of_each(world: World) -> list[tuple[Call, Any]]:
    """Send one request of every operation that mutates; return the calls with their receipts."""
    sent = []
    for operation in scenes.served(world):
        if operation.mutation:
            call = world.root.call(operation.stem, **scenes.plain_request(_thawed(world), operation.stem))
            sent.append((call, world.root.accepted(call)))
    return sent


def _failing_stage(world: World) -> Call:
    """Return the staging of an import whose one chunk does not fit its bundle's digest: it settles failed."""
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    wrong = {**bundle, "digest": "0" * 64, "chunk_count": 1, "chunk_digests": bundle["chunk_digests"][:1]}
    return world.root.call("imports.stage", bundle=wrong, chunk={**chunks[0], "final": True})


def _answer(caller: Caller, call: Call) -> Any:
    """Return the settled receipt of a call, failed ones too."""
    reply = caller.world.exchange(call)
    caller.world.expect(reply.ok, f"{call.op}: a repeat was refused", seen=reply.error)
    return caller.settled(reply.payload["receipt"])


@pytest.mark.needs(controls=["restart"])
def test_keys_outlive_a_restart_in_every_operation(bench: Bench) -> None:
    """After a restart every key answers with its receipt, has no second effect, and refuses another payload (F25)."""
    world = bench.world()
    sent = _one_of_each(world)
    bench.levers.restart()
    with world.unchanged("a replay after a restart had a second effect"):
        for call, receipt in sent:
            world.same(receipt, world.root.accepted(call), f"{call.op}: after a restart the key is answered with something else")
            read = world.root.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
            world.same(receipt, read, f"{call.op}: the receipt is not what it was before the restart")


@pytest.mark.needs(controls=["restart"])
def test_a_used_key_refuses_another_payload_after_a_restart(bench: Bench) -> None:
    """The key stays bound to its payload over a restart, and a refused request's key stays free (F25)."""
    world = bench.world()
    call = world.root.call("records.create", kind="note", content={"text": "a"}, scope=world.scope())
    receipt = world.root.accepted(call)
    free = world.root.call("records.create", kind="note", content={"text": "b"}, scope={"subject_id": world.name("nobody")})
    world.root.must_refuse(free, Code.NOT_FOUND)
    bench.levers.restart()
    with world.unchanged():
        world.root.must_refuse(replace(call, payload={**call.payload, "extensions": OTHER}), Code.KEY_REUSED)
        world.same(receipt, world.root.accepted(call), "after a restart the key is answered with something else")
    world.root.accepted(replace(free, payload={**free.payload, "scope": world.scope()}))


@pytest.mark.needs(controls=["restart"])
def test_a_burst_before_a_restart_is_done_exactly_once(bench: Bench) -> None:
    """Requests repeated after a crash have one effect each: no key has two records, no receipt lacks its effect (F25)."""
    world = bench.world()
    scope = world.scope()
    calls = [
        world.root.call("records.create", kind="note", content={"text": f"{number}"}, scope=scope) for number in range(BURST)
    ]
    before = [reply.payload["receipt"] if reply.ok else reply.error for reply in world.at_once(calls)]
    bench.levers.restart()
    after = [world.root.accepted(call) for call in calls]
    world.same(before, after, "after a restart a key is answered with something else")
    records = world.root.all("records.list", selection=world.everything())
    world.same_set(
        [made(receipt, "record") for receipt in after],
        [record["record_id"] for record in records],
        "not exactly one record a key is there",
    )


def test_other_keys_push_no_key_out(bench: Bench) -> None:
    """A key is kept for ever, however many others come after it (F25)."""
    world = bench.world()
    call = world.root.call("records.create", kind="note", content={"text": "a"}, scope=world.scope())
    receipt = world.root.accepted(call)
    subject_id = world.scope()["subject_id"]
    for _ in range(OTHER_KEYS):
        world.root.send("subjects.ensure", subject_id=subject_id)
    world.same(receipt, world.root.accepted(call), "memory.records.create: an old key was forgotten")
    world.same(
        1, world.root.do("records.list", selection=world.everything())["total_authorized"], "an old key made a record again"
    )


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_a_failed_receipt_has_used_its_key(bench: Bench) -> None:
    """A receipt that settles failed has used its key: replays return it, a new try needs a new key."""
    world = bench.world()
    call = _failing_stage(world)
    receipt = _answer(world.root, call)
    world.same("failed", receipt["state"], "memory.imports.stage: a chunk that does not fit its bundle did not settle failed")
    right = scenes.plain_request(world, "imports.stage")
    key = call.payload["idempotency_key"]
    with world.unchanged():
        world.same(receipt, _answer(world.root, call), "memory.imports.stage: a failed key is answered with something else")
        world.root.refused("imports.stage", Code.KEY_REUSED, **right, idempotency_key=key)
    world.root.do("imports.stage", **right)


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold"])
def test_a_failed_activation_has_used_its_key(bench: Bench) -> None:
    """An activation that settles failed has used its key as a stage has: another payload under it is refused."""
    world = bench.world()
    call = world.root.call("imports.activate", **scenes.plain_request(world, "imports.activate"))
    bench.levers.hold(True)
    try:
        _sent(world, call)
        scenes.unfreeze(world)
    finally:
        bench.levers.hold(False)
    receipt = _answer(world.root, call)
    if receipt["state"] == "committed":
        raise Inconclusive(f"{call.op} committed at once although the provider is held")
    scenes.freeze(world)
    with world.unchanged():
        world.same(receipt, _answer(world.root, call), "memory.imports.activate: a failed key is answered with something else")
        world.root.must_refuse(replace(call, payload={**call.payload, "extensions": OTHER}), Code.KEY_REUSED)


def _sent(world: World, call: Call) -> None:
    reply = world.exchange(call)
    world.expect(reply.ok, f"{call.op}: refused a request that the contract accepts", seen=reply.error)


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["restart"])
def test_a_failed_receipt_outlives_a_restart(bench: Bench) -> None:
    """A failed receipt is durable as a committed one is (F25)."""
    world = bench.world()
    call = _failing_stage(world)
    receipt = _answer(world.root, call)
    world.same("failed", receipt["state"], "memory.imports.stage: a chunk that does not fit its bundle did not settle failed")
    bench.levers.restart()
    world.same(receipt, _answer(world.root, call), "memory.imports.stage: after a restart the failed key is answered otherwise")
    world.root.do("imports.stage", **scenes.plain_request(world, "imports.stage"))
