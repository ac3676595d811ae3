"""What a provider leaves behind when it refuses: the building block of faults that are not atomic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.oracle import records, reviews, steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space, State
from conformance.oracle.turn import Turn, extensions_of
from tests.seeded.fault import Patch

Leave = Callable[[Turn, Space, Doc, Refusal], Space]


def leaving(leave: Leave) -> Patch:
    """Return the patch after which a refused mutation leaves its space as ``leave`` gives it."""

    def wrap(original: Any) -> Any:
        def step(state: State, caller: str, op: str, request: Doc, env: Any, now: str, **named: Any) -> Any:
            after, reply = original(state, caller, op, request, env, now, **named)
            turn = Turn(env, state, caller, env.bundle.operations[op], now, state.number)
            space = state.spaces.get(request.get("space_id", ""))
            if not isinstance(reply, Refusal) or not turn.op.mutation or space is None:
                return after, reply
            left = leave(turn, space, request, reply)
            return (after if left is space else state.having(left, turn.number)), reply

        return step

    return Patch(steps, "step", wrap)


def with_drafts(turn: Turn, space: Space, request: Doc, count: int) -> Space:
    """Give the space with the first ``count`` records of a refused review, the candidate as it was."""
    candidate = space.candidates.get(request["candidate_id"])
    if candidate is None:
        return space
    for draft in reviews.drafted(candidate, request["decision"])[:count]:
        scope, provenance = reviews.inherited_scope(candidate), reviews.reviewed(turn, candidate)
        space, _ = records.added(turn, space, draft.kind or "note", draft.content, scope, provenance, extensions_of(request))
    return space
