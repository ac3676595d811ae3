"""Arrays of a case: a length, then items; distinct ones without trying where they come from a short list."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.canonical import same
from strategies.admission import admits, item
from strategies.cases import Case, Conjunction
from strategies.pieces import Finish, Piece, choice, drawn, sizes
from strategies.reasons import Impossible
from strategies.schema_source import SchemaSource

Build = Callable[[Conjunction], Piece]

_ATTEMPTS = 20
_PLACEMENTS = 6
_Items = tuple[list[Piece], Piece | None, int | None]


def arrays(source: SchemaSource, case: Case, build: Build) -> Piece:
    """Draw an array of the case. Raises ``Impossible``."""
    first, rest, most = _items(case, build)
    if case.contains:
        return _containing(case, build, (first, rest, most))
    least = case.min_items
    if most is not None and most < least:
        raise Impossible(case.where, "minItems", f"no more than {most} items are possible, and {least} are asked for")
    if case.unique and rest is not None and not first and rest.domain is not None:
        return _subset(case, rest, most)
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
    table = sizes(least, most)
    pieces = [*first, *([rest] if rest is not None else [])]
    if table[-1] == 0 or not pieces:
        return Piece(None, list, (), None, 0)
    finishes = [piece.finish for piece in pieces]

    def draw_items(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> list[Any]:
        items: list[Any] = []
        for index in range(draw(parts[0])):
            place = min(index, len(finishes) - 1)
            value, finish = draw(parts[place + 1]), finishes[place]
            items.append(value if finish is None else finish(value))
        return items

    def draw_distinct(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> list[Any]:
        items: list[Any] = []
        for index in range(draw(parts[0])):
            place = min(index, len(finishes) - 1)
            if not _add_another(draw, parts[place + 1], finishes[place], items):
                break
        return items if len(items) >= least else reject()

    strategies = [piece.part for piece in pieces]
    make = draw_distinct if case.unique else draw_items
    return drawn(f"array {case.where}", make, [st.sampled_from(table), *strategies], 1 + least)


def _add_another(draw: DrawFn, part: SearchStrategy[Any], finish: Finish | None, items: list[Any]) -> bool:
    """Add an item that is not among ``items``; say whether one was found."""
    for _ in range(_ATTEMPTS):
        value = draw(part)
        value = value if finish is None else finish(value)
        if not any(same(value, other) for other in items):
            items.append(value)
            return True
    return False


def _subset(case: Case, piece: Piece, most: int | None) -> Piece:
    """Draw different values of a short list: each draw picks from those that are left."""
    values: list[Any] = []
    for value in piece.domain or ():
        if not any(same(value, other) for other in values):
            values.append(value)
    most = _least(most, len(values))
    if most < case.min_items:
        raise Impossible(case.where, "uniqueItems", f"{case.min_items} are asked for of {len(values)} different items")
    if most == 0:
        return Piece(None, list, (), None, 0)

    def draw_subset(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> list[Any]:
        left = list(values)
        return [copy.deepcopy(left.pop(draw(parts[len(left)]))) for _ in range(draw(parts[0]))]

    picks = [st.integers(0, last) for last in range(len(values))]
    return drawn(f"subset {case.where}", draw_subset, [st.sampled_from(sizes(case.min_items, most)), *picks], 1 + case.min_items)


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
    return choice(f"contains {case.where}", options)


def _placed(case: Case, build: Build, pieces: _Items, places: tuple[int, ...]) -> Piece:
    first, rest, most = pieces
    contained = list(zip(places, case.contains, strict=True))
    wanted = [[sub for place, sub in contained if place == at] for at in range(max(places) + 1)]
    leading = [build(tuple(dict.fromkeys((*item(case.items, at), *subs)))) for at, subs in enumerate(wanted)]
    return _listed(case, [*leading, *first[len(leading) :]], rest, max(case.min_items, len(leading)), most)
