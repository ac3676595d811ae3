"""MEM-R013: an object that a caller may not see is answered as one that does not exist, whatever state it is in (F17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.likeness import HOLE, Likeness, filled
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.vocabulary import capabilities

Members = dict[str, Any]
Scope = Mapping[str, str]

NAME_CODES = (Code.NOT_AUTHORIZED, Code.NOT_FOUND)
ANY_CODE = tuple(Code)

# -- objects, by their ids


def _elsewhere(world: World) -> Caller:
    """Return a caller with every capability, but in another context than all that is hidden from it."""
    contexts, subjects = [world.name("c3")], [world.name("u1")]
    return world.principal(*capabilities(world.bundle), context_ids=contexts, subject_ids=subjects, name="elsewhere")


def _updated(world: World, record_id: str, times: int) -> str:
    for revision in range(1, times + 1):
        world.root.do("records.update", record_id=record_id, expected_revision=revision, kind=f"k{revision}")
    return record_id


def _hidden(world: World, scope: Scope) -> dict[str, tuple[str, int]]:
    """Make, as root, objects at ``scope`` in every state; return (id, revision) by what they are."""
    root, place = world.root, dict(scope)
    tombstone, consumed = root.create(scope=place), root.capture(scope=place)
    root.do("records.delete", record_id=tombstone, expected_revision=1)
    scenes.dismiss(world, consumed)
    return {
        "record": (_updated(world, root.create(scope=place), 6), 7),
        "fresh record": (root.create(scope=place), 1),
        "tombstone record": (tombstone, 2),
        "candidate": (root.capture(scope=place), 1),
        "candidate without kind": (_kindless(world, place), 1),
        "consumed candidate": (consumed, 2),
    }


def _kindless(world: World, place: Scope) -> str:
    """Capture what no decision makes a record of that does not say a kind itself."""
    return made(world.root.do("capture", content={"text": "a"}, scope=place), "candidate")


def _on_record(world: World, revision: int) -> Iterator[tuple[str, Members]]:
    cas, to_scope = {"expected_revision": revision}, world.scope("u1", "c3")
    yield "records.get", {"record_id": HOLE}
    yield "records.update", {"record_id": HOLE, **cas, "content": {"text": "b"}}
    yield "records.delete", {"record_id": HOLE, **cas}
    yield "records.promote", {"record_id": HOLE, **cas, "to_scope": to_scope}


def _on_candidate(world: World, revision: int) -> Iterator[tuple[str, Members]]:
    cas = {"expected_revision": revision}
    decisions: Sequence[Members] = (
        {"action": "promote"},
        {"action": "discard"},
        {"action": "fragment", "fragments": [{"content": {"text": "a"}}, {"content": {"text": "b"}}]},
    )
    yield "candidates.get", {"candidate_id": HOLE}
    if world.has("candidates.dismiss"):
        yield "candidates.dismiss", {"candidate_id": HOLE, **cas}
    for decision in decisions:
        yield "candidates.review", {"candidate_id": HOLE, **cas, "decision": decision}


def _requests(world: World, what: str, revision: int) -> Iterator[tuple[str, Members]]:
    return (_on_candidate if "candidate" in what else _on_record)(world, revision)


@pytest.mark.parametrize("context", ["c1", None], ids=["context", "shared"])
def test_hidden_objects_are_as_missing(bench: Bench, context: str | None) -> None:
    """A record or candidate that the caller does not cover is not found, as a missing one, whatever its state and revision."""
    world = bench.world()
    likeness = Likeness(world)
    hidden = _hidden(world, world.scope("u1", context))
    caller = _elsewhere(world)
    own = caller.create(scope=world.scope("u1", "c3"))
    with world.unchanged():
        for what, (object_id, revision) in bench.rows(list(hidden.items())):
            for expected in sorted({1, revision, 99}):
                for stem, request in _requests(world, what, expected):
                    likeness.expect(caller, stem, object_id, request, [Code.NOT_FOUND])
    for stem, revision in (("records.get", 1), ("records.update", 1), ("records.delete", 2)):
        caller.do(stem, **filled(dict(_on_record(world, revision))[stem], own))


@contextmanager
def _context_fenced(world: World) -> Iterator[None]:
    world.root.do("subjects.fence", target={"type": "context", "context_id": world.name("c1")}, action="fence")
    yield


@contextmanager
def _subject_archived(world: World) -> Iterator[None]:
    target = {"type": "subject", "subject_id": world.name("u2")}
    world.root.do("subjects.fence", target=target, action="archive", expected_revision=1)
    yield


@contextmanager
def _space_frozen(world: World) -> Iterator[None]:
    scenes.freeze(world)
    yield
    scenes.unfreeze(world)


CONDITIONS = {"context fenced": _context_fenced, "subject archived": _subject_archived, "space frozen": _space_frozen}


@pytest.mark.parametrize("condition", sorted(CONDITIONS))
def test_no_fence_and_no_freeze_betrays_a_hidden_object(bench: Bench, condition: str) -> None:
    """Behind a fence, an archiving or a freeze a hidden object is still answered as a missing one."""
    world = bench.world()
    likeness = Likeness(world)
    hidden = _hidden(world, world.scope("u2" if condition == "subject archived" else "u1", "c1"))
    caller = _elsewhere(world)
    codes = ANY_CODE if condition == "space frozen" else [Code.NOT_FOUND]
    with CONDITIONS[condition](world):
        for what, (object_id, revision) in bench.rows(list(hidden.items())):
            for stem, request in _requests(world, what, revision):
                likeness.expect(caller, stem, object_id, request, codes)


def test_no_size_betrays_a_hidden_object(bench: Bench) -> None:
    """Content above the limit is answered alike for a hidden record or candidate and a missing one."""
    world = bench.world()
    likeness = Likeness(world)
    hidden = _hidden(world, world.scope("u1", "c1"))
    caller = _elsewhere(world)
    big = {"text": "a" * (bench.described(world)["limits"]["max_content_bytes"] + 1)}
    override = {"action": "promote", "content_override": big}
    for what, (object_id, revision) in bench.rows(list(hidden.items())):
        cas = {"expected_revision": revision}
        if "candidate" in what:
            request: Members = {"candidate_id": HOLE, **cas, "decision": override}
            likeness.expect(caller, "candidates.review", object_id, request, ANY_CODE)
        else:
            likeness.expect(caller, "records.update", object_id, {"record_id": HOLE, **cas, "content": big}, ANY_CODE)


def test_the_receipts_and_grants_of_others_are_as_missing(bench: Bench) -> None:
    """A receipt is there for its principal and an admin, a grant for its issuer and an admin; for others neither exists."""
    world = bench.world()
    likeness = Likeness(world)
    scope = world.scope()
    writer, other = (world.principal("records_write", "grants_issue", "records_read", name=name) for name in ("writer", "other"))
    receipt_id = writer.do("records.create", kind="note", content={"text": "a"}, scope=scope)["receipt_id"]
    grant_id = writer.grant(world.stranger(), capabilities=["records_read"])
    every = [name for name in capabilities(bench.bundle) if name != "admin"]
    rich = world.principal(*every, shared_access="write", name="all but admin")
    revoked = world.root.grant(world.stranger(), capabilities=["recall"])
    world.root.do("grants.revoke", grant_id=revoked)
    elsewhere = _elsewhere(world)
    with world.unchanged():
        for caller in (other, rich, elsewhere):
            likeness.expect(caller, "receipts.get", receipt_id, {"receipt_id": HOLE}, NAME_CODES)
            for hidden in (grant_id, revoked):
                likeness.expect(caller, "grants.revoke", hidden, {"grant_id": HOLE}, NAME_CODES)
    for caller in (writer, world.principal("admin")):
        caller.do("receipts.get", receipt_id=receipt_id)
    writer.do("grants.revoke", grant_id=grant_id)


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_without_transfer_no_export_or_import_shows(bench: Bench) -> None:
    """Without transfer an export or import is answered alike whether it exists or not, and in whatever state."""
    world = bench.world()
    likeness = Likeness(world)
    world.root.create(scope=world.scope())
    bundle, chunks = scenes.fetched(world, scenes.export(world, max_items_per_chunk=1))
    partial = world.root.do("imports.stage", bundle=bundle, chunk=chunks[0])["affected"][0]["id"]
    whole = scenes.staged(world)
    gone = scenes.staged(world)
    world.root.do("imports.discard", import_id=gone)
    poor = [name for name in capabilities(bench.bundle) if name != "transfer"]
    holder = world.principal("transfer")
    callers = (world.principal(*poor, shared_access="write", name="no transfer"), _elsewhere(world))
    scenes.freeze(world)  # so that an activation lacks nothing else
    for caller in callers:
        for ordinal in (0, 999):
            likeness.expect(caller, "exports.get", bundle["export_id"], {"export_id": HOLE, "ordinal": ordinal}, NAME_CODES)
        for import_id in (partial, whole, gone):
            for stem, request in _on_import(bundle, chunks[1], scenes.generation(world)):
                likeness.expect(caller, stem, import_id, request, NAME_CODES)
    holder.do("exports.get", export_id=bundle["export_id"], ordinal=0)


def _on_import(bundle: Mapping[str, Any], chunk: Mapping[str, Any], generation: int) -> Iterator[tuple[str, Members]]:
    yield "imports.stage", {"import_id": HOLE, "bundle": bundle, "chunk": chunk}
    yield "imports.activate", {"import_id": HOLE, "expected_authority_generation": generation}
    yield "imports.discard", {"import_id": HOLE}
