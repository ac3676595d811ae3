"""MEM-R022: a cursor belongs to its caller, operation and request, and ends with the state that it was made on.

protocol.md section 7, Lists. Whether a cursor dies at other committed changes than those named, and whether it outlives a
restart, is the provider's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.crowds import CROWDS, SEVERAL, opened, paged
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.timestamps import shifted

HOUR = 3600


@pytest.mark.parametrize("stem", SEVERAL)
def test_a_cursor_lives_through_reads_refusals_and_replays(bench: Bench, stem: str) -> None:
    """Reads, refused requests and replays leave a cursor valid; it serves the same page each time."""
    world = bench.world()
    if stem not in paged(world):
        bench.require(Flag.REFLECTION)
    asked, member = CROWDS[stem](world)
    create = world.root.call("records.create", kind="note", content={"text": "a"}, scope=world.scope(context="c9"))
    world.root.accepted(create)
    cursor = opened(world.root, stem, asked)
    first = world.root.do(stem, **asked, page={"cursor": cursor, "limit": 1})
    world.root.all("records.list", selection=world.everything())
    world.root.do("recall", selection=world.everything(), budget={"max_records": 1})
    world.root.refused("records.get", Code.NOT_FOUND, record_id="no such record")
    world.root.refused("spaces.freeze", Code.REVISION_AHEAD, expected_revision=scenes.space(world)["revision"] + 1)
    world.root.accepted(create)
    again = world.root.do(stem, **asked, page={"cursor": cursor, "limit": 1})
    lists = world.bundle.operations[f"memory.{stem}"].lists or ""
    world.same([item[member] for item in first[lists]], [item[member] for item in again[lists]], "the cursor's page changed")


@pytest.mark.parametrize("stem", SEVERAL)
def test_a_cursor_is_bound_to_its_caller_and_request(bench: Bench, stem: str) -> None:
    """Another caller, operation or request with the cursor, and a made-up cursor, are CURSOR_INVALID; the limit may change."""
    world = bench.world()
    if stem not in paged(world):
        bench.require(Flag.REFLECTION)
    asked, _ = CROWDS[stem](world)
    other = world.principal("admin", "records_read", "review", "reflections_read", "subjects_read", shared_access="write")
    for caller in (world.root, other):
        caller.do(stem, **asked)
    cursor = opened(world.root, stem, asked)
    page = {"cursor": cursor, "limit": 1}
    other.refused(stem, Code.CURSOR_INVALID, **asked, page=page)
    for made_up in ("x", "0", "1", f"made-up-{cursor}"):
        world.root.refused(stem, Code.CURSOR_INVALID, **asked, page={"cursor": made_up})
    for changed in changes(world, stem, asked):
        world.root.do(stem, **changed)
        world.root.refused(stem, Code.CURSOR_INVALID, **changed, page=page)
    for elsewhere in (one for one in paged(world) if one != stem):
        world.root.refused(elsewhere, Code.CURSOR_INVALID, **elsewhere_asked(world, elsewhere, asked), page=page)
    cursor = opened(world.root, stem, asked)
    for limit in (1, 2):
        world.root.do(stem, **asked, page={"cursor": cursor, "limit": limit})
    world.root.do(stem, **asked, page={"cursor": cursor})


def changes(world: World, stem: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List requests that differ from ``asked`` in one member."""
    return [*other_members(world, stem, asked), {**asked, "extensions": {"elsewhere": {"asked": 1}}}]


def other_members(world: World, stem: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List requests that differ from ``asked`` in one member of the operation's own."""
    if stem == "grants.list":
        return [{"view": "own"}]
    wider = {
        **asked,
        "selection": {"subject_id": world.name("u1"), "mode": "contexts", "context_ids": [world.name("c1"), world.name("c2")]},
    }
    filtered = {**asked, "filter": {"sources": ["author", "review"]}}
    return {
        "records.list": [wider, filtered, {"selection": asked["selection"]}],
        "candidates.list": [wider, {**asked, "states": ["pending"]}],
        "reflections.list": [wider, filtered],
    }[stem]


def elsewhere_asked(world: World, stem: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a valid request of another paged operation, as like ``asked`` as can be, without changing anything."""
    bare: dict[str, dict[str, Any]] = {"grants.list": {"view": "admin"}, "spaces.list": {}}
    return bare.get(stem, {"selection": asked.get("selection", world.everything())})


def create(world: World) -> None:
    """Add an item that the request lists."""
    world.root.create(source_context_id="here")


def create_unfiltered(world: World) -> None:
    """Add an item that the request lists only without its filter."""
    world.root.create(source_context_id="elsewhere")


def update(world: World) -> None:
    """Change an item."""
    record = world.root.all("records.list", selection=world.everything())[-1]
    world.root.do("records.update", record_id=record["record_id"], expected_revision=record["revision"], kind="fact")


def delete(world: World) -> None:
    """Delete an item."""
    record = world.root.all("records.list", selection=world.everything())[-1]
    world.root.do("records.delete", record_id=record["record_id"], expected_revision=record["revision"])


def promote(world: World) -> None:
    """Move an item."""
    record = world.root.all("records.list", selection=world.everything())[-1]
    scope = world.scope(context="c7")
    world.root.do("records.promote", record_id=record["record_id"], expected_revision=record["revision"], to_scope=scope)


def review(world: World) -> None:
    """Make an item by review."""
    candidate_id = world.root.capture(source_context_id="here")
    decision = {"action": "promote"}
    world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def freeze(world: World) -> None:
    """Change the space's state."""
    scenes.freeze(world)


DEATHS: Mapping[str, Callable[[World], None]] = {
    "create": create,
    "create_unfiltered": create_unfiltered,
    "update": update,
    "delete": delete,
    "promote": promote,
    "review": review,
    "freeze": freeze,
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_cursor_dies_at_a_change_of_what_it_lists(bench: Bench, name: str) -> None:
    """A change of an item that the request without its filter would list, or of the space's state, ends the cursor."""
    world = bench.world()
    for _ in range(3):
        world.root.create(source_context_id="here")
    asked: dict[str, Any] = {"selection": world.everything(), "filter": {"source_context_ids": ["here"]}}
    cursor = opened(world.root, "records.list", asked)
    world.root.do("records.list", **asked, page={"cursor": cursor})
    DEATHS[name](world)
    world.root.refused("records.list", Code.CURSOR_INVALID, **asked, page={"cursor": cursor})
    world.root.do("records.list", **asked, page={"limit": 1})


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_a_cursor_dies_at_a_change_of_the_generation(bench: Bench) -> None:
    """A cursor on a frozen space ends with an activation, although the space holds the same items after it as before."""
    world = bench.world()
    for _ in range(3):
        world.root.create()
    asked: dict[str, Any] = {"selection": world.everything()}
    import_id = scenes.staged(world)
    scenes.freeze(world)
    cursor = opened(world.root, "records.list", asked)
    world.root.do("records.list", **asked, page={"cursor": cursor})
    world.root.accepted(moving.activation(world, import_id))
    world.root.refused("records.list", Code.CURSOR_INVALID, **asked, page={"cursor": cursor})
    world.same(3, len(world.root.all("records.list", **asked)), "the list is not what was activated")


def test_other_lists_end_their_cursors_too(bench: Bench) -> None:
    """A cursor of candidates or grants dies at a change of a candidate or grant."""
    world = bench.world()
    captured = [world.root.capture() for _ in range(3)]
    cursor = opened(world.root, "candidates.list", {"selection": world.everything()})
    scenes.dismiss(world, captured[0])
    world.root.refused("candidates.list", Code.CURSOR_INVALID, selection=world.everything(), page={"cursor": cursor})
    friend = world.principal("recall")
    cursor = opened(world.root, "grants.list", {"view": "admin"})
    world.root.grant(friend, capabilities=["recall"])
    world.root.refused("grants.list", Code.CURSOR_INVALID, view="admin", page={"cursor": cursor})


def test_a_cursor_of_spaces_dies_at_a_change_of_a_space(bench: Bench) -> None:
    """Whichever of the listed spaces is frozen, the cursor of the list ends."""
    worlds = moving.two_spaces(bench)
    reader = worlds[0].stranger("reader")
    for world in worlds:
        world.root.grant(reader, capabilities=["admin"])
    for world in worlds:
        page = {"cursor": opened(reader, "spaces.list", {}), "limit": 1}
        reader.do("spaces.list", page=page)
        scenes.freeze(world)
        reader.refused("spaces.list", Code.CURSOR_INVALID, page=page)


@pytest.mark.parametrize("gain", [False, True], ids=["loss", "gain"])
def test_a_cursor_dies_at_a_change_of_the_callers_grants(bench: Bench, gain: bool) -> None:
    """A grant gained or revoked ends the caller's cursors, also when what the request lists stays the same."""
    world = bench.world()
    for _ in range(3):
        world.root.create()
    reader = world.principal("records_read")
    spare = world.root.grant(reader, capabilities=["recall"])
    selection = world.everything()
    cursor = opened(reader, "records.list", {"selection": selection})
    reader.do("records.list", selection=selection, page={"cursor": cursor})
    if gain:
        world.root.grant(reader, capabilities=["review"])
    else:
        world.root.do("grants.revoke", grant_id=spare)
    reader.refused("records.list", Code.CURSOR_INVALID, selection=selection, page={"cursor": cursor})
    world.same(
        3,
        reader.do("records.list", selection=selection)["total_authorized"],
        "the caller's list is not what its other grant covers",
    )


@pytest.mark.needs(controls=["clock"])
def test_a_cursor_dies_when_a_grant_expires(bench: Bench) -> None:
    """The end of one of the caller's grants ends its cursors, also when another grant covers the list as well."""
    world = bench.world()
    for _ in range(3):
        world.root.create()
    reader = world.principal("records_read")
    now = world.root.do("subjects.ensure", subject_id=world.name("u1"))["created_at"]
    world.root.grant(reader, capabilities=["recall"], expires_at=shifted(now, HOUR))
    selection = world.everything()
    cursor = opened(reader, "records.list", {"selection": selection})
    reader.do("records.list", selection=selection, page={"cursor": cursor})
    bench.levers.advance(HOUR + 1)
    reader.refused("records.list", Code.CURSOR_INVALID, selection=selection, page={"cursor": cursor})
    reader.do("records.list", selection=selection, page={"limit": 1})


def test_a_cursor_does_not_outlive_the_right_to_read(bench: Bench) -> None:
    """After the revocation of the only grant a cursor gives nothing: the request is refused."""
    world = bench.world()
    for _ in range(2):
        world.root.create()
    reader = world.stranger()
    grant_id = world.root.grant(reader, capabilities=["records_read"])
    cursor = opened(reader, "records.list", {"selection": world.everything()})
    world.root.do("grants.revoke", grant_id=grant_id)
    codes = (Code.NOT_FOUND, Code.NOT_AUTHORIZED, Code.CURSOR_INVALID)
    reader.refused("records.list", *codes, selection=world.everything(), page={"cursor": cursor})
