"""Who may make a call: what the oracle's steps check of the caller, by operation, apart from all else (section 6, item 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.machine.conditions import Call, Rests, of
from conformance.oracle import authority, candidates, grants, issuance, records, reviews, selection, steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn


def lacking(call: Call) -> Refusal | None:
    """Give how a call is refused because of what its caller does not cover, or because an object that it names is not there."""
    turn, space, request = call
    check = AUTHORITY.get(turn.op.name, _of_space) if turn.op.mutation else _of_read
    return of(Rests.COVERED, check, turn, space, request).violated()


def _of_read(turn: Turn, space: Space, request: Doc) -> None:
    """Take a read as a whole: who may call it is all that it checks, but for its page."""
    steps.take(turn, space, {name: value for name, value in request.items() if name != "page"})


def _of_space(turn: Turn, _space: Space, _request: Doc) -> None:
    authority.enter(turn)
    authority.require_space(turn)


def _of_subject(turn: Turn, _space: Space, request: Doc) -> None:
    authority.enter(turn)
    authority.require_subject(turn, request["subject_id"])


def _of_scope(turn: Turn, _space: Space, request: Doc) -> None:
    authority.enter(turn)
    authority.require(turn, request["scope"], turn.op.needs)


def _of_candidate(turn: Turn, space: Space, request: Doc) -> None:
    authority.enter(turn)
    needs = reviews.needs(turn, request["decision"]) if "decision" in request else turn.op.needs
    candidates.found(turn, space, request, needs)


def of_record(turn: Turn, space: Space, request: Doc) -> None:
    """Refuse a caller that does not cover the record where it lies."""
    authority.enter(turn)
    records.found(turn, space, request, turn.op.needs[:1])


def _of_both_placements(turn: Turn, space: Space, request: Doc) -> None:
    of_record(turn, space, request)
    authority.require(turn, request["to_scope"], turn.op.needs[1:])


def _of_selection(turn: Turn, _space: Space, request: Doc) -> None:
    authority.enter(turn)
    selection.authorise(turn, request["selection"], turn.op.needs)


def _of_issuer(turn: Turn, _space: Space, request: Doc) -> None:
    authority.enter(turn)
    issuance.require_coverage(turn, request)


def _of_grant(turn: Turn, space: Space, request: Doc) -> None:
    grants.revocable(turn, space.grants.get(request["grant_id"]))


AUTHORITY: Mapping[str, Callable[[Turn, Space, Doc], None]] = {
    "memory.subjects.ensure": _of_subject,
    "memory.grants.grant": _of_issuer,
    "memory.grants.revoke": _of_grant,
    "memory.capture": _of_scope,
    "memory.candidates.dismiss": _of_candidate,
    "memory.candidates.review": _of_candidate,
    "memory.records.create": _of_scope,
    "memory.records.update": of_record,
    "memory.records.delete": of_record,
    "memory.records.promote": _of_both_placements,
    "memory.profile.update": _of_subject,
    "memory.reflections.generate": _of_selection,
}
"""Who may call, of a mutation where it is not a space-level capability."""
