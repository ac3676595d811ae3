"""MEM-R027: an export is pinned when it is asked for, and cut as it is asked for (section 7, Transfer and Pending)."""

from __future__ import annotations

import pytest

from conformance import moving, scenes, sealing
from conformance.bench import Bench
from conformance.caller import made
from conformance.cargo import ENTRY, cargo, landed
from conformance.wire.vocabulary import Code, Flag


def test_an_export_keeps_what_it_holds(bench: Bench) -> None:
    """An export, of an active or a frozen space, is as it was asked for and made: no later change or export shows in it."""
    world = bench.world()
    record_id = world.root.create(content={"text": "then"})
    extensions = {"acme": {"reason": "move"}}
    export_id = scenes.export(world, extensions=extensions, max_items_per_chunk=1)
    bundle, chunks = scenes.fetched(world, export_id)
    world.carries(extensions, bundle, "the bundle does not carry the extensions of the request that made it")
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "now"})
    world.root.do("records.delete", record_id=record_id, expected_revision=2)
    world.root.create()
    scenes.freeze(world)
    others = {"acme": {"reason": "backup"}, "other": {"none": None}}
    later = moving.exported(world, extensions=others)
    world.carries(others, later[0], "the bundle of a frozen space does not carry the extensions of its request")
    for number, chunk in enumerate(chunks):
        answer = world.root.do("exports.get", export_id=export_id, ordinal=number)
        world.same({"bundle": bundle, "chunk": chunk}, answer, "the export changed after it was made")
    world.expect(later[0]["export_id"] != export_id, "two exports have one id", seen=export_id)
    now = [record["content"] for record in sealing.values(later[1], "record") if record["record_id"] == record_id]
    world.same([{"text": ""}], now, "a later export does not hold the record as it is")


def test_past_the_last_chunk_there_is_nothing(bench: Bench) -> None:
    """``exports.get`` of an ordinal past the last, and of an export that does not exist, is NOT_FOUND."""
    world = bench.world()
    world.root.create()
    export_id = scenes.export(world, max_items_per_chunk=1)
    count = scenes.fetched(world, export_id)[0]["chunk_count"]
    world.root.do("exports.get", export_id=export_id, ordinal=count - 1)
    for ordinal in (count, count + 1, 10**6):
        world.root.refused("exports.get", Code.NOT_FOUND, export_id=export_id, ordinal=ordinal)
    world.root.refused("exports.get", Code.NOT_FOUND, export_id="no such export", ordinal=0)


def test_a_chunk_is_asked_for_up_to_the_announced_limit(bench: Bench) -> None:
    """``max_items_per_chunk`` is taken up to ``max_chunk_items``; one more is LIMIT_EXCEEDED."""
    world = bench.world()
    most = bench.described(world)["limits"]["max_chunk_items"]
    with world.unchanged():
        world.root.refused("exports.create", Code.LIMIT_EXCEEDED, max_items_per_chunk=most + 1)
    for size in (1, most):
        scenes.export(world, max_items_per_chunk=size)


def test_no_chunk_holds_more_than_asked_for(bench: Bench) -> None:
    """Every chunk keeps to ``max_items_per_chunk``, the last and the one before it too, whatever is left over at the end."""
    world = bench.world()
    world.root.create()
    most = bench.described(world)["limits"]["max_chunk_items"]
    for size in (2, min(3, most)):
        # Each export leaves a receipt behind, so that the next one holds an item more.
        for _ in range(size):
            _, chunks = moving.exported(world, max_items_per_chunk=size)
            fullest = max(len(chunk["items"]) for chunk in chunks)
            world.expect(fullest <= size, "a chunk holds more items than asked for", expected=size, seen=fullest)


@pytest.mark.needs(flags=[Flag.REFLECTION], controls=["hold"])
def test_only_settled_receipts_travel(bench: Bench) -> None:
    """An export holds the receipts that were settled when it was made: none is pending, and no object of a pending one."""
    world = bench.world()
    scope = world.scope()
    scenes.complete_profile(world, scope["subject_id"])
    record_id = world.root.create()
    bench.levers.hold(True)
    try:
        generating = moving.held(world, world.root.call("reflections.generate", selection=scenes.selection(scope)))
        pending = moving.held(world, world.root.call("exports.create"))
        export_id = made(pending, "export")
        world.root.refused("exports.get", Code.NOT_FOUND, export_id=export_id, ordinal=0)
        world.root.do("records.delete", record_id=record_id, expected_revision=1)
    finally:
        bench.levers.hold(False)
    for receipt in (generating, pending):
        world.same("committed", world.root.settled(receipt)["state"], "a held request did not commit")
    _, chunks = scenes.fetched(world, export_id)
    receipts = {receipt["receipt_id"]: receipt["state"] for receipt in sealing.values(chunks, "receipt")}
    world.expect("pending" not in receipts.values(), "a pending receipt travels", seen=receipts)
    world.expect(generating["receipt_id"] not in receipts, "a receipt travels that was not settled then", seen=receipts)
    reflections = [reflection["reflection_id"] for reflection in sealing.values(chunks, "reflection")]
    world.expect(made(generating, "reflection") not in reflections, "the object of a pending receipt travels", seen=reflections)
    texts = [record["content"]["text"] for record in sealing.values(chunks, "record") if record["record_id"] == record_id]
    world.same(["a"], texts, "the export does not hold the space as it was at the request")


def test_an_export_cuts_nothing_off(bench: Bench) -> None:
    """However many items of a type there are, an export holds each of them, and an activation brings each in."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    records = [world.root.create() for _ in range(scenes.MANY)]
    candidates = [world.root.capture() for _ in range(scenes.MANY)]
    fenced = [world.name(f"f{number}") for number in range(scenes.MANY)]
    for number, context_id in enumerate(fenced):
        world.root.do("subjects.fence", target={"type": "context", "context_id": context_id}, action="fence")
        kind = f"kind-{number}"
        world.root.do("profile.update", subject_id=subject_id, kind=kind, content={"text": "a"}, expected_revision=None)
    settled = list(world.receipts)
    _, chunks = parcel = moving.exported(world)
    held = sealing.carried(sealing.items_of(chunks))
    wanted = [
        *(sealing.name_of("record", {"record_id": name}) for name in records),
        *(sealing.name_of("candidate", {"candidate_id": name}) for name in candidates),
        *(sealing.name_of("context_fence", {"context_id": name}) for name in fenced),
        *(sealing.name_of("profile", {"subject_id": subject_id, "kind": f"kind-{number}"}) for number in range(scenes.MANY)),
        *(sealing.name_of("receipt", {"receipt_id": name}) for name in settled),
    ]
    lost = [name for name in wanted if name not in held]
    world.same([], lost, "an export of many items lacks some")
    moving.activated(world, parcel)
    landed(world, sealing.items_of(chunks), "an activation of many items brought in less, or otherwise")


def test_what_was_brought_travels_on(bench: Bench) -> None:
    """An export holds what an import brought in, receipts with their keys included, as it was brought."""
    world = bench.world()
    load = cargo(world)
    moving.activated(world, load.parcel())
    _, chunks = moving.exported(world)
    held, brought = sealing.carried(sealing.items_of(chunks)), sealing.carried(load.items())
    if not bench.declares(Flag.REFLECTION):
        brought.pop(sealing.name_of("reflection", load.values["reflection"]))
    world.same(brought, {name: held.get(name) for name in brought}, "an export lacks what an import brought in, or changes it")


@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_an_export_is_whole_whatever_was_negotiated(bench: Bench) -> None:
    """A caller without the flags of reflections and cognition exports what is there all the same."""
    world = bench.world()
    scope = world.scope()
    world.root.create(content={"text": "a", "cognition": [ENTRY]})
    scenes.reflect(world, scope)
    plain = world.root.with_flags(Flag.CORE, Flag.TRANSFER)
    whole, bare = (made(caller.do("exports.create"), "export") for caller in (world.root, plain))
    kinds = ("record", "reflection")
    first, other = ({kind: sealing.values(scenes.fetched(world, export)[1], kind) for kind in kinds} for export in (whole, bare))
    world.same(first, other, "an export by a caller without the flags of reflections and cognition holds something else")
