"""Pending receipts (protocol.md section 7, Pending and Receipts): each waits for one job and settles once."""

from __future__ import annotations

from conformance.oracle import exports, imports, receipts, reflections
from conformance.oracle.state import Doc, Job, Space, State
from conformance.oracle.turn import Env, Settled, Settler, Turn

SETTLERS: dict[str, Settler] = {
    "memory.reflections.generate": reflections.settle,
    "memory.exports.create": exports.settle,
    "memory.imports.stage": imports.settle_stage,
    "memory.imports.activate": imports.settle_activation,
}


def recorded(space: Space, number: int, receipt: Doc) -> Space:
    """Bind a receipt to its key; that is a committed change, pending or not."""
    return space.having(version=space.version + 1, receipts=receipts.record(space.receipts, number, receipt))


def waiting(space: Space, number: int, receipt: Doc, job: Job) -> Space:
    """Bind a pending receipt to its key, and keep its job."""
    return recorded(space, number, receipt).having(jobs=space.jobs.set(number, job))


def settled(space: Space, number: int, receipt: Doc) -> Space:
    """Keep a receipt as settled; it never changes after."""
    ledger = space.receipts.change(number, receipt)
    return space.having(version=space.version + 1, receipts=ledger, jobs=space.jobs.delete(number))


def settle(turn: Turn, space: Space, number: int) -> Space:
    """Do the job that a receipt waits for and settle it ``committed`` or ``failed``."""
    done: Settled = SETTLERS[space.jobs[number].op](turn, space, space.jobs[number].pinned)
    return settled(done.space, number, settlement(turn, space.receipts.docs[number], done))


def settlement(turn: Turn, receipt: Doc, done: Settled) -> Doc:
    """Give the settled version of a receipt."""
    if done.error is None:
        return receipts.committed(receipt, done.affected, turn.now)
    return receipts.failed(receipt, done.affected, turn.bundle.answered(done.error).code, turn.now)


def due(state: State) -> list[tuple[int, str]]:
    """List what waits as (number of the receipt, space id), oldest first."""
    return sorted((number, space_id) for space_id in state.waiting for number in state.spaces[space_id].jobs)


def settle_one(state: State, space_id: str, number: int, env: Env, now: str) -> State:
    """Settle one pending receipt."""
    space = state.spaces[space_id]
    receipt = space.receipts.docs[number]
    turn = Turn(env, state, receipt["principal_id"], env.bundle.operations[receipt["op"]], now, state.number)
    return state.having(settle(turn, space, number), turn.number)


def settle_all(state: State, env: Env, now: str) -> State:
    """Settle every pending receipt, oldest first."""
    for number, space_id in due(state):
        state = settle_one(state, space_id, number, env, now)
    return state
