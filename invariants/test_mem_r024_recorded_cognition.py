"""MEM-R024: recorded cognition stays as it was written, is checked before bytes are counted, and is never made up.

protocol.md section 3 (Content, CognitionRecord) and section 6, checks 5 and 8. A ``cognition`` member that is no array at all may
be refused at dispatch or by the operation: the contract leaves its schema open and names records alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, all_made, made
from conformance.exchange import Call
from conformance.wire.canonical import content_bytes
from conformance.wire.vocabulary import Code, Field, Flag, Reason
from conformance.world import World
from strategies.broken_cognition import NO_ARRAYS
from strategies.content import broken_cognition, broken_cognition_records, content_of_bytes, contents, profile_contents
from strategies.json_values import STORED_SHAPES

ENTRY = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "it rains",
    "attribution": {"holder_id": "ann", "asserted_by": "bob"},
    "basis": {"kind": "inferred", "refs": ["a", "b", "a"]},
    "time": {"recorded_at": "2026-01-01T00:00:00.000Z", "occurred_at": "2024-02-29T23:59:59.1234567890Z"},
}
PLAIN = {"text": "plain"}


def capture(world: World, content: Any) -> Call:
    """Carry a content into a candidate."""
    return world.root.call("capture", content=content, scope=world.scope(), kind="note")


def create(world: World, content: Any) -> Call:
    """Carry a content into a new record."""
    return world.root.call("records.create", content=content, scope=world.scope(), kind="note")


def update(world: World, content: Any) -> Call:
    """Carry a content into a record that had another one, with cognition."""
    record_id = world.root.create(content={**PLAIN, "cognition": [ENTRY]})
    return world.root.call("records.update", record_id=record_id, expected_revision=1, content=content)


def review(world: World, decision: Mapping[str, Any]) -> Call:
    """Decide on a new candidate that has cognition."""
    candidate_id = world.root.capture(content={**PLAIN, "cognition": [ENTRY]})
    return world.root.call("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def override(world: World, content: Any) -> Call:
    """Carry a content into a record as the override of a review."""
    return review(world, {"action": "promote", "content_override": content})


def first_fragment(world: World, content: Any) -> Call:
    """Carry a content into a record as the first fragment of two."""
    return review(world, {"action": "fragment", "fragments": [{"content": content}, {"content": PLAIN}]})


def last_fragment(world: World, content: Any) -> Call:
    """Carry a content into a record as the last fragment of two."""
    return review(world, {"action": "fragment", "fragments": [{"content": PLAIN}, {"content": content}]})


CARRIERS = {
    "capture": capture,
    "create": create,
    "update": update,
    "override": override,
    "first_fragment": first_fragment,
    "last_fragment": last_fragment,
}
carried = pytest.mark.parametrize("carrier", CARRIERS)


def readings(world: World, carrier: str, receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content that a carrier stored, by every operation that reads it."""
    if carrier == "capture":
        candidate_id = made(receipt, "candidate")
        listed = world.root.all("candidates.list", selection=world.everything())
        return {
            "candidates.get": world.root.candidate(candidate_id)["content"],
            "candidates.list": next(one["content"] for one in listed if one["candidate_id"] == candidate_id),
        }
    record_id = all_made(receipt, "record")[-1 if carrier == "last_fragment" else 0]
    listed = world.root.all("records.list", selection=world.everything())
    recalled = world.root.do("recall", selection=world.everything(), budget={"max_records": 10})["records"]
    return {
        "records.get": world.root.read(record_id)["content"],
        "records.list": next(one["content"] for one in listed if one["record_id"] == record_id),
        "recall": next(one["content"] for one in recalled if one["record_id"] == record_id),
    }


def verbatim(bench: Bench, carrier: str, content: Any) -> World:
    """Carry a content in a fresh world and expect it verbatim from every read; return the world."""
    world = bench.world()
    receipt = world.root.accepted(CARRIERS[carrier](world, content))
    for stem, seen in readings(world, carrier, receipt).items():
        world.same(content, seen, f"memory.{stem} does not give the content of {carrier} back as it was written")
    return world


@carried
@given(content=contents())
@pytest.mark.examples(0.6)
def test_content_comes_back_as_it_was_written(bench: Bench, carrier: str, content: Any) -> None:
    """Absent stays absent, ``[]`` stays ``[]``, records and all else stay verbatim, on every carrier and by every read."""
    verbatim(bench, carrier, content)


@carried
@pytest.mark.parametrize("cognition", [None, [], [ENTRY], [ENTRY, ENTRY]], ids=["absent", "empty", "one", "twice"])
def test_absent_empty_and_filled_are_three_values(bench: Bench, carrier: str, cognition: Any) -> None:
    """Absent cognition, ``[]`` and records, a repeated one too, are different values on every carrier."""
    verbatim(bench, carrier, PLAIN if cognition is None else {**PLAIN, "cognition": cognition})


@carried
def test_any_structured_comes_back_as_it_was_written(bench: Bench, carrier: str) -> None:
    """``structured`` takes any JSON and gives it back deep-equal: nulls, empties, nests, odd names, changing types."""
    for shape in STORED_SHAPES:
        content = {"text": "a", "structured": shape}
        if content_bytes(content) <= 1024:
            verbatim(bench, carrier, content)


@given(content=profile_contents(), extension=st.sampled_from([shape for shape in STORED_SHAPES if isinstance(shape, dict)]))
def test_profiles_and_extensions_take_any_json_too(bench: Bench, content: Any, extension: Any) -> None:
    """A profile's ``structured`` and an extension's object come back deep-equal."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    members = {"subject_id": subject_id, "kind": "preferences", "content": content, "expected_revision": None}
    world.root.do("profile.update", **members, extensions={"acme": extension})
    document = world.root.do("profile.get", subject_id=subject_id, kinds=["preferences"])["documents"][0]
    world.same(content, document["content"], "the profile's content is not as it was written")
    world.same({"acme": extension}, document["extensions"], "the extension is not as it was written")


def refused_as_malformed(world: World, caller: Caller, call: Call, label: str) -> None:
    """Expect the operation layer's refusal of a malformed record; what is no array may be refused at dispatch instead."""
    if label in dict(NO_ARRAYS):
        reply = world.exchange(call)
        world.expect_refusal(call, reply, (Code.INVALID_VALUE, Code.MALFORMED_REQUEST))
        return
    caller.must_refuse(call, Code.INVALID_VALUE, reason=Reason.BAD_COGNITION_RECORD, field=Field.COGNITION)


@carried
@given(broken=broken_cognition())
@pytest.mark.examples(0.6)
def test_a_malformed_record_is_refused(bench: Bench, carrier: str, broken: tuple[str, Any]) -> None:
    """A malformed record, at any place, refuses the request on ``content.cognition``; with a valid one it is accepted."""
    world = bench.world()
    label, cognition = broken
    call = CARRIERS[carrier](world, {**PLAIN, "cognition": cognition})
    with world.unchanged(f"a refused {carrier} with a malformed record changed something"):
        refused_as_malformed(world, world.root, call, label)
    world.root.accepted(CARRIERS[carrier](world, {**PLAIN, "cognition": [ENTRY]}))


@carried
@given(broken=broken_cognition_records())
@pytest.mark.examples(0.3)
def test_records_are_checked_before_bytes(bench: Bench, carrier: str, broken: tuple[str, Any]) -> None:
    """A malformed record in a content above ``max_content_bytes`` is reported as such; with a valid record it is the bytes."""
    world = bench.world()
    huge = content_of_bytes(bench.described(world)["limits"]["max_content_bytes"] + 1)
    bad = CARRIERS[carrier](world, {**huge, "cognition": [broken[1]]})
    world.root.must_refuse(bad, Code.INVALID_VALUE, reason=Reason.BAD_COGNITION_RECORD, field=Field.COGNITION)
    world.root.must_refuse(CARRIERS[carrier](world, {**huge, "cognition": [ENTRY]}), Code.LIMIT_EXCEEDED)


@carried
@pytest.mark.parametrize(
    "extra", [{}, {"cognition": []}, {"cognition": [ENTRY]}, {"structured": None}], ids=["text", "empty", "one", "null"]
)
@pytest.mark.parametrize("multibyte", [False, True], ids=["ascii", "multibyte"])
def test_every_present_member_is_metered(bench: Bench, carrier: str, extra: Mapping[str, Any], multibyte: bool) -> None:
    """A content of exactly ``max_content_bytes`` is taken, one byte more is not; every present member counts, ``[]`` too."""
    world = bench.world()
    most = bench.described(world)["limits"]["max_content_bytes"]
    rest = most - content_bytes({"text": "", **extra}) + content_bytes({"text": ""})
    exact, above = ({**content_of_bytes(size, multibyte=multibyte), **extra} for size in (rest, rest + 1))
    refused = CARRIERS[carrier](world, above)
    with world.unchanged(f"a refused {carrier} above the limit changed something"):
        world.root.must_refuse(refused, Code.LIMIT_EXCEEDED)
    world.root.accepted(CARRIERS[carrier](world, exact))


LOOKING_LIKE_COGNITION = (
    {"text": "a", "structured": ENTRY},
    {"text": "a", "structured": [ENTRY]},
    {"text": "a", "structured": {"cognition": [ENTRY]}},
    {"text": '{"cognition": [{"view": "recorded_at", "dimension": "belief"}]}'},
    {"text": "ann believes that it rains", "structured": {"dimension": "belief", "holder_id": "ann"}},
    {"text": "a", "structured": {"cognition": [ENTRY]}, "cognition": []},
)


@carried
def test_nothing_is_promoted_to_cognition(bench: Bench, carrier: str) -> None:
    """Text and ``structured`` that look like cognition stay what they are: no cognition appears and no filter finds it."""
    for content in LOOKING_LIKE_COGNITION:
        world = verbatim(bench, carrier, content)
        if bench.declares(Flag.COGNITION) and carrier not in ("capture", "update"):
            found = world.root.do("records.list", selection=world.everything(), cognition_filter={"holder_id": "ann"})
            world.same(0, found["total_authorized"], "a cognition filter finds what was never recorded as cognition")


def test_cognition_counts_in_the_classification_of_a_capture(bench: Bench) -> None:
    """``signals`` holds ``cognition`` exactly when the captured cognition array is non-empty."""
    world = bench.world()
    for cognition, expected in ((None, False), ([], False), ([ENTRY], True)):
        content = PLAIN if cognition is None else {**PLAIN, "cognition": cognition}
        signals = world.root.candidate(world.root.capture(content=content))["classification"]["signals"]
        world.same(expected, "cognition" in signals, f"signals are wrong for a capture with cognition {cognition}")


@pytest.mark.needs(controls=["restart"])
def test_the_three_values_outlive_a_restart(bench: Bench) -> None:
    """Absent, ``[]`` and records are the same after a restart."""
    world = bench.world()
    written = [PLAIN, {**PLAIN, "cognition": []}, {**PLAIN, "cognition": [ENTRY]}]
    records = [(world.root.create(content=content), content) for content in written]
    bench.levers.restart()
    for record_id, content in records:
        world.same(content, world.root.read(record_id)["content"], "a restart changed a content")


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_the_three_values_survive_a_move(bench: Bench) -> None:
    """Absent, ``[]`` and records are the same in an export."""
    world = bench.world()
    written = [PLAIN, {**PLAIN, "cognition": []}, {**PLAIN, "cognition": [ENTRY]}]
    records = {world.root.create(content=content): content for content in written}
    _, chunks = scenes.fetched(world, scenes.export(world))
    items = [item["value"] for chunk in chunks for item in chunk["items"] if item["type"] == "record"]
    world.same(
        records, {item["record_id"]: item["content"] for item in items}, "the export does not hold the contents as written"
    )
