"""Whatever ends a run, nothing that it started is left: no provider, no server, no worker, no child of theirs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.transport.guardian import Guardian
from tests.signals import hears_ctrl_c

ROOT = Path(__file__).parent.parent
STUBBORN = f"{sys.executable} {ROOT / 'tests' / 'stubborn.py'}"
PATIENCE = 120.0


def until(true: Callable[[], bool]) -> bool:
    """Wait until something is true, for a while at most."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    """Say whether a process is there that is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """List the processes that ``pid`` started and that are its own still."""
    return [int(word) for file in Path(f"/proc/{pid}/task").glob("*/children") for word in file.read_text("ascii").split()]


def noted(directory: Path) -> list[int]:
    return [int(file.stem) for file in directory.iterdir()]


def asked(directory: Path) -> int:
    return len(list(directory.glob("*.asked")))


def target_file(tmp_path: Path) -> tuple[Path, Path]:
    """Write a target file with a provider and a server, both stubborn; return it and where their process ids come."""
    notes = tmp_path / "notes"
    notes.mkdir()
    file = tmp_path / "target.toml"
    space = 'spaces = [{ space_id = "s", root = { principal_id = "p", credential = "c" } }]'
    file.write_text(f'target = "stdio:{STUBBORN} {notes}"\nstart = "{STUBBORN} {notes}"\nready = "up"\ndeadline = 50\n{space}\n')
    return file, notes


@pytest.mark.parametrize(
    ("number", "workers"),
    [(signal.SIGTERM, 2), (signal.SIGINT, 0), (signal.SIGKILL, 0), (signal.SIGKILL, 2)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_nothing_is_left_of_a_run_that_a_signal_ends(number: signal.Signals, workers: int, tmp_path: Path) -> None:
    file, notes = target_file(tmp_path)
    command = [sys.executable, "-m", "conformance.cli", "run", str(file), "--profile", "smoke", "-n", str(workers), "-q"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=hears_ctrl_c
    )
    try:
        assert until(lambda: asked(notes) >= max(1, workers)), "the run did not begin"
        started = [pid for pid in (*noted(notes), *children(process.pid)) if alive(pid)]
        assert len(started) >= 2 + 2 * max(1, workers), "a server, a provider for each that runs checks, and their children"
        process.send_signal(number)
        said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 3)
        assert "Traceback" not in said
        assert until(lambda: not any(map(alive, [*started, *noted(notes)]))), "something is left"
    finally:
        process.kill()
        process.communicate()


def test_a_guardian_ends_what_it_watches_and_nothing_else() -> None:
    kept, forgotten, unknown = (
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) for _ in range(3)
    )
    guardian = Guardian()
    guardian.watch(kept.pid)
    guardian.watch(forgotten.pid)
    guardian.forget(forgotten.pid)
    assert alive(kept.pid)
    guardian.close()
    assert kept.wait(PATIENCE) == -signal.SIGKILL
    assert (forgotten.poll(), unknown.poll()) == (None, None)
    for process in (forgotten, unknown):
        process.kill()
        process.wait()


def test_a_guardian_that_was_ended_stops_nobody() -> None:
    guardian = Guardian()
    os.kill(guardian._process.pid, signal.SIGKILL)
    guardian._process.wait()
    guardian.watch(2**22)
    guardian.close()
