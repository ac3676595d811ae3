"""Calls at once on one object, one key, one space: they are answered as if they came one after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.machine import draws
from conformance.machine.acts import journeys, lives, storms, transfer
from conformance.machine.acts.candidates import a_candidate
from conformance.machine.acts.records import UNKNOWN, a_record
from conformance.machine.stage import Stage
from conformance.machine.together import Sent, at_once
from conformance.oracle import fences


def at_the_same_time(stage: Stage) -> None:
    """Send two or three calls at once that want the same."""
    space_id = stage.space_id()
    sent = stage.pick(CROWDS)(stage, space_id)
    at_once(stage.duo, sent)
    record = a_record(stage, space_id)
    stage.by_root(space_id, "records.get", record_id=record["record_id"])


def activations(stage: Stage) -> None:
    """Send activations at once, of one import or of two: the generation that they expect is there for one of them."""
    space_id = stage.space_ids[0]
    if stage.duo.held:
        return
    lives.a_place(stage, space_id)
    parcel = journeys.exported(stage, space_id)
    if parcel is None:
        return
    staged = [journeys.staged(stage, space_id, parcel) for _ in range(stage.random.randint(1, 2))]
    storms.switch(stage, space_id, fences.ACTIVE)
    generation = stage.space(space_id).facts["authority_generation"]
    sent = [
        _call(
            stage, space_id, "imports.activate", import_id=stage.pick(staged) or UNKNOWN,
            expected_authority_generation=generation + stage.pick((0, 0, 1)),
        )
        for _ in range(2)
    ]  # fmt: skip
    at_once(stage.duo, [*sent, sent[0]] if stage.chance(0.3) else sent)
    storms.switch(stage, space_id, fences.FROZEN)
    transfer.look(stage, space_id)


def _call(stage: Stage, space_id: str, stem: str, **members: Any) -> Sent:
    return stage.roots[space_id], f"memory.{stem}", stage.request(stem, space_id, members)


def _updates(stage: Stage, space_id: str) -> list[Sent]:
    record = a_record(stage, space_id)
    expected = {"record_id": record["record_id"], "expected_revision": record["revision"]}
    change = _call(stage, space_id, "records.delete", **expected)
    return [_call(stage, space_id, "records.update", **expected, content=draws.content(stage)) for _ in range(2)] + [change]


def _decisions(stage: Stage, space_id: str) -> list[Sent]:
    candidate = a_candidate(stage, space_id)
    expected = {"candidate_id": candidate["candidate_id"], "expected_revision": candidate["revision"]}
    promote = {"action": "promote", "kind": "note"}
    first = _call(stage, space_id, "candidates.review", **expected, decision=promote)
    second = _call(stage, space_id, "candidates.review", **expected, decision={**promote, "kind": "fact"})
    return [first, second, _call(stage, space_id, "candidates.dismiss", **expected)][: stage.random.randint(2, 3)]


def _creation(stage: Stage, space_id: str) -> Sent:
    members = {"kind": "note", "content": draws.content(stage), "scope": draws.scope(stage)}
    return _call(stage, space_id, "records.create", **members)


def _same_key(stage: Stage, space_id: str) -> list[Sent]:
    one = _creation(stage, space_id)
    other = (one[0], one[1], {**one[2], "kind": "fact"}) if stage.chance(0.3) else one
    return [one, other, one][: stage.random.randint(2, 3)]


def _creations(stage: Stage, space_id: str) -> list[Sent]:
    return [_creation(stage, space_id) for _ in range(3)]


def _freeze(stage: Stage, space_id: str) -> list[Sent]:
    revision = stage.space(space_id).facts["revision"]
    freeze = _call(stage, space_id, "spaces.freeze", expected_revision=revision)
    return [freeze, _creation(stage, space_id)]


def _profiles(stage: Stage, space_id: str) -> list[Sent]:
    subject_id, kind = draws.subject(stage), stage.pick(stage.names.kinds)
    found = stage.space(space_id).profiles.get((subject_id, kind))
    expected = None if found is None else found["revision"]
    members = {"subject_id": subject_id, "kind": kind, "expected_revision": expected}
    return [_call(stage, space_id, "profile.update", **members, content=draws.profile_content(stage)) for _ in range(2)]


CROWDS: tuple[Callable[[Stage, str], list[Sent]], ...] = (_updates, _decisions, _same_key, _creations, _freeze, _profiles)
