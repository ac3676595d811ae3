"""Changes of the table of errors: codes that are new, gone or renamed, and what a row says of them.

A code has a direction as a type has: an envelope with it is understood by one side and not by the other. Receipts that failed
with a code of an operation are stored, so that such a code is read for longer than it is answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from conformance.gate.outcome import Direction, Finding, Severity, Witness
from conformance.wire.bundle import Bundle, ErrorCode
from conformance.wire.tables import ERRORS_FILE

OF_OPERATIONS = "operation"

_ROWS: Mapping[str, str] = MappingProxyType(
    {"layer": "the code comes from another layer", "retry": "clients go on otherwise than they did"}
)
"""Member of a row -> what every change of it means."""
_UNKNOWN = "old readers do not know the new code"
_STORED = "receipts that failed with it are stored, and new readers do not know it"
_NEVER = "it is never answered"


def code_changes(old: Bundle, new: Bundle, *, tolerant: bool = False) -> Iterator[Finding]:
    """Compare the rows of errors; ``tolerant`` readers take a code that they do not know for some refusal.

    A row is known again by its symbol, or by its wire string where that has another symbol now.
    """
    ours, theirs = _rows(old), _rows(new)
    by_code = {row.code: row for symbol, row in theirs.items() if symbol not in ours}
    met = set()
    for symbol, row in ours.items():
        other = theirs.get(symbol) or by_code.get(row.code)
        if other is None:
            yield _gone(row, new)
            continue
        met.add(str(other.symbol))
        yield from _changed(row, other, old, new)
    for symbol, row in theirs.items():
        if symbol not in met:
            yield _added(row, old, tolerant=tolerant)


def _rows(bundle: Bundle) -> dict[str, ErrorCode]:
    return {str(row.symbol): row for row in (*bundle.errors.values(), *bundle.further_codes.values())}


def _gone(row: ErrorCode, theirs: Bundle) -> Finding:
    if theirs.knows_code(row.code):
        return _taken(row, "", row.code, None, row.code)
    stored = row.layer == OF_OPERATIONS
    severity = Severity.BREAKING if stored else Severity.ADDITIVE
    return _finding(severity, Direction.NARROWED, row, "", row.code, None, _STORED if stored else _NEVER, row.code)


def _added(row: ErrorCode, ours: Bundle, *, tolerant: bool) -> Finding:
    if ours.knows_code(row.code):
        return _taken(row, "", None, row.code, row.code)
    severity = Severity.ADDITIVE if tolerant else Severity.BREAKING
    return _finding(severity, Direction.WIDENED, row, "", None, row.code, _UNKNOWN, row.code)


def _changed(old: ErrorCode, new: ErrorCode, ours: Bundle, theirs: Bundle) -> Iterator[Finding]:
    if old.code != new.code:
        yield _renamed(old, new, ours, theirs)
    for member, meaning in _ROWS.items():
        before, after = getattr(old, member), getattr(new, member)
        if before != after:
            yield _finding(Severity.BREAKING, None, old, f"/{member}", before, after, meaning)


def _renamed(old: ErrorCode, new: ErrorCode, ours: Bundle, theirs: Bundle) -> Finding:
    """Tell of a code under another name; where both sides know both names, the names mean something else."""
    if not ours.knows_code(new.code):
        return _finding(Severity.BREAKING, Direction.WIDENED, old, "/code", old.code, new.code, _UNKNOWN, new.code)
    if not theirs.knows_code(old.code):
        return _finding(Severity.BREAKING, Direction.NARROWED, old, "/code", old.code, new.code, _STORED, old.code)
    return _taken(old, "/code", old.code, new.code, new.code)


def _taken(row: ErrorCode, member: str, before: Any, after: Any, code: str) -> Finding:
    return _finding(Severity.BREAKING, None, row, member, before, after, f"readers of the one take {code} for something else")


def _finding(
    severity: Severity,
    direction: Direction | None,
    row: ErrorCode,
    member: str,
    before: Any,
    after: Any,
    meaning: str,
    told: str = "",
) -> Finding:
    """Make a finding; ``told`` is the code that one side does not know."""
    where = f"{ERRORS_FILE}#/codes/{row.symbol}{member}"
    instance = {"code": told, "message": "a refusal", "extensions": {}} if told else {"before": before, "after": after}
    message = f"{ERRORS_FILE} has no code {told}" if told else meaning
    return Finding(
        severity, direction, member.removeprefix("/") or "code", "", before, after, where, where, (meaning,),
        witness=Witness(instance, "code" if told else "", "/code" if told else "", message),
    )  # fmt: skip
