"""All that a refusal may tell: with two reasons present at once, either may be told (protocol.md, preamble).

The model tells the first. Each condition that an operation checks is asked for itself (``violations``), and what the caller may
not see is no reason that it may be told (section 5, Visibility).
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.machine.callers import lacking, of_record
from conformance.machine.conditions import Call, Condition, Rests, of
from conformance.machine.model import DIGEST_MEMBER, Asked, Model
from conformance.machine.violations import OWN, before
from conformance.oracle import authority
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Space, State
from conformance.oracle.turn import Env, Turn
from conformance.wire.vocabulary import Code

LACKING = frozenset({Code.NOT_AUTHORIZED, Code.NOT_FOUND})
"""What a caller is told that lacks coverage."""

PROMOTE = "memory.records.promote"


def reasons(model: Model, state: State, asked: Asked, refusal: Refusal, env: Env | None = None) -> Sequence[Refusal]:
    """Give every refusal that may be told instead of the model's, which comes first: two of one code differ in their details."""
    call = _call(model, state, asked, env or model.env)
    lack = lacking(call)
    told = _may_be_told(call, lack)
    conditions = [*before(call, asked.request), *OWN.get(asked.op, _nothing)(call)]
    found = [refusal, *([] if lack is None else [lack])]
    found += [one for condition in conditions if condition.rests in told and (one := condition.violated()) is not None]
    return found


def _nothing(_call: Call) -> Sequence[Condition]:
    return ()


def _call(model: Model, state: State, asked: Asked, env: Env) -> Call:
    """Give the call as the model takes it: a state digest of the target's is what the model calls the same state."""
    request = asked.request
    if DIGEST_MEMBER in request:
        request = {**request, DIGEST_MEMBER: model.digests.get(request[DIGEST_MEMBER], request[DIGEST_MEMBER])}
    space_id = request.get("space_id", "")
    space = state.spaces.get(space_id) or Space(space_id)
    turn = Turn(env, state, asked.caller, model.bundle.operations[asked.op], model.now, state.number)
    turn.grants = authority.effective(turn, space)
    return Call(turn, space, request)


def _may_be_told(call: Call, lack: Refusal | None) -> frozenset[Rests]:
    """Say of what a caller may be told, by what it lacks: nothing of a space, or of an object, that it cannot see."""
    if lack is None:
        return frozenset(Rests)
    if not call.turn.grants:
        return frozenset({Rests.REQUEST})
    told = frozenset({Rests.REQUEST, Rests.SPACE})
    if lack.symbol is Code.NOT_FOUND:
        return told
    # What a caller can see although it may not change it, and what it may change but not move there.
    if call.turn.op.name == PROMOTE and of(Rests.OBJECT, of_record, *call).violated() is None:
        return told | {Rests.OBJECT, Rests.COVERED}
    return told | {Rests.OBJECT}
