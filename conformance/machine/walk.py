"""An episode: a stage, and acts in a random order until there are enough, or the target is wrong.

An episode has one leg or more; each is played from a seed of its own, so the same legs and the same answers are the same calls,
and what was reached once can be gone on from. Nothing else is random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from random import Random
from typing import Any

from conformance.bench import Bench
from conformance.errors import TargetFault
from conformance.exchange import Exchange
from conformance.expect import CheckFailed
from conformance.machine import acts
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Share, Watch
from conformance.machine.invariants import Ledger
from conformance.machine.stage import Stage

LENGTHS = (60, 160, 700)
HOW_OFTEN = (6, 5, 1)
PROLOGUE = (
    "grants.share",
    "subjects.ensure",
    "grants.grant",
    "grants.grant",
    "grants.delegate",
    "records.crowd",
    "candidates.capture",
)
IN_PROLOGUE = 0.8
TIME_PASSES = 0.15


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of an episode: ``acts`` acts from ``seed`` under ``focus``; None is as many as the seed says."""

    seed: int
    focus: str = acts.ALL
    acts: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> Leg:
        """Build it from ``to_json``'s object. Raises ``TypeError`` or ``ValueError`` for anything else."""
        leg = cls(**value)
        if leg.focus not in (*acts.FOCI, acts.ALL) or not isinstance(leg.seed, int):
            raise ValueError("no leg of an episode")
        return leg


@dataclass(frozen=True, slots=True)
class Plan:
    """How an episode is to be played. ``alone``: nobody else uses the target, so its clock and holds are ours."""

    legs: tuple[Leg, ...]
    alone: bool = True


@dataclass(slots=True)
class Played:
    """What came of an episode: its latest calls in order, where the time went, and the disagreement that ended it, or None.

    ``legs`` are those that were played, the last as far as it went.
    """

    legs: tuple[Leg, ...]
    exchanges: list[Exchange]
    share: Share
    finding: Disagreement | None = None


@dataclass(slots=True)
class _Way:
    """How far an episode went."""

    legs: list[Leg]

    def begin(self, leg: Leg) -> None:
        """Begin a leg."""
        self.legs.append(replace(leg, acts=0))

    def step(self, number: int) -> None:
        """Count an act of the present leg, from 1."""
        self.legs[-1] = replace(self.legs[-1], acts=number)


def play(
    bench: Bench,
    plan: Plan,
    *,
    watch: Watch | None = None,
    until: Callable[[], bool] = lambda: False,
    reached: Callable[[tuple[Leg, ...]], None] = lambda _legs: None,
) -> Played:
    """Play one episode. ``until`` is asked before each act and ends it; ``reached`` is told after each act what was played."""
    stage: Stage | None = None
    way, ledger, finding = _Way([]), Ledger(), None
    try:
        stage = Stage(bench, _random(plan.legs[0].seed), watch=watch, alone=plan.alone)
        _prologue(stage)
        for leg in plan.legs:
            way.begin(leg)
            _leg(stage, leg, ledger, way, until, reached)
    except Disagreement as disagreement:
        finding = disagreement
    except TargetFault as silence:
        finding = Disagreement("R004", "any operation", Kind.SILENT, reason=str(silence)[:120])
    except CheckFailed as failed:
        finding = Disagreement("R004", "control", Kind.FORM, reason=failed.what, seen=failed.seen)
    finally:
        if stage is not None:
            stage.end()
    exchanges = [] if stage is None else list(stage.world.trace)
    return Played(tuple(way.legs), exchanges, Share() if stage is None else stage.duo.share, finding)


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311  (it chooses what to try, and must choose the same again)


def _leg(
    stage: Stage, leg: Leg, ledger: Ledger, way: _Way, until: Callable[[], bool], reached: Callable[[tuple[Leg, ...]], None]
) -> None:
    random = stage.random = _random(leg.seed)
    focus = random.choice(sorted(acts.FOCI)) if leg.focus == acts.ALL else leg.focus
    table = acts.weights(focus, stage)
    names, bounds = list(table), list(accumulate(table.values()))
    length = random.choices(LENGTHS, HOW_OFTEN)[0]
    for number in range(1, (length if leg.acts is None else leg.acts) + 1):
        if until():
            return
        way.step(number)
        acts.BY_NAME[random.choices(names, cum_weights=bounds)[0]].do(stage)
        ledger.check(stage)
        if stage.sight.timed and stage.chance(TIME_PASSES):
            stage.advance(random.choice((1, 2, 3)))
        reached(tuple(way.legs))


def _prologue(stage: Stage) -> None:
    """Give most of the people something to begin with, and make the first subjects."""
    for name in PROLOGUE:
        if stage.chance(IN_PROLOGUE):
            acts.BY_NAME[name].do(stage)
