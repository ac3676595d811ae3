"""How a check says what it expects, and how it ends (architecture.md, What a check is).

``CheckFailed``: the provider breaks the rule. ``Inconclusive``: the check could not be exercised here. ``NotApplicable``: the
flag is not declared. The last two are ``unittest.SkipTest``, which hypothesis passes through at once instead of shrinking.
"""

from __future__ import annotations

import unittest
from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.wire.canonical import same
from conformance.wire.json_text import pruned

LEVELS = 20
"""A message shows what is nested so deep, and leaves out the rest."""
LONGEST_PATH = 100
"""A pointer goes into a value so deep, and points at what holds the difference where that lies deeper."""


WHOLE = "/"
"""The pointer of a difference that is of the whole value."""


class _Unsaid:
    """Stands where a check says no value: another thing than null, which is one."""


UNSAID: Final = _Unsaid()


class CheckFailed(AssertionError):
    """A broken rule: ``what`` in one sentence, with what was ``expected``, what was ``seen`` and a JSON ``pointer`` into it.

    What is not given is None too; ``null_expected`` and ``null_seen`` say that null itself was meant.
    """

    def __init__(self, what: str, *, expected: Any = UNSAID, seen: Any = UNSAID, pointer: str = "") -> None:
        self.what = what
        self.null_expected, self.null_seen = expected is None, seen is None
        self.expected = None if expected is UNSAID else expected
        self.seen = None if seen is UNSAID else seen
        self.pointer = pointer
        super().__init__(self._text())

    def retold(self, what: str) -> CheckFailed:
        """Return the same failure in another sentence."""
        expected = UNSAID if self.expected is None and not self.null_expected else self.expected
        seen = UNSAID if self.seen is None and not self.null_seen else self.seen
        return CheckFailed(what, expected=expected, seen=seen, pointer=self.pointer)

    def _text(self) -> str:
        lines = [self.what]
        if self.pointer:
            lines.append(f"  at: {self.pointer}")
        if self.null_expected or self.expected is not None:
            lines.append(f"  expected: {_short(self.expected)}")
        if self.null_seen or self.seen is not None:
            lines.append(f"  seen:     {_short(self.seen)}")
        return "\n".join(lines)


class Inconclusive(unittest.SkipTest):
    """The check could not exercise its rule on this target; the text is the reason."""


class NotApplicable(unittest.SkipTest):
    """The target does not declare a flag that the check needs; the text names it."""


def difference(expected: Any, seen: Any) -> str | None:
    """Return the JSON pointer of the first place where two JSON values differ, None where they are equal."""
    if same(expected, seen):
        return None
    path = ""
    for _ in range(LONGEST_PATH):
        if (name := _differing(expected, seen)) is None:
            break
        path += f"/{name}"
        if isinstance(expected, Mapping) and (name not in expected or name not in seen):
            break
        expected, seen = expected[name], seen[name]
    return path or "/"


def _differing(expected: Any, seen: Any) -> Any:
    """Return the name or index of the first member that is not the same in both, None where there is none to go into."""
    if isinstance(expected, Mapping) and isinstance(seen, Mapping):
        names: Iterable[Any] = sorted(set(expected) | set(seen))
    elif isinstance(expected, list) and isinstance(seen, list):
        names = range(min(len(expected), len(seen)))
    else:
        return None
    return next((name for name in names if not _alike(expected, seen, name)), None)


def _alike(expected: Any, seen: Any, name: Any) -> bool:
    if isinstance(expected, Mapping) and (name not in expected or name not in seen):
        return False
    return same(expected[name], seen[name])


def at(value: Any, pointer: str) -> Any:
    """Return the member that a pointer made by ``difference`` names, ``UNSAID`` where there is none."""
    if pointer == WHOLE and not (isinstance(value, Mapping) and "" in value):
        return value
    for name in pointer.split("/")[1:]:
        if isinstance(value, Mapping):
            value = value.get(name, UNSAID)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            break
    return value


def _short(value: Any, limit: int = 400) -> str:
    text = repr(pruned(value, LEVELS))
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
