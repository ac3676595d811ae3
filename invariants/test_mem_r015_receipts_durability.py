"""MEM-R015, receipts: one that was answered is the same after every crash, and there is none without its effect."""

from __future__ import annotations

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.crashing import FLIGHT, PLACES, acknowledged, crash_amid, settled
from conformance.exchange import Call
from conformance.wire.vocabulary import Flag
from conformance.world import World


def _captures(world: World) -> list[Call]:
    scope = world.scope()
    return [world.root.call("capture", content={"text": f"{number}"}, scope=scope) for number in range(FLIGHT)]


@pytest.mark.needs(controls=["restart"])
def test_a_receipt_and_its_effect_outlive_a_crash_together(bench: Bench) -> None:
    """After a crash each receipt names an effect that is there and each effect has its receipt; another crash changes neither."""
    for place in bench.rows(PLACES):
        world = bench.world()
        crashed = crash_amid(bench, world, _captures(world), place)
        there = {
            candidate["content"]["text"]: candidate["candidate_id"]
            for candidate in world.root.all("candidates.list", selection=world.everything())
        }
        receipts = settled(world, crashed)
        for number, receipt in enumerate(receipts):
            candidate_id = made(receipt, "candidate")
            world.same(there.get(f"{number}", candidate_id), candidate_id, "an effect that outlived a crash has no receipt")
            seen = world.root.candidate(candidate_id)["content"]["text"]
            world.same(f"{number}", seen, "a receipt names what it did not make")
        bench.levers.restart()
        for receipt in receipts:
            read = world.root.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
            world.same(receipt, read, "a settled receipt changed at a crash")


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold", "restart"])
def test_a_receipt_that_was_pending_at_a_crash_settles_once(bench: Bench) -> None:
    """What was answered pending before a crash settles after it, once, and is never again what it was."""
    world = bench.world()
    world.root.create()
    bench.levers.hold(True)
    try:
        calls = [world.root.call("exports.create") for _ in range(FLIGHT)]
        crashed = crash_amid(bench, world, calls, PLACES[1])
        known = acknowledged(world, crashed)
        counted = scenes.space(world)["pending_receipts"]
        pending = sum(receipt["state"] == "pending" for receipt in known.values())
        world.expect(pending <= counted <= len(calls), "receipts that were pending at a crash are not counted", seen=counted)
    finally:
        bench.levers.hold(False)
    receipts = settled(world, crashed)
    world.same(0, scenes.space(world)["pending_receipts"], "a receipt is pending for ever after a crash")
    exports = {made(receipt, "export") for receipt in receipts}
    world.same(len(calls), len(exports), "not one export a request is there after a crash")
    for export_id in sorted(exports):
        world.root.do("exports.get", export_id=export_id, ordinal=0)
