"""What tests of signals need: to hear Ctrl-C, and to have something happen while garbage is collected."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def hears_ctrl_c() -> None:
    """Undo, in a new process, what a shell does to a job in the background: such a one does not hear Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def while_collected(act: Callable[[], object]) -> Iterator[None]:
    """Do something once in the middle of the next garbage collection; what it raises there is dropped by Python."""

    def at(phase: str, _info: object) -> None:
        if phase == "start":
            gc.callbacks.remove(at)
            act()

    gc.callbacks.append(at)
    yield
    assert at not in gc.callbacks, "nothing was collected"
