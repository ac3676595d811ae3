"""Records: their life from creation to tombstone, and how they are read."""

from __future__ import annotations

from typing import Any

from conformance.machine import draws
from conformance.machine.stage import Stage
from conformance.oracle import fences
from conformance.oracle.state import Doc

UNKNOWN = "no-such-id"


def create(stage: Stage) -> None:
    """Write a record."""
    space_id = stage.space_id()
    scope = draws.scope(stage)
    if stage.chance(0.7) and scope["subject_id"] not in stage.space(space_id).subjects:
        stage.by_root(space_id, "subjects.ensure", subject_id=scope["subject_id"])
    members = {"kind": stage.pick(draws.RECORD_KINDS), "content": draws.any_content(stage), "scope": scope}
    actor = stage.someone(space_id)
    seen = stage.ask(actor, "records.create", space_id, **members, **draws.source(stage), **draws.extensions(stage))
    if seen.error is None and stage.chance(0.4):
        stage.ask(actor, "records.get", space_id, record_id=seen.payload["receipt"]["affected"][0]["id"])


def a_record(stage: Stage, space_id: str, *, dead: float = 0.15) -> Doc:
    """Pick a record, now and then a tombstone; a made-up one where there is none."""
    found = stage.space(space_id).records.all()
    if not found or stage.chance(0.02):
        return {"record_id": UNKNOWN, "revision": 1, "scope": draws.scope(stage), "kind": "note", "content": {"text": ""}}
    living = [record for record in found if "tombstone" not in record]
    gone = [record for record in found if "tombstone" in record]
    return stage.pick(gone if gone and (not living or stage.chance(dead)) else living)


def get(stage: Stage) -> None:
    """Get a record, as root or another."""
    space_id = stage.space_id()
    stage.ask(stage.someone(space_id), "records.get", space_id, record_id=a_record(stage, space_id, dead=0.3)["record_id"])


def update(stage: Stage) -> None:
    """Update a record's content, kind or both, sometimes to what it is."""
    space_id = stage.space_id()
    record = a_record(stage, space_id)
    given: dict[str, Any] = {"content": draws.any_content(stage), "kind": stage.pick(draws.RECORD_KINDS)}
    if stage.chance(0.15):
        given = {"content": record["content"], "kind": record["kind"]}
    chosen = {name: given[name] for name in stage.some(sorted(given), 2)}
    _change(stage, "records.update", space_id, record, **chosen)


def delete(stage: Stage) -> None:
    """Delete a record."""
    space_id = stage.space_id()
    record = a_record(stage, space_id)
    _change(stage, "records.delete", space_id, record)
    candidate_id = record.get("provenance", {}).get("candidate_id")
    if candidate_id is not None and stage.chance(0.6):
        stage.by_root(space_id, "candidates.get", candidate_id=candidate_id)
    if stage.chance(0.3):
        _again(stage, space_id, record["record_id"])


def _again(stage: Stage, space_id: str, record_id: str) -> None:
    """Send again what made or changed a record before it was deleted."""
    receipts = stage.space(space_id).receipts
    for done in [one for one in stage.duo.done if not one.code and one.op.startswith("memory.records")][-40:]:
        receipt = receipts.by_key((done.actor.principal_id, done.op, done.request["idempotency_key"]))
        made = [] if receipt is None else [entry["id"] for entry in receipt["affected"]]
        if record_id in made and done.request["space_id"] == space_id and stage.chance(0.6):
            stage.send(done.actor, done.op, done.request)


def promote(stage: Stage) -> None:
    """Move a record, mostly within its subject."""
    space_id = stage.space_id()
    record = a_record(stage, space_id)
    to_scope = draws.scope(stage, None if stage.chance(0.12) else record["scope"]["subject_id"])
    _change(stage, "records.promote", space_id, record, to_scope=to_scope)


def _change(stage: Stage, stem: str, space_id: str, record: Doc, **members: Any) -> None:
    expected = draws.revision(stage, record["revision"])
    actor = stage.someone(space_id)
    stage.ask(actor, stem, space_id, record_id=record["record_id"], expected_revision=expected, **members)
    if stage.chance(0.5):
        stage.by_root(space_id, "records.get", record_id=record["record_id"])


def list_records(stage: Stage) -> None:
    """List records along a whole chain, or begin one that goes on later."""
    space_id = stage.space_id()
    members = {"selection": draws.selection(stage), **draws.filters(stage)}
    if stage.chance(0.4):
        members["include_tombstones"] = stage.chance(0.8)
    stage.listed(stage.someone(space_id), "records.list", space_id, draws.limits(stage), **members)


def recall(stage: Stage) -> None:
    """Recall within a budget: of few records, of few bytes, of both, or of plenty."""
    space_id = stage.space_id()
    budget: dict[str, int] = {}
    if stage.chance(0.6):
        budget["max_records"] = stage.random.choice((1, 2, 3, 50))
    if not budget or stage.chance(0.5):
        budget["max_bytes"] = stage.random.choice((1, 20, 60, 150, 400, 100_000))
    query = {"query": {"text": draws.text(stage) or "tea"}} if stage.chance(0.6) else {}
    members = {"selection": draws.selection(stage), **draws.filters(stage), **query, "budget": budget}
    actor = stage.someone(space_id)
    request = stage.request("recall", space_id, members)
    for _ in range(stage.random.choice((1, 1, 2))):
        stage.send(actor, "memory.recall", request)


def crowd(stage: Stage) -> None:
    """Write several records of a subject at once, so that pages and budgets have something to cut."""
    space_id = stage.space_id()
    subject_id, root = draws.subject(stage), stage.roots[space_id]
    if fences.is_frozen(stage.space(space_id)):
        return
    stage.ask(root, "subjects.ensure", space_id, subject_id=subject_id)
    for _ in range(stage.random.randint(2, 5)):
        members = {"kind": "note", "content": draws.content(stage), "scope": draws.scope(stage, subject_id)}
        stage.ask(root, "records.create", space_id, **members, **draws.source(stage))
