"""How often Python looks for garbage while a target is under test."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 10_000


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let Python look for garbage less often, and only among what is made from now on.

    A run makes little that holds itself, what was there before stays, and looking would take a twelfth of the time.
    """
    usual = gc.get_threshold()
    gc.set_threshold(YOUNG_OBJECTS, *usual[1:])
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)
