"""The whole life of one thing, step by step: what short walks seldom come to the end of.

A record is written or reviewed, read, changed, deleted, and then everything is tried at what is left of it. Each step is still
drawn; only that the next one concerns the same record is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.machine import draws
from conformance.machine.acts import storms
from conformance.machine.duo import Actor
from conformance.machine.stage import Stage
from conformance.oracle import fences
from conformance.oracle.state import Doc
from conformance.wire.vocabulary import Flag

AFTER_DEATH = 5


def of_a_record(stage: Stage) -> None:
    """Let a record live and die, and try everything at its tombstone."""
    space_id = stage.space_id()
    scope = a_place(stage, space_id)
    record = born(stage, space_id, scope)
    if record is None:
        return
    stage.pick((_nothing, _changed, _moved))(stage, space_id, record)
    record = die(stage, space_id, record)
    for after in stage.some(AFTER, AFTER_DEATH):
        after(stage, space_id, record)


def a_place(stage: Stage, space_id: str) -> Doc:
    """Give a placement that takes writes: the space thawed, the subject made and open, the context not fenced."""
    storms.switch(stage, space_id, fences.FROZEN)
    scope = draws.scope(stage)
    subject_id = scope["subject_id"]
    stage.by_root(space_id, "subjects.ensure", subject_id=subject_id)
    subject = stage.space(space_id).subjects.get(subject_id)
    if subject is not None and subject["state"] == fences.FENCED:
        _unfence(stage, space_id, {"type": "subject", "subject_id": subject_id}, expected_revision=subject["revision"])
    context_id = scope.get("context_id")
    if context_id is not None and fences.is_fenced_context(stage.space(space_id), context_id):
        _unfence(stage, space_id, {"type": "context", "context_id": context_id})
    return scope


def _unfence(stage: Stage, space_id: str, target: Doc, **expected: Any) -> None:
    stage.by_root(space_id, "subjects.fence", target=target, action="unfence", **expected)


def _content(stage: Stage) -> Doc:
    made = draws.content(stage)
    return {**made, "cognition": [draws.cognition(stage)]} if stage.serves(Flag.COGNITION) and stage.chance(0.6) else made


def born(stage: Stage, space_id: str, scope: Doc) -> Doc | None:
    """Write a record, or capture and review it; None where it was refused."""
    members = {"kind": "note", "content": _content(stage), "scope": scope, **draws.extensions(stage)}
    if stage.chance(0.5):
        seen = stage.by_root(space_id, "records.create", **members)
        return _made(stage, space_id, seen, 0)
    author = _author(stage, space_id, scope)
    seen = stage.ask(author, "capture", space_id, **members)
    if seen.error is not None:
        return None
    candidate_id = seen.payload["receipt"]["affected"][0]["id"]
    decision = {"action": "promote", "kind": "note"}
    seen = stage.by_root(space_id, "candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    record = _made(stage, space_id, seen, 1)
    if record is not None:
        stage.ask(author, "records.get", space_id, record_id=record["record_id"])
    return record


def _author(stage: Stage, space_id: str, scope: Doc) -> Actor:
    """Pick who captures; perhaps give it to somebody, and nothing else."""
    if stage.chance(0.6):
        return stage.someone(space_id)
    author = min(stage.people, key=lambda one: len(stage.space(space_id).grants.of(one.principal_id)))
    members = {"capabilities": ["capture"], "subject_ids": [scope["subject_id"]], "shared_access": "write"}
    stage.by_root(space_id, "grants.grant", grantee_id=author.principal_id, **members)
    return author


def _made(stage: Stage, space_id: str, seen: Any, place: int) -> Doc | None:
    if seen.error is not None:
        return None
    return stage.space(space_id).records.get(seen.payload["receipt"]["affected"][place]["id"])


def _expected(record: Doc) -> Doc:
    return {"record_id": record["record_id"], "expected_revision": record["revision"]}


def die(stage: Stage, space_id: str, record: Doc) -> Doc:
    """Delete a record as it is now; give what it was."""
    record = stage.space(space_id).records.rows[record["record_id"]].doc
    stage.by_root(space_id, "records.delete", **_expected(record))
    return record


# -- in its life


def _nothing(_stage: Stage, _space_id: str, _record: Doc) -> None:
    return


def _changed(stage: Stage, space_id: str, record: Doc) -> None:
    stage.by_root(space_id, "records.update", **_expected(record), content=_content(stage))


def _moved(stage: Stage, space_id: str, record: Doc) -> None:
    stage.by_root(space_id, "records.promote", **_expected(record), to_scope=draws.scope(stage, record["scope"]["subject_id"]))


CHANGES = (_changed, _changed, _moved)


# -- after its death


def _got(stage: Stage, space_id: str, record: Doc) -> None:
    stage.by_root(space_id, "records.get", record_id=record["record_id"])


def _tried_again(stage: Stage, space_id: str, record: Doc) -> None:
    """Change what is deleted, as root with the revision that it has, or as somebody who may not even see it."""
    actor = stage.roots[space_id] if stage.chance(0.7) else stage.pick(stage.people)
    dead = stage.space(space_id).records.rows[record["record_id"]].doc
    other = draws.scope(stage, record["scope"]["subject_id"])
    for stem, more in (("records.update", {"kind": "fact"}), ("records.promote", {"to_scope": other}), ("records.delete", {})):
        if stage.chance(0.6):
            stage.ask(actor, stem, space_id, **_expected(dead), **more)


def _listed(stage: Stage, space_id: str, record: Doc) -> None:
    selection = {"subject_id": record["scope"]["subject_id"], "mode": "all_authorized"}
    asked: dict[str, Any] = {"selection": selection}
    if stage.chance(0.7):
        asked["include_tombstones"] = True
    told = record["content"].get("cognition")
    if told and stage.serves(Flag.COGNITION) and stage.chance(0.6):
        asked["cognition_filter"] = {"holder_id": told[0]["attribution"]["holder_id"]}
    stage.listed(stage.roots[space_id], "records.list", space_id, **asked)


def _recalled(stage: Stage, space_id: str, record: Doc) -> None:
    selection = {"subject_id": record["scope"]["subject_id"], "mode": "all_authorized"}
    stage.by_root(
        space_id,
        "recall",
        selection=selection,
        query={"text": record["content"]["text"] or "tea"},
        budget={"max_records": 9},
    )


def _looked_back(stage: Stage, space_id: str, record: Doc) -> None:
    """Read the candidate that it came from."""
    candidate_id = record["provenance"].get("candidate_id")
    if candidate_id is not None:
        stage.by_root(space_id, "candidates.get", candidate_id=candidate_id)


def _sent_again(stage: Stage, space_id: str, record: Doc) -> None:
    """Send again what made it or changed it."""
    receipts = stage.space(space_id).receipts
    for done in [one for one in stage.duo.done[-12:] if not one.code and one.request["space_id"] == space_id]:
        receipt = receipts.by_key((done.actor.principal_id, done.op, done.request["idempotency_key"]))
        if receipt is not None and record["record_id"] in [entry["id"] for entry in receipt["affected"]]:
            stage.send(done.actor, done.op, done.request)


AFTER: tuple[Callable[[Stage, str, Doc], None], ...] = (
    _got, _tried_again, _tried_again, _listed, _listed, _recalled, _looked_back, _sent_again,
)  # fmt: skip
