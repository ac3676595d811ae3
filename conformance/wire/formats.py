"""Timestamps, and the patterns of the schemas as Python reads them (protocol.md section 1).

Both libraries leave ``format: date-time`` to their own taste (leap seconds, year 0, lower-case letters), so both are given
``is_timestamp``. And Python's regular expressions differ from the ECMA-262 ones that JSON Schema means: ``$`` matches before
a trailing newline, ``\\d`` takes every Unicode digit.
"""

from __future__ import annotations

import re
from calendar import monthrange
from functools import lru_cache

_TIMESTAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.([0-9]+))?Z")

_ECMA_SPACE = r" \t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_OUTSIDE = {
    "$": r"\Z",
    ".": r"[^\n\r\u2028\u2029]",
    "[]": "(?!)",
    "[^]": r"[\s\S]",
    "(?<": "(?P<",
    r"\s": f"[{_ECMA_SPACE}]",
    r"\S": f"[^{_ECMA_SPACE}]",
    r"\/": "/",
}
_INSIDE = {"[": r"\[", "[]": r"\[]", "[^]": r"\[^]", "&": r"\&", "|": r"\|", "~": r"\~", r"\s": _ECMA_SPACE, r"\/": "/"}
_PIECE = re.compile(r"\\.|\(\?<(?=[A-Za-z_])|\[\^?\]|.", re.DOTALL)


@lru_cache(maxsize=1024)
def is_timestamp(text: str) -> bool:
    """Say whether ``text`` is a Timestamp: ``T`` and ``Z``, a real calendar day of the years 1 to 9999, seconds 00-59."""
    found = _TIMESTAMP.fullmatch(text)
    return found is not None and _is_day(found[1])


@lru_cache(maxsize=1024)
def _is_day(text: str) -> bool:
    """Say whether digits ``YYYY-MM-DD`` are a day; the same few are asked for a hundred times a check."""
    year, month, day = (int(part) for part in text.split("-"))
    return year >= 1 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def instant(text: str) -> tuple[str, str]:
    """Give a key by which Timestamps compare as instants: the whole second, then the fraction without trailing zeros.

    Fractions compare as text, because a longer one with the same beginning is later. Raises ``ValueError`` for any other text.
    """
    found = _TIMESTAMP.fullmatch(text)
    if found is None or not _is_day(found[1]):
        raise ValueError(f"not a timestamp: {text[:60]!r}")
    return text[:19], (found[2] or "").rstrip("0")


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile an ECMA-262 ``pattern`` so that Python finds what JSON Schema means. Raises ``re.error`` where it cannot."""
    pieces: list[str] = []
    inside = False
    for piece in _PIECE.findall(pattern):
        # A lone "[^]" or "[]" is a whole class outside of one, and inside of one a bracket that ends it.
        pieces.append((_INSIDE if inside else _OUTSIDE).get(piece, piece))
        inside = not piece.endswith("]") or piece == r"\]" if inside else piece == "["
    return re.compile("".join(pieces), re.ASCII)
