"""How often Python looks for garbage while a target is under test."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 10_000


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let Python look for garbage less often: a run makes little that holds itself, and looking takes a twelfth of its time."""
    usual = gc.get_threshold()
    gc.set_threshold(YOUNG_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
