"""The oracle as served in tests: by a clock of its own, so that two runs get the same answers."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from conformance.oracle import Clock, Oracle
from conformance.transport.openers import START, STEP

ROOT = Path(__file__).parent.parent
NAME = "python:tests.served:ticking"
COMMAND = f"{sys.executable} -m conformance.cli serve {NAME}"


def ticking() -> Oracle:
    """Make the oracle with a clock that goes on each time that it is read."""
    return Oracle(clock=Clock(count(START, STEP).__next__))
