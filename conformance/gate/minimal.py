"""A JSON value made as small as a question about it allows: the same value and question, the same result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Holds = Callable[[Any], bool]

_ROUNDS = 12
_PLAIN: tuple[Any, ...] = (None, False, 0, "", [], {}, "a")


def minimal(value: Any, holds: Holds) -> Any:
    """Return a small value for which ``holds`` is still true; ``value`` must be one. ``holds`` is never told what is no JSON."""
    for _ in range(_ROUNDS):
        smaller = _pass(value, holds)
        if smaller == value and type(smaller) is type(value):
            return value
        value = smaller
    return value


def _pass(value: Any, holds: Holds) -> Any:
    """Take the first simpler value, else make each part of it smaller in turn."""
    for simpler in _simpler(value):
        if holds(simpler):
            return simpler
    if isinstance(value, dict):
        return _members(value, holds)
    return _items(value, holds) if isinstance(value, list) else value


def _members(value: dict[str, Any], holds: Holds) -> dict[str, Any]:
    for name in list(value):
        without = {key: member for key, member in value.items() if key != name}
        if holds(without):
            value = without
    for name in value:
        value = {**value, name: _pass(value[name], _within(value, name, holds))}
    return value


def _items(value: list[Any], holds: Holds) -> list[Any]:
    index = 0
    while index < len(value):
        without = [*value[:index], *value[index + 1 :]]
        if holds(without):
            value = without
        else:
            index += 1
    for index in range(len(value)):
        value = [*value[:index], _pass(value[index], _within(value, index, holds)), *value[index + 1 :]]
    return value


def _within(around: Any, place: Any, holds: Holds) -> Holds:
    """Ask the question of a part: with the part in its place."""

    def holds_there(part: Any) -> bool:
        whole = around.copy()
        whole[place] = part
        return holds(whole)

    return holds_there


def _simpler(value: Any) -> Iterator[Any]:
    size = _size(value)
    yield from (plain for plain in _PLAIN if _size(plain) < size)
    if isinstance(value, str):
        yield from _shorter(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from (number for number in (0, 1, int(value), int(value) // 2, int(value) - 1) if abs(number) < abs(value))


def _shorter(text: str) -> Iterator[str]:
    half = len(text) // 2
    yield from (text[:half], text[half:], text[1:], text[:-1]) if half else ()
    plain = "a" * len(text)
    if text != plain:
        yield plain


def _size(value: Any) -> tuple[int, float]:
    """Order values by what a person has to read: kinds first, then length."""
    kinds = {type(None): 0, bool: 1, int: 2, float: 2, str: 3, list: 4, dict: 5}
    length = len(value) if isinstance(value, (str, list, dict)) else abs(value or 0)
    return kinds[type(value)], length
