"""MEM-R026: a reflection's basis is pinned, its digest covers exactly the six named parts, staleness is computed at read.

protocol.md section 7, Reflections, and section 3, Reflection. The form of ``state_digest`` is the provider's: only equality and
inequality are tested, and only for callers whose coverage by both reflection capabilities is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.cargo import ENTRY
from conformance.reflecting import found, generated, place, read, shown, state_of, wrote
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

reflecting = pytest.mark.needs(flags=[Flag.REFLECTION])

ANN = {"holder_id": "ann"}
OTHER_KIND = "a kind of its own"
"""A profile kind that no provider requires."""


@reflecting
def test_the_basis_is_pinned(bench: Bench) -> None:
    """A reflection pins its selection, filters, records, profiles, engine policy and the digest that the state told before."""
    world, scope = place(bench, records=2)
    wrote(world.root, scope["subject_id"], OTHER_KIND, None)
    filtered = world.root.create(content={"text": "a", "cognition": [ENTRY]}, source_context_id="here")
    selection = scenes.selection(scope)
    cognition = {"cognition_filter": ANN} if bench.declares(Flag.COGNITION) else {}
    asked = {"filter": {"source_context_ids": ["here"]}, **cognition}
    before = state_of(world.root, selection, **asked)
    reflection = generated(world.root, selection, **asked)
    kinds = [*bench.described(world)["required_profile_kinds"], OTHER_KIND]
    pinned = {"selection": selection, **asked}
    world.same(pinned, {name: reflection.get(name) for name in pinned}, "the request's selection and filters are not pinned")
    basis = reflection["basis"]
    world.same([{"record_id": filtered, "revision": 1}], basis["records"], "the basis is not the eligible records")
    profiles = {one["kind"]: one["revision"] for one in basis["profiles"]}
    world.same(dict.fromkeys(kinds, 1), profiles, "the basis does not hold every profile of the subject")
    world.same(bench.described(world)["engine_policy_version"], basis["engine_policy_version"], "the engine policy is not pinned")
    world.same(before["state_digest"], basis["state_digest"], "the digest is not the one of the state at the request")
    world.same(1, before["record_count"], "reflections.state does not count the eligible records")


@reflecting
def test_generation_needs_every_required_profile(bench: Bench) -> None:
    """Without a required kind generation is PROFILE_INCOMPLETE and names what is missing; with all of them it is accepted."""
    world, scope = place(bench, profiles=False)
    selection = scenes.selection(scope)
    required = list(bench.described(world)["required_profile_kinds"])
    while required:
        state = state_of(world.root, selection)
        world.same_set(required, state["missing_required_kinds"], "reflections.state names the wrong missing kinds")
        world.same(True, state["sufficient"], "sufficient speaks of records, not of profiles")
        with world.unchanged("a refused generation changed something"):
            error = world.root.refused("reflections.generate", Code.PROFILE_INCOMPLETE, selection=selection)
        world.same_set(required, (error.get("details") or {}).get("missing_kinds", []), "details.missing_kinds is wrong")
        wrote(world.root, scope["subject_id"], required.pop(), None)
    world.same([], state_of(world.root, selection)["missing_required_kinds"], "a written kind is called missing")
    generated(world.root, selection)


@reflecting
def test_generation_needs_an_eligible_record(bench: Bench) -> None:
    """Without an eligible record generation is INSUFFICIENT_DATA; tombstones, candidates and other places do not count."""
    world, scope = place(bench, records=0)
    selection = scenes.selection(scope)
    dead = world.root.create(scope=scope)
    world.root.do("records.delete", record_id=dead, expected_revision=1)
    world.root.capture(scope=scope)
    world.root.create(scope=world.scope(context="c2"))
    state = state_of(world.root, selection)
    world.same([False, 0], [state["sufficient"], state["record_count"]], "reflections.state counts what is not eligible")
    with world.unchanged("a refused generation changed something"):
        world.root.refused("reflections.generate", Code.INSUFFICIENT_DATA, selection=selection)
    # A record without a word is a record too.
    world.root.create(scope=scope, content={"text": ""})
    state = state_of(world.root, selection)
    world.same([True, 1], [state["sufficient"], state["record_count"]], "reflections.state does not count the eligible record")
    generated(world.root, selection)


Change = Callable[[World, Mapping[str, str], str], Any]


def _update(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "b"})


def _update_kind(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.update", record_id=record_id, expected_revision=1, kind="fact")


def _delete(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.delete", record_id=record_id, expected_revision=1)


def _create(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    world.root.create(scope=dict(scope))


def _review(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    candidate_id = world.root.capture(scope=dict(scope))
    decision = {"action": "promote"}
    world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def _move_out(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.promote", record_id=record_id, expected_revision=1, to_scope=world.scope(context="c2"))


def _move_in(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    other = world.root.create(scope=world.scope(context="c2"))
    world.root.do("records.promote", record_id=other, expected_revision=1, to_scope=dict(scope))


def _required_profile(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    documents = read(world.root, scope["subject_id"], "personality")["documents"]
    wrote(world.root, scope["subject_id"], "personality", documents[0]["revision"] if documents else None)


def _other_profile(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    wrote(world.root, scope["subject_id"], OTHER_KIND, None)


def _another_in_its_place(world: World, scope: Mapping[str, str], record_id: str) -> None:
    """Leave as many eligible records as there were, at the same revisions."""
    world.root.create(scope=dict(scope))
    world.root.do("records.promote", record_id=record_id, expected_revision=1, to_scope=world.scope(context="c2"))


CHANGES: Mapping[str, Change] = {
    "update": _update,
    "update_kind": _update_kind,
    "delete": _delete,
    "create": _create,
    "review": _review,
    "move_out": _move_out,
    "move_in": _move_in,
    "required_profile": _required_profile,
    "other_profile": _other_profile,
    "another_in_its_place": _another_in_its_place,
}


@reflecting
@pytest.mark.parametrize("name", CHANGES)
def test_any_change_of_the_basis_is_seen_at_read(bench: Bench, name: str) -> None:
    """A change of an eligible record, of the eligible set or of a profile changes the digest and makes the reflection stale."""
    world, scope = place(bench, records=1)
    selection = scenes.selection(scope)
    record_id = world.root.create(scope=scope)
    world.same(True, state_of(world.root, selection)["stale"], "before any generation there is a reflection on this basis")
    reflection = generated(world.root, selection)
    before = state_of(world.root, selection)
    world.same([False, False], [reflection["stale"], before["stale"]], "a reflection is stale as soon as it is made")
    CHANGES[name](world, scope, record_id)
    after = state_of(world.root, selection)
    world.expect(before["state_digest"] != after["state_digest"], f"the digest does not cover the change: {name}", seen=after)
    now = found(world.root, reflection["reflection_id"], selection)
    world.same([True, True], [now["stale"], after["stale"]], f"the reflection does not read as stale after the change: {name}")
    world.same({**reflection, "stale": True}, now, "more than staleness changed in the reflection")


@reflecting
def test_nothing_else_is_in_the_digest(bench: Bench) -> None:
    """Records elsewhere, candidates, tombstones, other subjects, grants and fences leave the digest and staleness alone."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    reflection = generated(world.root, selection)
    before = state_of(world.root, selection)
    world.root.create(scope=world.scope(context="c2"))
    world.root.create(scope=world.scope(context=None))
    world.root.create(scope=world.scope("u2"))
    world.root.capture(scope=scope)
    wrote(world.root, world.name("u2"), "preferences", None)
    world.principal("reflections_read")
    world.root.do("subjects.fence", target={"type": "context", "context_id": world.name("c3")}, action="fence")
    generated(world.root, scenes.selection(world.scope(context="c2")))
    after = state_of(world.root, selection)
    world.same(before, after, "something outside the six parts changed the state")
    world.same(reflection, found(world.root, reflection["reflection_id"], selection), "the reflection changed without its basis")


@reflecting
def test_the_digest_is_of_the_state_whoever_asks(bench: Bench) -> None:
    """A reader of reflections who may read neither profiles nor records is told the same state, its changes too."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    rights: dict[str, Any] = {"subject_ids": [scope["subject_id"]], "context_ids": [scope["context_id"]]}
    reader = world.principal("reflections_read", **rights)
    for change in (None, _other_profile, _create):
        before = state_of(reader, selection)["state_digest"]
        if change is not None:
            change(world, scope, "")
            after = state_of(reader, selection)["state_digest"]
            world.expect(before != after, "a reader's digest does not cover a change of the basis", seen=after)
        world.same(state_of(world.root, selection), state_of(reader, selection), "two readers of one state are told two")


@reflecting
def test_staleness_is_computed_from_the_basis_as_it_is(bench: Bench) -> None:
    """When the eligible set is again what was pinned, the basis is exactly this one: staleness is no stored mark."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    reflection = generated(world.root, selection)
    extra = world.root.create(scope=scope)
    world.same(True, state_of(world.root, selection)["stale"], "a new eligible record does not make the basis another")
    world.root.do("records.delete", record_id=extra, expected_revision=1)
    state = state_of(world.root, selection)
    world.same(reflection["basis"]["state_digest"], state["state_digest"], "the same six parts give another digest")
    world.same(False, state["stale"], "there is a reflection on exactly this basis, and the state says that there is none")
    world.same(
        False, found(world.root, reflection["reflection_id"], selection)["stale"], "the reflection's basis is the present one"
    )


OTHERWISE: Mapping[str, Any] = {
    "source_context_ids": ["here", "there"],
    "sources": ["author", "review"],
    "holder_id": "bob",
    "basis_kind": "observed",
    "recorded_after": "2025-06-01T00:00:00Z",
    "recorded_before": "2026-06-01T00:00:00Z",
}
"""Another value of each member of a filter, except for the dimensions: which of them are served is the provider's."""


def _entry(dimension: str, holder_id: str = "ann", kind: str = "stated") -> dict[str, Any]:
    return {**ENTRY, "dimension": dimension, "attribution": {"holder_id": holder_id}, "basis": {"kind": kind, "refs": []}}


def _whole(bench: Bench, world: World) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Make a record; return a request with every member and another value of each member of its filters, which it all meets."""
    dimensions = bench.described(world)["cognition_dimensions"]
    first, *more = [*dimensions[:2]] or ["belief"]
    entries = [_entry(first), *map(_entry, more), _entry(first, holder_id="bob"), _entry(first, kind="observed")]
    scope = world.scope()
    world.root.create(scope=scope, content={"text": "a", "cognition": entries}, source_context_id="here")
    bounds = {"recorded_after": "2025-01-01T00:00:00Z", "recorded_before": "2027-01-01T00:00:00Z"}
    cognition = {**ANN, "basis_kind": "stated", **bounds, **({"dimension": first} if dimensions else {})}
    whole = {
        "selection": {**scenes.selection(scope), "mode": "contexts_and_shared"},
        "filter": {"source_context_ids": ["here"], "sources": ["author"]},
        **({"cognition_filter": cognition} if bench.declares(Flag.COGNITION) else {}),
    }
    return whole, {**OTHERWISE, **({"dimension": more[0]} if more else {})}


def _varied(world: World, whole: Mapping[str, Any], otherwise: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the request with one thing changed: another selection, and a filter or a member of it left out or of another value."""
    narrow = {**whole["selection"], "mode": "contexts"}
    wide = {**whole["selection"], "context_ids": [*narrow["context_ids"], world.name("c2")]}
    for selection in (narrow, wide, world.everything()):
        yield {**whole, "selection": selection}
    for part in [*whole][1:]:
        yield {name: value for name, value in whole.items() if name != part}
        for member in whole[part]:
            rest = {name: value for name, value in whole[part].items() if name != member}
            yield {**whole, part: rest}
            if member in otherwise:
                yield {**whole, part: {**rest, member: otherwise[member]}}


def _digests(world: World, requests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the state digests of requests each of which has the one eligible record."""
    states = [world.root.do("reflections.state", **asked) for asked in requests]
    world.same([1] * len(states), [state["record_count"] for state in states], "each of the requests has the one eligible record")
    return [state["state_digest"] for state in states]


@reflecting
def test_selection_and_filters_are_in_the_digest(bench: Bench) -> None:
    """Requests that differ in any member of selection or filters have different digests, though the records are the same."""
    world, scope = place(bench, records=0)
    whole, otherwise = _whole(bench, world)
    plain = {"selection": scenes.selection(scope)}
    alone = [whole, plain, {"selection": world.everything()}]
    for part in [*whole][1:]:
        alone += [{**plain, part: {member: value}} for member, value in whole[part].items()] + [{**plain, part: whole[part]}]
    digests = _digests(world, alone)
    world.expect(len(set(digests)) == len(digests), "two different requests have the same digest", seen=digests)
    world.same(digests, _digests(world, alone), "the same request on the same state has another digest")
    varied = list(_varied(world, whole, otherwise))
    alike = [asked for asked, digest in zip(varied, _digests(world, varied), strict=True) if digest == digests[0]]
    world.same([], alike, "requests that differ in one member alone have the same digest")


@reflecting
def test_a_list_shows_exactly_what_was_pinned_alike(bench: Bench) -> None:
    """A list shows the reflections whose pinned selection and filters equal the request's; absent equals only absent."""
    world, scope = place(bench, records=0)
    world.root.create(scope=scope, content={"text": "a", "cognition": [ENTRY]}, source_context_id="here")
    subject_id = scope["subject_id"]
    both = [scope["context_id"], world.name("c2")]
    requests: list[dict[str, Any]] = [
        {"selection": scenes.selection(scope)},
        {"selection": world.everything()},
        {"selection": {"subject_id": subject_id, "mode": "contexts", "context_ids": both}},
        {"selection": {"subject_id": subject_id, "mode": "contexts", "context_ids": both[::-1]}},
        {"selection": scenes.selection(scope), "filter": {"source_context_ids": ["here"]}},
        {"selection": scenes.selection(scope), "filter": {"source_context_ids": ["here"], "sources": ["author"]}},
    ]
    if bench.declares(Flag.COGNITION):
        requests += [{**requests[0], "cognition_filter": ANN}, {**requests[4], "cognition_filter": ANN}]
        requests.append({**requests[0], "cognition_filter": {**ANN, "basis_kind": "stated"}})
    ids_made = [made(world.root.do("reflections.generate", **asked), "reflection") for asked in requests]
    for number, asked in enumerate(requests):
        world.same([ids_made[number]], shown(world.root, **asked), f"the list for {asked} shows what was pinned otherwise")
