"""MEM-R017, capture: what was captured and not confirmed is read as a record by no operation (F19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

FRAGMENTS = [{"kind": "note", "content": {"text": "left"}}, {"kind": "note", "content": {"text": "right"}}]

DECISIONS: Mapping[str, dict[str, Any] | None] = {
    "promote": {"action": "promote", "kind": "note"},
    "override": {"action": "promote", "kind": "note", "content_override": {"text": "override"}},
    "fragment": {"action": "fragment", "fragments": FRAGMENTS},
    "discard": {"action": "discard"},
    "dismiss": None,
}
"""Every way to decide; ``None`` is the dismissal, an operation of its own."""


def _candidates(world: World) -> list[Mapping[str, Any]]:
    return world.root.all("candidates.list", selection=world.everything())


def _decide(world: World, candidate_id: str, decision: str) -> None:
    members: dict[str, Any] = {"candidate_id": candidate_id, "expected_revision": 1}
    given = DECISIONS[decision]
    if given is None:
        world.root.do("candidates.dismiss", **members)
    else:
        world.root.do("candidates.review", **members, decision=given)


MARKS = ("pending", "promote", "fragment", "discard", "dismiss", "override")


def _marked(world: World, mark: str) -> str:
    entry = dict(world.bundle.schema(world.bundle.model_ref("CognitionRecord"))["examples"][0])
    content = {"text": f"I am certain of mark-{mark}", "cognition": [{**entry, "value": f"mark-{mark}"}]}
    return world.root.capture(content=content)


def _six(world: World) -> dict[str, str]:
    """Capture six marked candidates and decide on five; only ``mark-promote`` is in a record then."""
    captured = {mark: _marked(world, mark) for mark in MARKS}
    for mark, candidate_id in captured.items():
        if mark in DECISIONS:
            _decide(world, candidate_id, mark)
    return captured


CONFIRMED = 4
"""The records of the six decisions: one promoted, one overridden, two fragments."""


def _expect_one_mark(world: World, records: list[Mapping[str, Any]], where: str) -> None:
    seen = [mark for mark in MARKS if f"mark-{mark}" in str([record["content"] for record in records])]
    world.same(["promote"], seen, f"{where}: material that was not confirmed is given as a record")


def test_only_confirmed_material_is_read_as_records(bench: Bench) -> None:
    """Pending, fragmented, discarded, dismissed and overridden text is in no recall and no list of records (F19)."""
    world = bench.world()
    captured = _six(world)
    listed = world.root.do("records.list", selection=world.everything(), include_tombstones=True)
    world.same(CONFIRMED, listed["total_authorized"], "memory.records.list: it counts what is no record")
    _expect_one_mark(world, world.root.all("records.list", selection=world.everything()), "memory.records.list")
    for mark in MARKS:
        query = {"text": f"mark-{mark}"}
        recalled = world.root.do("recall", selection=world.everything(), query=query, budget={"max_records": 9})
        _expect_one_mark(world, recalled["records"], "memory.recall")
        text = world.root.candidate(captured[mark])["content"]["text"]
        world.same(f"I am certain of mark-{mark}", text, "the candidate no longer holds what was captured")


@pytest.mark.needs(flags=[Flag.COGNITION])
def test_only_confirmed_cognition_is_found_by_a_filter(bench: Bench) -> None:
    """The cognition of unconfirmed candidates is found by no cognition filter (F19)."""
    world = bench.world()
    _six(world)
    entry = world.bundle.schema(world.bundle.model_ref("CognitionRecord"))["examples"][0]
    wanted = {"holder_id": entry["attribution"]["holder_id"]}
    listed = world.root.do("records.list", selection=world.everything(), cognition_filter=wanted)
    world.same(1, listed["total_authorized"], "memory.records.list: the filter counts what is no record")
    _expect_one_mark(world, listed["records"], "memory.records.list")
    budget = {"max_records": 9}
    recalled = world.root.do("recall", selection=world.everything(), cognition_filter=wanted, budget=budget)
    _expect_one_mark(world, recalled["records"], "memory.recall")


@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_only_confirmed_material_is_reflected_on(bench: Bench) -> None:
    """A reflection's basis and count hold records only; a pending candidate is no data at all (F19)."""
    world = bench.world()
    scenes.complete_profile(world, world.scope()["subject_id"])
    _marked(world, "pending")
    selection = world.everything()
    state = world.root.do("reflections.state", selection=selection)
    world.same([0, False], [state["record_count"], state["sufficient"]], "memory.reflections.state: it counts a candidate")
    world.root.refused("reflections.generate", Code.INSUFFICIENT_DATA, selection=selection)
    _six(world)
    state = world.root.do("reflections.state", selection=selection)
    world.same(CONFIRMED, state["record_count"], "memory.reflections.state: it counts what is no record")
    world.root.do("reflections.generate", selection=selection)
    records = [record["record_id"] for record in world.root.all("records.list", selection=selection)]
    basis = world.root.all("reflections.list", selection=selection)[0]["basis"]["records"]
    world.same_set(records, [entry["record_id"] for entry in basis], "memory.reflections.generate: its basis is not the records")


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_candidates_are_exported_as_candidates(bench: Bench) -> None:
    """An export holds the candidates as candidates, as they were captured and decided (F19)."""
    world = bench.world()
    _six(world)
    _, chunks = scenes.fetched(world, scenes.export(world))
    items = [item for chunk in chunks for item in chunk["items"]]
    held = [item["value"] for item in items if item["type"] == "candidate"]
    subject_id = world.scope()["subject_id"]
    exported = {found["candidate_id"]: found for found in held if found["capture_scope"]["subject_id"] == subject_id}
    read = {candidate["candidate_id"]: candidate for candidate in _candidates(world)}
    world.same(read, exported, "memory.exports.get: the candidates of the export are not those of the space")
    records = [item["value"] for item in items if item["type"] == "record"]
    own = [record for record in records if record["scope"]["subject_id"] == subject_id]
    _expect_one_mark(world, own, "memory.exports.get")
