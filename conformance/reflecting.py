"""Profiles and reflections as rule modules handle them: writing and reading documents, states, lists (protocol.md section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import OMIT, Caller, made
from conformance.world import World


def wrote(caller: Caller, subject_id: str, kind: str, revision: int | None, **members: Any) -> Mapping[str, Any]:
    """Write a profile document at an expected revision and return the receipt."""
    body = {"content": {"text": "a"}, **members}
    receipt: Mapping[str, Any] = caller.do("profile.update", subject_id=subject_id, kind=kind, expected_revision=revision, **body)
    return receipt


def read(caller: Caller, subject_id: str, *kinds: str) -> Mapping[str, Any]:
    """Read profile documents by kind, or all that the provider gives without naming any."""
    answer: Mapping[str, Any] = caller.do("profile.get", subject_id=subject_id, kinds=list(kinds) or OMIT)
    return answer


def place(bench: Bench, *, records: int = 1, profiles: bool = True) -> tuple[World, dict[str, str]]:
    """Return a world and a placement with records, and with the required profiles written or not."""
    world = bench.world()
    scope = world.scope()
    if profiles:
        scenes.complete_profile(world, scope["subject_id"])
    for _ in range(records):
        world.root.create(scope=scope)
    return world, scope


def state_of(caller: Caller, selection: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Read the reflection state of a selection."""
    answer: Mapping[str, Any] = caller.do("reflections.state", selection=selection, **members)
    return answer


def generated(caller: Caller, selection: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Generate a reflection and return it as its generator lists it."""
    reflection_id = made(caller.do("reflections.generate", selection=selection, **members), "reflection")
    members.pop("expected_state_digest", None)
    return found(caller, reflection_id, selection, **members)


def shown(caller: Caller, selection: Mapping[str, Any], **members: Any) -> list[str]:
    """Return the ids of the reflections that a caller is shown for a selection."""
    return [one["reflection_id"] for one in caller.all("reflections.list", selection=selection, **members)]


def found(caller: Caller, reflection_id: str, selection: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Return a reflection from a list that must show it."""
    listed = caller.all("reflections.list", selection=selection, **members)
    caller.world.expect(
        reflection_id in [one["reflection_id"] for one in listed], "reflections.list does not show the reflection", seen=listed
    )
    return next(one for one in listed if one["reflection_id"] == reflection_id)
