"""MEM-R005, single authority: a space has one generation of authority, and only an activation moves it (section 7, Transfer)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.exchange import Call, Reply
from conformance.expect import Inconclusive
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

needs_transfer = pytest.mark.needs(flags=[Flag.TRANSFER])
needs_hold = pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold"])
needs_restart = pytest.mark.needs(flags=[Flag.TRANSFER], controls=["restart"])


def _generation_is(world: World, wanted: int, after: str) -> None:
    world.same(wanted, scenes.generation(world), f"authority_generation after {after}")


def _moved(world: World) -> None:
    """Activate an export of the space in itself: one generation on, and active again."""
    import_id = scenes.staged(world)
    scenes.freeze(world)
    world.root.accepted(_activation(world, import_id, scenes.generation(world)))
    scenes.unfreeze(world)


def test_no_other_operation_moves_the_generation(bench: Bench) -> None:
    """Nothing but an activation changes authority_generation, and every receipt tells the one in force."""
    for world, operation, call in scenes.each(bench):
        start = scenes.generation(world)
        world.expect(start >= 1, "authority_generation starts below 1", seen=start)
        answer = world.root.accepted(call)
        if operation.stem == "imports.activate":
            _generation_is(world, start + 1, operation.name)
        else:
            _generation_is(world, start, operation.name)
        if operation.mutation and operation.stem != "imports.activate":
            world.same(start, answer["authority_generation"], f"{operation.name}: the receipt's authority_generation")


def _accepted(world: World, now: int) -> int:
    """Activate, and repeat the same request: a replay is no second activation."""
    import_id = scenes.staged(world)
    scenes.freeze(world)
    call = _activation(world, import_id, now)
    receipt = world.root.accepted(call)
    in_force = receipt["authority_generation"] in (now, now + 1)
    world.expect(in_force, "the activation's own receipt tells a third generation", expected=[now, now + 1], seen=receipt)
    world.same(receipt, world.root.accepted(call), "the repeated activation is not answered alike")
    scenes.unfreeze(world)
    return 1


def _refused(world: World, import_id: str, expected: int, code: Code) -> int:
    with world.unchanged():
        world.root.must_refuse(_activation(world, import_id, expected), code)
    return 0


def _frozen_and_refused(world: World, import_id: str, expected: int, code: Code) -> int:
    scenes.freeze(world)
    _refused(world, import_id, expected, code)
    scenes.unfreeze(world)
    return 0


def _behind(world: World, now: int) -> int:
    """Expect an earlier generation; where there is none before the first, a later one."""
    if now == 1:
        return _ahead(world, now)
    return _frozen_and_refused(world, scenes.staged(world), now - 1, Code.REVISION_STALE)


def _ahead(world: World, now: int) -> int:
    return _frozen_and_refused(world, scenes.staged(world), now + 1, Code.REVISION_AHEAD)


def _active(world: World, now: int) -> int:
    return _refused(world, scenes.staged(world), now, Code.SPACE_NOT_FROZEN)


def _incomplete(world: World, now: int) -> int:
    bundle, chunks = scenes.fetched(world, scenes.export(world, max_items_per_chunk=1))
    return _frozen_and_refused(world, scenes.stage(world, bundle, chunks[:1]), now, Code.WRONG_STATE)


def _discarded(world: World, now: int) -> int:
    import_id = scenes.staged(world)
    world.root.do("imports.discard", import_id=import_id)
    return _frozen_and_refused(world, import_id, now, Code.WRONG_STATE)


ROUNDS: Mapping[str, Callable[[World, int], int]] = {
    "an activation": _accepted,
    "an activation expecting an earlier generation": _behind,
    "an activation expecting a later generation": _ahead,
    "an activation in an active space": _active,
    "an activation of an incomplete import": _incomplete,
    "an activation of a discarded import": _discarded,
}
"""What may happen to an import, and by how much the generation grows by it."""


@needs_transfer
@pytest.mark.examples(0.4)
@given(rounds=st.lists(st.sampled_from(sorted(ROUNDS)), min_size=1, max_size=4))
def test_generation_counts_the_activations(bench: Bench, rounds: list[str]) -> None:
    """authority_generation never falls and grows by exactly 1 with each activation that commits, by none with a refused one."""
    world = bench.world()
    world.scope()
    wanted = scenes.generation(world)
    for round_ in rounds:
        wanted += ROUNDS[round_](world, wanted)
        _generation_is(world, wanted, round_)
        receipt = world.root.do("records.create", **scenes.plain_request(world, "records.create"))
        world.same(wanted, receipt["authority_generation"], f"the receipt of a record after {round_} tells another generation")


@needs_transfer
def test_refused_generation_leaves_the_import_usable(bench: Bench) -> None:
    """An activation expecting another generation is refused, behind and ahead told apart, and the right one then commits."""
    world = bench.world()
    world.scope()
    _moved(world)
    now, import_id = scenes.generation(world), scenes.staged(world)
    scenes.freeze(world)
    for expected in (1, now - 1):
        _refused(world, import_id, expected, Code.REVISION_STALE)
    for expected in (now + 1, now + 2, 2**31):
        _refused(world, import_id, expected, Code.REVISION_AHEAD)
    world.root.accepted(_activation(world, import_id, now))
    _generation_is(world, now + 1, "the activation expecting the right generation")


@needs_transfer
@given(claimed=st.integers(1, 2**31))
def test_generation_is_the_receiving_spaces_own(bench: Bench, claimed: int) -> None:
    """An activation adds exactly 1 to the generation of the receiving space, whatever generation the bundle was made under."""
    world = bench.world()
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    world.same(
        scenes.generation(world), bundle["authority_generation"], "a bundle tells another generation than the one in force"
    )
    bundle = {**bundle, "authority_generation": claimed}
    import_id = scenes.stage(world, {**bundle, "digest": digest(bundle, without="digest")}, chunks)
    scenes.freeze(world)
    now = scenes.generation(world)
    world.root.accepted(_activation(world, import_id, now))
    _generation_is(world, now + 1, f"activation of a bundle made under generation {claimed}")


@needs_transfer
def test_authority_of_one_space_is_no_other_spaces(bench: Bench) -> None:
    """A space has an authority of its own: an activation in one moves no other, and a bundle of one moves another by 1 alone."""
    first, second = bench.world(), bench.world()
    if first.space_id == second.space_id:
        raise Inconclusive("the target has a single space")
    first.scope()
    _moved(first)
    here, there = scenes.generation(first), scenes.generation(second)
    import_id = scenes.stage(second, *scenes.fetched(first, scenes.export(first)))
    scenes.freeze(second)
    if here != there:
        code = Code.REVISION_AHEAD if here > there else Code.REVISION_STALE
        _refused(second, import_id, here, code)
    second.root.accepted(_activation(second, import_id, there))
    _generation_is(second, there + 1, "an activation of another space's bundle")
    _generation_is(first, here, "an activation in another space")


@needs_transfer
def test_of_two_activations_at_once_one_commits(bench: Bench) -> None:
    """Of activations that expect the same generation at the same time exactly one commits, and the generation grows by 1."""
    world = bench.world()
    world.scope()
    imports = [scenes.staged(world) for _ in range(2)]
    scenes.freeze(world)
    now = scenes.generation(world)
    _one_commits(world, now, world.at_once([_activation(world, import_id, now) for import_id in imports]))


@needs_hold
def test_pending_activation_moves_nothing_yet(bench: Bench) -> None:
    """A pending activation has not moved the generation yet; of two expecting the same one, only one commits when they settle."""
    world = bench.world()
    world.scope()
    imports = [scenes.staged(world) for _ in range(2)]
    scenes.freeze(world)
    now = scenes.generation(world)
    bench.levers.hold(True)
    try:
        replies = [world.exchange(_activation(world, import_id, now)) for import_id in imports]
        pending = [reply.ok and reply.payload["receipt"]["state"] == "pending" for reply in replies]
        if all(pending):
            _generation_is(world, now, "two activations that are pending")
    finally:
        bench.levers.hold(False)
    _one_commits(world, now, replies)


def _activation(world: World, import_id: str, expected: int) -> Call:
    return world.root.call("imports.activate", import_id=import_id, expected_authority_generation=expected)


def _one_commits(world: World, now: int, replies: list[Reply]) -> None:
    receipts = [world.root.settled(reply.payload["receipt"]) for reply in replies if reply.ok]
    world.same(1, [receipt["state"] for receipt in receipts].count("committed"), "the number of activations that committed")
    _generation_is(world, now + 1, "activations at once")


@needs_restart
def test_generation_outlives_a_restart(bench: Bench) -> None:
    """authority_generation never falls, a restart included, and the next activation goes on from it."""
    world = bench.world()
    world.scope()
    _moved(world)
    now = scenes.generation(world)
    bench.levers.restart()
    _generation_is(world, now, "a restart")
    _moved(world)
    _generation_is(world, now + 1, "a restart and an activation")
