"""What somebody sees must not change by what they cannot see: the same reads before and after hidden things are written."""

from __future__ import annotations

from conformance.machine import draws
from conformance.machine.acts import lives
from conformance.machine.duo import Actor
from conformance.machine.stage import Stage
from conformance.oracle.state import Doc

WORDS = ("tea", "rain", "zebra")


def cast(stage: Stage) -> None:
    """Give somebody one placement, let them recall and list there, write elsewhere, and let them do the same again."""
    space_id = stage.space_id()
    scope = lives.a_place(stage, space_id)
    viewer = min(stage.people, key=lambda one: len(stage.space(space_id).grants.of(one.principal_id)))
    _let_in(stage, space_id, viewer, scope)
    words = stage.some(WORDS, 3)
    for word in words:
        _write(stage, space_id, scope, word)
    selection = {"subject_id": scope["subject_id"], "mode": "all_authorized"}
    members = {"selection": selection, "query": {"text": " ".join(words)}, "budget": {"max_records": stage.pick((1, 9))}}
    asked = stage.request("recall", space_id, members)
    stage.send(viewer, "memory.recall", asked)
    elsewhere, word = _elsewhere(stage, space_id, scope), stage.pick(words)
    for _ in range(stage.random.randint(1, 3)):
        _write(stage, space_id, elsewhere, word)
    stage.send(viewer, "memory.recall", asked)
    stage.listed(viewer, "records.list", space_id, [1], selection=selection)


def _let_in(stage: Stage, space_id: str, viewer: Actor, scope: Doc) -> None:
    placed: Doc = {"shared_access": "read"}
    if "context_id" in scope:
        placed = {"context_ids": [scope["context_id"]], "shared_access": "none"}
    members = {"subject_ids": [scope["subject_id"]], "capabilities": ["recall", "records_read"], **placed}
    stage.by_root(space_id, "grants.grant", grantee_id=viewer.principal_id, **members)


def _elsewhere(stage: Stage, space_id: str, scope: Doc) -> Doc:
    """Give a placement of another subject, made if need be, or now and then another one of the same."""
    if stage.chance(0.3):
        return draws.scope(stage, scope["subject_id"])
    subject_id = stage.pick([name for name in stage.names.subjects if name != scope["subject_id"]])
    stage.by_root(space_id, "subjects.ensure", subject_id=subject_id)
    return draws.scope(stage, subject_id)


def _write(stage: Stage, space_id: str, scope: Doc, text: str) -> None:
    stage.by_root(space_id, "records.create", kind="note", content={"text": text}, scope=scope)
