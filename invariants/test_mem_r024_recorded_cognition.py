"""MEM-R024: recorded cognition stays as it was written, is checked before bytes are counted, and is never made up.

protocol.md section 3 (Content, CognitionRecord) and section 6, checks 5 and 8. A ``cognition`` member that is no array at all may
be refused at dispatch or by the operation: the contract leaves its schema open and names records alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import all_made, made
from conformance.exchange import Call
from conformance.expect import Inconclusive
from conformance.wire.canonical import content_bytes
from conformance.wire.vocabulary import Code, Field, Flag, Reason
from conformance.world import World
from strategies.broken_cognition import FAULTS, NO_ARRAYS
from strategies.content import broken_cognition, broken_cognition_records, content_of_bytes, contents, profile_contents
from strategies.json_values import HARD_TEXTS, STORED_SHAPES
from strategies.timestamps import INVALID_TIMESTAMPS

ENTRY: dict[str, Any] = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "it rains",
    "attribution": {"holder_id": "ann", "asserted_by": "bob"},
    "basis": {"kind": "inferred", "refs": ["a", "b", "a"]},
    "time": {"recorded_at": "2026-01-01T00:00:00.000Z", "occurred_at": "2024-02-29T23:59:59.1234567890Z"},
}
BARE = {
    "view": "recorded_at",
    "dimension": "emotion",
    "value": "\u00e9",
    "attribution": {"holder_id": "bob"},
    "basis": {"kind": "stated", "refs": []},
    "time": {"recorded_at": "9999-12-31T23:59:59.999999999Z"},
}
PLAIN = {"text": "plain"}
FLOOR = 1024
"""What every provider takes in content bytes (section 7, Limits)."""
LARGEST = 900_000
"""A content of so many bytes and the rest of its request are within what every provider takes in a request."""


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


def promotion(world: World, content: Any) -> Call:
    """Carry a captured content into a record as it is: no request but the capture's names it."""
    receipt = world.root.accepted(capture(world, content))
    promoted = {"action": "promote"}
    return world.root.call("candidates.review", candidate_id=made(receipt, "candidate"), expected_revision=1, decision=promoted)


WAYS = {**CARRIERS, "promotion": promotion}
arriving = pytest.mark.parametrize("carrier", WAYS)


def kept(world: World, carrier: str, bodies: Sequence[Any]) -> dict[str, Any]:
    """Carry contents, one after another, and return them by the id of the record or candidate that holds each."""
    receipts = [world.root.accepted(WAYS[carrier](world, body)) for body in bodies]
    if carrier == "capture":
        return {made(receipt, "candidate"): body for receipt, body in zip(receipts, bodies, strict=True)}
    place = -1 if carrier == "last_fragment" else 0
    return {all_made(receipt, "record")[place]: body for receipt, body in zip(receipts, bodies, strict=True)}


def readings(world: World, carrier: str, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return contents by id as each operation reads them."""
    everything = world.everything()
    if carrier == "capture":
        found = {"candidates.list": world.root.all("candidates.list", selection=everything)}
        found["candidates.get"] = [world.root.candidate(candidate_id) for candidate_id in ids]
        return {stem: {one["candidate_id"]: one["content"] for one in items} for stem, items in found.items()}
    found = {"records.list": world.root.all("records.list", selection=everything)}
    found["records.get"] = [world.root.read(record_id) for record_id in ids]
    found["recall"] = world.root.do("recall", selection=everything, budget={"max_records": 1000})["records"]
    return {stem: {one["record_id"]: one["content"] for one in items} for stem, items in found.items()}


def verbatim(world: World, carrier: str, *bodies: Any) -> None:
    """Carry contents and expect each verbatim from every read."""
    written = kept(world, carrier, bodies)
    for stem, found in readings(world, carrier, written).items():
        for object_id, body in written.items():
            what = f"memory.{stem} does not give the content of {carrier} back as it was written"
            world.same(body, found.get(object_id), what)


@arriving
@given(content=contents())
@pytest.mark.examples(0.4)
def test_content_comes_back_as_it_was_written(bench: Bench, carrier: str, content: Any) -> None:
    """Absent stays absent, ``[]`` stays ``[]``, records and all else stay verbatim, on every carrier and by every read."""
    verbatim(bench.world(), carrier, content)


@arriving
def test_absent_empty_and_filled_are_three_values(bench: Bench, carrier: str) -> None:
    """Absent cognition, ``[]`` and records, a repeated one too, are different values on every carrier."""
    filled: list[list[Any]] = [[], [ENTRY], [ENTRY, ENTRY], [BARE, ENTRY]]
    verbatim(bench.world(), carrier, PLAIN, *({**PLAIN, "cognition": cognition} for cognition in filled))


@arriving
def test_any_json_comes_back_as_it_was_written(bench: Bench, carrier: str) -> None:
    """Texts of any characters and any JSON come back equal: nulls, empties, nests, odd names, types that change."""
    bodies: list[dict[str, Any]] = [{"text": text} for text in HARD_TEXTS]
    bodies += [{"text": "a", "structured": shape} for shape in STORED_SHAPES]
    verbatim(bench.world(), carrier, *(body for body in bodies if content_bytes(body) <= FLOOR))


def test_profiles_and_extensions_take_any_json_too(bench: Bench) -> None:
    """A profile's ``structured`` and an extension's object come back deep-equal, whatever was there before."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    shapes = [shape for shape in STORED_SHAPES if content_bytes({"text": "a", "structured": shape}) <= FLOOR]
    for revision, shape in enumerate(shapes):
        members: dict[str, Any] = {"subject_id": subject_id, "kind": "preferences", "expected_revision": revision or None}
        content = {"text": "a", "structured": shape}
        world.root.do("profile.update", **members, content=content)
        document = world.root.do("profile.get", subject_id=subject_id, kinds=["preferences"])["documents"][0]
        world.same(content, document["content"], "the profile's content is not as it was written")
    for shape in (shape for shape in shapes if isinstance(shape, dict)):
        record_id = world.root.create(extensions={"acme": shape})
        world.carries({"acme": shape}, world.root.read(record_id), "the extension is not as it was written")


@given(content=profile_contents())
@pytest.mark.examples(0.4)
def test_a_profile_comes_back_as_it_was_written(bench: Bench, content: Any) -> None:
    """A profile's content comes back as it was written."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    members: dict[str, Any] = {"subject_id": subject_id, "kind": "preferences", "expected_revision": None}
    world.root.do("profile.update", **members, content=content)
    document = world.root.do("profile.get", subject_id=subject_id, kinds=["preferences"])["documents"][0]
    world.same(content, document["content"], "the profile's content is not as it was written")


def refused_as_malformed(world: World, call: Call, label: str) -> None:
    """Expect the operation layer's refusal of a malformed record; what is no array may be refused at dispatch instead."""
    if label in dict(NO_ARRAYS):
        world.root.must_refuse(call, Code.INVALID_VALUE, Code.MALFORMED_REQUEST)
        return
    world.root.must_refuse(call, Code.INVALID_VALUE, reason=Reason.BAD_COGNITION_RECORD, field=Field.COGNITION)


def every_fault() -> list[tuple[str, Any]]:
    """List each thing that can be wrong with a record, as (label, cognition), with the broken record first, last or alone."""
    broken = [(label, fault(ENTRY)) for label, fault in FAULTS.items()]
    for member in ("recorded_at", "occurred_at"):
        broken += [(f"{member} {text!r}", {**ENTRY, "time": {**ENTRY["time"], member: text}}) for text in INVALID_TIMESTAMPS]
    places = [lambda bad: [bad], lambda bad: [bad, ENTRY], lambda bad: [ENTRY, bad]]
    return [(label, places[number % 3](bad)) for number, (label, bad) in enumerate(broken)] + list(NO_ARRAYS)


def test_every_fault_of_a_record_is_refused(bench: Bench) -> None:
    """Whatever is wrong with a record, of whichever carrier, refuses the request on ``content.cognition``."""
    world = bench.world()
    carriers = list(CARRIERS.values())
    faults = bench.rows(every_fault())
    # Every fault on two carriers that lie apart in the table, so that each carrier meets a third of them.
    tries = [
        (label, cognition, carriers[(number + off) % 6]) for number, (label, cognition) in enumerate(faults) for off in (0, 3)
    ]
    calls = [(label, carrier(world, {**PLAIN, "cognition": cognition})) for label, cognition, carrier in tries]
    with world.unchanged("a refused request with a malformed record changed something"):
        for label, call in calls:
            refused_as_malformed(world, call, label)


@carried
@given(broken=broken_cognition())
@pytest.mark.examples(0.2)
def test_a_malformed_record_is_refused(bench: Bench, carrier: str, broken: tuple[str, Any]) -> None:
    """A malformed record, at any place, refuses the request on ``content.cognition``; with a valid one it is accepted."""
    world = bench.world()
    label, cognition = broken
    call = CARRIERS[carrier](world, {**PLAIN, "cognition": cognition})
    with world.unchanged(f"a refused {carrier} with a malformed record changed something"):
        refused_as_malformed(world, call, label)
    world.root.accepted(CARRIERS[carrier](world, {**PLAIN, "cognition": [ENTRY]}))


def announced(bench: Bench, world: World) -> int:
    """Return ``max_content_bytes``. Raises ``Inconclusive`` where it is near what a whole request may hold."""
    most = int(bench.described(world)["limits"]["max_content_bytes"])
    if most > LARGEST:
        raise Inconclusive(f"max_content_bytes is {most}: a request that reaches it need not be taken for its size")
    return most


@carried
@given(broken=broken_cognition_records())
@pytest.mark.examples(0.15)
def test_records_are_checked_before_bytes(bench: Bench, carrier: str, broken: tuple[str, Any]) -> None:
    """A malformed record in a content above ``max_content_bytes`` is reported as such; with a valid record it is the bytes."""
    world = bench.world()
    huge = content_of_bytes(announced(bench, world) + 1)
    bad = CARRIERS[carrier](world, {**huge, "cognition": [broken[1]]})
    world.root.must_refuse(bad, Code.INVALID_VALUE, reason=Reason.BAD_COGNITION_RECORD, field=Field.COGNITION)
    world.root.must_refuse(CARRIERS[carrier](world, {**huge, "cognition": [ENTRY]}), Code.LIMIT_EXCEEDED)


METERED: tuple[tuple[Mapping[str, Any], bool], ...] = (
    ({}, True),
    ({"cognition": []}, False),
    ({"cognition": [ENTRY]}, False),
    ({"structured": None}, False),
    ({"structured": {"\u20ac": "\u00e9"}, "cognition": [BARE]}, True),
)


@carried
def test_every_present_member_is_metered(bench: Bench, carrier: str) -> None:
    """A content of exactly ``max_content_bytes`` is taken, one byte more is not; every present member counts, ``[]`` too."""
    world = bench.world()
    most = announced(bench, world)
    exact, above = [], []
    for extra, multibyte in METERED:
        rest = most - content_bytes({"text": "", **extra}) + content_bytes({"text": ""})
        exact.append({**content_of_bytes(rest, multibyte=multibyte), **extra})
        above.append({**content_of_bytes(rest + 1, multibyte=multibyte), **extra})
    refused = [CARRIERS[carrier](world, body) for body in above]
    with world.unchanged(f"a refused {carrier} above the limit changed something"):
        for call in refused:
            world.root.must_refuse(call, Code.LIMIT_EXCEEDED)
    for body in exact:
        world.root.accepted(CARRIERS[carrier](world, body))


LOOKING_LIKE_COGNITION = (
    {"text": "a", "structured": ENTRY},
    {"text": "a", "structured": [ENTRY]},
    {"text": "a", "structured": {"cognition": [ENTRY]}},
    {"text": '{"cognition": [{"view": "recorded_at", "dimension": "belief"}]}'},
    {"text": "ann believes that it rains", "structured": {"dimension": "belief", "holder_id": "ann"}},
    {"text": "a", "structured": {"cognition": [ENTRY]}, "cognition": []},
)


@arriving
def test_nothing_is_promoted_to_cognition(bench: Bench, carrier: str) -> None:
    """Text and ``structured`` that look like cognition stay what they are: no cognition appears and no filter finds it."""
    world = bench.world()
    verbatim(world, carrier, *LOOKING_LIKE_COGNITION)
    if bench.declares(Flag.COGNITION):
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
    candidates = [(world.root.capture(content=content), content) for content in written]
    bench.levers.restart()
    for record_id, content in records:
        world.same(content, world.root.read(record_id)["content"], "a restart changed a content")
    for candidate_id, content in candidates:
        world.same(content, world.root.candidate(candidate_id)["content"], "a restart changed a captured content")


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_the_three_values_survive_a_move(bench: Bench) -> None:
    """Absent, ``[]`` and records are the same in an export."""
    world = bench.world()
    written = [PLAIN, {**PLAIN, "cognition": []}, {**PLAIN, "cognition": [ENTRY]}]
    carried = {world.root.create(content=content): content for content in written}
    carried |= {world.root.capture(content=content): content for content in written}
    _, chunks = scenes.fetched(world, scenes.export(world))
    items = [item["value"] for chunk in chunks for item in chunk["items"] if item["type"] in ("record", "candidate")]
    exported = {item.get("record_id", item.get("candidate_id")): item["content"] for item in items}
    world.same(carried, exported, "the export does not hold the contents as written")


def test_recorded_cognition_needs_no_flag(bench: Bench) -> None:
    """The flag ``cognition`` is about filters: without it cognition is written, read and checked all the same."""
    world = bench.world()
    plain = world.root.with_flags(Flag.CORE)
    content = {"text": "a", "cognition": [ENTRY, BARE]}
    record_id, candidate_id = plain.create(content=content), plain.capture(content=content)
    world.same(content, plain.read(record_id)["content"], "a record's cognition is another one without the flag")
    world.same(content, plain.candidate(candidate_id)["content"], "a candidate's cognition is another one without the flag")
    selection = world.everything()
    for stem, more in (("records.list", {}), ("recall", {"budget": {"max_records": 9}})):
        seen = [one["content"] for one in plain.do(stem, selection=selection, **more)["records"]]
        world.same([content], seen, f"memory.{stem}: a record's cognition is another one without the flag")
    broken = {"text": "a", "cognition": [{**ENTRY, "view": "now"}]}
    for stem in ("records.create", "capture"):
        members = {"kind": "note", "content": broken, "scope": world.scope()}
        plain.refused(stem, Code.INVALID_VALUE, field=Field.COGNITION, reason=Reason.BAD_COGNITION_RECORD, **members)
