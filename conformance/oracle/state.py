"""What a provider holds, as frozen values: persistent maps of wire-shaped documents, which nobody changes in place.

Order never comes from a map: each row carries the number under which it was made, and lists sort by it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from immutables import Map

from conformance.oracle.shelf import Shelf

Doc = dict[str, Any]

_EMPTY: Map[Any, Any] = Map()
_NOTHING: Doc = {}


class Row(NamedTuple):
    """A document with the number under which it was made and the group (a subject, a grantee) that it is found by."""

    number: int
    group: str
    doc: Doc


class Table(NamedTuple):
    """Documents by key and by group, in the order in which they were made."""

    rows: Map[Hashable, Row] = _EMPTY
    groups: Map[str, Map[Hashable, int]] = _EMPTY

    def get(self, key: Hashable) -> Doc | None:
        """Give the document under ``key``, or None."""
        row = self.rows.get(key)
        return None if row is None else row.doc

    def add(self, key: Hashable, group: str, number: int, doc: Doc) -> Table:
        """Put a new document, or another one in its place."""
        members = self.groups.get(group)
        members = Map({key: number}) if members is None else members.set(key, number)
        return Table(self.rows.set(key, Row(number, group, doc)), self.groups.set(group, members))

    def change(self, key: Hashable, doc: Doc) -> Table:
        """Put a new version of a document; its number and group stay."""
        return Table(self.rows.set(key, self.rows[key]._replace(doc=doc)), self.groups)

    def of(self, group: str) -> list[Doc]:
        """List the documents of a group, oldest first."""
        members = self.groups.get(group)
        if members is None:
            return []
        return [self.rows[key].doc for key, _ in sorted(members.items(), key=_number)]

    def all(self) -> list[Doc]:
        """List all documents, oldest first."""
        return [row.doc for row in self.ordered()]

    def ordered(self) -> list[Row]:
        """List all rows, oldest first."""
        return sorted(self.rows.values(), key=_row_number)

    def __contains__(self, key: object) -> bool:
        return key in self.rows


class Ledger(NamedTuple):
    """Receipts by number, by id and by idempotency key. What came first under an id or a key keeps it (section 7, Transfer)."""

    docs: Map[int, Doc] = _EMPTY
    ids: Map[str, int] = _EMPTY
    keys: Map[tuple[str, ...], int] = _EMPTY

    def by_id(self, receipt_id: str) -> Doc | None:
        """Give the receipt with this id, or None."""
        number = self.ids.get(receipt_id)
        return None if number is None else self.docs[number]

    def by_key(self, key: tuple[str, ...]) -> Doc | None:
        """Give the receipt that an idempotency key is bound to, or None."""
        number = self.keys.get(key)
        return None if number is None else self.docs[number]

    def add(self, number: int, key: tuple[str, ...], doc: Doc) -> Ledger:
        """Record a receipt; an id or key that is taken stays with its holder, and where both are there is nothing to record."""
        if doc["receipt_id"] in self.ids and key in self.keys:
            return self
        ids = self.ids if doc["receipt_id"] in self.ids else self.ids.set(doc["receipt_id"], number)
        keys = self.keys if key in self.keys else self.keys.set(key, number)
        return Ledger(self.docs.set(number, doc), ids, keys)

    def change(self, number: int, doc: Doc) -> Ledger:
        """Put the settled version of a receipt."""
        return Ledger(self.docs.set(number, doc), self.ids, self.keys)

    def all(self) -> list[Doc]:
        """List all receipts, oldest first."""
        return [self.docs[number] for number in sorted(self.docs)]


class Job(NamedTuple):
    """What a pending receipt waits for: the operation, and all that it pinned at the request, as JSON."""

    op: str
    pinned: Doc


class Space(NamedTuple):
    """A memory space with all that is in it.

    ``facts`` is the MemorySpace document without ``pending_receipts``, which is computed. Internal beside the documents: ``pins``
    (what a reflection's generator covered and where its basis records lay), ``issued_under`` (grant id to the ids of the grants
    that covered its issuance), ``jobs`` (by the number of their receipt) and ``version``, which grows with every
    committed change.
    """

    space_id: str
    facts: Doc = _NOTHING
    version: int = 0
    subjects: Table = Table()
    grants: Table = Table()
    candidates: Table = Table()
    records: Table = Table()
    profiles: Table = Table()
    reflections: Table = Table()
    exports: Table = Table()
    imports: Table = Table()
    receipts: Ledger = Ledger()
    pins: Map[str, Doc] = _EMPTY
    issued_under: Map[str, tuple[str, ...]] = _EMPTY
    jobs: Map[int, Job] = _EMPTY

    def having(self, **members: Any) -> Space:
        """Give this space with other members."""
        return self._replace(**members)


class State(NamedTuple):
    """All spaces, which of them a principal was ever granted something in, which have jobs, who may call, the last number.

    ``homes`` maps a principal id to its spaces, oldest first; ``credentials`` maps what a caller shows to its principal id.
    """

    spaces: Shelf[Space] = Shelf()
    homes: Map[str, tuple[str, ...]] = _EMPTY
    waiting: frozenset[str] = frozenset()
    credentials: Map[str, str] = _EMPTY
    number: int = 0

    def homes_of(self, principal_id: str) -> list[Space]:
        """List the spaces where a principal is or was a grantee, oldest first."""
        return [self.spaces[space_id] for space_id in self.homes.get(principal_id, ())]

    def having(self, space: Space, number: int) -> State:
        """Give this state with another version of a space."""
        waiting = self.waiting
        if space.jobs or waiting:
            waiting = waiting | {space.space_id} if space.jobs else waiting - {space.space_id}
        return self._replace(spaces=self.spaces.set(space.space_id, space), waiting=waiting, number=number)

    def joined(self, space_id: str, principals: Iterable[str]) -> State:
        """Give this state with a space among the homes of principals."""
        homes = self.homes
        for principal_id in principals:
            own = homes.get(principal_id, ())
            homes = homes if space_id in own else homes.set(principal_id, (*own, space_id))
        return self if homes is self.homes else self._replace(homes=homes)


def _number(entry: tuple[Any, int]) -> int:
    return entry[1]


def _row_number(row: Row) -> int:
    return row.number
