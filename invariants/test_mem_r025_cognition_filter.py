"""MEM-R025: the cognition filter is a hard filter on recorded cognition.

protocol.md section 3 (CognitionFilter) and section 6. It is applied after authorisation and before counts, order, pages and
bytes; one entry must meet the whole conjunction.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.cargo import ENTRY as BELIEF
from conformance.wire.bundle import instant
from conformance.wire.canonical import content_bytes
from conformance.wire.vocabulary import Code, Flag, Reason
from conformance.world import World
from strategies.cognition import (
    cognition_records,
    filter_hitting,
    filter_missing,
    filters,
    record_matches,
    split_conjunction,
)
from strategies.content import fits_everywhere
from strategies.timestamps import neighbours, timestamps
from strategies.vocabulary import dimensions

pytestmark = pytest.mark.needs(flags=[Flag.COGNITION])

ANN = {"holder_id": "ann"}


def content(*entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return a content with these cognition entries."""
    return {"text": "a", "cognition": list(entries)}


def at(recorded_at: str) -> dict[str, Any]:
    """Return a cognition entry recorded at an instant."""
    return {**BELIEF, "time": {"recorded_at": recorded_at}}


def listed(caller: Caller, world: World, cognition_filter: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """List the whole subject under a filter."""
    answer: Mapping[str, Any] = caller.do(
        "records.list", selection=world.everything(), cognition_filter=cognition_filter, **members
    )
    return answer


def ids(answer: Mapping[str, Any]) -> list[str]:
    """Return the ids of the records in an answer, in its order."""
    return [record["record_id"] for record in answer["records"]]


def served(bench: Bench, world: World, cognition_filter: Mapping[str, Any]) -> bool:
    """Say whether the target serves the filter's dimension (a filter without one is always served)."""
    dimensions = bench.described(world)["cognition_dimensions"]
    return "dimension" not in cognition_filter or cognition_filter["dimension"] in dimensions


def found_exactly(
    bench: Bench, world: World, cognition_filter: Mapping[str, Any], records: Mapping[str, Mapping[str, Any]]
) -> None:
    """Expect every read to find exactly the records that match, and a dimension that is not served to be refused."""
    if not served(bench, world, cognition_filter):
        world.root.refused(
            "records.list",
            Code.MALFORMED_REQUEST,
            reason=Reason.UNSUPPORTED_COGNITION,
            selection=world.everything(),
            cognition_filter=cognition_filter,
        )
        return
    expected = [record_id for record_id, body in records.items() if record_matches(body, cognition_filter)]
    asked: dict[str, Any] = {"selection": world.everything(), "cognition_filter": cognition_filter}
    found = [record["record_id"] for record in world.root.all("records.list", **asked)]
    world.same_set(expected, found, "records.list does not find exactly the matching records")
    counted = world.root.do("records.list", **asked)["total_authorized"]
    world.same(len(expected), counted, "total_authorized is not the number of matching records")
    recalled = world.root.do("recall", **asked, budget={"max_records": 50})
    world.same_set(expected, ids(recalled), "recall does not find exactly the matching records")
    if bench.declares(Flag.REFLECTION):
        state = world.root.do("reflections.state", **asked)
        world.same(len(expected), state["record_count"], "reflections.state does not count exactly the matching records")


def written(world: World, bodies: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Write one record of each content, which every provider takes, and return the contents by record id."""
    assume(all(map(fits_everywhere, bodies)))
    world.scope()
    return {world.root.create(content=body): body for body in bodies}


@given(entries=st.lists(cognition_records(), min_size=1, max_size=3), data=st.data())
@pytest.mark.examples(0.7)
def test_a_record_matches_when_one_entry_meets_the_conjunction(bench: Bench, entries: list[Any], data: st.DataObject) -> None:
    """A record matches when at least one of its entries satisfies every member given; absent and ``[]`` never match."""
    world = bench.world()
    others = data.draw(st.lists(cognition_records(), max_size=2))
    records = written(world, [content(*entries), content(*others), content(), {"text": "a"}])
    wanted = data.draw(st.one_of(filter_hitting(entries[-1]), filter_missing(entries[-1]), filters()))
    found_exactly(bench, world, wanted, records)


@given(split=split_conjunction())
@pytest.mark.examples(0.5)
def test_predicates_met_by_different_entries_do_not_match(bench: Bench, split: tuple[list[Any], Any]) -> None:
    """No record matches because each member of the filter is met by another of its entries."""
    world = bench.world()
    entries, wanted = split
    found_exactly(bench, world, wanted, written(world, [content(*entries), content(entries[0]), content(entries[1])]))


@given(pair=neighbours(), more=timestamps())
@pytest.mark.examples(0.5)
def test_bounds_compare_instants(bench: Bench, pair: tuple[str, str], more: str) -> None:
    """``recorded_after`` is inclusive, ``recorded_before`` exclusive, both compared as instants at any number of digits."""
    world = bench.world()
    records = written(world, [content(at(moment)) for moment in (*pair, more)])
    for bound in pair:
        found_exactly(bench, world, {"recorded_after": bound}, records)
        found_exactly(bench, world, {"recorded_before": bound}, records)
    found_exactly(bench, world, {"recorded_after": pair[0], "recorded_before": pair[1]}, records)
    found_exactly(bench, world, {"recorded_after": pair[1], "recorded_before": pair[0]}, records)


def differing(**members: Any) -> dict[str, Any]:
    """Return the plain entry with other members, those of its parts named as the filter names them."""
    entry = {**BELIEF, **{name: value for name, value in members.items() if name in BELIEF}}
    attribution = {name: members[name] for name in ("holder_id", "asserted_by") if name in members}
    basis = {name: members[name] for name in ("kind", "refs") if name in members}
    parts = {"attribution": {**BELIEF["attribution"], **attribution}, "basis": {**BELIEF["basis"], **basis}}
    return {**entry, **parts, "time": {**BELIEF["time"], **members.get("time", {})}}


LOOK_ALIKE: tuple[dict[str, Any], ...] = (
    differing(),
    differing(holder_id="bob", asserted_by="ann"),
    differing(holder_id="bob", refs=["ann"], value="ann"),
    differing(holder_id="Ann"),
    differing(holder_id="ann "),
    differing(holder_id="anna"),
    differing(holder_id="an"),
    differing(holder_id="%"),
    differing(dimension="desire", value="belief"),
    differing(kind="observed", value="stated"),
    differing(time={"recorded_at": "2025-12-31T23:59:59Z", "occurred_at": "2026-06-01T00:00:00Z"}),
    differing(time={"occurred_at": "2000-01-01T00:00:00Z"}),
)


def test_each_predicate_looks_at_its_own_member(bench: Bench) -> None:
    """Holder, dimension, basis and recording time are matched exactly, and nothing else of an entry counts for them."""
    world = bench.world()
    records = written(world, [content(entry) for entry in LOOK_ALIKE])
    moment = BELIEF["time"]["recorded_at"]
    predicates: tuple[dict[str, Any], ...] = (
        ANN,
        {"holder_id": "an"},
        {"holder_id": "%"},
        {"dimension": "belief"},
        {"basis_kind": "stated"},
        {"recorded_after": moment},
        {"recorded_before": moment},
        {**ANN, "dimension": "belief", "basis_kind": "stated", "recorded_after": moment},
    )
    for wanted in predicates:
        found_exactly(bench, world, wanted, records)


BOUNDS = {"recorded_after": operator.ge, "recorded_before": operator.lt}
GRID = (
    "0001-01-01T00:00:00Z",
    "2024-02-29T12:00:00Z",
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00.0000001Z",
    "2026-01-01T00:00:00.000000100000000000000000000001Z",
    "2026-01-01T00:00:00.000000100001Z",
    "2026-01-01T00:00:00.0000002Z",
    "2026-01-01T00:00:00.9999999Z",
    "2026-01-01T00:00:01Z",
    "9999-12-31T23:59:59.999999999Z",
)


def test_a_grid_of_close_instants(bench: Bench) -> None:
    """Instants less than a nanosecond apart, at both ends of the calendar and on a leap day are ordered rightly."""
    world = bench.world()
    records = {moment: world.root.create(content=content(at(moment))) for moment in GRID}
    for bound in GRID:
        for name, holds in BOUNDS.items():
            expected = [record_id for moment, record_id in records.items() if holds(instant(moment), instant(bound))]
            found = world.root.all("records.list", selection=world.everything(), cognition_filter={name: bound})
            world.same_set(expected, [record["record_id"] for record in found], f"{name} {bound} finds the wrong records")
        empty = listed(world.root, world, {"recorded_after": bound, "recorded_before": bound})
        world.same(0, empty["total_authorized"], "an empty interval holds something")


def test_only_served_dimensions_are_answered(bench: Bench) -> None:
    """Every dimension that ``memory.describe`` names is served; every other is refused, although a record may carry it."""
    world = bench.world()
    records = written(world, [content({**BELIEF, "dimension": dimension}) for dimension in dimensions()])
    for dimension in dimensions():
        found_exactly(bench, world, {"dimension": dimension}, records)


@given(count=st.integers(1, 4), limit=st.integers(1, 3))
@pytest.mark.examples(0.5)
def test_it_is_applied_before_counts_and_pages(bench: Bench, count: int, limit: int) -> None:
    """Counts and pages are of the matching records alone, wherever the others stand in the order."""
    world = bench.world()
    world.scope()
    matching = []
    for number in range(count):
        world.root.create(content=content({**BELIEF, "attribution": {"holder_id": "bob"}}))
        matching.append(world.root.create(content=content(at(f"2026-01-0{number + 1}T00:00:00Z"))))
        world.root.create()
    pages = list(world.root.pages("records.list", limits=[limit], selection=world.everything(), cognition_filter=ANN))
    world.same_set(matching, [record_id for page in pages for record_id in ids(page)], "the chain is not the matching records")
    for page in pages:
        # No sentence wants a page to be full; one that holds nothing and announces more was cut before it was filtered.
        world.expect(0 < len(page["records"]) <= limit, "a page was cut before the filter was applied", seen=page)
        world.same(count, page["total_authorized"], "total_authorized is not the number of matching records")


def test_it_is_applied_before_budgets(bench: Bench) -> None:
    """Records that do not match spend no budget and do not make recall truncated."""
    world = bench.world()
    matching = world.root.create(content=content(BELIEF))
    for _ in range(3):
        world.root.create(content={"text": "a"})
    for budget in ({"max_records": 1}, {"max_bytes": content_bytes(content(BELIEF))}):
        answer = world.root.do("recall", selection=world.everything(), cognition_filter=ANN, budget=budget)
        world.same([matching], ids(answer), "recall does not return the one matching record")
        world.same(False, answer["truncated"], "recall says that it left out a matching record")


def test_it_is_applied_after_authorisation(bench: Bench) -> None:
    """Matching records that the caller does not cover are not found and not counted; without coverage the request is denied."""
    world = bench.world()
    seen = world.root.create(content=content(BELIEF))
    world.root.create(content=content(BELIEF), scope=world.scope(context="c2"))
    place = scenes.selection(world.scope())
    reader = world.principal("records_read", "recall", subject_ids=[place["subject_id"]], context_ids=place["context_ids"])
    answer = listed(reader, world, ANN)
    world.same([seen], ids(answer), "the filter finds what the caller does not cover")
    world.same(1, answer["total_authorized"], "the filter counts what the caller does not cover")
    recalled = reader.do("recall", selection=world.everything(), cognition_filter=ANN, budget={"max_records": 1})
    world.same(False, recalled["truncated"], "truncated tells of a matching record that the caller does not cover")
    elsewhere = {"subject_id": world.name("u1"), "mode": "contexts", "context_ids": [world.name("c2")]}
    budget = {"budget": {"max_records": 1}}
    for wanted in (ANN, {"holder_id": "nobody"}):
        reader.denied("records.list", selection=elsewhere, cognition_filter=wanted)
        reader.denied("records.list", selection=world.everything("u2"), cognition_filter=wanted)
        reader.denied("recall", selection=elsewhere, cognition_filter=wanted, **budget)


def test_it_is_combined_by_and(bench: Bench) -> None:
    """Selection, provenance filter and cognition filter all have to hold."""
    world = bench.world()
    both = world.root.create(content=content(BELIEF), source_context_id="here")
    world.root.create(content=content(BELIEF), source_context_id="there")
    world.root.create(content={"text": "a"}, source_context_id="here")
    world.root.create(content=content(BELIEF), source_context_id="here", scope=world.scope(context="c2"))
    asked = {"selection": scenes.selection(world.scope()), "filter": {"source_context_ids": ["here"]}, "cognition_filter": ANN}
    answer = world.root.do("records.list", **asked)
    world.same([both], ids(answer), "the three conditions are not combined by AND")
    world.same(1, answer["total_authorized"], "the three conditions are not counted by AND")
    recalled = world.root.do("recall", **asked, budget={"max_records": 5})
    world.same([both], ids(recalled), "recall does not combine the three conditions by AND")


def test_a_cursor_is_bound_to_the_filter(bench: Bench) -> None:
    """A cursor made under one cognition filter is invalid under another, and without one."""
    world = bench.world()
    for _ in range(3):
        world.root.create(content=content(BELIEF))
    cursor = listed(world.root, world, ANN, page={"limit": 1})["next_cursor"]
    listed(world.root, world, ANN, page={"cursor": cursor})
    page = {"cursor": cursor}
    world.root.refused("records.list", Code.CURSOR_INVALID, selection=world.everything(), page=page)
    other = {**ANN, "basis_kind": "stated"}
    world.root.refused("records.list", Code.CURSOR_INVALID, selection=world.everything(), page=page, cognition_filter=other)


def test_an_updated_record_is_found_by_what_it_says_now(bench: Bench) -> None:
    """The filter looks at the current content: an update adds and takes away matches."""
    world = bench.world()
    record_id = world.root.create(content=content(BELIEF))
    world.same(1, listed(world.root, world, ANN)["total_authorized"], "the record is not found")
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "a"})
    world.same(0, listed(world.root, world, ANN)["total_authorized"], "the filter finds what an update took away")
    world.root.do("records.update", record_id=record_id, expected_revision=2, content=content(BELIEF))
    world.same(1, listed(world.root, world, ANN)["total_authorized"], "the filter does not find what an update added")


@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_generation_is_based_on_matching_records_alone(bench: Bench) -> None:
    """A reflection's basis holds exactly the matching records, and the filter is pinned with it."""
    world = bench.world()
    scope = world.scope()
    scenes.complete_profile(world, scope["subject_id"])
    matching = world.root.create(content=content(BELIEF))
    world.root.create(content={"text": "a"})
    asked: dict[str, Any] = {"selection": scenes.selection(scope), "cognition_filter": ANN}
    reflection_id = made(world.root.do("reflections.generate", **asked), "reflection")
    shown = {one["reflection_id"]: one for one in world.root.all("reflections.list", **asked)}
    world.same([reflection_id], list(shown), "the list under the pinned filter is not the reflection")
    reflection = shown[reflection_id]
    world.same([{"record_id": matching, "revision": 1}], reflection["basis"]["records"], "the basis is not the matching records")
    world.same(ANN, reflection.get("cognition_filter"), "the cognition filter is not pinned")
    world.same([], world.root.all("reflections.list", selection=asked["selection"]), "it is listed without the filter too")
    nobody = {"holder_id": "nobody"}
    world.root.refused("reflections.generate", Code.INSUFFICIENT_DATA, selection=asked["selection"], cognition_filter=nobody)


def test_each_of_many_entries_counts(bench: Bench) -> None:
    """However many entries a record has, it matches when one of them does, the first as the last."""
    world = bench.world()
    room = bench.described(world)["limits"]["max_content_bytes"] - content_bytes(content())
    others = min(64, room // (content_bytes(content(BELIEF)) - content_bytes(content()) + 1) - 1)
    ann, bob = BELIEF, {**BELIEF, "attribution": {"holder_id": "bob"}}
    bodies = [content(*[bob] * others), content(*[bob] * others, ann), content(ann, *[bob] * others)]
    records = {world.root.create(content=body): body for body in bodies}
    found_exactly(bench, world, ANN, records)
