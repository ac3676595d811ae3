"""MEM-R021: deletion removes the content everywhere a record can be read, keeps its identity, and is final.

protocol.md section 7, Delete, and what Transfer says of tombstones. "Removed" means: everywhere a RECORD is read, and in later
exports; the candidate that it came from and exports made before keep what they hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.caller import OMIT, Caller, made
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.content import contents
from strategies.identifiers import extension_maps, ids, kinds

MARKER = "zebra-7431"
EMPTY = {"text": ""}
ENTRY = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": MARKER,
    "attribution": {"holder_id": "ann"},
    "basis": {"kind": "stated", "refs": []},
    "time": {"recorded_at": "2026-01-01T00:00:00Z"},
}
MARKED = {"text": f"the {MARKER} is striped", "structured": {"animal": [MARKER]}, "cognition": [ENTRY]}
ANN = {"holder_id": "ann"}


def deleted(caller: Caller, record_id: str, revision: int = 1) -> Mapping[str, Any]:
    """Delete a record and return the receipt."""
    receipt: Mapping[str, Any] = caller.do("records.delete", record_id=record_id, expected_revision=revision)
    return receipt


def tombstone_of(before: Mapping[str, Any], after: Mapping[str, Any], deleter: Caller) -> Mapping[str, Any]:
    """Return what the record must be after its deletion: ``after`` is looked at for the two instants alone."""
    stamped = {"deleted_at": after.get("tombstone", {}).get("deleted_at"), "deleted_by": deleter.principal_id}
    revised = {"revision": before["revision"] + 1, "updated_at": after["updated_at"]}
    return {**before, **revised, "content": EMPTY, "tombstone": stamped}


def marked(value: Any) -> bool:
    """Say whether the marker occurs anywhere in a JSON value."""
    return MARKER in json.dumps(value)


def recalled(caller: Caller, world: World, **members: Any) -> list[Any]:
    """Return the ids of what a wide recall over the first context, asked for the marker, brings."""
    selection = scenes.selection(world.scope())
    answer = caller.do("recall", **{"selection": selection, "query": {"text": MARKER}, "budget": {"max_records": 10}, **members})
    return [record["record_id"] for record in answer["records"]]


@given(content=contents(), kind=kinds(), source=st.none() | ids(), extensions=extension_maps(), shared=st.booleans())
def test_delete_leaves_a_tombstone(
    bench: Bench, content: Any, kind: str, source: str | None, extensions: Any, shared: bool
) -> None:
    """Deletion leaves exactly ``{"text": ""}``, adds 1 to the revision and keeps id, kind, scope, provenance and extensions."""
    world = bench.world()
    writer = world.principal("records_write", shared_access="write")
    scope = world.scope(context=None if shared else "c1")
    given_source = {} if source is None else {"source_context_id": source}
    record_id = writer.create(content=content, kind=kind, scope=scope, extensions=extensions, **given_source)
    before = world.root.read(record_id)
    receipt = deleted(world.root, record_id)
    after = world.root.read(record_id)
    world.same(tombstone_of(before, after, world.root), after, "the tombstone is not the record without its content")
    world.same([{"type": "record", "id": record_id, "revision": 2}], receipt["affected"], "the receipt does not name the change")


@given(content=contents(cognition="filled"))
@pytest.mark.needs(flags=[Flag.COGNITION])
def test_a_tombstone_never_matches_a_cognition_filter(bench: Bench, content: Any) -> None:
    """A tombstone is not found by a cognition filter that found the record, whether tombstones are asked for or not."""
    world = bench.world()
    record_id = world.root.create(content=content)
    wanted = {"holder_id": content["cognition"][0]["attribution"]["holder_id"]}
    asked = {"selection": world.everything(), "cognition_filter": wanted}
    world.same(1, world.root.do("records.list", **asked)["total_authorized"], "the filter does not find the living record")
    deleted(world.root, record_id)
    for include in (False, True):
        answer = world.root.do("records.list", **asked, include_tombstones=include)
        world.same([], answer["records"], "a tombstone matched a cognition filter")
        world.same(0, answer["total_authorized"], "a tombstone was counted under a cognition filter")


@given(content=contents(), alive=st.integers(0, 2))
def test_a_list_shows_tombstones_only_when_asked(bench: Bench, content: Any, alive: int) -> None:
    """Lists leave tombstones out, and ``total_authorized`` with them, unless ``include_tombstones``."""
    world = bench.world()
    record_id = world.root.create(content=content)
    living = [world.root.create() for _ in range(alive)]
    deleted(world.root, record_id)
    for include, expected in ((OMIT, living), (False, living), (True, [record_id, *living])):
        asked: dict[str, Any] = {"selection": world.everything(), "include_tombstones": include}
        listed = [record["record_id"] for record in world.root.all("records.list", **asked)]
        world.same_set(expected, listed, "a list shows tombstones, or not, against what was asked")
        counted = world.root.do("records.list", **asked)["total_authorized"]
        world.same(len(expected), counted, "total_authorized counts tombstones, or not, against what was asked")


@given(content=contents(), query=st.booleans())
def test_recall_neither_shows_nor_pays_for_tombstones(bench: Bench, content: Any, query: bool) -> None:
    """A tombstone is in no recall, spends no budget and does not make it truncated."""
    world = bench.world()
    asked = {"selection": world.everything(), **({"query": {"text": content["text"]}} if query else {})}
    record_id, living = world.root.create(content=content), world.root.create()
    world.root.do("recall", **asked, budget={"max_records": 5})
    deleted(world.root, record_id)
    answer = world.root.do("recall", **asked, budget={"max_records": 1})
    world.same([living], [record["record_id"] for record in answer["records"]], "recall does not return the one living record")
    world.same(False, answer["truncated"], "recall says that it left something out, but only a tombstone is left")


def everywhere(world: World, reader: Caller, record_id: str) -> None:
    """Expect the marker to be gone from every read of records, and the tombstone to be where it is asked for."""
    scope = world.scope()
    for who in (world.root, reader):
        world.same([], recalled(who, world), "recall brings a deleted record back")
        found = recalled(who, world, selection=world.everything())
        world.expect(record_id not in found, "recall over all brings a deleted record back", seen=found)
        for include in (OMIT, True):
            listed = who.all("records.list", selection=scenes.selection(scope), include_tombstones=include)
            world.expect(not marked(listed), "records.list still shows deleted content", seen=listed)
    tombstone = world.root.read(record_id)
    world.same(EMPTY, tombstone["content"], "records.get still shows deleted content")
    world.expect(
        record_id
        in [
            record["record_id"]
            for record in world.root.all("records.list", selection=world.everything(), include_tombstones=True)
        ],
        "the tombstone is missing from a list that asks for tombstones",
    )
    if negotiated(world, Flag.COGNITION):
        answer = world.root.do("records.list", selection=world.everything(), cognition_filter=ANN, include_tombstones=True)
        world.same(0, answer["total_authorized"], "a cognition filter still finds the deleted record")
    if negotiated(world, Flag.TRANSFER):
        _, chunks = scenes.fetched(world, scenes.export(world))
        records = [item for chunk in chunks for item in chunk["items"] if item["type"] == "record"]
        world.expect(not marked(records), "a later export still holds deleted content", seen=records)
    if negotiated(world, Flag.REFLECTION):
        state = world.root.do("reflections.state", selection=scenes.selection(scope))
        world.same(0, state["record_count"], "reflections.state still counts the deleted record")


def negotiated(world: World, flag: Flag) -> bool:
    """Say whether the world's callers have negotiated a flag."""
    return world.bundle.flag(flag) in world.root.flags


def marked_world(bench: Bench) -> tuple[World, Caller, str]:
    """Return a world with one marked record that every read has seen (warm indexes), and a narrow reader."""
    world = bench.world()
    scope = world.scope()
    record_id = world.root.create(content=MARKED)
    reader = world.principal("recall", "records_read", subject_ids=[scope["subject_id"]], context_ids=[scope["context_id"]])
    for who in (world.root, reader):
        world.same([record_id], recalled(who, world), "recall does not bring the living record")
        who.all("records.list", selection=scenes.selection(scope))
    return world, reader, record_id


def test_the_content_is_gone_from_every_read(bench: Bench) -> None:
    """After a deletion the content is in no recall, list, filter, basis or later export, at once and after more writes."""
    world, reader, record_id = marked_world(bench)
    deleted(world.root, record_id)
    everywhere(world, reader, record_id)
    other = world.root.create(scope=world.scope(context="c2"))
    world.root.do("records.update", record_id=other, expected_revision=1, content={"text": "b"})
    everywhere(world, reader, record_id)


@pytest.mark.needs(controls=["restart"])
def test_the_content_stays_gone_after_a_restart(bench: Bench) -> None:
    """A restart brings no deleted content back."""
    world, reader, record_id = marked_world(bench)
    deleted(world.root, record_id)
    bench.levers.restart()
    everywhere(world, reader, record_id)


def later_changes(world: World, record_id: str, revision: int) -> list[tuple[str, Mapping[str, Any]]]:
    """List every request that changes a record, each valid for a living one."""
    change = {"record_id": record_id, "expected_revision": revision}
    return [
        ("records.update", {**change, "content": {"text": "back"}}),
        ("records.update", {**change, "kind": "fact"}),
        ("records.promote", {**change, "to_scope": world.scope(context="c2")}),
        ("records.promote", {**change, "to_scope": world.scope(context=None)}),
        ("records.delete", change),
    ]


@pytest.mark.parametrize("number", range(5), ids=["content", "kind", "promote", "promote_to_shared", "delete"])
def test_every_later_change_is_refused(bench: Bench, number: int) -> None:
    """Any later change of a tombstone is refused and changes nothing; the same change of a living record is accepted."""
    world = bench.world()
    dead, living = world.root.create(), world.root.create()
    world.root.do("records.update", record_id=living, expected_revision=1, content={"text": "b"})
    deleted(world.root, dead)
    stem, members = later_changes(world, dead, 2)[number]
    with world.unchanged("a refused change of a tombstone changed something"):
        world.root.refused(stem, Code.RECORD_TOMBSTONED, **members)
    stem, members = later_changes(world, living, 2)[number]
    world.root.do(stem, **members)


def test_no_replay_revives(bench: Bench) -> None:
    """Replays of the requests that made, changed and deleted a record return their receipts and leave the tombstone."""
    world = bench.world()
    create = world.root.call("records.create", kind="note", content=MARKED, scope=world.scope())
    record_id = made(first := world.root.accepted(create), "record")
    update = world.root.call("records.update", record_id=record_id, expected_revision=1, content={**MARKED, "text": "b"})
    second = world.root.accepted(update)
    delete = world.root.call("records.delete", record_id=record_id, expected_revision=2)
    third = world.root.accepted(delete)
    with world.unchanged("a replay changed the tombstone"):
        for call, receipt in ((create, first), (update, second), (delete, third)):
            world.same(receipt, world.root.accepted(call), f"{call.op}: a replay after the deletion is not the same receipt")


def test_a_reviewed_record_stays_deleted_and_its_candidate_keeps_the_capture(bench: Bench) -> None:
    """No review revives: the candidate of a deleted record is consumed, keeps what was captured and gives no second record."""
    world = bench.world()
    candidate_id = world.root.capture(content=MARKED)
    receipt = world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision={"action": "promote"})
    record_id = made(receipt, "record")
    deleted(world.root, record_id)
    candidate = world.root.candidate(candidate_id)
    world.same(MARKED, candidate["content"], "the candidate lost what was captured")
    again = {"candidate_id": candidate_id, "expected_revision": candidate["revision"], "decision": {"action": "promote"}}
    with world.unchanged("a second review changed something"):
        world.root.refused("candidates.review", Code.CANDIDATE_CONSUMED, **again)
    world.same(EMPTY, world.root.read(record_id)["content"], "the record lives again")


@pytest.mark.needs(flags=[Flag.TRANSFER])
@pytest.mark.parametrize("held", [True, False], ids=["bundle_holds_the_record", "bundle_lacks_the_record"])
def test_an_import_does_not_revive(bench: Bench, held: bool) -> None:
    """A record tombstoned in the receiving space stays its tombstone, with its subject, whatever the activated bundle holds."""
    world = bench.world()
    other = world.root.create(scope=world.scope("u2"), content={"text": "stays"})
    early = moving.exported(world)
    record_id = world.root.create(content=MARKED)
    older = moving.exported(world)
    delete = world.root.call("records.delete", record_id=record_id, expected_revision=1)
    receipt = world.root.accepted(delete)
    tombstone = world.root.read(record_id)
    moving.activated(world, older if held else early)
    world.same(tombstone, world.root.read(record_id), "an import changed or revived a tombstone")
    world.expect(world.root.send("subjects.get", subject_id=world.name("u1")).ok, "the tombstone's subject is gone")
    world.same([], recalled(world.root, world), "an import brought deleted content back into recall")
    world.root.refused("records.update", Code.RECORD_TOMBSTONED, record_id=record_id, expected_revision=2, kind="fact")
    world.same(receipt, world.root.accepted(delete), "the replay of the deletion is not the same receipt")
    world.same("stays", world.root.read(other)["content"]["text"], "the import did not restore the other record")


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_a_tombstone_travels_as_a_tombstone(bench: Bench) -> None:
    """A tombstone is exported as such, and activation in another space makes it no living record."""
    world, receiver = moving.two_spaces(bench)
    record_id = world.root.create(content=MARKED)
    deleted(world.root, record_id)
    moving.activated(receiver, moving.exported(world))
    expected = {**world.root.read(record_id), "space_id": receiver.space_id}
    world.same(expected, receiver.root.read(record_id), "the moved tombstone is not the tombstone")
    receiver.root.refused("records.update", Code.RECORD_TOMBSTONED, record_id=record_id, expected_revision=2, kind="fact")
