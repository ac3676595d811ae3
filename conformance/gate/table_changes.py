"""Changes of the two tables: operations with their flags, and errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import Any

from conformance.gate.code_changes import code_changes
from conformance.gate.outcome import Finding, Severity, Witness
from conformance.wire.bundle import Bundle, Operation
from conformance.wire.tables import ERRORS_FILE, OPERATIONS_FILE
from conformance.wire.vocabulary import Field, Flag, Reason

_ROWS: Mapping[str, str] = MappingProxyType(
    {
        "flag": "clients that negotiated the old flag are refused",
        "mutation": "clients expect the other sort of answer",
        "needs": "grants give more, or less, than they did",
        "while_frozen": "a frozen space does not mean what it did",
        "lists": "readers look for the list under another name",
    }
)
"""Member of a row -> what every change of it means."""

_SWITCHES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "may_be_pending": ("clients that expect a settled receipt meet a pending one", "receipts are settled at once"),
        "takes_cognition_filter": ("", "clients that send a cognition_filter are refused"),
    }
)
"""Member of a row that is true or false -> what it means that it becomes true, and that it becomes false."""


def table_changes(old: Bundle, new: Bundle, *, tolerant: bool = False) -> Iterator[Finding]:
    """Compare the tables of two bundles; ``tolerant`` readers take a code that they do not know for some refusal."""
    for name in dict.fromkeys([*old.operations, *new.operations]):
        yield from _operation(name, old.operations.get(name), new.operations.get(name))
    for flag in Flag:
        yield from _flag(flag, old, new)
    yield from code_changes(old, new, tolerant=tolerant)
    for reason in Reason:
        yield from _word(ERRORS_FILE, f"/reasons/{reason}", old.reason(reason), new.reason(reason), "readers know the old text")
    for one in Field:
        yield from _word(ERRORS_FILE, f"/fields/{one}", old.field(one), new.field(one), "readers know the old text")


def _operation(name: str, old: Operation | None, new: Operation | None) -> Iterator[Finding]:
    place = f"/operations/{name}"
    if old is None or new is None:
        gone = new is None
        yield _told(
            Severity.BREAKING if gone else Severity.ADDITIVE,
            OPERATIONS_FILE,
            place,
            None if old is None else _row(old),
            None if new is None else _row(new),
            "clients that call it are refused" if gone else "an operation more",
        )
        return
    yield from _rows(OPERATIONS_FILE, place, _row(old), _row(new))


def _flag(flag: Flag, old: Bundle, new: Bundle) -> Iterator[Finding]:
    before, after = (bundle.flag(flag) if flag in bundle.flags else None for bundle in (old, new))
    if before is None or after is None:
        severity, meaning = _FLAG_GONE if after is None else _FLAG_NEW
        if before != after:
            yield _told(severity, OPERATIONS_FILE, f"/flags/{flag}", before, after, meaning)
        return
    yield from _word(OPERATIONS_FILE, f"/flags/{flag}/flag", before, after, "old hosts and clients say the old flag")
    ours, theirs = ([str(one) for one in bundle.implied(flag)] for bundle in (old, new))
    yield from _word(OPERATIONS_FILE, f"/flags/{flag}/implies", ours, theirs, "hosts declare other flags with it")


_FLAG_GONE = Severity.BREAKING, "clients that negotiate it are refused"
_FLAG_NEW = Severity.ADDITIVE, "a flag more"


def _row(row: Operation) -> dict[str, Any]:
    told = asdict(row)
    return {one.name: told[one.name] if not isinstance(told[one.name], tuple) else list(told[one.name]) for one in fields(row)}


def _rows(file: str, place: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    for member, meaning in _ROWS.items():
        if member in old and old[member] != new[member]:
            yield _told(Severity.BREAKING, file, f"{place}/{member}", old[member], new[member], meaning)
    for member, (on, off) in _SWITCHES.items():
        if member in old and old[member] != new[member]:
            yield _switched(member, file, place, old[member], on if new[member] else off)


def _switched(member: str, file: str, place: str, before: bool, meaning: str) -> Finding:
    harmless = (member == "may_be_pending") is before
    severity = Severity.ADDITIVE if harmless else Severity.BREAKING
    return _told(severity, file, f"{place}/{member}", before, not before, meaning or "new clients may send more")


def _word(file: str, place: str, old: Any, new: Any, meaning: str) -> Iterator[Finding]:
    if old != new:
        yield _told(Severity.BREAKING, file, place, old, new, meaning)


def _told(severity: Severity, file: str, place: str, old: Any, new: Any, meaning: str) -> Finding:
    where = f"{file}#{place}"
    return Finding(
        severity, None, place.rpartition("/")[2], "", old, new, where, where, (meaning,),
        witness=Witness({"before": old, "after": new}, message=meaning),
    )  # fmt: skip
