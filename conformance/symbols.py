"""Symbols in JSON values: ``$record1`` stands for what a provider calls that record (conformance.counterexample).

A string that begins with one ``$`` is a symbol, one that begins with ``$$`` is a text with one ``$`` less. ``$start+3.50`` is an
instant: so many whole seconds after the second in which the first space was made, with the fraction as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from conformance.counterexample import DIGEST, is_symbol
from conformance.wire.canonical import NotCanonical, digest

START = "$start"
OWN_DIGESTS = ("digest", "chunk_digest")
"""The members in which a bundle and a chunk carry their own digest."""
_INSTANT = re.compile(r"\$start([+-]\d+)(\.\d+)?")
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")


class Unbound(Exception):
    """A symbol that nothing has said the meaning of yet; the text is the symbol."""


def name_of(symbol: str) -> str:
    """Return the symbol that must be bound for ``symbol``: an instant and a part of a material need what they are made of."""
    return START if symbol.startswith(START) else symbol.partition("/")[0]


def symbols_in(value: Any) -> set[str]:
    """Return the symbols that a value needs."""
    return {name_of(leaf) for _, leaf in leaves(value) if is_symbol(leaf) and leaf != DIGEST}


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Give each scalar in a value with its JSON pointer."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, f"{pointer}/{escaped(str(name))}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{pointer}/{number}")
    else:
        yield pointer, value


def replaced(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a value with ``change`` made of every string in it, names of members left alone."""
    if isinstance(value, Mapping):
        return {name: replaced(inner, change) for name, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value


def symbolic(value: Any, named: Mapping[str, str]) -> Any:
    """Return a value with symbols for the strings that ``named`` has one for, and with every other ``$`` kept a text."""

    def change(text: str) -> str:
        return named.get(text) or (f"${text}" if text.startswith("$") else text)

    return replaced(value, change)


def resolved(value: Any, bound: Mapping[str, Any]) -> Any:
    """Return a value with what its symbols stand for. Raises ``Unbound``."""

    def change(text: str) -> Any:
        if not text.startswith("$"):
            return text
        return text[1:] if text.startswith("$$") else _meaning(text, bound)

    return _sealed(replaced(value, change))


def _meaning(symbol: str, bound: Mapping[str, Any]) -> Any:
    if symbol == DIGEST:
        return symbol
    name, _, rest = symbol.partition("/")
    if name in bound:
        return member(bound[name], f"/{rest}" if rest else "", bound)
    if (found := _INSTANT.fullmatch(symbol)) and START in bound:
        return later(bound[START], int(found[1]), found[2] or "")
    raise Unbound(name_of(symbol))


def _sealed(value: Any) -> Any:
    """Put the digest of what is around it in place of each ``$digest``, from the inside out."""
    if isinstance(value, list):
        return [_sealed(inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    made = {name: _sealed(inner) for name, inner in value.items()}
    for name in OWN_DIGESTS:
        if made.get(name) == DIGEST:
            made[name] = digest(made, without=name)
    return made


def is_own_digest(value: Mapping[str, Any], name: str) -> bool:
    """Say whether the member ``name`` of an object is the digest of the rest of it."""
    try:
        return bool(value.get(name) == digest(value, without=name))
    except NotCanonical:
        return False


def later(timestamp: str, seconds: int, fraction: str) -> str:
    """Return the whole second of a Timestamp, ``seconds`` later, with the digits of a ``fraction``."""
    moment = datetime.fromisoformat(timestamp[:19]).replace(tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment.replace(tzinfo=None).isoformat()}{fraction}Z"


def since(start: str, timestamp: str, most: int) -> str | None:
    """Return the symbol of an instant, or None where it is more than ``most`` seconds away from ``start``."""
    found = _TIMESTAMP.fullmatch(timestamp)
    if found is None:
        return None
    seconds = int((datetime.fromisoformat(found[1]) - datetime.fromisoformat(start[:19])).total_seconds())
    return f"{START}{seconds:+d}{found[2] or ''}" if abs(seconds) <= most else None


# -- pointers


def escaped(name: str) -> str:
    """Return a member's name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def parts(pointer: str) -> list[str]:
    """Return the parts of a JSON pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def member(value: Any, pointer: str, bound: Mapping[str, Any]) -> Any:
    """Return the member at ``pointer``; a part ``[id=$x]`` is the item of a list with that member. Raises ``LookupError``."""
    for part in parts(pointer):
        if isinstance(value, list):
            value = _item(value, part, bound)
        elif isinstance(value, Mapping):
            value = value[part]
        else:
            raise LookupError(part)  # noqa: TRY004 - there is no such member
    return value


def _item(items: list[Any], part: str, bound: Mapping[str, Any]) -> Any:
    if not part.startswith("["):
        return items[int(part)]
    by, _, text = part[1:-1].partition("=")
    wanted = resolved(text, bound)
    for item in items:
        if isinstance(item, Mapping) and item.get(by) == wanted:
            return item
    raise LookupError(part)
