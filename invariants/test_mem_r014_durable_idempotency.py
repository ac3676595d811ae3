"""MEM-R014, durable idempotency: one key, one effect, one receipt (protocol.md section 7, Idempotency).

The sibling modules ``…_moved`` (the state moved between the try and the retry), ``…_refused`` (a rejected request uses no key
up) and ``…_restart`` hold the rest of the rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.exchange import Call
from conformance.expect import Inconclusive
from conformance.wire.bundle import load
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.content import contents
from strategies.identifiers import ID_LIMIT, extension_maps, ids, look_alikes
from strategies.vocabulary import capabilities

KEY = "k"
OTHER: dict[str, Any] = {"other": {}}


def _mutations(world: World) -> list[str]:
    return [operation.stem for operation in scenes.served(world) if operation.mutation]


def _deputy(world: World, name: str) -> Caller:
    """Return a principal that may do all that root may."""
    return world.principal(*capabilities(world.bundle), name=name, shared_access="write")


def _thawed(world: World) -> World:
    """Return the world with its space active: some requests leave it frozen."""
    if scenes.space(world)["state"] == "frozen":
        scenes.unfreeze(world)
    return world


def _respelled(value: Any) -> Any:
    """Return the same JSON value written otherwise: members in another order, integers with a fraction point."""
    if isinstance(value, dict):
        return {name: _respelled(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return [_respelled(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _own(world: World, key: str) -> str:
    """Return a drawn key as this world's own: in a space that others use too it is salted."""
    own = world.name(key)
    return own if len(own) <= ID_LIMIT else world.fresh_key()


SPENT = (
    Code.KEY_REUSED, Code.WRONG_STATE, Code.REVISION_STALE, Code.CANDIDATE_CONSUMED, Code.RECORD_TOMBSTONED, Code.SPACE_FROZEN,
    Code.SPACE_NOT_FROZEN, Code.IMPORT_SEQUENCE,
)  # fmt: skip
"""How a request may be refused that was accepted already: what it asked for is done, so that the key is not all that is wrong."""


def _repeat(call: Call, **changed: Any) -> Call:
    return replace(call, payload={**call.payload, **changed})


# -- the same payload


@given(content=contents(), extensions=extension_maps(), key=ids())
def test_a_repeat_in_another_spelling_is_a_replay(bench: Bench, content: Any, extensions: Any, key: str) -> None:
    """Same key and same payload digest: the same receipt, no second effect, however the payload is spelt."""
    world = bench.world()
    scope = world.scope()
    first = world.root.call(
        "records.create", kind="note", content=content, scope=scope, extensions=extensions, idempotency_key=_own(world, key)
    )
    receipt = world.root.accepted(first)
    again = replace(first, payload=_respelled(first.payload))
    world.same(receipt, world.root.accepted(again), "memory.records.create: a repeat is answered with another receipt")
    records = world.root.all("records.list", selection=world.everything())
    world.same([made(receipt, "record")], [record["record_id"] for record in records], "a replay had a second effect")


def test_every_mutation_has_one_effect_under_one_key(bench: Bench) -> None:
    """The key yields one effect and one receipt, in every operation that mutates."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        call = world.root.call(stem, **scenes.plain_request(world, stem))
        receipt = world.root.accepted(call)
        with world.unchanged(f"{call.op}: a replay had a second effect"):
            for repeat in (call, replace(call, payload=_respelled(call.payload))):
                world.same(receipt, world.root.accepted(repeat), f"{call.op}: a repeat is answered with another receipt")


LATE = [pytest.param(stem, marks=pytest.mark.needs(flags=[flag], controls=["hold"])) for stem, flag in scenes.LATE.items()]


@pytest.mark.parametrize("stem", LATE)
def test_a_repeat_while_pending_is_the_same_receipt(bench: Bench, stem: str) -> None:
    """A key whose receipt is pending answers with that receipt, which settles once; a repeat then tells it as settled."""
    world = bench.world()
    call = world.root.call(stem, **scenes.plain_request(world, stem))
    bench.levers.hold(True)
    try:
        replies = [world.exchange(call) for _ in range(3)]
        other = world.exchange(scenes.other_payload(call))
    finally:
        bench.levers.hold(False)
    world.expect_refusal(scenes.other_payload(call), other, SPENT)
    receipts = [reply.payload["receipt"]["receipt_id"] if reply.ok else reply.error for reply in replies]
    settled = world.root.accepted(call)
    world.same([settled["receipt_id"]] * 3, receipts, f"{call.op}: a repeat while pending is answered with something else")
    repeated = world.exchange(call)
    told = repeated.payload["receipt"] if repeated.ok else repeated.error
    world.same(settled, told, f"{call.op}: a repeat does not tell that the receipt has settled")


# -- another payload


CHANGES: dict[str, tuple[str, Any]] = {
    "case": ("content", {"text": "A"}),
    "trailing_space": ("content", {"text": "a "}),
    "null_member": ("content", {"text": "a", "structured": None}),
    "empty_cognition": ("content", {"text": "a", "cognition": []}),
    "false_for_absent": ("content", {"text": "a", "structured": False}),
    "kind": ("kind", "Note"),
    "source": ("source_context_id", "c1"),
    "empty_extensions": ("extensions", {}),
    "extensions": ("extensions", OTHER),
}
"""Label -> (member, value): each makes another payload of the plain creation."""


@given(label=st.sampled_from(sorted(CHANGES)), key=ids())
def test_a_key_is_bound_to_every_member_of_its_payload(bench: Bench, label: str, key: str) -> None:
    """Another payload under a used key is refused, whichever member differs, and commits under a fresh key."""
    world = bench.world()
    first = world.root.call(
        "records.create", kind="note", content={"text": "a"}, scope=world.scope(), idempotency_key=_own(world, key)
    )
    receipt = world.root.accepted(first)
    member, value = CHANGES[label]
    other = _repeat(first, **{member: value})
    with world.unchanged():
        world.root.must_refuse(other, Code.KEY_REUSED)
        world.same(receipt, world.root.accepted(first), "the first payload no longer replays")
    fresh = world.root.accepted(_repeat(other, idempotency_key=world.fresh_key()))
    world.expect(fresh["receipt_id"] != receipt["receipt_id"], "two requests have one receipt", seen=fresh)


@given(first=contents(), other=contents())
def test_payloads_are_told_apart_by_their_digest(bench: Bench, first: Any, other: Any) -> None:
    """Same key and same payload digest is a replay, the same key with any other digest is refused."""
    world = bench.world()
    call = world.root.call("capture", kind="note", content=first, scope=world.scope())
    receipt = world.root.accepted(call)
    second = _repeat(call, content=other)
    if digest(second.payload) == digest(call.payload):
        world.same(receipt, world.root.accepted(second), "memory.capture: an equal payload is no replay")
    else:
        world.root.must_refuse(second, Code.KEY_REUSED)
        world.root.accepted(_repeat(second, idempotency_key=world.fresh_key()))


def test_every_mutation_refuses_another_payload_under_its_key(bench: Bench) -> None:
    """Another payload under a used key is refused in every operation that mutates, and is accepted under a fresh key."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        first = world.root.call(stem, **scenes.plain_request(world, stem))
        world.root.accepted(first)
        with world.unchanged():
            for extensions in ({}, OTHER):
                world.root.must_refuse(_repeat(first, extensions=extensions), *SPENT)
        other = {**scenes.plain_request(_thawed(world), stem), "extensions": OTHER}
        with world.unchanged():
            world.root.refused(stem, Code.KEY_REUSED, **other, idempotency_key=first.payload["idempotency_key"])
        world.root.do(stem, **other)


# -- another key


@given(keys=look_alikes(3))
def test_look_alike_keys_are_different_keys(bench: Bench, keys: tuple[str, ...]) -> None:
    """Keys are compared code point by code point: look-alikes neither conflict nor replay one another (F26)."""
    world = bench.world()
    scope = world.scope()
    calls = [
        world.root.call(
            "records.create", kind="note", content={"text": f"{index}"}, scope=scope, idempotency_key=_own(world, key)
        )
        for index, key in enumerate(keys)
    ]
    receipts = [world.root.accepted(call) for call in calls]
    world.same(len(calls), len({receipt["receipt_id"] for receipt in receipts}), "two keys share a receipt")
    for call, receipt in zip(calls, receipts, strict=True):
        world.same(call.payload["idempotency_key"], receipt["idempotency_key"], "a receipt names another key than the request's")
        world.same(receipt, world.root.accepted(call), "a key replays another key's receipt")


def test_keys_that_a_collation_takes_for_one_are_different_keys(bench: Bench) -> None:
    """Neither case, outer spaces, normal form, width nor an invisible mark is taken out of a key (F26)."""
    world = bench.world()
    scope = world.scope()
    keys = (
        "k",
        "K",
        "k ",
        " k",
        "k\u200b",
        "\uff4b",
        "\u212a",
        "\u00e9",
        "e\u0301",
        "1",
        "01",
        "1.0",
        "\u00df",
        "ss",
        "a" * 127,
        "a" * 128,
    )
    made_ids = []
    for number, key in enumerate(keys):
        members = {"kind": "note", "content": {"text": f"{number}"}, "scope": scope}
        made_ids.append(made(world.root.do("records.create", **members, idempotency_key=_own(world, key)), "record"))
    world.same(len(keys), len(set(made_ids)), "two keys share a record")


def test_another_principal_is_another_key(bench: Bench) -> None:
    """Two principals use one key for two payloads: both commit, each replays its own, in every operation that mutates."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        first, second = (_deputy(world, name) for name in ("A", "B"))
        one = first.call(stem, **scenes.plain_request(world, stem), idempotency_key=world.name(KEY))
        receipt = first.accepted(one)
        two = second.call(stem, **scenes.plain_request(_thawed(world), stem), idempotency_key=world.name(KEY))
        other = second.accepted(two)
        world.expect(receipt["receipt_id"] != other["receipt_id"], f"{one.op}: two principals share a receipt", seen=other)
        world.same(receipt, first.accepted(one), f"{one.op}: a principal's key replays another's receipt")


def test_two_principals_may_send_the_very_same_request(bench: Bench) -> None:
    """The same payload under the same key is two effects when two principals send it."""
    world = bench.world()
    first, second = (_deputy(world, name) for name in ("A", "B"))
    members = {"kind": "note", "content": {"text": "a"}, "scope": world.scope(), "idempotency_key": world.name(KEY)}
    made_by = [made(caller.do("records.create", **members), "record") for caller in (first, second)]
    records = world.root.all("records.list", selection=world.everything())
    world.same_set(made_by, [record["record_id"] for record in records], "the request of one principal answered another's")


def test_another_operation_is_another_key(bench: Bench) -> None:
    """One principal uses one key in every operation: all commit, and each replays its own receipt."""
    world = bench.world()
    sent: list[tuple[Call, Any]] = []
    for stem in _mutations(world):
        call = world.root.call(stem, **scenes.plain_request(_thawed(world), stem), idempotency_key=world.name(KEY))
        sent.append((call, world.root.accepted(call)))
    for call, receipt in sent:
        world.same(call.op, receipt["op"], "a receipt names another operation")
        world.same(receipt, world.root.accepted(call), f"{call.op}: the key replays another operation's receipt")


def test_the_very_same_payload_in_another_operation_is_another_request(bench: Bench) -> None:
    """Capture and create take the same members: one key and one payload serve both."""
    world = bench.world()
    members = {"kind": "note", "content": {"text": "a"}, "scope": world.scope(), "idempotency_key": world.name(KEY)}
    made(world.root.do("capture", **members), "candidate")
    made(world.root.do("records.create", **members), "record")


def test_another_space_is_another_key(bench: Bench) -> None:
    """One principal uses one key in two spaces: both commit, and each space replays its own receipt."""
    one = bench.world()
    here = _deputy(one, "A")
    first = here.call("records.create", kind="note", content={"text": "a"}, scope=one.scope(), idempotency_key=one.name(KEY))
    receipt = here.accepted(first)
    two = bench.world()
    if two.space_id == one.space_id:
        raise Inconclusive("the target has only one space")
    there = replace(here, world=two)
    two.root.grant(there, capabilities=list(capabilities(two.bundle)), shared_access="write")
    second = there.call("records.create", kind="note", content={"text": "a"}, scope=two.scope(), idempotency_key=one.name(KEY))
    other = there.accepted(second)
    two.same(two.space_id, other["space_id"], "the receipt of one space answered a request in another")
    two.same([receipt, other], [here.accepted(first), there.accepted(second)], "a key replays another space's receipt")


# -- at the same time


BURSTS = [pytest.param(row.stem, marks=pytest.mark.needs(flags=[row.flag])) for row in load().operations.values() if row.mutation]
"""Every operation that mutates."""


@pytest.mark.parametrize("stem", BURSTS)
def test_requests_that_arrive_together_have_one_effect(bench: Bench, stem: str) -> None:
    """Requests under one key that arrive together are answered as if one came after the other (F04)."""
    world = bench.world()
    call = world.root.call(stem, **scenes.plain_request(world, stem))
    replies = world.at_once([call] * 16)
    receipt = world.root.accepted(call)
    seen = {reply.payload["receipt"]["receipt_id"] if reply.ok else str(reply.code) for reply in replies}
    world.same([receipt["receipt_id"]], sorted(seen), f"{call.op}: requests that arrived together got several answers")
    with world.unchanged(f"{call.op}: a replay had a second effect"):
        world.same(receipt, world.root.accepted(call), f"{call.op}: a repeat is answered with another receipt")
    if stem == "records.create":
        world.same(1, world.root.do("records.list", selection=world.everything())["total_authorized"], "one key made two records")


@pytest.mark.parametrize("stem", ["subjects.ensure", "grants.grant", "capture"])
def test_of_two_requests_that_arrive_together_one_wins(bench: Bench, stem: str) -> None:
    """Of two requests under one key that differ in an extension alone, one commits; whoever sends the other is refused."""
    world = bench.world()
    one = world.root.call(stem, **scenes.plain_request(world, stem))
    replies = world.at_once([one, scenes.other_payload(one)] * 8)
    won = {reply.payload["receipt"]["receipt_id"] for reply in replies if reply.ok}
    world.same(1, len(won), f"{one.op}: one key has not exactly one receipt")
    codes = sorted({str(reply.code) for reply in replies if not reply.ok})
    world.same([world.bundle.code(Code.KEY_REUSED)], codes, f"{one.op}: a loser was refused for another reason")
    world.same(
        8, sum(reply.ok for reply in replies), f"{one.op}: not exactly the requests with the winning payload were answered"
    )


def test_of_two_payloads_that_arrive_together_one_wins_everywhere(bench: Bench) -> None:
    """Of two payloads under one key one commits, and every request with the other one is refused (F04)."""
    world = bench.world()
    one = world.root.call("records.create", kind="note", content={"text": "a"}, scope=world.scope())
    two = _repeat(one, content={"text": "b"})
    replies = world.at_once([one, two] * 8)
    won = [reply.payload["receipt"] for reply in replies if reply.ok]
    codes = {reply.code for reply in replies if not reply.ok}
    world.same([world.bundle.code(Code.KEY_REUSED)], sorted(map(str, codes)), "a loser was refused for another reason")
    world.same(8, len(won), "not exactly the requests with the winning payload were answered")
    world.same(1, len({receipt["receipt_id"] for receipt in won}), "one key has two receipts")
    records = world.root.all("records.list", selection=world.everything())
    world.same([made(won[0], "record")], [record["record_id"] for record in records], "one key made two records")
    payload = one.payload if replies[0].ok else two.payload
    world.same(payload["content"], records[0]["content"], "the record is not of the payload that won")
