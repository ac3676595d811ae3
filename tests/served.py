"""The oracle as served in tests: by a clock of its own, so that two runs get the same answers."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from conformance.oracle import Clock, Oracle, authority
from conformance.transport.openers import START, STEP
from tests.seeded.fault import Patch, Patched, always

ROOT = Path(__file__).parent.parent
NAME = "python:tests.served:ticking"
GENEROUS = "python:tests.served:generous"
COMMAND = f"{sys.executable} -m conformance.cli serve {NAME}"


def ticking() -> Oracle:
    """Make the oracle with a clock that goes on each time that it is read."""
    return Oracle(clock=Clock(count(START, STEP).__next__))


def generous() -> Patched:
    """Make the oracle with such a clock and one fault: every grant covers everything."""
    return Patched([Patch(authority, "covers", always(True))], clock=Clock(count(START, STEP).__next__))
