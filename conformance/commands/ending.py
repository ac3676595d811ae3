"""The signal that asks to end does what Ctrl-C does: everything that is open is closed, and what was started is stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at SIGTERM for as long as the context is open."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
