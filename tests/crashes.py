"""Crash after crash of the bundled durable provider, with calls in flight: nothing may be lost, nothing doubled.

    python -m tests.crashes 200

A world's records are followed by a model: after every crash, each call that was answered must be there, each other one done once
or not at all, and when all were sent again under their keys the records are exactly the model's.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from conformance.bench import Bench
from conformance.crashing import FLIGHT, Crashed, crash_amid
from conformance.exchange import Call
from conformance.levers import hello
from conformance.transport.stdio import Stdio
from conformance.wire import bundle
from conformance.world import World
from tests.served import ROOT

ROUNDS_A_WORLD = 20
OLD_KEYS = 30
"""So many keys of earlier rounds are tried again in each."""

Shape = tuple[int, str]


@dataclass
class Count:
    """What was seen: of the calls that got no answer, ``done`` had taken effect all the same."""

    crashes: int = 0
    answered: int = 0
    unanswered: int = 0
    done: int = 0

    def __str__(self) -> str:
        lost = f"{self.unanswered} calls without an answer ({self.done} done all the same)"
        return f"{self.crashes} crashes: {self.answered} calls answered, {lost}; nothing lost, nothing doubled"


@dataclass
class Story:
    """One world: its records as (revision, text) by id, and every call ever made in it with its receipt."""

    world: World
    random: Random
    records: dict[str, Shape] = field(default_factory=dict)
    past: list[tuple[Call, Any]] = field(default_factory=list)

    def flight(self) -> Iterator[Call]:
        """Draw calls of which no two touch one record."""
        living = [record_id for record_id, (_, text) in self.records.items() if text]
        self.random.shuffle(living)
        for number in range(FLIGHT):
            kind = self.random.choice(("create", "update", "delete"))
            record_id = living.pop() if living and kind != "create" else ""
            yield self._call(kind if record_id else "create", record_id, f"{len(self.past)}/{number}")

    def _call(self, kind: str, record_id: str, text: str) -> Call:
        root = self.world.root
        if kind == "create":
            return root.call("records.create", kind="note", content={"text": text}, scope=self.world.scope())
        members: dict[str, Any] = {"record_id": record_id, "expected_revision": self.records[record_id][0]}
        return root.call(f"records.{kind}", **members, **({"content": {"text": text}} if kind == "update" else {}))

    def learn(self, call: Call, receipt: Any) -> None:
        """Take a settled call into the model."""
        self.past.append((call, receipt))
        [entry] = receipt["affected"]
        self.records[entry["id"]] = (entry["revision"], call.payload.get("content", {}).get("text", ""))

    def there(self) -> dict[str, Shape]:
        """Return the records that are there."""
        listed = self.world.root.all("records.list", limits=[50], selection=self.world.everything(), include_tombstones=True)
        shapes = {record["record_id"]: (record["revision"], record["content"]["text"]) for record in listed}
        assert len(shapes) == len(listed)
        return shapes

    def repeat(self, entries: list[tuple[Call, Any]]) -> None:
        """Send settled calls again."""
        for call, receipt in entries:
            self.world.same(receipt, self.world.root.accepted(call), "a key forgot its receipt")


def crashes(bench: Bench, wanted: int, seed: int = 0) -> Count:
    """Let the provider of ``bench`` crash ``wanted`` times. Raises ``CheckFailed`` where something is lost or doubled."""
    random, count, stories = Random(seed), Count(), []
    while count.crashes < wanted:
        if count.crashes % ROUNDS_A_WORLD == 0:
            story = Story(bench.beside(), random)
            stories.append(story)
        calls = list(story.flight())
        crashed = crash_amid(bench, story.world, calls, random.randint(1, FLIGHT - 2))
        _look(story, crashed, count)
    for story in stories:
        story.world.same({}, _different(story.records, story.there()), "a record of an earlier world is not what it was")
        story.repeat(story.past)
    return count


def _look(story: Story, crashed: Crashed, count: Count) -> None:
    world, there = story.world, story.there()
    count.crashes += 1
    answered = {number: reply.payload["receipt"] for number, _, reply in crashed.answered() if reply.ok}
    count.answered += len(answered)
    count.unanswered += len(crashed.calls) - len(answered)
    before = dict(story.records)
    for number, call in enumerate(crashed.calls):
        receipt = world.root.accepted(call)
        world.same(answered.get(number, receipt), receipt, "an acknowledged key has another receipt after a crash")
        story.learn(call, receipt)
        [entry] = receipt["affected"]
        done = there.get(entry["id"]) == story.records[entry["id"]]
        world.expect(done or number not in answered, "an acknowledged change was lost at a crash", seen=receipt)
        world.expect(done or there.get(entry["id"]) == before.get(entry["id"]), "a change was half done at a crash", seen=receipt)
        count.done += done and number not in answered
    world.same({}, _different(story.records, story.there()), "the records are not exactly those that were made")
    story.repeat(story.random.sample(story.past, min(OLD_KEYS, len(story.past))))


def _different(expected: dict[str, Shape], seen: dict[str, Shape]) -> dict[str, Any]:
    names = expected.keys() | seen.keys()
    return {name: [expected.get(name), seen.get(name)] for name in names if expected.get(name) != seen.get(name)}


def main(wanted: int) -> None:
    """Count the crashes that the bundled durable provider survives."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "conformance.cli", "serve", "--stdio", "--db", str(Path(directory) / "memory.db")]
        shim = Stdio(command, deadline=30, cwd=ROOT)
        try:
            sys.stdout.write(f"{crashes(Bench(shim, bundle.load(), hello(shim)), wanted)}\n")
        finally:
            shim.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
