"""A gate goes up, and everything is tried at it: what a freeze, a fence or an archive must stop, and what it must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.machine import draws
from conformance.machine.acts import syntheses, transfer
from conformance.machine.stage import Stage
from conformance.oracle import fences
from conformance.oracle.state import Doc

TRIES = 4

Try = Callable[[Stage, str, Doc], None]


def freeze_and_try(stage: Stage) -> None:
    """Freeze a space, perhaps with something pending, try several writes and reads, and mostly unfreeze it."""
    space_id, scope = stage.space_id(), draws.scope(stage)
    waits = stage.chance(0.4) and _left_waiting(stage, space_id, scope)
    switch(stage, space_id, fences.ACTIVE)
    for _ in range(TRIES):
        _try(stage, space_id, scope if stage.chance(0.5) else draws.scope(stage))
    if waits:
        stage.hold(False)
    if stage.chance(0.75):
        switch(stage, space_id, fences.FROZEN)


def switch(stage: Stage, space_id: str, state: str) -> None:
    """Freeze what is active, or unfreeze what is frozen: ``state`` is the state that is to end."""
    facts = stage.space(space_id).facts
    if facts["state"] == state:
        stem = "spaces.freeze" if state == fences.ACTIVE else "spaces.unfreeze"
        stage.by_root(space_id, stem, expected_revision=facts["revision"])


def fence_and_try(stage: Stage) -> None:
    """Fence a subject or a context that something lies in, try several writes and reads there and beside it."""
    space_id = stage.space_id()
    switch(stage, space_id, fences.FROZEN)
    space = stage.space(space_id)
    placed = [*(one["scope"] for one in space.records.all()), *(one["capture_scope"] for one in space.candidates.all())]
    scope = stage.pick(placed) if placed else draws.scope(stage)
    if "context_id" in scope and stage.chance(0.6):
        target: dict[str, Any] = {"target": {"type": "context", "context_id": scope["context_id"]}}
    else:
        found = space.subjects.get(scope["subject_id"])
        expected = 1 if found is None else found["revision"]
        target = {"target": {"type": "subject", "subject_id": scope["subject_id"]}, "expected_revision": expected}
    action = "archive" if "expected_revision" in target and stage.chance(0.2) else "fence"
    if stage.chance(0.4):
        syntheses.completed(stage, space_id, scope["subject_id"])
    waits = stage.chance(0.2) and _left_waiting(stage, space_id, scope)
    stage.by_root(space_id, "subjects.fence", **target, action=action)
    for _ in range(TRIES):
        _try(stage, space_id, scope if stage.chance(0.8) else draws.scope(stage, scope["subject_id"]))
    if waits:
        stage.hold(False)


def _left_waiting(stage: Stage, space_id: str, scope: Doc) -> bool:
    """Hold what may be pending, and leave a generation over a placement and perhaps an export pending; say whether it is held."""
    if stage.duo.held or not (stage.alone and stage.bench.levers.has("hold")):
        return False
    switch(stage, space_id, fences.FROZEN)
    stage.by_root(space_id, "subjects.ensure", subject_id=scope["subject_id"])
    syntheses.completed(stage, space_id, scope["subject_id"])
    stage.hold(True)
    _generation(stage, space_id, scope)
    if stage.chance(0.5):
        _export(stage, space_id, scope)
    return True


def _try(stage: Stage, space_id: str, scope: Doc) -> None:
    stage.pick(TRIED)(stage, space_id, scope)


def _material(stage: Stage, space_id: str, scope: Doc) -> None:
    stem = stage.pick(("records.create", "capture"))
    source = {"source_context_id": draws.context(stage)} if stage.chance(0.5) else {}
    stage.by_root(space_id, stem, kind="note", content={"text": "a"}, scope=scope, **source)


def _at(docs: list[Doc], member: str, scope: Doc) -> list[Doc]:
    """Prefer what lies in a placement."""
    return [one for one in docs if one[member] == scope] or docs


def _record(stage: Stage, space_id: str, scope: Doc) -> None:
    found = [one for one in stage.space(space_id).records.of(scope["subject_id"]) if "tombstone" not in one]
    if not found:
        _material(stage, space_id, scope)
        return
    one = stage.pick(_at(found, "scope", scope))
    expected = {"record_id": one["record_id"], "expected_revision": one["revision"]}
    other = {"subject_id": scope["subject_id"], **({} if stage.chance(0.3) else {"context_id": draws.context(stage)})}
    changes: tuple[tuple[str, Doc], ...] = (
        ("records.update", {"kind": "fact"}),
        ("records.delete", {}),
        ("records.promote", {"to_scope": scope}),
        ("records.promote", {"to_scope": other}),
    )
    stem, more = stage.pick(changes)
    stage.by_root(space_id, stem, **expected, **more)


def _candidate(stage: Stage, space_id: str, scope: Doc) -> None:
    found = [one for one in stage.space(space_id).candidates.of(scope["subject_id"]) if one["state"] == "pending"]
    if not found:
        _material(stage, space_id, scope)
        return
    one = stage.pick(_at(found, "capture_scope", scope))
    expected = {"candidate_id": one["candidate_id"], "expected_revision": one["revision"]}
    decision = stage.pick(({"action": "promote", "kind": "note"}, {"action": "discard"}))
    decisions: tuple[tuple[str, Doc], ...] = (("candidates.dismiss", {}), ("candidates.review", {"decision": decision}))
    stem, more = stage.pick(decisions)
    stage.by_root(space_id, stem, **expected, **more)


def _subject(stage: Stage, space_id: str, scope: Doc) -> None:
    found = stage.space(space_id).subjects.get(scope["subject_id"])
    target = {"type": "subject", "subject_id": scope["subject_id"]}
    expected = {"expected_revision": 1 if found is None else found["revision"]}
    action = stage.pick(("fence", "unfence"))
    stem, more = stage.pick((
        ("subjects.ensure", {"subject_id": scope["subject_id"]}),
        ("subjects.fence", {"target": target, "action": action, **expected}),
    ))  # fmt: skip
    stage.by_root(space_id, stem, **more)


def _context(stage: Stage, space_id: str, scope: Doc) -> None:
    context_id = scope.get("context_id", draws.context(stage))
    target = {"type": "context", "context_id": context_id}
    stage.by_root(space_id, "subjects.fence", target=target, action=stage.pick(("fence", "unfence")))


def _profile(stage: Stage, space_id: str, scope: Doc) -> None:
    kind = stage.pick(stage.names.kinds)
    found = stage.space(space_id).profiles.get((scope["subject_id"], kind))
    expected = None if found is None else found["revision"]
    members = {"subject_id": scope["subject_id"], "kind": kind, "content": {"text": "a"}, "expected_revision": expected}
    stage.by_root(space_id, "profile.update", **members)


def _generation(stage: Stage, space_id: str, scope: Doc) -> None:
    if "memory.reflections.generate" in stage.served:
        stage.by_root(space_id, "reflections.generate", selection=syntheses.over(stage, scope))


def _reads(stage: Stage, space_id: str, scope: Doc) -> None:
    selection = {"subject_id": scope["subject_id"], "mode": "all_authorized"}
    root = stage.roots[space_id]
    stage.listed(root, stage.pick(("records.list", "candidates.list")), space_id, selection=selection)
    stage.ask(root, "recall", space_id, selection=selection, budget={"max_records": 3})
    stage.ask(root, "profile.get", space_id, subject_id=scope["subject_id"])


def _grants(stage: Stage, space_id: str, _scope: Doc) -> None:
    root = stage.roots[space_id]
    held = [one for one in stage.space(space_id).grants.all() if one["grantee_id"] != root.principal_id]
    if held and stage.chance(0.4):
        stage.ask(root, "grants.revoke", space_id, grant_id=stage.pick(held)["grant_id"])
        return
    members = {"capabilities": ["recall"], "shared_access": "none"}
    stage.ask(root, "grants.grant", space_id, grantee_id=stage.pick(stage.people).principal_id, **members)


def _export(stage: Stage, space_id: str, _scope: Doc) -> None:
    if "memory.exports.create" in stage.served:
        stage.by_root(space_id, "exports.create")


def _switched_again(stage: Stage, space_id: str, _scope: Doc) -> None:
    """Freeze what is frozen, unfreeze what is not."""
    facts = stage.space(space_id).facts
    stem = "spaces.freeze" if facts["state"] == fences.FROZEN else "spaces.unfreeze"
    stage.by_root(space_id, stem, expected_revision=facts["revision"])


TRIED: tuple[Try, ...] = (
    _material, _record, _record, _candidate, _subject, _context, _profile, _generation, _reads, _grants, _export, _switched_again,
)  # fmt: skip

PENDABLE: tuple[tuple[str, Callable[[Stage], None]], ...] = (
    ("memory.reflections.generate", syntheses.generate),
    ("memory.exports.create", transfer.create),
    ("memory.imports.stage", transfer.begin),
    ("memory.imports.activate", transfer.activate),
)


def leave_pending(stage: Stage) -> None:
    """Do one or two of the things that may be pending, as far as they are served."""
    served = [act for op, act in PENDABLE if op in stage.served]
    for act in stage.some(served, 2) if served else ():
        act(stage)
