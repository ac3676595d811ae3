"""MEM-R027, transfer: what is staged or activated when the provider dies is there whole or not at all."""

from __future__ import annotations

import pytest

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.cargo import Cargo, cargo, landed, unseen
from conformance.crashing import crash_amid, settled
from conformance.expect import CheckFailed
from conformance.wire.vocabulary import Flag
from conformance.world import World

pytestmark = pytest.mark.needs(flags=[Flag.TRANSFER], controls=["restart"])

IMPORTS = 8
READS = 3
"""Answered before the activation is, so that the crash comes while it is at work."""


def test_chunks_in_flight_at_a_crash_are_staged_once_or_not_at_all(bench: Bench) -> None:
    """Chunks that were in flight at a crash are staged once by their keys, and the import goes on from there."""
    for place in bench.rows((2, 5)):
        world = bench.world()
        load = cargo(world)
        bundle, chunks = load.parcel()
        calls = [moving.stage_call(world, bundle, chunks[0]) for _ in range(IMPORTS)]
        crashed = crash_amid(bench, world, calls, place)
        imports = [made(receipt, "import") for receipt in settled(world, crashed)]
        world.same(IMPORTS, len(set(imports)), "not one import a request is there after a crash")
        rest = [moving.stage_call(world, bundle, chunk, imports[-1]) for chunk in chunks[1:]]
        for call in rest:
            settled(world, crash_amid(bench, world, [call], 1))
        unseen(world, load, "something is visible of an import that is only staged")
        scenes.freeze(world)
        world.root.accepted(moving.activation(world, imports[-1]))
        landed(world, load.items(), "what was staged around crashes did not arrive")


def test_an_activation_in_flight_at_a_crash_is_whole_or_not_at_all(bench: Bench) -> None:
    """After a crash all of an import is visible or nothing of it; the activation, repeated, makes all of it visible."""
    for place in bench.rows((READS, READS + 1)):
        world = bench.world()
        load = cargo(world)
        import_id = scenes.stage(world, *load.parcel())
        scenes.freeze(world)
        before = scenes.generation(world)
        call = moving.activation(world, import_id)
        reads = [world.root.call("spaces.list") for _ in range(2 * READS)]
        crashed = crash_amid(bench, world, [*reads[:READS], call, *reads[READS:]], place)
        if scenes.generation(world) == before:
            world.same(False, crashed.committed(call), "an acknowledged activation did not outlive a crash")
            _unseen_until_activated(world, load, before)
        else:
            landed(world, load.items(), "after a crash an activated import is not there whole")
        world.root.accepted(call)
        landed(world, load.items(), "an activation repeated after a crash did not bring all of the import")


def _unseen_until_activated(world: World, load: Cargo, before: int) -> None:
    """Expect nothing of an import to be visible, unless its activation, which was pending, has settled meanwhile."""
    try:
        unseen(world, load, "after a crash something is visible of an import that is not activated")
    except CheckFailed:
        if scenes.generation(world) == before:
            raise
