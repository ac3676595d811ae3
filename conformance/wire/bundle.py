"""A schema bundle: documents, registry, validators, the table of operations and the table of errors.

``--schemas DIR`` swaps the packaged bundle for another one. A directory holds schema files (``common``, ``data``, ``ops``;
the prefix of their ``$id`` is free) and may hold ``operations.json`` and ``errors.json``; a table that is not there is the
packaged one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance.errors import NotInContract
from conformance.wire.canonical import digest
from conformance.wire.documents import broken, check_documents, read_documents, read_json
from conformance.wire.envelopes import check_codes
from conformance.wire.formats import instant, is_timestamp
from conformance.wire.stand_ins import stand_in
from conformance.wire.tables import ERRORS_FILE, OPERATIONS_FILE, ErrorCode, Need, Operation, Tables, read_tables
from conformance.wire.validation import Engines, Problem, Validator, registry_of
from conformance.wire.vocabulary import Code, Field, Flag, Reason

__all__ = ["Bundle", "ErrorCode", "Need", "Operation", "Problem", "Validator", "instant", "is_timestamp", "load"]

_PACKAGED = Path(__file__).parent


class Bundle:
    """The contract as data. Immutable; validators are built when they are first asked for.

    ``documents`` maps each ``$id`` to its schema, ``operations`` each full name to its row in the order of the table.
    ``errors`` are the errors that code asks for by a symbol; a contract may have fewer. ``further_codes`` are the rows, by wire
    string, of errors that no check asks for: a provider may answer them all the same.
    """

    def __init__(self, origin: str, documents: Mapping[str, Any], tables: Tables, raw_tables: Any) -> None:
        self.origin = origin
        self.documents = MappingProxyType(dict(documents))
        self.registry = registry_of(documents)
        self.operations = tables.operations
        self.errors = tables.errors
        self.further_codes = tables.further_codes
        self._tables = tables
        self._raw_tables = raw_tables
        self._validators: dict[str, Validator] = {}
        self._schemas: dict[str, Any] = {}
        self._names = MappingProxyType(_names(documents))
        self._ops = MappingProxyType(_operations(tables.operations, documents))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the canonical form of all documents and both tables, 64 lower-case hex digits."""
        return digest([dict(self.documents), self._raw_tables])

    def code(self, symbol: Code) -> str:
        """Give the wire string of an error. Raises ``NotInContract`` where this contract has none for it."""
        if symbol not in self.errors:
            raise NotInContract(f"the contract of this run has no error code for {symbol}")
        return self.errors[symbol].code

    def need(self, *symbols: Code) -> None:
        """See that this contract has all of these errors. Raises ``NotInContract``."""
        for symbol in symbols:
            self.code(symbol)

    def answered(self, symbol: Code) -> ErrorCode:
        """Give the row that a provider answers with: that of the error, or of the nearest one which this contract has."""
        return self.errors[symbol] if symbol in self.errors else stand_in(symbol, self.errors)

    def symbol(self, code: str) -> Code | None:
        """Give the symbol of a wire string, or None where the table of errors has no such code."""
        return self._symbols.get(code)

    def knows_code(self, code: str) -> bool:
        """Say whether the table of errors has a wire string, be there a symbol for it or not."""
        return code in self._symbols or code in self.further_codes

    def flag(self, symbol: Flag) -> str:
        """Give the wire string of a capability flag; for one that this contract lacks a text that no host declares."""
        return self._tables.flags[symbol].flag if symbol in self._tables.flags else f"no-{symbol}"

    @property
    def flags(self) -> tuple[Flag, ...]:
        """The flags that this contract has."""
        return tuple(self._tables.flags)

    def flag_symbol(self, flag: str) -> Flag | None:
        """Give the symbol of a flag's wire string, or None where the table of operations has no such flag."""
        return next((symbol for symbol, row in self._tables.flags.items() if row.flag == flag), None)

    def implied(self, symbol: Flag) -> tuple[Flag, ...]:
        """Give the flags that a host which declares ``symbol`` declares too (section 2)."""
        return self._tables.flags[symbol].implies if symbol in self._tables.flags else ()

    def reason(self, symbol: Reason) -> str:
        """Give the wire string of a value of ``details.reason``."""
        return self._tables.reasons[symbol]

    def field(self, symbol: Field) -> str:
        """Give the wire string of a value of ``details.field``."""
        return self._tables.fields[symbol]

    def schema(self, ref: str) -> Any:
        """Give the schema that an absolute reference names, ``<$id>`` or ``<$id>#/definitions/<name>``.

        Raises ``referencing.exceptions.Unresolvable`` where it names none.
        """
        if ref not in self._schemas:
            self._schemas[ref] = self.registry.resolver().lookup(ref).contents
        return self._schemas[ref]

    def validator(self, ref: str) -> Validator:
        """Give the validator of the schema that an absolute reference names; the same one each time."""
        found = self._validators.get(ref)
        if found is None:
            found = self._validators[ref] = Validator(ref, self._engines)
        return found

    def request_ref(self, op: str) -> str:
        """Give the reference of an operation's request schema. Raises ``KeyError`` for an unknown operation."""
        return self._ops[op][0]

    def response_ref(self, op: str) -> str:
        """Give the reference of an operation's response schema. Raises ``KeyError`` for an unknown operation."""
        return self._ops[op][1]

    def model_ref(self, title: str) -> str:
        """Give the reference of a document by its title, or of a definition by its name. Raises ``BadBundle`` where none is."""
        if title not in self._names:
            raise broken(self.origin, "", f"no schema of this bundle is titled {title}")
        return self._names[title]

    def request(self, op: str) -> Validator:
        """Give the validator of an operation's requests."""
        return self.validator(self.request_ref(op))

    def response(self, op: str) -> Validator:
        """Give the validator of an operation's answers, refusals included."""
        return self.validator(self.response_ref(op))

    def model(self, title: str) -> Validator:
        """Give the validator of a document or definition by its name."""
        return self.validator(self.model_ref(title))

    @cached_property
    def _symbols(self) -> Mapping[str, Code]:
        return {row.code: symbol for symbol, row in self.errors.items()}

    @cached_property
    def _engines(self) -> Engines:
        return Engines.of(self.documents)


def load(directory: str | Path | None = None) -> Bundle:
    """Load the bundle of a directory, or the packaged one (once).

    Raises ``BadBundle`` with one sentence: the file, the JSON pointer, and what is wrong there.
    """
    return _packaged() if directory is None else _load(Path(directory), str(directory))


@cache
def _packaged() -> Bundle:
    return _load(_PACKAGED, "packaged")


def _load(directory: Path, origin: str) -> Bundle:
    if not directory.is_dir():
        raise broken(str(directory), "", "no such directory")
    files = read_documents(directory)
    documents = {identity: document for identity, (_, document) in files.items()}
    check_documents(files, registry_of(documents))
    raw = [_table(directory, OPERATIONS_FILE), _table(directory, ERRORS_FILE)]
    bundle = Bundle(origin, documents, read_tables(*raw), raw)
    check_codes(files, bundle.registry, [row["code"] for row in raw[1]["codes"]])
    return bundle


def _table(directory: Path, name: str) -> Any:
    own = directory / name
    return read_json(own if own.is_file() else _PACKAGED / name, name)


def _names(documents: Mapping[str, Any]) -> dict[str, str]:
    """Name every titled document and every definition; a definition whose name is not unique has no name."""
    titles = {document["title"]: identity for identity, document in documents.items() if "title" in document}
    inner: dict[str, list[str]] = {}
    for identity, document in documents.items():
        for name in document.get("definitions", {}):
            inner.setdefault(name, []).append(f"{identity}#/definitions/{name}")
    return {name: refs[0] for name, refs in inner.items() if len(refs) == 1} | titles


def _operations(operations: Iterable[str], documents: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Find each operation's two schemas, by file name or by title: letters and digits of ``memory.recall`` and ``request``."""
    found = {_letters(name): identity for identity, document in documents.items() for name in _op_names(identity, document)}
    pairs: dict[str, tuple[str, str]] = {}
    for row, op in enumerate(operations):
        request, response = (found.get(_letters(op + side)) for side in ("request", "response"))
        if request is None or response is None:
            side = "request" if request is None else "response"
            raise broken(OPERATIONS_FILE, f"/operations/{row}", f"the bundle has no schema for the {side} of {op}")
        pairs[op] = request, response
    return pairs


def _op_names(identity: str, document: Mapping[str, Any]) -> Iterator[str]:
    yield identity.rpartition("/")[2].removesuffix(".schema.json")
    yield str(document.get("title", ""))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
