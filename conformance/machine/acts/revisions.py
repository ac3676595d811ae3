"""Changes at another revision than the stored one: of each thing that has a revision, with nothing else against them."""

from __future__ import annotations

from collections.abc import Callable

from conformance.machine import draws
from conformance.machine.acts import lives, storms
from conformance.machine.stage import Stage
from conformance.oracle import fences
from conformance.oracle.state import Doc

ALSO_RIGHT = 0.4
FINAL = "archive"

Change = tuple[str, Doc, int | None]
"""An operation's stem, its members but the expected revision, and the revision that is stored."""


def wrong(stage: Stage) -> None:
    """Change something at a revision that it does not have; then perhaps at the one that it has."""
    space_id = stage.space_id()
    scope = lives.a_place(stage, space_id)
    change = stage.pick(CHANGES)(stage, space_id, scope)
    if change is None:
        return
    stem, members, stored = change
    root = stage.roots[space_id]
    stage.ask(root, stem, space_id, **members, expected_revision=draws.other_revision(stage, stored))
    if stage.chance(ALSO_RIGHT) and members.get("action") != FINAL:
        stage.ask(root, stem, space_id, **members, expected_revision=stored)


def _record(stage: Stage, space_id: str, scope: Doc) -> Change | None:
    made = stage.by_root(space_id, "records.create", kind="note", content=draws.content(stage), scope=scope).payload
    if made is None:
        return None
    found = [one for one in stage.space(space_id).records.of(scope["subject_id"]) if "tombstone" not in one]
    record = stage.pick(found)
    moved = {"to_scope": draws.scope(stage, scope["subject_id"])}
    changes: tuple[tuple[str, Doc], ...] = (("update", {"kind": "fact"}), ("delete", {}), ("promote", moved))
    stem, more = stage.pick(changes)
    return f"records.{stem}", {"record_id": record["record_id"], **more}, record["revision"]


def _candidate(stage: Stage, space_id: str, scope: Doc) -> Change | None:
    made = stage.by_root(space_id, "capture", content=draws.content(stage), scope=scope).payload
    if made is None:
        return None
    named = {"candidate_id": made["receipt"]["affected"][0]["id"]}
    decision = stage.pick(({"action": "promote", "kind": "note"}, {"action": "discard"}))
    decisions: tuple[tuple[str, Doc], ...] = (("dismiss", {}), ("review", {"decision": decision}))
    stem, more = stage.pick(decisions)
    return f"candidates.{stem}", {**named, **more}, 1


def _profile(stage: Stage, space_id: str, scope: Doc) -> Change:
    kind = stage.pick(stage.names.kinds)
    found = stage.space(space_id).profiles.get((scope["subject_id"], kind))
    members = {"subject_id": scope["subject_id"], "kind": kind, "content": {"text": "b"}}
    return "profile.update", members, None if found is None else found["revision"]


def _subject(stage: Stage, space_id: str, scope: Doc) -> Change | None:
    found = stage.space(space_id).subjects.get(scope["subject_id"])
    if found is None:
        return None
    target = {"type": "subject", "subject_id": scope["subject_id"]}
    action, revision = stage.pick(("fence", "unfence", FINAL)), found["revision"]
    if action == "unfence":
        stage.by_root(space_id, "subjects.fence", target=target, action="fence", expected_revision=revision)
        revision = stage.space(space_id).subjects.rows[scope["subject_id"]].doc["revision"]
    return "subjects.fence", {"target": target, "action": action}, revision


def _space(stage: Stage, space_id: str, _scope: Doc) -> Change:
    if stage.chance(0.5):
        storms.switch(stage, space_id, fences.ACTIVE)
    facts = stage.space(space_id).facts
    return f"spaces.{'unfreeze' if facts['state'] == fences.FROZEN else 'freeze'}", {}, facts["revision"]


CHANGES: tuple[Callable[[Stage, str, Doc], Change | None], ...] = (_record, _record, _candidate, _profile, _subject, _space)
