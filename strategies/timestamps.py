"""Timestamps: RFC 3339 in UTC with any number of fraction digits, compared as instants (protocol.md section 1; field bug F28).

Careless code compares them as texts, cuts or rounds the fraction, drops it when it is zero, or rolls a day that does not
exist over into the next month.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

EARLIEST = "0001-01-01T00:00:00Z"
LATEST = "9999-12-31T23:59:59.999999999Z"

EDGES: tuple[str, ...] = (
    "2000-01-01T00:00:00Z",
    "2024-02-29T23:59:59.999Z",
    "2000-02-29T00:00:00Z",
    "1970-01-01T00:00:00Z",
    "1969-12-31T23:59:59.9999999Z",
    "2038-01-19T03:14:08Z",
    "1999-12-31T23:59:59.999999999999Z",
    "2026-03-29T02:30:00Z",
    "2016-12-31T23:59:59Z",
    EARLIEST,
    LATEST,
)
"""Instants at the edges of days, leap years, epochs, 32-bit seconds, summer time and the calendar itself."""

INVALID_TIMESTAMPS: tuple[str, ...] = (
    "2025-02-29T00:00:00Z",
    "2025-02-30T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2025-04-31T00:00:00Z",
    "2025-13-01T00:00:00Z",
    "2025-00-01T00:00:00Z",
    "2025-01-00T00:00:00Z",
    "2025-01-32T00:00:00Z",
    "2025-01-01T24:00:00Z",
    "2025-01-01T00:60:00Z",
    "2025-01-01T00:00:60Z",
    "2016-12-31T23:59:60Z",
    "2025-01-01T00:00:00+00:00",
    "2025-01-01T00:00:00-00:00",
    "2025-01-01T00:00:00",
    "2025-01-01T00:00:00.Z",
    "2025-01-01T00:00:00,5Z",
    "2025-01-01T00:00Z",
    "2025-01-01t00:00:00Z",
    "2025-01-01T00:00:00z",
    "2025-01-01 00:00:00Z",
    "2025-01-01",
    "20250101T000000Z",
    "25-01-01T00:00:00Z",
    "12025-01-01T00:00:00Z",
    "-2025-01-01T00:00:00Z",
    " 2025-01-01T00:00:00Z",
    "2025-01-01T00:00:00Z ",
    "2025-01-01T00:00:00Z\n",
    "\uff12025-01-01T00:00:00Z",
    "\u0662\u0660\u0662\u0665-01-01T00:00:00Z",
    "1735689600",
    "yesterday",
    "",
)
"""Texts that are no Timestamp, each for another reason; none of them is one under any reading of protocol.md section 1."""

_DIGITS = "0123456789"
_CAREFUL_DIGITS = 7  # one digit more than the microseconds that most clocks and languages keep


def _spell(moment: datetime, fraction: str) -> str:
    return f"{moment.isoformat(timespec='seconds')}{'.' if fraction else ''}{fraction}Z"


_PLAINEST = datetime(2000, 1, 1)
_FIRST_DAY, _LAST_DAY = (datetime.min - _PLAINEST).days, (datetime.max - _PLAINEST).days


def _moments(last_day: int = _LAST_DAY) -> SearchStrategy[datetime]:
    """Return whole seconds of any day; shrinks to the plainest one."""
    # two numbers, where ``st.datetimes`` draws each part of the date
    days, seconds = st.integers(_FIRST_DAY, last_day), st.integers(0, 86_399)
    return st.builds(lambda day, second: _PLAINEST + timedelta(days=day, seconds=second), days, seconds)


@cache
def timestamps() -> SearchStrategy[str]:
    """Return any Timestamp: leap days, year edges, 0 to 12 fraction digits; shrinks to ``2000-01-01T00:00:00Z``."""
    fractions = st.one_of(
        st.sampled_from(("", "0", "000", "5", "50", "0000001", "999999999999")),
        st.integers(0, 10**12 - 1).map(str),
    )
    return st.one_of(st.builds(_spell, _moments(), fractions), st.sampled_from(EDGES))


@st.composite
def neighbours(draw: DrawFn) -> tuple[str, str]:
    """Return (before, after): two instants that differ by less than a millisecond, sometimes across the edge of a second."""
    moment = draw(_moments(_LAST_DAY - 1))
    if draw(st.booleans()):
        return _spell(moment, draw(st.sampled_from(("9999999", "999999999", "9995")))), _spell(moment + timedelta(seconds=1), "")
    millis = draw(st.sampled_from(("000", "500", "999")))
    low = draw(st.integers(0, 10**4 - 2))
    high = draw(st.integers(low + 1, 10**4 - 1))
    before = "" if (millis, low) == ("000", 0) else f"{millis}{low:04d}"
    return _spell(moment, before), _spell(moment, f"{millis}{high:04d}")


def _without_tail(timestamp: str) -> tuple[str, str]:
    """Split into the seconds and the fraction digits without trailing zeros."""
    seconds, _, fraction = timestamp.removesuffix("Z").partition(".")
    return seconds, fraction.rstrip("0")


def respelled(timestamp: str) -> SearchStrategy[str]:
    """Return spellings of the instant of ``timestamp``: with and without trailing zeros; shrinks to the shortest."""
    seconds, fraction = _without_tail(timestamp)

    def spell(zeros: int) -> str:
        digits = fraction + "0" * zeros
        return f"{seconds}{'.' if digits else ''}{digits}Z"

    return st.integers(0, 9).map(spell)


def just_after(timestamp: str) -> str:
    """Return an instant less than a microsecond after ``timestamp``: careless code takes the two for one."""
    seconds, fraction = _without_tail(timestamp)
    return f"{seconds}.{fraction.ljust(_CAREFUL_DIGITS - 1, '0')}1Z"


def shifted(timestamp: str, seconds: int) -> str:
    """Return ``timestamp`` moved by whole ``seconds``, with the same fraction; the calendar's ends hold it back."""
    base, fraction = _without_tail(timestamp)
    try:
        moment = datetime.fromisoformat(base).replace(tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return EARLIEST if seconds < 0 else LATEST
    return _spell(moment.replace(tzinfo=None), fraction)
