"""MEM-R019, review overrides: what a reviewer writes is judged on its own, wins, and is stored whole or not at all.

protocol.md sections 6 (overrides and fragments are validated before any state changes) and 7, Capture and review; F20.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.bench import Bench
from conformance.caller import all_made
from conformance.exchange import Call
from conformance.expect import Inconclusive
from conformance.wire.vocabulary import Code, Field, Reason
from conformance.world import World
from strategies.content import broken_cognition, content_of_bytes, contents, uncanonical_contents
from strategies.identifiers import kinds

Decision = dict[str, Any]

ROOM = 900_000
"""Bytes that a request surely may have: 1 MiB, less what stands around the content."""

MOST = 10
"""Fragments of a full review, where the provider takes more."""


def _limits(bench: Bench, world: World) -> tuple[int, int]:
    """Return the announced ``max_content_bytes`` and ``max_fragments``."""
    limits = bench.described(world)["limits"]
    return int(limits["max_content_bytes"]), int(limits["max_fragments"])


def _review(world: World, candidate_id: str, decision: Decision) -> Call:
    return world.root.call("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def _contents(world: World, receipt: Mapping[str, Any]) -> list[Any]:
    """Return the contents of a receipt's records, in its order."""
    return [world.root.read(record_id)["content"] for record_id in all_made(receipt, "record")]


def _promote(content: Any, **more: Any) -> Decision:
    return {"action": "promote", "content_override": content, **more}


def _fragment(fragments: Sequence[Any]) -> Decision:
    return {"action": "fragment", "fragments": [{"content": content} for content in fragments]}


# -- it wins


@given(captured=contents(), override=contents())
def test_an_override_wins_over_the_proposed_content(bench: Bench, captured: Any, override: Any) -> None:
    """The record holds the override and nothing of the proposed content; the candidate keeps what was captured."""
    world = bench.world()
    candidate_id = world.root.capture(content=captured)
    receipt = world.root.accepted(_review(world, candidate_id, _promote(override)))
    world.same([override], _contents(world, receipt), "memory.candidates.review: the record's content is not the override")
    world.same(captured, world.root.candidate(candidate_id)["content"], "an override changed the captured content")
    listed = world.root.all("records.list", selection=world.everything())
    world.same([override], [record["content"] for record in listed], "memory.records.list: the content is not the override")


@given(captured=contents(), fragments=st.lists(contents(), min_size=2, max_size=4))
@pytest.mark.examples(0.8)
def test_fragments_carry_their_own_content(bench: Bench, captured: Any, fragments: list[Any]) -> None:
    """Each record holds its own fragment, in the order of the fragments, and nothing of the proposed content."""
    world = bench.world()
    fragments = fragments[: max(2, min(len(fragments), _limits(bench, world)[1]))]
    candidate_id = world.root.capture(content=captured)
    receipt = world.root.accepted(_review(world, candidate_id, _fragment(fragments)))
    world.same(fragments, _contents(world, receipt), "memory.candidates.review: a record's content is not its fragment")
    world.same(captured, world.root.candidate(candidate_id)["content"], "fragments changed the captured content")
    outcome = world.root.candidate(candidate_id)["outcome"]["record_ids"]
    world.same(all_made(receipt, "record"), outcome, "the outcome does not name the records in the order of the fragments")


def test_absent_members_of_an_override_stay_absent(bench: Bench) -> None:
    """An override is a whole content: what it leaves out is not filled from the proposed content."""
    world = bench.world()
    entry = world.bundle.schema(world.bundle.model_ref("CognitionRecord"))["examples"][0]
    captured = {"text": "proposed", "structured": {"proposed": True}, "cognition": [entry]}
    for override in ({"text": ""}, {"text": "a", "structured": None}, {"text": "a", "cognition": []}):
        candidate_id = world.root.capture(content=captured)
        receipt = world.root.accepted(_review(world, candidate_id, _promote(override)))
        world.same([override], _contents(world, receipt), "memory.candidates.review: the record's content is not the override")
    receipt = world.root.accepted(_review(world, world.root.capture(content=captured), _fragment([{"text": ""}, captured])))
    world.same([{"text": ""}, captured], _contents(world, receipt), "memory.candidates.review: a record is not its fragment")


@given(captured=st.none() | kinds(), decided=st.none() | kinds())
def test_the_kind_is_the_decision_s_else_the_candidate_s(bench: Bench, captured: str | None, decided: str | None) -> None:
    """A record's kind is the decision's, else the candidate's; without both the review is refused on ``decision.kind``."""
    world = bench.world()
    candidate_id = _captured(world, captured)
    decision = {"action": "promote", **({} if decided is None else {"kind": decided})}
    if captured is None and decided is None:
        with world.unchanged():
            world.root.must_refuse(_review(world, candidate_id, decision), Code.INVALID_VALUE, field=Field.DECISION_KIND)
        decision = {"action": "promote", "kind": "note"}
    record_id = all_made(world.root.accepted(_review(world, candidate_id, decision)), "record")[0]
    expected = decision.get("kind", captured)
    world.same(expected, world.root.read(record_id)["kind"], "memory.candidates.review: the record has another kind")
    world.same(captured, world.root.candidate(candidate_id).get("kind"), "a decision changed the captured kind")


def _captured(world: World, kind: str | None, content: Any = None) -> str:
    members: dict[str, Any] = {"scope": world.scope(), "content": content or {"text": "a"}}
    return all_made(world.root.do("capture", **members, **({} if kind is None else {"kind": kind})), "candidate")[0]


@given(captured=st.none() | kinds(), decided=st.lists(st.none() | kinds(), min_size=2, max_size=2))
@pytest.mark.examples(0.8)
def test_the_kind_of_each_fragment_is_its_own(bench: Bench, captured: str | None, decided: list[str | None]) -> None:
    """A fragment's kind is its own, else the candidate's, never another fragment's."""
    world = bench.world()
    candidate_id = _captured(world, captured)
    fragments = [{"content": {"text": "a"}, **({} if kind is None else {"kind": kind})} for kind in decided]
    if captured is None and None in decided:
        with world.unchanged():
            call = _review(world, candidate_id, {"action": "fragment", "fragments": fragments})
            world.root.must_refuse(call, Code.INVALID_VALUE, field=Field.DECISION_KIND)
        fragments = [{"kind": "note", **fragment} for fragment in fragments]
    receipt = world.root.accepted(_review(world, candidate_id, {"action": "fragment", "fragments": fragments}))
    kinds_made = [world.root.read(record_id)["kind"] for record_id in all_made(receipt, "record")]
    expected = [fragment.get("kind", captured) for fragment in fragments]
    world.same(expected, kinds_made, "memory.candidates.review: a record has another kind than its fragment")


# -- it is judged on its own, before anything changes


def _then_repaired(world: World, candidate_id: str, broken: Decision, repaired: Decision, code: Code, **said: Any) -> None:
    """Want the broken review refused without a trace, and the repaired one to commit under the same key."""
    call = _review(world, candidate_id, broken)
    with world.unchanged():
        world.root.must_refuse(call, code, **said)
    key = call.payload["idempotency_key"]
    members = {"candidate_id": candidate_id, "expected_revision": 1, "decision": repaired, "idempotency_key": key}
    receipt = world.root.do("candidates.review", **members)
    wanted = [fragment["content"] for fragment in repaired["fragments"]] if "fragments" in repaired else None
    expected = [repaired["content_override"]] if wanted is None else wanted
    world.same(expected, _contents(world, receipt), "memory.candidates.review: the records are not those of the repaired review")
    listed = world.root.do("records.list", selection=world.everything())["total_authorized"]
    world.same(len(expected), listed, "memory.candidates.review: the refused review left records")


MALFORMED: Mapping[str, Any] = {"reason": Reason.BAD_COGNITION_RECORD, "field": Field.COGNITION}


@given(broken=broken_cognition(), override=contents(cognition="absent"))
def test_an_override_with_malformed_cognition_is_refused(bench: Bench, broken: tuple[str, Any], override: Any) -> None:
    """Malformed cognition in an override is refused by name, and nothing has changed."""
    world = bench.world()
    bad = {**override, "cognition": broken[1]}
    _then_repaired(world, world.root.capture(), _promote(bad), _promote(override), Code.INVALID_VALUE, **MALFORMED)


@given(broken=broken_cognition(), count=st.integers(2, 4), data=st.data())
def test_one_malformed_fragment_refuses_all(bench: Bench, broken: tuple[str, Any], count: int, data: st.DataObject) -> None:
    """One fragment with malformed cognition, at any position, refuses the whole review, and nothing has changed (F20)."""
    world = bench.world()
    count = min(count, _limits(bench, world)[1])
    good = [{"text": f"{number}"} for number in range(count)]
    position = data.draw(st.integers(0, count - 1))
    bad: list[Any] = [*good]
    bad[position] = {**good[position], "cognition": broken[1]}
    _then_repaired(world, world.root.capture(), _fragment(bad), _fragment(good), Code.INVALID_VALUE, **MALFORMED)


@given(bad=uncanonical_contents())
@pytest.mark.examples(0.6)
def test_content_without_canonical_form_is_refused(bench: Bench, bad: Any) -> None:
    """An unpaired surrogate in an override or in any fragment refuses the review, and nothing has changed (F20)."""
    world = bench.world()
    good = {"text": "a"}
    _then_repaired(world, world.root.capture(), _promote(bad), _promote(good), Code.INVALID_VALUE)
    world = bench.world()
    _then_repaired(world, world.root.capture(), _fragment([good, bad]), _fragment([good, good]), Code.INVALID_VALUE)


def _too_large(limit: int) -> dict[str, Any]:
    return content_of_bytes(limit + 1, multibyte=True)


@pytest.mark.parametrize("position", ["override", "first", "middle", "last"])
def test_content_above_the_limit_is_refused(bench: Bench, position: str) -> None:
    """One byte above ``max_content_bytes`` refuses an override and any fragment; exactly the limit is accepted (F20)."""
    world = bench.world()
    limit, most = _limits(bench, world)
    count = min(most, 3)
    if limit + 1 > ROOM - count * 100:
        raise Inconclusive(f"max_content_bytes is {limit}: a content above it may be too large for a request")
    full = content_of_bytes(limit, multibyte=True)
    candidate_id = world.root.capture()
    if position == "override":
        _then_repaired(world, candidate_id, _promote(_too_large(limit)), _promote(full), Code.LIMIT_EXCEEDED)
        return
    good = [{"text": f"{number}"} for number in range(count)]
    bad, repaired = [*good], [*good]
    index = {"first": 0, "middle": count // 2, "last": count - 1}[position]
    bad[index], repaired[index] = _too_large(limit), full
    _then_repaired(world, candidate_id, _fragment(bad), _fragment(repaired), Code.LIMIT_EXCEEDED)


def test_fragments_are_measured_one_by_one(bench: Bench) -> None:
    """Each fragment may be as large as a content can be: neither their sum nor the captured content counts."""
    world = bench.world()
    limit, most = _limits(bench, world)
    count = min(most, 3, ROOM // limit)
    if count < 2:
        raise Inconclusive(f"max_content_bytes is {limit}: two full fragments may be too large for a request")
    full = [content_of_bytes(limit, multibyte=bool(number % 2)) for number in range(count)]
    candidate_id = _captured(world, "note", content_of_bytes(limit))
    receipt = world.root.accepted(_review(world, candidate_id, _fragment(full)))
    world.same(full, _contents(world, receipt), "memory.candidates.review: a record's content is not its fragment")


def test_more_fragments_than_the_limit_are_refused(bench: Bench) -> None:
    """One fragment above ``max_fragments`` refuses the review; exactly as many are accepted (F20)."""
    world = bench.world()
    most = _limits(bench, world)[1]
    if (most + 1) * 60 > ROOM:
        raise Inconclusive(f"max_fragments is {most}: more may be too large for a request")
    fragments: list[Any] = [{"text": f"{number}"} for number in range(most + 1)]
    _then_repaired(world, world.root.capture(), _fragment(fragments), _fragment(fragments[:-1]), Code.LIMIT_EXCEEDED)


# -- one bad fragment of many, everywhere


Spoil = Callable[[dict[str, Any]], dict[str, Any]]

SPOILS: Mapping[str, tuple[Spoil, Code, Mapping[str, Any]]] = {
    "cognition": (lambda content: {**content, "cognition": [{}]}, Code.INVALID_VALUE, MALFORMED),
    "no_array": (lambda content: {**content, "cognition": "belief"}, Code.INVALID_VALUE, MALFORMED),
    "surrogate": (lambda content: {**content, "structured": {"\ud800": 1}}, Code.INVALID_VALUE, {}),
}
"""What spoils a fragment's content, and how the review is then refused."""


@pytest.mark.parametrize("position", ["second", "middle", "last"])
@pytest.mark.parametrize("spoil", sorted(SPOILS))
def test_one_bad_fragment_of_many_leaves_no_record(bench: Bench, spoil: str, position: str) -> None:
    """Of a full review one spoilt fragment refuses all: no record of the fragments before it exists (F20)."""
    world = bench.world()
    count = min(MOST, _limits(bench, world)[1])
    good: list[dict[str, Any]] = [{"text": f"{number}"} for number in range(count)]
    index = {"second": 1, "middle": count // 2, "last": count - 1}[position]
    spoiled, code, said = SPOILS[spoil]
    bad = [*good]
    bad[index] = spoiled(good[index])
    _then_repaired(world, world.root.capture(), _fragment(bad), _fragment(good), code, **said)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_one_fragment_without_kind_leaves_no_record(bench: Bench, position: int) -> None:
    """Where the candidate has no kind, one fragment without its own refuses all on ``decision.kind`` (F20)."""
    world = bench.world()
    count = min(3, _limits(bench, world)[1])
    good = [{"kind": f"kind-{number}", "content": {"text": f"{number}"}} for number in range(count)]
    bad = [*good]
    bad[min(position, count - 1)] = {"content": {"text": "a"}}
    broken, repaired = ({"action": "fragment", "fragments": fragments} for fragments in (bad, good))
    _then_repaired(world, _captured(world, None), broken, repaired, Code.INVALID_VALUE, field=Field.DECISION_KIND)


def test_a_good_and_a_bad_review_together_make_one_set_of_records(bench: Bench) -> None:
    """A good and a bad review that arrive together: the bad one is refused and the records are the good one's (F20)."""
    world = bench.world()
    good: list[Any] = [{"text": "left"}, {"text": "right"}]
    candidate_id = world.root.capture()
    calls = [_review(world, candidate_id, _fragment([good[0], {**good[1], "cognition": [{}]}])) for _ in range(3)]
    replies = world.at_once([*calls, _review(world, candidate_id, _fragment(good))])
    for call, reply in zip(calls, replies, strict=False):
        world.expect_refusal(call, reply, [Code.INVALID_VALUE], reason=Reason.BAD_COGNITION_RECORD, field=Field.COGNITION)
    world.expect(replies[-1].ok, "memory.candidates.review: a good review was refused beside a bad one", seen=replies[-1].error)
    listed = world.root.all("records.list", selection=world.everything())
    world.same_set(["left", "right"], [record["content"]["text"] for record in listed], "the records are not the good review's")


def test_a_discard_judges_no_captured_content(bench: Bench) -> None:
    """What was captured is not judged again: a full capture is promoted, fragmented and discarded as it is."""
    world = bench.world()
    limit = _limits(bench, world)[0]
    if limit > ROOM:
        raise Inconclusive(f"max_content_bytes is {limit}: a full content may be too large for a request")
    full = content_of_bytes(limit, multibyte=True)
    receipt = world.root.accepted(_review(world, _captured(world, "note", full), {"action": "promote"}))
    world.same([full], _contents(world, receipt), "memory.candidates.review: the record's content is not the captured one")
    world.root.accepted(_review(world, _captured(world, "note", full), _fragment([{"text": "a"}, {"text": "b"}])))
    world.root.accepted(_review(world, _captured(world, "note", full), {"action": "discard"}))
