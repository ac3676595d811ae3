"""Short histories of calls that are in flight together, and the model of one object that must explain them (section 7).

The object is a record, a candidate or a space: it has a revision, a value (the text of a record, the decision on a candidate, the
state of a space) and the keys under which it was changed. A change commits against the exact revision alone, and a key has one
effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.exchange import Call, Reply
from conformance.expect import Inconclusive
from conformance.linearizability import BUDGET, NEVER, Ending, Entry, linearized
from conformance.wire.vocabulary import Code
from conformance.world import World


@dataclass(frozen=True, slots=True)
class Thing:
    """The state of the model: ``keys`` are (key, payload, receipt id) of the changes that committed."""

    revision: int
    value: str
    keys: frozenset[tuple[str, str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Change:
    """A request that changes the object: ``becomes`` is its value then; from one of the ``barred`` values ``bar`` refuses it."""

    key: str
    payload: str
    expected: int
    becomes: str
    barred: frozenset[str] = frozenset()
    bar: Code = Code.WRONG_STATE


@dataclass(frozen=True, slots=True)
class Look:
    """A request that reads the object."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was told: ``code`` where it was refused; a change's receipt and new revision, or a reading's revision and value."""

    code: Code | None = None
    revision: int = 0
    value: str = ""
    receipt: str = ""


Asked = Change | Look


def step(thing: Thing, asked: Asked, seen: Seen | None) -> Iterator[Thing]:
    """Give the state after a request that was answered so; none where that answer is wrong. ``seen`` None: nobody knows."""
    if isinstance(asked, Look):
        if seen is None or (seen.code is None and (seen.revision, seen.value) == (thing.revision, thing.value)):
            yield thing
        return
    used = next((entry for entry in thing.keys if entry[0] == asked.key), None)
    yield from _changed(thing, asked, seen) if used is None else _repeated(thing, asked, seen, used)


def _changed(thing: Thing, asked: Change, seen: Seen | None) -> Iterator[Thing]:
    refusals = _refusals(thing, asked)
    if refusals or (seen is not None and seen.code is not None):
        if seen is None or seen.code in refusals:
            yield thing
    elif seen is None or seen.revision == thing.revision + 1:
        receipt = "" if seen is None else seen.receipt
        yield Thing(thing.revision + 1, asked.becomes, thing.keys | {(asked.key, asked.payload, receipt)})


def _repeated(thing: Thing, asked: Change, seen: Seen | None, used: tuple[str, str, str]) -> Iterator[Thing]:
    if seen is None:
        yield thing
    elif _replayed(thing, asked, seen, used):
        told = (asked.key, asked.payload, seen.receipt) if seen.code is None else used
        yield Thing(thing.revision, thing.value, thing.keys - {used} | {told})


def _replayed(thing: Thing, asked: Change, seen: Seen, used: tuple[str, str, str]) -> bool:
    _, payload, receipt = used
    if payload != asked.payload:
        return seen.code is Code.KEY_REUSED or seen.code in _refusals(thing, asked)
    # The receipt of a change that was never answered is not known.
    return seen.code is None and receipt in ("", seen.receipt)


def _refusals(thing: Thing, asked: Change) -> set[Code]:
    """Return the codes that may refuse a change now: where two reasons hold at once their order is the provider's."""
    refusals = {asked.bar} if thing.value in asked.barred else set()
    if asked.expected != thing.revision:
        refusals.add(Code.REVISION_STALE if asked.expected < thing.revision else Code.REVISION_AHEAD)
    return refusals


Read = Callable[[Reply], tuple[int, str]]


@dataclass
class Race:
    """A history of one object in a world. ``read`` takes its revision and value out of the answer to a reading."""

    world: World
    read: Read
    start: Thing
    what: str
    entries: list[Entry[Asked, Seen]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    rounds: int = 0

    def together(self, asked: Sequence[tuple[Call, Asked]]) -> list[Reply]:
        """Send calls at the same time, after all calls of the rounds before."""
        replies = self.world.at_once([call for call, _ in asked])
        for (call, ask), reply in zip(asked, replies, strict=True):
            self.entries.append(Entry(ask, self._seen(ask, reply), 2 * self.rounds, 2 * self.rounds + 1))
            self.told.append(f"round {self.rounds + 1}: {call.op} {_said(call)} -> {reply.code or 'done'}")
        self.rounds += 1
        return replies

    def lost(self, asked: Asked) -> None:
        """Take note of a call of the last round that was never answered."""
        self.entries.append(Entry(asked, None, 2 * self.rounds, NEVER))

    def judge(self) -> None:
        """Expect that some order of the calls explains the answers. Raises ``Inconclusive`` where the search is too long."""
        found = linearized(self.entries, self.start, step, BUDGET)
        if found.ending is Ending.UNDECIDED:
            raise Inconclusive(f"{self.what}: the orders of {len(self.entries)} calls are too many to try")
        if found.ending is not Ending.LINEARIZABLE:
            self.world.bundle.need(*_asked_for(self.entries))
        possible = [self.told[number] for number in found.order if number < len(self.told)]
        self.world.expect(
            found.ending is Ending.LINEARIZABLE,
            f"{self.what}: no order of the calls, one after another, explains their answers",
            expected={"explained up to": possible},
            seen=self.told,
        )

    def _seen(self, ask: Asked, reply: Reply) -> Seen:
        if reply.error is not None:
            return Seen(code=self.world.bundle.symbol(str(reply.code)))
        if isinstance(ask, Look):
            revision, value = self.read(reply)
            return Seen(revision=revision, value=value)
        receipt: Mapping[str, Any] = reply.payload["receipt"]
        return Seen(revision=receipt["affected"][0]["revision"], receipt=receipt["receipt_id"])


def _asked_for(entries: Sequence[Entry[Asked, Seen]]) -> list[Code]:
    """Return the codes that may refuse one of the calls."""
    bars = [entry.asked.bar for entry in entries if isinstance(entry.asked, Change)]
    return [Code.KEY_REUSED, Code.REVISION_STALE, Code.REVISION_AHEAD, *bars]


def _said(call: Call) -> str:
    shown = ("expected_revision", "idempotency_key", "content", "decision", "to_scope")
    return " ".join(f"{name}={call.payload[name]}" for name in shown if name in call.payload)
