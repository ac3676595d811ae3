"""MEM-R013, names: subjects, placements and spaces that a caller does not cover are answered as ones that do not exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.likeness import HOLE, Likeness, made_up
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.vocabulary import capabilities

Members = dict[str, Any]
Scope = Mapping[str, str]

NAME_CODES = (Code.NOT_AUTHORIZED, Code.NOT_FOUND)


def _elsewhere(world: World) -> Caller:
    """Return a caller with every capability, but for another subject and context than all that is hidden from it."""
    contexts, subjects = [world.name("c3")], [world.name("u1")]
    return world.principal(*capabilities(world.bundle), context_ids=contexts, subject_ids=subjects, name="elsewhere")


def _material(scope: Scope) -> Members:
    return {"kind": "note", "content": {"text": "a"}, "scope": dict(scope)}


def _profile(scope: Scope, revision: int | None) -> Members:
    content = {"text": "a"}
    return {"subject_id": scope["subject_id"], "kind": "preferences", "content": content, "expected_revision": revision}


def _grant(scope: Scope) -> Members:
    return {"grantee_id": "nobody", "capabilities": ["recall"], "subject_ids": [scope["subject_id"]], "shared_access": "none"}


def _fence(scope: Scope) -> Members:
    target = {"type": "subject", "subject_id": scope["subject_id"]}
    return {"target": target, "action": "fence", "expected_revision": 1}


ON_SUBJECT: Mapping[str, Callable[[Scope], Members]] = {
    "subjects.get": lambda scope: {"subject_id": scope["subject_id"]},
    "subjects.ensure": lambda scope: {"subject_id": scope["subject_id"], "kind": "app:user"},
    "subjects.fence": _fence,
    "grants.grant": _grant,
    "profile.get": lambda scope: {"subject_id": scope["subject_id"]},
    "profile.update": lambda scope: _profile(scope, None),
    "profile.update ": lambda scope: _profile(scope, 1),
}
ON_SCOPE: Mapping[str, Callable[[Scope], Members]] = {
    "capture": _material,
    "records.create": _material,
    "records.list": lambda scope: {"selection": scenes.selection(scope)},
    "records.list ": lambda scope: {"selection": scenes.selection(scope), "include_tombstones": True, "page": {"limit": 1}},
    "recall": lambda scope: {"selection": scenes.selection(scope), "budget": {"max_bytes": 1}},
    "candidates.list": lambda scope: {"selection": scenes.selection(scope)},
    "reflections.state": lambda scope: {"selection": scenes.selection(scope)},
    "reflections.list": lambda scope: {"selection": scenes.selection(scope)},
    "reflections.generate": lambda scope: {"selection": scenes.selection(scope)},
}
"""Requests by what they name, (a stem, with a space behind it for another request of the same) to the members at a scope."""


def _tried(world: World, *tables: Mapping[str, Callable[[Scope], Members]]) -> list[tuple[str, Callable[[Scope], Members]]]:
    served = {operation.stem for operation in scenes.served(world)}
    return [(stem.strip(), build) for table in tables for stem, build in table.items() if stem.strip() in served]


SUBJECT_STATES = ("plain", "full", "fenced", "archived")


def _subject_in(world: World, state: str) -> str:
    scope = world.scope(f"hidden-{state}", "c3")
    if state != "plain":
        world.root.create(scope=scope)
        scenes.complete_profile(world, scope["subject_id"])
        world.root.capture(scope=scope)
    if state in ("fenced", "archived"):
        target = {"type": "subject", "subject_id": scope["subject_id"]}
        action = "fence" if state == "fenced" else "archive"
        world.root.do("subjects.fence", target=target, action=action, expected_revision=1)
    return scope["subject_id"]


@pytest.mark.parametrize("state", SUBJECT_STATES)
def test_hidden_subjects_are_as_missing(bench: Bench, state: str) -> None:
    """For a caller without coverage a subject that exists, in whatever state, is answered as a name that nobody has."""
    world = bench.world()
    likeness = Likeness(world)
    hidden = _subject_in(world, state)
    caller = _elsewhere(world)
    with world.unchanged():
        for stem, build in bench.rows(_tried(world, ON_SUBJECT, ON_SCOPE)):
            likeness.expect(caller, stem, hidden, build({"subject_id": HOLE, "context_id": world.name("c3")}), NAME_CODES)
    caller.ensure(world.name("u1"))
    caller.create(scope=world.scope("u1", "c3"))


def _populate(world: World, scope: Scope) -> None:
    """Put a record, a tombstone, a pending and a consumed candidate at a scope."""
    for stem in ("records.get", "candidates.get"):
        scenes.plain_request(world, stem, scope)
    world.root.do("records.delete", **scenes.plain_request(world, "records.delete", scope))
    scenes.dismiss(world, world.root.capture(scope=dict(scope)))


@given(shared=st.booleans(), full=st.booleans())
@pytest.mark.examples(0.3)
def test_hidden_placements_are_as_empty_ones(bench: Bench, shared: bool, full: bool) -> None:
    """For a caller without coverage a context or shared placement with much in it is answered as one with nothing in it."""
    world = bench.world()
    caller = _elsewhere(world)
    own = caller.create(scope=world.scope("u1", "c3"))
    scope = world.scope("u1", None if shared else "c1")
    answers = []
    for filled in (False, True):
        if filled:
            _populate(world, scope)
            scenes.complete_profile(world, scope["subject_id"])
            for _ in range(5 if full else 0):
                world.root.create(scope=scope)
        tries = bench.rows([*_tried(world, ON_SCOPE), ("records.promote", _moving(own))])
        answers.append([caller.refused(stem, *NAME_CODES, **build(scope)) for stem, build in tries])
    for (stem, _), before, after in zip(tries, *answers, strict=True):
        world.same(before["code"], after["code"], f"{stem}: a hidden placement is told from an empty one")
        expected, seen = (sorted(envelope.get("details", {})) for envelope in (before, after))
        world.same(expected, seen, f"{stem}: the details tell a hidden placement")


def _moving(record_id: str) -> Callable[[Scope], Members]:
    return lambda scope: {"record_id": record_id, "expected_revision": 1, "to_scope": dict(scope)}


# -- spaces


def test_a_hidden_space_is_as_a_missing_one(bench: Bench) -> None:
    """A space where the caller has no grant is answered, in every operation, as one that does not exist."""
    world = bench.world()
    likeness = Likeness(world)
    stranger = world.stranger()
    rows = bench.rows([row for row in scenes.served(world) if row.needs])
    requests = [(row, scenes.request_in_peace(world, row.stem)) for row in rows]
    for row, members in requests:
        codes = NAME_CODES if row.needs[0].on == "issuer" else (Code.NOT_FOUND,)
        likeness.expect(stranger, row.stem, world.space_id, {**members, "space_id": HOLE}, codes)
    for space_id in (world.space_id, made_up(world.space_id, 0)):
        own = stranger.all("grants.list", view="own", space_id=space_id)
        active = [grant for grant in own if grant["state"] == "active"]
        world.same([], active, "grants.list: a caller without grants is told of the space")
