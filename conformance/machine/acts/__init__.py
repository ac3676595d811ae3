"""What can be done next: the table of acts, grouped by family, and how often each is done under a focus.

An act is a function of the stage. It picks its objects from the model, so that it can be done in any state; where its own object
is lacking it makes one, or does nothing. ``needs`` names what the target must offer for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.machine.acts import (
    candidates,
    crowds,
    edges,
    grants,
    journeys,
    levers,
    lives,
    records,
    retries,
    revisions,
    shadows,
    spaces,
    storms,
    syntheses,
    transfer,
    trees,
)
from conformance.machine.stage import Stage
from conformance.wire.vocabulary import Flag


@dataclass(frozen=True, slots=True)
class Act:
    """``family`` groups acts; ``weight`` is how often it is done where nothing is in focus. ``control`` is a lever's name."""

    name: str
    family: str
    do: Callable[[Stage], None]
    weight: float = 1.0
    flag: Flag = Flag.CORE
    control: str = ""

    def is_possible(self, stage: Stage) -> bool:
        """Say whether the target offers what the act needs; a lever that moves the whole provider only where we are alone."""
        if not stage.serves(self.flag):
            return False
        return not self.control or (stage.alone and stage.bench.levers.has(self.control))


def _acts(family: str, *rows: tuple[Any, ...], flag: Flag = Flag.CORE) -> tuple[Act, ...]:
    return tuple(Act(do.__name__, family, do, weight, flag, *rest) for do, weight, *rest in rows)


ACTS: tuple[Act, ...] = (
    *_acts(
        "spaces",
        (spaces.describe, 0.2), (spaces.list_spaces, 0.8), (spaces.freeze, 0.7), (spaces.unfreeze, 1.4),
    ),
    *_acts(
        "subjects",
        (spaces.ensure, 1.2), (spaces.get_subject, 0.8), (spaces.fence_subject, 0.9), (spaces.fence_context, 0.8),
        (spaces.unfence, 0.8),
    ),
    *_acts(
        "grants",
        (grants.grant, 1.2), (grants.delegate, 1.6), (grants.regrant, 0.4), (grants.revoke, 1.0), (grants.list_own, 0.5),
        (grants.list_all, 0.5), (grants.probe, 2.5), (grants.split, 0.6), (grants.share, 0.1), (trees.chain, 0.5),
    ),
    *_acts(
        "records",
        (records.create, 2.0), (records.crowd, 0.8), (records.get, 1.0), (records.update, 1.6), (records.delete, 1.0),
        (records.promote, 1.2), (records.list_records, 2.0), (records.recall, 2.0), (lives.of_a_record, 0.6),
    ),
    *_acts(
        "candidates",
        (candidates.capture, 1.6), (candidates.get, 0.8), (candidates.list_candidates, 1.0), (candidates.dismiss, 0.6),
        (candidates.review, 2.0),
    ),
    *_acts("profiles", (syntheses.update_profile, 1.4), (syntheses.get_profile, 0.8)),
    *_acts(
        "reflections",
        (syntheses.complete, 0.8), (syntheses.state, 0.8), (syntheses.generate, 1.2), (syntheses.list_reflections, 0.8),
        flag=Flag.REFLECTION,
    ),
    *_acts(
        "transfer",
        (transfer.create, 0.8), (transfer.get, 0.7), (transfer.begin, 1.0), (transfer.go_on, 0.4), (transfer.activate, 0.9),
        (transfer.discard, 0.3), (journeys.rewind, 0.3), (journeys.overtaken, 0.2), (journeys.forged, 0.5),
        flag=Flag.TRANSFER,
    ),
    *_acts(
        "retries",
        (retries.replay, 1.6), (retries.old_replay, 0.6), (retries.refused_again, 0.8), (retries.conflict, 0.6),
        (retries.borrowed_key, 1.0), (retries.get_receipt, 1.2), (retries.with_nothing_left, 0.15),
        (retries.wear_out, 0.02),
    ),
    *_acts("revisions", (revisions.wrong, 0.6)),
    *_acts("gates", (storms.freeze_and_try, 0.8), (storms.fence_and_try, 1.0)),
    *_acts("cursors", (edges.begin_chain, 0.7), (edges.go_on, 0.7), (edges.misuse, 0.4)),
    *_acts("dispatch", (edges.stopped, 0.4)),
    *_acts("disclosure", (edges.twins, 0.8), (transfer.audit, 0.35), (shadows.cast, 0.3)),
    *_acts("crowds", (crowds.at_the_same_time, 0.5)),
    *_acts("crowds", (crowds.activations, 0.12), flag=Flag.TRANSFER),
    *_acts(
        "levers",
        (levers.pass_time, 0.8, "clock"), (levers.to_an_end, 0.7, "clock"), (levers.outlive, 0.25, "clock"),
        (levers.hold, 0.6, "hold"),
        (levers.restart, 0.25, "restart"),
    ),
)  # fmt: skip

BY_NAME: Mapping[str, Act] = {f"{act.family}.{act.name}": act for act in ACTS}

# How much more often a family is done under a focus; families that are not named keep their weight.
FOCI: Mapping[str, Mapping[str, float]] = {
    "grants": {"grants": 4, "levers": 2, "disclosure": 2, "retries": 0.6, "transfer": 0.3, "reflections": 0.3, "crowds": 0.2},
    "cas": {
        "crowds": 5,
        "records": 2,
        "profiles": 2.5,
        "candidates": 2,
        "spaces": 1.5,
        "revisions": 4,
        "grants": 0.5,
        "transfer": 0.3,
    },
    "idempotency": {"retries": 5, "crowds": 2, "dispatch": 2, "levers": 1.5, "grants": 0.6},
    "tombstones": {"records": 3, "candidates": 1.5, "transfer": 1.6, "reflections": 1.5, "grants": 0.4, "crowds": 0.3},
    "transfer": {"transfer": 7, "reflections": 1.5, "grants": 0.5, "crowds": 0.2, "levers": 1.5},
    "reflections": {"reflections": 6, "profiles": 2, "records": 1.5, "grants": 0.8},
    "fences": {"gates": 5, "spaces": 3, "subjects": 4, "records": 1.5, "candidates": 1.5},
    "even": {},
}

ALL = "all"
ASKED_FOR = ("grants", "cas", "idempotency", "tombstones", "transfer", ALL)
"""What the command takes as a focus; ``all`` takes another of ``FOCI`` for each episode."""


def weights(focus: str, stage: Stage) -> Mapping[str, float]:
    """Give how often each possible act is done under a focus (a name of ``FOCI``)."""
    more = FOCI[focus]
    return {name: act.weight * more.get(act.family, 1.0) for name, act in BY_NAME.items() if act.is_possible(stage)}
