"""MEM-R016, revisions and compare-and-set (protocol.md section 7, CAS).

The sibling module ``…_together`` holds what arrives at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.content import contents

Members = dict[str, Any]
FAR = 2**53
"""The largest revision that every double-based reader tells from its neighbours below."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A change that wants an expected revision: ``build`` makes its object and returns the request's other members and the
    object's id; ``read`` reads the object's revision."""

    stem: str
    build: Callable[[World], tuple[Members, str]]
    read: Callable[[World, str], int]


# -- objects, at a revision above 1 where their kind can have one before the change


def _record_revision(world: World, record_id: str) -> int:
    return int(world.root.read(record_id)["revision"])


def _candidate_revision(world: World, candidate_id: str) -> int:
    return int(world.root.candidate(candidate_id)["revision"])


def _subject_revision(world: World, subject_id: str) -> int:
    return int(world.root.do("subjects.get", subject_id=subject_id)["subject"]["revision"])


def _space_revision(world: World, space_id: str) -> int:  # noqa: ARG001 - the signature of a reader
    return int(scenes.space(world)["revision"])


def _profile_revision(world: World, subject_id: str) -> int:
    documents = world.root.do("profile.get", subject_id=subject_id, kinds=["preferences"])["documents"]
    return int(documents[0]["revision"]) if documents else 0


def _record(world: World) -> str:
    record_id = world.root.create()
    for revision in (1, 2):
        world.root.do("records.update", record_id=record_id, expected_revision=revision, content={"text": f"{revision}"})
    return record_id


def _update(world: World) -> tuple[Members, str]:
    record_id = _record(world)
    return {"record_id": record_id, "content": {"text": "b"}}, record_id


def _delete(world: World) -> tuple[Members, str]:
    record_id = _record(world)
    return {"record_id": record_id}, record_id


def _promote(world: World) -> tuple[Members, str]:
    record_id = _record(world)
    return {"record_id": record_id, "to_scope": world.scope(context="c2")}, record_id


def _dismiss(world: World) -> tuple[Members, str]:
    candidate_id = world.root.capture()
    return {"candidate_id": candidate_id}, candidate_id


def _review(decision: Mapping[str, Any]) -> Callable[[World], tuple[Members, str]]:
    def build(world: World) -> tuple[Members, str]:
        members, candidate_id = _dismiss(world)
        return {**members, "decision": dict(decision)}, candidate_id

    return build


def _subject_fence(*before: str, action: str) -> Callable[[World], tuple[Members, str]]:
    def build(world: World) -> tuple[Members, str]:
        subject_id = world.root.ensure(f"subject-{world.fresh_key()}")
        members = {"target": {"type": "subject", "subject_id": subject_id}}
        for revision, earlier in enumerate(before, start=1):
            world.root.do("subjects.fence", **members, action=earlier, expected_revision=revision)
        return {**members, "action": action}, subject_id

    return build


def _freeze(world: World) -> tuple[Members, str]:
    scenes.freeze(world)
    scenes.unfreeze(world)
    return {}, world.space_id


def _unfreeze(world: World) -> tuple[Members, str]:
    scenes.freeze(world)
    return {}, world.space_id


def _profile(world: World) -> tuple[Members, str]:
    subject_id = world.scope()["subject_id"]
    members = {"subject_id": subject_id, "kind": "preferences"}
    for revision in (None, 1):
        world.root.do("profile.update", **members, content={"text": "a"}, expected_revision=revision)
    return {**members, "content": {"text": "b"}}, subject_id


FRAGMENTS = [{"content": {"text": "a"}}, {"content": {"text": "b"}}]

GUARDED: Mapping[str, Guarded] = {
    "freeze": Guarded("spaces.freeze", _freeze, _space_revision),
    "unfreeze": Guarded("spaces.unfreeze", _unfreeze, _space_revision),
    "fence": Guarded("subjects.fence", _subject_fence("fence", "unfence", action="fence"), _subject_revision),
    "unfence": Guarded("subjects.fence", _subject_fence("fence", action="unfence"), _subject_revision),
    "archive": Guarded("subjects.fence", _subject_fence("fence", "unfence", action="archive"), _subject_revision),
    "archive_fenced": Guarded("subjects.fence", _subject_fence("fence", action="archive"), _subject_revision),
    "dismiss": Guarded("candidates.dismiss", _dismiss, _candidate_revision),
    "review_promote": Guarded("candidates.review", _review({"action": "promote"}), _candidate_revision),
    "review_fragment": Guarded("candidates.review", _review({"action": "fragment", "fragments": FRAGMENTS}), _candidate_revision),
    "review_discard": Guarded("candidates.review", _review({"action": "discard"}), _candidate_revision),
    "update": Guarded("records.update", _update, _record_revision),
    "delete": Guarded("records.delete", _delete, _record_revision),
    "promote": Guarded("records.promote", _promote, _record_revision),
    "profile": Guarded("profile.update", _profile, _profile_revision),
}
"""Every change that wants an expected revision."""


def _wrong(actual: int) -> list[int]:
    """Return expected revisions on both sides, the nearest ones, the first and a far one."""
    return sorted({1, actual - 1, actual - 2, actual + 1, actual + 2, actual * 2 + 1, FAR} - {actual, 0, -1})


def _refused(world: World, stem: str, members: Members, expected: int | None, actual: int | None) -> None:
    """Want the request refused for its revision, by the code of the right side and with both revisions in the details."""
    stale = expected is None or (actual is not None and expected < actual)
    error = world.root.refused(stem, Code.REVISION_STALE if stale else Code.REVISION_AHEAD, **members, expected_revision=expected)
    details = error.get("details") or {}
    seen = {name: details.get(name, "absent") for name in ("expected_revision", "actual_revision")}
    wanted = {"expected_revision": expected, "actual_revision": actual}
    world.same(wanted, seen, f"memory.{stem}: details do not give the expected and the actual revision")


# -- exact, stale, ahead


@pytest.mark.parametrize("row", sorted(GUARDED))
def test_a_change_commits_against_the_exact_revision_alone(bench: Bench, row: str) -> None:
    """Stale and ahead are refused, told apart, and change nothing; the exact revision commits and adds exactly 1."""
    world, guarded = bench.world(), GUARDED[row]
    members, object_id = guarded.build(world)
    actual = guarded.read(world, object_id)
    with world.unchanged():
        for expected in _wrong(actual):
            _refused(world, guarded.stem, members, expected, actual)
    receipt = world.root.do(guarded.stem, **members, expected_revision=actual)
    world.same(actual + 1, guarded.read(world, object_id), f"memory.{guarded.stem}: an accepted change did not add exactly 1")
    world.same(actual + 1, receipt["affected"][0]["revision"], f"memory.{guarded.stem}: the receipt gives another revision")


def test_a_missing_profile_document_is_met_by_null_alone(bench: Bench) -> None:
    """A number on a missing document is ahead, null on an existing one is stale; the other of each commits."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    members: Members = {"subject_id": subject_id, "kind": "preferences", "content": {"text": "a"}}
    for expected in (1, 2, FAR):
        _refused(world, "profile.update", members, expected, None)
    missing = world.root.do("profile.get", subject_id=subject_id, kinds=["preferences"])["missing_kinds"]
    world.same(["preferences"], missing, "memory.profile.update: a refused update made the document")
    world.root.do("profile.update", **members, expected_revision=None)
    world.same(1, _profile_revision(world, subject_id), "memory.profile.update: a new document does not start at 1")
    with world.unchanged():
        _refused(world, "profile.update", members, None, 1)
    world.root.do("profile.update", **members, expected_revision=1)
    world.same(2, _profile_revision(world, subject_id), "memory.profile.update: an accepted change did not add exactly 1")


def test_each_profile_kind_has_its_own_revision(bench: Bench) -> None:
    """Documents of other kinds and other subjects do not move a document's revision."""
    world = bench.world()
    subjects = [world.scope(subject)["subject_id"] for subject in ("u1", "u2")]
    for subject_id in subjects:
        for kind in ("preferences", "Preferences", "personality"):
            members = {"subject_id": subject_id, "kind": kind, "content": {"text": "a"}}
            world.root.do("profile.update", **members, expected_revision=None)
            world.root.do("profile.update", **members, expected_revision=1)
    for subject_id in subjects:
        documents = world.root.do("profile.get", subject_id=subject_id, kinds=["preferences", "Preferences", "personality"])
        revisions = [document["revision"] for document in documents["documents"]]
        world.same([2, 2, 2], revisions, "memory.profile.update: documents do not have revisions of their own")


# -- walks


WALKS = ("update", "profile")


@given(row=st.sampled_from(WALKS), offsets=st.lists(st.integers(-2, 2), max_size=10))
def test_the_revision_counts_the_accepted_changes(bench: Bench, row: str, offsets: list[int]) -> None:
    """Along any walk of exact, stale and ahead requests the revision is 1 and one more for each accepted change."""
    world, guarded = bench.world(), GUARDED[row]
    members, object_id = guarded.build(world)
    actual = guarded.read(world, object_id)
    for number, offset in enumerate(offsets):
        changed = {**members, "content": {"text": f"{number}"}}
        expected = max(1, actual + offset)
        if expected == actual:
            world.root.do(guarded.stem, **changed, expected_revision=expected)
            actual += 1
        else:
            _refused(world, guarded.stem, changed, expected, actual)
        world.same(actual, guarded.read(world, object_id), f"memory.{guarded.stem}: the revision does not count the changes")


@given(content=contents())
def test_equal_values_are_a_change_too(bench: Bench, content: Any) -> None:
    """An update to equal values adds exactly 1, and so does a profile update to equal content."""
    world = bench.world()
    record_id = world.root.create(content=content)
    for revision in (1, 2):
        world.root.do("records.update", record_id=record_id, expected_revision=revision, content=content)
        world.same(revision + 1, _record_revision(world, record_id), "memory.records.update: equal content did not add exactly 1")
    world.root.do("records.update", record_id=record_id, expected_revision=3, kind="note")
    world.same(4, _record_revision(world, record_id), "memory.records.update: an equal kind did not add exactly 1")
    world.root.do("records.update", record_id=record_id, expected_revision=4, content=content, kind="note")
    world.same(5, _record_revision(world, record_id), "memory.records.update: equal kind and content did not add exactly 1")


def test_every_object_starts_at_one(bench: Bench) -> None:
    """Revision starts at 1 and grows by exactly 1 with each accepted change, of grants and context fences too."""
    world = bench.world()
    grant_id = world.root.grant(world.stranger("A"), capabilities=["recall"])
    world.same(1, _grant_revision(world, grant_id), "memory.grants.grant: a grant does not start at 1")
    world.root.do("grants.revoke", grant_id=grant_id)
    world.same(2, _grant_revision(world, grant_id), "memory.grants.revoke: a revocation did not add exactly 1")
    subject_id = world.root.ensure(f"subject-{world.fresh_key()}")
    record_id, candidate_id = world.root.create(), world.root.capture()
    for read, object_id in (
        (_subject_revision, subject_id),
        (_record_revision, record_id),
        (_candidate_revision, candidate_id),
    ):
        world.same(1, read(world, object_id), "a new object does not start at revision 1")
    world.root.ensure(subject_id)
    world.same(1, _subject_revision(world, subject_id), "memory.subjects.ensure: an existing subject got a new revision")


def _grant_revision(world: World, grant_id: str) -> int:
    grants = {grant["grant_id"]: grant for grant in world.root.all("grants.list", view="admin")}
    return int(grants[grant_id]["revision"])


# -- refused for anything else


def _fenced_context(world: World, action: str) -> None:
    world.root.do("subjects.fence", target={"type": "context", "context_id": world.scope()["context_id"]}, action=action)


def test_a_change_refused_for_another_reason_keeps_the_revision(bench: Bench) -> None:
    """A refused request changes nothing, the revision least of all: the same expected revision commits afterwards."""
    world = bench.world()
    record_id = world.root.create()
    members: Members = {"record_id": record_id, "expected_revision": 1}
    _fenced_context(world, "fence")
    with world.unchanged():
        world.root.refused("records.update", Code.CONTEXT_FENCED, **members, content={"text": "b"})
        world.root.refused("records.delete", Code.CONTEXT_FENCED, **members)
    _fenced_context(world, "unfence")
    scenes.freeze(world)
    with world.unchanged():
        world.root.refused("records.update", Code.SPACE_FROZEN, **members, content={"text": "b"})
    scenes.unfreeze(world)
    with world.unchanged():
        world.root.refused("records.update", Code.INVALID_VALUE, **members, content={"text": "b", "cognition": [{}]})
        world.root.refused("records.promote", Code.WRONG_STATE, **members, to_scope=world.scope())
        world.stranger("B").denied("records.update", **members, content={"text": "b"})
    world.root.do("records.update", **members, content={"text": "b"})
    world.same(2, _record_revision(world, record_id), "memory.records.update: an accepted change did not add exactly 1")


# -- the generation, and a reflection's basis, answer by the same codes


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_an_activation_commits_against_the_exact_generation_alone(bench: Bench) -> None:
    """The same pair of codes answers an expected generation below and above the space's; the exact one commits."""
    world = bench.world()
    world.root.do("imports.activate", **scenes.plain_request(world, "imports.activate"))
    scenes.unfreeze(world)
    request = scenes.plain_request(world, "imports.activate")
    actual = request["expected_authority_generation"]
    with world.unchanged():
        for expected, code in ((actual - 1, Code.REVISION_STALE), (actual + 1, Code.REVISION_AHEAD), (FAR, Code.REVISION_AHEAD)):
            world.root.refused("imports.activate", code, **{**request, "expected_authority_generation": expected})
    world.root.do("imports.activate", **request)
    generation = scenes.generation(world)
    world.same(actual + 1, generation, "memory.imports.activate: it did not add exactly 1 to the generation")


NUMBERED: Mapping[str, tuple[str, Members]] = {
    "record": ("records.update", {"kind": "fact"}),
    "profile": ("profile.update", {"kind": "preferences", "content": {"text": "a"}}),
    "subject": ("subjects.fence", {}),
    "space": ("spaces.freeze", {}),
}
"""What has more than a few revisions: how it gets another one, and which other members that takes."""


def _numbered(world: World, kind: str) -> Callable[[int], tuple[str, Members]]:
    """Make a thing at revision 1, and return what gives the change of it at a revision."""
    stem, members = NUMBERED[kind]
    if kind == "record":
        members = {**members, "record_id": world.root.create()}
    if kind == "profile":
        members = {**members, "subject_id": world.scope()["subject_id"]}
        world.root.do(stem, **members, expected_revision=None)
    if kind == "subject":
        members = {"target": {"type": "subject", "subject_id": world.scope()["subject_id"]}}

    def change(revision: int) -> tuple[str, Members]:
        odd = revision % 2 == 1
        if kind == "space":
            return "spaces.freeze" if odd else "spaces.unfreeze", members
        return stem, {**members, "action": "fence" if odd else "unfence"} if kind == "subject" else members

    return change


@pytest.mark.parametrize("kind", NUMBERED)
def test_revisions_are_compared_as_numbers(bench: Bench, kind: str) -> None:
    """Whatever its digits, a revision below the stored one is stale and one above it is ahead; past nine and ninety-nine too."""
    world = bench.world()
    change = _numbered(world, kind)
    first = _space_revision(world, "") if kind == "space" else 1
    for stored in range(first, first + 12):
        stem, members = change(stored - first + 1)
        for expected in {1, 2, 9, 10, 11, stored - 1, stored + 1, 99, 100, 1000} - {0, stored}:
            code = Code.REVISION_STALE if expected < stored else Code.REVISION_AHEAD
            world.root.refused(stem, code, **members, expected_revision=expected)
        receipt = world.root.do(stem, **members, expected_revision=stored)
        world.same(stored + 1, receipt["affected"][0]["revision"], f"the revision of a {kind} after {stored}")
