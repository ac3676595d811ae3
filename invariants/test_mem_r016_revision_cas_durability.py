"""MEM-R016, revisions: changes that are in flight when the provider dies count once or not at all (F07)."""

from __future__ import annotations

import pytest

from conformance.bench import Bench
from conformance.crashing import FLIGHT, PLACES, Crashed, acknowledged, crash_amid, settled
from conformance.wire.vocabulary import Code
from conformance.world import World

pytestmark = pytest.mark.needs(controls=["restart"])


def test_of_changes_on_one_revision_in_flight_at_a_crash_one_wins(bench: Bench) -> None:
    """Of updates on one revision exactly one commits, a crash among them and their repetition after it notwithstanding."""
    for place in bench.rows((1, 2, 5)):
        world = bench.world()
        record_id = world.root.create(content={"text": "before"})
        texts = [f"{number}" for number in range(FLIGHT)]
        calls = [
            world.root.call("records.update", record_id=record_id, expected_revision=1, content={"text": text}) for text in texts
        ]
        crashed = crash_amid(bench, world, calls, place)
        _one_won(world, record_id, [texts[number] for number, _, reply in crashed.answered() if reply.ok])
        _one_won(world, record_id, _repeated(world, crashed, texts), least=1)


def _repeated(world: World, crashed: Crashed, texts: list[str]) -> list[str]:
    """Send the updates again; return the texts of those that commit, and want all others to be stale."""
    won = []
    for call, text in zip(crashed.calls, texts, strict=True):
        reply = world.exchange(call)
        if reply.ok:
            won.append(text)
        else:
            world.expect_refusal(call, reply, [Code.REVISION_STALE])
    return won


def _one_won(world: World, record_id: str, won: list[str], *, least: int = 0) -> None:
    world.expect(least <= len(won) <= 1, "of updates on one revision, around a crash, not exactly one committed", seen=won)
    record = world.root.read(record_id)
    seen = [record["revision"], record["content"]["text"]]
    if won:
        world.same([2, won[0]], seen, "after a crash the record is not what the one update made it")
    else:
        what = "after a crash the record is neither as before nor changed once"
        world.expect(seen == [1, "before"] or (seen[0] == 2 and seen[1] != "before"), what, seen=record)


def test_changes_in_flight_at_a_crash_count_once(bench: Bench) -> None:
    """After a crash every record is whole: as it was, or changed once; repeated under its key each change counts one."""
    for place in bench.rows(PLACES):
        world = bench.world()
        records = [world.root.create(content={"text": f"{number}"}) for number in range(FLIGHT)]
        calls = [
            world.root.call("records.update", record_id=record_id, expected_revision=1, content={"text": f"{number}'"})
            for number, record_id in enumerate(records)
        ]
        crashed = crash_amid(bench, world, calls, place)
        known = acknowledged(world, crashed)
        for number, record_id in enumerate(records):
            record = world.root.read(record_id)
            seen, changed = [record["revision"], record["content"]["text"]], [2, f"{number}'"]
            if number in known:
                world.same(changed, seen, "after a crash an acknowledged update is not there")
            else:
                world.expect(seen in ([1, f"{number}"], changed), "after a crash a record is half changed", seen=record)
        settled(world, crashed)
        for number, record_id in enumerate(records):
            record = world.root.read(record_id)
            seen = [record["revision"], record["content"]["text"]]
            world.same([2, f"{number}'"], seen, "an update repeated after a crash does not count one")
