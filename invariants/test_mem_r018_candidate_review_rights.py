"""MEM-R018, candidate review: who may decide, and what a candidate gives nobody (protocol.md sections 4, 5 and 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.bench import Bench
from conformance.caller import Caller, all_made, made
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.grants import GrantShape, covers, grant_shapes
from strategies.vocabulary import capabilities

PROMOTE = {"action": "promote"}
FRAGMENT = {"action": "fragment", "fragments": [{"content": {"text": "left"}}, {"content": {"text": "right"}}]}
DISCARD = {"action": "discard"}
SUBJECTS, CONTEXTS = ("u1", "u2"), ("c1", "c2")
DECIDING = ("review", "records_write", "records_read", "capture", "admin")


def _review(caller: Caller, candidate_id: str, decision: Mapping[str, Any]) -> Mapping[str, Any]:
    receipt: Mapping[str, Any] = caller.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    return receipt


def _denied(world: World, caller: Caller, candidate_id: str, decision: Mapping[str, Any]) -> Mapping[str, Any]:
    with world.unchanged():
        return caller.denied("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def _missing(caller: Caller, decision: Mapping[str, Any]) -> Mapping[str, Any]:
    return caller.refused(
        "candidates.review", Code.NOT_FOUND, Code.NOT_AUTHORIZED, candidate_id="none", expected_revision=1, decision=decision
    )


# -- review and records_write over the capture scope


@given(
    shapes=st.lists(grant_shapes(SUBJECTS, CONTEXTS, capabilities=DECIDING), min_size=1, max_size=2),
    context=st.sampled_from((*CONTEXTS, None)),
    decision=st.sampled_from((PROMOTE, FRAGMENT)),
)
def test_making_records_takes_review_and_records_write(
    bench: Bench, shapes: list[GrantShape], context: str | None, decision: Mapping[str, Any]
) -> None:
    """A caller makes records of a candidate exactly when its grants cover both capabilities over the capture scope."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    scope = {"subject_id": subject_id} if context is None else {"subject_id": subject_id, "context_id": context}
    candidate_id = world.root.capture(scope=scope)
    caller = world.stranger("R")
    for shape in shapes:
        world.root.grant(caller, **_over(shape, subject_id).members())
    held = [
        any(covers(shape, capability, "u1", context, access="write") for shape in shapes)
        for capability in ("review", "records_write")
    ]
    if all(held):
        records = all_made(_review(caller, candidate_id, decision), "record")
        world.same({PROMOTE["action"]: 1}.get(decision["action"], 2), len(records), "the decision made another number of records")
    else:
        error = _denied(world, caller, candidate_id, decision)
        _tells_nothing(world, caller, shapes, context, error, decision)


def _over(shape: GrantShape, subject_id: str) -> GrantShape:
    """Return the shape over the world's own subject in place of ``u1``."""
    named = None if shape.subject_ids is None else tuple(subject_id if name == "u1" else name for name in shape.subject_ids)
    return GrantShape(shape.capabilities, named, shape.context_ids, shape.shared_access, shape.expires_at)


def _tells_nothing(
    world: World,
    caller: Caller,
    shapes: list[GrantShape],
    context: str | None,
    error: Mapping[str, Any],
    decision: Mapping[str, Any],
) -> None:
    """Want a candidate that the caller may not see refused as a missing one is."""
    if not any(covers(shape, "review", "u1", context, access="read") for shape in shapes):
        missing = _missing(caller, decision)
        world.same(missing["code"], error["code"], "memory.candidates.review: a hidden candidate is told from a missing one")


@pytest.mark.parametrize("decision", [PROMOTE, FRAGMENT], ids=["promote", "fragment"])
def test_review_alone_does_not_suffice(bench: Bench, decision: Mapping[str, Any]) -> None:
    """Review without records_write makes no record; records_write beside it, from another grant, is enough."""
    world = bench.world()
    candidate_id = world.root.capture()
    reviewer = world.principal("review", name="R")
    writer = world.principal("records_write", "records_read", name="W")
    for caller in (reviewer, writer):
        _denied(world, caller, candidate_id, decision)
    world.root.grant(reviewer, capabilities=["records_write"], context_ids=["c2"])
    _denied(world, reviewer, candidate_id, decision)
    world.root.grant(reviewer, capabilities=["records_write"], context_ids=[world.scope()["context_id"]])
    all_made(_review(reviewer, candidate_id, decision), "record")


def test_reading_the_shared_placement_decides_nothing_there(bench: Bench) -> None:
    """A candidate of the shared placement takes write access there; read access shows it and no more."""
    world = bench.world()
    candidate_id = world.root.capture(scope=world.scope(context=None))
    reader = world.principal("review", "records_write", name="R", shared_access="read")
    world.same(candidate_id, reader.candidate(candidate_id)["candidate_id"], "memory.candidates.get: another candidate is read")
    _denied(world, reader, candidate_id, PROMOTE)
    if world.has("candidates.dismiss"):
        with world.unchanged():
            reader.denied("candidates.dismiss", candidate_id=candidate_id, expected_revision=1)
    writer = world.principal("review", "records_write", name="W", shared_access="write")
    all_made(_review(writer, candidate_id, PROMOTE), "record")


def test_a_dismissal_takes_review_alone(bench: Bench) -> None:
    """Dismissing needs ``review``; discarding too, where a provider may want ``records_write`` beside it."""
    world = bench.world()
    reviewer = world.principal("review", name="R")
    writer = world.principal("records_write", "capture", name="W")
    candidate_id = world.root.capture()
    with world.unchanged():
        writer.denied("candidates.dismiss", candidate_id=candidate_id, expected_revision=1)
    reviewer.do("candidates.dismiss", candidate_id=candidate_id, expected_revision=1)
    other = world.root.capture()
    reply = reviewer.send("candidates.review", candidate_id=other, expected_revision=1, decision=DISCARD)
    denials = [world.bundle.code(code) for code in (Code.NOT_AUTHORIZED, Code.NOT_FOUND)]
    state = world.root.candidate(other)["state"]
    expected = "discarded" if reply.ok else "pending"
    world.expect(reply.ok or reply.code in denials, "memory.candidates.review: a discard was refused otherwise", seen=reply.error)
    world.same(expected, state, "memory.candidates.review: the candidate's state is not what the answer says")
    both = world.principal("review", "records_write", name="B")
    _review(both, world.root.capture(), DISCARD)


@pytest.mark.parametrize("decision", [PROMOTE, FRAGMENT], ids=["promote", "fragment"])
def test_no_kind_is_missed_before_the_caller_may_decide(bench: Bench, decision: Mapping[str, Any]) -> None:
    """That a candidate has no kind is told to those who may see it: to others it is as missing as any."""
    world = bench.world()
    candidate_id = made(world.root.do("capture", content={"text": "a"}, scope=world.scope()), "candidate")
    elsewhere = world.principal("review", "records_write", context_ids=[world.name("c3")], name="E")
    error = _denied(world, elsewhere, candidate_id, decision)
    world.same(
        _missing(elsewhere, decision)["code"], error["code"], "memory.candidates.review: a hidden candidate shows its kind"
    )
    reviewer = world.principal("review", "records_write", name="R")
    with world.unchanged():
        reviewer.refused(
            "candidates.review", Code.INVALID_VALUE, candidate_id=candidate_id, expected_revision=1, decision=decision
        )


# -- a candidate gives nobody any right


def test_capturing_gives_no_right_to_what_was_captured(bench: Bench) -> None:
    """The author of a capture reads neither the candidate nor the records that come of it, and decides nothing."""
    world = bench.world()
    held = [one for one in capabilities(world.bundle) if one not in ("review", "records_read", "recall", "transfer", "admin")]
    author = world.principal(*held, name="A")
    candidate_id = author.capture()
    with world.unchanged():
        author.denied("candidates.get", candidate_id=candidate_id)
        author.denied("candidates.list", selection=world.everything())
        if world.has("candidates.dismiss"):
            author.denied("candidates.dismiss", candidate_id=candidate_id, expected_revision=1)
    _denied(world, author, candidate_id, PROMOTE)
    record_id = all_made(_review(world.root, candidate_id, PROMOTE), "record")[0]
    author.denied("records.get", record_id=record_id)
    author.denied("records.list", selection=world.everything())
    author.denied("recall", selection=world.everything(), budget={"max_records": 1})
    reader = world.principal("records_read", name="B")
    world.same(candidate_id, reader.read(record_id)["provenance"]["candidate_id"], "the record names another candidate")


def test_a_pending_candidate_gives_nobody_the_record_rights(bench: Bench) -> None:
    """A pending candidate is no record under its own id, and its capture opens no other placement to anybody."""
    world = bench.world()
    author = world.principal("capture", "records_write", "records_read", name="A", context_ids=[world.name("c1")])
    elsewhere = world.scope(context="c2")
    candidate_id = author.capture()
    with world.unchanged():
        for caller in (author, world.root):
            caller.refused("records.get", Code.NOT_FOUND, record_id=candidate_id)
            caller.refused("records.update", Code.NOT_FOUND, record_id=candidate_id, expected_revision=1, content={"text": "b"})
            caller.refused("records.delete", Code.NOT_FOUND, record_id=candidate_id, expected_revision=1)
        author.denied("capture", scope=elsewhere, content={"text": "a"})
        author.denied("records.create", scope=elsewhere, kind="note", content={"text": "a"})
    world.same("a", author.read(author.create())["content"]["text"], "memory.records.create: the author lost its own right")


# -- the only way


def test_creating_a_record_names_no_candidate(bench: Bench) -> None:
    """No creation takes a candidate: the member is unknown, the candidate stays pending, an authored record names none."""
    world = bench.world()
    candidate_id = world.root.capture()
    call = world.root.call("records.create", kind="note", content={"text": "a"}, scope=world.scope())
    review = {"source": "review", "candidate_id": candidate_id, "created_by": world.root.principal_id}
    with world.unchanged():
        for smuggled in ({"candidate_id": candidate_id}, {"provenance": review}, {"source": "review"}):
            world.root.must_refuse(
                world.root.call("records.create", **call.payload, **smuggled), Code.MALFORMED_REQUEST, meant_invalid=True
            )
    record_id = all_made(world.root.accepted(call), "record")[0]
    expected = {"source": "author", "created_by": world.root.principal_id}
    world.same(expected, world.root.read(record_id)["provenance"], "memory.records.create: an authored record names a candidate")
    world.same("pending", world.root.candidate(candidate_id)["state"], "memory.records.create: it consumed a candidate")


def test_extensions_link_no_candidate(bench: Bench) -> None:
    """What a creation says of candidates in its extensions is kept there and means nothing."""
    world = bench.world()
    candidate_id = world.root.capture()
    extensions = {"provenance": {"source": "review", "candidate_id": candidate_id}, "candidate": {"candidate_id": candidate_id}}
    record = world.root.read(world.root.create(extensions=extensions, source_context_id=candidate_id))
    expected = {"source": "author", "created_by": world.root.principal_id, "source_context_id": candidate_id}
    world.same(expected, record["provenance"], "memory.records.create: extensions made its provenance")
    world.same("pending", world.root.candidate(candidate_id)["state"], "memory.records.create: it consumed a candidate")
    _review(world.root, candidate_id, PROMOTE)
