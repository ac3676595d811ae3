"""How much faster two workers are than one, and how evenly the work falls on them.

    python -m tests.benchmarks.parallel [--profile quick] [--rules R007,R023] [TARGET]

One run by itself learns the weights, then one and two workers run the same. ``share`` is the part of all workers' processor time
that the busiest worker had: 50 % is even. Bar: 1.8 times on an idle machine with two processors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

from tests.benchmarks.processes import below, spent

BAR = 1.8


def timed(arguments: list[str], place: str) -> tuple[float, float, list[float]]:
    """Run the command; return wall seconds, processor seconds of all, and those of each worker."""
    before, began = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "conformance.cli", "run", "-q", *arguments]
    process = subprocess.Popen(command, env={**os.environ, "XDG_CACHE_HOME": place}, stdout=subprocess.DEVNULL)
    workers: dict[int, float] = {}
    while process.poll() is None:
        for child in below(process.pid):
            workers[child] = max(workers.get(child, 0.0), spent(child))
        time.sleep(0.1)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    after = os.times()
    took = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, took, [seconds for seconds in workers.values() if seconds > 0.5]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target", nargs="?", default="oracle")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--rules", default="")
    options = parser.parse_args()
    arguments = [options.target, "--profile", options.profile, *(["--rules", options.rules] if options.rules else [])]
    with TemporaryDirectory() as place:
        timed([*arguments, "-n", "1"], place)
        one, took, _ = timed([*arguments, "-n", "1"], place)
        print(f"-n 1  {one:7.1f} s wall  {took:7.1f} s processor", flush=True)  # noqa: T201
        two, took, shares = timed([*arguments, "-n", "2"], place)
    share = max(shares) / sum(shares)
    print(f"-n 2  {two:7.1f} s wall  {took:7.1f} s processor  the busiest worker's share {share:.1%}")  # noqa: T201
    print(f"{one / two:.2f} times as fast (bar {BAR}, on an idle machine)")  # noqa: T201
    return 0 if one >= BAR * two else 1


if __name__ == "__main__":
    sys.exit(main())
