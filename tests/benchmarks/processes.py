"""What processes cost, a process with all below it: read from ``/proc``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def below(pid: int) -> Iterator[int]:
    """Walk all processes that a process has started, and those have."""
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    except OSError:
        return  # it has just ended
    for child in children:
        yield child
        yield from below(child)


def spent(pid: int) -> float:
    """Give the processor seconds of a process, and of those of its children that have ended; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICK


def spent_by_all(pid: int) -> float:
    """Give the processor seconds of a process and of all below it."""
    return spent(pid) + sum(map(spent, below(pid)))


def mebibytes(pid: int) -> float:
    """Give the resident memory of a process and of all below it."""
    return sum(map(_pages, (pid, *below(pid)))) * PAGE / 2**20


def _pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except OSError:
        return 0
