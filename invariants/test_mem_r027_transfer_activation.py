"""MEM-R027: what an activation asks for and does: all visible at once, one generation on (protocol.md section 7, Transfer)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import moving, scenes, sealing
from conformance.bench import Bench
from conformance.caller import made
from conformance.cargo import cargo, landed, unseen
from conformance.crowds import opened
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World


def test_an_activation_needs_a_frozen_space(bench: Bench) -> None:
    """In an active space the activation is SPACE_NOT_FROZEN and changes nothing; frozen, the same request is accepted."""
    world = bench.world()
    load = cargo(world)
    import_id = scenes.stage(world, *load.parcel())
    with world.unchanged("a refused activation changed something"):
        world.root.must_refuse(moving.activation(world, import_id), Code.SPACE_NOT_FROZEN)
    unseen(world, load, "something is visible of an import whose activation was refused")
    scenes.freeze(world)
    world.root.accepted(moving.activation(world, import_id))
    landed(world, load.items(), "what was activated is not there")


def test_an_activation_needs_the_present_generation(bench: Bench) -> None:
    """Expecting a generation below the present one is stale, above it ahead, and neither changes anything."""
    world = bench.world()
    load = cargo(world)
    moving.activated(world, load.parcel(load.items("subject")))
    import_id = scenes.stage(world, *load.parcel())
    scenes.freeze(world)
    present = scenes.generation(world)
    wrong = ((present - 1, Code.REVISION_STALE), (present + 1, Code.REVISION_AHEAD), (present + 100, Code.REVISION_AHEAD))
    with world.unchanged("a refused activation changed something"):
        for expected, code in wrong:
            members: dict[str, Any] = {"import_id": import_id, "expected_authority_generation": expected}
            world.root.refused("imports.activate", code, **members)
    landed(world, load.items("subject"), "something changed at an activation that was refused")
    world.root.accepted(moving.activation(world, import_id))
    world.same(present + 1, scenes.generation(world), "an activation did not add exactly 1 to the generation")


def test_an_activation_is_one_change_of_the_space(bench: Bench) -> None:
    """An activation adds 1 to generation and revision, keeps the space frozen and its grants, and its receipt says so."""
    world = bench.world()
    load = cargo(world)
    world.principal("recall")
    import_id = scenes.stage(world, *load.parcel())
    scenes.freeze(world)
    before = world.snapshot()
    receipt = world.root.accepted(moving.activation(world, import_id))
    after = world.snapshot()
    revision = before["space"]["revision"] + 1
    affected = [{"type": "import", "id": import_id}, {"type": "space", "id": world.space_id, "revision": revision}]
    world.same(affected, receipt["affected"], "the receipt does not name the import and the space")
    expected = {
        **before["space"],
        "revision": revision,
        "authority_generation": before["space"]["authority_generation"] + 1,
        "fenced_context_ids": [load.values["context_fence"]["context_id"]],
        "updated_at": after["space"]["updated_at"],
    }
    world.same(expected, after["space"], "an activation changes more of the space, or less, than it should")
    world.same(before["grants"], after["grants"], "an activation changed the grants of the space")
    world.same(before["receipts"], {name: after["receipts"][name] for name in before["receipts"]}, "a receipt is gone or changed")
    scenes.unfreeze(world)


def test_what_was_there_is_replaced(bench: Bench) -> None:
    """Subjects, records, candidates, profiles, reflections and context fences that the bundle lacks are gone."""
    world = bench.world()
    load = cargo(world)
    furnished(bench, world)
    items = sealing.items_of(moving.exported(world)[1])
    own = [world.name("u1"), world.name("u2")]
    fence = sealing.name_of("context_fence", {"context_id": world.name("c9")})
    here = [*sealing.carried(item for item in items if set(moving.subjects_of(item)) & set(own)), fence]
    moving.activated(world, load.parcel())
    left = [name for name in moving.seen(world, items) if name in here]
    world.same([], left, "something that the bundle lacks is still there")
    landed(world, load.items(), "what was activated is not there, or not alone")
    for name, scope in (("u1", world.scope()), ("u2", world.scope("u2"))):
        world.root.refused("subjects.get", Code.NOT_FOUND, subject_id=world.name(name))
        recalled = world.root.do("recall", selection=world.everything(name), budget={"max_records": 9})
        world.same([], recalled["records"], "recall finds a record that was replaced")
        world.root.refused("records.create", Code.NOT_FOUND, kind="note", content={"text": "a"}, scope=scope)


def furnished(bench: Bench, world: World) -> None:
    """Put an item of each type into the space, none of which survives an activation that lacks it."""
    for subject in ("u1", "u2"):
        world.root.create(scope=world.scope(subject))
        world.root.capture(scope=world.scope(subject))
    scenes.complete_profile(world, world.name("u1"))
    other: dict[str, Any] = {"subject_id": world.name("u1"), "kind": "a kind of its own", "content": {"text": "a"}}
    world.root.do("profile.update", expected_revision=None, **other)
    if bench.declares(Flag.REFLECTION):
        scenes.reflect(world, world.scope())
    world.root.do("subjects.fence", target={"type": "context", "context_id": world.name("c9")}, action="fence")


def test_all_of_it_is_there_at_once(bench: Bench) -> None:
    """After the activation every read path agrees: get, list, recall and a new export all show what was imported."""
    world = bench.world()
    load = cargo(world)
    moving.activated(world, load.parcel())
    record = {**load.values["record"], "space_id": world.space_id}
    everything = {"subject_id": load.scope["subject_id"], "mode": "all_authorized"}
    readings = {
        "records.get": [world.root.read(record["record_id"])],
        "records.list": world.root.all("records.list", selection=everything),
        "recall": world.root.do("recall", selection=everything, budget={"max_records": 9})["records"],
        "exports.get": sealing.values(moving.exported(world)[1], "record"),
    }
    for stem, found in readings.items():
        found = [one for one in found if one["record_id"] == record["record_id"]]
        world.same([record], found, f"memory.{stem} does not show the imported record")
    fenced = {**load.scope, "context_id": load.values["context_fence"]["context_id"]}
    refusal: dict[str, Any] = {"kind": "note", "content": {"text": "a"}}
    world.root.refused("records.create", Code.CONTEXT_FENCED, scope=fenced, **refusal)
    world.root.create(scope=load.scope)


# -- cursors


def test_every_older_cursor_dies(bench: Bench) -> None:
    """An activation makes every older cursor invalid, of every paged operation, though the items are the same as before."""
    world, other = moving.two_spaces(bench)
    several(bench, world)
    load = cargo(other)
    parcel = moving.exported(world)
    # The caller sees two spaces, so that there is a second page of spaces too.
    reader = world.stranger("reader")
    rights = {"capabilities": ["records_read", "review", "reflections_read", "admin"]}
    for home in (world, world, other):
        home.root.grant(reader, **rights)
    place = {"selection": scenes.selection(world.scope())}
    asked: list[tuple[str, dict[str, Any]]] = [("spaces.list", {})]
    asked += [("grants.list", {"view": view}) for view in ("admin", "own")]
    paged = [one.stem for one in scenes.served(world) if one.lists is not None]
    asked += [(stem, place) for stem in paged if stem not in dict(asked)]
    scenes.freeze(world)
    import_id = scenes.stage(world, *parcel)
    pages = [{"cursor": opened(reader, stem, members), "limit": 1} for stem, members in asked]
    for (stem, members), page in zip(asked, pages, strict=True):
        reader.do(stem, page=page, **members)
    world.root.accepted(moving.activation(world, import_id))
    for (stem, members), page in zip(asked, pages, strict=True):
        reader.refused(stem, Code.CURSOR_INVALID, page=page, **members)
        reader.all(stem, limits=[1], **members)
    unseen(other, load, "an activation in one space shows in another")


def several(bench: Bench, world: World) -> None:
    """Put two of everything that is listed into one placement."""
    for _ in range(2):
        world.root.create()
        world.root.capture()
        if bench.declares(Flag.REFLECTION):
            scenes.reflect(world, world.scope())


# -- while pending


@pytest.mark.needs(controls=["hold"])
def test_an_activation_checks_again_when_it_settles(bench: Bench) -> None:
    """An activation whose space was unfrozen meanwhile settles failed, changes nothing, and leaves the import usable."""
    world = bench.world()
    load = cargo(world)
    import_id = scenes.stage(world, *load.parcel())
    scenes.freeze(world)
    call = moving.activation(world, import_id)
    bench.levers.hold(True)
    try:
        pending = moving.held(world, call)
        unseen(world, load, "something is visible of an activation that is pending")
        scenes.unfreeze(world)
    finally:
        bench.levers.hold(False)
    receipt = moving.failed(
        world, world.root.settled(pending), Code.SPACE_NOT_FROZEN, "an activation in a space unfrozen meanwhile"
    )
    world.same([], receipt["affected"], "a failed activation names what it changed")
    unseen(world, load, "something is visible of an activation that failed")
    world.same(receipt, moving.receipt_of(world, call), "the replay of a failed activation is not its receipt")
    scenes.freeze(world)
    world.root.accepted(moving.activation(world, import_id))
    landed(world, load.items(), "the import was not usable after an activation that failed")


@pytest.mark.needs(controls=["hold"])
def test_of_two_pending_activations_one_wins(bench: Bench) -> None:
    """Two activations that expect the same generation and are pending together: one commits, the other settles stale."""
    world = bench.world()
    load = cargo(world)
    halves: list[list[sealing.Doc]] = [load.items("subject", "record"), load.items("subject", "candidate")]
    imports = [scenes.stage(world, *load.parcel(half)) for half in halves]
    scenes.freeze(world)
    before = scenes.generation(world)
    bench.levers.hold(True)
    try:
        pending = [moving.held(world, moving.activation(world, import_id)) for import_id in imports]
    finally:
        bench.levers.hold(False)
    settled = [world.root.settled(receipt) for receipt in pending]
    states = [receipt["state"] for receipt in settled]
    world.same_set(["committed", "failed"], states, "of two activations of one generation not exactly one commits")
    winner, loser = (settled[states.index(state)] for state in ("committed", "failed"))
    moving.failed(world, loser, Code.REVISION_STALE, "an activation that came second")
    world.same(before + 1, scenes.generation(world), "two activations raised the generation otherwise than by 1")
    landed(world, halves[settled.index(winner)], "not the import of the committed activation is there")


# -- reflections of all that their generator could read


@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_the_placements_of_the_basis_stand_in_for_the_generator(bench: Bench) -> None:
    """A moved ``all_authorized`` reflection is stale by a change where its basis records lie, and not by one elsewhere."""
    here, there = moving.two_spaces(bench)
    scope = here.scope()
    here.root.create(scope=scope)
    scenes.complete_profile(here, scope["subject_id"])
    everything = here.everything()
    here.root.do("reflections.generate", selection=everything)
    moving.activated(there, moving.exported(here))
    steps: tuple[tuple[str | None, bool], ...] = ((None, False), ("c2", False), ("c1", True))
    for context, stale in steps:
        if context is not None:
            there.root.create(scope={**scope, "context_id": here.name(context)})
        found = there.root.all("reflections.list", selection=everything)
        there.same([stale], [one["stale"] for one in found], f"the staleness is wrong after a record in {context}")


@pytest.mark.needs(controls=["restart"])
def test_an_activation_outlives_a_restart(bench: Bench) -> None:
    """After a restart the space is what was activated, one generation on, and the old cursors stay dead."""
    world = bench.world()
    for _ in range(2):
        world.root.create()
    load = cargo(world)
    parcel = moving.exported(world)
    answer = world.root.do("records.list", selection=world.everything(), page={"limit": 1})
    world.expect("next_cursor" in answer, "memory.records.list: one of two records is a page without next_cursor", seen=answer)
    page = {"cursor": answer.get("next_cursor")}
    before = scenes.generation(world)
    moving.activated(world, parcel)
    moving.activated(world, load.parcel())
    bench.levers.restart()
    world.same(before + 2, scenes.generation(world), "a restart changed the generation")
    landed(world, load.items(), "a restart changed what was activated")
    world.root.refused("records.list", Code.CURSOR_INVALID, selection=world.everything(), page=page)


@pytest.mark.needs(flags=[Flag.REFLECTION], controls=["hold"])
def test_an_activation_between_fails_nothing_that_is_pinned(bench: Bench) -> None:
    """A generation and an export that are pending while an activation settles commit: they are pinned at their requests."""
    world = bench.world()
    scope = world.scope()
    scenes.complete_profile(world, scope["subject_id"])
    world.root.create(scope=scope)
    import_id = scenes.stage(world, *moving.exported(world))
    scenes.freeze(world)
    activation = moving.activation(world, import_id)
    bench.levers.hold(True)
    try:
        pending = [moving.held(world, activation)]
        scenes.unfreeze(world)
        pinned = (world.root.call("reflections.generate", selection=scenes.selection(scope)), world.root.call("exports.create"))
        pending += [moving.held(world, call) for call in pinned]
        scenes.freeze(world)
    finally:
        bench.levers.hold(False)
    for receipt in pending:
        world.same("committed", world.root.settled(receipt)["state"], f"{receipt['op']}: did not commit beside the others")
    scenes.unfreeze(world)
    scenes.fetched(world, made(pending[-1], "export"))
