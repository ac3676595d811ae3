"""The clock that is handed to the oracle: Timestamps that never go back, and the levers of ``control.clock`` (harness.md)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any

from conformance.wire.bundle import instant, is_timestamp

Nanoseconds = Callable[[], int]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NANO = 10**9
# The last microsecond of the year 9999: a running clock waits there.
_END = int((datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH).total_seconds()) * _NANO + _NANO - 1


class Clock:
    """Tells the time as a Timestamp. ``source`` gives nanoseconds since 1970; what it runs on is the caller's.

    A running clock reads whole microseconds; a stopped one stands at exactly the instant it was set to, whatever its digits.
    """

    def __init__(self, source: Nanoseconds = time.time_ns) -> None:
        self._source = source
        self._offset = 0
        self._stopped: Fraction | None = None
        self._stopped_text = ""
        self._latest = 0

    def now(self) -> str:
        """Give the current Timestamp; never an earlier one than before."""
        if self._stopped is not None:
            return self._stopped_text
        self._latest = max(self._latest, self._source() + self._offset)
        return _micro_text(min(self._latest, _END))

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass, on a stopped clock too. Raises ``ValueError`` for a step backwards or beyond the year 9999."""
        present = self._present()
        self._go(present, present + Fraction(str(seconds)), stopped=self._stopped is not None)

    def set(self, timestamp: str, frozen: bool | None = None) -> None:
        """Go to ``timestamp`` and stop there, run on, or (None) go on as before. Raises ``ValueError`` for the past."""
        if not is_timestamp(timestamp):
            raise ValueError("not a timestamp")
        self._go(self._present(), _parsed(timestamp), stopped=self._stopped is not None if frozen is None else frozen)

    def freeze(self, frozen: bool) -> None:
        """Stop the clock where it is, or let it run on from there."""
        present = self._present()
        self._go(present, present, stopped=frozen)

    def save(self) -> dict[str, Any]:
        """Give what the clock needs to go on after a restart, as JSON."""
        stopped = None if self._stopped is None else self._stopped_text
        return {"offset": self._offset, "latest": self._latest, "stopped": stopped}

    def load(self, saved: dict[str, Any]) -> None:
        """Go on as ``save`` said."""
        self._offset, self._latest = saved["offset"], saved["latest"]
        self._stopped = None if saved["stopped"] is None else _parsed(saved["stopped"])
        self._stopped_text = saved["stopped"] or ""

    def _present(self) -> Fraction:
        return _parsed(self.now()) if self._stopped is None else self._stopped

    def _go(self, present: Fraction, target: Fraction, *, stopped: bool) -> None:
        if target < present:
            raise ValueError("the clock does not run backwards")
        text = _text(target)
        self._stopped, self._stopped_text = (target, text) if stopped else (None, "")
        if not stopped:
            # Whole nanoseconds, rounded up: a running clock is never before the instant it was set to.
            self._latest = max(self._latest, math.ceil(target * _NANO))
            self._offset = self._latest - self._source()


def _parsed(timestamp: str) -> Fraction:
    whole, digits = instant(timestamp)
    second = datetime.fromisoformat(whole).replace(tzinfo=UTC) - _EPOCH
    return Fraction(second.days * 86_400 + second.seconds) + Fraction(int(digits or 0), 10 ** len(digits))


def _text(moment: Fraction) -> str:
    second, rest = divmod(moment, 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{_second_text(second)}{'.' + digits if digits else ''}Z"


def _micro_text(nanoseconds: int) -> str:
    second, rest = divmod(nanoseconds, _NANO)
    return f"{_second_text(second)}.{rest // 1000:06d}Z"


@lru_cache(maxsize=4)
def _second_text(second: int) -> str:
    try:
        return (_EPOCH + timedelta(seconds=second)).replace(tzinfo=None).isoformat()
    except OverflowError as error:
        raise ValueError("the clock ends with the year 9999") from error
