"""How short the counterexamples of the seeded faults are. One line a fault, then the median.

    python -m tests.benchmarks.bench_counterexamples [--every 10] [--workers 2] [FAULT ...]

For each fault its own rule is run, without hypothesis's shrinking, up to the first check that fails. The length is the number of
calls without the grants that they need. Exits with 1 where the median is above six, a fault has no failure, or one of the
counterexamples does not replay: FAILED on the fault, FIXED on the oracle.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median

from conformance.catalogue import named
from conformance.counterexample import Counterexample, Kind
from conformance.rehearsal import Stage
from conformance.replay import Status, replayed
from conformance.runner import Order, run
from conformance.target import open_target
from conformance.verdict import Verdict
from conformance.wire.bundle import load
from tests.faults import BY_NAME, FAULTS

BAR = 6


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one fault."""

    name: str
    seconds: float
    check: str = ""
    reason: str = ""
    trace: int = 0
    example: Counterexample | None = None
    replays: bool = True

    @property
    def length(self) -> int | None:
        """The number of calls beyond grants; None where there are no calls that show it."""
        found = self.example
        return None if found is None or found.expectation.kind is Kind.CHECK else len(found.calls) - found.setting


def look(name: str) -> Row:
    """Run the rule of a fault and return its first counterexample."""
    started = time.perf_counter()
    order = Order(f"python:tests.faults:{name}", "quick", stop_early=True)
    result = run(order, [named(BY_NAME[name].rule)])
    failed = next((check for check in result.checks if check.verdict is Verdict.FAIL), None)
    seconds = time.perf_counter() - started
    if failed is None:
        return Row(name, seconds)
    found = failed.counterexample
    return Row(name, seconds, failed.check_id, failed.reason, len(failed.trace), found, found is None or _replays(name, found))


def _replays(name: str, found: Counterexample) -> bool:
    """Say whether the counterexample, read from its JSON, fails on the fault and not on the oracle.

    What only its check can tell is not asked again.
    """
    if found.expectation.kind is Kind.CHECK:
        return True
    again, statuses = Counterexample.of_json(json.loads(json.dumps(found.to_json()))), []
    for text in (f"python:tests.faults:{name}", "oracle"):
        opened = open_target(text, bundle=load()).open()
        statuses.append(replayed(again, Stage(opened, load())).status)
        opened.shim.close()
    return statuses == [Status.FAILED, Status.FIXED]


def told(row: Row) -> str:
    """Say a row in a line."""
    if row.length is None:
        return f"{row.name:<46}{'-':>5}{'':>7}{row.trace:>7}{row.seconds:>7.1f}  {row.check.partition('.')[2]}: {row.reason}"[
            :200
        ]
    kind = "" if row.example is None else row.example.expectation.kind
    odd = "" if row.replays else "  DOES NOT REPLAY"
    grants = "" if row.example is None else row.example.setting
    return f"{row.name:<46}{row.length:>5}{grants:>7}{row.trace:>7}{row.seconds:>7.1f}  {kind}{odd}"


def chosen(names: Sequence[str], every: int) -> list[str]:
    """Return the faults to look at."""
    return list(names) or [fault.name for fault in FAULTS[::every]]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    sys.stdout.write(f"{'fault':<46}{'calls':>5}{'grants':>7}{'trace':>7}{'s':>7}\n")
    rows: list[Row] = []
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        for row in pool.map(look, chosen(options.names, options.every)):
            rows.append(row)
            sys.stdout.write(f"{told(row)}\n")
            sys.stdout.flush()
    lengths = [row.length for row in rows if row.length is not None]
    middle = median(lengths) if lengths else float("inf")
    beyond = f"median {middle:g} calls beyond grants (bar {BAR}), longest {max(lengths, default=0)}"
    sys.stdout.write(f"{len(lengths)} of {len(rows)} faults have one; {beyond}\n")
    return 0 if middle <= BAR and all(row.check and row.replays for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
