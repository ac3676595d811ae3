"""The RFC 8785 form of JSON values, their digests and their equality (protocol.md section 1, digest rule)."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any

import rfc8785

from conformance.wire.json_text import pieces, sorted_text

# The fast library writes like RFC 8785: strings, literals, integers of up to 15 digits, doubles that have a fraction and no
# exponent, and names in the right order where that of code points is that of UTF-16 (below the surrogates: no byte of UTF-8 above
# 0xed). Everything else, and what looks like it inside a string, takes the other library's way.
_DOUBTFUL_NUMBER = re.compile(rb"[:,\[]-?[0-9](?:[0-9]{15}|[0-9]*\.0(?![0-9])|[0-9.]*e)")
_HIGH = re.compile(rb"[\xee-\xff]")


class NotCanonical(ValueError):
    """A value has no canonical form: it holds a non-finite number or an unpaired surrogate (in a value or a member name)."""


def canonical(value: Any) -> bytes:
    """Give the RFC 8785 form of a JSON value, at any depth.

    Numbers are IEEE doubles: an integer beyond 2**53 is taken as the double that it is on the wire. Raises ``NotCanonical``.
    """
    plain = _plainly(value)
    if plain is not None:
        return plain
    try:
        return rfc8785.dumps(value)
    except (ValueError, RecursionError):
        # The library refuses large integers and recurses; what has no form at all is refused below as well.
        return _piece_by_piece(value)


def _piece_by_piece(value: Any) -> bytes:
    return "".join(pieces(value, _scalar, _by_utf16, ",", ":")).encode()


def _plainly(value: Any) -> bytes | None:
    """Give the form of a container that the fast library writes alike, many times faster; else None."""
    text = sorted_text(value) if isinstance(value, dict | list) else None
    if text is None or _DOUBTFUL_NUMBER.search(text) or (not text.isascii() and _HIGH.search(text)):
        return None
    return text


def digest(value: Any, *, without: str | None = None) -> str:
    """Give the SHA-256 of the canonical form as 64 lower-case hex digits.

    ``without`` names the top-level member that is left out: the one in which an object carries its own digest.
    Raises ``NotCanonical``.
    """
    if without is not None:
        value = {name: member for name, member in value.items() if name != without}
    return hashlib.sha256(canonical(value)).hexdigest()


def content_bytes(content: Any) -> int:
    """Count the bytes of a content: the length of its canonical form in UTF-8, every present member counted (section 3)."""
    return len(canonical(content))


def same(left: Any, right: Any) -> bool:
    """Say whether two JSON values are equal: 5 and 5.0 are, 1 and true are not, the order of members says nothing.

    Never raises: it takes unpaired surrogates, any depth, and numbers beyond a double. A NaN equals a NaN, so that an echo does.
    """
    if isinstance(left, str):
        return isinstance(right, str) and left == right
    text = sorted_text(left)
    return (text is not None and text == sorted_text(right)) or _same_by_member(left, right)


def _same_by_member(left: Any, right: Any) -> bool:
    todo = [(left, right)]
    while todo:
        a, b = todo.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            todo.extend((member, b[name]) for name, member in a.items())
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            todo.extend(zip(a, b, strict=True))
        elif not _same_scalar(a, b):
            return False
    return True


def _same_scalar(a: Any, b: Any) -> bool:
    if _is_number(a) and _is_number(b):
        return _same_number(a, b)
    return a == b if isinstance(a, str) and isinstance(b, str) else a is b


def _same_number(a: float, b: float) -> bool:
    try:
        x, y = float(a), float(b)
    except OverflowError:
        return a == b
    return x == y or (math.isnan(x) and math.isnan(y))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _by_utf16(value: Mapping[str, Any]) -> list[str]:
    return sorted(value, key=_utf16)


def _utf16(name: str) -> bytes:
    try:
        return name.encode("utf-16-be")
    except UnicodeEncodeError as error:
        raise NotCanonical("an unpaired surrogate in a member name has no canonical form") from error


def _scalar(value: Any) -> str:
    try:
        return rfc8785.dumps(float(value) if _is_number(value) else value).decode()
    except (OverflowError, rfc8785.CanonicalizationError) as error:
        what = "an unpaired surrogate" if isinstance(value, str) else "a non-finite number"
        raise NotCanonical(f"{what} has no canonical form") from error
