"""Idempotency and receipts: the same request again, other requests under its key, keys that look alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.machine import draws
from conformance.machine.acts import lives
from conformance.machine.acts.records import UNKNOWN
from conformance.machine.duo import Actor, Done
from conformance.machine.stage import Stage
from conformance.oracle import authority
from conformance.oracle.state import Doc

PAST = 60
MANY = 300


def replay(stage: Stage) -> None:
    """Send something again that was sent before, refused or not, byte for byte."""
    done = _past(stage)
    if done is not None:
        stage.send(done.actor, done.op, done.request)


def old_replay(stage: Stage) -> None:
    """Send the oldest requests again."""
    accepted = [one for one in stage.duo.done[:PAST] if not one.code]
    if accepted:
        done = stage.pick(accepted)
        stage.send(done.actor, done.op, done.request)


def wear_out(stage: Stage) -> None:
    """Use up hundreds of keys in a space, and send its oldest requests again: no key is ever forgotten."""
    space_id = stage.space_ids[0]
    scope = lives.a_place(stage, space_id)
    for _ in range(MANY):
        stage.by_root(space_id, "subjects.ensure", subject_id=scope["subject_id"])
    oldest = [one for one in stage.duo.done[:PAST] if not one.code and one.request["space_id"] == space_id]
    for done in oldest[:3]:
        stage.send(done.actor, done.op, done.request)


def refused_again(stage: Stage) -> None:
    """Send something again that was refused, as it was or changed: its key is not used up."""
    refused = [one for one in stage.duo.done[-PAST:] if one.code]
    if refused:
        done = stage.pick(refused)
        stage.send(done.actor, done.op, done.request if stage.chance(0.6) else _otherwise(stage, done.op, done.request))


def with_nothing_left(stage: Stage) -> None:
    """Take from somebody every grant in a space, and let it send again what it did there."""
    theirs = [one for one in stage.duo.done[-PAST:] if not one.code and one.actor in stage.people]
    if not theirs:
        return
    done = stage.pick(theirs)
    space_id = done.request["space_id"]
    held = filter(authority.is_active, stage.space(space_id).grants.of(done.actor.principal_id))
    for grant in held:
        stage.by_root(space_id, "grants.revoke", grant_id=grant["grant_id"])
    stage.send(done.actor, done.op, done.request)


def _past(stage: Stage) -> Done | None:
    recent = stage.duo.done[-PAST:]
    accepted = [one for one in recent if not one.code]
    if accepted and stage.chance(0.85):
        return stage.pick(accepted)
    return stage.pick(recent) if recent else None


def conflict(stage: Stage) -> None:
    """Send another payload under a key that was used."""
    done = _past(stage)
    if done is not None:
        stage.send(done.actor, done.op, _otherwise(stage, done.op, done.request))


def _otherwise(stage: Stage, op: str, request: Doc) -> Doc:
    """Change something of a request, so that it stays valid."""
    options: list[Doc] = [{**request, "extensions": {"y": {"n": stage.random.randint(1, 9)}}}]
    if "expected_revision" in request and isinstance(request["expected_revision"], int):
        options.append({**request, "expected_revision": request["expected_revision"] + 1})
    if "content" in request and not op.startswith("memory.profile"):
        options.append({**request, "content": draws.content(stage)})
    if "kind" in request and not op.startswith("memory.subjects"):
        options.append({**request, "kind": f"{request['kind']}s"})
    return stage.pick(options)


def borrowed_key(stage: Stage) -> None:
    """Use a key that is used, as somebody else, in another space, or under a name that is nearly the same."""
    done = _past(stage)
    if done is not None:
        stage.pick(BORROWED)(stage, done)


def _somebody_else(stage: Stage, done: Done) -> None:
    space_id = done.request["space_id"]
    stage.send(stage.someone(space_id), done.op, done.request)


def _other_space(stage: Stage, done: Done) -> None:
    space_id = stage.pick(stage.space_ids)
    root = stage.roots[space_id]
    actor = done.actor if stage.chance(0.8) else root
    stage.send(actor, done.op, {**done.request, "space_id": space_id})


def _other_operation(stage: Stage, done: Done) -> None:
    space_id, key = done.request["space_id"], done.request["idempotency_key"]
    given = _minimal(stage, space_id)
    stem = stage.pick([stem for stem in given if f"memory.{stem}" != done.op])
    stage.ask(done.actor, stem, space_id, **given[stem], idempotency_key=key)


def _minimal(stage: Stage, space_id: str) -> Mapping[str, Doc]:
    content = {"content": {"text": "a"}, "scope": draws.scope(stage)}
    found = stage.space(space_id).records.all()
    record = stage.pick(found) if found else {"record_id": UNKNOWN, "revision": 1}
    return {
        "capture": {**content, "kind": "note"},
        "records.create": {**content, "kind": "note"},
        "records.delete": {"record_id": record["record_id"], "expected_revision": record["revision"]},
        "subjects.ensure": {"subject_id": draws.subject(stage)},
    }


def _alike(stage: Stage, done: Done) -> None:
    key: str = done.request["idempotency_key"]
    options = (key.upper(), f"{key} ", f" {key}", f"{key}\u200b", key.capitalize())
    stage.send(done.actor, done.op, {**done.request, "idempotency_key": stage.pick(options)})


BORROWED: tuple[Callable[[Stage, Done], None], ...] = (_somebody_else, _other_space, _other_operation, _alike)


def get_receipt(stage: Stage) -> None:
    """Read a receipt: as its principal, as root, as anybody; in its space or the other."""
    space_id = stage.space_id()
    receipts = stage.space(space_id).receipts.all()
    if not receipts:
        return
    receipt = stage.pick(receipts)
    own = stage.actor_of(receipt["principal_id"], space_id)
    actor: Actor = own if stage.chance(0.45) else stage.someone(space_id)
    place = stage.pick(stage.space_ids) if stage.chance(0.15) else space_id
    named: Any = UNKNOWN if stage.chance(0.05) else receipt["receipt_id"]
    stage.ask(actor, "receipts.get", place, receipt_id=named)
