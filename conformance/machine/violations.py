"""What a request violates, each condition for itself: one table, by operation, of what the oracle's steps check in a row.

The oracle stops at the first violated condition, and the contract lets a provider stop at any (protocol.md, preamble). So each
check of a step stands here alone, under what it ``Rests`` on: that says who may be told of it (``reasons``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from conformance.machine.conditions import Call, Condition, Rests, of, refuse
from conformance.oracle import (
    candidates,
    contents,
    exports,
    fences,
    grants,
    imports,
    pages,
    profiles,
    receipts,
    records,
    reflections,
    reviews,
    revisions,
    steps,
    subjects,
)
from conformance.oracle.policy import chunks
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire.vocabulary import Code

Conditions = Iterator[Condition]


# -- before any operation's own


def before(call: Call, sent: Doc) -> Conditions:
    """Give what is checked before authorisation; ``sent`` is the request as it was sent."""
    turn, space, request = call
    if not turn.op.mutation:
        yield of(Rests.REQUEST, steps.refuse_uncanonical, sent)
        yield of(Rests.REQUEST, pages.limit, turn, request.get("page", {}))
        return
    yield of(Rests.REQUEST, contents.refuse_malformed_cognition, turn.bundle, sent)
    yield of(Rests.REQUEST, _replay, turn, space, sent)


def _replay(turn: Turn, space: Space, sent: Doc) -> None:
    receipts.find_replay(turn, space, sent, receipts.payload_digest(sent))


# -- what several operations check


def _content(call: Call, *carried: Doc) -> Conditions:
    # 5 before 8 is fixed (section 6): no content is too large where a cognition record is malformed.
    if of(Rests.REQUEST, contents.refuse_malformed_cognition, call.turn.bundle, call.request).violated() is None:
        yield of(Rests.REQUEST, contents.refuse_oversized, call.turn, *carried)


def _frozen(call: Call) -> Condition:
    return of(Rests.SPACE, fences.refuse_frozen, call.turn, call.space)


def _fenced(call: Call, scope: Doc, subject: Rests, context: Rests) -> Conditions:
    yield of(subject, fences.refuse_subject, call.space, scope["subject_id"])
    yield of(context, fences.refuse_context, call.space, scope)


def _existing(call: Call, subject_id: str) -> Condition:
    return of(Rests.COVERED, subjects.require_existing, call.space, subject_id)


def _revision(call: Call, rests: Rests, actual: int | None) -> Condition:
    return of(rests, revisions.check, call.request["expected_revision"], actual)


# -- by operation


def _switched(call: Call) -> Conditions:
    right = fences.ACTIVE if call.turn.op.name == "memory.spaces.freeze" else fences.FROZEN
    yield of(Rests.SPACE, refuse, Code.WRONG_STATE, call.space.facts.get("state", right) != right)
    yield _revision(call, Rests.SPACE, call.space.facts.get("revision"))


def _ensured(call: Call) -> Conditions:
    yield _frozen(call)
    subject = call.space.subjects.get(call.request["subject_id"])
    if subject is not None:
        yield of(Rests.COVERED, subjects.refuse_other_kind, subject, call.request)


def _fence(call: Call) -> Conditions:
    yield _frozen(call)
    target, action = call.request["target"], call.request["action"]
    if "context_id" in target:
        yield of(Rests.SPACE, subjects.contexts_after, call.space, target["context_id"], action)
        return
    yield _existing(call, target["subject_id"])
    subject = call.space.subjects.get(target["subject_id"])
    if subject is not None:
        yield of(Rests.COVERED, subjects.subject_after, subject, action)
        yield _revision(call, Rests.COVERED, subject["revision"])


def _granted(call: Call) -> Conditions:
    yield _frozen(call)


def _revoked(call: Call) -> Conditions:
    yield _frozen(call)
    held = call.space.grants.get(call.request["grant_id"])
    yield of(Rests.OBJECT, refuse, Code.WRONG_STATE, held is not None and held["state"] == grants.REVOKED)


def _placed(call: Call) -> Conditions:
    scope = call.request["scope"]
    yield from _content(call, call.request["content"])
    yield _frozen(call)
    yield from _fenced(call, scope, Rests.COVERED, Rests.SPACE)
    yield _existing(call, scope["subject_id"])


def _consumed(call: Call) -> Conditions:
    """Give what a review and a dismissal check of the candidate."""
    yield _frozen(call)
    candidate = call.space.candidates.get(call.request["candidate_id"])
    if candidate is not None:
        yield from _fenced(call, candidates.placement(candidate), Rests.COVERED, Rests.OBJECT)
        yield of(Rests.OBJECT, candidates.refuse_consumed, candidate)
        yield _revision(call, Rests.OBJECT, candidate["revision"])


def _reviewed(call: Call) -> Conditions:
    turn, decision = call.turn, call.request["decision"]
    candidate = call.space.candidates.get(call.request["candidate_id"])
    drafts = [] if candidate is None else reviews.drafted(candidate, decision)
    yield from _content(call, *reviews.supplied(decision))
    too_many = len(decision.get("fragments", ())) > turn.choices.limits.max_fragments
    yield of(Rests.REQUEST, refuse, Code.LIMIT_EXCEEDED, too_many)
    yield from (of(Rests.OBJECT, reviews.refuse_kindless, turn, draft) for draft in drafts if draft.kind is None)
    yield from _consumed(call)
    if candidate is not None and drafts:
        yield _existing(call, candidates.placement(candidate)["subject_id"])


def _changed(call: Call) -> Conditions:
    """Give what each change of a record checks of it; a fence of its subject is told to whoever covers it."""
    yield _frozen(call)
    record = call.space.records.get(call.request["record_id"])
    if record is not None:
        yield from _fenced(call, records.placement(record), Rests.COVERED, Rests.OBJECT)
        yield of(Rests.OBJECT, records.refuse_tombstone, record)
        yield _revision(call, Rests.OBJECT, record["revision"])


def _updated(call: Call) -> Conditions:
    yield from _content(call, *contents.carried(call.request))
    yield from _changed(call)


def _promoted(call: Call) -> Conditions:
    to_scope = call.request["to_scope"]
    record = call.space.records.get(call.request["record_id"])
    if record is not None:
        yield of(Rests.OBJECT, records.refuse_other_subject, call.turn, record, to_scope)
    yield from _fenced(call, to_scope, Rests.TARGET, Rests.SPACE)
    if record is not None and to_scope["subject_id"] == records.placement(record)["subject_id"]:
        yield of(Rests.OBJECT, records.refuse_same_placement, record, to_scope)
    yield from _changed(call)


def _written(call: Call) -> Conditions:
    request = call.request
    held = call.space.profiles.get(profiles.key_of(request["subject_id"], request["kind"]))
    yield from _content(call, request["content"])
    yield _frozen(call)
    yield of(Rests.COVERED, fences.refuse_subject, call.space, request["subject_id"])
    if held is None:
        yield _existing(call, request["subject_id"])
    yield _revision(call, Rests.COVERED, None if held is None else held["revision"])


def _generated(call: Call) -> Conditions:
    turn, space, request = call
    subject_id = request["selection"]["subject_id"]
    yield _frozen(call)
    yield of(Rests.COVERED, fences.refuse_subject, space, subject_id)
    yield _existing(call, subject_id)
    yield of(Rests.COVERED, reflections.refuse_incomplete, turn, space, subject_id)
    yield of(Rests.COVERED, _refuse_no_basis, call)
    yield of(Rests.COVERED, _refuse_other_basis, call)


def _eligible(call: Call) -> Sequence[Doc]:
    return records.eligible(call.turn, call.space, call.request, call.turn.op.needs)


def _refuse_no_basis(call: Call) -> None:
    reflections.refuse_insufficient(_eligible(call))


def _refuse_other_basis(call: Call) -> None:
    turn, space, request = call
    basis = reflections.basis(turn, space, request["selection"]["subject_id"], _eligible(call))
    reflections.refuse_other_state(request, reflections.state_digest(turn, request, basis))


def _exported(call: Call) -> Conditions:
    yield of(Rests.REQUEST, exports.chunk_size, call.turn, call.request)


def _import(call: Call) -> tuple[Condition, Doc | None]:
    import_id = call.request["import_id"]
    return of(Rests.COVERED, imports.found, call.space, import_id), call.space.imports.get(import_id)


def _staged(call: Call) -> Conditions:
    turn, request = call.turn, call.request
    yield of(Rests.REQUEST, imports.refuse_crowded, turn, request["chunk"])
    held = None
    if "import_id" in request:
        there, held = _import(call)
        yield there
    if held is not None:
        yield of(Rests.COVERED, imports.refuse_over, held)
        yield of(Rests.COVERED, _refuse_out_of_turn, held, request["chunk"])
    if turn.choices.refuses_defects_early:
        yield of(Rests.COVERED, _refuse_defect, call, (held or {}).get("bundle") or request["bundle"])


def _refuse_out_of_turn(held: Doc, chunk: Doc) -> None:
    """Refuse a chunk that is not due; an import that is over remembers its turn, and whether it was complete."""
    if held["state"] == imports.DISCARDED:
        refuse(Code.IMPORT_SEQUENCE, chunk["ordinal"] != held["staged"])
    else:
        imports.refuse_out_of_turn(held, chunk)


def _refuse_defect(call: Call, bundle: Doc) -> None:
    """Refuse a chunk that is refused anyway for a defect that shows in it."""
    is_sound = chunks.bundle_is_sound(bundle) and chunks.lists_what_it_counts(bundle)
    judge = call.turn.bundle.model("ExportItem").accepts
    refuse(Code.IMPORT_INVALID, not (is_sound and chunks.chunk_is_sound(bundle, call.request["chunk"], judge)))


def _activated(call: Call) -> Conditions:
    there, held = _import(call)
    yield of(Rests.SPACE, imports.refuse_unfrozen, call.space)
    yield there
    if held is not None:
        yield of(Rests.COVERED, imports.refuse_unstaged, held)
    yield of(Rests.SPACE, imports.refuse_other_generation, call.space, call.request["expected_authority_generation"])


def _discarded(call: Call) -> Conditions:
    there, held = _import(call)
    yield there
    if held is not None:
        yield of(Rests.COVERED, imports.refuse_over, held)


OWN: Mapping[str, Callable[[Call], Conditions]] = {
    "memory.spaces.freeze": _switched,
    "memory.spaces.unfreeze": _switched,
    "memory.subjects.ensure": _ensured,
    "memory.subjects.fence": _fence,
    "memory.grants.grant": _granted,
    "memory.grants.revoke": _revoked,
    "memory.capture": _placed,
    "memory.candidates.dismiss": _consumed,
    "memory.candidates.review": _reviewed,
    "memory.records.create": _placed,
    "memory.records.update": _updated,
    "memory.records.delete": _changed,
    "memory.records.promote": _promoted,
    "memory.profile.update": _written,
    "memory.reflections.generate": _generated,
    "memory.exports.create": _exported,
    "memory.imports.stage": _staged,
    "memory.imports.activate": _activated,
    "memory.imports.discard": _discarded,
}
"""What each mutation checks of its own, after authorisation (section 6, 8 to 11)."""
