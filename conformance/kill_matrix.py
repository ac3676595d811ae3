"""The kill matrix: faulty providers x rules, and right variants x rules: the proof that the rule modules bite and are fair.

A fault is killed by a rule when a check of the rule's module FAILs because it saw the rule broken. A timeout, a crash of the
provider or of the suite is no kill. Each cell is a run of its own with the same seed and profile, stopped at the first FAIL.
"""

from __future__ import annotations

import os
import pkgutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from multiprocessing import get_context
from typing import Any, Protocol

from conformance.catalogue import named, rules
from conformance.errors import BadUsage
from conformance.runner import Order, run
from conformance.verdict import CheckResult, RunResult, Verdict

FAULTS = "tests.faults"
VARIANTS = "tests.variants"
CONTROLS = "tests.controls"
EVERY_RULE = "every rule"


class Outcome(StrEnum):
    """How a provider fared under a rule."""

    KILLED = "killed"
    SURVIVED = "survived"
    BROKEN = "no verdict"


class SeededFault(Protocol):
    """A seeded fault as ``tests/faults.py`` lists it."""

    @property
    def name(self) -> str:
        """The name, an identifier."""
        ...

    @property
    def rule(self) -> str:
        """The rule that must catch it."""
        ...

    @property
    def sentence(self) -> str:
        """What it does wrong."""
        ...

    @property
    def source(self) -> str:
        """Where it is from."""
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """One cell to find out: the provider ``name`` of ``module`` under ``rule``, by the bundle of ``schemas``."""

    module: str
    name: str
    rule: str
    profile: str
    seed: int
    schemas: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: ``check_id`` and ``reason`` say which check decided it and why; ``seconds`` is its wall time.

    ``examples`` says how many that check tried, the one that failed with them; 0 where it draws none.
    """

    name: str
    rule: str
    outcome: Outcome
    check_id: str = ""
    reason: str = ""
    seconds: float = 0.0
    examples: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the cell as a JSON object."""
        return {**asdict(self), "outcome": str(self.outcome)}


@dataclass(frozen=True, slots=True)
class Matrix:
    """All cells of a run.

    ``expected`` maps each provider to the rule that must kill it: ``EVERY_RULE`` for the control, None where none may.
    """

    cells: tuple[Cell, ...]
    expected: Mapping[str, str | None]
    seed: int
    profile: str

    def misses(self) -> list[Cell]:
        """List the cells against the bars: faults that their own rule did not kill, right providers that did not survive."""
        return [cell for cell in self.cells if cell.outcome is not self._due(cell)]

    def _due(self, cell: Cell) -> Outcome:
        rule = self.expected[cell.name]
        if rule is None:
            return Outcome.SURVIVED
        return Outcome.KILLED if rule in (cell.rule, EVERY_RULE) else cell.outcome

    def to_json(self) -> dict[str, Any]:
        """Return the matrix as a JSON object."""
        return {
            "format": 1,
            "profile": self.profile,
            "seed": self.seed,
            "expected": dict(self.expected),
            "cells": [cell.to_json() for cell in self.cells],
            "misses": [cell.to_json() for cell in self.misses()],
        }


def seeded() -> Sequence[SeededFault]:
    """Return the seeded faults of the checkout in the current directory. Raises ``BadUsage`` where there is none."""
    faults: Sequence[SeededFault] = _named(FAULTS).FAULTS
    return faults


def variants() -> Sequence[str]:
    """Return the names of the permitted variants of the checkout. Raises ``BadUsage`` where there is none."""
    names: Sequence[str] = _named(VARIANTS).NAMES
    return names


def controls() -> Sequence[str]:
    """Return the names of the providers that break everything. Raises ``BadUsage`` where there is no checkout."""
    names: Sequence[str] = _named(CONTROLS).NAMES
    return names


def _named(module: str) -> Any:
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return pkgutil.resolve_name(module)
    except ImportError as error:
        raise BadUsage(f"the seeded faults are part of the repository: run this in a checkout ({error}).") from error


def trials(
    chosen: Iterable[str], rule_ids: Sequence[str], *, profile: str, seed: int, schemas: str | None = None
) -> Iterator[Trial]:
    """Give the trials of the chosen faults (all: none named), each under its own rule and ``rule_ids``."""
    wanted = set(chosen)
    for fault in seeded():
        if not wanted or fault.name in wanted:
            for rule in dict.fromkeys((fault.rule, *rule_ids)):
                yield Trial(FAULTS, fault.name, rule, profile, seed, schemas)


def control_trials(*, profile: str, seed: int, schemas: str | None = None) -> Iterator[Trial]:
    """Give the trials of the control under every rule."""
    for name in controls():
        yield from (Trial(CONTROLS, name, rule, profile, seed, schemas) for rule in rules())


def freedom_trials(
    chosen: Iterable[str], rule_ids: Sequence[str], *, profile: str, seed: int, schemas: str | None = None
) -> Iterator[Trial]:
    """Give the trials of the chosen permitted variants (all: none named) under ``rule_ids`` (all: none named)."""
    wanted = set(chosen)
    for name in variants():
        if not wanted or name in wanted:
            yield from (Trial(VARIANTS, name, rule, profile, seed, schemas) for rule in rule_ids or rules())


def attempt(trial: Trial) -> Cell:
    """Find out one cell: run the rule's module against the provider."""
    started = time.perf_counter()
    target = f"python:{trial.module}:{trial.name}"
    order = Order(
        target=target,
        profile=trial.profile,
        seed=trial.seed,
        schemas=trial.schemas,
        stop_early=True,
        counterexamples=False,
    )
    result = run(order, [named(trial.rule)])
    return replace(_judged(result, trial), seconds=round(time.perf_counter() - started, 3))


def _judged(result: RunResult, trial: Trial) -> Cell:
    checks = [check for check in result.checks if check.rule_id == trial.rule]
    found = partial(Cell, trial.name, trial.rule)
    for check in checks:
        if check.verdict is Verdict.FAIL and _saw_it_broken(check):
            return found(Outcome.KILLED, check.check_id, check.reason, examples=check.examples)
    for check in checks:
        if check.verdict in (Verdict.FAIL, Verdict.SUITE_ERROR):
            return found(Outcome.BROKEN, check.check_id, check.reason)
    if result.trouble or not checks:
        return found(Outcome.BROKEN, reason="; ".join(result.trouble) or "no check was run")
    return found(Outcome.SURVIVED, reason=_left_out(checks))


def _left_out(checks: Sequence[CheckResult]) -> str:
    """Say why checks of a rule that nothing broke were not applicable or not conclusive, each reason once."""
    silent = [check for check in checks if check.verdict in (Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE)]
    return "; ".join(dict.fromkeys(f"{check.verdict}: {check.reason}" for check in silent))


def _saw_it_broken(check: CheckResult) -> bool:
    return check.failure is not None and not check.failure.transport


def matrix(planned: Sequence[Trial], *, workers: int, seen: Callable[[Cell], None]) -> Matrix:
    """Find out all cells, ``workers`` at a time in processes of their own; ``seen`` is told each as it is known."""
    expected: dict[str, str | None] = {fault.name: fault.rule for fault in seeded()}
    expected.update(dict.fromkeys(variants()))
    expected.update(dict.fromkeys(controls(), EVERY_RULE))
    cells: dict[Trial, Cell] = {}
    with ProcessPoolExecutor(max_workers=max(1, workers), mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(attempt, trial): trial for trial in planned}
        for future in as_completed(futures):
            cell = cells[futures[future]] = future.result()
            seen(cell)
    profile, seed = (planned[0].profile, planned[0].seed) if planned else ("", 0)
    return Matrix(tuple(cells[trial] for trial in planned), expected, seed, profile)
