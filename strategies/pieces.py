"""Pieces: strategies put together with as few draws as possible.

Hypothesis pays for each draw (a choice and a span), whatever is drawn, and twice for ``map`` and three times for ``one_of``. So a
scalar is one draw and a pure function that finishes it; an object is one function that draws which options are there (one choice)
and then its members; an array draws its length and then its items. Nothing is filtered.

The first choice is always the plainest one, because Hypothesis shrinks towards it: few members, few items, the first alternative.
What decides about size is drawn before what does not: Hypothesis keeps its first examples within five times the size of the
smallest one that begins alike, and throws away those that grow beyond that.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Finish = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """What draws one value: a strategy and the function that finishes what it draws.

    Without a strategy the value is ``constant``. ``domain`` lists all values where they are few. Of the smallest value ``weight``
    counts the draws and ``members`` the members.
    """

    strategy: SearchStrategy[Any] | None = None
    finish: Finish | None = None
    constant: Any = None
    domain: tuple[Any, ...] | None = None
    weight: int = 1
    members: int = 0

    @property
    def part(self) -> SearchStrategy[Any]:
        """What is drawn from, before it is finished."""
        return st.just(self.constant) if self.strategy is None else self.strategy

    def alone(self) -> SearchStrategy[Any]:
        """Give the piece as a strategy of its own."""
        return self.part if self.finish is None else self.part.map(self.finish)


def one_of_values(values: Sequence[Any]) -> Piece:
    """Draw one of these values; a container is copied, so that a test may change what it got."""
    domain = tuple(values)
    finish = copy.deepcopy if any(isinstance(value, (dict, list)) for value in domain) else None
    if len(domain) == 1:
        return Piece(None, finish, domain[0], domain, 0)
    return Piece(st.sampled_from(domain), finish, None, domain)


@dataclass(frozen=True, slots=True)
class Switch:
    """A choice that decides what is drawn after it: ``draw(strategy) - base`` is an index, 0 the plainest.

    Hypothesis varies an example by copying integers to where others stood. A copied switch would ask for more than the varied
    example holds, and the example would be thrown away; so each switch has numbers of its own that fit nowhere else.
    """

    strategy: SearchStrategy[int]
    base: int


def switch(label: str, count: int) -> Switch:
    """Make the switch of a piece with this label, for indexes below ``count``."""
    base = _SWITCHES + zlib.crc32(label.encode()) * _SPACING
    return Switch(st.integers(base, base + count - 1), base)


def even(count: int) -> Switch:
    """Make a choice of a number below ``count`` (after ``base`` is taken away), each as likely as the other.

    Hypothesis draws small numbers more often, but not from a range that is narrow beside what it begins with.
    """
    base = 1 << (count.bit_length() + _NARROW)
    return Switch(st.integers(base, base + count - 1), base)


@dataclass(frozen=True, slots=True)
class Marks:
    """A choice of some of several things, drawn as one text: each thing has a character, and shrinking takes single ones out.

    The characters are private ones, other ones for each label, so that no other text fits (see ``Switch``).
    """

    strategy: SearchStrategy[str]
    first: int
    count: int
    least: int
    most: int

    def picked(self, text: str) -> list[int]:
        """Give the indexes that a drawn text stands for, in its order, at least ``least`` of them and at most ``most``."""
        indexes = list(dict.fromkeys(ord(char) - self.first for char in text))
        if len(indexes) < self.least:
            indexes += [index for index in range(self.count) if index not in indexes][: self.least - len(indexes)]
        return indexes[: self.most]


def marks(label: str, count: int, least: int, most: int) -> Marks:
    """Make the marks of a piece with this label, for ``least`` to ``most`` of ``count`` things, half of them on average."""
    first = _PRIVATE + zlib.crc32(label.encode()) % (_PRIVATE_COUNT - count)
    alphabet = "".join(chr(first + index) for index in range(count))
    longest = max(least, min(most, count + count * 2 // 5))
    return Marks(st.text(alphabet, min_size=least, max_size=max(1, longest)), first, count, least, most)


# Beyond 2**44 Hypothesis draws from a narrow range evenly; all stay below 2**53.
_SWITCHES = 2**44
_SPACING = 2**16
_NARROW = 48
_PRIVATE = 0xF0000
_PRIVATE_COUNT = 0x1FFFE


class Parts:
    """The strategies that a piece draws from. It prints as the label of the piece (no dataclass: Hypothesis prints their fields).

    Hypothesis prints a strategy with all its arguments where a draw raises; nested ones would be tens of thousands of characters.
    """

    __slots__ = ("label", "strategies")

    def __init__(self, label: str, strategies: tuple[SearchStrategy[Any], ...]) -> None:
        self.label, self.strategies = label, strategies

    def __repr__(self) -> str:
        return self.label[:_LABEL_LIMIT]


_LABEL_LIMIT = 160


def drawn(label: str, make: Callable[..., Any], parts: Sequence[SearchStrategy[Any]], weight: int = 1, members: int = 0) -> Piece:
    """Make a piece of a function that draws from ``parts``.

    ``label`` tells it from other pieces: Hypothesis tries what it drew for a strategy in other places with the same label, and
    tells functions apart by their code and defaults.
    """

    def draw_piece(draw: DrawFn, parts: Parts, _label: str = label) -> Any:
        return make(draw, parts.strategies)

    return Piece(st.composite(draw_piece)(Parts(label, tuple(parts))), weight=weight, members=members)


def choice(label: str, pieces: Sequence[Piece]) -> Piece:
    """Draw one of several pieces, small ones first. Those with few values become one list of values, in its order."""
    if len(pieces) == 1:
        return pieces[0]
    if all(piece.domain is not None for piece in pieces):
        return one_of_values([value for piece in pieces for value in piece.domain or ()])
    pieces = sorted(pieces, key=lambda piece: (piece.members, piece.weight))
    which = switch(f"{label} {len(pieces)}", len(pieces))
    finishes, base = tuple(piece.finish for piece in pieces), which.base

    def choose(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> Any:
        index = draw(parts[0]) - base
        value, finish = draw(parts[index + 1]), finishes[index]
        return value if finish is None else finish(value)

    parts = [piece.part for piece in pieces]
    return drawn(label, choose, [which.strategy, *parts], 1 + pieces[0].weight, pieces[0].members)


def sizes(least: int, most: int | None, usual: int = 3) -> tuple[int, ...]:
    """List the sizes to draw from, small ones more than once, the largest one in if it is within reach."""
    top = least + usual if most is None else min(most, least + usual)
    table = [size for size in range(least, top + 1) for _ in range(max(1, 3 - (size - least)))]
    return (*table, most) if most is not None and top < most <= least + 12 else tuple(table)
