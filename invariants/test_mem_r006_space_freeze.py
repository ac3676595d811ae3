"""MEM-R006, space freeze: a frozen space takes no change but those of the allow-list, and tells all it told (section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import OMIT, Caller, made
from conformance.cargo import cargo
from conformance.expect import Inconclusive
from conformance.wire.bundle import Operation
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

FREEZE, UNFREEZE = "spaces.freeze", "spaces.unfreeze"


def _stopped_by_a_freeze(operation: Operation) -> bool:
    """Say whether the operation is a mutation outside the allow-list; a second freeze is a matter of its own."""
    return operation.mutation and not operation.while_frozen and operation.stem != FREEZE


def _frozen(world: World) -> None:
    """See to it that the space is frozen."""
    if scenes.space(world)["state"] == "active":
        scenes.freeze(world)


def test_frozen_space_refuses_every_other_mutation(bench: Bench) -> None:
    """A frozen space refuses every mutation outside the allow-list, uses up no key, and takes the same request after unfreeze."""
    for world, operation, call in scenes.each(bench, _stopped_by_a_freeze):
        scenes.freeze(world)
        with world.unchanged():
            world.root.must_refuse(call, Code.SPACE_FROZEN)
        scenes.unfreeze(world)
        # Odd or even, so that both are seen: the very request that was refused, and another one under its key.
        world.root.accepted(call if len(operation.stem) % 2 else scenes.other_payload(call))
    _refuses_every_form(bench.world())


def _refuses_every_form(world: World) -> None:
    """Expect a frozen space to refuse each form of the operations that do more than one thing, and to take it afterwards."""
    closed, open_ = ({"type": "context", "context_id": world.name(name)} for name in ("c1", "c2"))
    fenced = {"type": "subject", "subject_id": world.scope("u2")["subject_id"]}
    archived = {"type": "subject", "subject_id": world.scope("u3")["subject_id"]}
    world.root.do("subjects.fence", target=closed, action="fence")
    world.root.do("subjects.fence", target=fenced, action="fence", expected_revision=1)
    fences: list[dict[str, Any]] = [
        {"target": closed, "action": "unfence"},
        {"target": open_, "action": "fence"},
        {"target": fenced, "action": "unfence", "expected_revision": 2},
        {"target": archived, "action": "archive", "expected_revision": 1},
    ]
    decisions = [
        {"action": "fragment", "fragments": [{"content": {"text": "a"}}, {"content": {"text": "b"}}]},
        {"action": "discard"},
    ]
    calls = [world.root.call("subjects.fence", **members) for members in fences]
    for decision in decisions:
        captured = world.root.capture(scope=world.scope(context="c3"))
        calls.append(world.root.call("candidates.review", candidate_id=captured, expected_revision=1, decision=decision))
    kindless = world.root.capture(scope=world.scope(context="c3"), kind=OMIT)
    decision = {"action": "promote", "kind": "fact"}
    calls.append(world.root.call("candidates.review", candidate_id=kindless, expected_revision=1, decision=decision))
    record_id = world.root.create(scope=world.scope(context="c3"))
    calls.append(world.root.call("records.update", record_id=record_id, expected_revision=1, kind="fact"))
    scenes.freeze(world)
    with world.unchanged():
        for call in calls:
            world.root.must_refuse(call, Code.SPACE_FROZEN)
    scenes.unfreeze(world)
    for call in calls:
        world.root.accepted(call)


def test_frozen_space_takes_the_allowed_mutations(bench: Bench) -> None:
    """While frozen, unfreezing, revoking grants, exporting and importing still work."""
    for world, operation, call in scenes.each(bench, lambda operation: operation.mutation and operation.while_frozen):
        _frozen(world)
        world.root.accepted(call)
        wanted = "active" if operation.stem == UNFREEZE else "frozen"
        world.same(wanted, scenes.space(world)["state"], f"{operation.name}: the state of the space after it")


def test_a_freeze_demands_no_further_right(bench: Bench) -> None:
    """What a frozen space still takes, it takes from a caller with no more than the operation itself needs."""
    world = bench.world()
    issuer, carrier, admin = (world.principal(*may) for may in (("grants_issue", "recall"), ("transfer",), ("admin",)))
    grant_id = issuer.grant(world.stranger("grantee"), capabilities=["recall"])
    scenes.freeze(world)
    issuer.do("grants.revoke", grant_id=grant_id)
    if bench.declares(Flag.TRANSFER):
        carrier.do("exports.create")
        bundle, chunks = cargo(world).parcel()
        import_id = made(carrier.do("imports.stage", bundle=bundle, chunk=chunks[0]), "import")
        carrier.do("imports.discard", import_id=import_id)
    admin.do(UNFREEZE, expected_revision=scenes.space(world)["revision"])


def test_frozen_space_answers_every_replay(bench: Bench) -> None:
    """A frozen space answers the replay of every mutation with its receipt, of the refused operations too, and does nothing."""
    for world, operation, call in scenes.each(bench, lambda operation: operation.mutation):
        receipt = world.root.accepted(call)
        _frozen(world)
        with world.unchanged("a replay changed the state"):
            world.same(receipt, world.root.accepted(call), f"{operation.name}: the receipt of the replay in a frozen space")


def test_frozen_space_answers_every_read(bench: Bench) -> None:
    """A frozen space still answers all reads, as it answered them before, and no read moves its state."""
    for world, operation, call in scenes.each(bench, lambda operation: not operation.mutation):
        before = world.root.accepted(call)
        scenes.freeze(world)
        with world.unchanged("a read changed the state"):
            seen = [world.root.accepted(call) for _ in range(3)]
        if operation.stem != "spaces.list":
            world.same([before] * 3, seen, f"{operation.name}: the answer in a frozen space")


def test_freeze_and_unfreeze_change_nothing_else(bench: Bench) -> None:
    """Freezing changes the space's state and adds 1 to its revision, no more; unfreezing restores it, 1 further on."""
    world = bench.world()
    _furnish(world)
    before = world.snapshot()
    for receipt, state, further in ((scenes.freeze(world), "frozen", 1), (scenes.unfreeze(world), "active", 2)):
        revision = before["space"]["revision"] + further
        affected = [{"type": "space", "id": world.space_id, "revision": revision}]
        world.same(affected, receipt["affected"], f"what a receipt says of the {state} space")
    after = world.snapshot()
    wanted = {**before["space"], "revision": before["space"]["revision"] + 2, "updated_at": after["space"]["updated_at"]}
    world.same(wanted, after["space"], "the space after freeze and unfreeze")
    old = {receipt_id: after["receipts"].get(receipt_id) for receipt_id in before["receipts"]}
    world.same(before["receipts"], old, "the receipts of before, after freeze and unfreeze")
    world.same(_but(before, "space", "receipts"), _but(after, "space", "receipts"), "what the space holds after both")


def _but(members: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: member for name, member in members.items() if name not in names}


def _furnish(world: World) -> None:
    world.root.create()
    world.root.capture()
    world.root.do("profile.update", **scenes.plain_request(world, "profile.update"))
    world.root.do("grants.grant", **scenes.plain_request(world, "grants.grant"))
    world.root.do("subjects.fence", **scenes.plain_request(world, "subjects.fence"))
    world.root.do("subjects.fence", target={"type": "context", "context_id": world.name("c9")}, action="fence")


def test_second_freeze_and_second_unfreeze_conflict(bench: Bench) -> None:
    """Freezing a frozen space and unfreezing an active one conflict with its state, at the right revision, and change nothing."""
    world = bench.world()
    _conflicts(world, UNFREEZE)
    scenes.freeze(world)
    _conflicts(world, FREEZE)
    scenes.unfreeze(world)
    _conflicts(world, UNFREEZE)
    scenes.freeze(world)


def _conflicts(world: World, stem: str) -> None:
    with world.unchanged():
        world.root.refused(stem, Code.WRONG_STATE, expected_revision=scenes.space(world)["revision"])


def test_ensure_of_an_existing_subject_is_a_mutation(bench: Bench) -> None:
    """A frozen space refuses to ensure a subject that exists already, with its kind, without it or with another."""
    world = bench.world()
    subject_id = world.root.ensure(world.name("u1"), kind="app:user")
    scenes.freeze(world)
    for kind in (OMIT, "app:user"):
        with world.unchanged():
            world.root.refused("subjects.ensure", Code.SPACE_FROZEN, subject_id=subject_id, kind=kind)
    scenes.unfreeze(world)
    world.root.ensure(subject_id, kind="app:user")


def test_freeze_binds_every_caller(bench: Bench) -> None:
    """A freeze is the space's: it stops the caller with the narrowest right as it stops root, and unfreezing lets both go on."""
    world = bench.world()
    writer = world.principal("records_write", subject_ids=[world.scope()["subject_id"]], context_ids=[world.name("c1")])
    admin = world.principal("admin")
    scenes.freeze(world)
    for caller in (writer, world.root):
        with world.unchanged():
            caller.refused("records.create", Code.SPACE_FROZEN, kind="note", content={"text": "a"}, scope=world.scope())
    admin.do(UNFREEZE, expected_revision=scenes.space(world)["revision"])
    for caller in (writer, world.root):
        caller.create()


def test_freeze_of_one_space_stops_no_other(bench: Bench) -> None:
    """A frozen space refuses what is for it; a request for another space goes through."""
    frozen, other = bench.world(), bench.world()
    if frozen.space_id == other.space_id:
        raise Inconclusive("the target has a single space")
    scenes.freeze(frozen)
    frozen.root.refused("subjects.ensure", Code.SPACE_FROZEN, subject_id="u1")
    other.root.ensure(other.name("u1"))
    scenes.unfreeze(frozen)
    frozen.root.ensure(frozen.name("u1"))


STEPS: Mapping[str, tuple[Code | None, Code | None]] = {
    FREEZE: (None, Code.WRONG_STATE),
    UNFREEZE: (Code.WRONG_STATE, None),
    "records.create": (None, Code.SPACE_FROZEN),
    "capture": (None, Code.SPACE_FROZEN),
    "grants.grant": (None, Code.SPACE_FROZEN),
    "grants.revoke": (None, None),
    "records.list": (None, None),
}
"""How a step of a history must end, in an active and in a frozen space; None is success."""


@pytest.mark.examples(0.7)
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=10))
def test_a_history_of_freezes_is_kept(bench: Bench, steps: list[str]) -> None:
    """Along any history a write goes through exactly while the space is active, and each change of state adds 1."""
    world = bench.world()
    plain = {stem: scenes.plain_request(world, stem) for stem in ("records.create", "capture", "grants.grant", "records.list")}
    grants = [{"grant_id": made(world.root.do("grants.grant", **plain["grants.grant"]), "grant")} for _ in steps]
    told = {"state": "active", "revision": scenes.space(world)["revision"]}
    records = 0
    for step in steps:
        of_step = {"grants.revoke": grants.pop(), FREEZE: _at(told), UNFREEZE: _at(told), **plain}
        code = STEPS[step][told["state"] == "frozen"]
        _expect(world.root, step, of_step[step], code)
        told = _next(told, step) if code is None else told
        seen = scenes.space(world)
        world.same(told, {name: seen[name] for name in told}, f"what the space tells after {step}")
        records += step == "records.create" and code is None
    listed = world.root.do("records.list", **plain["records.list"])
    world.same(records, listed["total_authorized"], "the number of records that were written")


def _at(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"expected_revision": told["revision"]}


def _expect(caller: Caller, stem: str, members: Mapping[str, Any], code: Code | None) -> None:
    if code is None:
        caller.do(stem, **members)
    else:
        caller.refused(stem, code, **members)


def _next(told: Mapping[str, Any], step: str) -> dict[str, Any]:
    """Return what the space tells after a step that went through."""
    if step not in (FREEZE, UNFREEZE):
        return dict(told)
    return {"state": "frozen" if step == FREEZE else "active", "revision": told["revision"] + 1}


@pytest.mark.needs(controls=["restart"])
def test_freeze_outlives_a_restart(bench: Bench) -> None:
    """A frozen space is frozen after a restart, and works again after unfreeze."""
    world = bench.world()
    scope = world.scope()
    scenes.freeze(world)
    bench.levers.restart()
    with world.unchanged():
        world.root.refused("records.create", Code.SPACE_FROZEN, kind="note", content={"text": "a"}, scope=scope)
    scenes.unfreeze(world)
    world.root.create()
