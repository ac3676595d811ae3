"""Faults of MEM-R005: the generation of authority moves when it must not, or not as it must."""

from __future__ import annotations

from typing import Any

from conformance.oracle import activation, imports, jobs, spaces
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Settled, Turn, changed
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, always, patched

RULE = "MEM-R005"
ACTIVATE = "memory.imports.activate"


def _one_further(_turn: Turn, _before: Space, after: Space) -> Space:
    return altered.facts(after, authority_generation=after.facts["authority_generation"] + 1)


def _two_further(_original: Any) -> Any:
    return lambda generation: generation + 2


def _back_to_one(space: Space) -> Space:
    return altered.facts(space, authority_generation=1)


def _after_the_bundles(original: Any) -> Any:
    def settle_activation(turn: Turn, space: Space, job: Doc) -> Settled:
        brought = imports.found(space, job["import_id"])["bundle"].get("authority_generation", 0)
        done: Settled = original(turn, space, job)
        return done if done.error else done._replace(space=altered.facts(done.space, authority_generation=brought + 1))

    return settle_activation


def _after_every_spaces(original: Any) -> Any:
    def settle_activation(turn: Turn, space: Space, job: Doc) -> Settled:
        highest = max(one.facts["authority_generation"] for one in turn.state.spaces.values())
        done: Settled = original(turn, space, job)
        return done if done.error else done._replace(space=altered.facts(done.space, authority_generation=highest + 1))

    return settle_activation


def _unchecked(_original: Any) -> Any:
    def settle_activation(turn: Turn, space: Space, job: Doc) -> Settled:
        held = imports.found(space, job["import_id"])
        if held["state"] != imports.STAGED:
            return Settled(space, (), Code.WRONG_STATE)
        items = [item for chunk in held["chunks"] for item in chunk["items"]]
        space = imports.put(
            turn, activation.activated(turn, space, items), job["import_id"], imports.ended(held, imports.ACTIVATED)
        )
        return Settled(space, (changed("import", job["import_id"]), spaces.affected(space.facts)))

    return settle_activation


def _if_not_ahead(original: Any) -> Any:
    def refuse_other_generation(space: Space, expected: int) -> None:
        if expected > space.facts["authority_generation"]:
            original(space, expected)

    return refuse_other_generation


FAULTS: tuple[Fault, ...] = (
    Fault(
        "r005_freeze_raises_it",
        RULE,
        "freezing raises the generation",
        patched(altered.effect("spaces.freeze", _one_further)),
    ),
    Fault(
        "r005_any_generation_expected",
        RULE,
        "an activation goes through whatever generation it expects",
        patched(Patch(imports, "refuse_other_generation", always(None))),
    ),
    Fault("r005_raised_by_two", RULE, "an activation adds 2", patched(Patch(activation, "next_generation", _two_further))),
    Fault(
        "r005_forgotten_at_a_restart",
        RULE,
        "a restart sets the generation to 1",
        patched(altered.restored(_back_to_one)),
    ),
    Fault(
        "r005_taken_from_the_bundle",
        RULE,
        "an activation goes on from the generation that the bundle was made under",
        patched(Patch(jobs.SETTLERS, ACTIVATE, _after_the_bundles)),
        source="ours",
    ),
    Fault(
        "r005_one_counter_for_all_spaces",
        RULE,
        "an activation goes on from the highest generation of any space",
        patched(Patch(jobs.SETTLERS, ACTIVATE, _after_every_spaces)),
        source="ours",
    ),
    Fault(
        "r005_not_checked_again_when_it_settles",
        RULE,
        "two pending activations that expect the same generation both commit",
        patched(Patch(jobs.SETTLERS, ACTIVATE, _unchecked)),
        source="ours",
    ),
    Fault(
        "r005_an_earlier_generation_is_good_enough",
        RULE,
        "an activation that expects an earlier generation goes through",
        patched(Patch(imports, "refuse_other_generation", _if_not_ahead)),
        source="ours",
    ),
)
