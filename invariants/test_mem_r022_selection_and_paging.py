"""MEM-R022: placement selection and provenance filter are independent; counts are exact; a cursor chain gives each item once.

protocol.md section 3 (ReadSelection, ProvenanceFilter) and section 7, Lists. The order of a list, the default page limit and
whether a cursor dies at other committed changes than those named are the provider's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import all_made
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.identifiers import look_alikes
from strategies.selections import passes, provenance_filters, selections, selects

CONTEXTS = ("c1", "c2", "c3")
SOURCES = ("s1", "s2", "c1")


def renamed(world: World, selection: Mapping[str, Any]) -> dict[str, Any]:
    """Return a selection with this world's own names."""
    named = {**selection, "subject_id": world.name(selection["subject_id"])}
    if "context_ids" in named:
        named["context_ids"] = [world.name(context) for context in named["context_ids"]]
    return named


def ids(answer: Mapping[str, Any]) -> list[str]:
    """Return the ids of the records in an answer, in its order."""
    return [record["record_id"] for record in answer["records"]]


def reviewed(world: World, context: str | None, source: Mapping[str, str]) -> str:
    """Make a record by capture and review, and return its id."""
    candidate_id = world.root.capture(scope=world.scope(context=context), **source)
    decision = {"action": "promote"}
    receipt = world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    return all_made(receipt, "record")[0]


def placed(world: World, context: str | None, source: str | None, by_review: bool) -> str:
    """Make a record at a placement with a provenance, and return its id."""
    given_source = {} if source is None else {"source_context_id": source}
    if by_review:
        return reviewed(world, context, given_source)
    return world.root.create(scope=world.scope(context=context), **given_source)


PLACED = st.tuples(st.sampled_from((*CONTEXTS, None)), st.sampled_from((*SOURCES, None)), st.booleans())


@given(wanted=selections("u1", CONTEXTS), chosen=st.none() | provenance_filters(SOURCES), made=st.lists(PLACED, max_size=5))
def test_selection_and_filter_are_combined_by_and(bench: Bench, wanted: Any, chosen: Any, made: list[Any]) -> None:
    """A record is listed exactly when the selection means its placement AND the filter its provenance; the count says so."""
    world = bench.world()
    selection = renamed(world, wanted)
    records = [world.root.read(placed(world, *one)) for one in made]
    world.root.create(scope=world.scope("u2"), source_context_id="s1")
    filtered = {} if chosen is None else {"filter": chosen}
    expected = [
        record["record_id"]
        for record in records
        if selects(selection, record["scope"]) and (chosen is None or passes(record["provenance"], chosen))
    ]
    answer = world.root.do("records.list", selection=selection, **filtered)
    world.same(len(expected), answer["total_authorized"], "total_authorized is not the size of the whole set")
    listed = [record["record_id"] for record in world.root.all("records.list", selection=selection, **filtered)]
    world.same_set(expected, listed, "the list is not the selected and filtered set")


@given(names=look_alikes(3))
@pytest.mark.examples(0.5)
def test_look_alike_contexts_and_sources_are_told_apart(bench: Bench, names: tuple[str, ...]) -> None:
    """A selected context and a named source context match by the very code points."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    made = {
        name: world.root.create(scope={"subject_id": subject_id, "context_id": name}, source_context_id=names[number - 1])
        for number, name in enumerate(names)
    }
    for number, name in enumerate(names):
        by_place = world.root.do("records.list", selection={"subject_id": subject_id, "mode": "contexts", "context_ids": [name]})
        world.same([made[name]], ids(by_place), f"the selection of context {name!r} is wrong")
        by_source = world.root.do(
            "records.list", selection=world.everything(), filter={"source_context_ids": [names[number - 1]]}
        )
        world.same([made[name]], ids(by_source), f"the filter on source context {names[number - 1]!r} is wrong")


@given(count=st.integers(0, 5), limits=st.lists(st.integers(1, 3), min_size=1, max_size=3), dead=st.booleans())
def test_a_chain_gives_each_record_once(bench: Bench, count: int, limits: list[int], dead: bool) -> None:
    """The pages of a chain hold every item exactly once, whatever the limits; ``next_cursor`` is there only when more follows."""
    world = bench.world()
    world.scope()
    made = [world.root.create(content={"text": str(number)}) for number in range(count)]
    if dead and made:
        world.root.do("records.delete", record_id=made[0], expected_revision=1)
    asked = {"selection": world.everything(), "include_tombstones": True}
    pages = list(world.root.pages("records.list", limits=limits, **asked))
    world.same_set(made, [record_id for page in pages for record_id in ids(page)], "the chain lost or doubled an item")
    for number, page in enumerate(pages):
        limit = limits[min(number, len(limits) - 1)]
        world.same(count, page["total_authorized"], "total_authorized depends on the page")
        world.expect(len(page["records"]) <= limit, "a page is longer than its limit", expected=limit, seen=len(page["records"]))
        world.expect(bool(page["records"]) or count == 0, "a page was announced by next_cursor and holds nothing", seen=page)


def crowd_records(world: World) -> tuple[dict[str, Any], str]:
    """Make several records in one commit each, so that they are of the same instants."""
    world.scope()
    for _ in range(2):
        candidate_id = world.root.capture()
        fragments = [{"content": {"text": text}} for text in ("a", "b")]
        world.root.do(
            "candidates.review",
            candidate_id=candidate_id,
            expected_revision=1,
            decision={"action": "fragment", "fragments": fragments},
        )
    return {"selection": world.everything(), "include_tombstones": True}, "record_id"


def crowd_candidates(world: World) -> tuple[dict[str, Any], str]:
    """Make candidates in several states."""
    made = [world.root.capture() for _ in range(4)]
    world.root.do("candidates.dismiss", candidate_id=made[0], expected_revision=1)
    world.root.do("candidates.review", candidate_id=made[1], expected_revision=1, decision={"action": "discard"})
    return {"selection": world.everything()}, "candidate_id"


def crowd_grants(world: World) -> tuple[dict[str, Any], str]:
    """Make grants, a revoked one among them."""
    friend = world.principal("recall")
    for _ in range(2):
        world.root.grant(friend, capabilities=["recall"])
    world.root.do("grants.revoke", grant_id=world.root.grant(friend, capabilities=["review"]))
    return {"view": "admin"}, "grant_id"


def crowd_spaces(world: World) -> tuple[dict[str, Any], str]:  # noqa: ARG001 - the signature of a crowd
    """Ask for the spaces of root: what follows holds for one as for many."""
    return {}, "space_id"


def crowd_reflections(world: World) -> tuple[dict[str, Any], str]:
    """Generate reflections on one pinned selection."""
    scope = world.scope()
    for _ in range(3):
        scenes.reflect(world, scope)
    return {"selection": scenes.selection(scope)}, "reflection_id"


CROWDS = {
    "records.list": crowd_records,
    "candidates.list": crowd_candidates,
    "grants.list": crowd_grants,
    "spaces.list": crowd_spaces,
    "reflections.list": crowd_reflections,
}


def paged(world: World) -> list[str]:
    """Return the stems of the paged operations that the target serves."""
    return [operation.stem for operation in scenes.served(world) if operation.lists is not None]


@pytest.mark.parametrize("limits", [(1,), (2,), (3,), (1, 3, 2)], ids=str)
def test_every_paged_operation_gives_each_item_once(bench: Bench, limits: tuple[int, ...]) -> None:
    """Every paged operation gives every item exactly once under any limits, items of the same instant too."""
    world = bench.world()
    for stem in paged(world):
        asked, member = CROWDS[stem](world)
        whole = [item[member] for item in world.root.all(stem, **asked)]
        world.expect(len(whole) == len(set(whole)), f"memory.{stem}: an item is listed twice", seen=whole)
        world.same_set(
            whole,
            [item[member] for item in world.root.all(stem, limits=limits, **asked)],
            f"memory.{stem}: the chain is not the list",
        )


def test_the_lists_are_whole(bench: Bench) -> None:
    """Without filters each list holds all that was made: every state of a candidate, revoked grants, tombstones when asked."""
    world = bench.world()
    made = [world.root.capture() for _ in range(3)]
    world.root.do("candidates.dismiss", candidate_id=made[0], expected_revision=1)
    world.root.do("candidates.review", candidate_id=made[1], expected_revision=1, decision={"action": "promote"})
    listed = {one["candidate_id"]: one["state"] for one in world.root.all("candidates.list", selection=world.everything())}
    world.same(
        {made[0]: "dismissed", made[1]: "promoted", made[2]: "pending"}, listed, "candidates.list does not list all states"
    )
    for states, expected in ((["pending"], [made[2]]), (["promoted", "dismissed"], made[:2]), (["discarded"], [])):
        found = world.root.all("candidates.list", selection=world.everything(), states=states)
        world.same_set(expected, [one["candidate_id"] for one in found], f"candidates.list with states {states} is wrong")
    friend = world.stranger()
    grants = [world.root.grant(friend, capabilities=["recall"]) for _ in range(2)]
    world.root.do("grants.revoke", grant_id=grants[0])
    own = {grant["grant_id"]: grant["state"] for grant in friend.all("grants.list", view="own")}
    world.same(
        {grants[0]: "revoked", grants[1]: "active"}, own, "grants.list own does not list the caller's grants in every state"
    )
    admin = [grant["grant_id"] for grant in world.root.all("grants.list", view="admin")]
    world.expect(set(grants) < set(admin), "grants.list admin does not list every grant of the space", seen=admin)


def test_a_page_limit_above_the_announced_one_is_refused(bench: Bench) -> None:
    """``limit`` at ``max_page`` is taken, one above it is LIMIT_EXCEEDED, in every paged operation."""
    world = bench.world()
    world.scope()
    most = bench.described(world)["limits"]["max_page"]
    for stem in paged(world):
        asked = scenes.plain_request(world, stem)
        world.root.do(stem, **asked, page={"limit": most})
        world.root.refused(stem, Code.LIMIT_EXCEEDED, **asked, page={"limit": most + 1})


def opened(world: World, stem: str, asked: Mapping[str, Any]) -> str:
    """Ask the first page of one item and return the cursor to the second."""
    answer = world.root.do(stem, **asked, page={"limit": 1})
    world.expect("next_cursor" in answer, f"memory.{stem}: a page of one of several items names no next_cursor", seen=answer)
    return str(answer.get("next_cursor"))


SEVERAL = tuple(stem for stem in CROWDS if stem != "spaces.list")


@pytest.mark.parametrize("stem", SEVERAL)
def test_a_cursor_lives_through_reads_refusals_and_replays(bench: Bench, stem: str) -> None:
    """Reads, refused requests and replays leave a cursor valid; it serves the same page each time."""
    world = bench.world()
    if stem not in paged(world):
        bench.require(Flag.REFLECTION)
    asked, member = CROWDS[stem](world)
    create = world.root.call("records.create", kind="note", content={"text": "a"}, scope=world.scope(context="c9"))
    world.root.accepted(create)
    cursor = opened(world, stem, asked)
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
    cursor = opened(world, stem, asked)
    page = {"cursor": cursor, "limit": 1}
    other.refused(stem, Code.CURSOR_INVALID, **asked, page=page)
    for made_up in ("x", "0", "1", f"made-up-{cursor}"):
        world.root.refused(stem, Code.CURSOR_INVALID, **asked, page={"cursor": made_up})
    for changed in changes(world, stem, asked):
        world.root.do(stem, **changed)
        world.root.refused(stem, Code.CURSOR_INVALID, **changed, page=page)
    for elsewhere in (one for one in paged(world) if one != stem):
        world.root.refused(elsewhere, Code.CURSOR_INVALID, **elsewhere_asked(world, elsewhere, asked), page=page)
    cursor = opened(world, stem, asked)
    for limit in (1, 2):
        world.root.do(stem, **asked, page={"cursor": cursor, "limit": limit})
    world.root.do(stem, **asked, page={"cursor": cursor})


def changes(world: World, stem: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List requests that differ from ``asked`` in one member."""
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
    """Add an item that the request would list."""
    world.root.create()


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
    reviewed(world, "c1", {})


def freeze(world: World) -> None:
    """Change the space's state."""
    scenes.freeze(world)


def activate(world: World) -> None:
    """Change the space's authority generation."""
    import_id = scenes.staged(world)
    scenes.freeze(world)
    generation = scenes.space(world)["authority_generation"]
    world.root.do("imports.activate", import_id=import_id, expected_authority_generation=generation)


DEATHS = {
    "create": create,
    "create_unfiltered": create_unfiltered,
    "update": update,
    "delete": delete,
    "promote": promote,
    "review": review,
    "freeze": freeze,
    "activate": activate,
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_cursor_dies_at_a_change_of_what_it_lists(bench: Bench, name: str) -> None:
    """A change of an item that the request without its filter would list, of the space's state or generation, ends the cursor."""
    if name == "activate":
        bench.require(Flag.TRANSFER)
    world = bench.world()
    for _ in range(3):
        world.root.create(source_context_id="here")
    asked: dict[str, Any] = {"selection": world.everything(), "filter": {"source_context_ids": ["here"]}}
    cursor = opened(world, "records.list", asked)
    world.root.do("records.list", **asked, page={"cursor": cursor})
    DEATHS[name](world)
    world.root.refused("records.list", Code.CURSOR_INVALID, **asked, page={"cursor": cursor})
    world.root.do("records.list", **asked, page={"limit": 1})


def test_other_lists_end_their_cursors_too(bench: Bench) -> None:
    """A cursor of candidates or grants dies at a change of a candidate or grant."""
    world = bench.world()
    captured = [world.root.capture() for _ in range(3)]
    cursor = opened(world, "candidates.list", {"selection": world.everything()})
    world.root.do("candidates.dismiss", candidate_id=captured[0], expected_revision=1)
    world.root.refused("candidates.list", Code.CURSOR_INVALID, selection=world.everything(), page={"cursor": cursor})
    friend = world.principal("recall")
    cursor = opened(world, "grants.list", {"view": "admin"})
    world.root.grant(friend, capabilities=["recall"])
    world.root.refused("grants.list", Code.CURSOR_INVALID, view="admin", page={"cursor": cursor})


@pytest.mark.parametrize("gain", [False, True], ids=["loss", "gain"])
def test_a_cursor_dies_at_a_change_of_the_callers_grants(bench: Bench, gain: bool) -> None:
    """A grant gained or revoked ends the caller's cursors, also when what the request lists stays the same."""
    world = bench.world()
    for _ in range(3):
        world.root.create()
    reader = world.principal("records_read")
    spare = world.root.grant(reader, capabilities=["recall"])
    selection = world.everything()
    cursor = reader.do("records.list", selection=selection, page={"limit": 1})["next_cursor"]
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


def test_a_cursor_does_not_outlive_the_right_to_read(bench: Bench) -> None:
    """After the revocation of the only grant a cursor gives nothing: the request is refused."""
    world = bench.world()
    for _ in range(2):
        world.root.create()
    reader = world.stranger()
    grant_id = world.root.grant(reader, capabilities=["records_read"])
    cursor = reader.do("records.list", selection=world.everything(), page={"limit": 1})["next_cursor"]
    world.root.do("grants.revoke", grant_id=grant_id)
    codes = (Code.NOT_FOUND, Code.NOT_AUTHORIZED, Code.CURSOR_INVALID)
    reader.refused("records.list", *codes, selection=world.everything(), page={"cursor": cursor})


def test_all_authorized_narrows_and_a_named_placement_does_not(bench: Bench) -> None:
    """``all_authorized`` shows and counts what the caller covers; naming one placement too many rejects the whole request."""
    world = bench.world()
    made = {context: world.root.create(scope=world.scope(context=context)) for context in ("c1", "c2", None)}
    subject_id = world.name("u1")
    reader = world.principal("records_read", subject_ids=[subject_id], context_ids=[world.name("c1")])
    answer = reader.do("records.list", selection=world.everything())
    world.same([made["c1"]], ids(answer), "all_authorized does not narrow to what the caller covers")
    world.same(1, answer["total_authorized"], "total_authorized counts what the caller does not cover")
    one = {"subject_id": subject_id, "mode": "contexts", "context_ids": [world.name("c1")]}
    world.same([made["c1"]], ids(reader.do("records.list", selection=one)), "the covered context is not listed")
    reader.denied("records.list", selection={**one, "context_ids": [world.name("c1"), world.name("c2")]})
    reader.denied("records.list", selection={**one, "mode": "contexts_and_shared"})
    reader.denied("records.list", selection={"subject_id": subject_id, "mode": "shared"})
