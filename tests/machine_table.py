"""The seeded faults that the machine must find alone, without the rule modules: ``python -m tests.machine_table``.

Each fault gets a budget of processor seconds (60 by default); the table says when it was found, by how many calls, and which rule
was named. ``--variants SECONDS`` walks over the right oracle and every permitted variant instead: nothing may be found there.
``--json FILE`` appends each row as it comes; ``--table FILE`` writes all as Markdown, with ``--from FILE`` from such rows alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from conformance.bench import Bench
from conformance.machine.walk import Leg, Plan, play
from conformance.target import Target, open_target
from conformance.wire.bundle import Bundle, load
from tests import variants
from tests.faults import FAULTS

RULES = tuple(f"MEM-R{number:03d}" for number in (*range(5, 17), 18, 21, 27))
"""The rules whose faults the machine must find."""

BUDGET = 60.0


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one target: found after ``seconds`` of processor time and ``calls``; ``rule`` is the one that was named."""

    name: str
    found: bool
    rule: str
    what: str
    seconds: float
    calls: int

    def line(self) -> str:
        """Tell it in a line."""
        told = f"{self.rule} {self.what}" if self.found else "not found"
        return f"{self.name:<50} {self.seconds:6.1f} s {self.calls:>7} calls  {told}"


def find(target: str, budget: float, *, first: int = 0) -> Row:
    """Walk over a target until it disagrees or the budget of processor seconds is used up."""
    bundle, began = load(), time.process_time()
    opener = open_target(target, bundle=bundle)

    def spent() -> float:
        return time.process_time() - began

    name = target.rpartition(":")[2]
    try:
        return _walked(name, opener, bundle, spent, budget, first)
    finally:
        opener.close()


def _walked(name: str, opener: Target, bundle: Bundle, spent: Callable[[], float], budget: float, episode: int) -> Row:
    calls, seed = 0, episode
    while spent() < budget:
        opened = opener.open()
        bench = Bench(opened.shim, bundle, opened.facts, seed=seed)
        played = play(bench, Plan((Leg(episode),)), until=lambda: spent() >= budget)
        opener.release(opened)
        calls += played.share.calls
        episode += 1
        if played.finding is not None:
            rule, op, reason = played.finding.key
            return Row(name, True, f"MEM-{rule}", f"{op} {reason}", spent(), calls)
    return Row(name, False, "", "", spent(), calls)


def fault_targets(names: Sequence[str]) -> list[str]:
    """Give the targets of the named faults, or of all that the machine must find."""
    chosen = [fault.name for fault in FAULTS if (fault.name in names if names else fault.rule in RULES)]
    return [f"python:tests.faults:{name}" for name in chosen]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a fault was missed, or a right provider was found wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="faults (default: all of R005-R016, R018, R021, R027)")
    parser.add_argument("--seconds", type=float, default=BUDGET, help="processor seconds for each fault")
    parser.add_argument("--variants", type=float, default=None, metavar="SECONDS", help="walk over right providers instead")
    parser.add_argument("--json", default=None, metavar="FILE", help="write the rows as JSON lines too")
    parser.add_argument("-n", type=int, default=1, help="processes")
    parser.add_argument("--table", default=None, metavar="FILE", help="write the table as Markdown")
    parser.add_argument(
        "--from", dest="rows", default=None, metavar="FILE", help="take the rows of an earlier --json, run nothing"
    )
    options = parser.parse_args(arguments)
    right = options.variants is not None
    targets = ["oracle", *(f"python:tests.variants:{name}" for name in variants.NAMES)] if right else fault_targets(options.names)
    seconds = options.variants if right else options.seconds
    rows = _rows(targets, seconds, options.n, options.json) if options.rows is None else _read(Path(options.rows))
    if options.table is not None:
        Path(options.table).write_text(markdown(rows, seconds), "utf-8")
    wrong = [row for row in rows if row.found == right]
    _summary(rows, wrong, right=right)
    return 1 if wrong else 0


def _rows(targets: Sequence[str], budget: float, processes: int, path: str | None) -> list[Row]:
    rows = []
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(find, target, budget) for target in targets]):
            row = done.result()
            rows.append(row)
            sys.stdout.write(f"{row.line()}\n")
            sys.stdout.flush()
            if path is not None:
                with open(path, "a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    return rows


def _read(path: Path) -> list[Row]:
    """Read rows; of one fault the last counts."""
    rows = [Row(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return list({row.name: row for row in rows}.values())


def markdown(rows: Sequence[Row], seconds: float) -> str:
    """Return the table of faults, the misses first, then by the time that it took."""
    missed = [row for row in rows if not row.found]
    found = sorted((row for row in rows if row.found), key=lambda row: (-row.seconds, row.name))
    times = [row.seconds for row in found]
    return "\n".join(
        (
            "# Seeded faults that the machine finds alone",
            "",
            "Made by `nox -s machine`: each fault of R005–R016, R018, R021 and R027 is walked over from the same seed, without",
            f"the rule modules, on one core, for {seconds:g} s of processor time at the most. The rule is the named one.",
            "",
            f"{len(found)} of {len(rows)} found, {len(missed)} missed; median {median(times) if times else 0:.1f} s, "
            f"longest {max(times, default=0):.1f} s. Python {platform.python_version()}, {platform.machine()}.",
            "",
            "| fault | s | calls | rule | what |",
            "|---|---|---|---|---|",
            *(f"| `{row.name}` | missed | {row.calls} | | |" for row in missed),
            *(f"| `{row.name}` | {row.seconds:.1f} | {row.calls} | {row.rule} | {_cell(row.what)} |" for row in found),
            "",
        )
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _summary(rows: Sequence[Row], wrong: Sequence[Row], *, right: bool) -> None:
    seconds = sum(row.seconds for row in rows)
    calls = sum(row.calls for row in rows)
    sys.stdout.write(
        f"{len(rows) - len(wrong)} of {len(rows)} as they must be, {calls} calls, {calls / seconds:.0f} calls/s of processor\n"
    )
    if not right:
        found = sorted(row.seconds for row in rows if row.found)
        sys.stdout.write(f"median {found[len(found) // 2]:.1f} s\n" if found else "")
    for row in wrong:
        sys.stdout.write(f"  {'wrong' if right else 'missed'}: {row.name}\n")


if __name__ == "__main__":
    sys.exit(main())
