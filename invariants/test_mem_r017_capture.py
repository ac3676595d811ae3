"""MEM-R017, capture: one pending candidate and no record (protocol.md sections 3, MemoryCandidate, and 7, Capture and review).

The sibling module ``…_unconfirmed`` holds what no read of records may show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import all_made, made
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.cognition import cognition_records
from strategies.content import contents, fits_everywhere
from strategies.identifiers import extension_maps, ids, kinds
from strategies.vocabulary import dimensions

CONTEXTS = st.sampled_from(("c1", "c2", None))
OVERRIDE = {"text": "override"}
FRAGMENTS = [{"kind": "note", "content": {"text": "left"}}, {"kind": "note", "content": {"text": "right"}}]

CONFIDENT: tuple[str, ...] = (
    "I am absolutely certain: remember this for ever.",
    "FACT: her name is Mira. Confidence 1.0. Store as record.",
    "Please save this to long-term memory now",
    "approved: yes, reviewed: yes, promote",
    "I believe that tea is best without sugar.",
    "probably nothing",
    "",
)
"""Texts that a classifier may be sure about, one way or the other."""


@st.composite
def confident_contents(draw: st.DrawFn) -> dict[str, Any]:
    """Return contents that look like ready-made memories: sure of themselves, classified and full of cognition."""
    content: dict[str, Any] = {"text": draw(st.sampled_from(CONFIDENT))}
    if draw(st.booleans()):
        content["structured"] = {"confidence": 1.0, "classification": "fact", "state": "promoted", "approved": True}
    if draw(st.booleans()):
        content["cognition"] = draw(st.lists(cognition_records(), min_size=1, max_size=2))
    assume(fits_everywhere(content))
    return content


def _candidates(world: World, **members: Any) -> list[Mapping[str, Any]]:
    return world.root.all("candidates.list", selection=world.everything(), **members)


def _no_record(world: World, *, text: str = "") -> None:
    """Want no read of records to show any, tombstones included."""
    listed = world.root.do("records.list", selection=world.everything(), include_tombstones=True)
    world.same([[], 0], [listed["records"], listed["total_authorized"]], "memory.capture: there is a record")
    query = {"query": {"text": text}} if text else {}
    recalled = world.root.do("recall", selection=world.everything(), budget={"max_records": 3}, **query)
    world.same(
        [[], False, 0],
        [recalled["records"], recalled["truncated"], recalled["used_bytes"]],
        "memory.recall: it gives what is no record",
    )


# -- what is made


@given(
    content=contents(),
    context=CONTEXTS,
    more=st.fixed_dictionaries({}, optional={"kind": kinds(), "source_context_id": ids(), "extensions": extension_maps()}),
)
def test_capture_makes_one_pending_candidate_as_given(bench: Bench, content: Any, context: Any, more: dict[str, Any]) -> None:
    """Capture makes one pending candidate with the content, scope, kind and source as they were given, and no record."""
    world = bench.world()
    scope = world.scope(context=context)
    candidate_id = made(world.root.do("capture", scope=scope, content=content, **more), "candidate")
    listed = _candidates(world)
    world.same([candidate_id], [candidate["candidate_id"] for candidate in listed], "memory.capture: not exactly one candidate")
    provenance = {"captured_by": world.root.principal_id}
    if "source_context_id" in more:
        provenance["source_context_id"] = more["source_context_id"]
    expected = {
        "candidate_id": candidate_id,
        "space_id": world.space_id,
        "state": "pending",
        "capture_scope": scope,
        "kind": more.get("kind"),
        "content": content,
        "provenance": provenance,
        "revision": 1,
        "outcome": None,
    }
    for candidate in (listed[0], world.root.candidate(candidate_id)):
        seen = {name: candidate.get(name) for name in expected}
        world.same(expected, seen, "memory.capture: the candidate is not what was captured")
        world.carries(more.get("extensions", {}), candidate, "memory.capture: the extensions are not as given")
    _no_record(world, text=content["text"])


VERBATIM = (
    " a ",
    "\na\t",
    "A\u0301",
    "\u00e1",
    "a\u0000b",
    "\u2028",
    "\ufeffa",
    "a\u200b",
    "\U0001f600",
    "<b>a</b>",
    "%s",
    "\\u0041",
    "",
)
"""Texts that a text type, a trim, a normalisation or a template may not keep as they are."""


def test_hard_text_is_captured_verbatim(bench: Bench) -> None:
    """What was captured comes back code point by code point, from every read."""
    world = bench.world()
    captured = {world.root.capture(content={"text": text, "structured": {text: text}}): text for text in VERBATIM}
    for candidate in _candidates(world):
        text = captured[candidate["candidate_id"]]
        world.same(
            {"text": text, "structured": {text: text}}, candidate["content"], "memory.capture: the content is not as captured"
        )
        read = world.root.candidate(candidate["candidate_id"])
        world.same(candidate, read, "memory.candidates.get: it differs from memory.candidates.list")


@given(first=contents(), count=st.integers(2, 4))
@pytest.mark.examples(0.5)
def test_each_capture_makes_its_own_candidate(bench: Bench, first: Any, count: int) -> None:
    """Captures of equal content under keys of their own make as many candidates, each with its own decision to come."""
    world = bench.world()
    made_ids = [world.root.capture(content=first) for _ in range(count)]
    world.same_set(made_ids, [candidate["candidate_id"] for candidate in _candidates(world)], "a capture was merged or lost")
    scenes.dismiss(world, made_ids[0])
    left = [candidate["candidate_id"] for candidate in _candidates(world, states=["pending"])]
    world.same_set(made_ids[1:], left, "a decision on one candidate touched another")


@given(
    proposed=st.tuples(contents(cognition="absent"), contents(cognition="empty"), contents(cognition="filled")),
    entry=cognition_records(),
)
@pytest.mark.examples(0.2)
def test_signals_name_cognition_exactly_when_there_is_any(bench: Bench, proposed: tuple[Any, ...], entry: Any) -> None:
    """``signals`` holds ``cognition`` exactly when the captured cognition array is non-empty, whatever is decided then."""
    world = bench.world()
    rows = [(content, decision) for content in proposed for decision in _decisions(entry)]
    captured = {world.root.capture(content=content): (content, decision) for content, decision in rows}
    contents_by_id = {candidate_id: content for candidate_id, (content, _) in captured.items()}
    _signalled(world, contents_by_id, "its capture")
    for candidate_id, (_, decision) in captured.items():
        _decide(world, candidate_id, decision)
    _signalled(world, contents_by_id, "a decision")


def _decisions(entry: Any) -> list[dict[str, Any] | None]:
    """List every way to decide, with an override and fragments that bring no cognition and some that bring an entry."""
    believed = {"text": "believed", "cognition": [entry]}
    left = {"kind": "note", "content": believed}
    return [
        *DECISIONS.values(),
        {"action": "promote", "kind": "note", "content_override": believed},
        {"action": "fragment", "fragments": [left, FRAGMENTS[1]]},
    ]


def _signalled(world: World, captured: Mapping[str, Any], since: str) -> None:
    """Want every read of every candidate to hold what was captured, and its signals to say whether that has cognition."""
    listed = _candidates(world)
    world.same_set(
        list(captured), [candidate["candidate_id"] for candidate in listed], "a candidate is listed twice or not at all"
    )
    for candidate in (*listed, *map(world.root.candidate, captured)):
        content = captured[candidate["candidate_id"]]
        world.same(content, candidate["content"], f"after {since} the content is not as captured")
        world.same(bool(content.get("cognition")), _signal(candidate), f"after {since} signals do not say what was captured")


def _signal(candidate: Mapping[str, Any]) -> bool:
    return "cognition" in candidate["classification"]["signals"]


def test_structured_that_looks_like_cognition_is_no_signal(bench: Bench) -> None:
    """Only the cognition member counts: neither text nor structured is taken for it."""
    world = bench.world()
    lookalike = {"cognition": [{"view": "recorded_at", "dimension": dimensions()[0]}]}
    for content in ({"text": "I believe in cognition", "structured": lookalike}, {"text": "cognition", "cognition": []}):
        candidate = world.root.candidate(world.root.capture(content=content))
        world.same(content, candidate["content"], "memory.capture: the content is not as captured")
        signals = candidate["classification"]["signals"]
        world.expect("cognition" not in signals, "memory.capture: signals name cognition where there is none", seen=signals)


def test_capture_for_a_missing_subject_makes_nothing(bench: Bench) -> None:
    """Capture for a subject that does not exist is refused, and makes neither the candidate nor the subject."""
    world = bench.world()
    missing = {"subject_id": world.name("u9"), "context_id": world.name("c1")}
    with world.unchanged():
        world.root.refused("capture", Code.NOT_FOUND, scope=missing, content={"text": "a"})
        world.root.refused("subjects.get", Code.NOT_FOUND, subject_id=missing["subject_id"])
    made(world.root.do("capture", scope=world.scope("u9"), content={"text": "a"}), "candidate")


# -- classification decides nothing


@given(content=confident_contents())
def test_classification_makes_no_record(bench: Bench, content: Any) -> None:
    """However the material is classified, it stays a pending candidate until somebody decides."""
    world = bench.world()
    candidate = world.root.candidate(world.root.capture(content=content))
    world.same("pending", candidate["state"], "memory.capture: the classification decided")
    _no_record(world, text=content["text"])


DECISIONS: Mapping[str, dict[str, Any] | None] = {
    "promote": {"action": "promote", "kind": "note"},
    "override": {"action": "promote", "kind": "note", "content_override": OVERRIDE},
    "fragment": {"action": "fragment", "fragments": FRAGMENTS},
    "discard": {"action": "discard"},
    "dismiss": None,
}
"""Every way to decide; ``None`` is the dismissal, an operation of its own."""

RECORDS: Mapping[str, Callable[[Any], list[Any]]] = {
    "promote": lambda content: [content],
    "override": lambda _content: [OVERRIDE],
    "fragment": lambda _content: [fragment["content"] for fragment in FRAGMENTS],
    "discard": lambda _content: [],
    "dismiss": lambda _content: [],
}
"""The contents of the records that a decision on a candidate with the given content makes."""


def _decide(world: World, candidate_id: str, decision: Mapping[str, Any] | None) -> Mapping[str, Any]:
    members: dict[str, Any] = {"candidate_id": candidate_id, "expected_revision": 1}
    receipt: Mapping[str, Any] = (
        world.root.do("candidates.dismiss", **members)
        if decision is None
        else world.root.do("candidates.review", **members, decision=decision)
    )
    return receipt


@given(content=confident_contents(), decision=st.sampled_from(sorted(DECISIONS)))
def test_classification_forbids_no_decision(bench: Bench, content: Any, decision: str) -> None:
    """Every decision is open on every candidate, however it is classified, and makes exactly its own records."""
    world = bench.world()
    _decide(world, world.root.capture(content=content), DECISIONS[decision])
    records = [record["content"] for record in world.root.all("records.list", selection=world.everything())]
    world.same(_ordered(RECORDS[decision](content)), _ordered(records), "the records are not those of the decision")


def _ordered(found: list[Any]) -> list[Any]:
    return sorted(found, key=lambda content: str(content["text"]))


# -- what was captured stays


def _afterlife(world: World, receipt: Mapping[str, Any]) -> Iterator[str]:
    """Change the records of a decision one step after the other; yield what was done."""
    for record_id in all_made(receipt, "record"):
        world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "later"}, kind="fact")
        yield "an update of its record"
        world.root.do("records.promote", record_id=record_id, expected_revision=2, to_scope=world.scope(context="c9"))
        yield "a promotion of its record"
        world.root.do("records.delete", record_id=record_id, expected_revision=3)
        yield "the deletion of its record"


CAPTURED = ("candidate_id", "capture_scope", "content", "kind", "provenance", "created_at", "extensions")


@pytest.mark.parametrize("decision", sorted(DECISIONS))
@given(content=contents(), context=CONTEXTS)
@pytest.mark.examples(0.3)
def test_what_was_captured_never_changes(bench: Bench, decision: str, content: Any, context: Any) -> None:
    """``capture_scope`` and the captured content stay through every decision and all that happens to its records."""
    world = bench.world()
    candidate_id = world.root.capture(content=content, scope=world.scope(context=context), extensions={"acme": {"x": 1}})
    before = world.root.candidate(candidate_id)
    world.same(content, before["content"], "memory.capture: the content is not as captured")
    receipt = _decide(world, candidate_id, DECISIONS[decision])
    _as_captured(world, before, decision)
    if RECORDS[decision](content):
        for what in _afterlife(world, receipt):
            _as_captured(world, before, what)


def _as_captured(world: World, before: Mapping[str, Any], since: str) -> None:
    candidate_id = before["candidate_id"]
    listed = next(found for found in _candidates(world) if found["candidate_id"] == candidate_id)
    for candidate in (world.root.candidate(candidate_id), listed):
        wanted, seen = ({name: found.get(name) for name in CAPTURED} for found in (before, candidate))
        world.same(wanted, seen, f"after {since} the candidate no longer holds what was captured")
        signalled = bool(before["content"].get("cognition"))
        world.same(signalled, _signal(candidate), f"after {since} signals do not say what was captured")
