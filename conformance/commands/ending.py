"""The signal that asks to end does what Ctrl-C does: everything that is open is closed, and what was started is stopped.

Neither is lost: Python drops what a signal's handler raises while garbage is collected, since hypothesis listens to that, and
with it the wish to end. So it is raised again, a moment later.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MOMENT_SECONDS = 0.1


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` at SIGTERM for as long as the context is open, and again where Python dropped it."""
    handler, hook = signal.signal(signal.SIGTERM, _interrupt), sys.unraisablehook
    sys.unraisablehook = _raised_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _raised_again(dropped: sys.UnraisableHookArgs) -> None:
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    moment = threading.Timer(MOMENT_SECONDS, _ask_again)
    moment.daemon = True
    moment.start()


def _ask_again() -> None:
    """Ask the main thread to end, which may wait for an answer; not where the context was left meanwhile."""
    if signal.getsignal(signal.SIGTERM) is _interrupt and (thread := threading.main_thread().ident) is not None:
        signal.pthread_kill(thread, signal.SIGTERM)
