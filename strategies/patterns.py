"""Regular expressions of ECMA-262, read into trees and turned into draws.

Read are literals, ``.``, escapes, classes, groups, alternatives, quantifiers, and anchors at both ends. Look-around, back
references and word boundaries are not: they raise ``UnreadPattern``, and ``st.from_regex`` draws such a pattern.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from conformance.wire.formats import compiled

Ranges = tuple[tuple[int, int], ...]
"""Code points, as pairs of first and last."""

_TOP = sys.maxunicode
_DIGIT: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = ((9, 13), (32, 32), (160, 160), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
                  (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF))  # fmt: skip
_LINES: Ranges = ((10, 10), (13, 13), (0x2028, 0x2029))
_SURROGATES: Ranges = ((0xD800, 0xDFFF),)
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}


class UnreadPattern(Exception):
    """The pattern uses what this module does not read."""


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one set, from ``least`` to ``most`` of them (None: any number)."""

    ranges: Ranges
    least: int = 1
    most: int | None = 1


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part, from ``least`` to ``most`` times."""

    part: Node
    least: int
    most: int | None


Node = Run | Sequence | Alternatives | Repeat


def searches(pattern: str, text: str) -> bool:
    """Say whether a pattern is found in a text, as ``pattern`` and ``patternProperties`` mean it."""
    return compiled(pattern).search(text) is not None


def invert(ranges: Ranges) -> Ranges:
    """Give the code points that are not in ``ranges``, surrogates left out."""
    result, start = [], 0
    for first, last in sorted((*ranges, *_SURROGATES)):
        if first > start:
            result.append((start, first - 1))
        start = max(start, last + 1)
    return (*result, (start, _TOP)) if start <= _TOP else tuple(result)


@lru_cache(maxsize=256)
def read(pattern: str) -> Node:
    """Read a pattern. Raises ``UnreadPattern``."""
    reader = _Reader(pattern)
    node = reader.alternatives()
    if reader.rest():
        raise UnreadPattern(f"unexpected {reader.rest()[0]!r}")
    return node


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def rest(self) -> str:
        return self._text[self._at :]

    def alternatives(self) -> Node:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Alternatives(tuple(options))

    def _take(self, word: str) -> bool:
        found = self._text.startswith(word, self._at)
        self._at += len(word) * found
        return found

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise UnreadPattern("the pattern ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _sequence(self) -> Node:
        parts: list[Node] = []
        self._take("^") if self._outermost() else None
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            if self._text[self._at] == "$" and self._ends():
                self._at += 1
                break
            parts.append(self._quantified(self._atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _outermost(self) -> bool:
        """Say whether ``^`` is read here: an alternative of the whole pattern begins, groups left aside."""
        return not self._text[: self._at].replace("(?:", "").strip("(") or self._text[self._at - 1] == "|"

    def _ends(self) -> bool:
        return not self._text[self._at + 1 :].strip(")") or self._text[self._at + 1] == "|"

    def _atom(self) -> Node:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return Run(self._set())
        if char == ".":
            return Run(invert(_LINES))
        if char == "\\":
            return Run(self._escape())
        if char in "^$*+?{":
            raise UnreadPattern(f"{char!r} stands where it is not read")
        return Run(((ord(char), ord(char)),))

    def _group(self) -> Node:
        if self._take("?") and not self._take(":"):
            raise UnreadPattern("look-around and named groups are not read")
        node = self.alternatives()
        if not self._take(")"):
            raise UnreadPattern("a group does not end")
        return node

    def _escape(self) -> Ranges:
        char = self._next()
        sets = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
        if char.lower() in sets:
            return sets[char] if char in sets else invert(sets[char.lower()])
        if char in _CONTROLS:
            return ((_CONTROLS[char], _CONTROLS[char]),)
        if char in "ux":
            code = int(self._digits(4 if char == "u" else 2), 16)
            return ((code, code),)
        if char.isalnum():
            raise UnreadPattern(f"\\{char} is not read")
        return ((ord(char), ord(char)),)

    def _digits(self, count: int) -> str:
        digits = "".join(self._next() for _ in range(count))
        if not all(digit in "0123456789abcdefABCDEF" for digit in digits):
            raise UnreadPattern(f"{digits!r} is no code point")
        return digits

    def _set(self) -> Ranges:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        while not self._take("]"):
            first = self._member()
            if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
                self._at += 1
                last = self._member()
                ranges.append((first[0][0], last[-1][1]))
            else:
                ranges += first
        return invert(tuple(ranges)) if negated else tuple(ranges)

    def _member(self) -> Ranges:
        char = self._next()
        if char != "\\":
            return ((ord(char), ord(char)),)
        return ((8, 8),) if self._take("b") else self._escape()

    def _quantified(self, atom: Node) -> Node:
        bounds = self._quantifier()
        if bounds is None:
            return atom
        self._take("?")
        if self._text[self._at : self._at + 1] in ("*", "+", "?") and self._at < len(self._text):
            raise UnreadPattern("a quantifier stands where it is not read")
        if isinstance(atom, Run) and atom.least == atom.most == 1:
            return Run(atom.ranges, *bounds)
        return Repeat(atom, *bounds)

    def _quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return bounds
        if not self._take("{"):
            return None
        inside, brace, _ = self.rest().partition("}")
        least, comma, most = inside.partition(",")
        if not brace or not least.isdigit() or not (most.isdigit() or not most):
            raise UnreadPattern("a brace is no quantifier")
        self._at += len(inside) + 1
        return int(least), int(most) if most else None if comma else int(least)


def runs(node: Node) -> tuple[Run, ...] | None:
    """Give a tree as runs one after the other, or None where it holds alternatives or repeated groups."""
    if isinstance(node, Run):
        return (node,)
    if not isinstance(node, Sequence):
        return None
    inner = [runs(part) for part in node.parts]
    return None if None in inner else _joined(run for part in inner for run in part or ())


def _joined(parts: Iterable[Run]) -> tuple[Run, ...]:
    result: list[Run] = []
    for run in parts:
        last = result[-1] if result else None
        if last is not None and last.ranges == run.ranges:
            most = None if last.most is None or run.most is None else last.most + run.most
            result[-1] = Run(run.ranges, last.least + run.least, most)
        else:
            result.append(run)
    return tuple(result)


def shortest(node: Node) -> str:
    """Give a shortest match, of first characters."""
    if isinstance(node, Run):
        if node.least and not node.ranges:
            raise UnreadPattern("a class without characters matches nothing")
        return chr(min(node.ranges)[0]) * node.least if node.least else ""
    if isinstance(node, Repeat):
        return shortest(node.part) * node.least
    if isinstance(node, Sequence):
        return "".join(map(shortest, node.parts))
    return min(map(shortest, node.options), key=len)


def lengths(node: Node) -> tuple[int, int | None]:
    """Give the least and the greatest length of a match."""
    if isinstance(node, Run):
        return node.least, node.most
    if isinstance(node, Repeat):
        least, most = lengths(node.part)
        return least * node.least, None if most is None or node.most is None else most * node.most
    inner = [lengths(part) for part in (node.parts if isinstance(node, Sequence) else node.options)]
    tops = [most for _, most in inner]
    if isinstance(node, Sequence):
        return sum(least for least, _ in inner), None if None in tops else sum(top or 0 for top in tops)
    return min(least for least, _ in inner), None if None in tops else max(top or 0 for top in tops)
