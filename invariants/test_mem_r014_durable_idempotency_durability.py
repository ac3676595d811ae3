"""MEM-R014, durable idempotency: calls that are in flight when the provider dies (F25)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.crashing import FLIGHT, PLACES, acknowledged, crash_amid, settled
from conformance.exchange import Call
from conformance.wire.vocabulary import Code
from conformance.world import World

pytestmark = pytest.mark.needs(controls=["restart"])

ALONE = ("spaces.freeze", "spaces.unfreeze", "imports.activate")
"""What stops others that are in flight with it, or needs that they are stopped."""
READS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "record": ("records.get", "record_id"),
        "candidate": ("candidates.get", "candidate_id"),
        "subject": ("subjects.get", "subject_id"),
    }
)
"""How an affected object is read, and what names it in the request."""


def _creations(world: World) -> list[Call]:
    scope = world.scope()
    texts = [{"text": f"{number}"} for number in range(FLIGHT)]
    return [world.root.call("records.create", kind="note", content=content, scope=scope) for content in texts]


def _by_text(world: World) -> dict[str, list[str]]:
    """Return the ids of the records that are there, by their text."""
    found: dict[str, list[str]] = {}
    for record in world.root.all("records.list", selection=world.everything()):
        found.setdefault(record["content"]["text"], []).append(record["record_id"])
    return found


def test_calls_in_flight_at_a_crash_are_done_once_or_not_at_all(bench: Bench) -> None:
    """Of calls in flight at a crash each acknowledged one is done once, each other one once or not at all; its key settles it."""
    for place in bench.rows(PLACES):
        world = bench.world()
        crashed = crash_amid(bench, world, _creations(world), place)
        found = _by_text(world)
        twice = {text: ids for text, ids in found.items() if len(ids) > 1}
        world.same({}, twice, "a call that was in flight at a crash was done twice")
        for number, receipt in acknowledged(world, crashed).items():
            world.same([made(receipt, "record")], found.get(f"{number}"), "after a crash an acknowledged record is not there")
        receipts = settled(world, crashed)
        expected = {f"{number}": [made(receipt, "record")] for number, receipt in enumerate(receipts)}
        world.same(expected, _by_text(world), "after a crash and a repeat under each key not exactly one record a key is there")


def test_keys_in_flight_at_a_crash_stay_bound_to_their_payload(bench: Bench) -> None:
    """After a crash an acknowledged key refuses another payload, and one that was not answered is bound by its next use."""
    for place in bench.rows(PLACES):
        world = bench.world()
        crashed = crash_amid(bench, world, _creations(world), place)
        known = acknowledged(world, crashed)
        with world.unchanged():
            for number in known:
                world.root.must_refuse(scenes.other_payload(crashed.calls[number]), Code.KEY_REUSED)
        settled(world, crashed)
        with world.unchanged():
            for call in crashed.calls:
                world.root.must_refuse(scenes.other_payload(call), Code.KEY_REUSED)


def test_every_change_in_flight_at_a_crash_is_settled_by_its_key(bench: Bench) -> None:
    """Whatever operation was in flight at a crash: sent again under its key it has one effect and one receipt."""
    for place in bench.rows((2, 6, 10)):
        world = bench.world()
        # What one request needs to be there must not be written between another one's look and its call.
        scenes.complete_profile(world, world.scope()["subject_id"])
        stems = [operation.stem for operation in scenes.served(world) if operation.mutation and operation.stem not in ALONE]
        calls = [world.root.call(stem, **scenes.plain_request(world, stem)) for stem in stems]
        crashed = crash_amid(bench, world, calls, place)
        for receipt in settled(world, crashed):
            _once(world, receipt)


def _once(world: World, receipt: Mapping[str, Any]) -> None:
    """Expect each object that a receipt names to be there, changed exactly as often as the receipt says."""
    for entry in receipt["affected"]:
        if entry["type"] in READS:
            stem, member = READS[entry["type"]]
            seen = world.root.do(stem, **{member: entry["id"]})[entry["type"]]
            world.same(
                entry["revision"], seen["revision"], f"{receipt['op']}: after a crash its effect is not there exactly once"
            )
