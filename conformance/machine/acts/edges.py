"""Cursors in the wrong hands, calls that dispatch must stop, and names that exist beside names that do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.exchange import Reply
from conformance.machine import blames, draws
from conformance.machine.acts.records import UNKNOWN
from conformance.machine.chains import Chain
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Actor
from conformance.machine.model import Asked
from conformance.machine.stage import Stage, keys
from conformance.oracle import fences
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc
from conformance.wire.vocabulary import Code, Flag, Reason

MADE_UP = "made-up"
UNLISTED = "somebody"
"""A subject that no grant lists."""

# -- cursors


def begin_chain(stage: Stage) -> None:
    """Ask for the first page of a list, one item long; the rest comes later, or never."""
    space_id = stage.space_id()
    begun(stage, stage.someone(space_id), space_id)


def begun(stage: Stage, actor: Actor, space_id: str) -> Chain:
    """Ask for the first page of some list, one item long."""
    stem, members = stage.pick(_lists(stage))
    chain = Chain(actor, f"memory.{stem}", stage.request(stem, space_id, members))
    stage.chains.page(chain, {"limit": 1})
    return chain


def gone_on(stage: Stage, chain: Chain) -> None:
    """Ask for the next page of a chain, if it has one."""
    if chain.cursor:
        stage.chains.page(chain, {"limit": 1})


def _lists(stage: Stage) -> list[tuple[str, Mapping[str, Any]]]:
    everything = {"selection": {"subject_id": draws.subject(stage), "mode": "all_authorized"}}
    lists: list[tuple[str, Mapping[str, Any]]] = [
        ("records.list", {**everything, **draws.filters(stage)}),
        ("records.list", everything),
        ("candidates.list", everything),
        ("grants.list", {"view": "own"}),
        ("grants.list", {"view": "admin"}),
        ("spaces.list", {}),
    ]
    if stage.serves(Flag.REFLECTION):
        lists.append(("reflections.list", everything))
    return lists


def go_on(stage: Stage) -> None:
    """Go on with a chain that was begun, by whatever has happened since."""
    stage.chains.age()
    if not stage.chains.open:
        return begin_chain(stage)
    chain = stage.pick(stage.chains.open)
    stage.chains.page(chain, {} if stage.chance(0.5) else {"limit": stage.random.randint(1, 3)})
    return None


def misuse(stage: Stage) -> None:
    """Show a cursor as another caller, at another operation or for another request, or show a made-up one."""
    stage.chains.age()
    if not stage.chains.open:
        return begin_chain(stage)
    chain = stage.pick(stage.chains.open)
    stage.pick((_other_caller, _other_request, _made_up))(stage, chain)
    return None


def _other_caller(stage: Stage, chain: Chain) -> None:
    others = [actor for actor in (*stage.roots.values(), *stage.people) if actor.principal_id != chain.actor.principal_id]
    stage.chains.misuse(stage.pick(others), chain.op, chain.request, chain.cursor)


def _other_request(stage: Stage, chain: Chain) -> None:
    space_id = chain.request.get("space_id", stage.space_ids[0])
    stem, members = stage.pick(_lists(stage))
    request = stage.request(stem, space_id, members)
    if f"memory.{stem}" == chain.op and request == chain.request:
        request = {**request, "extensions": {"z": {}}}
    stage.chains.misuse(chain.actor, f"memory.{stem}", request, chain.cursor)


def _made_up(stage: Stage, chain: Chain) -> None:
    stage.chains.misuse(chain.actor, chain.op, chain.request, stage.pick((MADE_UP, f"{chain.cursor}x", chain.cursor[:-1] or "x")))


# -- dispatch


def stopped(stage: Stage) -> None:
    """Send a call that dispatch must stop, and see that it left no trace: the right call goes through with the same key."""
    space_id = stage.space_id()
    stage.pick(STOPPED)(stage, space_id)


def _refused(stage: Stage, actor: Actor, request: Doc, op: str, code: Code, **sent: Any) -> Reply:
    seen = stage.duo.exchange(actor, op, request, **sent)
    told = stage.model.bundle.answered(code).code
    if seen.error is None:
        raise Disagreement(blames.of_code(op, code), op, Kind.ACCEPTED, reason=told, expected=told, seen=seen.payload)
    if seen.code != told and code in stage.model.bundle.errors:
        raise Disagreement(blames.of_code(op, code), op, Kind.CODE, reason=f"{told}/{seen.code}", expected=told, seen=seen.error)
    return seen


def _creation(stage: Stage, space_id: str) -> Doc:
    members = {"kind": "note", "content": {"text": "a"}, "scope": draws.scope(stage)}
    return stage.request("records.create", space_id, members)


def _no_credential(stage: Stage, space_id: str) -> None:
    request, root = _creation(stage, space_id), stage.roots[space_id]
    stranger = Actor("nobody", "", stage.pick((None, "", f"{root.credential}x")))
    _refused(stage, stranger, request, "memory.records.create", Code.NOT_AUTHENTICATED)
    stage.send(root, "memory.records.create", request)


def _no_flag(stage: Stage, space_id: str) -> None:
    row = stage.pick([row for row in stage.model.bundle.operations.values() if row.flag is not Flag.CORE or not row.needs])
    root, flag = stage.roots[space_id], stage.model.bundle.flag(row.flag)
    known: Mapping[str, Doc] = {"memory.exports.create": {}, "memory.describe": {}, "memory.spaces.list": {}}
    if row.name in known:
        request = stage.request(row.name.removeprefix("memory."), space_id, known[row.name])
        _refused(stage, root, request, row.name, Code.FLAG_NOT_NEGOTIATED, flags=stage.flags - {flag})
        if flag in stage.flags:
            stage.send(root, row.name, request)


def _unknown_operation(stage: Stage, space_id: str) -> None:
    _refused(stage, stage.roots[space_id], {}, "memory.records.merge", Code.UNKNOWN_OPERATION, wrong=True)


def _malformed(stage: Stage, space_id: str) -> None:
    request = _creation(stage, space_id)
    surplus: Doc = stage.pick(({"principal_id": "x"}, {"candidate_id": "x"}, {"kind": 5}, {"scope": []}, {"idempotency_key": ""}))
    _refused(stage, stage.roots[space_id], {**request, **surplus}, "memory.records.create", Code.MALFORMED_REQUEST, wrong=True)
    stage.send(stage.roots[space_id], "memory.records.create", request)


def _malformed_update(stage: Stage, space_id: str) -> None:
    found = stage.space(space_id).records.all()
    if found:
        one = stage.pick(found)
        members = {"record_id": one["record_id"], "expected_revision": one["revision"], "kind": "fact", "scope": one["scope"]}
        request = stage.request("records.update", space_id, members)
        _refused(stage, stage.roots[space_id], request, "memory.records.update", Code.MALFORMED_REQUEST, wrong=True)


def _unserved_filter(stage: Stage, space_id: str) -> None:
    if not stage.serves(Flag.COGNITION):
        return
    wanted = stage.pick(({"dimension": "no-such-dimension"}, {"likeness": "tea"}, {"holder_id": "ann", "or": []}))
    request = stage.request("records.list", space_id, {"selection": draws.selection(stage), "cognition_filter": wanted})
    seen = _refused(stage, stage.roots[space_id], request, "memory.records.list", Code.MALFORMED_REQUEST, wrong=True)
    reason = stage.model.bundle.reason(Reason.UNSUPPORTED_COGNITION)
    told = ((seen.error or {}).get("details") or {}).get("reason")
    if told != reason:
        raise Disagreement("R025", "memory.records.list", Kind.DETAILS, reason="reason", expected=reason, seen=told)


STOPPED: tuple[Callable[[Stage, str], None], ...] = (
    _no_credential, _no_flag, _unknown_operation, _malformed, _malformed_update, _unserved_filter,
)  # fmt: skip

# -- twins: what exists beside what does not


def twins(stage: Stage) -> None:
    """Let somebody name what they do not cover, once as it exists and once as it does not: the answers are alike."""
    space_id = stage.space_id()
    stem, members, other = stage.pick(TWINS)(stage, space_id)
    if f"memory.{stem}" not in stage.served:
        return
    one, two = (stage.request(stem, space_id, given) for given in (members, other))
    if stage.chance(0.5):
        one, two = two, one
    for actor in stage.random.sample(stage.people, len(stage.people)):
        lacking = _lacking(stage, actor, stem, one)
        if lacking is not None and lacking is _lacking(stage, actor, stem, two):
            _alike(stage, actor, stem, one, two)
            return


def _lacking(stage: Stage, actor: Actor, stem: str, request: Doc) -> Code | None:
    """Give the code of a refusal for lacking coverage by the model, None for anything else."""
    _, reply = stage.model.step(stage.model.state, Asked(actor.principal_id, f"memory.{stem}", request))
    lacking = isinstance(reply, Refusal) and reply.symbol in (Code.NOT_AUTHORIZED, Code.NOT_FOUND)
    return reply.symbol if isinstance(reply, Refusal) and lacking else None


def _alike(stage: Stage, actor: Actor, stem: str, one: Doc, two: Doc) -> None:
    told = []
    for request in (one, two):
        seen = stage.send(actor, f"memory.{stem}", request)
        error = seen.error or {}
        told.append([seen.code, sorted(error.get("details") or {})])
    if told[0] != told[1]:
        raise Disagreement("R013", f"memory.{stem}", Kind.CODE, reason="tells what exists", expected=told[0], seen=told[1])


Twin = tuple[str, Mapping[str, Any], Mapping[str, Any]]


def _unlisted(stage: Stage, space_id: str) -> tuple[str, str]:
    """Give a subject that exists and one that does not; no grant lists either, so that all reach both or neither."""
    grants = stage.space(space_id).grants.all()
    listed = {name for grant in grants for name in grant.get("subject_ids", ())}
    known = [str(name) for name in keys(stage.space(space_id).subjects) if name not in listed]
    if not known and not fences.is_frozen(stage.space(space_id)):
        stage.by_root(space_id, "subjects.ensure", subject_id=UNLISTED)
    return (stage.pick(known) if known else UNLISTED), "nobody"


def _twin_subjects(stage: Stage, space_id: str) -> Twin:
    stem = stage.pick(("subjects.get", "profile.get"))
    one, two = _unlisted(stage, space_id)
    return stem, {"subject_id": one}, {"subject_id": two}


def _twin_scopes(stage: Stage, space_id: str) -> Twin:
    stem = stage.pick(("records.create", "capture"))
    one, two = _unlisted(stage, space_id)
    placed = draws.scope(stage, one)
    members = {"kind": "note", "content": {"text": "a"}}
    return stem, {**members, "scope": placed}, {**members, "scope": {**placed, "subject_id": two}}


def _twin_selections(stage: Stage, space_id: str) -> Twin:
    stem = stage.pick(("records.list", "candidates.list"))
    one, two = _unlisted(stage, space_id)
    wanted = draws.selection(stage)
    return stem, {"selection": {**wanted, "subject_id": one}}, {"selection": {**wanted, "subject_id": two}}


def _twin_parcels(stage: Stage, space_id: str) -> Twin:
    space = stage.space(space_id)
    known = [str(name) for name in keys(space.imports)]
    named = stage.pick(known) if known else UNKNOWN
    return "imports.discard", {"import_id": named}, {"import_id": f"{UNKNOWN}-2"}


def _twin_exports(stage: Stage, space_id: str) -> Twin:
    known = [str(name) for name in keys(stage.space(space_id).exports) if stage.parcels.is_taken(space_id, str(name))]
    named = stage.pick(known) if known else UNKNOWN
    return "exports.get", {"export_id": named, "ordinal": 0}, {"export_id": f"{UNKNOWN}-2", "ordinal": 0}


def _twin_spaces(stage: Stage, space_id: str) -> Twin:
    selection = {"selection": draws.selection(stage)}
    return "records.list", {"space_id": space_id, **selection}, {"space_id": UNKNOWN, **selection}


TWINS: tuple[Callable[[Stage, str], Twin], ...] = (
    _twin_subjects, _twin_scopes, _twin_selections, _twin_parcels, _twin_exports, _twin_spaces,
)  # fmt: skip
