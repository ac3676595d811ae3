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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Finish = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """What draws one value: a strategy and the function that finishes what it draws.

    Without a strategy the value is ``constant``. ``domain`` lists all values where they are few. ``weight`` counts the draws of a
    small value: members of little weight are drawn last.
    """

    strategy: SearchStrategy[Any] | None = None
    finish: Finish | None = None
    constant: Any = None
    domain: tuple[Any, ...] | None = None
    weight: int = 1

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


def drawn(label: str, make: Callable[..., Any], parts: Sequence[SearchStrategy[Any]], weight: int = 1) -> Piece:
    """Make a piece of a function that draws from ``parts``.

    ``label`` tells it from other pieces: Hypothesis tries what it drew for a strategy in other places with the same label, and
    tells functions apart by their code and defaults. Parts are handed over as arguments because these it prepares once.
    """

    def draw_piece(draw: DrawFn, *parts: SearchStrategy[Any], _label: str = label) -> Any:
        return make(draw, parts)

    return Piece(st.composite(draw_piece)(*parts), weight=weight)


def choice(label: str, pieces: Sequence[Piece]) -> Piece:
    """Draw one of several pieces, the first one the plainest. Those with few values become one list of values."""
    if len(pieces) == 1:
        return pieces[0]
    if all(piece.domain is not None for piece in pieces):
        return one_of_values([value for piece in pieces for value in piece.domain or ()])
    which = st.integers(0, len(pieces) - 1)
    finishes = tuple(piece.finish for piece in pieces)

    def choose(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> Any:
        index = draw(parts[0])
        value, finish = draw(parts[index + 1]), finishes[index]
        return value if finish is None else finish(value)

    parts = [piece.part for piece in pieces]
    return drawn(label, choose, [which, *parts], 1 + min(piece.weight for piece in pieces))


def sizes(least: int, most: int | None, usual: int = 3) -> tuple[int, ...]:
    """List the sizes to draw from, small ones more than once, the largest one in if it is within reach."""
    top = least + usual if most is None else min(most, least + usual)
    table = [size for size in range(least, top + 1) for _ in range(max(1, 3 - (size - least)))]
    return (*table, most) if most is not None and top < most <= least + 12 else tuple(table)
