"""MEM-R005, single authority: an activation that is in flight when the provider dies counts one generation or none."""

from __future__ import annotations

import pytest

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.crashing import crash_amid
from conformance.exchange import Call
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

READS = 3
"""Answered before the activation is, so that the crash comes while it is at work."""


def _staged(world: World) -> Call:
    """Stage an export of the space, freeze it, and return the call that activates it."""
    import_id = scenes.staged(world)
    if scenes.space(world)["state"] == "active":
        scenes.freeze(world)
    return moving.activation(world, import_id)


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["restart"])
def test_an_activation_in_flight_at_a_crash_counts_one_or_none(bench: Bench) -> None:
    """After a crash the generation is the old one or one more; the activation, repeated, makes it one more in all."""
    world = bench.world()
    world.root.create()
    for place in bench.rows((READS, READS, READS, READS + 1)):
        before = scenes.generation(world)
        call = _staged(world)
        reads = [world.root.call("spaces.list") for _ in range(2 * READS)]
        crashed = crash_amid(bench, world, [*reads[:READS], call, *reads[READS:]], place)
        seen = scenes.generation(world)
        possible = [before + 1] if crashed.committed(call) else [before, before + 1]
        world.expect(seen in possible, "the generation after a crash", expected=possible, seen=seen)
        receipt = world.root.accepted(call)
        world.same(before + 1, scenes.generation(world), "an activation repeated after a crash does not count one")
        world.same(receipt, world.root.accepted(call), "after a crash the key of an activation has another receipt")
        stale = {"import_id": call.payload["import_id"], "expected_authority_generation": before}
        world.root.refused("imports.activate", Code.REVISION_STALE, Code.WRONG_STATE, **stale)
