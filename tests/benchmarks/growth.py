"""What a check costs in a space that holds 10, 1,000 and 100,000 records already; writes ``tests/benchmarks/growth.md``.

    python -m tests.benchmarks.growth [--records 10,1000,100000] [--rules R007,R016] [--to FILE]

The records came by an import, and the checks share the space, as they do where a provider makes no spaces. Bars: a check sends
the same calls whatever the space holds, but for those that export the whole space and bring it back, whose calls and time grow as
the space does; and the suite's own time a call stays. What the provider takes is its own affair.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.catalogue import named
from conformance.runner import Order, run
from conformance.verdict import RunResult
from tests.benchmarks.full_house import house
from tests.benchmarks.pages import machine_and_commit, reported
from tests.benchmarks.sampling import ENGINE, PROVIDER, SUITE, sampled

RESULTS = Path(__file__).with_name("growth.md")
RULES = "R006,R007,R009,R014,R016,R017,R021,R022,R023"
MOVING = ("R005", "R007", "R027")
"""These export the space; an import replaces what is there, so that less than all would be a loss."""
FLAT = 1.5
FULL = 1_000
GROWING = 4.0
"""From 1,000 to 100,000 records a quadratic step would make each a hundred times as dear; too small caches do not."""
MODULE = "tests.benchmarks.full_house"


@dataclass(frozen=True, slots=True)
class Part:
    """A run of some checks: the processor seconds of the suite and of the provider."""

    result: RunResult
    suite: float
    provider: float

    @property
    def calls(self) -> dict[str, int]:
        """The calls of each check that passed."""
        return {check.check_id: check.calls for check in self.result.checks if check.verdict == "PASS"}

    def each(self, seconds: float) -> float:
        """Microseconds a call."""
        return seconds / (sum(self.calls.values()) or 1) * 1e6


@dataclass(frozen=True, slots=True)
class Column:
    """Runs over spaces that hold so many ``records``: of the checks that stay in them, and of those that move them."""

    records: int
    filled: float
    still: Part
    moved: Part

    @property
    def calls(self) -> dict[str, int]:
        """The calls of each check that passed."""
        return {**self.still.calls, **self.moved.calls}

    def seconds(self, check_id: str) -> float:
        """Give the wall time of a check."""
        checks = (*self.still.result.checks, *self.moved.result.checks)
        return next(check.seconds for check in checks if check.check_id == check_id)


def measured(records: int, rules: str) -> Column:
    """Fill a house, and run the checks in it."""
    began = time.process_time()
    homes = house(records).homes
    filled = time.process_time() - began
    chosen = rules.split(",")
    with TemporaryDirectory() as place:
        file = Path(place) / "target.toml"
        spaces = ", ".join(
            f'{{ space_id = "{home.space_id}", root = {{ principal_id = "{home.root.principal_id}", '
            f'credential = "{home.root.credential}" }} }}'
            for home in homes
        )
        file.write_text(f'target = "python:{MODULE}:house_{records}"\ndeadline = 600\nspaces = [{spaces}]\n', "utf-8")
        still = part(str(file), [rule for rule in chosen if rule not in MOVING])
        return Column(records, filled, still, part(str(file), [rule for rule in chosen if rule in MOVING]))


def part(target: str, rules: list[str]) -> Part:
    """Run the checks of some rules."""
    began = time.process_time()
    with sampled() as looks:
        result = run(Order(target, "smoke"), list(map(named, rules)))
    spent = time.process_time() - began
    if result.trouble or any(check.verdict in {"FAIL", "SUITE_ERROR"} for check in result.checks):
        raise SystemExit(f"{target}: {[check.reason for check in result.checks if check.verdict != 'PASS']}")
    shares = looks.shares()
    return Part(result, spent * (shares[SUITE] + shares[ENGINE]), spent * shares[PROVIDER])


def page(columns: list[Column]) -> Iterator[str]:
    """Write the tables."""
    yield "# Checks in spaces that hold much already\n"
    yield f"Written by `nox -s growth` on {machine_and_commit()}."
    yield "Profile smoke; processor time, a single check's by the clock. Some checks move the space: export and bring it back.\n"
    yield "| records in each space | import s | calls | suite µs each | provider µs each | moves: calls | suite s | provider s |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|"
    for column in columns:
        still, moved = column.still, column.moved
        costs = f"{still.each(still.suite):,.0f} | {still.each(still.provider):,.0f}"
        moves = f"{sum(moved.calls.values()):,} | {moved.suite:.2f} | {moved.provider:.2f}"
        yield f"| {column.records:,} | {column.filled:.1f} | {sum(still.calls.values()):,} | {costs} | {moves} |"
    yield "\n| check | " + " | ".join(f"calls at {column.records:,} | s" for column in columns) + " |"
    yield "|---|" + "---:|---:|" * len(columns)
    for check_id in columns[0].calls:
        cells = (f"{column.calls[check_id]} | {column.seconds(check_id):.2f}" for column in columns)
        yield f"| {check_id} | " + " | ".join(cells) + " |"


def kept(columns: list[Column]) -> dict[str, bool]:
    """Say which bars are kept."""
    costs = [column.still.each(column.still.suite) for column in columns]
    return {
        f"no check but those that move the space ({', '.join(sorted(moving(columns))) or 'none'}) sends more calls": all(
            rule_of(check_id) in MOVING for check_id in moving(columns)
        ),
        "no check's calls grow faster than the space": all(_at_most_linear(columns, check_id) for check_id in moving(columns)),
        f"the suite's time a call within {FLAT:g} times": max(costs) <= FLAT * min(costs),
        "the suite's time for a move grows no faster than the space": _no_quadratic_step(columns),
    }


def _no_quadratic_step(columns: list[Column]) -> bool:
    """Compare the suite's seconds a record, between spaces that are so full that the rest of a check is little beside it."""
    full = [column.moved.suite / column.records for column in columns if column.records >= FULL]
    return all(later <= GROWING * earlier for earlier, later in pairwise(full))


def moving(columns: list[Column]) -> set[str]:
    """Name the checks that send more calls to a fuller space."""
    return {check_id for check_id, calls in columns[0].calls.items() if any(c.calls.get(check_id) != calls for c in columns)}


def rule_of(check_id: str) -> str:
    """Give a check's rule, without its prefix."""
    return check_id.removeprefix("MEM-").partition(".")[0]


def _at_most_linear(columns: list[Column], check_id: str) -> bool:
    first, *others = columns
    more = [(column.records - first.records, column.calls[check_id] - first.calls[check_id]) for column in others]
    return all(calls / records <= 1.1 * more[0][1] / more[0][0] for records, calls in more)


def main() -> int:
    """Measure, write, and say which bars are kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", default="10,1000,100000")
    parser.add_argument("--rules", default=RULES)
    parser.add_argument("--to", type=Path, default=RESULTS)
    options = parser.parse_args()
    measured(1, options.rules)  # what is made once in a process is not measured
    columns = [measured(int(records), options.rules) for records in options.records.split(",")]
    return reported(page(columns), kept(columns), options.to)


if __name__ == "__main__":
    sys.exit(main())
