"""MEM-R027: chunks are staged in order, and nothing of them is visible before activation (protocol.md section 7, Transfer)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import moving, scenes, sealing
from conformance.bench import Bench
from conformance.caller import made
from conformance.cargo import cargo, landed, unseen
from conformance.sealing import Doc, Parcel
from conformance.wire.vocabulary import Code
from conformance.world import World


def begin(world: World, parcel: Parcel) -> str:
    """Stage a parcel's first chunk and return the id of the import that it begins."""
    bundle, chunks = parcel
    return made(world.root.accepted(moving.stage_call(world, bundle, chunks[0])), "import")


def activate(world: World, import_id: str) -> None:
    """Activate an import in an active space, which is active again afterwards."""
    scenes.freeze(world)
    world.root.accepted(moving.activation(world, import_id))
    scenes.unfreeze(world)


# -- order


@given(data=st.data())
@pytest.mark.examples(0.5)
def test_chunks_are_staged_in_order(bench: Bench, data: st.DataObject) -> None:
    """Only the chunk that is due is taken: a gap, a repeat and a further chunk are IMPORT_SEQUENCE and are not kept."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = begin(world, (bundle, chunks))
    for due in range(1, len(chunks) + 1):
        others = [chunk for chunk in chunks[1:] if chunk["ordinal"] != due]
        for chunk in data.draw(st.lists(st.sampled_from(others), max_size=2)):
            world.root.must_refuse(moving.stage_call(world, bundle, chunk, import_id), Code.IMPORT_SEQUENCE)
        if due < len(chunks):
            receipt = world.root.accepted(moving.stage_call(world, bundle, chunks[due], import_id))
            world.same([{"type": "import", "id": import_id}], receipt["affected"], "a stage does not name its import")
    activate(world, import_id)
    landed(world, load.items(), "what was staged in order did not arrive")


def test_a_chunk_out_of_order_is_not_kept(bench: Bench) -> None:
    """After a gap was refused the missing chunk is still due, and the import comes out whole."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = begin(world, (bundle, chunks))
    with world.unchanged():
        for chunk in (chunks[2], chunks[3], chunks[2]):
            world.root.must_refuse(moving.stage_call(world, bundle, chunk, import_id), Code.IMPORT_SEQUENCE)
    for chunk in chunks[1:]:
        world.root.accepted(moving.stage_call(world, bundle, chunk, import_id))
    for chunk in chunks[1:]:
        world.root.must_refuse(moving.stage_call(world, bundle, chunk, import_id), Code.IMPORT_SEQUENCE)
    activate(world, import_id)
    landed(world, load.items(), "what was staged did not arrive whole and once")


def test_imports_do_not_mix(bench: Bench) -> None:
    """Two imports that are staged in turns are two; each chunk goes to the import that its request names."""
    world = bench.world()
    load = cargo(world)
    strangers = [load.item("subject", subject_id=world.name(f"other{number}")) for number in range(7)]
    parcels = (load.parcel(), load.parcel(strangers))
    begun = [begin(world, parcel) for parcel in parcels]
    world.expect(begun[0] != begun[1], "a first chunk without import_id did not begin an import of its own", seen=begun)
    for number in range(1, len(parcels[0][1])):
        for (bundle, chunks), import_id in zip(parcels, begun, strict=True):
            world.root.accepted(moving.stage_call(world, bundle, chunks[number], import_id))
    world.root.do("imports.discard", import_id=begun[1])
    activate(world, begun[0])
    landed(world, load.items(), "the import that was activated is not what was staged for it")
    for stranger in strangers:
        world.root.refused("subjects.get", Code.NOT_FOUND, subject_id=stranger["value"]["subject_id"])


def test_an_unknown_import_is_not_found(bench: Bench) -> None:
    """Staging on, activating and discarding an import that does not exist is NOT_FOUND."""
    world = bench.world()
    bundle, chunks = cargo(world).parcel()
    scenes.freeze(world)
    with world.unchanged():
        world.root.must_refuse(moving.stage_call(world, bundle, chunks[1], "no such import"), Code.NOT_FOUND)
        world.root.must_refuse(moving.activation(world, "no such import"), Code.NOT_FOUND)
        world.root.refused("imports.discard", Code.NOT_FOUND, import_id="no such import")
    import_id = scenes.stage(world, bundle, chunks)
    world.root.accepted(moving.activation(world, import_id))


def test_a_staged_chunk_is_taken_up_to_the_announced_limit(bench: Bench) -> None:
    """A chunk of ``max_chunk_items`` items is taken; one more is LIMIT_EXCEEDED, in the first chunk and in a later one."""
    world = bench.world()
    load = cargo(world)
    most = bench.described(world)["limits"]["max_chunk_items"]
    # A chunk of more items than this could exceed what a request may hold.
    items: list[Doc] = [{"type": "context_fence", "value": {"context_id": f"c{number}"}} for number in range(min(most, 5000) + 1)]
    bundle, chunks = load.parcel(items[:-1], most)
    scenes.stage(world, bundle, chunks)
    if len(items) <= most:
        return
    crowded = load.parcel(items, most + 1)
    late = sealing.sealed(bundle, [{**chunks[0], "final": False}, {**crowded[1][0], "ordinal": 1}])
    import_id = begin(world, late)
    with world.unchanged():
        world.root.must_refuse(moving.stage_call(world, crowded[0], crowded[1][0]), Code.LIMIT_EXCEEDED)
        world.root.must_refuse(moving.stage_call(world, late[0], late[1][1], import_id), Code.LIMIT_EXCEEDED)


# -- before activation


def test_nothing_staged_is_visible(bench: Bench) -> None:
    """At no point of staging is anything of the import to be seen, nor does it change what is there."""
    world = bench.world()
    world.root.create()
    load = cargo(world)
    bundle, chunks = load.parcel()
    before = world.snapshot()
    import_id = begin(world, (bundle, chunks))
    for chunk in chunks[1:]:
        unseen(world, load, "something of a half staged import is visible")
        world.root.accepted(moving.stage_call(world, bundle, chunk, import_id))
    unseen(world, load, "something of a staged import is visible")
    world.root.refused("exports.get", Code.NOT_FOUND, export_id=bundle["export_id"], ordinal=0)
    after = world.snapshot()
    for part in ("space", "grants", "subjects", "profiles"):
        world.same(before[part], after[part], "staging changed the space")


def test_a_staged_import_takes_part_in_nothing(bench: Bench) -> None:
    """Staged subjects, fences and items have no effect: a staged subject is made anew, a staged fence refuses nothing."""
    world = bench.world()
    load = cargo(world)
    scenes.stage(world, *load.parcel())
    fenced = {**load.scope, "context_id": load.values["context_fence"]["context_id"]}
    world.root.refused("records.create", Code.NOT_FOUND, kind="note", content={"text": "a"}, scope=load.scope)
    receipt = world.root.do("subjects.ensure", subject_id=load.scope["subject_id"])
    expected: list[dict[str, Any]] = [{"type": "subject", "id": load.scope["subject_id"], "revision": 1}]
    world.same(expected, receipt["affected"], "a staged subject counts as made")
    world.root.create(scope=fenced)
    _, chunks = moving.exported(world)
    staged = sealing.carried(load.items("record", "candidate", "profile", "reflection", "receipt", "context_fence"))
    held = [name for name in sealing.carried(sealing.items_of(chunks)) if name in staged]
    world.same([], held, "an export holds what is only staged")


@pytest.mark.parametrize("upto", [1, 2, None], ids=["first", "second", "all"])
def test_discard_leaves_nothing(bench: Bench, upto: int | None) -> None:
    """A discarded import, half or completely staged, leaves nothing behind and cannot be used again."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = scenes.stage(world, bundle, chunks[:upto])
    receipt = world.root.do("imports.discard", import_id=import_id)
    world.same([{"type": "import", "id": import_id}], receipt["affected"], "the discard does not name its import")
    scenes.freeze(world)
    with world.unchanged("a discarded import was used again"):
        world.root.refused("imports.discard", Code.WRONG_STATE, import_id=import_id)
        world.root.must_refuse(moving.activation(world, import_id), Code.WRONG_STATE)
        for chunk in chunks[upto : upto + 1] if upto else []:
            world.root.must_refuse(moving.stage_call(world, bundle, chunk, import_id), Code.WRONG_STATE)
    unseen(world, load, "something of a discarded import is visible")
    world.root.accepted(moving.activation(world, scenes.stage(world, bundle, chunks)))
    landed(world, load.items(), "the same parcel, staged again, did not arrive")


@pytest.mark.needs(controls=["hold"])
def test_discard_outlives_the_verification(bench: Bench) -> None:
    """An import that is discarded while its final chunk is still verified stays discarded when that settles."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = scenes.stage(world, bundle, chunks[:-1])
    bench.levers.hold(True)
    try:
        pending = moving.held(world, moving.stage_call(world, bundle, chunks[-1], import_id))
        discard = world.root.call("imports.discard", import_id=import_id)
        reply = world.exchange(discard)
    finally:
        bench.levers.hold(False)
    world.root.settled(pending)
    if not reply.ok:
        # Whether an import can be discarded while it is verified is left to the provider.
        world.expect_refusal(discard, reply, (Code.WRONG_STATE, Code.IMPORT_SEQUENCE, Code.NOT_FOUND))
        world.root.do("imports.discard", import_id=import_id)
    scenes.freeze(world)
    with world.unchanged("a discarded import was used again"):
        world.root.must_refuse(moving.activation(world, import_id), Code.WRONG_STATE)
        world.root.refused("imports.discard", Code.WRONG_STATE, import_id=import_id)
    unseen(world, load, "something of a discarded import is visible")


def test_an_activated_import_is_used_up(bench: Bench) -> None:
    """An import is activated once: again, on, or away it cannot go; the same parcel can be staged anew."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = scenes.stage(world, bundle, chunks)
    scenes.freeze(world)
    world.root.accepted(moving.activation(world, import_id))
    with world.unchanged("an activated import was used again"):
        world.root.must_refuse(moving.activation(world, import_id), Code.WRONG_STATE)
        world.root.refused("imports.discard", Code.WRONG_STATE, import_id=import_id)
    world.root.accepted(moving.activation(world, scenes.stage(world, bundle, chunks)))


def test_a_half_staged_import_is_not_activated(bench: Bench) -> None:
    """Activation needs a completely staged import; with the last chunk staged, the same request is accepted."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = begin(world, (bundle, chunks))
    scenes.freeze(world)
    for chunk in chunks[1:]:
        with world.unchanged("a refused activation changed something"):
            world.root.must_refuse(moving.activation(world, import_id), Code.WRONG_STATE)
        world.root.accepted(moving.stage_call(world, bundle, chunk, import_id))
    world.root.accepted(moving.activation(world, import_id))
    landed(world, load.items(), "what was staged did not arrive")


@pytest.mark.needs(controls=["restart"])
def test_staged_chunks_outlive_a_restart(bench: Bench) -> None:
    """What was staged before a restart is staged after it, and exports are there."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = begin(world, (bundle, chunks))
    export_id = scenes.export(world)
    export = scenes.fetched(world, export_id)
    bench.levers.restart()
    for chunk in chunks[1:]:
        world.root.accepted(moving.stage_call(world, bundle, chunk, import_id))
    world.same(list(export), list(scenes.fetched(world, export_id)), "a restart changed an export")
    bench.levers.restart()
    activate(world, import_id)
    bench.levers.restart()
    landed(world, load.items(), "what was staged, or activated, before a restart is not there after it")
