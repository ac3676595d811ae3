"""MEM-R015, receipts: free of content, durable, never changed once settled, and none for a refused request (F23)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import assume, given

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, all_made, made
from conformance.exchange import Call
from conformance.wire.bundle import instant
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.cognition import cognition_records
from strategies.content import fits_everywhere, texts

MARK = "zebra-7431"
DAY = 86_400
SETTLED_BY_ITSELF = ("state", "settled_at", "error", "affected")
"""The members that a pending receipt may change when it settles."""


def _thawed(world: World) -> World:
    if scenes.space(world)["state"] == "frozen":
        scenes.unfreeze(world)
    return world


def _receipt(caller: Caller, receipt: Mapping[str, Any]) -> Any:
    return caller.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]


def _one_of_each(world: World, caller: Caller) -> list[Mapping[str, Any]]:
    """Send one request of every operation that mutates, in turn; return the receipts."""
    stems = [operation.stem for operation in scenes.served(world) if operation.mutation]
    return [caller.do(stem, **scenes.plain_request(_thawed(world), stem)) for stem in stems]


def _all_as_they_were(world: World, receipts: list[Mapping[str, Any]], since: str) -> None:
    for receipt in receipts:
        world.same(receipt, _receipt(world.root, receipt), f"{receipt['op']}: its settled receipt changed {since}")


# -- never changed


def test_a_settled_receipt_never_changes(bench: Bench) -> None:
    """A settled receipt reads the same after every other operation, deletion, freeze, fence and activation among them."""
    world = bench.world()
    receipts = _one_of_each(world, world.root)
    _all_as_they_were(world, receipts, "by later operations")
    _one_of_each(_thawed(world), world.root)
    _all_as_they_were(world, receipts, "by later operations")


def test_a_receipt_outlives_what_it_speaks_of(bench: Bench) -> None:
    """Deleting the record, archiving its subject and revoking its writer leave the receipt as it was, for both its readers."""
    world = bench.world()
    writer = world.stranger("A")
    grant_id = world.root.grant(writer, capabilities=["records_write"])
    created = writer.do("records.create", **scenes.plain_request(world, "records.create"))
    world.root.do("records.delete", record_id=made(created, "record"), expected_revision=1)
    subject_id = world.scope()["subject_id"]
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action="archive", expected_revision=1)
    world.root.do("grants.revoke", grant_id=grant_id)
    for reader in (writer, world.root):
        world.same(created, _receipt(reader, created), "memory.records.create: its settled receipt changed")


@pytest.mark.needs(controls=["restart"])
def test_receipts_outlive_a_restart(bench: Bench) -> None:
    """A receipt is durable: it reads the same after a restart, for its principal and for admin."""
    world = bench.world()
    writer = world.principal("records_write", name="A")
    own = writer.do("records.create", **scenes.plain_request(world, "records.create"))
    receipts = _one_of_each(world, world.root)
    bench.levers.restart()
    world.same(own, _receipt(writer, own), "memory.records.create: its settled receipt changed over a restart")
    _all_as_they_were(world, receipts, "over a restart")


@pytest.mark.needs(controls=["clock"])
def test_receipts_outlive_any_retention_time(bench: Bench) -> None:
    """A receipt is durable: it reads the same, and its key replays, long after."""
    world = bench.world()
    call = world.root.call("records.create", **scenes.plain_request(world, "records.create"))
    receipt = world.root.accepted(call)
    bench.levers.advance(400 * DAY)
    world.same(receipt, _receipt(world.root, receipt), "memory.records.create: its settled receipt changed with time")
    world.same(receipt, world.root.accepted(call), "memory.records.create: its key was forgotten with time")


LATE = [pytest.param(stem, marks=pytest.mark.needs(flags=[flag], controls=["hold"])) for stem, flag in scenes.LATE.items()]


@pytest.mark.parametrize("stem", LATE)
def test_a_receipt_settles_once(bench: Bench, stem: str) -> None:
    """A pending receipt changes in what settling says alone, and never again once it is settled."""
    world = bench.world()
    call = world.root.call(stem, **scenes.plain_request(world, stem))
    bench.levers.hold(True)
    try:
        first = _given(world, call)
        world.same(first, _receipt(world.root, first), f"{call.op}: the pending receipt reads otherwise than it was given")
    finally:
        bench.levers.hold(False)
    settled = world.root.accepted(call)
    for receipt in (first, settled):
        world.same(digest(call.payload), receipt["payload_digest"], f"{call.op}: payload_digest is not of the request")
    world.same(_lasting(first), _lasting(settled), f"{call.op}: settling changed what it must not")
    _one_of_each(_thawed(world), world.root)
    _all_as_they_were(world, [settled], "once it was settled")


def _given(world: World, call: Call) -> Mapping[str, Any]:
    """Send a call that must be answered with a receipt, in whatever state, and return that."""
    reply = world.exchange(call)
    world.expect(reply.ok, f"{call.op}: {call.caller} was refused a request that the contract accepts", seen=reply.error)
    receipt: Mapping[str, Any] = reply.payload["receipt"]
    return receipt


def _lasting(receipt: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in receipt.items() if name not in SETTLED_BY_ITSELF}


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold"])
def test_a_receipt_keeps_the_generation_that_it_was_made_in(bench: Bench) -> None:
    """``authority_generation`` is the one in force when the receipt was made, whatever was activated before it settled."""
    world = bench.world()
    activation = world.root.call("imports.activate", **scenes.plain_request(world, "imports.activate"))
    bench.levers.hold(True)
    try:
        firsts = [_given(world, call) for call in (activation, world.root.call("exports.create"))]
    finally:
        bench.levers.hold(False)
    for first in firsts:
        settled = world.root.settled(first)
        told = settled["authority_generation"]
        world.same(first["authority_generation"], told, f"{first['op']}: the authority_generation of its settled receipt")


@pytest.mark.needs(flags=[Flag.TRANSFER], controls=["hold", "clock"])
@pytest.mark.parametrize("state", ["committed", "failed"])
def test_a_receipt_is_dated_when_it_settles(bench: Bench, state: str) -> None:
    """``settled_at`` is when a receipt settled, committed or failed, and not when it was made."""
    world = bench.world()
    call = world.root.call("imports.activate", **scenes.plain_request(world, "imports.activate"))
    bench.levers.hold(True)
    try:
        first = _given(world, call if state == "failed" else world.root.call("exports.create"))
        scenes.unfreeze(world)
        bench.levers.advance(DAY)
        later = world.root.read(world.root.create())["created_at"]
    finally:
        bench.levers.hold(False)
    settled = world.root.settled(first)
    if first["state"] == "pending":
        world.same(state, settled["state"], f"{first['op']}: the state of a receipt that was held and let go")
        world.expect(instant(later) <= instant(settled["settled_at"]), f"{first['op']}: settled_at is earlier", seen=settled)


# -- free of content


def _marked(text: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    marked = {**entry, "value": MARK}
    return {"text": MARK + text, "structured": {MARK: [MARK]}, "cognition": [marked]}


def _write_marked(world: World, content: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the receipts of requests that carry the mark in every place for content, and in extensions."""
    root, scope, extensions = world.root, world.scope(), {"acme": {MARK: MARK}}
    members = {"content": content, "extensions": extensions}
    created = root.do("records.create", kind="note", scope=scope, **members)
    record = {"record_id": made(created, "record")}
    yield created
    yield root.do("records.update", **record, expected_revision=1, **members)
    yield root.do("records.promote", **record, expected_revision=2, to_scope=world.scope(context="c2"), extensions=extensions)
    fragments = [{"kind": "note", "content": content}] * 2
    for decision in (
        {"action": "promote", "kind": "note"},
        {"action": "promote", "kind": "note", "content_override": content},
        {"action": "fragment", "fragments": fragments},
        {"action": "discard"},
    ):
        captured = root.do("capture", scope=scope, **members)
        yield captured
        candidate = {"candidate_id": made(captured, "candidate"), "expected_revision": 1}
        yield root.do("candidates.review", **candidate, decision=decision, extensions=extensions)
    profile = {"subject_id": scope["subject_id"], "kind": "preferences", "expected_revision": None, "extensions": extensions}
    yield root.do("profile.update", **profile, content={name: content[name] for name in ("text", "structured")})
    yield root.do("records.delete", **record, expected_revision=3, extensions=extensions)


def _content_free(world: World, receipt: Mapping[str, Any]) -> None:
    text = json.dumps(receipt, ensure_ascii=False)
    world.expect(MARK not in text, f"{receipt['op']}: the receipt carries content of its request", seen=receipt)


@given(text=texts(), entry=cognition_records())
@pytest.mark.examples(0.4)
def test_no_receipt_carries_content(bench: Bench, text: str, entry: Mapping[str, Any]) -> None:
    """No text, structured or cognition of any content, and no extension of a request, is ever in a receipt (F23)."""
    content = _marked(text, entry)
    assume(fits_everywhere(content))
    world = bench.world()
    receipts = list(_write_marked(world, content))
    for receipt in receipts:
        _content_free(world, receipt)
        _content_free(world, _receipt(world.root, receipt))


def _failing_stage(world: World) -> Call:
    """Return the staging of one chunk whose marked item is none and whose digests do not fit: it settles failed."""
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    item = {"type": "record", "value": {"content": {"text": MARK}, MARK: MARK}}
    wrong = {**bundle, "digest": "0" * 64, "chunk_count": 1, "chunk_digests": bundle["chunk_digests"][:1]}
    return world.root.call("imports.stage", bundle=wrong, chunk={**chunks[0], "final": True, "items": [item]})


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_a_failed_receipt_carries_no_content(bench: Bench) -> None:
    """A receipt that settles failed names the error's code and none of the request's content (F23)."""
    world = bench.world()
    receipt = world.root.settled(_given(world, _failing_stage(world)))
    world.same("failed", receipt["state"], "memory.imports.stage: a defect did not settle the receipt failed")
    world.same(
        world.bundle.code(Code.IMPORT_INVALID), receipt["error"]["code"], "memory.imports.stage: failed for another reason"
    )
    _content_free(world, receipt)
    _one_of_each(world, world.root)
    world.same(receipt, _receipt(world.root, receipt), "memory.imports.stage: its failed receipt changed")


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_exported_receipts_carry_no_content(bench: Bench) -> None:
    """The receipts of an export are those that were given, free of content (F23)."""
    world = bench.world()
    receipts = list(_write_marked(world, _marked("", _entry(world))))
    exported = _exported_receipts(world)
    for receipt in receipts:
        world.same(receipt, exported.get(receipt["receipt_id"]), f"{receipt['op']}: the export holds another receipt, or none")
    for receipt in exported.values():
        _content_free(world, receipt)


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_receipts_of_a_move_carry_no_content(bench: Bench) -> None:
    """Neither the stages of an import nor its activation keep anything of the items in their receipts (F23)."""
    world = bench.world()
    list(_write_marked(world, _marked("", _entry(world))))
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    world.expect(MARK in json.dumps(chunks), "memory.exports.get: the export lacks the content of the space")
    staging: dict[str, Any] = {}
    for chunk in chunks:
        receipt = world.root.do("imports.stage", bundle=bundle, chunk=chunk, extensions={"acme": {MARK: MARK}}, **staging)
        staging = {"import_id": made(receipt, "import")}
        _content_free(world, receipt)
    scenes.freeze(world)
    generation = scenes.generation(world)
    _content_free(world, world.root.do("imports.activate", **staging, expected_authority_generation=generation))


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_an_own_receipt_is_there_once_after_an_activation(bench: Bench) -> None:
    """The receipts that an activation brings back are the space's own: each reads as it was, and is exported once."""
    world = bench.world()
    receipts = [world.root.do("records.create", **scenes.plain_request(world, "records.create"))]
    receipts.append(world.root.do("imports.activate", **scenes.plain_request(world, "imports.activate")))
    _all_as_they_were(world, receipts, "by an activation")
    found = [receipt["receipt_id"] for receipt in _listed_receipts(world)]
    world.same(len(set(found)), len(found), "memory.exports.create: the export holds a receipt twice")


def _entry(world: World) -> dict[str, Any]:
    example: dict[str, Any] = world.bundle.schema(world.bundle.model_ref("CognitionRecord"))["examples"][0]
    return example


def _listed_receipts(world: World) -> list[Mapping[str, Any]]:
    """Return the receipts of a fresh export, in its order."""
    _, chunks = scenes.fetched(world, scenes.export(world))
    return [item["value"] for chunk in chunks for item in chunk["items"] if item["type"] == "receipt"]


def _exported_receipts(world: World) -> dict[str, Mapping[str, Any]]:
    return {receipt["receipt_id"]: receipt for receipt in _listed_receipts(world)}


# -- none for a refusal


def _refused(world: World) -> Iterator[str]:
    """Send requests that are refused, each for another reason; yield their keys."""
    root, scope = world.root, world.scope()
    record_id, used = root.create(), world.fresh_key()
    root.do("subjects.ensure", subject_id=scope["subject_id"], idempotency_key=used)
    stranger = world.stranger("B")
    note = {"kind": "note", "content": {"text": "a"}, "scope": scope}
    for caller, stem, members, code in (
        (root, "records.update", {"record_id": record_id, "expected_revision": 2, "kind": "b"}, Code.REVISION_AHEAD),
        (root, "records.delete", {"record_id": "none", "expected_revision": 1}, Code.NOT_FOUND),
        (root, "records.create", {**note, "content": {"text": "a", "cognition": [{}]}}, Code.INVALID_VALUE),
        (root, "records.promote", {"record_id": record_id, "expected_revision": 1, "to_scope": scope}, Code.WRONG_STATE),
        (root, "spaces.unfreeze", {"expected_revision": scenes.space(world)["revision"]}, Code.WRONG_STATE),
        (stranger, "records.create", note, Code.NOT_FOUND),
    ):
        call = caller.call(stem, **members)
        caller.must_refuse(call, code, *((Code.NOT_AUTHORIZED,) if caller is stranger else ()))
        yield call.payload["idempotency_key"]
    broken = root.call("records.create", **note, unexpected=1)
    root.must_refuse(broken, Code.MALFORMED_REQUEST, meant_invalid=True)
    yield broken.payload["idempotency_key"]


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_a_refused_request_leaves_no_receipt(bench: Bench) -> None:
    """A rejected request commits nothing, no receipt either: none is in a later export, while accepted ones are."""
    world = bench.world()
    refused = set(_refused(world))
    accepted = world.root.do("records.create", **scenes.plain_request(world, "records.create"))
    exported = _exported_receipts(world)
    world.same(accepted, exported.get(accepted["receipt_id"]), "the export lacks a receipt that was settled")
    left = [receipt for receipt in exported.values() if receipt["idempotency_key"] in refused]
    world.expect(not left, "a refused request left a receipt", seen=left)


def test_a_refusal_answers_without_a_receipt(bench: Bench) -> None:
    """Every refused request is answered with an error, and the receipts known before read as they were."""
    world = bench.world()
    receipts = [world.root.do("records.create", **scenes.plain_request(world, "records.create"))]
    for _ in _refused(world):
        _all_as_they_were(world, receipts, "by a refused request")


def test_fragments_have_one_receipt(bench: Bench) -> None:
    """A request that makes several records has one receipt, which names them all."""
    world = bench.world()
    candidate_id = world.root.capture()
    fragments = [{"kind": "note", "content": {"text": text}} for text in ("a", "b")]
    decision = {"action": "fragment", "fragments": fragments}
    receipt = world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    world.same(2, len(set(all_made(receipt, "record"))), "memory.candidates.review: the receipt does not name both records")
    world.same(receipt, _receipt(world.root, receipt), "memory.candidates.review: the receipt reads otherwise than it was given")
