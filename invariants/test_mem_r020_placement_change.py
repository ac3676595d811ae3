"""MEM-R020, placement change: update never moves a record, promote does nothing else (protocol.md section 7, Update, Promote)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, all_made
from conformance.wire.vocabulary import Code, Field
from conformance.world import World
from strategies.content import contents
from strategies.grants import GrantShape, covers, grant_shapes
from strategies.identifiers import extension_maps, ids, kinds, look_alikes

PLACES = ("c1", "c2", None)
"""Two contexts and the shared placement."""

ENDS = st.permutations(PLACES).map(lambda places: (places[0], places[1]))
MOVED = ("scope", "revision", "updated_at")
UPDATED = ("content", "kind", "revision", "updated_at")


def _but(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def _reviewed(world: World, author: Caller, **members: Any) -> str:
    """Return a record that came by review of ``author``'s capture."""
    decision = {"action": "promote", "kind": "note"}
    candidate_id = author.capture(**members)
    receipt = world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    return all_made(receipt, "record")[0]


def _record(world: World, author: Caller, source: str, **members: Any) -> str:
    return _reviewed(world, author, **members) if source == "review" else author.create(**members)


def _promote(caller: Caller, record: Mapping[str, Any], to_scope: Mapping[str, str]) -> None:
    caller.do("records.promote", record_id=record["record_id"], expected_revision=record["revision"], to_scope=dict(to_scope))


# -- promote moves, and does nothing else


@given(
    content=contents(),
    ends=ENDS,
    source=st.sampled_from(("author", "review")),
    members=st.fixed_dictionaries({}, optional={"source_context_id": ids(), "extensions": extension_maps()}),
)
def test_promote_changes_the_placement_alone(
    bench: Bench, content: Any, ends: tuple[str | None, str | None], source: str, members: dict[str, Any]
) -> None:
    """A promotion changes the scope, the revision by exactly 1 and ``updated_at``; all else is what it was, provenance too."""
    world = bench.world()
    author = world.principal("records_write", "capture", name="A", shared_access="write")
    start, end = (world.scope(context=context) for context in ends)
    before = world.root.read(_record(world, author, source, content=content, scope=start, **members))
    world.same([content, start], [before["content"], before["scope"]], "the record is not as it was made")
    mover = world.principal("records_write", name="B", shared_access="write")
    _promote(mover, before, end)
    after = world.root.read(before["record_id"])
    world.same(
        [end, before["revision"] + 1], [after["scope"], after["revision"]], "memory.records.promote: the record did not move"
    )
    world.same(_but(before, *MOVED), _but(after, *MOVED), "memory.records.promote: it changed more than the placement")


@given(ends=ENDS)
@pytest.mark.examples(0.4)
def test_a_promoted_record_is_read_at_its_new_placement_alone(bench: Bench, ends: tuple[str | None, str | None]) -> None:
    """Every read finds the record at the new placement and none at the old one, for whoever covers just one of them."""
    world = bench.world()
    start, end = (world.scope(context=context) for context in ends)
    record_id = world.root.create(scope=start, content={"text": "mover"})
    stays = world.root.create(scope=start, content={"text": "stays"})
    readers = [_reader(world, scope) for scope in (start, end)]
    for reader in readers:
        reader.do("recall", selection=world.everything(), budget={"max_records": 9})
    _promote(world.root, world.root.read(record_id), end)
    for reader, scope, there in zip(readers, (start, end), ([stays], [record_id]), strict=True):
        for selection in (scenes.selection(scope), world.everything()):
            listed = reader.do("records.list", selection=selection)
            world.same(len(there), listed["total_authorized"], "memory.records.list: it counts at the wrong placement")
            world.same_set(there, [record["record_id"] for record in listed["records"]], "memory.records.list: wrong placement")
            recalled = reader.do("recall", selection=selection, query={"text": "mover"}, budget={"max_records": 9})
            world.same_set(there, [record["record_id"] for record in recalled["records"]], "memory.recall: wrong placement")
    readers[0].denied("records.get", record_id=record_id)
    world.same(end, readers[1].read(record_id)["scope"], "memory.records.get: it gives another placement")


def _reader(world: World, scope: Mapping[str, str]) -> Caller:
    """Return a principal that reads at one placement alone."""
    if "context_id" in scope:
        return world.principal("records_read", "recall", context_ids=[scope["context_id"]])
    return world.principal("records_read", "recall", context_ids=[world.name("elsewhere")], shared_access="read")


@given(path=st.lists(st.sampled_from(PLACES), min_size=1, max_size=6))
@pytest.mark.examples(0.6)
def test_a_record_goes_wherever_it_is_promoted_and_back(bench: Bench, path: list[str | None]) -> None:
    """Along any path each promotion to another placement moves the record, and one to the same placement is refused."""
    world = bench.world()
    record_id = world.root.create(scope=world.scope(context="c1"))
    first = world.root.read(record_id)
    here: str | None = "c1"
    for context in path:
        record = world.root.read(record_id)
        members = {"record_id": record_id, "expected_revision": record["revision"], "to_scope": world.scope(context=context)}
        if context == here:
            with world.unchanged():
                world.root.refused("records.promote", Code.WRONG_STATE, **members)
        else:
            world.root.do("records.promote", **members)
            here = context
        world.same(world.scope(context=here), world.root.read(record_id)["scope"], "memory.records.promote: wrong placement")
    last = world.root.read(record_id)
    world.same(_but(first, *MOVED), _but(last, *MOVED), "memory.records.promote: it changed more than the placement")


@given(contexts=look_alikes(2))
@pytest.mark.examples(0.6)
def test_look_alike_contexts_are_different_placements(bench: Bench, contexts: tuple[str, ...]) -> None:
    """A promotion to a context that merely looks like the present one moves the record there, to the code point."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    start, end = ({"subject_id": subject_id, "context_id": context} for context in contexts)
    record_id = world.root.create(scope=start)
    _promote(world.root, world.root.read(record_id), end)
    world.same(end, world.root.read(record_id)["scope"], "memory.records.promote: the record is at another placement")


# -- where it may not go


def test_promote_stays_with_its_subject(bench: Bench) -> None:
    """A promotion to another subject is refused on ``to_scope.subject_id``, whatever the context; to the own one it commits."""
    world = bench.world()
    record_id = world.root.create()
    members: dict[str, Any] = {"record_id": record_id, "expected_revision": 1}
    others = [world.scope("u2", context) for context in ("c2", None, "c1")]
    with world.unchanged():
        for other in others:
            world.root.refused("records.promote", Code.INVALID_VALUE, field=Field.TO_SUBJECT, **members, to_scope=other)
    world.root.do("records.promote", **members, to_scope=world.scope(context="c2"))


# -- authority at both ends


WRITING = ("records_write", "records_read", "review", "capture")


@given(
    shapes=st.lists(grant_shapes(("u1", "u2"), ("c1", "c2"), capabilities=WRITING), min_size=1, max_size=2),
    ends=ENDS,
)
def test_promote_takes_authority_at_both_ends(
    bench: Bench, shapes: list[GrantShape], ends: tuple[str | None, str | None]
) -> None:
    """A promotion is open exactly to a caller that has ``records_write`` on the present and on the new placement."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    start, end = ({"subject_id": subject_id, **({} if at is None else {"context_id": at})} for at in ends)
    record_id = world.root.create(scope=start)
    caller = world.stranger("B")
    for shape in shapes:
        world.root.grant(caller, **_over(shape, subject_id).members())
    held = [any(covers(shape, "records_write", "u1", place, access="write") for shape in shapes) for place in ends]
    members = {"record_id": record_id, "expected_revision": 1, "to_scope": end}
    if all(held):
        caller.do("records.promote", **members)
        world.same(end, world.root.read(record_id)["scope"], "memory.records.promote: the record did not move")
    else:
        with world.unchanged():
            caller.denied("records.promote", **members)


def _over(shape: GrantShape, subject_id: str) -> GrantShape:
    """Return the shape over the world's own subject in place of ``u1``."""
    named = None if shape.subject_ids is None else tuple(subject_id if name == "u1" else name for name in shape.subject_ids)
    return GrantShape(shape.capabilities, named, shape.context_ids, shape.shared_access, shape.expires_at)


@pytest.mark.parametrize("ends", [("c1", "c2"), ("c1", None), (None, "c1")], ids=["contexts", "into_shared", "out_of_shared"])
def test_one_end_does_not_suffice(bench: Bench, ends: tuple[str | None, str | None]) -> None:
    """Authority at the present placement or at the new one alone is refused; both, by two grants, are enough."""
    world = bench.world()
    start, end = (world.scope(context=context) for context in ends)
    record_id = world.root.create(scope=start)
    members = {"record_id": record_id, "expected_revision": 1, "to_scope": end}
    callers = {name: world.stranger(name) for name in ("source", "destination", "both")}
    for name, scopes in {"source": [start], "destination": [end], "both": [start, end]}.items():
        for scope in scopes:
            world.root.grant(callers[name], capabilities=["records_write"], **_at(world, scope, "write"))
    with world.unchanged():
        callers["source"].denied("records.promote", **members)
        hidden = callers["destination"].denied("records.promote", **members)
        missing = callers["destination"].denied("records.promote", **{**members, "record_id": "none"})
    world.same(missing["code"], hidden["code"], "memory.records.promote: a hidden record is told from a missing one")
    callers["both"].do("records.promote", **members)


def _at(world: World, scope: Mapping[str, str], access: str) -> dict[str, Any]:
    """Return the grant members that cover one placement alone."""
    if "context_id" in scope:
        return {"context_ids": [scope["context_id"]]}
    return {"context_ids": [world.name("elsewhere")], "shared_access": access}


@pytest.mark.parametrize("ends", [("c1", None), (None, "c1")], ids=["into_shared", "out_of_shared"])
def test_reading_the_shared_placement_moves_nothing(bench: Bench, ends: tuple[str | None, str | None]) -> None:
    """Promotion into or out of the shared placement takes write access there; read access does not do."""
    world = bench.world()
    start, end = (world.scope(context=context) for context in ends)
    members = {"record_id": world.root.create(scope=start), "expected_revision": 1, "to_scope": end}
    reader = world.principal("records_write", "records_read", name="B", shared_access="read")
    with world.unchanged():
        reader.denied("records.promote", **members)
    world.principal("records_write", name="C", shared_access="write").do("records.promote", **members)


# -- update never moves


@given(
    first=contents(),
    then=st.fixed_dictionaries({}, optional={"content": contents(), "kind": kinds()}).filter(bool),
    source=st.sampled_from(("author", "review")),
    members=st.fixed_dictionaries({}, optional={"source_context_id": ids(), "extensions": extension_maps()}),
    place=st.sampled_from(PLACES),
)
def test_update_changes_content_and_kind_alone(
    bench: Bench, first: Any, then: dict[str, Any], source: str, members: dict[str, Any], place: str | None
) -> None:
    """An update changes content and kind as given; scope, provenance, extensions and ids stay (F13)."""
    world = bench.world()
    author = world.principal("records_write", "capture", name="A", shared_access="write")
    record_id = _record(world, author, source, content=first, scope=world.scope(context=place), **members)
    before = world.root.read(record_id)
    writer = world.principal("records_write", name="B", shared_access="write")
    request = {"record_id": record_id, "expected_revision": 1, **then, "extensions": {"later": {"x": 1}}}
    writer.do("records.update", **request)
    after = world.root.read(record_id)
    world.same(_but(before, *UPDATED), _but(after, *UPDATED), "memory.records.update: it changed more than content and kind")
    expected = {"content": first, "kind": before["kind"], **then, "revision": 2}
    world.same(expected, {name: after[name] for name in expected}, "memory.records.update: the record is not as updated")


SMUGGLED: tuple[tuple[str, Any], ...] = (
    ("scope", None),
    ("to_scope", None),
    ("context_id", "c2"),
    ("subject_id", "u2"),
    ("provenance", {"source": "author", "created_by": "nobody"}),
    ("source_context_id", "c2"),
)
"""Members that an update must not take; None stands for the placement of another context."""


@pytest.mark.parametrize("member", [name for name, _ in SMUGGLED])
def test_update_takes_no_placement_and_no_provenance(bench: Bench, member: str) -> None:
    """An update that names a scope, a context, a subject or a provenance is malformed, and the record stays where it is."""
    world = bench.world()
    record_id = world.root.create(source_context_id="src")
    before = world.root.read(record_id)
    value = dict(SMUGGLED)[member] or world.scope(context="c2")
    call = world.root.call("records.update", record_id=record_id, expected_revision=1, content={"text": "b"})
    with world.unchanged():
        smuggling = world.root.call("records.update", **call.payload, **{member: value})
        world.root.must_refuse(smuggling, Code.MALFORMED_REQUEST, meant_invalid=True)
    world.root.accepted(call)
    world.same(_but(before, *UPDATED), _but(world.root.read(record_id), *UPDATED), "memory.records.update: it moved the record")


def test_promote_takes_no_content_and_no_kind(bench: Bench) -> None:
    """A promotion that names a content, a kind or a provenance is malformed, and the record stays as it is."""
    world = bench.world()
    record_id = world.root.create()
    call = world.root.call("records.promote", record_id=record_id, expected_revision=1, to_scope=world.scope(context="c2"))
    smuggled = {"content": {"text": "b"}, "kind": "fact", "scope": world.scope(), "source_context_id": "c2"}
    with world.unchanged():
        for member, value in smuggled.items():
            smuggling = world.root.call("records.promote", **call.payload, **{member: value})
            world.root.must_refuse(smuggling, Code.MALFORMED_REQUEST, meant_invalid=True)
    world.root.accepted(call)


def test_provenance_survives_update_and_promote_and_deletion(bench: Bench) -> None:
    """A record keeps its provenance, extensions and creation time through every later change, the tombstone too (F13)."""
    world = bench.world()
    author = world.principal("records_write", "capture", name="A")
    members = {"source_context_id": "src", "extensions": {"acme": {"x": 1}}}
    for source in ("author", "review"):
        record_id = _record(world, author, source, **members)
        before = world.root.read(record_id)
        change = {"record_id": record_id}
        world.root.do("records.update", **change, expected_revision=1, content={"text": "new"})
        world.root.do("records.update", **change, expected_revision=2, kind="fact")
        world.root.do("records.promote", **change, expected_revision=3, to_scope=world.scope(context="c2"))
        world.root.do("records.delete", **change, expected_revision=4)
        after = world.root.read(record_id)
        kept = ("record_id", "space_id", "provenance", "created_at", "extensions")
        wanted, seen = ({name: record[name] for name in kept} for record in (before, after))
        world.same(wanted, seen, "a later change took what a record keeps for ever")
        world.same("src", after["provenance"]["source_context_id"], "the record lost its source context")


def test_changes_build_on_each_other(bench: Bench) -> None:
    """Each update and promotion starts from what the one before it left, in whichever order they come."""
    world = bench.world()
    record_id = world.root.create(content={"text": "one", "structured": [1]})
    expected = dict(world.root.read(record_id))
    steps: list[tuple[str, dict[str, Any]]] = [
        ("update", {"content": {"text": "two"}}), ("update", {"kind": "fact"}), ("promote", {"scope": world.scope(context="c2")}),
        ("update", {"kind": "note"}), ("update", {"content": {"text": "three", "structured": None}}),
        ("promote", {"scope": world.scope(context=None)}), ("update", {"kind": "fact", "content": {"text": "one"}}),
    ]  # fmt: skip
    for stem, changed in steps:
        members = {"to_scope": changed["scope"]} if stem == "promote" else changed
        world.root.do(f"records.{stem}", record_id=record_id, expected_revision=expected["revision"], **members)
        seen = world.root.read(record_id)
        expected = {**expected, **changed, "revision": expected["revision"] + 1, "updated_at": seen["updated_at"]}
        world.same(expected, seen, f"records.{stem} of {', '.join(changed)} started from something else than what was there")
