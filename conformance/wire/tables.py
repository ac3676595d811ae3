"""The two tables of a bundle: the operations and the errors (protocol.md sections 2, 4 and 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

from conformance.wire.documents import broken
from conformance.wire.validation import pointer
from conformance.wire.vocabulary import Code, Field, Flag, Reason

OPERATIONS_FILE = "operations.json"
ERRORS_FILE = "errors.json"


@dataclass(frozen=True, slots=True)
class Need:
    """A capability that an operation needs (section 5), on what it is judged, and how far into a shared placement it reaches."""

    capability: str
    on: str
    access: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the table of operations (section 4)."""

    name: str
    flag: Flag
    mutation: bool
    may_be_pending: bool
    takes_cognition_filter: bool
    needs: tuple[Need, ...]
    while_frozen: bool
    lists: str | None

    @property
    def stem(self) -> str:
        """The name without its first part: ``records.create``."""
        return self.name.partition(".")[2]

    @property
    def method(self) -> str:
        """The name as a Python method has it: ``records_create``."""
        return self.stem.replace(".", "_")


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the table of errors (section 8): its symbol, its wire string, its layer and its retry class.

    The symbol is a ``Code`` where code asks for it.
    """

    symbol: Code | str
    code: str
    layer: Literal["dispatch", "operation"]
    retry: Literal["never", "refresh", "later"]


@dataclass(frozen=True, slots=True)
class FlagRow:
    """A capability flag: its wire string and the flags that a host declares with it (section 2)."""

    symbol: Flag
    flag: str
    implies: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """Both tables, each keyed by what code asks with; a contract may lack errors, and flags beside the core.

    ``further_codes`` are the rows, by wire string, of errors that code has no symbol for.
    """

    operations: Mapping[str, Operation]
    flags: Mapping[Flag, FlagRow]
    errors: Mapping[Code, ErrorCode]
    further_codes: Mapping[str, ErrorCode]
    reasons: Mapping[Reason, str]
    fields: Mapping[Field, str]


def _closed(members: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(members), "properties": dict(members), "additionalProperties": False}


def _symbols(kind: type[StrEnum], member: Any) -> dict[str, Any]:
    return _closed({str(symbol): member for symbol in kind})


def _flags(member: Any) -> dict[str, Any]:
    return {**_symbols(Flag, member), "required": [str(Flag.CORE)]}


_TEXT = {"type": "string", "minLength": 1}
_BOOLEAN = {"type": "boolean"}
_FLAG = {"enum": [str(flag) for flag in Flag]}
_PLACES = ["caller", "issuer", "space", "subject", "scope", "to_scope", "selection", "record", "candidate", "grant", "receipt"]
_NEED = _closed({"capability": _TEXT, "on": {"enum": _PLACES}, "access": {"enum": ["", "read", "write"]}})
_OPERATION = _closed(
    {
        "name": {"type": "string", "pattern": r"^[a-z_]+(\.[a-z_]+)+$"},
        "flag": _FLAG,
        "kind": {"enum": ["read", "mutation"]},
        "may_be_pending": _BOOLEAN,
        "takes_cognition_filter": _BOOLEAN,
        "while_frozen": _BOOLEAN,
        "lists": {"type": ["string", "null"], "minLength": 1},
        "needs": {"type": "array", "items": _NEED},
    }
)
_OPERATIONS = _closed(
    {
        "flags": _flags(_closed({"flag": _TEXT, "implies": {"type": "array", "items": _FLAG}})),
        "operations": {"type": "array", "minItems": 1, "items": _OPERATION},
    }
)
_ERROR = _closed(
    {
        "symbol": {"type": "string", "pattern": "^[a-z][a-z_]*$"},
        "code": _TEXT,
        "layer": {"enum": ["dispatch", "operation"]},
        "retry": {"enum": ["never", "refresh", "later"]},
    }
)
_ERRORS = _closed(
    {"codes": {"type": "array", "items": _ERROR}, "reasons": _symbols(Reason, _TEXT), "fields": _symbols(Field, _TEXT)}
)


def read_tables(operations: Any, errors: Any) -> Tables:
    """Build the tables out of the two parsed files. Raises ``BadBundle`` with the file and the pointer of a bad row."""
    _fits(operations, _OPERATIONS, OPERATIONS_FILE)
    _fits(errors, _ERRORS, ERRORS_FILE)
    rows = [_operation(row) for row in operations["operations"]]
    flags = [FlagRow(Flag(symbol), row["flag"], tuple(map(Flag, row["implies"]))) for symbol, row in operations["flags"].items()]
    codes = [ErrorCode(**{**row, "symbol": _symbol(row["symbol"])}) for row in errors["codes"]]
    named = {row.symbol: row for row in codes if isinstance(row.symbol, Code)}
    _once((row.name for row in rows), OPERATIONS_FILE, "/operations")
    _once((row.flag for row in flags), OPERATIONS_FILE, "/flags")
    for member in ("symbol", "code"):
        _once((row[member] for row in errors["codes"]), ERRORS_FILE, "/codes")
    if not named:
        raise broken(ERRORS_FILE, "/codes", f"no row has a symbol that is known, such as {Code.NOT_FOUND}")
    _flags_are_there(operations)
    return Tables(
        operations=MappingProxyType({row.name: row for row in rows}),
        flags=MappingProxyType({row.symbol: row for row in flags}),
        errors=MappingProxyType(named),
        further_codes=MappingProxyType({row.code: row for row in codes if row.symbol not in named}),
        reasons=MappingProxyType({Reason(symbol): text for symbol, text in errors["reasons"].items()}),
        fields=MappingProxyType({Field(symbol): text for symbol, text in errors["fields"].items()}),
    )


def _symbol(text: str) -> Code | str:
    return Code(text) if text in set(Code) else text


def _flags_are_there(table: Mapping[str, Any]) -> None:
    """See that every flag that a row needs stands in the table. Raises ``BadBundle``."""
    needed = [
        *((f"/operations/{number}/flag", row["flag"]) for number, row in enumerate(table["operations"])),
        *((f"/flags/{symbol}/implies", other) for symbol, row in table["flags"].items() for other in row["implies"]),
        *(
            (f"/operations/{number}/takes_cognition_filter", str(Flag.COGNITION))
            for number, row in enumerate(table["operations"])
            if row["takes_cognition_filter"]
        ),
    ]
    for where, flag in needed:
        if flag not in table["flags"]:
            raise broken(OPERATIONS_FILE, where, f"/flags has no {flag}")


def _operation(row: Mapping[str, Any]) -> Operation:
    return Operation(
        name=row["name"],
        flag=Flag(row["flag"]),
        mutation=row["kind"] == "mutation",
        may_be_pending=row["may_be_pending"],
        takes_cognition_filter=row["takes_cognition_filter"],
        needs=tuple(Need(**need) for need in row["needs"]),
        while_frozen=row["while_frozen"],
        lists=row["lists"],
    )


def _fits(table: Any, schema: Mapping[str, Any], file: str) -> None:
    error = best_match(Draft7Validator(schema).iter_errors(table))
    if error is not None:
        raise broken(file, pointer(error.absolute_path), error.message)


def _once(values: Iterable[str], file: str, where: str) -> None:
    for value, times in Counter(values).items():
        if times > 1:
            raise broken(file, where, f"{value} stands there {times} times")
