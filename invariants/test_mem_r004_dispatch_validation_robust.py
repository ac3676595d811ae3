"""MEM-R004, dispatch validation: no input whatever yields the internal error, a hang or a dead provider (section 1).

The client judges every answer: one that is not well-formed, or the internal error, is a failure wherever it comes. The checks
here send what careless providers choke on, and see that the provider is still there and whole afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import all_made
from conformance.exchange import Call
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.content import uncanonical_contents, uncanonical_values
from strategies.identifiers import HOSTILE_IDS, hostile_ids, ids
from strategies.json_values import HARD_TEXTS, HOSTILE_NAMES, LONE_SURROGATES, names, structured, texts

LEVELS = 64
"""The nesting that is taken, the payload itself the first level (section 1)."""

ENCODED_BYTES = 1_000_000
"""A little below the size of a request that is taken, 1 MiB, so that the members around it have room."""

TOO_MUCH = (Code.MALFORMED_REQUEST, Code.INVALID_VALUE, Code.LIMIT_EXCEEDED)
"""How a request beyond the size or the nesting that is taken may be refused; it may be taken too."""


def _with_extension(call: Call, value: Any) -> Call:
    return replace(call, payload={**call.payload, "extensions": {"acme": {"a": value}}})


def _lives(world: World) -> None:
    """Expect the provider to be there and the whole space to be readable, by every path."""
    record_id = world.root.create()
    everything = {"subject_id": world.scope()["subject_id"], "mode": "all_authorized"}
    listed = [record["record_id"] for record in world.root.all("records.list", selection=everything, include_tombstones=True)]
    world.expect(record_id in listed, "a record that was just written is not listed", expected=record_id, seen=listed)
    world.root.all("candidates.list", selection=everything)
    world.root.do("recall", selection=everything, budget={"max_records": 100})
    if world.bundle.flag(Flag.TRANSFER) in world.root.flags:
        scenes.fetched(world, scenes.export(world))


# -- values without a canonical form


def test_no_request_takes_a_value_without_canonical_form(bench: Bench) -> None:
    """A value without canonical form, in a request that its schema admits, is an invalid value in every operation."""
    for world, _, call in scenes.each(bench):
        bad = [{LONE_SURROGATES[0]: 1}, *LONE_SURROGATES, [[{"b": [LONE_SURROGATES[1]]}]]]
        scenes.stopped(world, call, [_with_extension(call, value) for value in bad], Code.INVALID_VALUE)


Bad = Callable[[Any, dict[str, Any]], dict[str, Any]]

FREE_PLACES: Mapping[str, tuple[str, Bad]] = {
    "content of a new record": ("records.create", lambda _, content: {"content": content}),
    "content of a changed record": ("records.update", lambda _, content: {"content": content}),
    "captured content": ("capture", lambda _, content: {"content": content}),
    "content of a profile": ("profile.update", lambda _, content: {"content": content}),
    "override": ("candidates.review", lambda _, content: {"decision": {"action": "promote", "content_override": content}}),
    "fragment": (
        "candidates.review",
        lambda _, content: {"decision": {"action": "fragment", "fragments": [{"content": {"text": "b"}}, {"content": content}]}},
    ),
    "query": ("recall", lambda value, _: {"query": {"text": value if isinstance(value, str) else LONE_SURROGATES[0]}}),
    "extensions": ("capture", lambda value, _: {"extensions": {"acme": {"a": value}}}),
}
"""Where a caller's own text or JSON stands: (operation, the members with a value or a content that has no canonical form)."""


@given(place=st.sampled_from(sorted(FREE_PLACES)), value=uncanonical_values(), content=uncanonical_contents())
def test_a_lone_surrogate_is_an_invalid_value(bench: Bench, place: str, value: Any, content: dict[str, Any]) -> None:
    """An unpaired surrogate, in a value or a member name, at any depth, is an invalid value, and nothing of it is stored."""
    world = bench.world()
    stem, bad = FREE_PLACES[place]
    call = world.root.call(stem, **scenes.plain_request(world, stem))
    scenes.stopped(world, call, [replace(call, payload={**call.payload, **bad(value, content)})], Code.INVALID_VALUE)
    _lives(world)


# -- depth and size


def nested(levels: int) -> Any:
    """Return ``levels`` arrays and objects, one in the other by turns."""
    value: Any = "a"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


def test_the_whole_nesting_that_is_promised_is_taken(bench: Bench) -> None:
    """Each operation takes a request of 64 levels of nesting."""
    for world, _, call in scenes.each(bench):
        # The payload, its extensions and the namespace are the first three.
        world.root.accepted(_with_extension(call, nested(LEVELS - 3)))


def test_content_of_the_whole_nesting_comes_back(bench: Bench) -> None:
    """Content of 64 levels, counted from the payload, is stored and read as it was sent."""
    world = bench.world()
    content = {"text": "a", "structured": nested(LEVELS - 2)}
    world.same(content, world.root.read(world.root.create(content=content))["content"], "deep content of a record")
    candidate = world.root.candidate(world.root.capture(content=content))
    world.same(content, candidate["content"], "deep content of a candidate")
    _lives(world)


CONTENT_CARRIERS = ("records.create", "records.update", "capture", "profile.update")
DEEPER: Mapping[int, Sequence[str]] = {
    **dict.fromkeys(
        (LEVELS + 1, 100, 200, 400), ("records.create", "records.update", "capture", "profile.update", "records.list")
    ),
    2_000: ("records.create", "records.list"),
    20_000: ("capture",),
}
"""How deep, and in which requests: no parser that calls itself goes into the last ones, so a few of them tell."""


@pytest.mark.parametrize("levels", DEEPER)
def test_deeper_nesting_does_no_harm(bench: Bench, levels: int) -> None:
    """Beyond 64 levels a request is taken or refused as malformed, invalid or too large, in no case with the internal error."""
    for stem in DEEPER[levels]:
        world = bench.world()
        _taken_or_too_much(world, _with_extension(world.root.call(stem, **scenes.plain_request(world, stem)), nested(levels)))
        call = world.root.call(stem, **scenes.plain_request(world, stem))
        if "content" in call.payload:
            deep = {"text": "a", "structured": nested(levels)}
            _taken_or_too_much(world, replace(call, payload={**call.payload, "content": deep}))
        _lives(world)


def _taken_or_too_much(world: World, call: Call) -> None:
    reply = world.exchange(call)
    if not reply.ok:
        world.expect_refusal(call, reply, TOO_MUCH)


def test_a_request_of_nearly_a_mebibyte_is_taken(bench: Bench) -> None:
    """A request of up to 1 MiB is taken: too much content is refused by its own limit, what is not content is not measured."""
    world = bench.world()
    text = "a" * ENCODED_BYTES
    extensions = {"acme": {"a": text}}
    record = world.root.read(world.root.create(extensions=extensions))
    world.carries(extensions, record, "a large extension of a record")
    call = world.root.call("records.create", kind="note", content={"text": text}, scope=world.scope())
    if bench.described(world)["limits"]["max_content_bytes"] < ENCODED_BYTES:
        scenes.stopped(world, replace(call, payload={**call.payload, "content": {"text": "a"}}), [call], Code.LIMIT_EXCEEDED)
    else:
        world.root.accepted(call)
    larger = {**call.payload, "content": {"text": text + text[:200_000]}, "idempotency_key": world.fresh_key()}
    _taken_or_too_much(world, replace(call, payload=larger))
    _lives(world)


def test_every_operation_takes_nearly_a_mebibyte(bench: Bench) -> None:
    """A request of up to 1 MiB is taken, whichever the operation is: what is not content is not measured."""
    for world, _, call in scenes.each(bench):
        world.root.accepted(_with_extension(call, "a" * ENCODED_BYTES))


# -- names and values that code chokes on


@given(subject=hostile_ids(), context=hostile_ids(), kind=hostile_ids(), key=ids(), text=texts(), value=structured())
def test_any_name_and_any_text_is_taken(
    bench: Bench, subject: str, context: str, kind: str, key: str, text: str, value: Any
) -> None:
    """Names, keys and texts with any characters commit, and come back verbatim by every path."""
    world = bench.world()
    scope = {"subject_id": scenes.own(world, subject), "context_id": context}
    world.root.ensure(scope["subject_id"])
    content = {"text": text, "structured": value}
    assume(scenes.fits(bench, world, content))
    written = {"kind": kind, "content": content, "scope": scope, "source_context_id": context}
    record_id = world.root.create(**written, idempotency_key=scenes.own(world, key))
    selection = {"subject_id": scope["subject_id"], "mode": "contexts", "context_ids": [context]}
    filtered: dict[str, Any] = {"selection": selection, "filter": {"source_context_ids": [context]}}
    recalled = world.root.do("recall", **filtered, query={"text": text}, budget={"max_records": 5})["records"]
    for records in ([world.root.read(record_id)], world.root.all("records.list", **filtered), recalled):
        world.same([record_id], [record["record_id"] for record in records], "the records of a placement with one")
        seen = {name: records[0][name] for name in ("kind", "content", "scope")}
        world.same({name: written[name] for name in seen}, seen, "a record with hard names and texts")
        world.same(context, records[0]["provenance"].get("source_context_id"), "the source context of a record")
    if world.bundle.flag(Flag.TRANSFER) in world.root.flags:
        scenes.fetched(world, scenes.export(world))


def test_hard_names_are_names_like_others(bench: Bench) -> None:
    """An id, a kind or a key is any text of 1 to 128 code points: it commits and comes back code point by code point."""
    world = bench.world()
    scope = world.scope()
    for name in (*HOSTILE_IDS, "\u00e9" * 128, "\U0001f600" * 128):
        written = {"kind": name, "scope": {**scope, "context_id": name}}
        record_id = world.root.create(**written, source_context_id=name, idempotency_key=scenes.own(world, name))
        record = world.root.read(record_id)
        world.same(written, {member: record[member] for member in written}, "a record of a hard kind in a hard context")
        world.same(name, record["provenance"].get("source_context_id"), "the source context of a record")
        named = scenes.own(world, name)
        subject = world.root.do("subjects.get", subject_id=world.root.ensure(named))["subject"]
        world.same(named, subject["subject_id"], "the id of a subject")
    _lives(world)


def test_hard_texts_are_texts_like_others(bench: Bench) -> None:
    """A text, a member name or a cognition value of any characters commits and comes back verbatim, by every path."""
    world = bench.world()
    selection = scenes.selection(world.scope())
    contents: dict[str, Any] = {}
    for number, text in enumerate((*HARD_TEXTS, *HOSTILE_NAMES), start=1):
        profile = {"text": text, "structured": {text: [text]}}
        content = {**profile, "cognition": [{**ENTRY, "value": text or "a"}]}
        contents[world.root.create(content=content)] = content
        contents[_updated(world, content)] = content
        contents.update(dict.fromkeys(_reviewed(world, content), content))
        candidate = world.root.candidate(world.root.capture(content=content))
        world.same(content, candidate["content"], "a captured content of hard texts")
        _keeps_a_profile(world, f"kind{number}", profile)
    listed = world.root.all("records.list", selection=selection)
    recalled = world.root.do("recall", selection=selection, budget={"max_records": len(contents)})["records"]
    for records in (listed, recalled, [world.root.read(record_id) for record_id in contents]):
        world.same(contents, {record["record_id"]: record["content"] for record in records}, "contents of hard texts")
    _lives(world)


def _updated(world: World, content: Mapping[str, Any]) -> str:
    record_id: str = world.root.create()
    world.root.do("records.update", record_id=record_id, expected_revision=1, content=content)
    return record_id


def _reviewed(world: World, content: Mapping[str, Any]) -> Iterator[str]:
    """Give the records that a content becomes by an override and by fragments."""
    fragments = {"action": "fragment", "fragments": [{"content": content}, {"content": content}]}
    for decision in ({"action": "promote", "content_override": content}, fragments):
        review = {"candidate_id": world.root.capture(), "expected_revision": 1, "decision": decision}
        yield from all_made(world.root.do("candidates.review", **review), "record")


def _keeps_a_profile(world: World, kind: str, content: Mapping[str, Any]) -> None:
    subject_id = world.scope()["subject_id"]
    world.root.do("profile.update", subject_id=subject_id, kind=kind, content=content, expected_revision=None)
    [document] = world.root.do("profile.get", subject_id=subject_id, kinds=[kind])["documents"]
    world.same(content, document["content"], "a profile of hard texts")


ENTRY = {
    "view": "recorded_at",
    "dimension": "belief",
    "attribution": {"holder_id": "h"},
    "basis": {"kind": "stated", "refs": []},
    "time": {"recorded_at": "2026-01-01T00:00:00Z"},
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names(), inner, max_size=3),
    max_leaves=8,
)


@given(data=st.data())
def test_any_body_gets_an_honest_answer(bench: Bench, data: st.DataObject) -> None:
    """Whatever the body is, the answer is well-formed: malformed exactly when the schema refuses it, never the internal error."""
    world = bench.world()
    for operation in data.draw(st.lists(st.sampled_from(scenes.served(world)), min_size=1, max_size=4), "operations"):
        members = st.sampled_from(sorted(world.members_of(operation.name)))
        body = data.draw(JSON | st.dictionaries(members | names(), JSON, max_size=8), operation.stem)
        reply = world.root.raw(operation.name, body)
        malformed = reply.code == bench.bundle.code(Code.MALFORMED_REQUEST)
        valid = bench.bundle.request(operation.name).accepts(body)
        world.expect(valid or malformed, f"{operation.name}: a malformed request was not refused as one", seen=reply.error)
        world.expect(malformed <= (not valid), f"{operation.name}: a valid request was stopped at dispatch", seen=reply.error)
    _lives(world)
