"""MEM-R001, durable envelope: every durable object is whole, in every state and by every path (section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.wire.vocabulary import Flag
from conformance.world import World

MODELS: Mapping[str, str] = {
    "space": "MemorySpace",
    "subject": "Subject",
    "grant": "MemoryGrant",
    "candidate": "MemoryCandidate",
    "record": "RetainedRecord",
    "document": "ProfileDocument",
    "profile": "ProfileDocument",
    "reflection": "Reflection",
    "receipt": "MemoryReceipt",
    "bundle": "MemoryExportBundle",
    "chunk": "MemoryExportChunk",
}
"""Which model stands in a response member, one of it or (with an s) several, and in an item of a chunk."""


def durable_objects(answer: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return every durable object of an answer with the title of its model, those inside a chunk too."""
    for member, value in answer.items():
        if (title := MODELS.get(member)) is not None:
            yield title, value
        elif (title := MODELS.get(member.removesuffix("s"))) is not None:
            yield from ((title, one) for one in value)
    for item in answer.get("chunk", {}).get("items", []):
        if item["type"] in MODELS:
            yield MODELS[item["type"]], item["value"]


def _are_whole(world: World, op: str, answer: Mapping[str, Any]) -> int:
    """Expect each durable object of an answer to carry its envelope and to be valid; return how many there are."""
    objects = list(durable_objects(answer))
    for title, value in objects:
        for member in ("schema_version", "extensions"):
            world.expect(member in value, f"{op}: a {title} without {member}", seen=value)
        problems = [] if (model := world.bundle.model(title)).accepts(value) else model.problems(value)
        world.same([], [f"{problem.pointer}: {problem.message}" for problem in problems], f"{op}: a {title} breaks its schema")
    return len(objects)


def test_every_answer_holds_whole_objects(bench: Bench) -> None:
    """Every durable object that any operation returns carries schema_version and extensions and fits its closed schema."""
    for world, operation, call in scenes.each(bench):
        answer = world.root.accepted(call)
        _are_whole(world, operation.name, {"receipt": answer} if operation.mutation else answer)


def test_objects_are_whole_in_every_state(bench: Bench) -> None:
    """A durable object is whole in each of its states, by each operation that returns it."""
    world = bench.world()
    everything = {"selection": {"subject_id": world.scope()["subject_id"], "mode": "all_authorized"}}
    _furnish(world)
    reads: dict[str, Mapping[str, Any]] = {
        "spaces.list": {},
        "grants.list": {"view": "admin"},
        "candidates.list": everything,
        "records.list": {**everything, "include_tombstones": True},
        "recall": {**everything, "budget": {"max_records": 10}},
        "profile.get": {"subject_id": world.scope()["subject_id"]},
    }
    if bench.declares(Flag.REFLECTION):
        scenes.reflect(world, world.scope())
        reads["reflections.list"] = {"selection": scenes.selection(world.scope())}
    for stem, members in reads.items():
        listed = world.bundle.operations[world.operation(stem)].lists
        answers = list(world.root.pages(stem, **members)) if listed else [world.root.do(stem, **members)]
        found = sum(_are_whole(world, stem, answer) for answer in answers)
        world.expect(found > 0, f"{stem} returns nothing of what was made", seen=answers)


DECISIONS: tuple[Mapping[str, Any], ...] = (
    {"action": "promote"},
    {"action": "fragment", "fragments": [{"content": {"text": "b"}}, {"content": {"text": "c"}}]},
    {"action": "discard"},
)


EXTENSIONS: Mapping[str, Any] = {"acme": {"a": [None, {}]}}
FAR = "9000-01-01T00:00:00.000000000001Z"
RICH = {
    "text": "a",
    "structured": {"b": [None, {}], "c": 1.5},
    "cognition": [
        {
            "view": "recorded_at",
            "dimension": "belief",
            "value": "a",
            "attribution": {"holder_id": "h", "asserted_by": "b"},
            "basis": {"kind": "stated", "refs": ["r", "r"]},
            "time": {"recorded_at": "2026-01-01T00:00:00.000Z", "occurred_at": "2025-12-31T23:59:59.9999999Z"},
        }
    ],
}


def _furnish(world: World) -> None:
    """Make a space with something in every state, every optional member among them."""
    root = world.root
    for decision in DECISIONS:
        candidate_id = root.capture(source_context_id="s", extensions=EXTENSIONS)
        root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision, extensions=EXTENSIONS)
    scenes.dismiss(world, root.capture(source_context_id="s"))
    root.capture(kind="note", source_context_id="s", extensions=EXTENSIONS)
    root.do("records.delete", record_id=root.create(source_context_id="s", extensions=EXTENSIONS), expected_revision=1)
    root.create(scope=world.scope(context=None), source_context_id="s", content=RICH, extensions=EXTENSIONS)
    root.ensure(world.name("s"), kind="person:adult", extensions=EXTENSIONS)
    root.do("grants.grant", **scenes.plain_request(world, "grants.grant"), expires_at=FAR, extensions=EXTENSIONS)
    root.do("grants.revoke", grant_id=made(root.do("grants.grant", **scenes.plain_request(world, "grants.grant")), "grant"))
    scenes.complete_profile(world, world.scope()["subject_id"])
    root.do("profile.update", **scenes.plain_request(world, "profile.update"), extensions=EXTENSIONS)
    context = {"type": "context", "context_id": world.name("elsewhere")}
    root.do("subjects.fence", target=context, action="fence")


@pytest.mark.needs(controls=["restart"])
def test_every_object_outlives_a_restart(bench: Bench) -> None:
    """Durable objects are durable: after a restart each is what it was, in every state and with every member."""
    world = bench.world()
    _furnish(world)
    if bench.declares(Flag.REFLECTION):
        scenes.reflect(world, world.scope())
    with world.unchanged("an object is not what it was before the restart"):
        bench.levers.restart()


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_exported_objects_are_whole(bench: Bench) -> None:
    """What an export holds is whole in every state, chunk by chunk."""
    world = bench.world()
    _furnish(world)
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    found = sum(_are_whole(world, "memory.exports.get", {"bundle": bundle, "chunk": chunk}) for chunk in chunks)
    world.expect(found > len(chunks) + 1, "an export of a full space holds no objects", seen=bundle)
    _are_whole(world, "memory.receipts.get", {"receipt": scenes.failed_import(world)})


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold"])
def test_a_pending_receipt_is_whole(bench: Bench) -> None:
    """A receipt is whole while it is pending and once it is settled."""
    world = bench.world()
    bench.levers.hold(True)
    try:
        reply = world.root.send("exports.create")
    finally:
        bench.levers.hold(False)
    world.expect(reply.ok, "memory.exports.create: refused a request that the contract accepts", seen=reply.error)
    _are_whole(world, "memory.exports.create", reply.payload)
    _are_whole(world, "memory.receipts.get", {"receipt": world.root.settled(reply.payload["receipt"])})
