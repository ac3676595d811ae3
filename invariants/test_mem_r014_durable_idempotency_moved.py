"""MEM-R014, durable idempotency, where the state moved between the try and the retry (F02).

A replay gives the same receipt and has no second effect, also after a freeze, a fence, a deletion, a later revision or a
revocation; the same request under a fresh key meets the state as it then is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.timestamps import shifted
from strategies.vocabulary import capabilities

Move = Callable[[World], None]
HOUR = 3600
EXPIRING = ("capture", "records.create", "profile.update", "exports.create")


def _thaw(world: World) -> None:
    if scenes.space(world)["state"] == "frozen":
        scenes.unfreeze(world)


def _freeze(world: World) -> None:
    _thaw(world)
    scenes.freeze(world)


def _fence(world: World, action: str) -> None:
    _thaw(world)
    subject_id = world.scope()["subject_id"]
    revision = world.root.do("subjects.get", subject_id=subject_id)["subject"]["revision"]
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action=action, expected_revision=revision)


def _fence_context(world: World) -> None:
    _thaw(world)
    target = {"type": "context", "context_id": world.scope()["context_id"]}
    world.root.do("subjects.fence", target=target, action="fence")


# -- what happens to the very object that the first try changed


def _record_goes_on(world: World, record_id: str) -> None:
    record = world.root.read(record_id)
    if "tombstone" not in record:
        world.root.do("records.delete", record_id=record_id, expected_revision=record["revision"])


def _candidate_goes_on(world: World, candidate_id: str) -> None:
    candidate = world.root.candidate(candidate_id)
    if candidate["state"] == "pending":
        scenes.dismiss(world, candidate_id, candidate["revision"])


def _profile_goes_on(world: World, profile_id: str) -> None:  # noqa: ARG001 - its id is not to be parsed
    world.root.do("profile.update", **scenes.plain_request(world, "profile.update"))


def _subject_goes_on(world: World, subject_id: str) -> None:
    subject = world.root.do("subjects.get", subject_id=subject_id)["subject"]
    action = "fence" if subject["state"] == "active" else "unfence"
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action=action, expected_revision=subject["revision"])


def _grant_goes_on(world: World, grant_id: str) -> None:
    granted = {grant["grant_id"]: grant for grant in world.root.all("grants.list", view="admin")}
    if granted[grant_id]["state"] == "active":
        world.root.do("grants.revoke", grant_id=grant_id)


GOES_ON: Mapping[str, Callable[[World, str], None]] = {
    "record": _record_goes_on,
    "candidate": _candidate_goes_on,
    "profile": _profile_goes_on,
    "subject": _subject_goes_on,
    "grant": _grant_goes_on,
}


def _later_revisions(world: World, receipt: Mapping[str, Any]) -> None:
    _thaw(world)
    for entry in reversed(receipt["affected"]):
        if entry["type"] in GOES_ON:
            GOES_ON[entry["type"]](world, entry["id"])


# -- the table over all operations


def _deputy(world: World) -> tuple[Caller, str]:
    """Return a principal that may do all that root may, and the id of its only grant."""
    caller = world.stranger("A")
    return caller, world.root.grant(caller, capabilities=list(capabilities(world.bundle)), shared_access="write")


def _moves(receipt: Mapping[str, Any], grant_id: str) -> tuple[tuple[str, Move], ...]:
    return (
        ("a later change of what it changed", lambda world: _later_revisions(world, receipt)),
        ("a fence around its context", _fence_context),
        ("a fence around its subject", lambda world: _fence(world, "fence")),
        ("the archiving of its subject", lambda world: _fence(world, "archive")),
        ("a freeze", _freeze),
        ("an unfreeze", _thaw),
        ("the revocation of its caller's only grant", lambda world: world.root.do("grants.revoke", grant_id=grant_id)),
    )


def test_a_replay_answers_whatever_happened_since(bench: Bench) -> None:
    """A replay gives the same receipt also after a freeze, a fence, a deletion, a later revision or a revocation (F02)."""
    for operation in scenes.served(bench.world()):
        if not operation.mutation:
            continue
        world = bench.world()
        caller, grant_id = _deputy(world)
        call = caller.call(operation.stem, **scenes.plain_request(world, operation.stem))
        receipt = caller.accepted(call)
        for what, move in _moves(receipt, grant_id):
            move(world)
            world.same(receipt, caller.accepted(call), f"{call.op}: after {what} a replay is answered with something else")
        with world.unchanged(f"{call.op}: a replay had a second effect"):
            caller.accepted(call)


@pytest.mark.needs(controls=["clock"])
def test_a_replay_outlives_the_grants_of_its_caller(bench: Bench) -> None:
    """Replays need no effective grant: one is answered as ever when all grants of its caller have ended by themselves."""
    world = bench.world()
    now = world.root.do("subjects.ensure", subject_id=world.name("u1"))["created_at"]
    caller = world.stranger("A")
    ends = {"shared_access": "write", "expires_at": shifted(now, HOUR)}
    world.root.grant(caller, capabilities=list(capabilities(world.bundle)), **ends)
    stems = [operation.stem for operation in scenes.served(world) if operation.stem in EXPIRING]
    calls = [caller.call(stem, **scenes.plain_request(world, stem)) for stem in stems]
    receipts = [caller.accepted(call) for call in calls]
    bench.levers.advance(2 * HOUR)
    with world.unchanged("a replay had a second effect"):
        for call, receipt in zip(calls, receipts, strict=True):
            told = caller.accepted(call)
            world.same(receipt, told, f"{call.op}: after the end of its caller's grants a replay is answered with something else")


# -- each move alone, with the fresh key beside it


def _delete(world: World) -> None:
    for record in world.root.all("records.list", selection=world.everything()):
        world.root.do("records.delete", record_id=record["record_id"], expected_revision=record["revision"])


def _update(world: World) -> None:
    for record in world.root.all("records.list", selection=world.everything()):
        members = {"record_id": record["record_id"], "expected_revision": record["revision"]}
        world.root.do("records.update", **members, content={"text": "later"})


def _revoke(world: World) -> None:
    for grant in world.root.all("grants.list", view="admin"):
        if grant["issuer_id"] == world.root.principal_id and grant["grant_id"] in world.granted:
            world.root.do("grants.revoke", grant_id=grant["grant_id"])


ALONE: Mapping[str, tuple[Move, tuple[Code, ...], tuple[Code, ...]]] = {
    # the move; how a creation and how an update under a fresh key are then refused (nothing: it commits)
    "freeze": (_freeze, (Code.SPACE_FROZEN,), (Code.SPACE_FROZEN,)),
    "archive": (lambda world: _fence(world, "archive"), (Code.SUBJECT_ARCHIVED,), (Code.SUBJECT_ARCHIVED,)),
    "fence": (lambda world: _fence(world, "fence"), (Code.SUBJECT_FENCED,), (Code.SUBJECT_FENCED,)),
    "context": (_fence_context, (Code.CONTEXT_FENCED,), (Code.CONTEXT_FENCED,)),
    "delete": (_delete, (), (Code.RECORD_TOMBSTONED,)),
    "update": (_update, (), ()),
    "revoke": (_revoke, (Code.NOT_FOUND, Code.NOT_AUTHORIZED), (Code.NOT_FOUND, Code.NOT_AUTHORIZED)),
}


def _answered(caller: Caller, codes: tuple[Code, ...], stem: str, **members: Any) -> None:
    """Want a refusal with one of ``codes``, or success where there are none."""
    if codes:
        caller.refused(stem, *codes, **members)
    else:
        caller.do(stem, **members)


@pytest.mark.parametrize("move", sorted(ALONE))
def test_a_creation_replays_and_a_fresh_key_meets_the_new_state(bench: Bench, move: str) -> None:
    """After each single move the key still replays, and the same body under a fresh key is judged by the state (F02)."""
    world = bench.world()
    caller, _ = _deputy(world)
    call = caller.call("records.create", kind="note", content={"text": "a"}, scope=world.scope())
    receipt = caller.accepted(call)
    moved, codes, _ = ALONE[move]
    moved(world)
    with world.unchanged("memory.records.create: a replay had a second effect"):
        world.same(receipt, caller.accepted(call), "memory.records.create: the replay is answered with something else")
    _answered(caller, codes, "records.create", **{**call.payload, "idempotency_key": world.fresh_key()})


@pytest.mark.parametrize("move", sorted(ALONE))
def test_a_change_at_a_revision_replays_and_a_fresh_key_meets_the_new_state(bench: Bench, move: str) -> None:
    """A request with an expected revision replays although that revision is past (F02)."""
    world = bench.world()
    caller, _ = _deputy(world)
    record_id = caller.create()
    call = caller.call("records.update", record_id=record_id, expected_revision=1, content={"text": "b"})
    receipt = caller.accepted(call)
    moved, _, codes = ALONE[move]
    moved(world)
    with world.unchanged("memory.records.update: a replay had a second effect"):
        world.same(receipt, caller.accepted(call), "memory.records.update: the replay is answered with something else")
    current = world.root.read(record_id)["revision"]
    fresh = {**call.payload, "idempotency_key": world.fresh_key(), "expected_revision": current}
    _answered(caller, codes, "records.update", **fresh)


@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_a_billed_generation_is_not_billed_again(bench: Bench) -> None:
    """A replay never bills twice, also after the basis of the generation moved."""
    world = bench.world()
    request = scenes.plain_request(world, "reflections.generate")
    call = world.root.call("reflections.generate", **request)
    receipt = world.root.accepted(call)
    world.root.create()
    world.same(receipt, world.root.accepted(call), "memory.reflections.generate: a replay is answered with another receipt")
    listed = world.root.all("reflections.list", **request)
    world.same([made(receipt, "reflection")], [found["reflection_id"] for found in listed], "a replay generated again")


@pytest.mark.needs(controls=["clock"])
def test_no_key_is_forgotten_in_time(bench: Bench) -> None:
    """Years later a key still answers with its receipt, and still refuses another payload."""
    world = bench.world()
    world.scope()
    calls = [world.root.call(stem, **scenes.plain_request(world, stem)) for stem in ("records.create", "capture", "grants.grant")]
    receipts = [world.root.accepted(call) for call in calls]
    bench.levers.advance(1_000 * 86_400)
    with world.unchanged("a replay, years later, had a second effect"):
        world.same(receipts, [world.root.accepted(call) for call in calls], "years later a key has another receipt")
        for call in calls:
            world.root.must_refuse(scenes.other_payload(call), Code.KEY_REUSED)


def test_a_replay_does_not_do_again_what_was_undone(bench: Bench) -> None:
    """A fence, a freeze and a grant that were undone since stay undone when their requests are sent again."""
    world = bench.world()
    context = {"type": "context", "context_id": world.name("c1")}
    subject = {"type": "subject", "subject_id": world.scope("u2")["subject_id"]}
    calls = [
        world.root.call("subjects.fence", target=context, action="fence"),
        world.root.call("subjects.fence", target=subject, action="fence", expected_revision=1),
        world.root.call("grants.grant", grantee_id=world.stranger().principal_id, capabilities=["recall"], shared_access="none"),
    ]
    receipts = [world.root.accepted(call) for call in calls]
    world.root.do("subjects.fence", target=context, action="unfence")
    world.root.do("subjects.fence", target=subject, action="unfence", expected_revision=2)
    world.root.do("grants.revoke", grant_id=made(receipts[2], "grant"))
    freeze = world.root.call("spaces.freeze", expected_revision=scenes.space(world)["revision"])
    receipts.append(world.root.accepted(freeze))
    scenes.unfreeze(world)
    for call, receipt in zip([*calls, freeze], receipts, strict=True):
        with world.unchanged(f"{call.op}: a replay did again what was undone"):
            world.same(receipt, world.root.accepted(call), f"{call.op}: the replay is answered with something else")
