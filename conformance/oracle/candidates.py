"""``memory.capture`` and ``memory.candidates.list``, ``.get``, ``.dismiss`` (protocol.md section 7, Capture and review)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.oracle import authority, contents, cursors, fences, pages, records, revisions, selection, subjects
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, changed, extensions_of
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code

PENDING, DISMISSED = "pending", "dismissed"
READING_OP = "memory.candidates.get"


def capture(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.capture``: one pending candidate, and no record."""
    authority.require(turn, request["scope"], turn.op.needs)
    contents.refuse_oversized(turn, request["content"])
    fences.refuse_write(turn, space, request["scope"])
    subjects.require_existing(space, request["scope"]["subject_id"])
    candidate_id, number = turn.mint("cand", space.candidates)
    candidate = make(turn, space, request, candidate_id)
    kept = space.candidates.add(candidate_id, request["scope"]["subject_id"], number, candidate)
    return Outcome(space.having(candidates=kept), affected=(affected(candidate),))


def make(turn: Turn, space: Space, request: Doc, candidate_id: str) -> Doc:
    """Make the document of a captured candidate."""
    kind = {"kind": request["kind"]} if "kind" in request else {}
    return {
        **turn.envelope(extensions_of(request)),
        "candidate_id": candidate_id,
        "space_id": space.space_id,
        "state": PENDING,
        "capture_scope": request["scope"],
        **kind,
        "content": request["content"],
        "classification": turn.choices.classify(request["content"]),
        "provenance": {"captured_by": turn.caller, **records.source_context(request)},
        "revision": revisions.FIRST,
        "created_at": turn.now,
        "updated_at": turn.now,
        **turn.carried(request, "MemoryCandidate"),
    }


def affected(candidate: Doc) -> Doc:
    """Name a candidate as changed, at its revision."""
    return changed("candidate", candidate["candidate_id"], candidate["revision"])


def placement(candidate: Doc) -> Doc:
    """Give where a candidate was captured."""
    scope: Doc = candidate["capture_scope"]
    return scope


def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.candidates.list``: of a selection by capture scope, in the given states or in all."""
    wanted = request["selection"]
    selection.authorise(turn, wanted, turn.op.needs)
    held = [candidate for candidate in space.candidates.of(wanted["subject_id"]) if in_states(candidate, request)]
    items = pages.arranged(turn, selection.selected(turn, wanted, turn.op.needs, held, placement))
    return Outcome(
        space, pages.reply(turn, request, items, cursors.mark(turn, space, lambda: space.candidates.of(wanted["subject_id"])))
    )


def in_states(candidate: Doc, request: Doc) -> bool:
    """Say whether a candidate is in one of the states asked for; without ``states`` all are."""
    return "states" not in request or candidate["state"] in request["states"]


def found(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> Doc:
    """Give the candidate that a request names, where the caller covers its capture scope by each of ``needs``."""
    candidate = space.candidates.get(request["candidate_id"])
    return authority.require_object(turn, candidate, "capture_scope", needs, turn.need_of(READING_OP))


def get(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.candidates.get``."""
    return Outcome(space, {"candidate": found(turn, space, request, turn.op.needs)})


def consumable(turn: Turn, space: Space, request: Doc, candidate: Doc) -> None:
    """Refuse to consume a candidate by freeze, fences, an earlier decision and revision, in this order."""
    fences.refuse_write(turn, space, candidate["capture_scope"])
    refuse_consumed(candidate)
    revisions.check(request["expected_revision"], candidate["revision"])


def refuse_consumed(candidate: Doc) -> None:
    """Refuse a second decision."""
    if candidate["state"] != PENDING:
        raise Refusal(Code.CANDIDATE_CONSUMED)


def consumed(turn: Turn, space: Space, candidate: Doc, decision: str, state: str, made: Sequence[Doc]) -> tuple[Space, Doc]:
    """Put the consumed version of a candidate into a space; what was captured stays in it."""
    outcome: dict[str, Any] = {
        "decision": decision,
        "record_ids": [record["record_id"] for record in made],
        "decided_by": turn.caller,
        "decided_at": turn.now,
    }
    candidate = revisions.revised(candidate, turn.now, state=state, outcome=outcome)
    return space.having(candidates=space.candidates.change(candidate["candidate_id"], candidate)), candidate


def dismiss(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.candidates.dismiss``: the candidate is consumed without a review."""
    candidate = found(turn, space, request, turn.op.needs)
    consumable(turn, space, request, candidate)
    space, candidate = consumed(turn, space, candidate, "dismiss", DISMISSED, ())
    return Outcome(space, affected=(affected(candidate),))
