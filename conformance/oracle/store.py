"""State to JSON and back: what a restart goes through (harness.md, the in-process oracle). ``load(dump(state)) == state``.

Each space is a text of its own, so that a file keeps them side by side and only what changed is written again.
"""

from __future__ import annotations

import json
from typing import Any

from immutables import Map

from conformance.oracle.shelf import Shelf
from conformance.oracle.state import Job, Ledger, Row, Space, State, Table

TABLES = ("subjects", "grants", "candidates", "records", "profiles", "reflections", "exports", "imports")


def dump(state: State) -> dict[str, Any]:
    """Give a state as JSON; ``spaces`` maps each space id to the JSON text of the space."""
    return {
        "number": state.number,
        "waiting": sorted(state.waiting),
        "credentials": dict(state.credentials),
        "homes": {principal_id: list(homes) for principal_id, homes in state.homes.items()},
        "spaces": state.spaces.texts(write_space),
    }


def load(saved: dict[str, Any]) -> State:
    """Give the state that ``dump`` wrote; a space is read when it is first asked for."""
    return State(
        spaces=Shelf.sealed(saved["spaces"], read_space),
        homes=Map({principal_id: tuple(homes) for principal_id, homes in saved["homes"].items()}),
        waiting=frozenset(saved["waiting"]),
        credentials=Map(saved["credentials"]),
        number=saved["number"],
    )


def write_space(space: Space) -> str:
    """Give a space as JSON text."""
    return json.dumps(dump_space(space))


def read_space(text: str) -> Space:
    """Give the space that ``write_space`` wrote."""
    return load_space(json.loads(text))


def dump_space(space: Space) -> dict[str, Any]:
    """Give a space as JSON."""
    return {
        "space_id": space.space_id,
        "facts": space.facts,
        "version": space.version,
        "receipts": _dump_ledger(space.receipts),
        "pins": dict(sorted(space.pins.items())),
        "issued_under": {grant_id: list(under) for grant_id, under in sorted(space.issued_under.items())},
        "jobs": [[number, job.op, job.pinned] for number, job in sorted(space.jobs.items())],
        **{name: _dump_table(getattr(space, name)) for name in TABLES},
    }


def load_space(saved: dict[str, Any]) -> Space:
    """Give the space that ``dump_space`` wrote."""
    return Space(
        space_id=saved["space_id"],
        facts=saved["facts"],
        version=saved["version"],
        receipts=_load_ledger(saved["receipts"]),
        pins=Map(saved["pins"]),
        issued_under=Map({grant_id: tuple(under) for grant_id, under in saved["issued_under"].items()}),
        jobs=Map({number: Job(op, pinned) for number, op, pinned in saved["jobs"]}),
        **{name: _load_table(saved[name]) for name in TABLES},
    )


def _dump_table(table: Table) -> list[Any]:
    rows = sorted(table.rows.items(), key=lambda entry: entry[1].number)
    return [[list(key) if isinstance(key, tuple) else key, row.number, row.group, row.doc] for key, row in rows]


def _load_table(saved: list[Any]) -> Table:
    rows: dict[Any, Row] = {}
    groups: dict[str, dict[Any, int]] = {}
    for name, number, group, doc in saved:
        key = tuple(name) if isinstance(name, list) else name
        rows[key] = Row(number, group, doc)
        groups.setdefault(group, {})[key] = number
    return Table(Map(rows), Map({group: Map(members) for group, members in groups.items()}))


def _dump_ledger(ledger: Ledger) -> dict[str, Any]:
    return {
        "docs": [[number, doc] for number, doc in sorted(ledger.docs.items())],
        "ids": dict(sorted(ledger.ids.items())),
        "keys": [[list(key), number] for key, number in sorted(ledger.keys.items())],
    }


def _load_ledger(saved: dict[str, Any]) -> Ledger:
    docs = Map(dict(saved["docs"]))
    return Ledger(docs, Map(saved["ids"]), Map({tuple(key): number for key, number in saved["keys"]}))
