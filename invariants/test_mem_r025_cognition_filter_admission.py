"""MEM-R025: which requests take a cognition filter, with which flag, and which filters are refused (sections 2, 3 and 6).

A filter that asks for what is not served refuses the whole request for that reason; one that is no filter is malformed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.caller import all_made
from conformance.cargo import ENTRY
from conformance.exchange import Call
from conformance.wire.bundle import Operation
from conformance.wire.vocabulary import Code, Flag, Reason
from conformance.world import World
from strategies.cognition import broken_filters
from strategies.timestamps import INVALID_TIMESTAMPS

pytestmark = pytest.mark.needs(flags=[Flag.COGNITION])

ANN = {"holder_id": "ann"}


def filtering(world: World) -> list[Operation]:
    """Return the served operations whose request takes a cognition filter."""
    return [operation for operation in scenes.served(world) if operation.takes_cognition_filter]


def ask(world: World, operation: Operation) -> dict[str, Any]:
    """Return the members of a plain request that takes a filter, over a subject with a record that ``ANN`` finds."""
    scope = world.scope()
    world.root.create(content={"text": "a", "cognition": [ENTRY]})
    scenes.complete_profile(world, scope["subject_id"])
    budget = {"budget": {"max_records": 3}} if operation.stem == "recall" else {}
    return {"selection": scenes.selection(scope), **budget}


def test_it_is_accepted_on_exactly_five_requests(bench: Bench) -> None:
    """The member is taken by the requests that the table names, and is an unknown member of every other, flag or not."""
    world = bench.world()
    without = world.root.with_flags(*(flag for flag in Flag if flag is not Flag.COGNITION and bench.declares(flag)))
    for operation in scenes.served(world):
        if operation.takes_cognition_filter:
            world.root.do(operation.stem, **ask(world, operation), cognition_filter=ANN)
            continue
        call = world.root.call(operation.stem, **scenes.plain_request(world, operation.stem))
        extended = Call(call.op, {**call.payload, "cognition_filter": ANN}, call.credential, call.flags, call.caller)
        with world.unchanged(f"{call.op}: a request with an unknown member changed something"):
            world.root.must_refuse(extended, Code.MALFORMED_REQUEST, meant_invalid=True)
            world.root.must_refuse(replace(extended, flags=without.flags), Code.MALFORMED_REQUEST, meant_invalid=True)
        if scenes.space(world)["state"] != "active":
            scenes.unfreeze(world)


def test_without_its_flag_it_is_refused(bench: Bench) -> None:
    """A session that did not negotiate the flag is refused the member on each of the five, and served without it."""
    world = bench.world()
    flags = [flag for flag in Flag if flag is not Flag.COGNITION and bench.declares(flag)]
    plain = world.root.with_flags(*flags)
    for operation in filtering(world):
        asked = ask(world, operation)
        with world.unchanged(f"{operation.name}: a refused request changed something"):
            error = plain.refused(operation.stem, Code.FLAG_NOT_NEGOTIATED, Code.MALFORMED_REQUEST, **asked, cognition_filter=ANN)
            if error["code"] == bench.bundle.code(Code.MALFORMED_REQUEST):
                reason = (error.get("details") or {}).get("reason")
                world.same(bench.bundle.reason(Reason.UNSUPPORTED_COGNITION), reason, f"{operation.name}: the reason is missing")
        plain.do(operation.stem, **asked)


UNSUPPORTED: tuple[dict[str, Any], ...] = (
    {"dimension": "hope"},
    {"dimension": "Belief"},
    {"dimension": "belief "},
    {"dimension": ""},
    {"dimension": "belief", "holder": "ann"},
    {"Dimension": "belief"},
    {"view": "recorded_at"},
    {**ANN, "value": "it rains"},
    {**ANN, "or": [ANN]},
)
MALFORMED: tuple[Any, ...] = (
    {},
    None,
    [],
    [ANN],
    "belief",
    {"dimension": 5},
    {"dimension": None},
    {"dimension": ["belief"]},
    {"holder_id": ""},
    {"holder_id": "a" * 129},
    {"holder_id": ["ann"]},
    {"basis_kind": "Stated"},
    {**ANN, "recorded_after": 1767225600},
    {**ANN, "recorded_before": None},
)


def test_every_filter_that_is_none_refuses_the_whole_request(bench: Bench) -> None:
    """A filter that says what is not served, or is no filter, is refused on each of the five; spelt right it is accepted."""
    world = bench.world()
    for operation in filtering(world):
        asked = ask(world, operation)
        with world.unchanged(f"{operation.name}: a refused request changed something"):
            for wanted in (*UNSUPPORTED, *MALFORMED):
                reason = Reason.UNSUPPORTED_COGNITION if wanted in UNSUPPORTED else None
                call = world.root.call(operation.stem, **asked, cognition_filter=wanted)
                world.root.must_refuse(call, Code.MALFORMED_REQUEST, reason=reason, meant_invalid=True)
        world.root.do(operation.stem, **asked, cognition_filter={**ANN, "basis_kind": "stated"})


@given(broken=broken_filters())
@pytest.mark.examples(0.5)
def test_a_broken_filter_refuses_the_whole_request(bench: Bench, broken: tuple[str, Any, str]) -> None:
    """Unknown predicates and dimensions are refused for that reason, other malformed filters too, on each of the five."""
    world = bench.world()
    _, wanted, fault = broken
    reason = Reason.UNSUPPORTED_COGNITION if fault == "unsupported" else None
    for operation in filtering(world):
        call = world.root.call(operation.stem, **ask(world, operation), cognition_filter=wanted)
        world.root.must_refuse(call, Code.MALFORMED_REQUEST, reason=reason, meant_invalid=True)


@pytest.mark.parametrize("bound", ["recorded_after", "recorded_before"])
def test_a_bound_that_is_no_instant_is_refused(bench: Bench, bound: str) -> None:
    """A bound that is no real Timestamp is refused, not rolled over or ignored."""
    world = bench.world()
    for text in INVALID_TIMESTAMPS:
        for operation in filtering(world):
            if operation.mutation:
                continue
            budget = {"budget": {"max_records": 1}} if operation.stem == "recall" else {}
            members = {"selection": world.everything(), **budget, "cognition_filter": {bound: text}}
            call = world.root.call(operation.stem, **members)
            world.root.must_refuse(call, Code.MALFORMED_REQUEST, meant_invalid=True)


MISSPELT: tuple[dict[str, Any], ...] = (
    {"filters": {"sources": ["review"]}},
    {"filter": {"source": ["review"]}},
    {"filter": {}},
    {"cognitionFilter": ANN},
    {"cognition_filters": ANN},
)


def test_a_misspelt_filter_is_refused_not_ignored(bench: Bench) -> None:
    """A filter or selection that is not spelt as the contract spells it refuses the request on each of the five."""
    world = bench.world()
    for operation in filtering(world):
        asked = ask(world, operation)
        world.root.do(operation.stem, **asked, filter={"sources": ["author"]}, cognition_filter=ANN)
        selections = (
            {"selection": {**asked["selection"], "context_id": "c1"}},
            {"selection": {**asked["selection"], "mode": "shared"}},
        )
        for wrong in (*MISSPELT, *selections):
            call = world.root.call(operation.stem, **{**asked, **wrong})
            world.root.must_refuse(call, Code.MALFORMED_REQUEST, meant_invalid=True)


def _found(world: World, record_ids: Iterable[str], after: str) -> None:
    """Expect a filter on the holder to find exactly these records."""
    asked: dict[str, Any] = {"selection": world.everything(), "cognition_filter": ENTRY["attribution"]}
    listed = [record["record_id"] for record in world.root.all("records.list", **asked)]
    world.same_set(list(record_ids), listed, f"records.list under a cognition filter after {after}")
    recalled = world.root.do("recall", **asked, budget={"max_records": 50})["records"]
    world.same_set(
        list(record_ids), [record["record_id"] for record in recalled], f"recall under a cognition filter after {after}"
    )


def test_what_matches_matches_however_it_came_to_be(bench: Bench) -> None:
    """A record is judged by the entries that it has now, whether it was changed, moved, reviewed or brought by an import."""
    world = bench.world()
    held, bare = {"text": "a", "cognition": [ENTRY]}, {"text": "a"}
    kept, won, lost = (world.root.create(content=content) for content in (held, bare, held))
    _found(world, [kept, lost], "their creation")
    world.root.do("records.update", record_id=kept, expected_revision=1, kind="fact")
    world.root.do("records.promote", record_id=kept, expected_revision=2, to_scope=world.scope(context="c2"))
    world.root.do("records.update", record_id=won, expected_revision=1, content=held)
    world.root.do("records.update", record_id=lost, expected_revision=1, content=bare)
    _found(world, [kept, won], "updates and a move")
    decisions: list[dict[str, Any]] = [
        {"action": "promote"},
        {"action": "promote", "content_override": bare},
        {"action": "fragment", "fragments": [{"content": bare}, {"content": held}]},
    ]
    reviewed: list[list[str]] = []
    for decision in decisions:
        captured = world.root.capture(content=held)
        receipt = world.root.do("candidates.review", candidate_id=captured, expected_revision=1, decision=decision)
        reviewed.append(all_made(receipt, "record"))
    _found(world, [kept, won, reviewed[0][0], reviewed[2][1]], "reviews")
    if bench.declares(Flag.TRANSFER):
        moving.activated(world, moving.exported(world))
        _found(world, [kept, won, reviewed[0][0], reviewed[2][1]], "an activation")
