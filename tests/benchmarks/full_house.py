"""The oracle with two spaces that hold many records already, and without the lever that makes new ones.

``python:tests.benchmarks.full_house:house_1000`` is one whose spaces were filled with 1,000 records by an import. It is made once
a process: each check meets the same spaces.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from conformance.bench import Bench
from conformance.levers import Home, Login, hello
from conformance.moving import activated
from conformance.oracle import Oracle
from conformance.sealing import forged
from conformance.transport.in_process import InProcess
from conformance.wire.bundle import load

PREFIX = "house_"
LEFT = ("hello", "principal", "clock", "hold")
SUBJECTS = 50
"""The records are spread over so many subjects, and over two contexts of each."""
SPACES = 2
WHEN = "2026-01-01T00:00:00Z"


class House:
    """The provider: ``homes`` are its spaces with their roots."""

    def __init__(self, records: int) -> None:
        self._oracle = Oracle()
        self.homes = [self._filled(records) for _ in range(SPACES)]

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Mapping[str, Any]:
        """Answer as the oracle does."""
        return self._oracle.call(credential, flags, op, payload)

    def control(self, name: str, payload: Any) -> Mapping[str, Any]:
        """Pull a lever that is left."""
        stem = name.removeprefix("control.")
        answer = self._oracle.control(name if stem in LEFT else "control.none", payload)
        return {"payload": {**answer["payload"], "controls": list(LEFT)}} if stem == "hello" else answer

    def _filled(self, records: int) -> Home:
        shim = InProcess(self._oracle, deadline=3600)
        bench = Bench(shim, load(), hello(shim))
        world = bench.world()
        limit = bench.described(world)["limits"]["max_chunk_items"]
        activated(world, forged(world.space_id, list(items(world.space_id, records)), limit))
        assert world.root.credential is not None
        return Home(world.space_id, Login(world.root.principal_id, world.root.credential))


def items(space_id: str, records: int) -> Iterator[Mapping[str, Any]]:
    """Make the items of an export with so many records."""
    common = {"schema_version": 1, "space_id": space_id, "revision": 1, "created_at": WHEN, "updated_at": WHEN, "extensions": {}}
    for number in range(SUBJECTS):
        yield {"type": "subject", "value": {**common, "subject_id": f"old{number}", "state": "active"}}
    for number in range(records):
        scope = {"subject_id": f"old{number % SUBJECTS}", "context_id": f"context{number % 2}"}
        own = {"record_id": f"old-record-{number}", "kind": "note", "content": {"text": f"the text of {number}"}, "scope": scope}
        yield {"type": "record", "value": {**common, **own, "provenance": {"source": "author", "created_by": "somebody"}}}


def __getattr__(name: str) -> Callable[[], House]:
    if name.startswith(PREFIX) and name.removeprefix(PREFIX).isdigit():
        return lambda: house(int(name.removeprefix(PREFIX)))
    raise AttributeError(name)


@cache
def house(records: int) -> House:
    """Make a house once. Python's search for garbage leaves it out, as it would a provider in a process of its own."""
    made = House(records)
    gc.collect()
    gc.freeze()
    return made
