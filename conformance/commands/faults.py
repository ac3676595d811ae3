"""``memory-conformance faults``: the seeded faulty providers, and the proof that each is caught (rules.md, Seeded faults)."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from conformance.catalogue import rules
from conformance.errors import BadUsage
from conformance.kill_matrix import (
    EVERY_RULE,
    Cell,
    Matrix,
    Outcome,
    Trial,
    control_trials,
    freedom_trials,
    matrix,
    seeded,
    trials,
    variants,
)
from conformance.profiles import profile_named
from conformance.wire.bundle import load


def main(options: Namespace) -> int:
    """List the faults, or run the matrix: exit 0 when every bar holds, 1 when one does not. Raises ``BadInput``."""
    profile_named(options.profile)
    load(options.schemas)  # a bundle that cannot be read is told before anything runs
    if not (options.kill_matrix or options.freedom):
        return _list(_names(options.only))
    planned = list(_planned(options))
    if options.json:
        _written(Path(options.json))
    found = matrix(planned, workers=options.workers, seen=_said)
    _summary(found)
    if options.json:
        _written(Path(options.json), json.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n")
    return 1 if found.misses() else 0


def _written(path: Path, text: str = "") -> None:
    """Write a text into a file; without one, only see that it can be written. Raises ``BadUsage``."""
    try:
        with path.open("a" if not text else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadUsage(f"{path}: the matrix cannot be written: {error.strerror}.") from error


def _planned(options: Namespace) -> Iterator[Trial]:
    names = _names(options.only)
    asked = {"profile": options.profile, "seed": options.seed, "schemas": options.schemas}
    if options.kill_matrix:
        yield from trials(names, list(rules()) if options.all_rules else [], **asked)
        if not names:
            yield from control_trials(**asked)
    if options.freedom:
        yield from freedom_trials([name for name in names if name in variants()], [], **asked)


def _names(only: str) -> list[str]:
    """Read the names asked for; a rule stands for its faults. Raises ``BadUsage`` for an unknown one."""
    found: list[str] = []
    for text in filter(None, (part.strip() for part in only.split(","))):
        of_rule = [fault.name for fault in seeded() if fault.rule == f"MEM-{text.upper().removeprefix('MEM-')}"]
        alone = [name for name in (*(fault.name for fault in seeded()), *variants()) if name == text]
        if not (of_rule or alone):
            raise BadUsage(f"no seeded fault or permitted variant is named {text!r} (memory-conformance faults lists them).")
        found += of_rule or alone
    return found


def _list(names: Sequence[str]) -> int:
    table = Table("rule", "fault", "what it does wrong", "from")
    for fault in seeded():
        if not names or fault.name in names:
            table.add_row(fault.rule, fault.name, fault.sentence, fault.source)
    Console(highlight=False).print(table)
    return 0


def _said(cell: Cell) -> None:
    sys.stderr.write(f"{cell.outcome:<10} {cell.rule}  {cell.name}  {cell.seconds:.1f} s  {cell.check_id}\n")


def _summary(found: Matrix) -> None:
    console = Console(highlight=False)
    table = Table("rule", "cells", "killed", "survived", "no verdict", "seconds")
    for rule in rules():
        cells = [cell for cell in found.cells if cell.rule == rule]
        if cells:
            counts = [str(sum(cell.outcome is outcome for cell in cells)) for outcome in Outcome]
            table.add_row(rule, str(len(cells)), *counts, f"{sum(cell.seconds for cell in cells):.0f}")
    console.print(table)
    for cell in found.misses():
        due = found.expected[cell.name]
        wanted = f"must be killed by {due}" if due else "is right and must survive"
        console.print(
            f"MISS {cell.name} ({wanted}): {cell.outcome} under {cell.rule} {cell.check_id} {cell.reason}", markup=False
        )
    own = [cell for cell in found.cells if found.expected[cell.name] == cell.rule]
    killed = sum(cell.outcome is Outcome.KILLED for cell in own)
    control = sum(cell.outcome is Outcome.KILLED for cell in found.cells if found.expected[cell.name] == EVERY_RULE)
    console.print(
        f"{len(found.cells)} cells: {killed} of {len(own)} faults killed by their own rule, "
        f"the control killed by {control} rules, {len(found.misses())} misses"
    )
