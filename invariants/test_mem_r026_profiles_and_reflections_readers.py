"""MEM-R026: who is shown a reflection, in which order, who may generate one, and what a generation may not do.

protocol.md section 7, Reflections.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.cargo import cargo
from conformance.reflecting import found, generated, place, read, shown, state_of, wrote
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Code, Flag

reflecting = pytest.mark.needs(flags=[Flag.REFLECTION])


@reflecting
def test_a_list_is_newest_first(bench: Bench) -> None:
    """Reflections are listed newest first, a page at a time too."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    ids_made = []
    for _ in range(3):
        ids_made.append(made(world.root.do("reflections.generate", selection=selection), "reflection"))
        # Reflections of one instant have no order that the contract knows.
        bench.levers.advance(1)
    world.same(ids_made[::-1], shown(world.root, selection), "reflections.list is not newest first")
    world.same(ids_made[::-1], shown(world.root, selection, limits=[1]), "the pages of reflections.list are not newest first")


@pytest.mark.needs(flags=[Flag.REFLECTION, Flag.TRANSFER])
def test_newest_is_by_the_instant(bench: Bench) -> None:
    """Reflections that were brought are listed by the instants of their dates, however many digits these have."""
    world = bench.world()
    load = cargo(world)
    dates = {world.name(f"f{digits}"): f"2026-01-01T00:00:00{digits}Z" for digits in (".5", "", ".25", ".250001", ".1", ".09")}
    brought = [load.item("reflection", reflection_id=name, created_at=date) for name, date in dates.items()]
    moving.activated(world, load.parcel([load.item("subject"), load.item("record"), *brought]))
    newest_first = sorted(dates, key=lambda name: instant(dates[name]), reverse=True)
    selection = load.values["reflection"]["selection"]
    world.same(newest_first, shown(world.root, selection), "reflections.list is not newest first")
    world.same(newest_first, shown(world.root, selection, limits=[2]), "the pages of reflections.list are not newest first")


@reflecting
def test_a_reflection_is_shown_to_whom_covers_it(bench: Bench) -> None:
    """A reflection is shown only to a caller that covers the whole selection by ``reflections_read``."""
    world, scope = place(bench)
    subject_id, c1, c2 = scope["subject_id"], scope["context_id"], world.name("c2")
    wide = {"subject_id": subject_id, "mode": "contexts", "context_ids": [c1, c2]}
    reflection = generated(world.root, wide)
    narrow = world.principal("reflections_read", subject_ids=[subject_id], context_ids=[c1])
    narrow.denied("reflections.list", selection=wide)
    narrow.denied("reflections.state", selection=wide)
    reader = world.principal("reflections_read", subject_ids=[subject_id], context_ids=[c1, c2])
    world.same(
        reflection, found(reader, reflection["reflection_id"], wide), "a reader of the whole selection sees another reflection"
    )
    blind = world.principal("reflections_generate", "records_read", "recall", subject_ids=[subject_id], context_ids=[c1, c2])
    blind.denied("reflections.list", selection=wide)
    blind.denied("reflections.generate", selection=wide)


@reflecting
def test_over_all_authorized_a_reflection_is_shown_to_whom_covers_its_records(bench: Bench) -> None:
    """Over ``all_authorized`` a reader sees the reflections whose every basis record it covers, stale by what both cover."""
    world, scope = place(bench)
    subject_id, c1 = scope["subject_id"], scope["context_id"]
    narrow = world.principal("reflections_read", subject_ids=[subject_id], context_ids=[c1])
    mine = generated(world.root, world.everything())
    seen = found(narrow, mine["reflection_id"], world.everything())
    world.same(False, seen["stale"], "the reflection is stale though nothing changed")
    hidden = world.root.create(scope=world.scope(context="c2"))
    world.same(True, found(world.root, mine["reflection_id"], world.everything())["stale"], "a new record does not make it stale")
    seen = found(narrow, mine["reflection_id"], world.everything())
    world.same(False, seen["stale"], "staleness tells a reader of a record that it does not cover")
    theirs = generated(world.root, world.everything())
    world.same([mine["reflection_id"]], shown(narrow, world.everything()), "a reflection on a hidden record is shown")
    both = [mine["reflection_id"], theirs["reflection_id"]]
    world.same_set(both, shown(world.root, world.everything()), "root does not see both")
    world.root.do("records.delete", record_id=hidden, expected_revision=1)
    told = "a reflection on a hidden record is shown since that was deleted"
    world.same([mine["reflection_id"]], shown(narrow, world.everything()), told)
    world.same_set(both, shown(world.root, world.everything()), "root does not see both since a basis record was deleted")
    world.root.create(scope=scope)
    world.same(True, found(narrow, mine["reflection_id"], world.everything())["stale"], "a change that both cover is not seen")


@reflecting
def test_the_basis_is_what_both_capabilities_cover(bench: Bench) -> None:
    """Generation needs both reflection capabilities; over ``all_authorized`` the basis is what both cover."""
    world, scope = place(bench, records=0)
    subject_id, c1, c2 = scope["subject_id"], scope["context_id"], world.name("c2")
    covered = world.root.create(scope=scope)
    world.root.create(scope=world.scope(context="c2"))
    world.root.create(scope=world.scope(context=None))
    beyond = {"subject_id": subject_id, "mode": "contexts", "context_ids": [c2]}
    both = ("reflections_generate", "reflections_read")
    for wide, narrow in (both, both[::-1]):
        caller = world.principal(wide, subject_ids=[subject_id], context_ids=[c1, c2], shared_access="read", name=wide)
        caller.denied("reflections.generate", selection=world.everything())
        world.root.grant(caller, capabilities=[narrow], subject_ids=[subject_id], context_ids=[c1])
        reflection = generated(caller, world.everything())
        basis = reflection["basis"]["records"]
        world.same([{"record_id": covered, "revision": 1}], basis, "the basis is not what both capabilities cover")
        caller.denied("reflections.generate", selection=beyond)


@reflecting
def test_an_expected_digest_must_be_the_present_one(bench: Bench) -> None:
    """``expected_state_digest`` other than the present one is refused as stale; the present one is accepted."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    unused = state_of(world.root, selection)["state_digest"]
    first = world.root.create(scope=scope)
    used = state_of(world.root, selection)["state_digest"]
    generated(world.root, selection, expected_state_digest=used)
    world.root.do("records.delete", record_id=first, expected_revision=1)
    world.root.create(scope=scope)
    elsewhere = generated(world.root, world.everything())["basis"]["state_digest"]
    with world.unchanged("a refused generation changed something"):
        for wrong in (unused, used, elsewhere, "0" * 64, "f" * 64):
            for filters in ({}, {"filter": {"sources": ["author"]}}):
                asked: dict[str, Any] = {"selection": selection, **filters}
                world.root.refused("reflections.generate", Code.REVISION_STALE, **asked, expected_state_digest=wrong)
    now = state_of(world.root, selection)["state_digest"]
    for _ in range(2):
        reflection = generated(world.root, selection, expected_state_digest=now)
        world.same(now, reflection["basis"]["state_digest"], "the generated basis is not the expected one")


@reflecting
def test_no_read_generates_and_no_replay_bills_twice(bench: Bench) -> None:
    """Reading state and lists makes no reflection; a replayed generation is the same receipt and no second reflection."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    for _ in range(2):
        state_of(world.root, selection)
        world.same([], shown(world.root, selection), "a read generated a reflection")
    call = world.root.call("reflections.generate", selection=selection)
    receipt = world.root.accepted(call)
    world.root.create(scope=scope)
    world.same(receipt, world.root.accepted(call), "a replayed generation is not the same receipt")
    world.same([made(receipt, "reflection")], shown(world.root, selection), "a replay made a second reflection")


@reflecting
@pytest.mark.needs(flags=[Flag.REFLECTION], controls=["hold"])
def test_a_held_generation_commits_the_basis_of_its_request(bench: Bench) -> None:
    """While pending a reflection does not exist for reads; it commits the basis pinned at the request, whatever came between."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    before = state_of(world.root, selection)
    bench.levers.hold(True)
    try:
        pending = world.root.send("reflections.generate", selection=selection).payload["receipt"]
        world.same("pending", pending["state"], "a held generation is not pending")
        world.same([], shown(world.root, selection), "the object of a pending receipt is shown")
        world.root.create(scope=scope)
        scenes.freeze(world)
    finally:
        bench.levers.hold(False)
    receipt = world.root.settled(pending)
    world.same("committed", receipt["state"], "a held generation did not commit")
    reflection = found(world.root, made(receipt, "reflection"), selection)
    world.same(before["state_digest"], reflection["basis"]["state_digest"], "the basis is not the one of the request")
    world.same(True, reflection["stale"], "a reflection whose basis changed while it was pending is not stale")


@reflecting
def test_every_one_of_many_is_shown(bench: Bench) -> None:
    """However many reflections and profile documents there are, all are shown, and each document is in the basis."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    kinds = [world.name(f"kind-{number}") for number in range(scenes.MANY)]
    for kind in kinds:
        wrote(world.root, scope["subject_id"], kind, None)
    ids_made = [made(world.root.do("reflections.generate", selection=selection), "reflection") for _ in range(scenes.MANY)]
    world.same_set(ids_made, shown(world.root, selection), "reflections.list cuts reflections off")
    documents = [document["kind"] for document in read(world.root, scope["subject_id"], *kinds)["documents"]]
    world.same_set(kinds, documents, "profile.get cuts documents off")
    basis = {entry["kind"] for entry in found(world.root, ids_made[-1], selection)["basis"]["profiles"]}
    world.expect(basis >= set(kinds), "the basis cuts profile documents off", expected=len(kinds), seen=len(basis))
