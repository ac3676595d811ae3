"""MEM-R018, candidate review: the only way from a candidate to records, once, atomic (protocol.md section 7, Capture and review).

The sibling module ``…_rights`` holds who may decide, and what a candidate gives nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.bench import Bench
from conformance.caller import Caller, all_made
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.content import contents
from strategies.identifiers import extension_maps, ids, kinds
from strategies.vocabulary import capabilities

CONTEXTS = st.sampled_from(("c1", "c2", None))
FRAGMENTS = [{"kind": "note", "content": {"text": "left"}}, {"kind": "fact", "content": {"text": "right"}}]

DECISIONS: Mapping[str, dict[str, Any] | None] = {
    "promote": {"action": "promote"},
    "override": {"action": "promote", "content_override": {"text": "override"}},
    "fragment": {"action": "fragment", "fragments": FRAGMENTS},
    "discard": {"action": "discard"},
    "dismiss": None,
}
"""Every decision; ``None`` is the dismissal, an operation of its own."""

STATES = {"promote": "promoted", "override": "promoted", "fragment": "fragmented", "discard": "discarded", "dismiss": "dismissed"}


def _request(candidate_id: str, revision: int, decision: str) -> tuple[str, dict[str, Any]]:
    """Return the operation and the members that decide on a candidate."""
    members: dict[str, Any] = {"candidate_id": candidate_id, "expected_revision": revision}
    given = DECISIONS[decision]
    return ("candidates.dismiss", members) if given is None else ("candidates.review", {**members, "decision": given})


def _decide(caller: Caller, candidate_id: str, decision: str) -> Mapping[str, Any]:
    stem, members = _request(candidate_id, 1, decision)
    receipt: Mapping[str, Any] = caller.do(stem, **members)
    return receipt


def _record_ids(world: World) -> list[str]:
    listed = world.root.all("records.list", selection=world.everything(), include_tombstones=True)
    return [record["record_id"] for record in listed]


# -- what a review makes


def _two(world: World) -> tuple[Caller, Caller]:
    """Return one who captures and another who reviews, neither of them root."""
    author = world.principal("capture", name="A", shared_access="write")
    return author, world.principal("review", "records_write", "records_read", name="R", shared_access="write")


@given(
    content=contents(),
    context=CONTEXTS,
    kind=kinds(),
    source=st.none() | ids(),
    extensions=extension_maps(),
)
def test_the_record_inherits_the_capture(
    bench: Bench, content: Any, context: str | None, kind: str, source: str | None, extensions: Any
) -> None:
    """A promoted record has the capture's scope, content, kind and source verbatim, and names candidate and reviewer."""
    world = bench.world()
    author, reviewer = _two(world)
    given_source = {} if source is None else {"source_context_id": source}
    scope = world.scope(context=context)
    candidate_id = author.capture(content=content, kind=kind, scope=scope, **given_source)
    stem, members = _request(candidate_id, 1, "promote")
    record_id = all_made(reviewer.do(stem, **members, extensions=extensions), "record")[0]
    expected = {
        "record_id": record_id,
        "space_id": world.space_id,
        "kind": kind,
        "content": content,
        "scope": scope,
        "revision": 1,
        "tombstone": None,
        "provenance": {
            "source": "review", "created_by": reviewer.principal_id, "candidate_id": candidate_id, **given_source,
        },
    }  # fmt: skip
    record = reviewer.read(record_id)
    world.same(expected, {name: record.get(name) for name in expected}, "the record is not what was captured and decided")
    world.carries(extensions, record, "memory.candidates.review: the record does not carry the request's extensions")
    world.same([record_id], _record_ids(world), "memory.candidates.review: not exactly one record was made")


@given(context=CONTEXTS, count=st.integers(2, 4), source=st.none() | ids(), extensions=extension_maps())
@pytest.mark.examples(0.6)
def test_every_fragment_inherits_the_capture(
    bench: Bench, context: str | None, count: int, source: str | None, extensions: Any
) -> None:
    """Each fragment's record has the capture's scope and source, names candidate and reviewer, and carries the extensions."""
    world = bench.world()
    author, reviewer = _two(world)
    count = min(count, int(bench.described(world)["limits"]["max_fragments"]))
    given_source = {} if source is None else {"source_context_id": source}
    scope = world.scope(context=context)
    candidate_id = author.capture(scope=scope, **given_source)
    fragments = [{"content": {"text": f"{number}"}} for number in range(count)]
    decision = {"action": "fragment", "fragments": fragments}
    members = {"candidate_id": candidate_id, "expected_revision": 1, "decision": decision, "extensions": extensions}
    record_ids = all_made(reviewer.do("candidates.review", **members), "record")
    provenance = {"source": "review", "created_by": reviewer.principal_id, "candidate_id": candidate_id, **given_source}
    for number, record_id in enumerate(record_ids):
        record = world.root.read(record_id)
        wanted = [scope, provenance, {"text": f"{number}"}]
        world.same(wanted, [record["scope"], record["provenance"], record["content"]], "a fragment's record is not its own")
        world.carries(extensions, record, "a fragment's record does not carry the request's extensions")
    world.same_set(record_ids, _record_ids(world), "memory.candidates.review: the records are not those of the fragments")


@pytest.mark.parametrize("decision", sorted(DECISIONS))
def test_the_outcome_says_what_was_decided(bench: Bench, decision: str) -> None:
    """A consumed candidate says decision, records, decider and state, at revision 2; exactly those records are the decider's."""
    world = bench.world()
    author, reviewer = _two(world)
    candidate_id = author.capture()
    receipt = _decide(reviewer, candidate_id, decision)
    candidate = world.root.candidate(candidate_id)
    records = [entry["id"] for entry in receipt["affected"] if entry["type"] == "record"]
    outcome = {name: value for name, value in candidate["outcome"].items() if name != "decided_at"}
    action = (DECISIONS[decision] or {}).get("action", decision)
    expected = {"decision": action, "record_ids": records, "decided_by": reviewer.principal_id}
    world.same(expected, outcome, "the outcome is not what was decided")
    world.same(author.principal_id, candidate["provenance"]["captured_by"], "the candidate no longer names who captured it")
    world.same([STATES[decision], 2], [candidate["state"], candidate["revision"]], "the candidate is not consumed")
    world.same_set(records, _record_ids(world), "the records are not those of the outcome")
    count = {"promote": 1, "override": 1, "fragment": 2}.get(decision, 0)
    writers = [world.root.read(record_id)["provenance"]["created_by"] for record_id in records]
    world.same([reviewer.principal_id] * count, writers, "the decision made another number of records, or for another writer")


# -- once


@pytest.mark.parametrize("first", sorted(DECISIONS))
def test_a_candidate_is_decided_once(bench: Bench, first: str) -> None:
    """After any decision every further one is refused, at the current revision too; the winner's key still replays (F14)."""
    world = bench.world()
    candidate_id = world.root.capture()
    stem, members = _request(candidate_id, 1, first)
    call = world.root.call(stem, **members)
    receipt = world.root.accepted(call)
    with world.unchanged():
        for again in DECISIONS:
            stem, members = _request(candidate_id, 2, again)
            world.root.refused(stem, Code.CANDIDATE_CONSUMED, **members)
        world.same(receipt, world.root.accepted(call), "the decision's own key is answered with something else")
    _decide(world.root, world.root.capture(), first)


@given(decisions=st.lists(st.sampled_from(sorted(DECISIONS)), min_size=2, max_size=6))
@pytest.mark.examples(0.5)
def test_of_a_series_of_decisions_the_first_holds(bench: Bench, decisions: list[str]) -> None:
    """Whatever is decided later, outcome and records stay those of the first decision."""
    world = bench.world()
    candidate_id = world.root.capture()
    _decide(world.root, candidate_id, decisions[0])
    before, records = world.root.candidate(candidate_id), _record_ids(world)
    for again in decisions[1:]:
        stem, members = _request(candidate_id, 2, again)
        world.root.refused(stem, Code.CANDIDATE_CONSUMED, **members)
    world.same(before, world.root.candidate(candidate_id), "a later decision changed the candidate")
    world.same_set(records, _record_ids(world), "a later decision changed the records")


def test_decisions_on_one_candidate_touch_no_other(bench: Bench) -> None:
    """Candidates of equal content are decided each on its own."""
    world = bench.world()
    captured = {decision: world.root.capture() for decision in DECISIONS}
    for decision, candidate_id in captured.items():
        _decide(world.root, candidate_id, decision)
    seen = {decision: world.root.candidate(candidate_id)["state"] for decision, candidate_id in captured.items()}
    world.same(STATES, seen, "a decision on one candidate touched another")


@pytest.mark.parametrize("round_", range(3))
def test_of_decisions_that_arrive_together_one_is_taken(bench: Bench, round_: int) -> None:
    """Three principals decide on one candidate at the same time: one decision holds, and the records are its (F14)."""
    world = bench.world()
    held = capabilities(world.bundle)
    deciders = [world.principal(*held, name=name, shared_access="write") for name in ("A", "B", "C")]
    candidate_id = world.root.capture()
    wanted = [("promote", "discard", "dismiss", "fragment")[(round_ + turn) % 4] for turn in range(3)]
    calls = []
    for caller, decision in zip(deciders, wanted, strict=True):
        stem, members = _request(candidate_id, 1, decision)
        calls.append(caller.call(stem, **members))
    replies = world.at_once(calls)
    won = [number for number, reply in enumerate(replies) if reply.ok]
    world.same(1, len(won), "of decisions that arrived together not exactly one committed")
    losers = {world.bundle.code(code) for code in (Code.CANDIDATE_CONSUMED, Code.REVISION_STALE)}
    others = [reply.error for reply in replies if not reply.ok and reply.code not in losers]
    world.expect(not others, "a decision that came late was refused for another reason", seen=others)
    outcome = world.root.candidate(candidate_id)["outcome"]
    world.same(wanted[won[0]], outcome["decision"], "the outcome is not the decision that committed")
    world.same(deciders[won[0]].principal_id, outcome["decided_by"], "the outcome names another decider")
    world.same_set(outcome["record_ids"], _record_ids(world), "the records are not those of the decision that committed")


# -- all or nothing


def test_a_refused_review_makes_no_record(bench: Bench) -> None:
    """A review refused by a fence, a freeze, a revision or a missing kind makes no record and leaves the candidate pending."""
    world = bench.world()
    scope = world.scope()
    kindless = world.root.do("capture", scope=scope, content={"text": "a"})["affected"][0]["id"]
    candidate_id = world.root.capture()
    context = {"type": "context", "context_id": scope["context_id"]}
    for decision in ("promote", "fragment"):
        stem, members = _request(candidate_id, 1, decision)
        with world.unchanged():
            world.root.refused(stem, Code.REVISION_AHEAD, **{**members, "expected_revision": 2})
        world.root.do("subjects.fence", target=context, action="fence")
        with world.unchanged():
            world.root.refused(stem, Code.CONTEXT_FENCED, **members)
        world.root.do("subjects.fence", target=context, action="unfence")
    stem, members = _request(kindless, 1, "promote")
    with world.unchanged():
        world.root.refused(stem, Code.INVALID_VALUE, **members)
    _decide(world.root, candidate_id, "promote")
    world.root.do(stem, **{**members, "decision": {"action": "promote", "kind": "note"}})
    world.same(2, len(_record_ids(world)), "the two reviews put right did not make their records")
