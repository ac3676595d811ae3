"""The schema gate: classes right, witnesses, seconds a changed type; beside it a public differ of JSON Schema.

    python -m tests.benchmarks.bench_schema_diff [--differ PYTHON] [--table FILE]

PYTHON is an interpreter that has jsonsubschema, in an environment of its own (``nox -s schema_diff`` makes one); ``--table``
writes what was measured as Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from conformance.gate.comparison import compare
from conformance.gate.outcome import Policy
from conformance.wire.bundle import load
from tests.benchmarks.pages import machine_and_commit
from tests.changed_bundles import changed_bundle
from tests.gate_pairs import Case, cases, judged

DIFFER = Path(__file__).with_name("other_differ.py")
SECONDS_A_TYPE = 1.0
DIFFER_SECONDS = 300


@dataclass(frozen=True)
class Row:
    """How one tool did on all cases; ``witnessed`` of ``due`` differences have an instance that shows them."""

    tool: str
    right: int
    wrong: int
    silent: int
    witnessed: int
    due: int
    median_ms: float
    missed: tuple[str, ...] = ()

    def cells(self) -> str:
        """Write the row as one of a Markdown table."""
        witnesses = f"{self.witnessed} of {self.due}" if self.witnessed else "none"
        return f"| {self.tool} | {self.right} | {self.wrong} | {self.silent} | {witnesses} | {self.median_ms:.1f} |"

    def line(self) -> str:
        """Write the row."""
        counts = f"{self.right:>7}{self.wrong:>7}{self.silent:>11}{f'{self.witnessed}/{self.due}':>12}{self.median_ms:>9.1f}"
        return f"{self.tool:<28}{counts}"


def ours(wanted: Sequence[Case]) -> Row:
    """Judge all cases by the gate."""
    told, seconds, witnessed, due = [], [], 0, 0
    for case in wanted:
        started = time.perf_counter()
        found = judged(case.old, case.new, examples=20)
        seconds.append(time.perf_counter() - started)
        told.append(found.relation)
        due += {"same": 0, "wider": 1, "narrower": 1, "other": 2}[case.relation]
        witnessed += bool(found.narrowed.broken) + bool(found.widened.broken)
    return _row("schemas diff", wanted, told, seconds, witnessed, due)


def theirs(wanted: Sequence[Case], python: str) -> Row:
    """Judge all cases by the other differ, in its own environment."""
    pairs = json.dumps([[case.old, case.new] for case in wanted])
    done = subprocess.run([python, str(DIFFER)], input=pairs, capture_output=True, text=True, timeout=DIFFER_SECONDS, check=True)
    said = json.loads(done.stdout)
    due = sum({"same": 0, "wider": 1, "narrower": 1, "other": 2}[case.relation] for case in wanted)
    return _row(said["tool"], wanted, said["relations"], said["seconds"], 0, due)


def _row(tool: str, wanted: Sequence[Case], told: Sequence[str], seconds: Sequence[float], witnessed: int, due: int) -> Row:
    right = sum(case.relation == relation for case, relation in zip(wanted, told, strict=True))
    silent = sum(relation == "unknown" for relation in told)
    pairs = zip(wanted, told, strict=True)
    missed = tuple(f"{case.name}: {relation}, it is {case.relation}" for case, relation in pairs if relation != case.relation)
    sys.stdout.writelines(f"  {tool}: {line}\n" for line in missed)
    return Row(tool, right, len(wanted) - right - silent, silent, witnessed, due, median(seconds) * 1000, missed)


def seconds_a_type() -> list[float]:
    """Change a definition that nearly every type of the packaged bundle has, and time each type."""
    with tempfile.TemporaryDirectory() as room:
        edit = {"common/common": lambda document: document["definitions"]["Id"].update(maxLength=64)}
        new = load(changed_bundle(Path(room) / "new", edit))
        return [change.seconds for change in compare(load(), new, Policy()).types if change.roles]


def markdown(wanted: Sequence[Case], rows: Sequence[Row], seconds: Sequence[float], differ_missed: Sequence[str]) -> str:
    """Write what was measured, with the commit and the machine."""
    counts = Counter(case.relation for case in wanted)
    lines = [
        "# What the schema gate tells of changes with a known class",
        "",
        f"Made by `nox -s schema_diff` on {machine_and_commit()}, load {os.getloadavg()[0]:.1f}.",
        f"{len(wanted)} changes of `tests/gate_cases` "
        f"({', '.join(f'{counts[relation]} {relation}' for relation in sorted(counts))}), each compared in both directions.",
        "A witness is an instance that one side accepts and the other refuses; one is due for each direction that differs.",
        "",
        "| tool | right | wrong | no answer | witnesses | median ms |",
        "|---|---|---|---|---|---|",
        *(row.cells() for row in rows),
        "",
        f"A change of one definition that {len(seconds)} types of the packaged bundle have: "
        f"median {median(seconds):.2f} s a type, longest {max(seconds):.2f} s, "
        f"{sum(seconds):.0f} s in all (20 instances tried in each direction).",
        "",
        f"The bars: all right, each witness there, a median below {SECONDS_A_TYPE:g} s a type.",
        "",
    ]
    if differ_missed:
        lines += ["What the other one says that is not so, or does not say:", "", *(f"- {line}" for line in differ_missed), ""]
    return "\n".join(lines)


def main() -> int:
    """Print the table; exit 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--differ", metavar="PYTHON", help="an interpreter that has jsonsubschema")
    parser.add_argument("--table", metavar="FILE", help="write what was measured as Markdown")
    options = parser.parse_args()
    wanted = cases()
    rows = [ours(wanted), *([theirs(wanted, options.differ)] if options.differ else [])]
    sys.stdout.write(f"\n{len(wanted)} changes{'':<19}right  wrong  no answer   witnesses       ms\n")
    sys.stdout.writelines(f"{row.line()}\n" for row in rows)
    seconds = seconds_a_type()
    sys.stdout.write(
        f"\na change of Id: {len(seconds)} types, median {median(seconds):.2f} s a type, longest {max(seconds):.2f} s\n"
    )
    if options.table:
        told = markdown(wanted, rows, seconds, [line for row in rows[1:] for line in row.missed])
        Path(options.table).write_text(told, "utf-8")
    missed = rows[0].right < len(wanted) or rows[0].witnessed < rows[0].due or median(seconds) >= SECONDS_A_TYPE
    sys.stdout.write("a bar is missed\n" if missed else "every bar is met\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
