"""Any JSON value, for schemas that leave it open: numbers that a double holds, no unpaired surrogates, no deep nesting.

What is plain comes first, so it shrinks to null.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies.compile_strings import free_text
from strategies.numbers import SAFE
from strategies.pieces import Piece, drawn

_SCALARS = 6
_LEVELS = 3
_WORD = free_text(0, 40)
_NAMES = ("a", "b", "id", "text", "kind", "", "A", "a.b", "0", "ä", "𝄞", "__proto__")


@cache
def any_value(levels: int = _LEVELS) -> Piece:
    """Draw a JSON value with up to ``levels`` levels of containers."""
    forms = st.integers(0, _SCALARS + (2 if levels else 0))
    number = st.integers(-SAFE, SAFE)
    fraction = st.floats(-1e300, 1e300, allow_nan=False, allow_infinity=False)
    word = _WORD.part
    inner = any_value(levels - 1).alone() if levels else st.none()
    size, name = st.sampled_from((1, 0, 1, 2)), st.sampled_from(_NAMES)
    return drawn(f"json {levels}", _value, [forms, number, fraction, word, inner, size, name])


def _value(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> Any:
    forms, number, fraction, word, inner, size, name = parts
    form = draw(forms)
    if form < 3:
        return (None, False, True)[form]
    if form == 3:
        return draw(number)
    if form == 4:
        value = draw(fraction)
        return int(value) if value.is_integer() and abs(value) <= SAFE else value
    if form <= _SCALARS:
        return _WORD.finish(draw(word)) if _WORD.finish is not None else draw(word)
    if form == _SCALARS + 1:
        return [draw(inner) for _ in range(draw(size))]
    return {draw(name): draw(inner) for _ in range(draw(size))}
