"""Contents: what a record, a candidate or a profile holds, and contents of an exact size (protocol.md section 3, Content)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.wire.canonical import content_bytes
from strategies.broken_cognition import broken_cognition, broken_cognition_records
from strategies.cognition import cognition_records
from strategies.json_values import structured, texts, uncanonical_values

__all__ = [
    "CONTENT_FLOOR",
    "Cognition",
    "broken_cognition",
    "broken_cognition_records",
    "content_of_bytes",
    "contents",
    "fits_everywhere",
    "profile_contents",
    "structured",
    "texts",
    "uncanonical_contents",
    "uncanonical_values",
]

Cognition = Literal["any", "absent", "empty", "filled"]

CONTENT_FLOOR = 1024
"""Content bytes that every provider takes: no ``max_content_bytes`` is lower (protocol.md section 7, Limits)."""

_FILLINGS: Mapping[Cognition, tuple[bool, SearchStrategy[list[dict[str, Any]]] | None]] = {
    # (the member may be left out, what it holds where it is there)
    "any": (True, st.deferred(lambda: st.lists(cognition_records(), max_size=3))),
    "absent": (True, None),
    "empty": (False, st.builds(list)),
    "filled": (False, st.deferred(lambda: st.lists(cognition_records(), min_size=1, max_size=3))),
}


@cache
def contents(*, cognition: Cognition = "any") -> SearchStrategy[dict[str, Any]]:
    """Return contents that every provider takes, none larger than ``CONTENT_FLOOR``.

    ``cognition`` says whether that member is absent, ``[]``, filled, or any of these. Shrinks to the empty text without
    ``structured`` and, where it may be absent, without ``cognition``.
    """
    may_be_absent, filling = _FILLINGS[cognition]
    required: dict[str, SearchStrategy[Any]] = {"text": texts()}
    optional: dict[str, SearchStrategy[Any]] = {"structured": structured()}
    if filling is not None:
        (optional if may_be_absent else required)["cognition"] = filling
    return st.fixed_dictionaries(required, optional=optional).filter(fits_everywhere)


def fits_everywhere(content: Mapping[str, Any]) -> bool:
    """Say whether every provider takes a content: it is no larger than ``CONTENT_FLOOR``."""
    return content_bytes(content) <= CONTENT_FLOOR


def profile_contents() -> SearchStrategy[dict[str, Any]]:
    """Return valid contents of profile documents, which hold no cognition."""
    return contents(cognition="absent")


def _with_bad_value(content: dict[str, Any], place: str, bad: Any) -> dict[str, Any]:
    return {**content, place: bad if place == "structured" or isinstance(bad, str) else "\ud800"}


@cache
def uncanonical_contents() -> SearchStrategy[dict[str, Any]]:
    """Return contents that their schema admits and that have no canonical form: an unpaired surrogate in text or structured."""
    return st.builds(_with_bad_value, profile_contents(), st.sampled_from(("text", "structured")), uncanonical_values())


_FRAME = len('{"text":""}')
_HARD_TO_COUNT = '\u00e9\u20ac\U0001f600"\x1f'
_ITS_BYTES = 2 + 3 + 4 + len(r"\"") + len(r"\u001f")


def content_of_bytes(n: int, *, multibyte: bool = False) -> dict[str, Any]:
    """Return a content of exactly ``n`` content bytes (UTF-8 length of its RFC 8785 form).

    With ``multibyte`` the text is, as far as they fit, of characters of 2, 3 and 4 bytes and of such that the form escapes:
    then its length in characters, in UTF-16 units, in UTF-8 bytes and in content bytes all differ. Raises ValueError below 11
    bytes: that is what the empty text takes.
    """
    room = n - _FRAME
    if room < 0:
        raise ValueError(f"no content has {n} bytes; the empty text has {_FRAME}")
    whole, rest = divmod(room, _ITS_BYTES) if multibyte else (0, room)
    return {"text": _HARD_TO_COUNT * whole + "a" * rest}
