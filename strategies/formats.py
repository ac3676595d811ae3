"""Texts of the formats of draft-07 (and ``uuid``), each drawn at once and built, never searched for.

A format without a row here says nothing, as draft-07 has it.
"""

from __future__ import annotations

import ipaddress
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from hypothesis import strategies as st

from strategies.pieces import Piece, even

_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_AFTER = int((datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _FIRST).total_seconds())
_BEFORE = int((_FIRST - datetime(1, 1, 1, tzinfo=UTC)).total_seconds())
_SPAN = _AFTER + _BEFORE + 1

EDGES = (
    "2000-02-29T00:00:00", "1999-12-31T23:59:59", "1970-01-01T00:00:00", "1969-12-31T23:59:59", "2038-01-19T03:14:08",
    "9999-12-31T23:59:59", "0001-01-01T00:00:00", "2024-02-29T23:59:59", "1900-02-28T23:59:59", "2100-03-01T00:00:00",
    "0004-02-29T12:00:00", "9996-02-29T00:00:00", "2016-12-31T23:59:59", "1582-10-15T00:00:00", "0999-01-01T00:00:00",
)  # fmt: skip
"""Seconds on which calendars go wrong: leap days, ends of years and of eras, ends of clocks."""

_NEAR = 30 * 366 * 86_400
_FORMS = 6
_TIMESTAMPS = _FORMS * _SPAN


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is drawn (``piece``), and texts of each form that it draws."""

    piece: Piece
    samples: tuple[str, ...]


def _second(index: int) -> str:
    """Count seconds on from the year 2000 to 9999, then back from 1999 to the year 1."""
    offset = index if index <= _AFTER else _AFTER - index
    return (_FIRST + timedelta(seconds=offset)).isoformat()[:19]


def _fraction(index: int) -> str:
    """Write 1 to 12 digits, now and then 30."""
    count = 30 if index % 29 == 28 else 1 + index % 12
    return "." + f"{index * 0x9E3779B97F4A7C15 % 10**count:0{count}}"


def timestamp(number: int) -> str:
    """Give a Timestamp for each number from 0 to ``6 * _SPAN - 1``.

    The first sixth are the seconds of all years, then come those of thirty years from 2000 on, both again with fractions, and
    the edges with and without.
    """
    form, index = divmod(number, _SPAN)
    whole = EDGES[index % len(EDGES)] if form >= 4 else _second(index % _NEAR if form % 2 else index)
    return f"{whole}{_fraction(index) if form in (2, 3, 5) else ''}Z"


def _numbered(count: int, write: Callable[[int], str]) -> Format:
    number = even(count)
    samples = (0, 1, 7, 12345, count // 3, count // 2, count - 1)
    return Format(Piece(number.strategy, lambda drawn: write(drawn - number.base)), tuple(write(index) for index in samples))


def _worded(alphabet: str, write: Callable[[str], str], least: int = 0, most: int = 40) -> Format:
    piece = Piece(st.text(alphabet, min_size=least, max_size=most), write)
    return Format(piece, tuple(write(word) for word in ("a" * least, "a" * most, alphabet[:most])))


_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UNRESERVED = _LOWER + "0123456789-._~"
_DATE_TIME = Format(
    _numbered(_TIMESTAMPS, timestamp).piece,
    tuple(
        timestamp(form * _SPAN + index) for form in range(_FORMS) for index in (*range(31), 86_399, _AFTER, _AFTER + 1, _SPAN - 1)
    ),
)
_URIS = ("https://a.example/", "http://a.example:8080/", "urn:a:", "mailto:a@a.example?subject=")


def _uri(word: str) -> str:
    return _URIS[len(word) % 4 if len(word) > 3 else 0] + word


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "date-time": _DATE_TIME,
        "date": _numbered(_TIMESTAMPS, lambda number: timestamp(number)[:10]),
        "time": _numbered(_TIMESTAMPS, lambda number: timestamp(number)[11:]),
        "uri": _worded(_UNRESERVED, _uri),
        "iri": _worded(_UNRESERVED, _uri),
        "uri-reference": _worded(_UNRESERVED, lambda word: f"/{word}"),
        "iri-reference": _worded(_UNRESERVED, lambda word: f"/{word}"),
        "uri-template": _worded(_LOWER, lambda word: f"https://a.example/{{{word}}}", least=1),
        "uuid": _numbered(2**128, lambda number: str(uuid.UUID(int=number))),
        "email": _worded(_LOWER, lambda word: f"{word}@a.example", least=1),
        "idn-email": _worded(_LOWER, lambda word: f"{word}@a.example", least=1),
        "hostname": _worded(_LOWER, lambda word: f"{word}.example", least=1),
        "idn-hostname": _worded(_LOWER, lambda word: f"{word}.example", least=1),
        "ipv4": _numbered(2**32, lambda number: str(ipaddress.IPv4Address(number))),
        "ipv6": _numbered(2**128, lambda number: str(ipaddress.IPv6Address(number))),
        "json-pointer": _worded(_LOWER + "/0123456789", lambda word: f"/{word}" if word else ""),
        "relative-json-pointer": _worded(_LOWER, lambda word: f"{len(word)}/{word}"),
        "regex": _worded(_LOWER, lambda word: f"^{word}$"),
    }
)
