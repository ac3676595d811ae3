"""MEM-R027: receipts and idempotency keys travel, and the receiving space's own stay and win (section 7, Transfer)."""

from __future__ import annotations

from dataclasses import replace

from conformance import moving, sealing
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.cargo import cargo, landed
from conformance.exchange import Call
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code
from conformance.world import World


def two_homes(bench: Bench) -> tuple[World, World, Caller, Caller]:
    """Return two spaces, and one principal that may write in both, as a caller of each."""
    here, there = moving.two_spaces(bench)
    capabilities = ["records_write", "records_read", "capture", "subjects_write"]
    caller = here.stranger("both")
    twin = replace(caller, world=there)
    for world, grantee in ((here, caller), (there, twin)):
        world.root.grant(grantee, capabilities=capabilities)
    return here, there, caller, twin


def keyed(caller: Caller, key: str, world: World) -> list[Call]:
    """Return one call of each of several mutations, all under one key."""
    scope = world.scope()
    text = {"content": {"text": "keyed"}, "scope": scope, "idempotency_key": key}
    return [
        caller.call("records.create", kind="note", **text),
        caller.call("capture", **text),
        caller.call("subjects.ensure", subject_id=scope["subject_id"], idempotency_key=key),
    ]


def test_keys_travel(bench: Bench) -> None:
    """A moved key replays in the exporting space and is IDEMPOTENCY_CONFLICT elsewhere, never a second effect."""
    here, there, caller, twin = two_homes(bench)
    calls = keyed(caller, "moved", here)
    receipts = [caller.accepted(call) for call in calls]
    parcel = moving.exported(here)
    for world in (here, there):
        moving.activated(world, parcel)
    with here.unchanged("a replay after an activation has an effect"):
        for call, receipt in zip(calls, receipts, strict=True):
            here.same(receipt, caller.accepted(call), f"{call.op}: the replay in the exporting space is not the same receipt")
    with there.unchanged("a moved key has a second effect"):
        for call in calls:
            elsewhere = replace(call, payload={**call.payload, "space_id": there.space_id})
            twin.must_refuse(elsewhere, Code.KEY_REUSED)
    for call in keyed(twin, "fresh", there):
        twin.accepted(call)


def test_a_brought_key_counts_as_used(bench: Bench) -> None:
    """A receipt that only the bundle holds is readable and replayed: the request that it is bound to has no effect."""
    world = bench.world()
    load = cargo(world)
    create = world.root.call("records.create", kind="note", content={"text": "a"}, scope=load.scope)
    bound = {"principal_id": world.root.principal_id, "idempotency_key": create.payload["idempotency_key"]}
    receipt = load.item("receipt", space_id=world.space_id, payload_digest=digest(create.payload), **bound)
    moving.activated(world, load.parcel([*load.items("subject", "record"), receipt]))
    found = world.root.do("receipts.get", receipt_id=receipt["value"]["receipt_id"])["receipt"]
    world.same(receipt["value"], found, "the brought receipt does not read verbatim")
    world.same(found, world.root.accepted(create), "the request of a brought key is not its replay")
    landed(world, load.items("subject", "record"), "the request of a brought key has a second effect")
    other = replace(create, payload={**create.payload, "content": {"text": "b"}})
    world.root.must_refuse(other, Code.KEY_REUSED)
    world.root.accepted(replace(create, payload={**create.payload, "idempotency_key": world.fresh_key()}))


def test_keys_of_the_space_stay(bench: Bench) -> None:
    """What was done after the export is undone by its activation, but its key stays used: the replay does it not again."""
    world = bench.world()
    world.scope()
    parcel = moving.exported(world)
    create = world.root.call("records.create", kind="note", content={"text": "later"}, scope=world.scope())
    receipt = world.root.accepted(create)
    moving.activated(world, parcel)
    with world.unchanged("a replay after an activation has an effect"):
        world.same(receipt, world.root.accepted(create), "the replay of an own key is not the same receipt")
        world.root.refused("records.get", Code.NOT_FOUND, record_id=made(receipt, "record"))
    read = world.root.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
    world.same(receipt, read, "an activation changed a receipt of the space")


def test_keys_of_the_space_win(bench: Bench) -> None:
    """Where a brought receipt has the key, or the id, of one of the space's own, the space's own stays and is replayed."""
    here, there, caller, twin = two_homes(bench)
    for call in keyed(caller, "same", here):
        caller.accepted(call)
    there.root.ensure(here.scope()["subject_id"])
    own = [replace(call, payload={**call.payload, "extensions": {"own": {}}}) for call in keyed(twin, "same", here)]
    receipts = [twin.accepted(call) for call in own]
    bundle, chunks = moving.exported(here)
    load = cargo(there)
    forged = load.item("receipt", receipt_id=receipts[0]["receipt_id"])
    items = [*sealing.items_of(chunks), forged]
    moving.activated(there, sealing.packed(bundle, items, 2))
    for call, receipt in zip(own, receipts, strict=True):
        there.same(receipt, twin.accepted(call), f"{call.op}: the replay of an own key is not the own receipt")
        read = twin.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
        there.same(receipt, read, "a brought receipt took the place of one of the space's own")
