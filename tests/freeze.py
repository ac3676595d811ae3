"""Freeze what certificates stand on: ``python -m tests.freeze [KILL_MATRIX.json ...]``, in a checkout (``nox -s freeze``).

The requirements of this version are the checks that there are now; a released version's are never changed. A kill matrix is what
``memory-conformance faults --kill-matrix --json FILE`` wrote: the first one is shipped, and several (one for each of some seeds)
say where examples are spent, which ``tests/benchmarks/examples.md`` shows before and after.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from conformance import budget, ledger, requirements
from conformance.collecting import collected

INVARIANTS = Path(__file__).parent.parent / "invariants"
TABLE = Path(__file__).parent / "benchmarks" / "examples.md"
SUITE = metadata.version("memory-conformance")


def main(arguments: Sequence[str]) -> None:
    """Write the files."""
    checks = collected()
    _write(requirements.FILE, {**requirements.frozen(), SUITE: requirements.sets_of(checks)})
    matrices = [json.loads(Path(argument).read_text("utf-8")) for argument in arguments]
    if matrices:
        _write(ledger.FILE, ledger.ledger_of(matrices[0], SUITE))
    if len(matrices) > 1:
        by_mark, latest = budget.marked(checks), budget.falls(matrices)
        examples = budget.spread(by_mark, latest)
        _write(budget.FILE, {"format": budget.FORMAT, "seeds": [matrix["seed"] for matrix in matrices], "examples": examples})
        TABLE.write_text("\n".join(_page(matrices, by_mark, latest, examples)) + "\n", "utf-8")


def _write(name: str, value: Any) -> None:
    (INVARIANTS / name).write_text(json.dumps(value, indent=1) + "\n", "ascii")


def _page(
    matrices: Sequence[Mapping[str, Any]], by_mark: Mapping[str, int], latest: Mapping[str, int], examples: Mapping[str, int]
) -> Iterator[str]:
    """Write the table of the properties."""
    felled = [cell["examples"] for matrix in matrices for cell in matrix["cells"] if cell["examples"]]
    at_once = sum(number == 1 for number in felled)
    yield "# At which example faults fall, and how many each property tries\n"
    yield (
        "Made by `nox -s freeze` from the kill matrices of the seeds "
        f"{', '.join(str(matrix['seed']) for matrix in matrices)}. A property felled a fault first {len(felled)} times, "
        f"{at_once} times with its first example.\nA property keeps half of what its mark says (quick profile); the other halves "
        f"are shared out by how late faults fell, up to {budget.MOST} times the mark. `full` tries ten times as many.\n"
    )
    yield f"{len(by_mark)} properties, {sum(by_mark.values())} examples before, {sum(examples.values())} after.\n"
    yield "| property | latest fall | examples before | after |\n|---|---:|---:|---:|"
    for name in sorted(by_mark, key=lambda name: (-latest.get(name, 0), name)):
        yield f"| `{name}` | {latest.get(name, '')} | {by_mark[name]} | {examples[name]} |"


if __name__ == "__main__":
    main(sys.argv[1:])
