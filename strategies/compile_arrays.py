"""Arrays of a case: a length, then items; distinct ones without trying where they come from a short list."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.canonical import same
from strategies.admission import admits, item
from strategies.cases import Case, Conjunction, case_label
from strategies.pieces import Piece, choice, drawn, marks, sizes, switch
from strategies.reasons import Impossible, Unbuilt
from strategies.schema_source import SchemaSource

Build = Callable[[Conjunction], Piece]

_ATTEMPTS = 20
_PLACEMENTS = 6
_Items = tuple[list[Piece], Piece | None, int | None]


def arrays(source: SchemaSource, case: Case, build: Build) -> Piece:
    """Draw an array of the case. Raises ``Impossible``."""
    if case.repeated:
        return _repeating(source, case, build)
    first, rest, most = _items(case, build)
    if case.contains:
        return _containing(case, build, (first, rest, most))
    least = case.min_items
    if case.unique and rest is not None and not first:
        if rest.domain is not None:
            return _subset(case, rest, most)
        if least > 1 and (most is None or least <= most):
            return _several(rest, least, most)
    piece = _listed(case, first, rest, least, most)
    return Piece(piece.alone().filter(lambda value: admits(source, case, value))) if case.excluded else piece


def _items(case: Case, build: Build) -> _Items:
    """Give the pieces of the first items one by one, of each later item, and the greatest possible length."""
    first: list[Piece] = []
    most = case.max_items
    for index in range(max((len(rule.first) for rule in case.items), default=0)):
        try:
            first.append(build(item(case.items, index)))
        except Impossible:
            if index < case.min_items:
                raise
            return first, None, _least(most, index)
    if most is not None and most <= len(first):
        return first[:most], None, most
    try:
        return first, build(item(case.items, len(first))), most
    except Impossible:
        if len(first) < case.min_items:
            raise
        return first, None, _least(most, len(first))


def _least(bound: int | None, other: int) -> int:
    return other if bound is None else min(bound, other)


def _listed(case: Case, first: Sequence[Piece], rest: Piece | None, least: int, most: int | None) -> Piece:
    """Draw a length, then the first items from a piece each, then the others from ``rest``."""
    if most is not None and most < least:
        raise Impossible(case.where, "minItems", f"no more than {most} items are possible, and {least} are asked for")
    table = sizes(least, most)
    pieces = [*first, *([rest] if rest is not None else [])]
    if table[-1] == 0 or not pieces:
        return Piece(None, list, (), None, 0)
    finishes = [piece.finish for piece in pieces]
    length = switch(f"length {case_label(case)}", len(table))
    base = length.base

    def draw_items(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> list[Any]:
        items: list[Any] = []
        for index in range(table[draw(parts[0]) - base]):
            place = min(index, len(finishes) - 1)
            value, finish = draw(parts[place + 1]), finishes[place]
            items.append(value if finish is None else finish(value))
        return items

    def draw_distinct(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> list[Any]:
        items: list[Any] = []
        wanted, attempts = table[draw(parts[0]) - base], 0
        while attempts < wanted or (len(items) < least and attempts < _ATTEMPTS):
            place = min(len(items), len(finishes) - 1)
            value, finish = draw(parts[place + 1]), finishes[place]
            value = value if finish is None else finish(value)
            items += [] if any(same(value, other) for other in items) else [value]
            attempts += 1
        return items if len(items) >= least else reject()

    strategies = [piece.part for piece in pieces]
    make = draw_distinct if case.unique else draw_items
    weights = [pieces[min(index, len(pieces) - 1)].weight for index in range(least)]
    return drawn(f"array {case_label(case)}", make, [length.strategy, *strategies], 1 + sum(weights))


def _repeating(source: SchemaSource, case: Case, build: Build) -> Piece:
    """Draw an array, then repeat its last item (``not`` with ``uniqueItems``)."""
    if case.unique or (case.max_items is not None and case.max_items < 2):
        raise Impossible(case.where, "uniqueItems", "no item can stand there twice")
    if any(rule.first for rule in case.items):
        raise Unbuilt(case.where, "uniqueItems", "an item is to be repeated where each place has a schema of its own")
    most = None if case.max_items is None else case.max_items - 1
    piece = arrays(
        source, replace(case, repeated=False, min_items=max(1, case.min_items - 1), max_items=most, excluded=()), build
    )

    def repeated(items: list[Any]) -> list[Any]:
        return [*items, copy.deepcopy(items[-1])]

    strategy = piece.alone().map(repeated)
    return Piece(strategy.filter(lambda value: admits(source, case, value)) if case.excluded else strategy, weight=piece.weight)


def _several(piece: Piece, least: int, most: int | None) -> Piece:
    """Draw two or more different items. Hypothesis's own list finds different ones when it shrinks, too."""
    return Piece(st.lists(piece.alone(), min_size=least, max_size=sizes(least, most)[-1], unique_by=_identity), weight=1 + least)


def _identity(value: Any) -> Any:
    """Give a key that two JSON values share exactly when they are equal: 5 and 5.0 are, 1 and true are not."""
    if isinstance(value, list):
        return ("list", *map(_identity, value))
    if isinstance(value, dict):
        return frozenset((name, _identity(member)) for name, member in value.items())
    return (isinstance(value, bool), value)


def _subset(case: Case, piece: Piece, most: int | None) -> Piece:
    """Draw different values of a short list, at once."""
    values: list[Any] = []
    for value in piece.domain or ():
        if not any(same(value, other) for other in values):
            values.append(value)
    most = _least(most, len(values))
    if most < case.min_items:
        raise Impossible(case.where, "uniqueItems", f"{case.min_items} are asked for of {len(values)} different items")
    if most == 0:
        return Piece(None, list, (), None, 0)

    some = marks(f"subset {case_label(case)}", len(values), case.min_items, most)

    def pick(text: str) -> list[Any]:
        return [copy.deepcopy(values[index]) for index in some.picked(text)]

    return Piece(some.strategy, pick)


def _containing(case: Case, build: Build, pieces: _Items) -> Piece:
    """Draw an array with an item for each ``contains``, at one of the places where it can stand."""
    most = pieces[2]
    reach = max((len(rule.first) for rule in case.items), default=0) + len(case.contains) + 1
    options: list[Piece] = []
    for places in product(range(_least(most, reach)), repeat=len(case.contains)):
        try:
            options.append(_placed(case, build, pieces, places))
        except Impossible:
            continue
        if len(options) == _PLACEMENTS:
            break
    if not options:
        raise Impossible(case.where, "contains", "no item can be what is to be contained")
    return choice(f"contains {case_label(case)}", options)


def _placed(case: Case, build: Build, pieces: _Items, places: tuple[int, ...]) -> Piece:
    first, rest, most = pieces
    contained = list(zip(places, case.contains, strict=True))
    wanted = [[sub for place, sub in contained if place == at] for at in range(max(places) + 1)]
    leading = [build(tuple(dict.fromkeys((*item(case.items, at), *subs)))) for at, subs in enumerate(wanted)]
    return _listed(case, [*leading, *first[len(leading) :]], rest, max(case.min_items, len(leading)), most)
