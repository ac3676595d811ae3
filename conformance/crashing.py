"""A crash while calls are in flight, and what a durable provider owes its callers then (protocol.md section 7, Idempotency).

Each call that was answered before the crash is done, once. Of each one that was not, nobody knows: it is done once, or not at
all. The caller's way out is the key: the same request again settles it, with one effect in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.bench import Bench
from conformance.exchange import CONTROL_PREFIX, Call, Reply
from conformance.world import World

RESTART = Call(f"{CONTROL_PREFIX}restart", {"crash": True})
PLACES = (3, 10, 18)
"""After so many answers the provider is killed, in one crash after another: no even steps, which a journal's could meet."""
FLIGHT = 23
"""So many calls are in flight at a crash."""


@dataclass(frozen=True)
class Crashed:
    """Calls that were in flight at a crash, and what was answered: ``replies`` has None for each that was not."""

    calls: tuple[Call, ...]
    replies: tuple[Reply | None, ...]

    def answered(self) -> Iterator[tuple[int, Call, Reply]]:
        """Walk the calls that were answered, with their numbers."""
        for number, (call, reply) in enumerate(zip(self.calls, self.replies, strict=True)):
            if reply is not None:
                yield number, call, reply

    def committed(self, call: Call) -> bool:
        """Say whether a mutation was answered as committed; one that was answered pending settles when it may."""
        [found] = [reply for sent, reply in zip(self.calls, self.replies, strict=True) if sent is call]
        return found is not None and found.ok and found.payload["receipt"]["state"] == "committed"


def crash_amid(bench: Bench, world: World, calls: Sequence[Call], place: int) -> Crashed:
    """Send calls at once, kill the provider when about ``place`` of them are answered, and see another instance answer.

    Raises ``Inconclusive`` where nothing can restart the target.
    """
    if not bench.levers.has("restart"):
        bench.levers.restart()
    replies = world.amid(RESTART, calls, place)
    bench.levers.expect_another()
    return Crashed(tuple(calls), tuple(replies))


def acknowledged(world: World, crashed: Crashed) -> dict[int, Mapping[str, Any]]:
    """Return the receipts of the calls that were answered, by number; each is read as it was answered.

    A receipt that was answered pending may have settled since.
    """
    found = {}
    for number, call, reply in crashed.answered():
        world.expect(reply.ok, f"{call.op}: refused a request that the contract accepts", seen=reply.error)
        receipt = reply.payload["receipt"]
        read = world.root.send("receipts.get", receipt_id=receipt["receipt_id"])
        world.expect(read.ok, f"{call.op}: after a crash the receipt that was answered before it is not there", seen=read.error)
        if receipt["state"] != "pending":
            there = read.payload["receipt"]
            world.same(receipt, there, f"{call.op}: after a crash the receipt is not what was answered before it")
        found[number] = receipt
    return found


def settled(world: World, crashed: Crashed) -> list[Mapping[str, Any]]:
    """Send every call again under its key, twice, and return the receipts: that of the answer before, and the same each time."""
    before = acknowledged(world, crashed)
    receipts = [world.root.accepted(call) for call in crashed.calls]
    for number, receipt in before.items():
        op = crashed.calls[number].op
        world.same(receipt["receipt_id"], receipts[number]["receipt_id"], f"{op}: after a crash the key has another receipt")
    with world.unchanged("a request repeated after a crash had a second effect"):
        again = [world.root.accepted(call) for call in crashed.calls]
    world.same(receipts, again, "after a crash a key is answered now with one receipt, now with another")
    return receipts
