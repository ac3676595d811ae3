"""Durable providers with one fault each: what a crash shows of a file that is written in the wrong order, or late.

As targets they are ``stdio:memory-conformance serve python:tests.durable_faults:<name> --stdio``, over the file that the
variable ``MEMORY_DB`` names. Without a crash each of them is right. ``settles_late`` is right with crashes too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance.oracle.choices import Choices
from conformance.oracle.state import State
from conformance.serving.database import Database
from conformance.serving.durable import Durable
from conformance.serving.entries import HEAD, RECEIPTS, Entry
from conformance.wire import json_text

FILE = "MEMORY_DB"
LATE = 7
"""So many changes are collected before they are written: no divisor of how many calls are in flight at a crash."""
GAP_SECONDS = 0.05
"""So long is the file half written: as a slow disk would have it, and wide enough for a crash to fall into it under any load."""

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DurableFault:
    """``rule`` must catch it, by one of its durability checks."""

    name: str
    rule: str
    sentence: str
    kept_by: type[Database]

    def make(self) -> Durable:
        """Start the provider over the file that ``FILE`` names."""
        kind = type(self.name, (Durable,), {"kept_by": self.kept_by})
        made: Durable = kind(Path(os.environ[FILE]))
        return made


class InTwo(Database):
    """Writes what ``is_first`` says of each entry in a transaction of its own, and all the rest in another one."""

    @staticmethod
    def is_first(entry: Entry) -> bool:
        raise NotImplementedError

    def _write_space(self, space_id: str, entries: Iterable[Entry]) -> None:
        sorted_out = sorted(entries, key=lambda entry: not self.is_first(entry))
        first = [entry for entry in sorted_out if self.is_first(entry)]
        super()._write_space(space_id, self.shown(first))
        if 0 < len(first) < len(sorted_out) or first != self.shown(first):
            self._file.execute("COMMIT")
            time.sleep(GAP_SECONDS)
            self._file.execute("BEGIN IMMEDIATE")
        super()._write_space(space_id, sorted_out)

    @staticmethod
    def shown(first: list[Entry]) -> list[Entry]:
        """Return the entries of the first transaction as they are written there."""
        return first


class KeyAfterEffect(InTwo):
    @staticmethod
    def is_first(entry: Entry) -> bool:
        return entry.part != RECEIPTS


class KeyBeforeEffect(InTwo):
    @staticmethod
    def is_first(entry: Entry) -> bool:
        return entry.part == RECEIPTS


class GenerationFirst(InTwo):
    @staticmethod
    def is_first(entry: Entry) -> bool:
        return entry.part == HEAD


class ItemsLast(InTwo):
    @staticmethod
    def is_first(entry: Entry) -> bool:
        return entry.part not in ("records", "candidates", "subjects")


class TombstoneLast(InTwo):
    """Takes the content away at first, and makes it a tombstone then."""

    @staticmethod
    def is_first(entry: Entry) -> bool:
        return entry.part == "records" and '"tombstone"' in (entry.value or "")

    @staticmethod
    def shown(first: list[Entry]) -> list[Entry]:
        return [entry._replace(value=_without_tombstone(entry.value or "")) for entry in first]


def _without_tombstone(value: str) -> str:
    number, group, record = json_text.read(value)
    left = {name: member for name, member in record.items() if name != "tombstone"}
    return json_text.written([number, group, {**left, "revision": record["revision"] - 1}])


class Late(Database):
    """Writes what has changed after every ``LATE`` changes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._written: State | None = None
        self._changes = 0

    def keep(self, before: State, after: State, facts: Facts) -> None:
        self._written = self._written or before
        self._changes += 1
        if self._changes % LATE == 1:
            super().keep(self._written, after, facts)
            self._written = after


class AfterTheAnswer(Database):
    """Writes a change when the next one comes: it has been answered by then."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._due: tuple[State, State, Facts] | None = None

    def keep(self, before: State, after: State, facts: Facts) -> None:
        if self._due is not None:
            super().keep(*self._due)
        self._due = (before, after, facts)


class ReceiptsLate(Database):
    """Writes effects at once, and receipts when ``LATE`` of them have come together."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._receipts: list[tuple[str, Entry]] = []

    def _write_space(self, space_id: str, entries: Iterable[Entry]) -> None:
        listed = list(entries)
        super()._write_space(space_id, [entry for entry in listed if entry.part != RECEIPTS])
        self._receipts += [(space_id, entry) for entry in listed if entry.part == RECEIPTS]
        if len(self._receipts) >= LATE:
            for place, entry in self._receipts:
                super()._write_space(place, [entry])
            self._receipts.clear()


FAULTS = (
    DurableFault("key_after_effect", "R014", "the key is stored after the effect, in another transaction", KeyAfterEffect),
    DurableFault("key_before_effect", "R014", "the key is stored before the effect, in another transaction", KeyBeforeEffect),
    DurableFault("journal_late", "R014", "what was acknowledged is written when more has come", Late),
    DurableFault("answer_before_write", "R016", "a change is answered before it is written", AfterTheAnswer),
    DurableFault("receipts_late", "R015", "receipts are written when more have come", ReceiptsLate),
    DurableFault("tombstone_last", "R021", "a deletion is written in two transactions", TombstoneLast),
    DurableFault("generation_first", "R005", "an activation counts its generation in a transaction of its own", GenerationFirst),
    DurableFault("items_last", "R027", "an activation brings its items in a transaction of its own", ItemsLast),
)
BY_NAME: Mapping[str, DurableFault] = MappingProxyType({fault.name: fault for fault in FAULTS})


def settles_late() -> Durable:
    """Start a right provider that answers pending where it may, and settles some calls later, whatever crashes meanwhile."""
    return Durable(Path(os.environ[FILE]), choices=Choices(pending_calls=7))


def __getattr__(name: str) -> Callable[[], Durable]:
    if name in BY_NAME:
        return BY_NAME[name].make
    raise AttributeError(f"no durable fault is named {name!r}")
