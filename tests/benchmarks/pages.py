"""The pages that benchmarks write: when, of what and on what was measured, and which bars are kept."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def machine_and_commit() -> str:
    """Say when, of what and on what something was measured."""
    return f"{datetime.now(UTC):%Y-%m-%d}, commit `{_commit()}`, {_machine()}"


def reported(page: Iterable[str], bars: Mapping[str, bool], file: Path) -> int:
    """Write the lines of a page into a file and out, say which bars are kept, and give the exit code: 1 where one is not."""
    told = "\n".join(page) + "\n"
    file.write_text(told, "utf-8")
    sys.stdout.write(told)
    for bar, holds in bars.items():
        sys.stdout.write(f"{'kept' if holds else 'BROKEN'}: {bar}\n")
    return 0 if all(bars.values()) else 1


def _commit() -> str:
    said = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} processors ({model}), {platform.python_implementation()} {platform.python_version()}"
