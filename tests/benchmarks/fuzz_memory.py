"""How much memory fuzz holds while it goes on: ``python -m tests.benchmarks.fuzz_memory [MINUTES]``.

The oracle is walked over by one worker for 20 minutes (or as many as named). Bar: what it holds at the end is within 10 % of
what it held after the first tenth (2 of 20 minutes).
"""

from __future__ import annotations

import subprocess
import sys
import time

from tests.benchmarks.processes import mebibytes

BAR = 1.10
EVERY = 5.0


def main(arguments: list[str]) -> int:
    """Measure, print a row a minute, and say whether the bar is kept."""
    minutes = float(arguments[0]) if arguments else 20.0
    command = [sys.executable, "-m", "conformance.cli", "fuzz", "oracle", "-n", "1", "-q", "--minutes", str(minutes)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    samples: list[tuple[float, float]] = []
    try:
        began = time.monotonic()
        while process.poll() is None:
            samples.append((time.monotonic() - began, mebibytes(process.pid)))
            time.sleep(EVERY)
        said = process.communicate()[0]
    finally:
        process.kill()
    _tell(samples, minutes)
    sys.stdout.write(said)
    early, late = _around(samples, minutes * 6), _around(samples, minutes * 60 - EVERY)
    held = f"{early:.1f} MiB after {minutes / 10:g} min, {late:.1f} MiB after {minutes:g} min"
    sys.stdout.write(f"{held}: {late / early:.2f} times (bar {BAR})\n")
    return 0 if process.returncode == 0 and late <= early * BAR else 1


def _tell(samples: list[tuple[float, float]], minutes: float) -> None:
    steps = 20
    for step in range(1, steps + 1):
        at = minutes * 60 * step / steps
        sys.stdout.write(f"{at / 60:5.1f} min  {_around(samples, at):7.1f} MiB\n")


def _around(samples: list[tuple[float, float]], at: float) -> float:
    """Give the sample that is nearest; the process of a worker is there from its first seconds on."""
    return min(samples, key=lambda sample: abs(sample[0] - at))[1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
