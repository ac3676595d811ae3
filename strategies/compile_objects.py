"""Objects of a case: which options are there is one choice, then each member is drawn; names that no schema gives come last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies.admission import admits, is_other, member
from strategies.cases import Case, Conjunction, Shape
from strategies.extra_members import Extras, extras_of
from strategies.pieces import Finish, Piece, choice, drawn
from strategies.reasons import Impossible, Unbuilt
from strategies.schema_source import SchemaSource

Build = Callable[[Conjunction], Piece]

_GROUP = 6
_NO_LIMIT = 10**6


@dataclass(frozen=True, slots=True)
class Plan:
    """An object as it will be drawn: members that are always there, members that may be, and names beyond those."""

    always: Mapping[str, Piece]
    options: Mapping[str, Piece]
    extras: Extras | None
    least: int
    most: int


def objects(source: SchemaSource, case: Case, build: Build) -> Piece:
    """Draw an object of the case. Raises ``Impossible``."""
    if case.outside:
        return _with_outside(source, case, build)
    plan = _plan(source, case, build)
    if plan.least > plan.most or len(plan.always) > plan.most:
        raise Impossible(case.where, "maxProperties", f"{len(plan.always)} members are required, and {plan.most} are allowed")
    if plan.extras is None and len(plan.always) + len(plan.options) < plan.least:
        raise Impossible(case.where, "minProperties", f"there are not {plan.least} members that are possible")
    piece = _drawn(case.where, plan)
    return Piece(piece.alone().filter(lambda value: admits(source, case, value))) if case.excluded else piece


def _plan(source: SchemaSource, case: Case, build: Build) -> Plan:
    names = dict.fromkeys([name for shape in case.shapes for name in shape.named] + list(case.required))
    always = {name: build(member(source, case, name)) for name in names if name in case.required}
    options = {}
    for name in names:
        piece = None if name in always else _possible(build, member(source, case, name))
        if piece is not None:
            options[name] = piece
    extras = extras_of(source, case, build, tuple(names))
    return Plan(always, options, extras, case.min_properties, _NO_LIMIT if case.max_properties is None else case.max_properties)


def _possible(build: Build, demands: Conjunction) -> Piece | None:
    try:
        return build(demands)
    except Impossible:
        return None


def _drawn(where: str, plan: Plan) -> Piece:
    """Put the plan into one function. What is heavy is drawn first; the names keep the order of the schema."""
    names = [*plan.always, *plan.options]
    pieces = [*plan.always.values(), *plan.options.values()]
    finishes: list[Finish | None] = [piece.finish for piece in pieces]
    weights = [piece.weight for piece in pieces]
    choose, choices = _presence(plan, weights)
    extras, least, most = plan.extras, plan.least, plan.most

    def draw_object(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> dict[str, Any]:
        places = choose(draw, parts)
        result: dict[str, Any] = {names[place]: None for place in sorted(places)}
        for place in places:
            value, finish = draw(parts[place]), finishes[place]
            result[names[place]] = value if finish is None else finish(value)
        if extras is not None and not extras.add(draw, result, least, most):
            reject()
        return result

    strategies = [piece.part for piece in pieces]
    return drawn(f"object {where}", draw_object, [*strategies, *choices], 1 + sum(weights[: len(plan.always)]))


Choose = Callable[[DrawFn, Sequence[SearchStrategy[Any]]], Sequence[int]]


def _presence(plan: Plan, weights: Sequence[int]) -> tuple[Choose, list[SearchStrategy[Any]]]:
    """Give the function that draws which members are there, heavy ones first, and the strategies that it draws from.

    These strategies stand behind those of the members.
    """
    options = sorted(range(len(plan.always), len(weights)), key=lambda place: -weights[place])
    fixed = range(len(plan.always))
    if len(options) <= _GROUP:
        return _from_table(plan, fixed, options, weights)
    free = plan.least <= len(fixed) and plan.most >= len(weights)
    return (_grouped if free else _picked)(plan, fixed, options, weights)


def _ordered(places: Iterable[int], weights: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(places, key=lambda place: (-weights[place], place)))


def _subsets(options: Sequence[int]) -> list[tuple[int, ...]]:
    """Give all subsets, small ones first."""
    return [subset for size in range(len(options) + 1) for subset in combinations(options, size)]


def _from_table(
    plan: Plan, fixed: Sequence[int], options: Sequence[int], weights: Sequence[int]
) -> tuple[Choose, list[SearchStrategy[Any]]]:
    capacity = 0 if plan.extras is None else _NO_LIMIT if plan.extras.most is None else plan.extras.most
    sizes = range(plan.least - capacity, plan.most + 1)
    table = [_ordered((*fixed, *subset), weights) for subset in _subsets(options) if len(fixed) + len(subset) in sizes]
    if len(table) == 1:
        return lambda _draw, _parts: table[0], []
    return lambda draw, parts: table[draw(parts[-1])], [st.integers(0, len(table) - 1)]


def _grouped(
    _plan: Plan, fixed: Sequence[int], options: Sequence[int], weights: Sequence[int]
) -> tuple[Choose, list[SearchStrategy[Any]]]:
    """Many options: one choice for each group of them."""
    groups = [_subsets(options[start : start + _GROUP]) for start in range(0, len(options), _GROUP)]

    def choose(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> Sequence[int]:
        picked = [place for group, part in zip(groups, parts[-len(groups) :], strict=True) for place in group[draw(part)]]
        return _ordered((*fixed, *picked), weights)

    return choose, [st.integers(0, len(group) - 1) for group in groups]


def _picked(
    plan: Plan, fixed: Sequence[int], options: Sequence[int], weights: Sequence[int]
) -> tuple[Choose, list[SearchStrategy[Any]]]:
    """Many options of which only so many may be there: draw how many, then which."""
    capacity = 0 if plan.extras is None else _NO_LIMIT if plan.extras.most is None else plan.extras.most
    fewest = max(0, plan.least - len(fixed) - capacity)
    most = min(len(options), plan.most - len(fixed))

    def choose(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> Sequence[int]:
        left = list(options)
        picked = [left.pop(draw(parts[len(weights) + len(left) - 1])) for _ in range(draw(parts[-1]))]
        return _ordered((*fixed, *picked), weights)

    return choose, [*(st.integers(0, last) for last in range(len(options))), st.integers(fewest, most)]


def _with_outside(source: SchemaSource, case: Case, build: Build) -> Piece:
    """Take a member that the shape does not know, once for each name that it can have."""
    wanted, others = case.outside[0], case.outside[1:]
    known = [name for shape in case.shapes for name in shape.named] + list(case.required)
    candidates = dict.fromkeys(name for name in (*known, *_FRESH) if is_other(wanted.shape, name))
    pieces = []
    for name in candidates:
        shape = Shape({name: wanted.broken}, (), None)
        required = case.required if name in case.required else (*case.required, name)
        piece = _attempt(source, replace(case, outside=others, required=required, shapes=(*case.shapes, shape)), build)
        pieces += [] if piece is None else [piece]
    if not pieces and any(shape.patterned for shape in case.shapes):
        raise Unbuilt(case.where, "patternProperties", "a member outside of a closed object is asked for")
    if not pieces:
        raise Impossible(case.where, "additionalProperties", "no member beside the named ones is possible")
    return choice(f"outside {case.where}", pieces)


_FRESH = ("a", "b", "extra", "x-a", "A1")


def _attempt(source: SchemaSource, case: Case, build: Build) -> Piece | None:
    try:
        return objects(source, case, build)
    except Impossible:
        return None
