"""JSON text of any depth: what the library's own recursion cannot write or read is done here without recursion.

The two ways give the same: the text of the slow one is, character by character, what the fast one would have written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NoReturn

import orjson

_ENCODERS: Final = MappingProxyType(
    {
        (ordered, strict): json.JSONEncoder(check_circular=False, sort_keys=ordered, allow_nan=not strict)
        for ordered in (False, True)
        for strict in (False, True)
    }
)
"""Made once: ``json.dumps`` makes one a call. A value that holds itself is too deep for them, and then for the slow way."""

_AS_IT_IS: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_NULL: Final = b"null"
MOST_ESCAPED: Final = 6
"""A byte of UTF-8 is at most so many characters of ASCII text: ``\\u001f``."""

Scalar = Callable[[Any], str]
Names = Callable[[Mapping[str, Any]], Iterable[str]]

DEEPEST: Final = 100_000
"""Nothing is written or read that nests deeper: each level costs memory."""
LEFT_OUT: Final = "…"
"""Stands where ``pruned`` left something out."""


class TooLong(ValueError):
    """The text would be longer than it may be."""


def written(value: Any, *, ordered: bool = False, strict: bool = False, limit: int | None = None) -> str:
    """Write a JSON value as ASCII, however deeply it is nested; ``ordered`` sorts the members by name.

    ``strict`` refuses NaN and infinities. Raises ``TooLong`` for a text longer than ``limit`` characters, and ``TypeError`` or
    ``ValueError`` for what is no JSON value or nests deeper than ``DEEPEST``.
    """
    try:
        text = _ENCODERS[ordered, strict].encode(value)
    except RecursionError:
        text = _joined(pieces(value, partial(_scalar, strict=strict), sorted if ordered else list), limit)
    if limit is not None and len(text) > limit:
        raise TooLong(f"longer than {limit} characters")
    return text


def read(text: str, *, strict: bool = True) -> Any:
    """Read a JSON text, however deeply it is nested; ``strict`` takes no NaN, infinity or number beyond the doubles.

    Raises ``ValueError`` for a text that is none, or that nests deeper than ``DEEPEST``.
    """
    decoder = _STRICT if strict else _LAX
    try:
        return decoder.decode(text)
    except RecursionError:
        return _Reading(decoder).of(text)


def copied(value: Any, *, strict: bool = False, limit: int | None = None) -> Any:
    """Give a value as it is after a way as JSON text: what ``read`` gives of what ``written`` gives, and raises what they raise.

    A copy that equals the value is what text makes of it; where the fast library would make another thing of it (of a NaN, a
    tuple, a UUID), or nothing (of a large integer), the slow way decides.
    """
    try:
        text = orjson.dumps(value, option=_AS_IT_IS)
        copy = orjson.loads(text)
        if copy == value and (limit is None or len(text) * MOST_ESCAPED <= limit):
            return copy
    except (TypeError, ValueError):
        pass
    return read(written(value, strict=strict, limit=limit), strict=strict)


def sorted_text(value: Any) -> bytes | None:
    """Write a value as UTF-8 without spaces, members sorted by code points; None where the fast library is not to be trusted.

    It refuses unpaired surrogates, large integers and deep nesting, and what it writes as null may be a NaN.
    """
    try:
        text = orjson.dumps(value, option=_AS_IT_IS | orjson.OPT_SORT_KEYS)
    except TypeError:
        return None
    return text if _NULL not in text or orjson.loads(text) == value else None


def fingerprint(value: Any) -> bytes:
    """Write a value so that equal ones have equal bytes, in whatever order their members are; others have others.

    The bytes are JSON text, of no form that is promised: they are there to be hashed.
    """
    return sorted_text(value) or written(value, ordered=True).encode()


def pruned(value: Any, levels: int) -> Any:
    """Copy a JSON value without what is nested deeper than ``levels``; where something was left out stands ``LEFT_OUT``."""
    if isinstance(value, Mapping):
        return {name: pruned(member, levels - 1) for name, member in value.items()} if levels else LEFT_OUT
    if isinstance(value, list | tuple):
        return [pruned(member, levels - 1) for member in value] if levels else LEFT_OUT
    return value


# -- writing


def pieces(value: Any, scalar: Scalar, names: Names, comma: str = ", ", colon: str = ": ") -> Iterator[str]:
    """Write a value piece by piece without recursion; text that is due later waits on a stack with the values.

    ``scalar`` writes what is no container, names of members included, and ``names`` tells their order.
    """
    todo: list[str | tuple[Any]] = [(value,)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item[0], dict):
            inner = [(f"{scalar(name)}{colon}", item[0][name]) for name in names(item[0])]
            todo.extend(reversed(_parts("{", inner, comma, "}")))
        elif isinstance(item[0], list | tuple):
            todo.extend(reversed(_parts("[", [("", element) for element in item[0]], comma, "]")))
        else:
            yield scalar(item[0])


def _parts(first: str, inner: Iterable[tuple[str, Any]], comma: str, last: str) -> list[str | tuple[Any]]:
    parts: list[str | tuple[Any]] = [first]
    for label, value in inner:
        parts += [f"{comma if len(parts) > 1 else ''}{label}", (value,)]
    return [*parts, last]


def _scalar(value: Any, *, strict: bool) -> str:
    return json.dumps(value, allow_nan=not strict)


def _joined(made: Iterator[str], limit: int | None) -> str:
    """Join pieces up to a little more than ``limit``. A value that holds itself ends here: it has no depth."""
    kept: list[str] = []
    length = depth = 0
    for piece in made:
        kept.append(piece)
        length += len(piece)
        depth += (piece in _OPENING) - (piece in _CLOSING)
        if depth > DEEPEST:
            raise ValueError(f"the value nests deeper than {DEEPEST} levels")
        if limit is not None and length > limit:
            break
    return "".join(kept)


# -- reading


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is beyond every double")
    return number


_STRICT = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_LAX = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")
_SIGNS = frozenset("[]{},:")
_VALUE = frozenset({"[", "{", "text", "other"})
_NAME = frozenset({"text"})
_AFTER: Mapping[type, frozenset[str]] = {list: frozenset({",", "]"}), dict: frozenset({",", "}"})}


class _Reading:
    """Reads one text: ``due`` is what may come next, ``open`` the containers that are not closed, the outermost first."""

    def __init__(self, decoder: json.JSONDecoder) -> None:
        self._decoder = decoder
        self._top: list[Any] = []
        self._open: list[Any] = []
        self._name: str | None = None
        self._due = _VALUE

    def of(self, text: str) -> Any:
        at = self._past_space(text, 0)
        while at < len(text):
            kind, value, after = self._token(text, at)
            if kind not in self._due:
                raise ValueError(f"{kind} at character {at} stands where it may not")
            self._due = self._take(kind, value)
            at = self._past_space(text, after)
        if self._open or not self._top:
            raise ValueError(f"the text ends at character {at} before the value does")
        return self._top[0]

    def _past_space(self, text: str, at: int) -> int:
        found = _SPACE.match(text, at)
        return at if found is None else found.end()

    def _token(self, text: str, at: int) -> tuple[str, Any, int]:
        if text[at] in _SIGNS:
            return text[at], None, at + 1
        value, after = self._decoder.raw_decode(text, at)
        return ("text" if isinstance(value, str) else "other"), value, after

    def _take(self, kind: str, value: Any) -> frozenset[str]:
        """Do what a token says and return what may come next."""
        if kind == "text" and self._awaits_name():
            self._name = value
            return frozenset({":"})
        if kind == ":":
            return _VALUE
        if kind == ",":
            return _NAME if isinstance(self._open[-1], dict) else _VALUE
        if kind in _CLOSING:
            self._open.pop()
            return self._after()
        return self._put(kind, value)

    def _awaits_name(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1], dict) and self._name is None

    def _put(self, kind: str, value: Any) -> frozenset[str]:
        made: Any = {"[": [], "{": {}}.get(kind, value)
        if not self._open:
            self._top.append(made)
        elif self._name is not None:
            self._open[-1][self._name], self._name = made, None
        else:
            self._open[-1].append(made)
        if kind not in _OPENING:
            return self._after()
        self._open.append(made)
        if len(self._open) > DEEPEST:
            raise ValueError(f"the text nests deeper than {DEEPEST} levels")
        return _VALUE | {"]"} if kind == "[" else _NAME | {"}"}

    def _after(self) -> frozenset[str]:
        return _AFTER[type(self._open[-1])] if self._open else frozenset()
