"""Which error a provider answers with where the contract of a run has none for what it has to refuse.

That a request is refused follows from the text; that a table lacks the code does not make it right. No check judges by what is
answered then.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from conformance.wire.vocabulary import Code

Row = TypeVar("Row")

_NEAREST: Mapping[Code, Code] = MappingProxyType(
    {
        Code.NOT_AUTHORIZED: Code.NOT_FOUND,
        Code.NOT_FOUND: Code.NOT_AUTHORIZED,
        Code.UNKNOWN_OPERATION: Code.MALFORMED_REQUEST,
        Code.FLAG_NOT_NEGOTIATED: Code.MALFORMED_REQUEST,
        Code.NOT_AUTHENTICATED: Code.MALFORMED_REQUEST,
        Code.MALFORMED_REQUEST: Code.INVALID_VALUE,
        Code.INVALID_VALUE: Code.MALFORMED_REQUEST,
    }
)
_ELSE = (Code.WRONG_STATE, Code.INVALID_VALUE, Code.MALFORMED_REQUEST)


def stand_in(symbol: Code, rows: Mapping[Code, Row]) -> Row:
    """Give the row, of at least one, that is nearest to an error that has none; the internal error at last."""
    nearest = (_NEAREST.get(symbol, _ELSE[0]), *_ELSE, *rows)
    found = next((one for one in nearest if one in rows and one is not Code.INTERNAL), Code.INTERNAL)
    return rows[found]
