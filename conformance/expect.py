"""How a check says what it expects, and how it ends (architecture.md, What a check is).

``CheckFailed``: the provider breaks the rule. ``Inconclusive``: the check could not be exercised here. ``NotApplicable``: the
flag is not declared. The last two are ``unittest.SkipTest``, which hypothesis passes through at once instead of shrinking.
"""

from __future__ import annotations

import unittest
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.wire.canonical import same


class CheckFailed(AssertionError):
    """A broken rule: ``what`` in one sentence, with what was ``expected``, what was ``seen`` and a JSON ``pointer`` into it."""

    def __init__(self, what: str, *, expected: Any = None, seen: Any = None, pointer: str = "") -> None:
        self.what = what
        self.expected = expected
        self.seen = seen
        self.pointer = pointer
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [self.what]
        if self.pointer:
            lines.append(f"  at: {self.pointer}")
        if self.expected is not None or self.seen is not None:
            lines += [f"  expected: {_short(self.expected)}", f"  seen:     {_short(self.seen)}"]
        return "\n".join(lines)


class Inconclusive(unittest.SkipTest):
    """The check could not exercise its rule on this target; the text is the reason."""


class NotApplicable(unittest.SkipTest):
    """The target does not declare a flag that the check needs; the text names it."""


def difference(expected: Any, seen: Any, pointer: str = "") -> str | None:
    """Return the JSON pointer of the first place where two JSON values differ, None where they are equal."""
    if same(expected, seen):
        return None
    return next((found for name in _names(expected, seen) for found in _inside(expected, seen, name, pointer)), pointer or "/")


def _names(expected: Any, seen: Any) -> list[Any]:
    if isinstance(expected, Mapping) and isinstance(seen, Mapping):
        return sorted(set(expected) | set(seen))
    if isinstance(expected, list) and isinstance(seen, list):
        return list(range(min(len(expected), len(seen))))
    return []


def _inside(expected: Any, seen: Any, name: Any, pointer: str) -> Iterator[str]:
    if isinstance(expected, Mapping) and (name not in expected or name not in seen):
        yield f"{pointer}/{name}"
    elif (found := difference(expected[name], seen[name], f"{pointer}/{name}")) is not None:
        yield found


def at(value: Any, pointer: str) -> Any:
    """Return the member that a pointer made by ``difference`` names, None where there is none."""
    for name in pointer.split("/")[1:]:
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            break
    return value


def _short(value: Any, limit: int = 400) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
