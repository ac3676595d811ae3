"""MEM-R016: the revision of a space counts its space-level changes, and ``updated_at`` is of them (section 3, MemorySpace).

Space-level are freeze, unfreeze, context fences and activations. What happens to the objects in a space leaves it as it is. What
a revision counts of any object, its ``updated_at`` dates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance import scenes, snapshot
from conformance.bench import Bench
from conformance.exchange import Call
from conformance.wire.bundle import instant
from conformance.world import World

SPACE_LEVEL = ("spaces.freeze", "spaces.unfreeze", "imports.activate")


def _is_space_level(stem: str, call: Call) -> bool:
    return stem in SPACE_LEVEL or call.payload.get("target", {}).get("type") == "context"


def _told(world: World) -> Mapping[str, Any]:
    """Return the space as it is told, but for what is computed."""
    return {name: value for name, value in scenes.space(world).items() if name != "pending_receipts"}


def _goes_on(world: World, before: Mapping[str, Any], what: str) -> None:
    """Expect the space to be one revision on, and changed no earlier than before."""
    after = _told(world)
    world.same(before["revision"] + 1, after["revision"], f"{what}: the revision of the space")
    world.expect(
        instant(before["updated_at"]) <= instant(after["updated_at"]), f"{what}: updated_at of the space goes back", seen=after
    )


def test_only_what_is_space_level_changes_the_space(bench: Bench) -> None:
    """Each operation leaves the space as it is told, but for space-level changes, which add exactly 1 to its revision."""
    for world, operation, call in scenes.each(bench):
        before = _told(world)
        world.root.accepted(call)
        if _is_space_level(operation.stem, call):
            _goes_on(world, before, operation.name)
        else:
            world.same(before, _told(world), f"{operation.name} is no change of the space, and it changed")


HOUR = 3600
Dates = Mapping[tuple[str, ...], tuple[int, str]]


def _dates(world: World) -> Dates:
    """Return the revision and ``updated_at`` of each object that tells when it was changed, by where it stands."""
    found = snapshot.holding(world.snapshot(), "updated_at")
    return {path: (one["revision"], one["updated_at"]) for path, one in found}


def _is_dated(world: World, call: Call, advance: Callable[[int], None]) -> None:
    """Expect each object with another revision after a call to be dated later, and every other one as before."""
    before = _dates(world)
    advance(HOUR)
    world.root.accepted(call)
    for path, (revision, updated_at) in _dates(world).items():
        known, then = before.get(path, (revision, updated_at))
        later = instant(then) < instant(updated_at)
        world.same(revision != known, later, f"{call.op}: {'/'.join(path)} is dated later than an hour ago")


@pytest.mark.needs(controls=["clock"])
def test_a_change_is_dated_when_it_is_made(bench: Bench) -> None:
    """An accepted change moves ``updated_at`` of what it changes, as it moves the revision, and that of nothing else."""
    for world, _, call in scenes.each(bench, lambda operation: operation.mutation):
        _is_dated(world, call, bench.levers.advance)
    world = bench.world()
    profile = {"subject_id": world.scope()["subject_id"], "kind": "preferences", "content": {"text": "a"}}
    for expected in (None, 1):
        _is_dated(world, world.root.call("profile.update", **profile, expected_revision=expected), bench.levers.advance)


def test_context_fences_are_changes_of_the_space(bench: Bench) -> None:
    """Fencing and unfencing a context is one change of the space each; fencing a subject is none."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    target = {"type": "context", "context_id": world.name("c1")}
    for action, fenced in (("fence", True), ("unfence", False)):
        before = _told(world)
        world.root.do("subjects.fence", target=target, action=action)
        _goes_on(world, before, f"{action} of a context")
        world.same(fenced, world.name("c1") in _told(world)["fenced_context_ids"], f"{action} of a context: fenced_context_ids")
    before = _told(world)
    for revision, action in enumerate(("fence", "unfence", "archive"), start=1):
        fenced_one = {"type": "subject", "subject_id": subject_id}
        world.root.do("subjects.fence", target=fenced_one, action=action, expected_revision=revision)
        world.same(before, _told(world), f"{action} of a subject is no change of the space, and it changed")
