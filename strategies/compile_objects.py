"""Objects of a case: which options are there is one choice, then each member is drawn; names that no schema gives come last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import reject
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies.admission import admits, is_other, member
from strategies.cases import Case, Conjunction, Outside, Shape, case_label
from strategies.extra_members import Extras, extras_of, text_of
from strategies.pieces import Finish, Marks, Piece, choice, drawn, marks
from strategies.reasons import Impossible, Unbuilt
from strategies.schema_source import SchemaSource

Build = Callable[[Conjunction], Piece]

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
    if case.strange:
        return _with_strange(source, case, build)
    plan = _plan(source, case, build)
    if plan.least > plan.most or len(plan.always) > plan.most:
        raise Impossible(case.where, "maxProperties", f"{len(plan.always)} members are required, and {plan.most} are allowed")
    if len(plan.always) + len(plan.options) + _unnamed(plan) < plan.least:
        raise Impossible(case.where, "minProperties", f"there are not {plan.least} members that are possible")
    piece = _drawn(case_label(case), plan)
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


def _drawn(label: str, plan: Plan) -> Piece:
    """Put the plan into one function. What is heavy is drawn first; the names keep the order of the schema."""
    names = [*plan.always, *plan.options]
    pieces = [*plan.always.values(), *plan.options.values()]
    finishes: list[Finish | None] = [piece.finish for piece in pieces]
    heavy_first = sorted(range(len(pieces)), key=lambda place: -pieces[place].weight)
    fixed, extras, least, most = len(plan.always), plan.extras, plan.least, plan.most
    options = _options(label, plan)

    def draw_object(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> dict[str, Any]:
        there = set() if options is None else {fixed + index for index in options.picked(draw(parts[-1]))}
        result: dict[str, Any] = {name: None for place, name in enumerate(names) if place < fixed or place in there}
        for place in heavy_first:
            if place < fixed or place in there:
                value, finish = draw(parts[place]), finishes[place]
                result[names[place]] = value if finish is None else finish(value)
        if extras is not None and not extras.add(draw, result, least, most):
            reject()
        return result

    parts = [*(piece.part for piece in pieces), *([] if options is None else [options.strategy])]
    always = plan.always.values()
    weight = (options is not None) + (extras is not None) + sum(piece.weight for piece in always)
    return drawn(f"object {label}", draw_object, parts, weight, fixed + sum(piece.members for piece in always))


def _options(label: str, plan: Plan) -> Marks | None:
    """Give what draws which options are there, as many as the bounds ask for beside unnamed members."""
    most = min(len(plan.options), plan.most - len(plan.always))
    least = max(0, plan.least - len(plan.always) - _unnamed(plan))
    return None if most == 0 else marks(f"options {label}", len(plan.options), least, most)


def _unnamed(plan: Plan) -> int:
    """Give how many members there can be beyond the named ones."""
    return 0 if plan.extras is None else _NO_LIMIT if plan.extras.most is None else plan.extras.most


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
    if not pieces and any(shape.patterned for shape in case.shapes) and not _sealed(case, wanted, build):
        raise Unbuilt(case.where, "patternProperties", "a member outside of a closed object is asked for")
    if not pieces:
        raise Impossible(case.where, "additionalProperties", "no member beside the named ones is possible")
    return choice(f"outside {case_label(case)}", pieces)


def _sealed(case: Case, wanted: Outside, build: Build) -> bool:
    """Say whether a shape without further names and patterns leaves no member that is outside of the wanted one."""
    patterns = {pattern for pattern, _ in wanted.shape.patterned}
    return any(
        shape.other is not None
        and shape.named.keys() <= wanted.shape.named.keys()
        and {pattern for pattern, _ in shape.patterned} <= patterns
        and _possible(build, (shape.other, wanted.broken)) is None
        for shape in case.shapes
    )


def _with_strange(source: SchemaSource, case: Case, build: Build) -> Piece:
    """Take a member whose name ``propertyNames`` refuses, once for each name that comes to mind."""
    wanted, others = case.strange[0], case.strange[1:]
    known = [name for shape in case.shapes for name in shape.named] + list(case.required)
    pieces = []
    for name in dict.fromkeys((*known, *_STRANGE)):
        if source.accepts(wanted.located, name) is wanted.holds:
            required = case.required if name in case.required else (*case.required, name)
            piece = _attempt(source, replace(case, strange=others, required=required), build)
            pieces += [] if piece is None else [piece]
    if not pieces:
        build((text_of(None), *case.names, wanted))  # where there can be no such name, this is what says so
        raise Unbuilt(case.where, "propertyNames", "no name was found that it refuses")
    return choice(f"strange {case_label(case)}", pieces[:_STRANGE_LIMIT])


_STRANGE = ("", "a", "A", "0", " ", "aaaa", "a b", "ä", "__proto__", "a" * 40, "a" * 300)
_STRANGE_LIMIT = 4
_FRESH = ("a", "b", "extra", "x-a", "A1")


def _attempt(source: SchemaSource, case: Case, build: Build) -> Piece | None:
    try:
        return objects(source, case, build)
    except Impossible:
        return None
