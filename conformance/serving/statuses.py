"""The HTTP status of each error code (harness.md, HTTP status by error code)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code

CONFLICT = 409
STATUS: Mapping[Code, int] = MappingProxyType(
    {
        Code.MALFORMED_REQUEST: 400,
        Code.INVALID_VALUE: 400,
        Code.NOT_AUTHENTICATED: 401,
        Code.FLAG_NOT_NEGOTIATED: 403,
        Code.NOT_AUTHORIZED: 403,
        Code.UNKNOWN_OPERATION: 404,
        Code.NOT_FOUND: 404,
        Code.LIMIT_EXCEEDED: 413,
        Code.IMPORT_INVALID: 422,
        Code.SPACE_FROZEN: 423,
        Code.SUBJECT_FENCED: 423,
        Code.CONTEXT_FENCED: 423,
        Code.INTERNAL: 500,
    }
)
"""The status of an error code; a code that is not named is a conflict."""


def status_of(bundle: Bundle, error: object) -> int:
    """Return the status of an error envelope, that of a conflict for one without a code of the contract's."""
    code = error.get("code") if isinstance(error, Mapping) else None
    symbol = bundle.symbol(code) if isinstance(code, str) else None
    return CONFLICT if symbol is None else STATUS.get(symbol, CONFLICT)


def codes_by_status(bundle: Bundle) -> Mapping[int, list[str]]:
    """Return the wire codes of each status, in the order of the table of errors."""
    found: dict[int, list[str]] = {}
    for symbol, row in bundle.errors.items():
        found.setdefault(STATUS.get(symbol, CONFLICT), []).append(row.code)
    return dict(sorted(found.items()))
