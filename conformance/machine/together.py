"""Calls that are sent at once: they must be answered as if they came one after another, in some order.

The model's state is a value, so each order is tried from the same one; the first that explains every answer is kept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import permutations

from conformance.exchange import Call, Reply
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import RECEIPTS_GET, Actor, Done, Duo
from conformance.machine.judging import Judged
from conformance.machine.model import Asked
from conformance.oracle.state import Doc, State

MOST = 4
"""More calls than these have too many orders."""

Sent = tuple[Actor, str, Doc]


def at_once(duo: Duo, sent: Sequence[Sent]) -> list[Reply]:
    """Send calls at once and judge the answers together. Raises ``Disagreement`` where no order explains them.

    What they leave pending is waited for, unless it is held; it settles in some order as well.
    """
    calls = [Call(op, request, actor.credential, duo.flags, actor.name) for actor, op, request in sent]
    replies: list[Reply] = duo.timed(sent[0][1], lambda: duo.world.at_once(calls))
    duo.share.calls += len(calls) - 1
    started = time.perf_counter()
    asked = [duo.asked(actor, op, request, reply) for (actor, op, request), reply in zip(sent, replies, strict=True)]
    duo.model.state = _explained(duo, asked, replies)
    for (actor, op, request), reply in zip(sent, replies, strict=True):
        duo.done.append(Done(actor, op, request, reply.code or ""))
    duo.share.suite += time.perf_counter() - started
    _settle(duo, [(actor, call, reply) for (actor, _, _), call, reply in zip(sent, asked, replies, strict=True) if call.pends])
    return replies


def _settle(duo: Duo, pending: Sequence[tuple[Actor, Asked, Reply]]) -> None:
    """Wait for what was left pending, and go on from an order of settling that explains how each receipt ended."""
    receipts = {reply.payload["receipt"]["receipt_id"]: (actor, reply.payload["receipt"]) for actor, _, reply in pending}
    if duo.held or not receipts:
        return
    ended = [_awaited(duo, actor, receipt) for actor, receipt in receipts.values()]
    first: Disagreement | None = None
    for order in permutations(duo.model.pending(duo.model.state)):
        state = duo.model.state
        for number, space_id in order:
            state = duo.model.settle(state, number, space_id)
        judged = (duo.judge.judge(state, asked, seen).disagreement for asked, seen in ended)
        wrong = next((disagreement for disagreement in judged if disagreement is not None), None)
        if wrong is None:
            duo.model.state = state
            return
        first = first or wrong
    if first is not None:
        raise first


def _awaited(duo: Duo, actor: Actor, receipt: Doc) -> tuple[Asked, Reply]:
    """Read a receipt until it has settled; give what was asked and answered at last."""
    asked = Asked(actor.principal_id, RECEIPTS_GET, {"space_id": receipt["space_id"], "receipt_id": receipt["receipt_id"]})
    heard: list[Reply] = []

    def settled() -> bool:
        heard.append(duo.exchange(actor, RECEIPTS_GET, asked.request))
        return heard[-1].error is not None or heard[-1].payload["receipt"]["state"] != "pending"

    duo.wait(receipt, settled)
    return asked, heard[-1]


def _explained(duo: Duo, asked: Sequence[Asked], replies: Sequence[Reply]) -> State:
    first: Disagreement | None = None
    for order in permutations(range(len(asked))):
        judged = _in_order(duo, [(asked[index], replies[index]) for index in order])
        if judged.disagreement is None:
            return judged.state
        first = first or judged.disagreement
    told = [reply.code or "accepted" for reply in replies]
    rule = first.rule if first is not None else "R016"
    raise Disagreement(rule, asked[0].op, Kind.STATE, reason="no order explains calls at once", seen=told) from first


def _in_order(duo: Duo, steps: Sequence[tuple[Asked, Reply]]) -> Judged:
    state = duo.model.state
    judged = Judged(state, {})
    for asked, reply in steps:
        judged = duo.judge.judge(state, asked, reply)
        if judged.disagreement is not None:
            return judged
        state = judged.state
    return judged
