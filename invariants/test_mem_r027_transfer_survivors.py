"""MEM-R027: three things of the receiving space survive an activation, whatever the bundle holds (section 7, Transfer).

A record tombstoned there stays its tombstone, an archived subject stays archived, a candidate consumed there stays consumed;
tombstones and consumed candidates with their subjects, also where the bundle lacks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import moving, scenes, sealing
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.expect import CheckFailed
from conformance.sealing import Doc, Parcel
from conformance.wire.vocabulary import Code
from conformance.world import World


@dataclass
class Scene:
    """A world whose space was exported, and what was in it then: ids of two records and two candidates of each subject."""

    world: World
    records: dict[str, list[str]] = field(default_factory=dict)
    candidates: dict[str, list[str]] = field(default_factory=dict)

    @property
    def root(self) -> Caller:
        """The world's root."""
        return self.world.root

    def revision(self, record_id: str) -> int:
        """Return a record's revision now."""
        return int(self.root.read(record_id)["revision"])


def scene(bench: Bench) -> Scene:
    """Return a world with two subjects, two records and two candidates of each, a profile and a fenced context."""
    made = Scene(bench.world())
    for subject in ("u1", "u2"):
        scope = made.world.scope(subject)
        made.records[subject] = [made.root.create(scope=scope, content={"text": f"{subject} {n}"}) for n in range(2)]
        made.candidates[subject] = [made.root.capture(scope=scope) for _ in range(2)]
    profile(made, "voice", None)
    context(made, "c8", "fence")
    return made


# -- what may happen after the export


def profile(made: Scene, kind: str, revision: int | None) -> None:
    """Write a profile of the first subject."""
    members: dict[str, Any] = {"subject_id": made.world.name("u1"), "kind": kind, "content": {"text": "b"}}
    made.root.do("profile.update", expected_revision=revision, **members)


def context(made: Scene, name: str, action: str) -> None:
    """Fence or unfence a context."""
    made.root.do("subjects.fence", target={"type": "context", "context_id": made.world.name(name)}, action=action)


def fence(made: Scene, subject: str, action: str) -> None:
    """Fence or archive a subject."""
    subject_id = made.world.name(subject)
    made.root.ensure(subject_id)
    _fence(made.world, subject_id, action)


def retire(made: Scene, subject: str) -> None:
    """Make a subject of a kind, fence it and archive it."""
    made.root.ensure(made.world.name(subject), kind="person:retired")
    for action in ("fence", "archive"):
        fence(made, subject, action)


def update(made: Scene, subject: str, number: int) -> None:
    """Update a record."""
    record_id = made.records[subject][number]
    made.root.do("records.update", record_id=record_id, expected_revision=made.revision(record_id), content={"text": "new"})


def promote(made: Scene, subject: str, number: int) -> None:
    """Move a record."""
    record_id = made.records[subject][number]
    to_scope = {"subject_id": made.world.name(subject), "context_id": made.world.name("c5")}
    made.root.do("records.promote", record_id=record_id, expected_revision=made.revision(record_id), to_scope=to_scope)


def delete(made: Scene, subject: str, number: int) -> None:
    """Delete a record."""
    record_id = made.records[subject][number]
    made.root.do("records.delete", record_id=record_id, expected_revision=made.revision(record_id))


def move_and_delete(made: Scene, subject: str, number: int) -> None:
    """Delete a record where it was moved to."""
    promote(made, subject, number)
    delete(made, subject, number)


def delete_rest(made: Scene, subject: str) -> None:
    """Delete every record of a subject that is not deleted yet."""
    for number, record_id in enumerate(made.records[subject]):
        if "tombstone" not in made.root.read(record_id):
            delete(made, subject, number)


def create(made: Scene, subject: str) -> None:
    """Write another record."""
    made.root.create(scope=made.world.scope(subject))


def review(made: Scene, subject: str, number: int, decision: Mapping[str, Any]) -> None:
    """Decide on a candidate."""
    candidate_id = made.candidates[subject][number]
    made.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def dismiss(made: Scene, subject: str, number: int) -> None:
    """Dismiss a candidate."""
    scenes.dismiss(made.world, made.candidates[subject][number])


def newcomer(made: Scene, subject: str, *, deleted: bool, consumed: bool) -> None:
    """Make a subject that the export lacks, with a record and a candidate, deleted and consumed or not."""
    scope = made.world.scope(subject)
    made.records[subject], made.candidates[subject] = [made.root.create(scope=scope)], [made.root.capture(scope=scope)]
    if deleted:
        delete(made, subject, 0)
    if consumed:
        review(made, subject, 0, {"action": "promote"})


LATER: Mapping[str, Callable[[Scene], None]] = {
    "update": lambda made: update(made, "u1", 0),
    "promote": lambda made: promote(made, "u1", 0),
    "move_and_delete": lambda made: move_and_delete(made, "u1", 1),
    "delete": lambda made: delete(made, "u2", 1),
    "delete_all_of_u2": lambda made: delete_rest(made, "u2"),
    "create": lambda made: create(made, "u1"),
    "review_promote": lambda made: review(made, "u1", 0, {"action": "promote"}),
    "review_discard": lambda made: review(made, "u1", 1, {"action": "discard"}),
    "dismiss": lambda made: dismiss(made, "u2", 0),
    "profile": lambda made: profile(made, "voice", 1),
    "other_profile": lambda made: profile(made, "tone", None),
    "unfence_context": lambda made: context(made, "c8", "unfence"),
    "fence_context": lambda made: context(made, "c9", "fence"),
    "new_subject": lambda made: newcomer(made, "u3", deleted=False, consumed=False),
    "new_subject_deleted": lambda made: newcomer(made, "u4", deleted=True, consumed=False),
    "new_subject_consumed": lambda made: newcomer(made, "u5", deleted=False, consumed=True),
    "new_subject_archived": lambda made: fence(made, "u6", "archive"),
    "new_subject_of_a_kind_retired": lambda made: retire(made, "u7"),
    "fence": lambda made: fence(made, "u1", "fence"),
    "archive": lambda made: fence(made, "u2", "archive"),
}
"""What may happen after the export, in an order in which each can happen after those before it."""


# -- what is to be there after the activation


def expected(old: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is to be there after the older items ``old`` were activated where ``now`` was; subjects apart."""
    kept = {name: value for name, value in now.items() if survives(name, value)}
    return {**{name: value for name, value in old.items() if not name.startswith("subject")}, **kept}


def survives(name: str, value: Doc) -> bool:
    """Say whether something of the receiving space stays as it is: tombstones, consumed candidates and receipts."""
    kind = name.split(" ")[0]
    return kind == "receipt" or (kind == "record" and "tombstone" in value) or (kind == "candidate" and "outcome" in value)


def subjects(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the subjects among values, by their id."""
    return {value["subject_id"]: value for name, value in found.items() if name.startswith("subject ")}


def needed(found: Mapping[str, Any]) -> set[str]:
    """Return the subjects of the tombstones and consumed candidates among values."""
    survivors = [value for name, value in found.items() if survives(name, value) and not name.startswith("receipt")]
    return {value[member]["subject_id"] for value in survivors for member in ("scope", "capture_scope") if member in value}


def subjects_are_right(made: Scene, old: Mapping[str, Any], now: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Expect the brought subjects, the archived ones as such, and those that survivors need."""
    before, brought, found = subjects(now), subjects(old), subjects(after)
    archived = {subject_id for subject_id, value in before.items() if value["state"] == "archived"}
    made.world.same_set(sorted({*brought, *archived, *needed(now)}), sorted(found), "not the right subjects are there")
    for subject_id, value in found.items():
        if subject_id in archived:
            made.world.same("archived", value["state"], "an archived subject did not stay archived")
        elif subject_id in brought:
            made.world.same(brought[subject_id], value, "a brought subject is not verbatim")


def judged(made: Scene, parcel: Parcel, done: list[str]) -> None:
    """Activate an older export after what was done, and expect what it holds and what survives, and nothing else."""
    items = sealing.items_of(parcel[1])
    # What the export lacks is looked at too: a fresh export names it all.
    everything = [*items, *sealing.items_of(moving.exported(made.world)[1])]
    old, now = sealing.carried(items), moving.seen(made.world, everything)
    moving.activated(made.world, parcel)
    after = moving.seen(made.world, everything)
    try:
        subjects_are_right(made, old, now, after)
        without = {name: value for name, value in after.items() if not name.startswith("subject ")}
        made.world.same(expected(old, now), without, "not the right items are there")
    except CheckFailed as failure:
        raise failure.retold(f"{failure.what}, after: {', '.join(done)}") from None


@given(names=st.lists(st.sampled_from(list(LATER)), unique=True, max_size=6))
@pytest.mark.examples(0.4)
def test_what_survives_and_nothing_else(bench: Bench, names: list[str]) -> None:
    """Whatever happened after an export, its activation brings back what it holds but for what survives in the space."""
    made = scene(bench)
    parcel = moving.exported(made.world)
    done = [name for name in LATER if name in names]
    for name in done:
        LATER[name](made)
    judged(made, parcel, done)


@pytest.mark.parametrize("name", LATER)
def test_each_change_and_its_survivors(bench: Bench, name: str) -> None:
    """One change after an export: its activation undoes it, or it survives."""
    made = scene(bench)
    parcel = moving.exported(made.world)
    LATER[name](made)
    judged(made, parcel, [name])


def final(made: Scene) -> None:
    """Expect the survivors to be as final as they were: no update, no review, no fence action."""
    dead, consumed = made.records["u1"][0], made.candidates["u1"][0]
    root, archived = made.root, made.world.name("u2")
    tombstone, outcome = root.read(dead), root.candidate(consumed)
    made.world.same({"text": ""}, tombstone["content"], "a tombstone has content after an activation")
    change = {"record_id": dead, "expected_revision": tombstone["revision"]}
    root.refused("records.update", Code.RECORD_TOMBSTONED, content={"text": "back"}, **change)
    root.refused("records.delete", Code.RECORD_TOMBSTONED, **change)
    decided = {"candidate_id": consumed, "expected_revision": outcome["revision"]}
    root.refused("candidates.review", Code.CANDIDATE_CONSUMED, decision={"action": "promote"}, **decided)
    if made.world.has("candidates.dismiss"):
        root.refused("candidates.dismiss", Code.CANDIDATE_CONSUMED, **decided)
    revision = root.do("subjects.get", subject_id=archived)["subject"]["revision"]
    target = {"type": "subject", "subject_id": archived}
    for action in ("unfence", "archive", "fence"):
        members = {"target": target, "action": action, "expected_revision": revision}
        root.refused("subjects.fence", Code.SUBJECT_ARCHIVED, **members)
    members = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": archived}}
    root.refused("records.create", Code.SUBJECT_ARCHIVED, **members)
    living = [record["record_id"] for record in root.all("records.list", selection=made.world.everything())]
    made.world.expect(dead not in living, "a tombstone is listed as living after an activation", seen=living)


@pytest.mark.needs(controls=["restart"])
def test_survivors_are_final(bench: Bench) -> None:
    """A restore of an older export, with a restart before and after, opens nothing that was closed (field bug F06)."""
    made = scene(bench)
    parcel = moving.exported(made.world)
    delete(made, "u1", 0)
    review(made, "u1", 0, {"action": "promote"})
    fence(made, "u2", "archive")
    bench.levers.restart()
    for _ in range(2):
        moving.activated(made.world, parcel)
        final(made)
        # The same again: what survived once survives a second activation.
        made.root.do("records.update", record_id=made.records["u1"][1], expected_revision=1, content={"text": "restored"})
    bench.levers.restart()
    final(made)


def test_deletion_is_not_lost_by_two_moves(bench: Bench) -> None:
    """A record deleted in one space stays deleted in a space that holds its tombstone, when an older export arrives there."""
    here, there = moving.two_spaces(bench)
    record_id = here.root.create(content={"text": "gone"})
    older = moving.exported(here)
    here.root.do("records.delete", record_id=record_id, expected_revision=1)
    moving.activated(there, moving.exported(here))
    tombstone = there.root.read(record_id)
    there.same({"text": ""}, tombstone["content"], "the tombstone did not travel as one")
    moving.activated(there, older)
    there.same(tombstone, there.root.read(record_id), "an older export revived what a newer one had deleted")


def test_survivors_hold_against_what_went_further_elsewhere(bench: Bench) -> None:
    """Deleted, decided or archived here, it stays so when a bundle brings it changed more often, decided or fenced elsewhere."""
    here, there = moving.two_spaces(bench)
    scope = here.scope("u2")
    record_id, candidate_id = here.root.create(scope=scope), here.root.capture(scope=scope)
    moving.activated(there, moving.exported(here))
    _go_further(there, record_id, candidate_id, scope["subject_id"])
    newer = moving.exported(there)
    here.root.do("records.delete", record_id=record_id, expected_revision=1)
    here.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision={"action": "discard"})
    _fence(here, scope["subject_id"], "archive")
    kept = here.root.read(record_id), here.root.candidate(candidate_id)
    moving.activated(here, newer)
    here.same(kept[0], here.root.read(record_id), "a record that was deleted here came back from where it was changed")
    here.same(kept[1], here.root.candidate(candidate_id), "a candidate that was decided here took a decision from elsewhere")
    subject = here.root.do("subjects.get", subject_id=scope["subject_id"])["subject"]
    here.same("archived", subject["state"], "a subject that was archived here was opened by a bundle")


def _go_further(world: World, record_id: str, candidate_id: str, subject_id: str) -> None:
    """Change what was brought, each more than once where it can be."""
    for revision in (1, 2, 3):
        content = {"text": f"elsewhere {revision}"}
        world.root.do("records.update", record_id=record_id, expected_revision=revision, content=content)
    scenes.dismiss(world, candidate_id)
    for action in ("fence", "unfence", "fence", "unfence"):
        _fence(world, subject_id, action)


def _fence(world: World, subject_id: str, action: str) -> None:
    revision = world.root.do("subjects.get", subject_id=subject_id)["subject"]["revision"]
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action=action, expected_revision=revision)


@pytest.mark.needs(controls=["hold"])
def test_survivors_are_those_of_the_settling(bench: Bench) -> None:
    """What is deleted, decided or archived while an activation is pending survives it too."""
    world = bench.world()
    record_id, candidate_id, subject_id = world.root.create(), world.root.capture(), world.scope("u2")["subject_id"]
    import_id = scenes.stage(world, *moving.exported(world))
    scenes.freeze(world)
    activation = moving.activation(world, import_id)
    bench.levers.hold(True)
    try:
        pending = moving.held(world, activation)
        scenes.unfreeze(world)
        world.root.do("records.delete", record_id=record_id, expected_revision=1)
        decision = {"action": "discard"}
        world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
        target = {"type": "subject", "subject_id": subject_id}
        world.root.do("subjects.fence", target=target, action="archive", expected_revision=1)
        scenes.freeze(world)
    finally:
        bench.levers.hold(False)
    world.same("committed", world.root.settled(pending)["state"], "a held activation did not commit")
    world.expect("tombstone" in world.root.read(record_id), "an activation revived what was deleted while it was pending")
    world.same("discarded", world.root.candidate(candidate_id)["state"], "an activation reopened what was decided while pending")
    state = world.root.do("subjects.get", subject_id=subject_id)["subject"]["state"]
    world.same("archived", state, "an activation reopened a subject that was archived while it was pending")
