"""Who may use a shared provider now: checks that turn its clock, hold its operations or restart it are alone with it.

The others share it. Two locks make a turnstile: everyone passes the first to get at the second, and who wants to be alone keeps
the first until all others have left, so that those who come later cannot keep it out for ever.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

ALONE = frozenset({"clock", "hold", "restart"})
"""The levers that move the whole provider (harness.md)."""


class Turns:
    """The turns at the target that is written ``text``, among all processes of a person on this machine."""

    def __init__(self, text: str) -> None:
        self._name = hashlib.sha256(text.encode()).hexdigest()[:32]

    @contextmanager
    def taken(self, controls: Collection[str]) -> Iterator[None]:
        """Wait for a turn: alone where one of ``controls`` moves the whole provider, else with others."""
        kind = fcntl.LOCK_EX if ALONE.intersection(controls) else fcntl.LOCK_SH
        with self._open("main") as main:
            with self._open("gate") as gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                fcntl.flock(main, kind)
            yield

    @contextmanager
    def _open(self, part: str) -> Iterator[int]:
        """Open a lock file; closing it gives the lock back."""
        number = os.open(_directory() / f"{self._name}.{part}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            yield number
        finally:
            os.close(number)


def _directory() -> Path:
    made = Path(tempfile.gettempdir()) / f"memory-conformance-{os.getuid()}"
    made.mkdir(mode=0o700, exist_ok=True)
    return made
