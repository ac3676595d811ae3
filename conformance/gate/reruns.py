"""The suite run by a changed bundle: checks whose verdict is another one, and seeded faults that no longer bite."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.catalogue import Rule
from conformance.gate.revisions import Named
from conformance.kill_matrix import Cell, Outcome, Trial, matrix, seeded, trials
from conformance.profiles import DEFAULT_PROFILE, DEFAULT_SEED
from conformance.runner import Order, run
from conformance.verdict import RunResult

Found = tuple[list[str], list[str]]
"""What was found, and what could not be found out with the reason."""


def verdicts_changed(old: Named, new: Named, profile: str, workers: int, chosen: Sequence[Rule] = ()) -> Found:
    """Run the suite, or the chosen rules, on the oracle by both bundles, and compare check by check."""
    orders = (Order(profile=profile, workers=workers, schemas=one.directory) for one in (old, new))
    before, after = (run(order, chosen) for order in orders)
    ours, theirs = ({check.check_id: check for check in result.checks} for result in (before, after))
    changed = []
    for name in dict.fromkeys([*ours, *theirs]):
        verdicts = [str(checks[name].verdict) if name in checks else "not run" for checks in (ours, theirs)]
        if verdicts[0] != verdicts[1]:
            why = theirs[name].reason if name in theirs else ""
            changed.append(f"{name}: {verdicts[0]} → {verdicts[1]}{f' ({_line(why)})' if why else ''}")
    return changed, [*_trouble(old, before), *_trouble(new, after)]


def _trouble(named: Named, result: RunResult) -> list[str]:
    return [f"the run by {named.bundle.origin}: {sentence}" for sentence in result.trouble]


def _line(text: str) -> str:
    return " ".join(text.split())[:160]


def faults_of(chosen: Sequence[Rule]) -> tuple[str, ...]:
    """Name the seeded faults of the chosen rules. Raises ``BadUsage`` outside of a checkout."""
    ids = {rule.rule_id for rule in chosen}
    return tuple(fault.name for fault in seeded() if fault.rule in ids)


def killed_less(old: Named, new: Named, workers: int, only: Sequence[str] = ()) -> Found:
    """Run the seeded faults (all: none named) by the new bundle, and those that survive by the old one too."""
    after = _cells(only, new, workers)
    spared = [cell.name for cell in after if cell.outcome is not Outcome.KILLED]
    bitten = {cell.name: cell for cell in _cells(spared, old, workers) if cell.outcome is Outcome.KILLED} if spared else {}
    less = [
        f"{cell.name} ({cell.rule}): {_fate(cell)}; {_found(bitten[cell.name], old)}" for cell in after if cell.name in bitten
    ]
    return less, [f"{name}: it does not bite by {old.bundle.origin} either" for name in spared if name not in bitten]


def _fate(cell: Cell) -> str:
    return f"{cell.outcome}{f' ({_line(cell.reason)})' if cell.reason else ''}"


def _found(cell: Cell, old: Named) -> str:
    return f"{cell.check_id} found it by {old.bundle.origin}"


def _cells(names: Sequence[str], by: Named, workers: int) -> tuple[Cell, ...]:
    planned: list[Trial] = list(trials(names, [], profile=DEFAULT_PROFILE, seed=DEFAULT_SEED, schemas=by.directory))
    return matrix(planned, workers=workers, seen=lambda _cell: None).cells
