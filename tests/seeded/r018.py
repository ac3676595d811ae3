"""Faults that MEM-R018 (candidate review) must catch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from conformance import dispatch
from conformance.oracle import authority, candidates, records, reviews, revisions, steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Step, Turn
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, always, patched
from tests.seeded.races import checked_on_arrival, racing
from tests.seeded.refused import leaving, with_drafts

RULE = "MEM-R018"
NO_SECOND_DECISION = Patch(candidates, "refuse_consumed", always(None))


def _partial(turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
    """Leave the records of a review that was refused for its candidate's revision or a fence."""
    late = refusal.symbol in (Code.REVISION_AHEAD, Code.CONTEXT_FENCED)
    return with_drafts(turn, space, request, 9) if late and turn.op.method == "candidates_review" else space


def _consumed(turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
    """Leave the candidate of a refused review without kind as discarded."""
    if turn.op.method != "candidates_review" or refusal.symbol is not Code.INVALID_VALUE:
        return space
    candidate = space.candidates.get(request["candidate_id"])
    return space if candidate is None else candidates.consumed(turn, space, candidate, "discard", "discarded", ())[0]


def _again(op: str) -> Patch:
    """Let one operation decide on a candidate that was decided on."""

    def wrap(original: Step) -> Step:
        def step(turn: Turn, space: Space, request: Doc) -> Outcome:
            with NO_SECOND_DECISION.applied():
                return original(turn, space, request)

        return step

    return Patch(steps.STEPS, op, wrap)


def _discarded_again(original: Step) -> Step:
    def review(turn: Turn, space: Space, request: Doc) -> Outcome:
        if request["decision"]["action"] != "discard":
            return original(turn, space, request)
        with NO_SECOND_DECISION.applied():
            return original(turn, space, request)

    return review


def _reviewing_only(_original: Any) -> Any:
    return lambda turn, _decision: [turn.op.needs[0]]


def _writing_only(_original: Any) -> Any:
    return lambda turn, _decision: [turn.op.needs[1]]


def _reading(original: Callable[..., Sequence[Need]]) -> Any:
    """Take read access to the shared placement for enough."""
    return lambda turn, decision: [replace(need, access="read") for need in original(turn, decision)]


def _one_grant(original: Callable[..., Doc]) -> Any:
    """Want one single grant to cover all needs."""

    def found(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> Doc:
        candidate = original(turn, space, request, needs)
        scope = candidate["capture_scope"]
        if not any(all(authority.covers(grant, need, scope) for need in needs) for grant in turn.grants):
            raise Refusal(Code.NOT_AUTHORIZED)
        return candidate

    return found


def _writes_somewhere(original: Callable[..., Doc]) -> Any:
    """Take ``records_write`` anywhere for ``records_write`` over the capture scope."""

    def found(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> Doc:
        candidate = original(turn, space, request, needs[:1])
        if not all(any(authority.lists_capability(grant, need.capability) for grant in turn.grants) for need in needs):
            raise Refusal(Code.NOT_AUTHORIZED)
        return candidate

    return found


def _by_author(space: Space, record: Doc | None, caller: str) -> bool:
    candidate = None if record is None else space.candidates.get(record["provenance"].get("candidate_id", ""))
    return candidate is not None and candidate["provenance"]["captured_by"] == caller


def _own_records(original: Callable[..., Doc]) -> Any:
    """Let the author of a capture read the record that came of it."""

    def found(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> Doc:
        record = space.records.get(request["record_id"])
        if record is not None and turn.op.method == "records_get" and _by_author(space, record, turn.caller):
            return record
        return original(turn, space, request, needs)

    return found


def _own_candidates(original: Callable[..., Doc]) -> Any:
    def found(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> Doc:
        candidate = space.candidates.get(request["candidate_id"])
        own = candidate is not None and candidate["provenance"]["captured_by"] == turn.caller
        return candidate if candidate is not None and own else original(turn, space, request, needs)

    return found


def _admitting_candidate(original: Callable[..., None]) -> Any:
    def refuse(bundle: Any, operation: Any, payload: Any) -> None:
        if operation.method == "records_create" and isinstance(payload, dict):
            payload = {name: value for name, value in payload.items() if name != "candidate_id"}
        original(bundle, operation, payload)

    return refuse


def _naming_candidate(original: Callable[..., Doc]) -> Any:
    def authored(turn: Turn, request: Doc) -> Doc:
        provenance = original(turn, request)
        if "candidate_id" not in request:
            return provenance
        return {**provenance, "source": records.REVIEW, "candidate_id": request["candidate_id"]}

    return authored


def _by_the_author(original: Callable[..., Doc]) -> Any:
    return lambda turn, candidate: {**original(turn, candidate), "created_by": candidate["provenance"]["captured_by"]}


def _written_by_the_author(action: str, *, overriding: bool = False) -> Patch:
    """Let the records of one decision name the capture's author; ``overriding``: only where it brings an override."""

    def wrap(original: Step) -> Step:
        def review(turn: Turn, space: Space, request: Doc) -> Outcome:
            decision = request["decision"]
            if decision["action"] != action or overriding is not ("content_override" in decision):
                return original(turn, space, request)
            with Patch(reviews, "reviewed", _by_the_author).applied():
                return original(turn, space, request)

        return review

    return altered.step("candidates.review", wrap)


def _decided_by_the_author(*decisions: str) -> Patch:
    """Let the outcome of some decisions name the capture's author as decider."""

    def wrap(original: Callable[..., tuple[Space, Doc]]) -> Any:
        def consumed(turn: Turn, space: Space, candidate: Doc, decision: str, *rest: Any) -> tuple[Space, Doc]:
            kept, found = original(turn, space, candidate, decision, *rest)
            if decision not in decisions:
                return kept, found
            found = {**found, "outcome": {**found["outcome"], "decided_by": found["provenance"]["captured_by"]}}
            return kept.having(candidates=kept.candidates.change(found["candidate_id"], found)), found

        return consumed

    return Patch(candidates, "consumed", wrap)


def _without_source(original: Callable[..., Doc]) -> Any:
    def reviewed(turn: Turn, candidate: Doc) -> Doc:
        return {name: value for name, value in original(turn, candidate).items() if name != "source_context_id"}

    return reviewed


def _reversed_outcome(original: Callable[..., Any]) -> Any:
    return lambda turn, space, candidate, decision, state, made: original(turn, space, candidate, decision, state, made[::-1])


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r018_{name}", RULE, sentence, patched(*patches), source)


FAULTS: tuple[Fault, ...] = (
    _fault("decided_twice", "a decided candidate is decided again", NO_SECOND_DECISION),
    _fault("f14_dismissed_again", "a decided candidate is dismissed", _again("memory.candidates.dismiss"), source="F14"),
    _fault(
        "discarded_again", "a decided candidate is discarded",
        Patch(steps.STEPS, "memory.candidates.review", _discarded_again), source="ours",
    ),
    Fault(
        "r018_f14_decided_together", RULE, "decisions that arrive together are all taken",
        racing(checked_on_arrival(NO_SECOND_DECISION, Patch(revisions, "check", always(None)))), "F14",
    ),
    _fault("partial_records", "a review refused late leaves its records", leaving(_partial)),
    _fault("refused_yet_consumed", "a review refused for its kind discards the candidate", leaving(_consumed), source="ours"),
    _fault(
        "scope_widened", "the records of a review are shared",
        Patch(reviews, "inherited_scope", lambda original: lambda found: {"subject_id": original(found)["subject_id"]}),
    ),
    _fault("review_suffices", "review alone makes records", Patch(reviews, "needs", _reviewing_only)),
    _fault("writing_suffices", "records_write alone makes records", Patch(reviews, "needs", _writing_only), source="ours"),
    _fault("reading_suffices", "read access to the shared placement decides", Patch(reviews, "needs", _reading), source="ours"),
    _fault("writes_somewhere", "records_write anywhere is enough", Patch(candidates, "found", _writes_somewhere), source="ours"),
    _fault("one_grant_only", "both capabilities must come of one grant", Patch(candidates, "found", _one_grant), source="ours"),
    _fault(
        "kind_before_authority", "that a candidate has no kind is told to those who may not see it",
        altered.step("candidates.review", altered.first(altered.kind_first)), source="ours",
    ),
    _fault("author_reads_record", "capturing lets one read the record", Patch(records, "found", _own_records)),
    _fault(
        "author_reads_candidate", "capturing lets one read the candidate",
        Patch(candidates, "found", _own_candidates), source="ours",
    ),
    _fault(
        "create_names_a_candidate", "a creation takes a candidate_id",
        Patch(dispatch, "refuse_malformed", _admitting_candidate), Patch(records, "authored", _naming_candidate),
    ),
    _fault(
        "created_by_the_author", "the record names the capture's author",
        Patch(reviews, "reviewed", _by_the_author), source="ours",
    ),
    _fault(
        "fragments_by_the_author", "the records of fragments name the capture's author",
        _written_by_the_author("fragment"), source="ours",
    ),
    _fault(
        "override_by_the_author", "the record of an override names the capture's author",
        _written_by_the_author("promote", overriding=True), source="ours",
    ),
    _fault(
        "discarded_by_the_author", "the outcome of a discard names the capture's author as decider",
        _decided_by_the_author("discard"), source="ours",
    ),
    _fault(
        "dismissed_by_the_author", "the outcome of a dismissal names the capture's author as decider",
        _decided_by_the_author("dismiss"), source="ours",
    ),
    _fault("source_is_lost", "the record loses the capture's source", Patch(reviews, "reviewed", _without_source), source="ours"),
    _fault(
        "outcome_reversed", "the outcome lists the records backwards",
        Patch(candidates, "consumed", _reversed_outcome), source="ours",
    ),
)  # fmt: skip
