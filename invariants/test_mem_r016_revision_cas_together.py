"""MEM-R016, revisions: of concurrent changes on one revision exactly one wins, and none is lost (F04, F07, F14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.exchange import Reply
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

CROWD = 8


def _calls(world: World, stem: str, variants: Sequence[Mapping[str, Any]], **members: Any) -> list[Reply]:
    """Send one request for each of ``variants`` at the same time, each under its own key."""
    return world.at_once([world.root.call(stem, **members, **variant) for variant in variants])


def _exactly_one(world: World, stem: str, replies: Sequence[Reply], *lost: Code) -> int:
    """Want one commit and all others refused with one of ``lost``; return the number of the winner."""
    won = [number for number, reply in enumerate(replies) if reply.ok]
    world.same(1, len(won), f"memory.{stem}: of concurrent changes on one revision not exactly one committed")
    codes = [world.bundle.code(code) for code in lost]
    others = sorted({str(reply.code) for reply in replies if not reply.ok} - set(codes))
    world.same([], others, f"memory.{stem}: a loser was refused for another reason")
    return won[0]


def test_of_concurrent_updates_exactly_one_commits(bench: Bench) -> None:
    """Of updates with the same expected revision one commits and its text is stored; all others are stale (F07)."""
    world = bench.world()
    record_id = world.root.create()
    variants = [{"content": {"text": f"{number}"}} for number in range(2 * CROWD)]
    replies = _calls(world, "records.update", variants, record_id=record_id, expected_revision=1)
    winner = _exactly_one(world, "records.update", replies, Code.REVISION_STALE)
    for reply in replies:
        if reply.error is not None:
            details = reply.error.get("details") or {}
            seen = [details.get("expected_revision"), details.get("actual_revision")]
            world.same([1, 2], seen, "memory.records.update: a loser is told other revisions")
    record = world.root.read(record_id)
    world.same(2, record["revision"], "memory.records.update: the revision does not count the one commit")
    world.same(variants[winner]["content"], record["content"], "memory.records.update: the text stored is not the winner's")


def _record(world: World) -> dict[str, Any]:
    return {"record_id": world.root.create(), "expected_revision": 1}


def _candidate(world: World) -> dict[str, Any]:
    return {"candidate_id": world.root.capture(), "expected_revision": 1}


def _space(world: World) -> dict[str, Any]:
    return {"expected_revision": scenes.space(world)["revision"]}


def _subject(world: World) -> dict[str, Any]:
    return scenes.plain_request(world, "subjects.fence")


def _profile(world: World) -> dict[str, Any]:
    return {"subject_id": world.scope()["subject_id"], "kind": "preferences", "expected_revision": None, "content": {"text": "a"}}


RACES: Mapping[str, tuple[str, Callable[[World], dict[str, Any]], tuple[Code, ...]]] = {
    # the members common to all, and what a loser may be told: it comes late for the revision and for the state
    "delete": ("records.delete", _record, (Code.REVISION_STALE, Code.RECORD_TOMBSTONED)),
    "dismiss": ("candidates.dismiss", _candidate, (Code.REVISION_STALE, Code.CANDIDATE_CONSUMED)),
    "freeze": ("spaces.freeze", _space, (Code.REVISION_STALE, Code.WRONG_STATE)),
    "fence": ("subjects.fence", _subject, (Code.REVISION_STALE, Code.WRONG_STATE)),
    "profile": ("profile.update", _profile, (Code.REVISION_STALE,)),
}


@pytest.mark.parametrize("race", sorted(RACES))
def test_of_concurrent_changes_exactly_one_commits(bench: Bench, race: str) -> None:
    """Of requests with the same expected revision, under keys of their own, exactly one commits."""
    world = bench.world()
    stem, build, lost = RACES[race]
    _exactly_one(world, stem, _calls(world, stem, [{}] * CROWD, **build(world)), *lost)


def test_of_concurrent_promotions_exactly_one_places_the_record(bench: Bench) -> None:
    """Of promotions to several placements one commits and says where the record is."""
    world = bench.world()
    scopes = [world.scope(context=f"c{number}") for number in range(2, CROWD)]
    members = _record(world)
    replies = _calls(world, "records.promote", [{"to_scope": scope} for scope in scopes], **members)
    winner = _exactly_one(world, "records.promote", replies, Code.REVISION_STALE)
    record = world.root.read(members["record_id"])
    world.same(scopes[winner], record["scope"], "memory.records.promote: the record is not where the winner placed it")
    world.same(2, record["revision"], "memory.records.promote: the revision does not count the one commit")


def test_of_concurrent_decisions_exactly_one_is_taken(bench: Bench) -> None:
    """Promote, fragment, discard and dismiss on one revision: one commits, and the records are those it decided (F14)."""
    world = bench.world()
    members = _candidate(world)
    fragments = [{"content": {"text": text}} for text in ("a", "b")]
    decisions = ({"action": "promote"}, {"action": "discard"}, {"action": "fragment", "fragments": fragments})
    calls = [world.root.call("candidates.review", **members, decision=decision) for decision in decisions * 2]
    dismissals = [world.root.call("candidates.dismiss", **members)] if world.has("candidates.dismiss") else []
    replies = world.at_once([*calls, *dismissals])
    winner = _exactly_one(world, "candidates.review", replies, Code.REVISION_STALE, Code.CANDIDATE_CONSUMED)
    candidate = world.root.candidate(members["candidate_id"])
    decided = [*("promote", "discard", "fragment") * 2, "dismiss"][winner]
    world.same(decided, candidate["outcome"]["decision"], "the candidate's outcome is not the decision that committed")
    records = [record["record_id"] for record in world.root.all("records.list", selection=world.everything())]
    world.same_set(candidate["outcome"]["record_ids"], records, "the records are not those of the decision that committed")


def test_concurrent_changes_of_different_objects_all_commit(bench: Bench) -> None:
    """Changes of different objects do not refuse or lose one another: what was acknowledged is there (F07)."""
    world = bench.world()
    scope = world.scope()
    variants = [{"content": {"text": f"{number}"}} for number in range(4 * CROWD)]
    replies = _calls(world, "records.create", variants, kind="note", scope=scope)
    refused = [reply.error for reply in replies if reply.error is not None]
    world.expect(not refused, "memory.records.create: a concurrent creation was refused", seen=refused[:1])
    ids = [made(reply.payload["receipt"], "record") for reply in replies]
    records = {record["record_id"]: record["content"] for record in world.root.all("records.list", selection=world.everything())}
    expected = {record_id: variant["content"] for record_id, variant in zip(ids, variants, strict=True)}
    world.same(expected, records, "an acknowledged creation is not there")


def test_concurrent_changes_of_one_thing_in_several_places_all_commit(bench: Bench) -> None:
    """Documents of several kinds of one subject, and fences of several contexts of one space, lose none of each other."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    kinds, contexts = ([world.name(f"{letter}{number}") for number in range(CROWD)] for letter in ("k", "c"))
    members: dict[str, Any] = {"subject_id": subject_id, "content": {"text": "a"}, "expected_revision": None}
    calls = [world.root.call("profile.update", kind=kind, **members) for kind in kinds]
    targets = [{"type": "context", "context_id": context_id} for context_id in contexts]
    calls += [world.root.call("subjects.fence", target=target, action="fence") for target in targets]
    refused = [reply.error for reply in world.at_once(calls) if reply.error is not None]
    world.same([], refused, "a concurrent change of something else was refused")
    documents = world.root.do("profile.get", subject_id=subject_id, kinds=kinds)["documents"]
    world.same_set(kinds, [document["kind"] for document in documents], "an acknowledged document is not there")
    told = [name for name in scenes.space(world)["fenced_context_ids"] if name in contexts]
    world.same_set(contexts, told, "an acknowledged fence is not there")


def test_of_concurrent_changes_of_several_kinds_exactly_one_commits(bench: Bench) -> None:
    """Of updates, deletions and moves of one record, and of fences and archivings of one subject, exactly one commits."""
    world = bench.world()
    members = _record(world)
    changes: tuple[tuple[str, dict[str, Any]], ...] = (
        ("update", {"kind": "fact"}),
        ("delete", {}),
        ("promote", {"to_scope": world.scope(context="c2")}),
    )
    calls = [world.root.call(f"records.{stem}", **members, **more) for stem, more in changes * 3]
    _exactly_one(world, "records", world.at_once(calls), Code.REVISION_STALE, Code.RECORD_TOMBSTONED, Code.WRONG_STATE)
    world.same(2, world.root.read(members["record_id"])["revision"], "the revision does not count the one commit")
    subject = {"type": "subject", "subject_id": world.scope("u2")["subject_id"]}
    asked = {"target": subject, "expected_revision": 1}
    calls = [world.root.call("subjects.fence", **asked, action=action) for action in ("fence", "archive") * 4]
    _exactly_one(world, "subjects.fence", world.at_once(calls), Code.REVISION_STALE, Code.SUBJECT_ARCHIVED, Code.WRONG_STATE)
    revision = world.root.do("subjects.get", subject_id=subject["subject_id"])["subject"]["revision"]
    world.same(2, revision, "the subject's revision does not count the one commit")


@pytest.mark.needs(controls=["restart"])
def test_acknowledged_changes_outlive_a_restart(bench: Bench) -> None:
    """What was acknowledged, alone or in a crowd, is there after a restart, at its revision (F07)."""
    world = bench.world()
    record_id = world.root.create()
    variants = [{"content": {"text": f"{number}"}} for number in range(CROWD)]
    _calls(world, "records.update", variants, record_id=record_id, expected_revision=1)
    _calls(world, "records.create", variants, kind="note", scope=world.scope())
    before = world.snapshot()
    bench.levers.restart()
    world.same(before, world.snapshot(), "an acknowledged change is not what it was before the restart")
    world.root.do("records.update", record_id=record_id, expected_revision=2, content={"text": "later"})


# -- beside a pending job


JOBS = (
    pytest.param("reflections.generate", marks=pytest.mark.needs(flags=[Flag.REFLECTION], controls=["hold"])),
    pytest.param("exports.create", marks=pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold"])),
    pytest.param("imports.stage", marks=pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold"])),
)


def _change_much(world: World, kept: str, gone: str) -> None:
    world.root.create(content={"text": "meanwhile"})
    world.root.capture()
    world.root.do("records.update", record_id=kept, expected_revision=1, content={"text": "meanwhile"})
    world.root.do("records.delete", record_id=gone, expected_revision=1)


def _without_jobs(state: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what the settling of a job changes rightly: receipts, the count of pending ones, reflections."""
    space = {name: value for name, value in state["space"].items() if name != "pending_receipts"}
    subjects = {
        subject_id: {name: value for name, value in of.items() if name != "reflections"}
        for subject_id, of in state["subjects"].items()
    }
    return {"space": space, "subjects": subjects, "grants": state["grants"], "profiles": state["profiles"]}


@pytest.mark.parametrize("stem", JOBS)
def test_a_settling_job_takes_no_acknowledged_change_back(bench: Bench, stem: str) -> None:
    """Changes that commit while a job is pending are there when it has settled (F07)."""
    world = bench.world()
    kept, gone = world.root.create(), world.root.create()
    call = world.root.call(stem, **scenes.plain_request(world, stem))
    bench.levers.hold(True)
    try:
        world.exchange(call)
        _change_much(world, kept, gone)
        before = _without_jobs(world.snapshot())
    finally:
        bench.levers.hold(False)
    world.root.accepted(call)
    world.same(before, _without_jobs(world.snapshot()), f"{call.op}: settling took an acknowledged change back")
    world.same(2, world.root.read(kept)["revision"], "memory.records.update: an acknowledged change is gone")
