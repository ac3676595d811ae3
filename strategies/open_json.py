"""Any JSON value, for schemas that leave it open: numbers that a double holds, no unpaired surrogates, no deep nesting.

What is plain comes first, so it shrinks to null.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies.compile_strings import free_text, plain_text
from strategies.numbers import SAFE, plain_number
from strategies.pieces import Piece, drawn, switch

_SCALARS = 6
_LEVELS = 3
_WORD = free_text(0, 40)
_NAMES = ("a", "b", "id", "text", "kind", "", "A", "a.b", "0", "ä", "𝄞", "__proto__")


@cache
def any_value(levels: int = _LEVELS) -> Piece:
    """Draw a JSON value with up to ``levels`` levels of containers."""
    forms = switch(f"json {levels}", _SCALARS + (3 if levels else 1))
    number = st.integers(-SAFE, SAFE)
    fraction = st.floats(-1e300, 1e300, allow_nan=False, allow_infinity=False)
    word = _WORD.part
    inner = any_value(levels - 1).alone() if levels else st.none()
    size = switch(f"json length {levels}", 3)

    def draw_value(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> Any:
        forms_, number, fraction, word, inner, size_, name = parts
        form = draw(forms_) - forms.base
        if form < 3:
            return (None, False, True)[form]
        if form == 3:
            return draw(number)
        if form == 4:
            return plain_number(draw(fraction))
        if form <= _SCALARS:
            return plain_text(draw(word))
        if form == _SCALARS + 1:
            return [draw(inner) for _ in range(draw(size_) - size.base)]
        return {draw(name): draw(inner) for _ in range(draw(size_) - size.base)}

    return drawn(
        f"json {levels}", draw_value, [forms.strategy, number, fraction, word, inner, size.strategy, st.sampled_from(_NAMES)]
    )
