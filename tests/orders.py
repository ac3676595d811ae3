"""Two right providers that differ in the order of the members of their answers alone, and live by equal clocks.

As targets: ``python:tests.orders:forwards`` and ``python:tests.orders:backwards``.
"""

from __future__ import annotations

from itertools import count

from conformance.oracle import Oracle
from conformance.oracle.clock import Clock
from conformance.transport.openers import START, STEP
from tests.other_answers import Backwards


def forwards() -> Oracle:
    """Start the oracle with a clock of its own."""
    return Oracle(clock=_clock())


def backwards() -> Oracle:
    """Start the same with the members of every answer turned round."""
    return Backwards(clock=_clock())


def _clock() -> Clock:
    return Clock(count(START, STEP).__next__)
