"""Numbers of a case, drawn as one integer or one float each; the smallest one is the nearest to zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

from hypothesis import strategies as st

from strategies.admission import admits, is_multiple
from strategies.cases import Case
from strategies.pieces import Piece, one_of_values
from strategies.reasons import Impossible
from strategies.schema_source import SchemaSource

SAFE = 2**53 - 1
"""Integers of this size and below survive the way through a double."""

_FINITE = 1.7976931348623157e308


def _floor(case: Case) -> int | None:
    bounds = [] if case.minimum is None else [math.ceil(case.minimum)]
    bounds += [] if case.above is None else [math.floor(case.above) + 1]
    return max(bounds, default=None)


def _ceiling(case: Case) -> int | None:
    bounds = [] if case.maximum is None else [math.floor(case.maximum)]
    bounds += [] if case.below is None else [math.ceil(case.below) - 1]
    return min(bounds, default=None)


def _range(case: Case) -> tuple[int, int]:
    """Give the range of integers of a case; an open end lies at the safe integers, or beyond the other end."""
    low, high = _floor(case), _ceiling(case)
    low_end = low if low is not None else -SAFE if high is None or high > -SAFE else high - SAFE
    return low_end, high if high is not None else SAFE if low_end < SAFE else low_end + SAFE


def _step(case: Case) -> Fraction:
    """Give the least number that all of ``multipleOf`` divide."""
    steps = [Fraction(str(step)) for step in case.multiples]
    return reduce(
        lambda a, b: Fraction(math.lcm(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator),
        steps,
    )


def integers(case: Case) -> Piece:
    """Draw an integer of the case. Raises ``Impossible``."""
    low, high = _range(case)
    step = _step(case).numerator if case.multiples else 1  # of p/q in lowest terms the whole multiples are those of p
    first, last = math.ceil(Fraction(low, step)), high // step
    skipped = sorted({int(value) // step for value in case.excluded if _skips(value, first * step, last * step, step)})
    count = last - first + 1 - len(skipped)
    if count <= 0:
        raise Impossible(case.where, "minimum", f"no integer from {low} to {high} is left")
    piece = _whole(first, last, step, skipped)
    if not case.unmultiples or piece.strategy is None:
        return piece
    return _coprime(piece, case, low, high)


def _skips(value: Any, low: int, high: int, step: int) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and low <= value <= high and value % step == 0


def _whole(first: int, last: int, step: int, skipped: list[int]) -> Piece:
    def spread(index: int) -> int:
        for gap in skipped:
            index += index >= gap
        return index * step

    last -= len(skipped)
    if last - first < 24:
        ordered = sorted((spread(index) for index in range(first, last + 1)), key=lambda value: (abs(value), -value))
        return one_of_values(ordered)
    return Piece(st.integers(first, last), spread if skipped or step != 1 else None)


def _coprime(piece: Piece, case: Case, low: int, high: int) -> Piece:
    """Move what is a multiple of a forbidden number to a neighbour that is none."""

    def near(value: int) -> int:
        for distance in range(1000):
            for other in (value + distance, value - distance):
                if low <= other <= high and not any(is_multiple(other, step) for step in case.unmultiples):
                    return other
        return value

    value = near(max(low, min(high, 1)))
    if any(is_multiple(value, step) for step in case.unmultiples):
        raise Impossible(case.where, "multipleOf", "each integer is a multiple that is not wanted")
    finish: Callable[[Any], Any] = near if piece.finish is None else (lambda index: near(piece.finish(index)))  # type: ignore[misc]
    return Piece(piece.strategy, finish)


def _float_bounds(case: Case) -> tuple[float, float]:
    lows = [-_FINITE] if case.minimum is None else [_inward(case.minimum, math.inf)]
    lows += [] if case.above is None else [math.nextafter(float(case.above), math.inf)]
    highs = [_FINITE] if case.maximum is None else [_inward(case.maximum, -math.inf)]
    highs += [] if case.below is None else [math.nextafter(float(case.below), -math.inf)]
    return max(lows), min(highs)


def _inward(bound: float, towards: float) -> float:
    value = float(bound)
    outside = value < bound if towards > 0 else value > bound
    return math.nextafter(value, towards) if outside else value


def plain_number(value: float) -> int | float:
    """Write a whole number as one; so zero is 0, and no minus zero comes about."""
    return int(value) if value.is_integer() and abs(value) <= SAFE else value


def numbers(source: SchemaSource, case: Case) -> Piece:
    """Draw an integer or a fraction of the case. Raises ``Impossible``."""
    low, high = _float_bounds(case)
    if low > high:
        raise Impossible(case.where, "minimum", f"no number is left between {case.minimum} and {case.maximum}")
    if case.multiples:
        return _multiples(source, case)
    piece = Piece(st.floats(low, high, allow_nan=False, allow_infinity=False), plain_number)
    if not case.excluded and not case.unmultiples:
        return piece
    return Piece(piece.alone().filter(lambda value: admits(source, case, value)))


def _multiples(source: SchemaSource, case: Case) -> Piece:
    """Draw a factor; a product that a double does not hold well enough gives way to the next smaller factor that does."""
    step = _step(case)
    low, high = _float_bounds(case)
    first = max(-(2**40), math.ceil(Fraction(low) / step))
    last = min(2**40, math.floor(Fraction(high) / step))
    start = max(first, min(last, 0))
    near = sorted(range(max(first, start - 200), min(last, start + 200) + 1), key=abs)
    fitting = [factor for factor in near if _fits(source, case, factor * step)]
    if not fitting:
        raise Impossible(case.where, "multipleOf", "no multiple lies within the bounds")

    def product(factor: int) -> int | float:
        value = factor * step
        return _written(value) if _fits(source, case, value) else _written(fitting[factor % len(fitting)] * step)

    return Piece(st.integers(first, last), product)


def _written(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def _fits(source: SchemaSource, case: Case, value: Fraction) -> bool:
    return admits(source, case, _written(value))


def fractions(source: SchemaSource, case: Case) -> Piece:
    """Draw a number that is no integer. Raises ``Impossible``."""
    whole = range(-50, 51)
    candidates = [start + part for start in whole for part in (0.5, 0.25, 0.1, 0.75)]
    low, high = _float_bounds(case)
    if low <= high:
        candidates += [low + (high - low) * share for share in (0.5, 0.1, 0.9, 0.25)] if high - low < _FINITE else []
    fitting = [value for value in dict.fromkeys(candidates) if not value.is_integer() and admits(source, case, value)]
    if not fitting:
        raise Impossible(case.where, "type", "no number that is no integer lies within the bounds")
    return one_of_values(sorted(fitting, key=abs))
