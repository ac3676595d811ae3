"""A space as entries, each a name and a value in JSON text: what a file keeps, so that a change writes only what it changed.

An entry is named by its part of the space and its key there. Nobody changes a value in place, so what is the very same object
was not changed. Receipts, which only grow in number, are found by the numbers that were given out since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from immutables import Map

from conformance.oracle import receipts, store
from conformance.oracle.state import Doc, Ledger, Space
from conformance.wire import json_text

HEAD = "head"
RECEIPTS = "receipts"


class Entry(NamedTuple):
    """A place in a space, and what is there now; ``value`` None: nothing is there any more."""

    part: str
    key: str
    value: str | None


def changed(before: Space, after: Space, numbers: Iterable[int]) -> Iterator[Entry]:
    """Walk the entries in which two versions of a space differ; ``numbers`` were given out between them."""
    if before.facts is not after.facts or before.version != after.version:
        yield Entry(HEAD, "", json_text.written([after.facts, after.version]))
    for number in (*before.jobs, *numbers):
        if (receipt := after.receipts.docs.get(number)) is not None:
            yield Entry(RECEIPTS, json_text.written(number), json_text.written(receipt))
    old = _maps(before)
    for part, now in _maps(after).items():
        yield from _differences(part, old[part], now)


def space_of(space_id: str, entries: Iterable[Entry]) -> Space:
    """Give the space that has these entries."""
    parts: dict[str, list[tuple[Any, Any]]] = {part: [] for part in (HEAD, RECEIPTS, *_maps(Space("")))}
    for part, key, value in entries:
        parts[part].append((_read(key) if key else key, _read(value or "null")))
    [(_, (facts, version))] = parts[HEAD]
    return store.load_space(
        {
            "space_id": space_id,
            "facts": facts,
            "version": version,
            "receipts": {"docs": [], "ids": {}, "keys": []},
            "pins": dict(parts["pins"]),
            "issued_under": dict(parts["issued_under"]),
            "jobs": [[number, op, pinned] for number, (op, pinned) in parts["jobs"]],
            **{name: [[key, *row] for key, row in parts[name]] for name in store.TABLES},
        }
    ).having(receipts=_ledger(parts[RECEIPTS]))


def _read(text: str) -> Any:
    return json_text.read(text, strict=False)


def _ledger(found: Iterable[tuple[int, Doc]]) -> Ledger:
    """Record receipts again in their order: the first under an id or a key keeps it, as it did before."""
    ledger = Ledger()
    for number, receipt in sorted(found, key=lambda entry: entry[0]):
        ledger = receipts.record(ledger, number, receipt)
    return ledger


def _maps(space: Space) -> Mapping[str, Map[Any, Any]]:
    tables = {name: getattr(space, name).rows for name in store.TABLES}
    return {**tables, "pins": space.pins, "issued_under": space.issued_under, "jobs": space.jobs}


def _differences(part: str, before: Map[Any, Any], after: Map[Any, Any]) -> Iterator[Entry]:
    if before is after:
        return
    new = 0
    for key, value in after.items():
        if (old := before.get(key)) is not value:
            new += old is None
            yield Entry(part, json_text.written(key), json_text.written(value))
    if len(after) != len(before) + new:
        yield from (Entry(part, json_text.written(key), None) for key in before if key not in after)
