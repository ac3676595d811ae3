"""What somebody sees must not change by what they cannot see: the same reads before and after hidden things are written."""

from __future__ import annotations

from conformance.machine import draws
from conformance.machine.acts import lives
from conformance.machine.duo import Actor
from conformance.machine.stage import Stage
from conformance.oracle.state import Doc

WORDS = ("tea", "rain", "zebra", "tea rain", "zebra zebra tea")


def cast(stage: Stage) -> None:
    """Give somebody one placement, let them recall and list there, write elsewhere, and let them do the same again."""
    space_id = stage.space_id()
    scope = lives.a_place(stage, space_id)
    viewer = min(stage.people, key=lambda one: len(stage.space(space_id).grants.of(one.principal_id)))
    _let_in(stage, space_id, viewer, scope)
    for text in stage.some(WORDS, 4):
        _write(stage, space_id, scope, text)
    selection = {"subject_id": scope["subject_id"], "mode": "all_authorized"}
    query = {"text": stage.pick(("tea rain", "zebra tea", "rain zebra tea"))}
    members = {"selection": selection, "query": query, "budget": {"max_records": stage.random.choice((1, 9))}}
    asked = stage.request("recall", space_id, members)
    stage.send(viewer, "memory.recall", asked)
    for text in stage.some(WORDS, 4):
        _write(stage, space_id, draws.scope(stage, scope["subject_id"] if stage.chance(0.6) else None), text)
    stage.send(viewer, "memory.recall", asked)
    stage.listed(viewer, "records.list", space_id, [1], selection=selection)


def _let_in(stage: Stage, space_id: str, viewer: Actor, scope: Doc) -> None:
    placed: Doc = {"shared_access": "read"}
    if "context_id" in scope:
        placed = {"context_ids": [scope["context_id"]], "shared_access": "none"}
    members = {"subject_ids": [scope["subject_id"]], "capabilities": ["recall", "records_read"], **placed}
    stage.ask(stage.roots[space_id], "grants.grant", space_id, grantee_id=viewer.principal_id, **members)


def _write(stage: Stage, space_id: str, scope: Doc, text: str) -> None:
    stage.ask(stage.roots[space_id], "records.create", space_id, kind="note", content={"text": text}, scope=scope)
