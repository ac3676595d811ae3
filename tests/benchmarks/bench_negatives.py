"""How many keywords of the request schemas are broken, how exactly, and how fast. One run; prints one table.

    python -m tests.benchmarks.bench_negatives [--examples 3]

Three speeds, in CPU time so that other work on the machine counts less. ``drawn``: edits out of ``negatives.breaking``
under ``@given``, a fresh valid request for each, compilation included (a run of the rule modules pays this). ``drawn again``:
the same once everything is compiled. ``edited``: all edits of one valid request for each target (``negatives.edits_of``),
without hypothesis: the edit and its proof by two validators. Every edit is checked: its base is valid, it is not, and it
breaks one keyword or says which more. Exits with 1 where a target is not reached or an edit is valid.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.wire.bundle import Bundle, load
from strategies.from_schema import from_schema
from strategies.negatives import Edit, Target, breaking, edits_of, targets
from tests.sampling import plainest, some


@dataclass
class Run:
    """What one pass over the targets gave: an edit or more for each that was reached, and the CPU seconds that it took."""

    edits: dict[Target, list[Edit]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def count(self) -> int:
        """How many edits there were."""
        return sum(map(len, self.edits.values()))

    @property
    def rate(self) -> float:
        """Edits per CPU second."""
        return self.count / self.seconds


def drawn(bundle: Bundle, aimed: Sequence[Target], examples: int) -> Run:
    """Draw edits for every target."""
    run = Run()
    start = time.process_time()
    for target in aimed:
        run.edits[target] = some(breaking(bundle, target), examples)
    run.seconds = time.process_time() - start
    return run


def edited(bundle: Bundle, bases: dict[Target, dict[str, Any]]) -> Run:
    """Make every clean edit of one valid request for each target."""
    plain: dict[str, Any] = {}

    def sample(ref: str) -> Any:
        if ref not in plain:
            plain[ref] = plainest(from_schema(bundle, ref))
        return plain[ref]

    for target, base in bases.items():  # what is compiled once is compiled before the clock runs
        next(edits_of(bundle, target, base, sample), None)
    run = Run()
    start = time.process_time()
    for target, base in bases.items():
        run.edits[target] = list(edits_of(bundle, target, base, sample))
    run.seconds = time.process_time() - start
    return run


def promised(bundle: Bundle, run: Run) -> bool:
    """Tell whether every edit is invalid and was made of a valid request."""
    edits = [edit for found in run.edits.values() for edit in found]
    return all(
        bundle.request(edit.target.op).accepts(edit.valid_base) and not bundle.request(edit.target.op).accepts(edit.request)
        for edit in edits
    )


def table(aimed: Sequence[Target], first: Run) -> str:
    """Lay out targets and reached ones by keyword."""
    reached = Counter(target.keyword for target, found in first.edits.items() if found)
    lines = ["keyword".ljust(24) + "targets".rjust(10) + "reached".rjust(10)]
    for keyword, count in Counter(target.keyword for target in aimed).most_common():
        lines.append(keyword.ljust(24) + f"{count}".rjust(10) + f"{reached[keyword]}".rjust(10))
    lines.append(f"targets {len(aimed)}, reached {reached.total()} ({reached.total() / len(aimed):.1%})")
    return "\n".join(lines)


def exactness(first: Run, again: Run) -> str:
    """Say what share of the drawn edits breaks exactly one keyword."""
    edits = [edit for run in (first, again) for found in run.edits.values() for edit in found]
    clean = sum(not edit.also for edit in edits)
    return f"{len(edits)} edits drawn, all of them invalid; exactly one keyword {clean / len(edits):.1%}, else said which more"


def main() -> int:
    """Measure, print, and return 1 where a target is not reached."""
    parser = argparse.ArgumentParser(description="Edits per second of broken requests.")
    parser.add_argument("--examples", type=int, default=3)
    examples = parser.parse_args().examples
    bundle = load()
    aimed = targets(bundle)
    first, again = drawn(bundle, aimed, examples), drawn(bundle, aimed, examples)
    alone = edited(bundle, {target: found[0].valid_base for target, found in first.edits.items() if found})
    holds = all(promised(bundle, run) for run in (first, again, alone))
    speeds = f"edits/s: drawn {first.rate:.0f}, drawn again {again.rate:.0f}, edited {alone.rate:.0f} ({alone.count} edits)"
    heading = f"CPython {platform.python_version()}, {examples} examples a target"
    sys.stdout.write("\n".join((heading, table(aimed, first), exactness(first, again), speeds)) + "\n")
    return 0 if holds and all(first.edits.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
