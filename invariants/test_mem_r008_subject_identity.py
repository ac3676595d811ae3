"""MEM-R008: ``ensure`` is idempotent, never makes a second subject, keeps ids; subjects are flat, each record has exactly one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.expect import Inconclusive
from conformance.wire.vocabulary import Code, Field, Flag
from conformance.world import World
from strategies.identifiers import ID_LIMIT, extension_maps, ids, subject_kinds

KINDS = ("app:user", "app:bot", "app:user2", "ap:puser")


def _named(world: World, name: str) -> str:
    """Return the world's own form of a drawn name; in a shared space a name too long for its salt is passed over."""
    salted = world.name(name)
    assume(len(salted) <= ID_LIMIT)
    return salted


def _subject(reader: Caller, subject_id: str) -> Mapping[str, Any]:
    subject: Mapping[str, Any] = reader.do("subjects.get", subject_id=subject_id)["subject"]
    return subject


def _ensured(world: World, subject_id: str, revision: int, **members: Any) -> None:
    """Ensure a subject as root; the receipt names it, and it alone, at ``revision``."""
    receipt = world.root.do("subjects.ensure", subject_id=subject_id, **members)
    named = [{"type": "subject", "id": subject_id, "revision": revision}]
    world.same(named, receipt["affected"], "subjects.ensure: the receipt does not name the subject at its revision")


def _kind(kind: str | None) -> dict[str, str]:
    return {} if kind is None else {"kind": kind}


OWN = ("schema_version", "created_at", "updated_at", "extensions")
"""What no request says of a subject, or not alone."""


@given(name=ids(), kind=st.none() | subject_kinds(), extensions=extension_maps(), others=extension_maps())
def test_ensure_is_idempotent(
    bench: Bench, name: str, kind: str | None, extensions: dict[str, Any], others: dict[str, Any]
) -> None:
    """The first ensure makes an active subject at revision 1 under the very id, every further one changes nothing."""
    world = bench.world()
    subject_id = _named(world, name)
    world.root.refused("subjects.get", Code.NOT_FOUND, subject_id=subject_id)
    _ensured(world, subject_id, 1, extensions=extensions, **_kind(kind))
    first = _subject(world.root, subject_id)
    expected = {"subject_id": subject_id, "space_id": world.space_id, "state": "active", "revision": 1, **_kind(kind)}
    seen = {member: value for member, value in first.items() if member not in OWN}
    world.same(expected, seen, "subjects.ensure: the subject is not what was asked for")
    world.carries(extensions, first, "subjects.ensure: the subject does not carry the request's extensions")
    for again in ({}, _kind(kind), {"extensions": others}):
        _ensured(world, subject_id, 1, **again)
        world.same(first, _subject(world.root, subject_id), "a further ensure changed the subject")


@given(kind=st.none() | st.sampled_from(KINDS), other=st.sampled_from(KINDS))
@pytest.mark.examples(0.5)
def test_another_kind_is_no_second_subject(bench: Bench, kind: str | None, other: str) -> None:
    """Ensuring a subject under another kind, or under one where it has none, is refused and makes no second subject."""
    assume(kind != other)
    world = bench.world()
    subject_id = world.name("u1")
    _ensured(world, subject_id, 1, **_kind(kind))
    with world.unchanged():
        world.root.refused("subjects.ensure", Code.WRONG_STATE, subject_id=subject_id, kind=other)
    _ensured(world, subject_id, 1, **_kind(kind))
    _ensured(world, world.name("u2"), 1, kind=other)
    world.same(kind, _subject(world.root, subject_id).get("kind"), "the kind of a subject changed")


@pytest.mark.parametrize("actions", [("fence",), ("archive",), ("fence", "unfence")], ids="+".join)
@pytest.mark.parametrize("kind", [None, KINDS[0]], ids=["kindless", "kinded"])
def test_ensure_leaves_every_state_alone(bench: Bench, actions: tuple[str, ...], kind: str | None) -> None:
    """Ensuring a fenced, archived or unfenced subject, with its kind or without, commits at its revision and changes nothing."""
    world = bench.world()
    subject_id = world.name("u1")
    world.root.ensure(subject_id, **_kind(kind))
    target = {"type": "subject", "subject_id": subject_id}
    for revision, action in enumerate(actions, start=1):
        world.root.do("subjects.fence", target=target, action=action, expected_revision=revision)
    before = _subject(world.root, subject_id)
    for again in ({}, _kind(kind)):
        _ensured(world, subject_id, 1 + len(actions), **again)
    world.same(before, _subject(world.root, subject_id), f"an ensure after {' and '.join(actions)} changed the subject")


def test_ensures_at_once_make_one_subject(bench: Bench) -> None:
    """Ensures of one id that arrive together make one subject: one kind wins, every ensure of another kind is refused."""
    world = bench.world()
    subject_id = world.name("u1")
    calls = [world.root.call("subjects.ensure", subject_id=subject_id, kind=KINDS[index % 2]) for index in range(8)]
    replies = world.at_once(calls)
    subject = _subject(world.root, subject_id)
    world.same(1, subject["revision"], "ensures that arrived together changed the subject")
    for call, reply in zip(calls, replies, strict=True):
        if call.payload["kind"] == subject["kind"]:
            named = [{"type": "subject", "id": subject_id, "revision": 1}]
            affected = reply.payload["receipt"]["affected"] if reply.payload else None
            world.same(named, affected, "an ensure of the subject's own kind did not name it")
        else:
            world.expect_refusal(call, reply, [Code.WRONG_STATE])


def _makings(world: World, subject_id: str) -> dict[str, dict[str, Any]]:
    """Return the requests that make something for a subject; each must find it there."""
    scope = {"subject_id": subject_id, "context_id": world.name("c1")}
    material = {"kind": "note", "content": {"text": "a"}, "scope": scope}
    profile = {"subject_id": subject_id, "kind": "preferences", "content": {"text": "a"}, "expected_revision": None}
    return {
        "capture": material,
        "records.create": material,
        "profile.update": profile,
        "reflections.generate": {"selection": scenes.selection(scope)},
    }


BARREN = {"reflections.generate": (Code.PROFILE_INCOMPLETE, Code.INSUFFICIENT_DATA)}
"""What else is wrong with a request for a subject that does not exist: it has no profiles and no records either."""


def _served(world: World, stems: dict[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    served = {operation.stem for operation in scenes.served(world)}
    return [(stem, members) for stem, members in stems.items() if stem in served]


@given(name=ids())
@pytest.mark.examples(0.3)
def test_nothing_else_makes_a_subject(bench: Bench, name: str) -> None:
    """Only ensure makes a subject: whatever would be made for a missing one is not found, and reads of it are empty."""
    world = bench.world()
    subject_id = _named(world, name)
    reader = world.principal("records_read", "recall", "review", "profile_read", "subjects_read", subject_ids=[subject_id])
    everything = {"subject_id": subject_id, "mode": "all_authorized"}
    with world.unchanged():
        for stem, members in _served(world, _makings(world, subject_id)):
            world.root.must_refuse(world.root.call(stem, **members), Code.NOT_FOUND, *BARREN.get(stem, ()))
        for caller in (world.root, reader):
            world.same([], caller.all("records.list", selection=everything), "a missing subject has records")
            world.same([], caller.all("candidates.list", selection=everything), "a missing subject has candidates")
            recalled = caller.do("recall", selection=everything, budget={"max_records": 1})["records"]
            world.same([], recalled, "a missing subject has something to recall")
            documents = caller.do("profile.get", subject_id=subject_id)["documents"]
            world.same([], documents, "a missing subject has profiles")
            caller.refused("subjects.get", Code.NOT_FOUND, subject_id=subject_id)
        if bench.declares(Flag.REFLECTION):
            world.same([], world.root.all("reflections.list", selection=everything), "a missing subject has reflections")
            counted = world.root.do("reflections.state", selection=everything)["record_count"]
            world.same(0, counted, "a missing subject has records to reflect on")
    _ensured(world, subject_id, 1)
    for stem, members in _served(world, _makings(world, subject_id)):
        if stem == "reflections.generate":
            scenes.complete_profile(world, subject_id)
        world.root.do(stem, **members)
    world.same(1, _subject(world.root, subject_id)["revision"], "what was made for a subject changed the subject")


def _lists_it(world: World, subject_id: str, record_id: str) -> bool:
    everything = {"subject_id": subject_id, "mode": "all_authorized"}
    listed = world.root.all("records.list", selection=everything, include_tombstones=True)
    return record_id in [record["record_id"] for record in listed]


@given(start=st.sampled_from(("c1", "c2", None)), steps=st.lists(st.sampled_from(("update", "promote")), max_size=3))
@pytest.mark.examples(0.5)
def test_a_record_keeps_its_one_subject(bench: Bench, start: str | None, steps: list[str]) -> None:
    """A record has one subject for good: it is listed for that one alone, and no change takes it to another."""
    world = bench.world()
    first, second = world.scope("u1", start), world.scope("u2", "c3")
    record_id = world.root.create(scope=first)
    to_scopes = [world.scope("u1", f"to{index}") for index in range(len(steps))]
    for revision, (step, to_scope) in enumerate(zip(steps, to_scopes, strict=True), start=1):
        named: dict[str, Any] = {"record_id": record_id, "expected_revision": revision}
        with world.unchanged():
            world.root.refused("records.promote", Code.INVALID_VALUE, field=Field.TO_SUBJECT, **named, to_scope=second)
        extra = {"to_scope": to_scope} if step == "promote" else {"content": {"text": "b"}}
        world.root.do(f"records.{step}", **named, **extra)
        world.same(first["subject_id"], world.root.read(record_id)["scope"]["subject_id"], "a record changed its subject")
    world.root.do("records.delete", record_id=record_id, expected_revision=1 + len(steps))
    world.expect(_lists_it(world, first["subject_id"], record_id), "a record is not listed for its subject")
    world.expect(not _lists_it(world, second["subject_id"], record_id), "a record is listed for a second subject")


def test_a_reviewed_record_has_the_subject_of_its_candidate(bench: Bench) -> None:
    """A record that comes of a review has the one subject of the capture, however many fragments there are."""
    world = bench.world()
    scope, other = world.scope("u1"), world.scope("u2")
    candidate_id = world.root.capture(scope=scope)
    decision = {"action": "fragment", "fragments": [{"content": {"text": "a"}}, {"content": {"text": "b"}}]}
    receipt = world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    for entry in receipt["affected"][1:]:
        world.same(scope, world.root.read(entry["id"])["scope"], "a fragment is not where its candidate was captured")
        world.expect(not _lists_it(world, other["subject_id"], entry["id"]), "a fragment is listed for another subject")


def test_the_same_id_in_two_spaces_is_two_subjects(bench: Bench) -> None:
    """A subject belongs to its space: the same id elsewhere is another subject with its own kind, state and revision."""
    here = bench.world()
    if here.shared:
        raise Inconclusive("the target provisions no second space")
    there = bench.world()
    _ensured(here, "u1", 1, kind=KINDS[0])
    there.root.refused("subjects.get", Code.NOT_FOUND, subject_id="u1")
    _ensured(there, "u1", 1, kind=KINDS[1])
    before = _subject(there.root, "u1")
    target = {"type": "subject", "subject_id": "u1"}
    here.root.do("subjects.fence", target=target, action="archive", expected_revision=1)
    world_kinds = [_subject(world.root, "u1")["kind"] for world in (here, there)]
    here.same(list(KINDS[:2]), world_kinds, "a subject took the kind of its namesake in another space")
    there.same(before, _subject(there.root, "u1"), "archiving a subject changed its namesake in another space")
    made(there.root.do("records.create", kind="note", content={"text": "a"}, scope={"subject_id": "u1"}), "record")


@pytest.mark.needs(controls=["restart"])
def test_subjects_outlive_a_restart(bench: Bench) -> None:
    """A subject is the same after a restart, and ensuring it again still makes no second one."""
    world = bench.world()
    subject_id = world.name("u1")
    _ensured(world, subject_id, 1, kind=KINDS[0], extensions={"acme": {"x": 1}})
    before = _subject(world.root, subject_id)
    bench.levers.restart()
    world.same(before, _subject(world.root, subject_id), "a restart changed a subject")
    _ensured(world, subject_id, 1)
    world.root.refused("subjects.ensure", Code.WRONG_STATE, subject_id=subject_id, kind=KINDS[1])
