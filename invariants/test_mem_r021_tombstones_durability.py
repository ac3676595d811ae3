"""MEM-R021, tombstones: a deletion that is in flight when the provider dies is done whole or not at all, and is final."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.bench import Bench
from conformance.crashing import FLIGHT, PLACES, acknowledged, crash_amid, settled
from conformance.wire.vocabulary import Code
from conformance.world import World

pytestmark = pytest.mark.needs(controls=["restart"])


def _shape(record: Any) -> list[Any]:
    """Return what a deletion changes of a record: the revision, the content, whether there is a tombstone."""
    return [record["revision"], record["content"], "tombstone" in record]


def _gone(world: World, record_id: str, what: str) -> None:
    world.same([2, {"text": ""}, True], _shape(world.root.read(record_id)), what)


def test_deletions_in_flight_at_a_crash_are_whole_and_final(bench: Bench) -> None:
    """After a crash an acknowledged deletion is there, each other one whole or not at all; no content comes back by a crash."""
    for place in bench.rows(PLACES):
        world = bench.world()
        contents = [{"text": f"secret {number}", "structured": {"secret": number}} for number in range(FLIGHT)]
        records = [world.root.create(content=content) for content in contents]
        calls = [world.root.call("records.delete", record_id=record_id, expected_revision=1) for record_id in records]
        crashed = crash_amid(bench, world, calls, place)
        known = acknowledged(world, crashed)
        for number, record_id in enumerate(records):
            if number in known:
                _gone(world, record_id, "an acknowledged deletion did not outlive a crash")
            else:
                shape = _shape(world.root.read(record_id))
                whole = ([1, contents[number], False], [2, {"text": ""}, True])
                world.expect(shape in whole, "after a crash a record is half deleted", seen=shape)
        settled(world, crashed)
        bench.levers.restart()
        for record_id in records:
            _gone(world, record_id, "a deletion repeated after a crash is not there once")
        world.same([], world.root.all("records.list", selection=world.everything()), "a deleted record is listed after a crash")
        world.root.refused("records.update", Code.RECORD_TOMBSTONED, record_id=records[0], expected_revision=2, kind="again")
