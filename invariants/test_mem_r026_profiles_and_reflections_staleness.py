"""MEM-R026: a reflection is stale by its own basis alone, over the placements of its generator then and its reader now.

protocol.md section 7, Reflections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest

from conformance import moving, scenes
from conformance.bench import Bench
from conformance.cargo import ENTRY
from conformance.reflecting import found, generated, place, state_of
from conformance.wire.vocabulary import Flag
from conformance.world import World

reflecting = pytest.mark.needs(flags=[Flag.REFLECTION])


def _is_stale(world: World, reflection: Mapping[str, object]) -> object:
    """Say whether root reads a reflection over ``all_authorized`` as stale."""
    return found(world.root, str(reflection["reflection_id"]), world.everything())["stale"]


@reflecting
@pytest.mark.parametrize("mode", ["contexts", "all_authorized"])
def test_another_reflection_makes_none_stale(bench: Bench, mode: str) -> None:
    """Whether a reflection is stale is a matter of its basis alone, however many were generated after it or before."""
    world, scope = place(bench)
    selection = scenes.selection(scope) if mode == "contexts" else world.everything()

    def staleness(expected: list[bool], told: str) -> None:
        listed = world.root.all("reflections.list", selection=selection)
        seen = {one["reflection_id"]: one["stale"] for one in listed}
        world.same(dict(zip(made, expected, strict=True)), seen, told)
        world.same(all(expected), state_of(world.root, selection)["stale"], "the state does not speak of exactly this basis")

    made: list[str] = []
    for _ in range(2):
        made.append(generated(world.root, selection)["reflection_id"])
        bench.levers.advance(1)
    staleness([False, False], "a newer reflection on the same basis makes the older one stale")
    extra = world.root.create(scope=scope)
    staleness([True, True], "a new record does not make both reflections stale")
    made.append(generated(world.root, selection)["reflection_id"])
    staleness([True, True, False], "a newer reflection on another basis makes the older ones fresh, or is stale itself")
    world.root.do("records.delete", record_id=extra, expected_revision=1)
    staleness([False, False, True], "it is not the basis that decides which of several reflections is stale")


@reflecting
@pytest.mark.parametrize("later", ["as_it_was", "granted_more", "granted_nothing"])
def test_what_the_generator_did_not_cover_makes_nothing_stale(bench: Bench, later: str) -> None:
    """Over ``all_authorized`` a wider reader's staleness is that of the generator's placements then, whatever it covers now."""
    world, scope = place(bench)
    generator = world.stranger("generator")
    rights = {"capabilities": ["reflections_read", "reflections_generate"], "subject_ids": [scope["subject_id"]]}
    grant_id = world.root.grant(generator, **rights, context_ids=[scope["context_id"]])
    reflection = generated(generator, world.everything())
    world.same(False, _is_stale(world, reflection), "a reflection is stale as soon as it is made")
    if later == "granted_more":
        world.root.grant(generator, **rights, shared_access="read")
    if later == "granted_nothing":
        world.root.do("grants.revoke", grant_id=grant_id)
    for elsewhere in (world.scope(context="c2"), world.scope(context=None)):
        world.root.create(scope=elsewhere)
        world.same(False, _is_stale(world, reflection), "a record where its generator covered nothing makes a reflection stale")
    world.root.create(scope=scope)
    world.same(True, _is_stale(world, reflection), "a record where its generator covered all does not make a reflection stale")


@reflecting
@pytest.mark.needs(flags=[Flag.REFLECTION], controls=["restart"])
@pytest.mark.parametrize("context", ["c2", None])
def test_what_the_generator_covered_outlives_a_restart(bench: Bench, context: str | None) -> None:
    """The placements of its generator stay pinned over a restart: new records make it stale in these, and elsewhere not."""
    world, scope = place(bench)
    generator = world.stranger("generator")
    rights = {"capabilities": ["reflections_read", "reflections_generate"], "subject_ids": [scope["subject_id"]]}
    world.root.grant(generator, **rights, context_ids=[scope["context_id"]])
    wide, narrow = generated(world.root, world.everything()), generated(generator, world.everything())
    bench.levers.restart()
    world.same([False, False], [_is_stale(world, one) for one in (wide, narrow)], "a restart makes a reflection stale")
    world.root.create(scope=world.scope(context=context))
    world.same(
        [True, False],
        [_is_stale(world, one) for one in (wide, narrow)],
        "after a restart it is not what their generators covered that decides which reflections are stale",
    )


PINNED: Mapping[str, Any] = {"filter": {"source_context_ids": ["here"]}, "cognition_filter": {"holder_id": "ann"}}
Names = tuple[str, ...]
Reflections = Mapping[Names, Mapping[str, Any]]


def _let_through(names: Names) -> dict[str, Any]:
    """Return the members of a record that exactly these of the pinned filters let through."""
    recorded = {"cognition": [ENTRY]} if "cognition_filter" in names else {}
    return {"content": {"text": "a", **recorded}, "source_context_id": "here" if "filter" in names else "there"}


def _stale_are(world: World, selection: Mapping[str, Any], made: Reflections, stale: Sequence[Names]) -> None:
    """Expect exactly these reflections, named by the filters that they pin, to be stale and the state to have another digest."""
    for names, reflection in made.items():
        pinned = {name: PINNED[name] for name in names}
        now = found(world.root, reflection["reflection_id"], selection, **pinned)
        state = state_of(world.root, selection, **pinned)
        moved = state["state_digest"] != reflection["basis"]["state_digest"]
        told = f"it is not what passes the pinned filters ({', '.join(names) or 'none'}) that decides staleness and digest"
        world.same([names in stale] * 3, [now["stale"], state["stale"], moved], told)


@reflecting
@pytest.mark.parametrize("mode", ["contexts", "all_authorized"])
def test_a_record_makes_stale_where_every_pinned_filter_lets_it_through(bench: Bench, mode: str) -> None:
    """Whichever filters are pinned together, a change makes stale where they all let the record through, and nowhere else."""
    world, scope = place(bench, records=0)
    selection = scenes.selection(scope) if mode == "contexts" else world.everything()
    served = [*PINNED] if bench.declares(Flag.COGNITION) else ["filter"]
    every = [names for count in range(len(served) + 1) for names in combinations(served, count)]
    world.root.create(scope=scope, **_let_through(every[-1]))
    made = {names: generated(world.root, selection, **{name: PINNED[name] for name in names}) for names in every}
    for let in every:
        stale = [names for names in every if set(names) <= set(let)]
        record_id = world.root.create(scope=scope, **_let_through(let))
        _stale_are(world, selection, made, stale)
        world.root.do("records.update", record_id=record_id, expected_revision=1, kind="fact")
        _stale_are(world, selection, made, stale)
        world.root.do("records.delete", record_id=record_id, expected_revision=2)
        _stale_are(world, selection, made, [])


def _as_it_was(world: World, reflection: Mapping[str, Any], before: Mapping[str, Any], told: str) -> None:
    """Expect the state of one context, and the reflection on it, to be what they were."""
    selection = reflection["selection"]
    world.same(before, state_of(world.root, selection), f"{told}: the state is another one though none of its six parts is")
    now = found(world.root, reflection["reflection_id"], selection)
    world.same(reflection, now, f"{told}: the reflection is another one though its basis is not")


@pytest.mark.needs(flags=[Flag.REFLECTION], controls=["restart"])
def test_the_state_outlives_a_restart(bench: Bench) -> None:
    """A restart changes none of the six parts, so the digest is the same, and no reflection becomes stale or fresh."""
    world, scope = place(bench)
    stale = generated(world.root, scenes.selection(scope))
    world.root.create(scope=scope)
    stale = found(world.root, stale["reflection_id"], stale["selection"])
    world.root.create(scope=world.scope(context=None))
    other = generated(world.root, scenes.selection(world.scope(context=None)))
    before = [state_of(world.root, one["selection"]) for one in (stale, other)]
    bench.levers.restart()
    for reflection, state in zip((stale, other), before, strict=True):
        _as_it_was(world, reflection, state, "after a restart")


@pytest.mark.needs(flags=[Flag.REFLECTION, Flag.TRANSFER])
def test_the_state_outlives_an_activation(bench: Bench) -> None:
    """Activating what was exported just before changes none of the six parts: the generation is no part of the digest."""
    world, scope = place(bench)
    reflection = generated(world.root, scenes.selection(scope))
    before = state_of(world.root, reflection["selection"])
    moving.activated(world, moving.exported(world))
    _as_it_was(world, reflection, before, "after an activation of the same")
