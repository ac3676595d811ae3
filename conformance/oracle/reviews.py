"""``memory.candidates.review`` (protocol.md section 7): the only way from a candidate to records, all or nothing, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from conformance.oracle import candidates, contents, records, subjects
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, extensions_of
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code, Field

DISCARD = "discard"
STATES = {"promote": "promoted", "fragment": "fragmented", DISCARD: "discarded"}


class Draft(NamedTuple):
    """A record that a review is about to make; ``kind`` is None where neither decision nor candidate has one."""

    kind: str | None
    content: Doc


def review(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.candidates.review``: every draft is admitted before anything changes."""
    decision = request["decision"]
    candidate = candidates.found(turn, space, request, needs(turn, decision))
    drafts = drafted(candidate, decision)
    admit(turn, decision, drafts)
    candidates.consumable(turn, space, request, candidate)
    if drafts:
        subjects.require_existing(space, candidate["capture_scope"]["subject_id"])
    return decided(turn, space, request, candidate, drafts)


def needs(turn: Turn, decision: Doc) -> Sequence[Need]:
    """Give the capabilities of a decision: ``review`` and ``records_write``, from one grant or two; a discard writes none."""
    reviewing, writing = turn.op.needs
    if decision["action"] == DISCARD and not turn.choices.discard_needs_records_write:
        return [reviewing]
    return [reviewing, writing]


def drafted(candidate: Doc, decision: Doc) -> list[Draft]:
    """Give the records that a decision makes, in its order."""
    return list(DRAFTS[decision["action"]](candidate, decision))


def _promoted(candidate: Doc, decision: Doc) -> Iterator[Draft]:
    yield Draft(
        kind_of(candidate, decision), decision["content_override"] if "content_override" in decision else candidate["content"]
    )


def _fragmented(candidate: Doc, decision: Doc) -> Iterator[Draft]:
    for fragment in decision["fragments"]:
        yield Draft(kind_of(candidate, fragment), fragment["content"])


def _discarded(_candidate: Doc, _decision: Doc) -> Iterator[Draft]:
    return iter(())


DRAFTS = {"promote": _promoted, "fragment": _fragmented, DISCARD: _discarded}


def kind_of(candidate: Doc, decided: Doc) -> str | None:
    """Give a record's kind: the decision's or fragment's, else the candidate's."""
    kind: str | None = decided.get("kind", candidate.get("kind"))
    return kind


def admit(turn: Turn, decision: Doc, drafts: Sequence[Draft]) -> None:
    """Refuse a decision by its content bytes, the number of its fragments, or a draft without kind."""
    contents.refuse_oversized(turn, *supplied(decision))
    if len(decision.get("fragments", ())) > turn.choices.limits.max_fragments:
        raise Refusal(Code.LIMIT_EXCEEDED)
    for draft in drafts:
        refuse_kindless(turn, draft)


def supplied(decision: Doc) -> list[Doc]:
    """List the contents that a decision brings; captured content was admitted when it was captured."""
    return list(contents.carried({"decision": decision}))


def refuse_kindless(turn: Turn, draft: Draft) -> None:
    """Refuse a record that would have no kind."""
    if draft.kind is None:
        raise Refusal(Code.INVALID_VALUE, field=turn.bundle.field(Field.DECISION_KIND))


def decided(turn: Turn, space: Space, request: Doc, candidate: Doc, drafts: Sequence[Draft]) -> Outcome:
    """Consume the candidate and make the records: the candidate first in ``affected``, then they in the order of the drafts."""
    made: list[Doc] = []
    for draft in drafts:
        scope, provenance = inherited_scope(candidate), reviewed(turn, candidate)
        space, record = records.added(turn, space, str(draft.kind), draft.content, scope, provenance, extensions_of(request))
        made.append(record)
    action = request["decision"]["action"]
    space, candidate = candidates.consumed(turn, space, candidate, action, STATES[action], made)
    return Outcome(space, affected=(candidates.affected(candidate), *map(records.affected, made)))


def inherited_scope(candidate: Doc) -> Doc:
    """Give the placement of the records: the capture scope, verbatim."""
    return candidates.placement(candidate)


def reviewed(turn: Turn, candidate: Doc) -> Doc:
    """Give the provenance of a reviewed record: by the reviewer, from the candidate, with the source context of the capture."""
    captured = records.source_context(candidate["provenance"])
    return {"source": records.REVIEW, "created_by": turn.caller, **captured, "candidate_id": candidate["candidate_id"]}
