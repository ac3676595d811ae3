"""The file of a durable provider: SQLite in WAL mode, ``synchronous=FULL``, one transaction a change (harness.md, ``--db``).

A transaction is on the disk when ``keep`` returns. One process has the file to itself, for as long as it lives and no longer.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from immutables import Map

from conformance.errors import BadUsage
from conformance.oracle.shelf import Sealed, Shelf
from conformance.oracle.state import Space, State
from conformance.serving.entries import Entry, changed, space_of

APPLICATION = 0x4D454D43
"""What marks a file as one of ours ("MEMC")."""
FORMAT = 1
"""The version of the layout below."""
WAIT_SECONDS = 5.0
"""So long a process that has the file and was just killed may take to let go of it."""

LAYOUT = """
CREATE TABLE entries (space_id TEXT, part TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (space_id, part, key)) WITHOUT ROWID;
CREATE TABLE credentials (credential TEXT PRIMARY KEY, principal_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE homes (principal_id TEXT PRIMARY KEY, space_ids TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

Facts = dict[str, Any]


class Watched(Shelf[Space]):
    """A shelf that tells which of its spaces were ever set anew, those of a refused step included."""

    __slots__ = ("touched",)

    def __init__(self, held: Map[str, Any], touched: set[str]) -> None:
        super().__init__(held)
        self.touched = touched

    def set(self, name: str, value: Space) -> Watched:
        """Give a shelf with another space under ``name``."""
        self.touched.add(name)
        return Watched(self._held.set(name, value), self.touched)


class Database:
    """An open file. Raises ``BadUsage`` where it cannot be used: one sentence that names it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = self._opened()
        except sqlite3.Error as error:
            raise BadUsage(f"--db {path}: {_WRONG.get(error.sqlite_errorname, str(error))}.") from error

    def read(self) -> tuple[State, Facts]:
        """Give the state that was kept, and the facts beside it; a space is read when it is first asked for."""
        facts = {name: json.loads(value) for name, value in self._file.execute("SELECT name, value FROM facts")}
        names = self._file.execute("SELECT DISTINCT space_id FROM entries")
        state = State(
            spaces=Watched(Map({name: Sealed(name, self._space) for (name,) in names}), set()),
            homes=Map({principal: tuple(json.loads(ids)) for principal, ids in self._file.execute("SELECT * FROM homes")}),
            waiting=frozenset(facts.pop("waiting", ())),
            credentials=Map(dict(self._file.execute("SELECT * FROM credentials").fetchall())),
            number=facts.pop("number", 0),
        )
        return state, facts

    def keep(self, before: State, after: State, facts: Facts) -> None:
        """Write in one transaction all in which two states differ, and the facts beside them. Raises ``sqlite3.Error``."""
        facts = {**facts, "number": after.number, "waiting": sorted(after.waiting)}
        self._file.execute("BEGIN IMMEDIATE")
        try:
            self._write(before, after)
            self._file.executemany(
                "INSERT OR REPLACE INTO facts VALUES (?, ?)", [(name, json.dumps(value)) for name, value in facts.items()]
            )
            self._file.execute("COMMIT")
            _touched(after).clear()
        except BaseException:
            with suppress(sqlite3.Error):
                self._file.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    # -- the file

    def _opened(self) -> sqlite3.Connection:
        file = sqlite3.connect(self._path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            file.execute("PRAGMA locking_mode = EXCLUSIVE")
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = FULL")
            self._laid_out(file)
        except BaseException:
            file.close()
            raise
        return file

    def _laid_out(self, file: sqlite3.Connection) -> None:
        """See that the file is one of ours, and lay an empty one out."""
        file.execute("BEGIN IMMEDIATE")
        [application], [version] = (file.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        [tables] = file.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables and application != APPLICATION:
            raise BadUsage(f"--db {self._path}: the file holds something else; name another one.")
        if tables and version != FORMAT:
            raise BadUsage(f"--db {self._path}: the file has format {version}, and this version reads format {FORMAT}.")
        if not tables:
            for statement in LAYOUT.split(";\n")[:-1]:
                file.execute(statement)
            file.execute(f"PRAGMA application_id = {APPLICATION}")
            file.execute(f"PRAGMA user_version = {FORMAT}")
        file.execute("COMMIT")

    def _space(self, space_id: str) -> Space:
        rows = self._file.execute("SELECT part, key, value FROM entries WHERE space_id = ?", (space_id,))
        return space_of(space_id, map(Entry._make, rows))

    def _write(self, before: State, after: State) -> None:
        numbers = range(before.number + 1, after.number + 1)
        for space_id in sorted(_touched(after) & after.spaces.keys()):
            was = before.spaces.get(space_id) or Space(space_id)
            self._write_space(space_id, changed(was, after.spaces[space_id], numbers))
        self._write_map("credentials", before.credentials, after.credentials)
        self._write_map("homes", before.homes, after.homes)

    def _write_space(self, space_id: str, entries: Iterable[Entry]) -> None:
        for part, key, value in entries:
            if value is None:
                self._file.execute("DELETE FROM entries WHERE space_id = ? AND part = ? AND key = ?", (space_id, part, key))
            else:
                self._file.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", (space_id, part, key, value))

    def _write_map(self, table: str, before: Map[str, Any], after: Map[str, Any]) -> None:
        if before is after:
            return
        for name, value in after.items():
            if before.get(name) is not value:
                text = value if isinstance(value, str) else json.dumps(value)
                self._file.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (name, text))  # noqa: S608 - a table of ours


def _touched(state: State) -> set[str]:
    if not isinstance(state.spaces, Watched):
        raise TypeError("a state that was not read from a database does not tell what is changed in it")
    return state.spaces.touched


_WRONG = {
    "SQLITE_CANTOPEN": "the file cannot be opened",
    "SQLITE_NOTADB": "the file is no database",
    "SQLITE_BUSY": "another process has the file",
    "SQLITE_READONLY": "the file cannot be written",
}
