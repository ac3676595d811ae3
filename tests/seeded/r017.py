"""Faults that MEM-R017 (capture) must catch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.oracle import candidates, contents, records, selection, steps, subjects
from conformance.oracle.policy import classification
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Step, Turn, extensions_of
from tests.seeded.fault import Fault, Patch, patched

RULE = "MEM-R017"


def _step(op: str, wrap: Callable[[Step], Step]) -> Patch:
    return Patch(steps.STEPS, op, wrap)


def _with_candidate(space: Space, candidate: Doc) -> Space:
    return space.having(candidates=space.candidates.change(candidate["candidate_id"], candidate))


def _is_sure(content: Doc) -> bool:
    text = content["text"].casefold()
    return "certain" in text or "remember" in text


def _promoting(original: Step) -> Step:
    """Make a record too where the captured text sounds sure of itself."""

    def capture(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome = original(turn, space, request)
        if not _is_sure(request["content"]):
            return outcome
        provenance = records.authored(turn, request)
        kind = request.get("kind", "note")
        given = (request["content"], request["scope"], provenance, extensions_of(request))
        made, _ = records.added(turn, outcome.space, kind, *given)
        return outcome._replace(space=made)

    return capture


def _merging(original: Step) -> Step:
    """Take a capture of equal content at the same place for the one that is pending there."""

    def capture(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome = original(turn, space, request)
        for candidate in space.candidates.of(request["scope"]["subject_id"]):
            same = candidate["content"] == request["content"] and candidate["capture_scope"] == request["scope"]
            if same and candidate["state"] == candidates.PENDING:
                return Outcome(space, affected=(candidates.affected(candidate),))
        return outcome

    return capture


def _ensuring(original: Step) -> Step:
    """Make the subject of a capture where there is none."""

    def capture(turn: Turn, space: Space, request: Doc) -> Outcome:
        subject_id = request["scope"]["subject_id"]
        if subject_id not in space.subjects:
            subject = subjects.make(turn, space, {"subject_id": subject_id})
            space = space.having(subjects=space.subjects.add(subject_id, "", turn.next_number(), subject))
        return original(turn, space, request)

    return capture


def _rewriting(original: Step) -> Step:
    """Keep a review's override in the candidate, in place of what was captured."""

    def review(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome = original(turn, space, request)
        override = request["decision"].get("content_override")
        candidate = outcome.space.candidates.get(request["candidate_id"])
        if override is None or candidate is None:
            return outcome
        return outcome._replace(space=_with_candidate(outcome.space, {**candidate, "content": override}))

    return review


def _of_record(space: Space, request: Doc) -> Doc | None:
    record = space.records.get(request["record_id"])
    return None if record is None else space.candidates.get(record["provenance"].get("candidate_id", ""))


def _following(original: Step) -> Step:
    """Let a candidate's capture scope go where its record is promoted to."""

    def promote(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome, candidate = original(turn, space, request), _of_record(space, request)
        if candidate is None:
            return outcome
        return outcome._replace(space=_with_candidate(outcome.space, {**candidate, "capture_scope": request["to_scope"]}))

    return promote


def _wiping(original: Step) -> Step:
    """Let the deletion of a record take the content of its candidate too."""

    def delete(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome, candidate = original(turn, space, request), _of_record(space, request)
        if candidate is None:
            return outcome
        return outcome._replace(space=_with_candidate(outcome.space, {**candidate, "content": {"text": ""}}))

    return delete


def _forgetting(original: Step) -> Step:
    def dismiss(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome = original(turn, space, request)
        candidate = outcome.space.candidates.get(request["candidate_id"])
        if candidate is None:
            return outcome
        return outcome._replace(space=_with_candidate(outcome.space, {**candidate, "content": {"text": ""}}))

    return dismiss


def _trimming(original: Callable[..., Doc]) -> Any:
    def make(*given: Any) -> Doc:
        candidate = original(*given)
        return {**candidate, "content": {**candidate["content"], "text": candidate["content"]["text"].strip()}}

    return make


def _as_record(candidate: Doc) -> Doc:
    kept = ("schema_version", "space_id", "content", "revision", "created_at", "updated_at", "extensions")
    return {
        **{name: candidate[name] for name in kept},
        "record_id": candidate["candidate_id"],
        "kind": candidate.get("kind", "note"),
        "scope": candidate["capture_scope"],
        "provenance": {"source": "author", "created_by": candidate["provenance"]["captured_by"]},
    }


def _with_candidates(states: Sequence[str]) -> Callable[[Step], Step]:
    """Let a read take candidates in ``states`` for records."""

    def eligible(original: Callable[..., list[Doc]]) -> Any:
        def found(turn: Turn, space: Space, request: Doc, needs: Any) -> list[Doc]:
            wanted = request["selection"]
            held = [one for one in space.candidates.of(wanted["subject_id"]) if one["state"] in states]
            taken = map(_as_record, selection.selected(turn, wanted, needs, held, candidates.placement))
            return [*original(turn, space, request, needs), *records.filtered(list(taken), request)]

        return found

    def wrap(original: Step) -> Step:
        def read(turn: Turn, space: Space, request: Doc) -> Outcome:
            with Patch(records, "eligible", eligible).applied():
                return original(turn, space, request)

        return read

    return wrap


def _seems_cognition(content: Doc) -> bool:
    structured = content.get("structured")
    return bool(content.get("cognition")) or (isinstance(structured, dict) and "cognition" in structured)


def _reclassifying(*actions: str, names: bool) -> Callable[[Step], Step]:
    """Let some decisions give the candidate the signals of what they bring: only where that ``names`` cognition, or only not."""

    def wrap(original: Step) -> Step:
        def review(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome, candidate = original(turn, space, request), space.candidates.get(request["candidate_id"])
            brought = list(contents.carried(request))
            believed = any(content.get("cognition") for content in brought)
            if not brought or candidate is None or believed is not names or request["decision"]["action"] not in actions:
                return outcome
            return outcome._replace(space=_signalling(outcome.space, candidate["candidate_id"], names=names))

        return review

    return wrap


def _signalling(space: Space, candidate_id: str, *, names: bool) -> Space:
    """Let the signals of a candidate name cognition, or not."""
    candidate = space.candidates.get(candidate_id)
    if candidate is None:
        return space
    others = [signal for signal in candidate["classification"]["signals"] if signal != "cognition"]
    signals = [*others, "cognition"] if names else others
    return _with_candidate(space, {**candidate, "classification": {**candidate["classification"], "signals": signals}})


def _silencing(original: Step) -> Step:
    """Let a dismissal take the signals away."""

    def dismiss(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome = original(turn, space, request)
        return outcome._replace(space=_signalling(outcome.space, request["candidate_id"], names=False))

    return dismiss


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r017_{name}", RULE, sentence, patched(*patches), source)


FAULTS: tuple[Fault, ...] = (
    _fault("sure_text_makes_a_record", "a capture that sounds sure makes a record", _step("memory.capture", _promoting)),
    _fault(
        "override_rewrites_capture", "an override replaces the captured content",
        _step("memory.candidates.review", _rewriting),
    ),
    _fault(
        "signal_for_empty_cognition", "signals name cognition for []",
        Patch(classification, "has_cognition", lambda _original: lambda content: "cognition" in content),
    ),
    _fault(
        "f19_recall_finds_candidates", "recall gives pending and discarded candidates as records",
        _step("memory.recall", _with_candidates(("pending", "discarded", "dismissed"))), source="F19",
    ),
    _fault(
        "recall_finds_pending", "recall gives pending candidates as records",
        _step("memory.recall", _with_candidates(("pending",))), source="ours",
    ),
    _fault(
        "state_counts_candidates", "reflections.state counts pending candidates",
        _step("memory.reflections.state", _with_candidates(("pending",))), source="ours",
    ),
    _fault(
        "equal_captures_merge", "an equal capture is taken for the pending one",
        _step("memory.capture", _merging), source="ours",
    ),
    _fault(
        "scope_follows_record", "a promotion moves the capture scope",
        _step("memory.records.promote", _following), source="ours",
    ),
    _fault(
        "deletion_wipes_candidate", "a deletion wipes the candidate too",
        _step("memory.records.delete", _wiping), source="ours",
    ),
    _fault("dismissal_forgets", "a dismissal wipes the content", _step("memory.candidates.dismiss", _forgetting), source="ours"),
    _fault("text_is_trimmed", "captured text loses its outer spaces", Patch(candidates, "make", _trimming), source="ours"),
    _fault("makes_the_subject", "a capture makes its missing subject", _step("memory.capture", _ensuring), source="ours"),
    _fault(
        "signal_for_structured", "signals take structured for cognition",
        Patch(classification, "has_cognition", lambda _original: _seems_cognition), source="ours",
    ),
    _fault(
        "signal_lost_by_override", "an override without cognition takes the candidate's signal away",
        _step("memory.candidates.review", _reclassifying("promote", names=False)), source="ours",
    ),
    _fault(
        "signal_brought_by_override", "an override with cognition gives the candidate a signal",
        _step("memory.candidates.review", _reclassifying("promote", names=True)), source="ours",
    ),
    _fault(
        "signal_lost_by_fragments", "fragments without cognition take the candidate's signal away",
        _step("memory.candidates.review", _reclassifying("fragment", names=False)), source="ours",
    ),
    _fault(
        "signal_brought_by_fragments", "fragments with cognition give the candidate a signal",
        _step("memory.candidates.review", _reclassifying("fragment", names=True)), source="ours",
    ),
    _fault(
        "signal_lost_by_dismissal", "a dismissal takes the candidate's signal away",
        _step("memory.candidates.dismiss", _silencing), source="ours",
    ),
)  # fmt: skip
