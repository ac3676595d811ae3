"""MEM-R007, drain barrier: a space tells how many of its receipts are pending, and each of them settles (section 7, Pending)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes, sealing
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.exchange import Call
from conformance.expect import Inconclusive
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

held = pytest.mark.needs(controls=["hold"])
held_transfer = pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold"])
held_reflection = pytest.mark.needs(flags=[Flag.REFLECTION], controls=["hold"])


@contextmanager
def hold(bench: Bench) -> Iterator[None]:
    """Keep what may be pending so for the time of the block; it is settled when the block is left."""
    bench.levers.hold(True)
    try:
        yield
    finally:
        bench.levers.hold(False)


def _counts(world: World, wanted: int, when: str, *, reader: Caller | None = None) -> None:
    """Expect the space to tell ``wanted`` pending receipts, to root or another reader."""
    reader = reader or world.root
    told = [space["pending_receipts"] for space in reader.all("spaces.list") if space["space_id"] == world.space_id]
    world.same([wanted], told, f"pending_receipts {when}, as {reader.name} reads it")


def _pending(world: World, call: Call) -> Mapping[str, Any]:
    """Send a call that the held provider answers pending and return the receipt."""
    reply = world.exchange(call)
    world.expect(reply.ok, f"{call.op}: refused a request that the contract accepts", seen=reply.error)
    receipt: Mapping[str, Any] = reply.payload["receipt"]
    if receipt["state"] != "pending":
        raise Inconclusive(f"{call.op} is answered {receipt['state']} although the provider is held")
    return receipt


def _receipt(caller: Caller, receipt_id: str) -> Mapping[str, Any]:
    receipt: Mapping[str, Any] = caller.do("receipts.get", receipt_id=receipt_id)["receipt"]
    return receipt


def _is_settled(world: World, receipt_id: str, wanted: str = "committed") -> None:
    """Expect a receipt to be settled now: a provider that is let go has settled what it held before it answers."""
    world.same(wanted, _receipt(world.root, receipt_id)["state"], "the state of a receipt that was held and let go")


# -- the four operations that may be pending


def _generate(world: World) -> Call:
    return world.root.call("reflections.generate", **scenes.plain_request(world, "reflections.generate"))


def _export(world: World) -> Call:
    return world.root.call("exports.create")


def _final_stage(world: World) -> Call:
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    begun = {"import_id": scenes.stage(world, bundle, chunks[:-1])} if chunks[1:] else {}
    return world.root.call("imports.stage", bundle=bundle, chunk=chunks[-1], **begun)


def _activate(world: World) -> Call:
    return world.root.call("imports.activate", **scenes.plain_request(world, "imports.activate"))


CALLS: Mapping[str, Callable[[World], Call]] = {
    "reflections.generate": _generate,
    "exports.create": _export,
    "imports.stage": _final_stage,
    "imports.activate": _activate,
}
"""The operations that may be pending, and how to make a call of each that is."""

TOGETHER = sorted(set(CALLS) - {"imports.activate"})
"""Those that may be pending side by side in an active space."""


def _served(world: World) -> list[str]:
    return [operation.stem for operation in scenes.served(world) if operation.stem in CALLS]


@held
def test_each_pending_receipt_is_counted_and_settles(bench: Bench) -> None:
    """A pending receipt is counted at every read until it settles, its replay is no second one, and every one settles."""
    for stem in _served(bench.world()):
        world = bench.world()
        call = CALLS[stem](world)
        _counts(world, 0, f"before {stem}")
        with hold(bench):
            receipt = _pending(world, call)
            for _ in range(2):
                _counts(world, 1, f"while {stem} is pending")
            world.same(receipt, _receipt(world.root, receipt["receipt_id"]), f"{stem}: the pending receipt, read again")
            world.same(receipt["receipt_id"], _pending(world, call)["receipt_id"], f"{stem}: the receipt of a replay")
            _counts(world, 1, f"after a replay of the pending {stem}")
        _is_settled(world, receipt["receipt_id"])
        _counts(world, 0, f"after {stem} settled")


@held
@pytest.mark.examples(0.6)
@given(stems=st.lists(st.sampled_from(TOGETHER), min_size=1, max_size=5), writes=st.integers(0, 2))
def test_pending_receipts_is_the_number_that_is_pending(bench: Bench, stems: list[str], writes: int) -> None:
    """pending_receipts equals the number of the space's pending receipts at every read, to every caller that sees the space."""
    world = bench.world()
    watcher = world.principal("subjects_read", subject_ids=[world.name("u9")], context_ids=[world.name("c9")])
    calls = [CALLS[stem](world) for stem in stems if stem in _served(world)]
    with hold(bench):
        for number, call in enumerate(calls):
            _counts(world, number, f"with {number} pending", reader=watcher)
            receipt_id = _pending(world, call)["receipt_id"]
            for _ in range(writes):
                world.root.create()
            _counts(world, number + 1, f"with {number + 1} pending")
            world.same("pending", _receipt(world.root, receipt_id)["state"], "the state of a receipt that is held")
    for caller in (watcher, world.root):
        _counts(world, 0, "after everything settled", reader=caller)


@held
def test_only_four_operations_may_be_pending(bench: Bench) -> None:
    """Every other mutation commits at once, whatever the provider holds, and adds nothing to pending_receipts."""
    for world, _, call in scenes.each(bench, lambda operation: operation.mutation and not operation.may_be_pending):
        with hold(bench):
            _commits_at_once(world, call)


@held_transfer
def test_only_the_final_chunk_may_be_pending(bench: Bench) -> None:
    """Staging a chunk that is not the final one commits at once."""
    world = bench.world()
    world.root.create()
    bundle, chunks = scenes.fetched(world, scenes.export(world, max_items_per_chunk=1))
    with hold(bench):
        import_id = _commits_at_once(world, world.root.call("imports.stage", bundle=bundle, chunk=chunks[0]))
        for chunk in chunks[1:-1]:
            _commits_at_once(world, world.root.call("imports.stage", bundle=bundle, chunk=chunk, import_id=import_id))


def _commits_at_once(world: World, call: Call) -> str:
    reply = world.exchange(call)
    world.expect(reply.ok, f"{call.op}: refused a request that the contract accepts", seen=reply.error)
    receipt = reply.payload["receipt"]
    world.same("committed", receipt["state"], f"{call.op}: the state of a receipt of an operation that must commit at once")
    _counts(world, 0, f"after {call.op}")
    return str(receipt["affected"][0]["id"])


def test_settled_receipts_are_not_counted(bench: Bench) -> None:
    """Once its receipt is settled no mutation counts among the pending ones, nor does a refused request or a replay."""
    for world, _, call in scenes.each(bench, lambda operation: operation.mutation):
        world.root.accepted(call)
        _counts(world, 0, f"after {call.op}")
        world.root.accepted(call)
        world.root.must_refuse(scenes.other_payload(call), *Code)
        _counts(world, 0, f"after a replay and a refusal of {call.op}")


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_a_failed_receipt_is_settled(bench: Bench) -> None:
    """A receipt that settles failed is pending no longer."""
    world = bench.world()
    scenes.failed_import(world)
    _counts(world, 0, "after a receipt settled failed")


# -- while something is pending


@held_transfer
def test_a_pending_export_does_not_exist_yet(bench: Bench) -> None:
    """The export of a pending receipt has its id there and does not exist for reads; once settled it does, under that id."""
    world = bench.world()
    with hold(bench):
        export_id = made(_pending(world, _export(world)), "export")
        world.root.refused("exports.get", Code.NOT_FOUND, export_id=export_id, ordinal=0)
    world.same(export_id, scenes.fetched(world, export_id)[0]["export_id"], "the export of the settled receipt")


@held_reflection
def test_a_pending_reflection_does_not_exist_yet(bench: Bench) -> None:
    """The reflection of a pending receipt has its id there and does not exist for reads; once settled it does, under that id."""
    world = bench.world()
    call = _generate(world)
    selection = call.payload["selection"]
    with hold(bench):
        reflection_id = made(_pending(world, call), "reflection")
        world.same([], world.root.all("reflections.list", selection=selection), "the reflections while one is pending")
    listed = [found["reflection_id"] for found in world.root.all("reflections.list", selection=selection)]
    world.same([reflection_id], listed, "the reflections after the pending one settled")


def _changed(world: World, record_id: str) -> None:
    """Change everything that an export or a reflection is made of."""
    root, subject_id = world.root, world.scope()["subject_id"]
    root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "later"})
    root.create()
    root.capture()
    root.ensure(world.name("later"))
    root.do("profile.update", subject_id=subject_id, kind="later", content={"text": "a"}, expected_revision=None)
    root.do("subjects.fence", target={"type": "context", "context_id": world.name("later")}, action="fence")


@held_transfer
def test_a_pending_export_is_of_what_was_there_when_it_was_asked_for(bench: Bench) -> None:
    """An export pins its basis at the request: what comes between the request and the settling is not in it."""
    world = bench.world()
    record_id = world.root.create()
    world.root.capture()
    _, before = scenes.fetched(world, scenes.export(world))
    with hold(bench):
        export_id = made(_pending(world, _export(world)), "export")
        _changed(world, record_id)
    _, pinned = scenes.fetched(world, export_id)
    then, now = (sealing.carried(_but_receipts(chunks)) for chunks in (before, pinned))
    world.same(then, now, "memory.exports.create: what an export holds that was pending")


def _but_receipts(chunks: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [item for item in sealing.items_of(chunks) if item["type"] != "receipt"]


@held_reflection
def test_a_pending_reflection_is_of_what_was_there_when_it_was_asked_for(bench: Bench) -> None:
    """A generation pins its basis at the request: what comes between is not in it, and makes it stale."""
    world = bench.world()
    record_id = world.root.create()
    call = _generate(world)
    with hold(bench):
        _pending(world, call)
        _changed(world, record_id)
    [reflection] = world.root.all("reflections.list", selection=call.payload["selection"])
    records = {record["record_id"]: record["revision"] for record in reflection["basis"]["records"]}
    world.same(1, records.get(record_id), "the revision of a record in the basis of a reflection that was pending")
    kinds = [profile["kind"] for profile in reflection["basis"]["profiles"]]
    world.expect("later" not in kinds, "a profile that came later is in the basis of a reflection", seen=kinds)
    world.same(True, reflection["stale"], "stale, of a reflection whose basis changed while it was pending")


@held
def test_pending_work_drains_behind_a_freeze(bench: Bench) -> None:
    """What was pending when the space was frozen still settles: generation and export commit, so the frozen space drains to 0."""
    world = bench.world()
    calls = [CALLS[stem](world) for stem in ("reflections.generate", "exports.create") if stem in _served(world)]
    with hold(bench):
        receipts = [_pending(world, call)["receipt_id"] for call in calls]
        scenes.freeze(world)
        _counts(world, len(calls), "in a frozen space that has not drained")
    for receipt_id in receipts:
        _is_settled(world, receipt_id)
    _counts(world, 0, "in a frozen space that has drained")


@held_transfer
def test_a_pending_activation_may_fail(bench: Bench) -> None:
    """An activation re-checks the freeze when it settles: in a space unfrozen meanwhile it settles failed, the import usable."""
    world = bench.world()
    call = _activate(world)
    with hold(bench):
        receipt_id = _pending(world, call)["receipt_id"]
        scenes.unfreeze(world)
        _counts(world, 1, "while an activation is pending")
    _is_settled(world, receipt_id, "failed")
    _counts(world, 0, "after the activation settled failed")
    scenes.freeze(world)
    generation = scenes.generation(world)
    world.root.do("imports.activate", import_id=call.payload["import_id"], expected_authority_generation=generation)


@held_transfer
def test_pending_receipts_are_the_spaces_own(bench: Bench) -> None:
    """What is pending in one space is no pending receipt of another."""
    busy, idle = bench.world(), bench.world()
    if busy.space_id == idle.space_id:
        raise Inconclusive("the target has a single space")
    with hold(bench):
        _pending(busy, _export(busy))
        _counts(idle, 0, "in a space where nothing is pending")
        _counts(busy, 1, "in a space where an export is pending")
    _counts(busy, 0, "after the export settled")


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold", "restart"])
def test_pending_receipts_outlive_a_restart(bench: Bench) -> None:
    """A receipt that was pending at a restart is still counted after it, and settles."""
    world = bench.world()
    with hold(bench):
        receipt_id = _pending(world, _export(world))["receipt_id"]
        bench.levers.restart()
        pending = _receipt(world.root, receipt_id)["state"] == "pending"
        _counts(world, int(pending), "after a restart")
    _is_settled(world, receipt_id)
    _counts(world, 0, "after a restart, once everything settled")


@pytest.mark.needs(flags=[Flag.REFLECTION, Flag.TRANSFER], controls=["hold"])
def test_what_is_pinned_commits_whatever_comes_between(bench: Bench) -> None:
    """A generation and an export commit though their caller loses its grants, the record is deleted and the subject archived."""
    world = bench.world()
    scope = world.scope()
    scenes.complete_profile(world, scope["subject_id"])
    record_id = world.root.create(scope=scope)
    caller = world.stranger("caller")
    rights = ["reflections_generate", "reflections_read", "transfer"]
    grant_id = world.root.grant(caller, capabilities=rights)
    calls = (caller.call("reflections.generate", selection=scenes.selection(scope)), caller.call("exports.create"))
    with hold(bench):
        pending = [_pending(world, call)["receipt_id"] for call in calls]
        world.root.do("grants.revoke", grant_id=grant_id)
        world.root.do("records.delete", record_id=record_id, expected_revision=1)
        target = {"type": "subject", "subject_id": scope["subject_id"]}
        world.root.do("subjects.fence", target=target, action="archive", expected_revision=1)
    for receipt_id in pending:
        _is_settled(world, receipt_id)
