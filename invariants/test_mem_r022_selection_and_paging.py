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

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.caller import all_made
from conformance.cargo import cargo
from conformance.crowds import CROWDS, paged
from conformance.scenes import MANY
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
@pytest.mark.examples(0.7)
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


MODES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("all_authorized", ()),
    ("shared", ()),
    ("contexts", ("c1",)),
    ("contexts", ("c1", "c2")),
    ("contexts_and_shared", ("c2",)),
    ("contexts", ("c1", "c1")),
    ("contexts_and_shared", ("c2", "c1", "c2")),
)
"""A context that is listed twice counts once: an array is unique only where the contract says so."""

FILTERS: tuple[dict[str, Any], ...] = (
    {"sources": ["author"]},
    {"sources": ["review"]},
    {"sources": ["author", "review"]},
    {"source_context_ids": ["c2"]},
    {"source_context_ids": ["c2", "s1"]},
    {"sources": ["author"], "source_context_ids": ["s1"]},
    {"sources": ["review"], "source_context_ids": ["c2"]},
    {"sources": ["review", "review"], "source_context_ids": ["c2", "c2"]},
)


def test_every_selection_with_every_filter(bench: Bench) -> None:
    """Each mode of selection with each filter lists exactly what both let through, of every placement with every provenance.

    A tombstone keeps its scope and its provenance, and is found by them where tombstones are asked for.
    """
    world = bench.world()
    grid = [(place, source, way) for place in ("c1", "c2", None) for source in ("s1", "c2", None) for way in (False, True)]
    living, dead = ([world.root.read(placed(world, *one)) for one in grid] for _ in range(2))
    for record in dead:
        world.root.do("records.delete", record_id=record["record_id"], expected_revision=1)
    for mode, contexts in MODES:
        selection = renamed(world, {"subject_id": "u1", "mode": mode, **({"context_ids": list(contexts)} if contexts else {})})
        for chosen in FILTERS:
            asked = {"selection": selection, "filter": chosen}
            _lists(world, living, asked)
            _lists(world, [*living, *dead], {**asked, "include_tombstones": True})


def _lists(world: World, among: list[Mapping[str, Any]], asked: Mapping[str, Any]) -> None:
    """Expect a list to hold, and to count, exactly those records among some that its selection and its filter let through."""
    selection, chosen = asked["selection"], asked["filter"]
    expected = [one for one in among if selects(selection, one["scope"]) and passes(one["provenance"], chosen)]
    pages = list(world.root.pages("records.list", **asked))
    what = f"the list of {selection['mode']} under {chosen}"
    world.same_set([one["record_id"] for one in expected], [name for page in pages for name in ids(page)], f"{what} is wrong")
    world.same(len(expected), pages[0]["total_authorized"], f"total_authorized of {what}")


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


TIES = {"records.list": ("record", 9), "candidates.list": ("candidate", 4), "reflections.list": ("reflection", 4)}


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_imported_items_of_one_instant_are_each_given_once(bench: Bench) -> None:
    """Of many items that carry one and the same instant a chain gives each once, whatever the limits (field bug F08)."""
    world = bench.world()
    load = cargo(world)
    names = {stem: [world.name(f"tie-{number * 7 % count}") for number in range(count)] for stem, (_, count) in TIES.items()}
    items = [load.item(kind, **{f"{kind}_id": name}) for stem, (kind, _) in TIES.items() for name in names[stem]]
    moving.activated(world, load.parcel([*load.items("subject"), *items]))
    asked = {"selection": load.values["reflection"]["selection"]}
    for stem in (one for one in paged(world) if one in TIES):
        for limits in ([1], [2], [3], [1, 3, 2]):
            pages = list(world.root.pages(stem, limits=limits, **asked))
            member = f"{TIES[stem][0]}_id"
            given_names = [item[member] for page in pages for item in page[str(world.bundle.operations[f"memory.{stem}"].lists)]]
            world.same_set(names[stem], given_names, f"memory.{stem}: a chain lost or doubled an item of a tie")
            totals = {page.get("total_authorized", len(names[stem])) for page in pages}
            world.same([len(names[stem])], sorted(totals), f"memory.{stem}: total_authorized depends on the page")


def test_the_lists_are_whole(bench: Bench) -> None:
    """Without filters each list holds all that was made: every state of a candidate, revoked grants, tombstones when asked."""
    world = bench.world()
    made = [world.root.capture() for _ in range(3)]
    scenes.dismiss(world, made[0])
    decided, unused = ("dismissed", "discarded") if world.has("candidates.dismiss") else ("discarded", "fragmented")
    world.root.do("candidates.review", candidate_id=made[1], expected_revision=1, decision={"action": "promote"})
    listed = {one["candidate_id"]: one["state"] for one in world.root.all("candidates.list", selection=world.everything())}
    world.same({made[0]: decided, made[1]: "promoted", made[2]: "pending"}, listed, "candidates.list does not list all states")
    named: list[tuple[list[str], list[str]]] = [(["pending"], [made[2]]), (["promoted", decided], made[:2])]
    for states, expected in (*named, ([unused], []), (["pending"] * 2, [made[2]])):
        found = world.root.all("candidates.list", selection=world.everything(), states=states)
        world.same_set(expected, [one["candidate_id"] for one in found], f"candidates.list with states {states} is wrong")
    friend = world.stranger()
    grants = [world.root.grant(friend, capabilities=["recall"]) for _ in range(2)]
    world.root.do("grants.revoke", grant_id=grants[0])
    listed_own = {grant["grant_id"]: grant["state"] for grant in friend.all("grants.list", view="own")}
    own = {grant_id: listed_own.get(grant_id) for grant_id in grants}
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


def test_nothing_is_cut_off(bench: Bench) -> None:
    """However much there is, all of it is listed and counted; however many contexts are named, each of them counts."""
    world = bench.world()
    places = [world.scope(context=f"c{number}") for number in range(MANY)]
    contexts = [place["context_id"] for place in places]
    records = [world.root.create(scope=place, source_context_id=place["context_id"]) for place in places]
    candidates, friend = [world.root.capture() for _ in range(MANY)], world.stranger()
    grants = [world.root.grant(friend, capabilities=["recall"]) for _ in range(MANY)]
    everything, most = world.everything(), bench.described(world)["limits"]["max_page"]
    named = {**everything, "mode": "contexts", "context_ids": contexts}
    filtered = {"selection": everything, "filter": {"source_context_ids": contexts}}
    for asked in ({"selection": everything}, {"selection": named}, filtered):
        for limits in ([], [min(most, 2 * MANY)]):
            pages = list(world.root.pages("records.list", limits=limits, **asked))
            world.same_set(records, [record_id for page in pages for record_id in ids(page)], "a record is cut off")
            world.same([MANY], sorted({page["total_authorized"] for page in pages}), "total_authorized is cut off")
    seen = [one["candidate_id"] for one in world.root.all("candidates.list", selection=everything)]
    world.same_set(candidates, seen, "a candidate is cut off")
    own = {one["grant_id"] for one in friend.all("grants.list", view="own")}
    world.expect(own >= set(grants), "one of a caller's own grants is cut off", expected=len(grants), seen=len(own))
    every = {one["grant_id"] for one in world.root.all("grants.list", view="admin")}
    world.expect(every >= set(grants), "a grant of the space is cut off", expected=len(grants), seen=len(every))
