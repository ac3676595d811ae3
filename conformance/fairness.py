"""Calls that are sent together, and what their answers may be blamed for: nobody is to blame for who wins a race."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.counterexample import Kind, Said
from conformance.disagreement import Difference
from conformance.exchange import CONTROL_PREFIX
from conformance.rehearsal import Heard


def fair(calls: Sequence[Said], differences: Sequence[Difference], target: Heard, model: Heard) -> list[Difference]:
    """Return the differences without those that only say who won a race: which of the calls sent together wins is nobody's fault.

    That more than one of them commits where in turn one would is a difference; so is a number that is told after the race. After
    a race that the same calls won on both sides all goes on as it did before.
    """
    races = [range(first, group_end(calls, first)) for first in _first_of_groups(calls)]
    heard = min(len(target.answers), len(model.answers))
    races = [race for race in races if race.stop <= heard]
    begun = next((race.start for race in races if not _won_alike(race, target, model)), len(calls))
    kept = [
        found
        for found in differences
        if found.call < begun or found.kind is Kind.FORM or (isinstance(found.expected, int) and not calls[found.call].together)
    ]
    for race in races:
        won, right = (sum(not side.answers[number].outcome for number in race) for side in (target, model))
        if right == 1 < won and not any(calls[number].op.startswith(CONTROL_PREFIX) for number in race):
            kept.append(Difference(race.stop - 1, Kind.ONE_COMMITS, seen=f"{won} of {len(race)} committed"))
    return kept


def _won_alike(race: range, target: Heard, model: Heard) -> bool:
    """Say whether each of the calls sent together came to the same end on both sides."""
    return all(target.answers[number].outcome == model.answers[number].outcome for number in race)


def _first_of_groups(calls: Sequence[Said]) -> list[int]:
    """Return the numbers of the calls that begin a group of calls sent together."""
    before = [0, *(said.together for said in calls)]
    return [number for number, said in enumerate(calls) if said.together and said.together != before[number]]


def group_end(calls: Sequence[Said], number: int) -> int:
    """Return the number after the last call of the group that a call is sent in."""
    end = number + 1
    while calls[number].together and end < len(calls) and calls[end].together == calls[number].together:
        end += 1
    return end


def last_group(calls: Sequence[Said]) -> range:
    """Return the numbers of the calls that are sent with the last one."""
    together = calls[-1].together
    first = len(calls) - 1
    while together and first > 0 and calls[first - 1].together == together:
        first -= 1
    return range(first, len(calls))
