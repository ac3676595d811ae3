"""An episode: a stage, and acts in a random order until there are enough, or the target is wrong.

Same seed, same target answers: the same calls. Each episode has a seed of its own, so that it can be played again alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from conformance.bench import Bench
from conformance.exchange import Exchange
from conformance.expect import CheckFailed
from conformance.machine import acts
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Share, Watch
from conformance.machine.stage import Stage

SHORT, LONG, LONGEST = 60, 160, 700
PROLOGUE = 0.8


@dataclass(frozen=True, slots=True)
class Plan:
    """How an episode is to be played. ``alone``: nobody else uses the target, so its clock and holds are ours."""

    seed: int
    focus: str = acts.ALL
    alone: bool = True


@dataclass(slots=True)
class Played:
    """What came of an episode: its calls in order, where the time went, and the disagreement that ended it, or None."""

    plan: Plan
    exchanges: list[Exchange]
    share: Share
    acts: int
    finding: Disagreement | None = None


def play(bench: Bench, plan: Plan, *, watch: Watch | None = None, until: Callable[[], bool] = lambda: False) -> Played:
    """Play one episode. ``until`` is asked before each act and ends it."""
    random = Random(plan.seed)  # noqa: S311  (it chooses what to try, and must do so again)
    stage: Stage | None = None
    done, finding = 0, None
    try:
        stage = Stage(bench, random, watch=watch, alone=plan.alone)
        done = _acted(stage, plan, until)
        stage.end()
    except Disagreement as disagreement:
        finding = disagreement
    except CheckFailed as failed:
        finding = Disagreement("R004", "control", Kind.FORM, reason=failed.what, seen=failed.seen)
    exchanges = [] if stage is None else list(stage.world.trace)
    return Played(plan, exchanges, Share() if stage is None else stage.duo.share, done, finding)


def _acted(stage: Stage, plan: Plan, until: Callable[[], bool]) -> int:
    random = stage.random
    focus = random.choice(sorted(acts.FOCI)) if plan.focus == acts.ALL else plan.focus
    table = acts.weights(focus, stage)
    names = list(table)
    bounds = list(accumulate(table.values()))
    length = random.choices((SHORT, LONG, LONGEST), (6, 5, 1))[0]
    _prologue(stage)
    for number in range(length):
        if until():
            return number
        acts.BY_NAME[random.choices(names, cum_weights=bounds)[0]].do(stage)
        if stage.sight.timed and stage.chance(0.15):
            stage.advance(random.choice((1, 2, 3)))
    return length


def _prologue(stage: Stage) -> None:
    """Give most of the people something to begin with, and make the first subjects."""
    for name in ("subjects.ensure", "grants.grant", "grants.grant", "grants.delegate", "records.crowd", "candidates.capture"):
        if stage.chance(PROLOGUE):
            acts.BY_NAME[name].do(stage)
