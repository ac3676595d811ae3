"""Profiles and reflections."""

from __future__ import annotations

from typing import Any

from conformance.machine import draws
from conformance.machine.stage import Stage
from conformance.oracle.state import Doc


def update_profile(stage: Stage) -> None:
    """Write a profile document, against its revision or null."""
    space_id = stage.space_id()
    subject_id, kind = draws.subject(stage), stage.pick(stage.names.kinds)
    found = stage.space(space_id).profiles.get((subject_id, kind))
    expected: int | None = None if found is None else found["revision"]
    if stage.chance(0.25):
        expected = None if found is not None and stage.chance(0.5) else draws.revision(stage, expected)
    content = draws.oversized(stage) if stage.chance(0.03) else draws.profile_content(stage)
    members = {"subject_id": subject_id, "kind": kind, "content": content, "expected_revision": expected}
    stage.ask(stage.someone(space_id), "profile.update", space_id, **members, **draws.extensions(stage))


def get_profile(stage: Stage) -> None:
    """Read profile documents, of some kinds or of all."""
    space_id = stage.space_id()
    kinds = {"kinds": stage.some(stage.names.kinds, 3)} if stage.chance(0.5) else {}
    stage.ask(stage.someone(space_id), "profile.get", space_id, subject_id=draws.subject(stage), **kinds)


def complete(stage: Stage) -> None:
    """Write, as root, every required profile kind of a subject that lacks it."""
    completed(stage, stage.space_id(), draws.subject(stage))


def completed(stage: Stage, space_id: str, subject_id: str) -> None:
    """Write, as root, every required profile kind that this subject lacks."""
    for kind in stage.model.described["required_profile_kinds"]:
        if (subject_id, kind) not in stage.space(space_id).profiles:
            members = {"subject_id": subject_id, "kind": kind, "content": {"text": "a"}, "expected_revision": None}
            stage.by_root(space_id, "profile.update", **members)


def over(stage: Stage, scope: Doc) -> Doc:
    """Select everything of a placement's subject, or the placement alone."""
    if "context_id" in scope and stage.chance(0.5):
        return {"subject_id": scope["subject_id"], "mode": "contexts", "context_ids": [scope["context_id"]]}
    return {"subject_id": scope["subject_id"], "mode": stage.pick(("all_authorized", "shared"))}


def _basis(stage: Stage, space_id: str) -> dict[str, Any]:
    """Draw a selection with filters: often one that a reflection was made over."""
    made = stage.space(space_id).reflections.all()
    if made and stage.chance(0.6):
        one = stage.pick(made)
        return {name: one[name] for name in ("selection", "filter", "cognition_filter") if name in one}
    return {"selection": draws.selection(stage), **draws.filters(stage)}


def state(stage: Stage) -> None:
    """Ask for the state of a basis."""
    space_id = stage.space_id()
    stage.ask(stage.someone(space_id), "reflections.state", space_id, **_basis(stage, space_id))


def generate(stage: Stage) -> None:
    """Generate a reflection, sometimes on an expected state; then read what there is on that basis."""
    space_id = stage.space_id()
    actor, members = stage.someone(space_id), _basis(stage, space_id)
    if stage.chance(0.3):
        members = {**members, **_expected(stage, space_id, members)}
    seen = stage.ask(actor, "reflections.generate", space_id, **members, **draws.extensions(stage))
    if seen.error is None and stage.chance(0.5):
        read = {name: value for name, value in members.items() if name not in ("extensions", "expected_state_digest")}
        stage.listed(stage.someone(space_id), "reflections.list", space_id, **read)


def _expected(stage: Stage, space_id: str, members: Doc) -> Doc:
    if stage.chance(0.2):
        return {"expected_state_digest": "0" * 64}
    seen = stage.by_root(space_id, "reflections.state", **members)
    return {"expected_state_digest": seen.payload["state_digest"]} if seen.error is None else {}


def list_reflections(stage: Stage) -> None:
    """List reflections along a whole chain."""
    space_id = stage.space_id()
    stage.listed(stage.someone(space_id), "reflections.list", space_id, draws.limits(stage), **_basis(stage, space_id))
