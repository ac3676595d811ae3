"""Faults that MEM-R019 (review overrides) must catch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from conformance.oracle import candidates, contents, receipts, reviews
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire import canonical
from conformance.wire.vocabulary import Code
from tests.seeded.fault import Fault, Patch, always, patched
from tests.seeded.refused import leaving, with_drafts

RULE = "MEM-R019"
REVIEW = "candidates_review"


def _is_good(turn: Turn, fragment: Doc, candidate: Doc) -> bool:
    """Say whether a fragment alone would have been taken."""
    content = fragment["content"]
    try:
        canonical.canonical(content)
    except canonical.NotCanonical:
        return False
    small = contents.measure(content) <= turn.choices.limits.max_content_bytes
    sound = "cognition" not in content or contents.is_cognition(turn.bundle, content["cognition"])
    return small and sound and reviews.kind_of(candidate, fragment) is not None


def _row_by_row(*symbols: Code) -> Callable[[Turn, Space, Doc, Refusal], Space]:
    """Leave the records of the fragments before the first bad one, where the review was refused with one of ``symbols``."""

    def leave(turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
        candidate = space.candidates.get(request.get("candidate_id", ""))
        fragments = request.get("decision", {}).get("fragments", [])
        if turn.op.method != REVIEW or candidate is None or refusal.symbol not in symbols:
            return space
        good = [_is_good(turn, fragment, candidate) for fragment in fragments]
        return space if all(good) else with_drafts(turn, space, request, good.index(False))

    return leave


def _consuming(turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
    """Leave the candidate of a review refused for its size as discarded."""
    candidate = space.candidates.get(request.get("candidate_id", ""))
    if turn.op.method != REVIEW or candidate is None or refusal.symbol is not Code.LIMIT_EXCEEDED:
        return space
    return candidates.consumed(turn, space, candidate, "discard", "discarded", ())[0]


def _proposed(candidate: Doc, decision: Doc) -> Iterator[reviews.Draft]:
    yield reviews.Draft(reviews.kind_of(candidate, decision), candidate["content"])


def _merged(candidate: Doc, decision: Doc) -> Iterator[reviews.Draft]:
    override = decision.get("content_override", {})
    yield reviews.Draft(reviews.kind_of(candidate, decision), {**candidate["content"], **override})


def _inheriting_cognition(candidate: Doc, decision: Doc) -> Iterator[reviews.Draft]:
    kept = {name: value for name, value in candidate["content"].items() if name == "cognition"}
    for fragment in decision["fragments"]:
        yield reviews.Draft(reviews.kind_of(candidate, fragment), {**kept, **fragment["content"]})


def _backwards(candidate: Doc, decision: Doc) -> Iterator[reviews.Draft]:
    for fragment in reversed(decision["fragments"]):
        yield reviews.Draft(reviews.kind_of(candidate, fragment), fragment["content"])


def _first_kind(candidate: Doc, decision: Doc) -> Iterator[reviews.Draft]:
    kind = reviews.kind_of(candidate, decision["fragments"][0])
    for fragment in decision["fragments"]:
        yield reviews.Draft(kind, fragment["content"])


def _draft(action: str, drafts: Callable[[Doc, Doc], Iterator[reviews.Draft]]) -> Patch:
    return Patch(reviews.DRAFTS, action, lambda _original: drafts)


def _carrying(kept: Callable[[Doc], list[Doc]]) -> Patch:
    """Let only some of a decision's contents be looked at for cognition and size."""

    def wrap(original: Callable[[Doc], Iterator[Doc]]) -> Any:
        def carried(request: Doc) -> Iterator[Doc]:
            return iter(kept(request["decision"])) if "decision" in request else original(request)

        return carried

    return Patch(contents, "carried", wrap)


def _first_fragment(decision: Doc) -> list[Doc]:
    override = [decision["content_override"]] if "content_override" in decision else []
    return [*override, *(fragment["content"] for fragment in decision.get("fragments", [])[:1])]


def _fragments_only(decision: Doc) -> list[Doc]:
    return [fragment["content"] for fragment in decision.get("fragments", [])]


def _candidate_first(candidate: Doc, decided: Doc) -> str | None:
    kind: str | None = candidate.get("kind", decided.get("kind"))
    return kind


def _in_sum(turn: Turn, *given: Doc) -> None:
    if sum(map(contents.measure, given)) > turn.choices.limits.max_content_bytes:
        raise Refusal(Code.LIMIT_EXCEEDED)


def _below(turn: Turn, *given: Doc) -> None:
    for content in given:
        if contents.measure(content) >= turn.choices.limits.max_content_bytes:
            raise Refusal(Code.LIMIT_EXCEEDED)


def _in_characters(content: Doc) -> int:
    return len(canonical.canonical(content).decode())


def _lenient_digest(original: Callable[[Doc], str]) -> Any:
    """Digest a request whatever surrogates it holds, by their replacement."""
    return lambda request: original(json.loads(json.dumps(request, ensure_ascii=False).encode(errors="replace")))


def _lenient_measure(content: Doc) -> int:
    return len(json.dumps(content, ensure_ascii=False).encode(errors="replace"))


def _one_more(original: Callable[..., None]) -> Any:
    def admit(turn: Turn, decision: Doc, drafts: Any) -> None:
        most = turn.choices.limits.max_fragments + 1
        fragments = decision.get("fragments", [])
        spared = {**decision, "fragments": fragments[:-1]} if len(fragments) == most else decision
        original(turn, spared, drafts)

    return admit


def _defaulted(original: Callable[..., str | None]) -> Any:
    return lambda candidate, decided: original(candidate, decided) or "note"


def _unordered(original: Callable[..., Outcome]) -> Any:
    def decided(turn: Turn, space: Space, request: Doc, candidate: Doc, drafts: Any) -> Outcome:
        outcome = original(turn, space, request, candidate, drafts)
        return outcome._replace(affected=(outcome.affected[0], *outcome.affected[:0:-1]))

    return decided


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r019_{name}", RULE, sentence, patched(*patches), source)


ROWS = (Code.INVALID_VALUE, Code.LIMIT_EXCEEDED)

FAULTS: tuple[Fault, ...] = (
    _fault("proposed_content_wins", "the record holds the proposed content", _draft("promote", _proposed)),
    _fault("second_fragment_unchecked", "only the first fragment is validated", _carrying(_first_fragment)),
    _fault("first_fragment_stored", "a malformed fragment leaves those before it", leaving(_row_by_row(Code.INVALID_VALUE))),
    _fault("f20_written_row_by_row", "a bad fragment leaves those before it", leaving(_row_by_row(*ROWS)), source="F20"),
    _fault(
        "large_fragment_leaves_rows", "an oversized fragment leaves those before it",
        leaving(_row_by_row(ROWS[1])), source="ours",
    ),
    _fault("override_merged", "an override is merged into the proposed content", _draft("promote", _merged), source="ours"),
    _fault(
        "fragments_inherit_cognition", "fragments inherit the captured cognition",
        _draft("fragment", _inheriting_cognition), source="ours",
    ),
    _fault("fragments_backwards", "records come in the opposite order", _draft("fragment", _backwards), source="ours"),
    _fault("affected_backwards", "affected lists the records backwards", Patch(reviews, "decided", _unordered), source="ours"),
    _fault("one_kind_for_all", "all fragments get the first one's kind", _draft("fragment", _first_kind), source="ours"),
    _fault(
        "captured_kind_wins", "the candidate's kind wins",
        Patch(reviews, "kind_of", lambda _original: _candidate_first), source="ours",
    ),
    _fault("kind_defaults", "a record without kind becomes a note", Patch(reviews, "kind_of", _defaulted), source="ours"),
    _fault("override_unchecked", "an override is not validated", _carrying(_fragments_only), source="ours"),
    _fault("override_unmeasured", "what a review brings is not measured", Patch(reviews, "supplied", always([])), source="ours"),
    _fault(
        "measured_in_sum", "fragments are measured together",
        Patch(contents, "refuse_oversized", lambda _original: _in_sum), source="ours",
    ),
    _fault(
        "limit_is_exclusive", "content of exactly the limit is refused",
        Patch(contents, "refuse_oversized", lambda _original: _below), source="ours",
    ),
    _fault(
        "measured_in_characters", "characters are counted for bytes",
        Patch(contents, "measure", lambda _original: _in_characters), source="ours",
    ),
    _fault("one_fragment_more", "one fragment above the limit is taken", Patch(reviews, "admit", _one_more), source="ours"),
    _fault("large_override_consumes", "an oversized review discards the candidate", leaving(_consuming), source="ours"),
    _fault(
        "content_without_form", "content without canonical form is taken",
        Patch(receipts, "payload_digest", _lenient_digest), Patch(contents, "measure", lambda _original: _lenient_measure),
        source="ours",
    ),
)  # fmt: skip
