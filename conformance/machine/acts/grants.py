"""Grants: issuance along trees and webs, revocation, and what they show of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.machine import coverage, draws
from conformance.machine.acts import journeys, lives, storms
from conformance.machine.acts.records import UNKNOWN
from conformance.machine.duo import Actor
from conformance.machine.stage import Stage
from conformance.oracle import authority, fences
from conformance.oracle.state import Doc
from strategies.vocabulary import capabilities


def grant(stage: Stage) -> None:
    """Let root grant somebody something."""
    space_id = stage.space_id()
    _issue(stage, space_id, stage.roots[space_id], draws.shape(stage))


def delegate(stage: Stage) -> None:
    """Let somebody hand on what is near one of their issuing grants: inside it, or wider in one dimension."""
    space_id = stage.space_id()
    issuer = stage.pick(stage.people)
    held = stage.space(space_id).grants.of(issuer.principal_id)
    issuing = [one for one in held if draws.ISSUE in one["capabilities"]] if stage.chance(0.85) else held
    if not issuing:
        shape = draws.shape(stage)
        _issue(stage, space_id, stage.roots[space_id], {**shape, "capabilities": _with_issue(shape)}, issuer)
        return
    shape = stage.pick(issuing[-4:])
    if stage.chance(0.25):
        shape = _mixed(stage, shape, stage.pick(issuing))
    _issue(stage, space_id, issuer, draws.near(stage, shape))


def _mixed(stage: Stage, one: Doc, other: Doc) -> Doc:
    """Take some dimensions of one grant and the rest of another: what neither covers alone."""
    dimensions = ("capabilities", "subject_ids", "context_ids", "shared_access", "expires_at")
    chosen = {name: stage.pick((one, other)) for name in dimensions}
    return {name: grant[name] for name, grant in chosen.items() if name in grant}


def split(stage: Stage) -> None:
    """Give somebody two capabilities that are needed together, by two grants, or only one of the two; and let them be used."""
    space_id = stage.space_id()
    first, second = stage.pick(PAIRS)
    grantee, scope = stage.pick(stage.people), lives.a_place(stage, space_id)
    shape: Doc = {"shared_access": "write"}
    if stage.chance(0.3) and first != "transfer":
        # Just not enough for what is shared.
        shape, scope = {"shared_access": "read"}, {"subject_id": scope["subject_id"]}
    if stage.chance(0.5) and first != "transfer":
        shape = {**shape, "subject_ids": [scope["subject_id"]]}
    for capability in stage.some((first, second), 2):
        place: Doc = {"context_ids": stage.some(stage.names.contexts, 1)} if capability == second and stage.chance(0.25) else {}
        _issue(stage, space_id, stage.roots[space_id], {**shape, "capabilities": [capability], **place}, grantee)
    for act in TOGETHER.get(first, ()):
        act(stage, space_id, grantee, scope)


def share(stage: Stage) -> None:
    """Let the root of each space grant the other root everything, so that one principal acts in both."""
    for space_id, root in stage.roots.items():
        for other in stage.roots.values():
            if other is not root:
                everything = {"capabilities": list(capabilities(stage.model.bundle)), "shared_access": "write"}
                stage.ask(root, "grants.grant", space_id, grantee_id=other.principal_id, **everything)


def _with_issue(shape: Doc) -> list[str]:
    return list(dict.fromkeys((*shape["capabilities"], draws.ISSUE)))


def _issue(stage: Stage, space_id: str, issuer: Actor, shape: Doc, grantee: Actor | None = None) -> None:
    grantee = grantee or stage.pick(stage.people)
    members = {"grantee_id": grantee.principal_id, **shape, **draws.extensions(stage)}
    if stage.chance(0.25):
        coverage.agree(stage.model, issuer.principal_id, space_id, shape)
    stage.ask(issuer, "grants.grant", space_id, **members)


def regrant(stage: Stage) -> None:
    """Grant again exactly what was granted before, and perhaps revoked since."""
    space_id = stage.space_id()
    held = [one for one in stage.space(space_id).grants.all() if one["issuer_id"] != one["grantee_id"]]
    if not held:
        return grant(stage)
    again = stage.pick(held)
    names = ("grantee_id", "capabilities", "subject_ids", "context_ids", "shared_access", "expires_at")
    issuer = stage.actor_of(again["issuer_id"], space_id)
    stage.ask(issuer, "grants.grant", space_id, **{name: again[name] for name in names if name in again})
    return None


def revoke(stage: Stage) -> None:
    """Revoke a grant, as its issuer, as root, or as somebody; hardly ever root's own."""
    space_id = stage.space_id()
    root = stage.roots[space_id]
    held = [one for one in stage.space(space_id).grants.all() if one["grantee_id"] != root.principal_id]
    if not held or stage.chance(0.03):
        stage.ask(stage.someone(space_id), "grants.revoke", space_id, grant_id=UNKNOWN)
        return
    chosen = stage.pick(held)
    actor = stage.actor_of(chosen["issuer_id"], space_id) if stage.chance(0.5) else stage.someone(space_id)
    stage.ask(actor, "grants.revoke", space_id, grant_id=chosen["grant_id"])


def list_own(stage: Stage) -> None:
    """List somebody's own grants."""
    space_id = stage.space_id()
    stage.listed(stage.someone(space_id), "grants.list", space_id, draws.limits(stage), view="own")


def list_all(stage: Stage) -> None:
    """List all grants of a space, and check that no chain has reached beyond its beginning."""
    space_id = stage.space_id()
    stage.listed(stage.someone(space_id), "grants.list", space_id, draws.limits(stage), view="admin")
    if stage.chance(0.2):
        coverage.require_closed(stage.space(space_id).grants.all(), stage.roots[space_id].principal_id)


def probe(stage: Stage) -> None:
    """Let somebody do one thing at the edge of what they hold: just inside a grant, or just outside in one dimension."""
    space_id = stage.space_id()
    actor = stage.pick(stage.people)
    turn = stage.model.turn(actor.principal_id, "memory.records.get", stage.space(space_id))
    held = turn.grants or stage.space(space_id).grants.of(actor.principal_id)
    held = [one for one in held if authority.is_active(one)] or held
    if not held:
        return grant(stage)
    for _ in range(2):
        edge = _edge(stage, stage.pick(held))
        stage.pick(PROBES)(stage, space_id, actor, edge)
    return None


PAIRS = (
    ("review", "records_write"), ("review", "records_read"), ("reflections_generate", "reflections_read"),
    ("transfer", "admin"), ("capture", "records_read"),
)  # fmt: skip
"""Capabilities that an operation needs together, or that only look as if one brought the other."""


def _edge(stage: Stage, one: Doc) -> Doc:
    """Give a placement that a grant names, or one beside it."""
    subjects = one.get("subject_ids", stage.names.subjects) if stage.chance(0.75) else stage.names.subjects
    contexts = one.get("context_ids", stage.names.contexts) if stage.chance(0.75) else stage.names.contexts
    placed = {"subject_id": stage.pick(subjects)}
    return placed if stage.chance(0.3) else {**placed, "context_id": stage.pick(contexts)}


def _select(scope: Doc) -> Doc:
    if "context_id" in scope:
        return {"subject_id": scope["subject_id"], "mode": "contexts", "context_ids": [scope["context_id"]]}
    return {"subject_id": scope["subject_id"], "mode": "shared"}


def _create(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.ask(actor, "records.create", space_id, kind="note", content={"text": "a"}, scope=scope)


def _capture(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.ask(actor, "capture", space_id, kind="note", content={"text": "a"}, scope=scope)


def _list(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.listed(actor, "records.list", space_id, selection=_select(scope))


def _candidates(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.listed(actor, "candidates.list", space_id, selection=_select(scope))


def _recall(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.ask(actor, "recall", space_id, selection=_select(scope), budget={"max_records": 5})


def _profile(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.ask(actor, "profile.get", space_id, subject_id=scope["subject_id"])


def _write_profile(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    kind = stage.pick(stage.names.kinds)
    found = stage.space(space_id).profiles.get((scope["subject_id"], kind))
    expected = None if found is None else found["revision"]
    members = {"subject_id": scope["subject_id"], "kind": kind, "content": {"text": "a"}, "expected_revision": expected}
    stage.ask(actor, "profile.update", space_id, **members)


def _subject(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.ask(actor, "subjects.get", space_id, subject_id=scope["subject_id"])


def _ensure(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    stage.ask(actor, "subjects.ensure", space_id, subject_id=scope["subject_id"])


def _read(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    placed = [one for one in stage.space(space_id).records.of(scope["subject_id"]) if one["scope"] == scope]
    if placed:
        stage.ask(actor, "records.get", space_id, record_id=stage.pick(placed)["record_id"])


def _update(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    placed = [one for one in stage.space(space_id).records.of(scope["subject_id"]) if one["scope"] == scope]
    if placed:
        one = stage.pick(placed)
        stage.ask(actor, "records.update", space_id, record_id=one["record_id"], expected_revision=one["revision"], kind="fact")


def _move(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    placed = [one for one in stage.space(space_id).records.of(scope["subject_id"]) if "tombstone" not in one]
    if placed:
        one = stage.pick(placed)
        members = {"record_id": one["record_id"], "expected_revision": one["revision"], "to_scope": scope}
        stage.ask(actor, "records.promote", space_id, **members)


def _review(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    placed = [
        one
        for one in stage.space(space_id).candidates.of(scope["subject_id"])
        if one["capture_scope"] == scope and one["state"] == "pending"
    ]
    if placed:
        one = stage.pick(placed)
        decision = stage.pick(({"action": "promote", "kind": "note"}, {"action": "discard"}))
        members = {"candidate_id": one["candidate_id"], "expected_revision": one["revision"], "decision": decision}
        stage.ask(actor, "candidates.review", space_id, **members)


def _admin(stage: Stage, space_id: str, actor: Actor, _scope: Doc) -> None:
    stage.listed(actor, "grants.list", space_id, view="admin")


def _capture_and_review(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    _capture(stage, space_id, stage.roots[space_id], scope)
    _review(stage, space_id, actor, scope)


def _generate(stage: Stage, space_id: str, actor: Actor, scope: Doc) -> None:
    if "memory.reflections.generate" in stage.served:
        stage.ask(actor, "reflections.generate", space_id, selection=_select(scope))


def _activate(stage: Stage, space_id: str, actor: Actor, _scope: Doc) -> None:
    """Bring a space back to what it is, as somebody who may perhaps not."""
    if "memory.imports.activate" not in stage.served:
        return
    parcel = journeys.exported(stage, space_id)
    import_id = None if parcel is None else journeys.staged(stage, space_id, parcel)
    if import_id is not None:
        storms.switch(stage, space_id, fences.ACTIVE)
        generation = stage.space(space_id).facts["authority_generation"]
        stage.ask(actor, "imports.activate", space_id, import_id=import_id, expected_authority_generation=generation)
        storms.switch(stage, space_id, fences.FROZEN)


TOGETHER: Mapping[str, tuple[Callable[[Stage, str, Actor, Doc], None], ...]] = {
    "review": (_capture_and_review,),
    "reflections_generate": (_generate,),
    "transfer": (_activate,),
}
"""What is done at once by who was given two capabilities by two grants."""

PROBES = (
    _create, _capture, _list, _candidates, _recall, _profile, _write_profile, _subject, _ensure, _read, _update, _move, _review,
    _admin,
)  # fmt: skip
