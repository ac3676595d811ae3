"""MEM-R014, durable idempotency: a rejected request commits nothing, its key included (F03)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.cargo import cargo
from conformance.exchange import Call
from conformance.wire.vocabulary import Code, Field, Flag, Reason
from conformance.world import World
from strategies.content import broken_cognition, contents
from strategies.vocabulary import capabilities

OTHER: dict[str, Any] = {"other": {}}


def _mutations(world: World) -> list[str]:
    return [operation.stem for operation in scenes.served(world) if operation.mutation]


def _then(world: World, caller: Caller, call: Call, what: str) -> None:
    """Want the call, refused before under its key, to commit now, and to replay."""
    receipt = caller.accepted(call)
    world.same(call.payload["idempotency_key"], receipt["idempotency_key"], f"{call.op}: the receipt names another key")
    world.same(receipt, caller.accepted(call), f"{call.op}: {what}, then accepted: the repeat is answered with something else")


# -- tables over all operations


def test_a_request_refused_by_a_freeze_uses_no_key(bench: Bench) -> None:
    """What a frozen space refused commits under the same key once the space is active, in every operation (F03)."""
    for operation in scenes.served(bench.world()):
        if operation.while_frozen or operation.stem == "spaces.freeze":
            continue
        world = bench.world()
        call = world.root.call(operation.stem, **scenes.plain_request(world, operation.stem))
        scenes.freeze(world)
        with world.unchanged():
            world.root.must_refuse(call, Code.SPACE_FROZEN)
        scenes.unfreeze(world)
        _then(world, world.root, call, "refused while frozen")


def test_a_request_refused_for_want_of_a_grant_uses_no_key(bench: Bench) -> None:
    """What a caller without a grant was refused commits under the same key once it is granted, in every operation (F03)."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        caller = world.stranger("A")
        call = caller.call(stem, **scenes.plain_request(world, stem))
        with world.unchanged():
            caller.must_refuse(call, Code.NOT_FOUND, Code.NOT_AUTHORIZED)
        if scenes.space(world)["state"] == "frozen":
            call = _granted_in_a_frozen_space(world, caller, call)
        else:
            _grant_everything(world, caller)
        _then(world, caller, call, "refused without a grant")


def _grant_everything(world: World, caller: Caller) -> None:
    world.root.grant(caller, capabilities=list(capabilities(world.bundle)), shared_access="write")


def _granted_in_a_frozen_space(world: World, caller: Caller, call: Call) -> Call:
    """Grant, which takes an active space; return what the space, frozen again, accepts under the key that was refused."""
    scenes.unfreeze(world)
    _grant_everything(world, caller)
    scenes.freeze(world)
    given = {"expected_revision": scenes.space(world)["revision"]} if "expected_revision" in call.payload else {}
    return replace(call, payload={**call.payload, **given})


def test_a_malformed_request_uses_no_key(bench: Bench) -> None:
    """What its schema refused commits under the same key once it is put right, in every operation."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        call = world.root.call(stem, **scenes.plain_request(world, stem))
        with world.unchanged():
            broken = replace(call, payload={**call.payload, "unexpected": 1})
            world.root.must_refuse(broken, Code.MALFORMED_REQUEST, meant_invalid=True)
        _then(world, world.root, call, "malformed")


def test_a_request_outside_the_session_uses_no_key(bench: Bench) -> None:
    """What was refused for want of a negotiated flag commits under the same key once it is negotiated, in every operation."""
    for operation in scenes.served(bench.world()):
        if not operation.mutation:
            continue
        world = bench.world()
        others = [flag for flag in Flag if flag is not operation.flag]
        call = world.root.call(operation.stem, **scenes.plain_request(world, operation.stem))
        outside = world.root.with_flags(*others)
        outside.refused(operation.stem, Code.FLAG_NOT_NEGOTIATED, **call.payload)
        _then(world, world.root, call, "refused for want of its flag")


def test_a_request_ahead_of_the_revision_uses_no_key(bench: Bench) -> None:
    """What was ahead of the stored revision commits under the same key once that revision is reached (F03)."""
    world = bench.world()
    record_id = world.root.create()
    call = world.root.call("records.update", record_id=record_id, expected_revision=2, content={"text": "c"})
    with world.unchanged():
        world.root.must_refuse(call, Code.REVISION_AHEAD)
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "b"})
    _then(world, world.root, call, "ahead of the revision")
    world.same({"text": "c"}, world.root.read(record_id)["content"], "the accepted update is not stored")


# -- fences, and another body under the key that was refused


def _fence_subject(world: World, action: str) -> None:
    subject_id = world.scope()["subject_id"]
    revision = world.root.do("subjects.get", subject_id=subject_id)["subject"]["revision"]
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action=action, expected_revision=revision)


def _fence_context(world: World, action: str) -> None:
    target = {"type": "context", "context_id": world.scope()["context_id"]}
    world.root.do("subjects.fence", target=target, action=action)


def _freeze(world: World, action: str) -> None:
    if action == "fence":
        scenes.freeze(world)
    else:
        scenes.unfreeze(world)


BARRIERS: Mapping[str, tuple[Callable[[World, str], None], Code]] = {
    "freeze": (_freeze, Code.SPACE_FROZEN),
    "subject": (_fence_subject, Code.SUBJECT_FENCED),
    "context": (_fence_context, Code.CONTEXT_FENCED),
}


@pytest.mark.parametrize("body", ["the_same", "another"])
@pytest.mark.parametrize("barrier", sorted(BARRIERS))
def test_a_capture_refused_by_a_barrier_uses_no_key(bench: Bench, barrier: str, body: str) -> None:
    """A capture that a freeze or a fence refused commits once it is lifted, with the same body or another one (F03)."""
    world = bench.world()
    raised, code = BARRIERS[barrier]
    members: dict[str, Any] = {"content": {"text": "a"}, "scope": world.scope(), "idempotency_key": world.fresh_key()}
    raised(world, "fence")
    with world.unchanged():
        world.root.refused("capture", code, **members)
    raised(world, "unfence")
    content = {"text": "a"} if body == "the_same" else {"text": "b"}
    receipt = world.root.do("capture", **{**members, "content": content})
    captured = world.root.all("candidates.list", selection=world.everything())
    world.same([content], [candidate["content"] for candidate in captured], "not exactly the accepted capture is there")
    world.same(captured[0]["candidate_id"], receipt["affected"][0]["id"], "the receipt names another candidate")


# -- refusals for what is in the request


@given(broken=broken_cognition(), content=contents())
def test_a_request_refused_for_its_cognition_uses_no_key(bench: Bench, broken: tuple[str, Any], content: Any) -> None:
    """A malformed cognition record uses no key: the request put right commits under it, with whatever body."""
    world = bench.world()
    members = {"kind": "note", "scope": world.scope(), "idempotency_key": world.fresh_key()}
    world.root.refused(
        "records.create",
        Code.INVALID_VALUE,
        reason=Reason.BAD_COGNITION_RECORD,
        field=Field.COGNITION,
        **members,
        content={"text": "a", "cognition": broken[1]},
    )
    _then(world, world.root, world.root.call("records.create", **members, content=content), "refused for its cognition")


REFUSED: Mapping[str, tuple[str, dict[str, Any], Code]] = {
    "another_kind": ("subjects.ensure", {"kind": "app:other"}, Code.WRONG_STATE),
    "ahead": ("profile.update", {"expected_revision": 7}, Code.REVISION_AHEAD),
    "surrogate": ("records.create", {"content": {"text": "\ud800"}}, Code.INVALID_VALUE),
    "no_subject": ("records.create", {"scope": {"subject_id": "nobody"}}, Code.NOT_FOUND),
    "no_candidate": ("candidates.review", {"candidate_id": "none"}, Code.NOT_FOUND),
    "no_record": ("records.delete", {"record_id": "none"}, Code.NOT_FOUND),
    "no_grant": ("grants.revoke", {"grant_id": "none"}, Code.NOT_FOUND),
}
"""By what is wrong: the operation, what makes its plain request refused, the code."""


@pytest.mark.parametrize("wrong", sorted(REFUSED))
def test_a_request_refused_by_its_handler_uses_no_key(bench: Bench, wrong: str) -> None:
    """Whatever the operation refuses leaves the key free for another body."""
    world = bench.world()
    stem, broken, code = REFUSED[wrong]
    right = scenes.plain_request(world, stem)
    if stem == "subjects.ensure":
        world.root.ensure(right["subject_id"], kind="app:user")
    call = world.root.call(stem, **right)
    with world.unchanged():
        world.root.must_refuse(replace(call, payload={**call.payload, **broken}), code)
    _then(world, world.root, call, "refused by its handler")


@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_a_generation_refused_for_want_of_material_uses_no_key(bench: Bench) -> None:
    """The very request that was refused for a missing profile, or a missing record, goes through once it is there."""
    world = bench.world()
    scope = world.scope()
    call = world.root.call("reflections.generate", selection=scenes.selection(scope))
    world.root.must_refuse(call, Code.PROFILE_INCOMPLETE, Code.INSUFFICIENT_DATA)
    scenes.complete_profile(world, scope["subject_id"])
    world.root.must_refuse(call, Code.INSUFFICIENT_DATA)
    world.root.create(scope=scope)
    world.root.accepted(call)


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_a_transfer_refused_out_of_turn_uses_no_key(bench: Bench) -> None:
    """A chunk that came too early and an activation before the freeze go through under their keys when it is time."""
    world = bench.world()
    bundle, chunks = cargo(world).parcel()
    import_id = scenes.stage(world, bundle, chunks[:1])
    later = [moving.stage_call(world, bundle, chunk, import_id) for chunk in chunks[1:]]
    world.root.must_refuse(later[1], Code.IMPORT_SEQUENCE)
    for call in later:
        world.root.accepted(call)
    activation = moving.activation(world, import_id)
    world.root.must_refuse(activation, Code.SPACE_NOT_FROZEN)
    scenes.freeze(world)
    world.root.accepted(activation)
