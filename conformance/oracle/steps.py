"""The interpreter: one call is one step ``(state, caller, op, request) -> (state', reply)``.

``STEPS`` is the contract as a table; the parts that all operations share stand here, in the order of section 6: cognition records
(5), replay of a known key (6), the space's own visibility (7). What a step itself checks follows: authorisation, content bytes,
freeze and fences, object state, revision (7 to 11). A refused step gives back the very same state.
"""

from __future__ import annotations

import json

from conformance.oracle import (
    authority,
    candidates,
    contents,
    exports,
    grants,
    imports,
    jobs,
    profiles,
    recall,
    receipts,
    records,
    reflections,
    reviews,
    spaces,
    subjects,
)
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space, State
from conformance.oracle.turn import Env, Outcome, Step, Turn
from conformance.wire.vocabulary import Code

STEPS: dict[str, Step] = {
    "memory.describe": spaces.describe,
    "memory.spaces.list": spaces.list_,
    "memory.spaces.freeze": spaces.freeze,
    "memory.spaces.unfreeze": spaces.unfreeze,
    "memory.subjects.ensure": subjects.ensure,
    "memory.subjects.get": subjects.get,
    "memory.subjects.fence": subjects.fence,
    "memory.grants.list": grants.list_,
    "memory.grants.grant": grants.grant,
    "memory.grants.revoke": grants.revoke,
    "memory.capture": candidates.capture,
    "memory.candidates.list": candidates.list_,
    "memory.candidates.get": candidates.get,
    "memory.candidates.dismiss": candidates.dismiss,
    "memory.candidates.review": reviews.review,
    "memory.records.create": records.create,
    "memory.records.get": records.get,
    "memory.records.update": records.update,
    "memory.records.delete": records.delete,
    "memory.records.list": records.list_,
    "memory.records.promote": records.promote,
    "memory.recall": recall.recall,
    "memory.profile.get": profiles.get,
    "memory.profile.update": profiles.update,
    "memory.receipts.get": receipts.get,
    "memory.reflections.state": reflections.state,
    "memory.reflections.list": reflections.list_,
    "memory.reflections.generate": reflections.generate,
    "memory.exports.create": exports.create,
    "memory.exports.get": exports.get,
    "memory.imports.stage": imports.stage,
    "memory.imports.activate": imports.activate,
    "memory.imports.discard": imports.discard,
}

# These need no effective grant in the space, or look for one themselves (section 5, last paragraph).
OPEN = frozenset({"memory.describe", "memory.spaces.list", "memory.grants.list", "memory.grants.revoke", "memory.receipts.get"})


def step(
    state: State, caller: str, op: str, request: Doc, env: Env, now: str, *, holds: bool = False
) -> tuple[State, Doc | Refusal]:
    """Take one step at the Timestamp ``now``: the state after it, and the success members or the refusal.

    ``request`` is valid by its schema and becomes part of the state: nobody changes it later. With ``holds``, an operation that
    may be pending stays so until it is settled (``jobs``).
    """
    turn = Turn(env, state, caller, env.bundle.operations[op], now, state.number)
    try:
        return mutated(turn, request, holds=holds) if turn.op.mutation else (state, read(turn, request))
    except Refusal as refusal:
        # Its traceback would hold all frames up to the program's first, and what they hold, until garbage is collected.
        return state, refusal.with_traceback(None)


def space_of(turn: Turn, request: Doc) -> Space:
    """Give the space that a request names; one that does not exist is empty, and answers as one without grants of the caller."""
    space_id = request.get("space_id", "")
    return turn.state.spaces.get(space_id) or Space(space_id)


def take(turn: Turn, space: Space, request: Doc) -> Outcome:
    """Look up what the caller holds, refuse a space it cannot see (7), and run the operation's own step (7 to 11)."""
    turn.grants = authority.effective(turn, space)
    if turn.op.name not in OPEN:
        authority.enter(turn)
    return STEPS[turn.op.name](turn, space, request)


def read(turn: Turn, request: Doc) -> Doc:
    """Answer a read, which changes nothing."""
    refuse_uncanonical(request)
    return take(turn, space_of(turn, request), request).members


def refuse_uncanonical(request: Doc) -> None:
    """Refuse a request with a value that has no canonical form (section 1, digest rule)."""
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False, check_circular=False).encode()
    except ValueError as error:
        raise Refusal(Code.INVALID_VALUE) from error


def mutated(turn: Turn, request: Doc, *, holds: bool) -> tuple[State, Doc]:
    """Answer a mutation with its receipt: the one of a known key (6), or a new one."""
    digest = receipts.payload_digest(request)
    contents.refuse_malformed_cognition(turn.bundle, request)
    space = space_of(turn, request)
    known = receipts.find_replay(turn, space, request, digest)
    if known is not None:
        return turn.state, {"receipt": known}
    outcome = take(turn, space, request)
    return committed(turn, space, outcome, request, digest, holds=holds)


def committed(turn: Turn, before: Space, outcome: Outcome, request: Doc, digest: str, *, holds: bool) -> tuple[State, Doc]:
    """Keep what a step did, with its receipt; the receipt is made under the space as it was before."""
    receipt_id, number = turn.mint("rcpt", before.receipts.ids)
    receipt = receipts.make(turn, before, request, digest, receipt_id)
    if outcome.job is None:
        space = jobs.recorded(outcome.space, number, receipts.committed(receipt, outcome.affected, turn.now))
    else:
        space = jobs.waiting(outcome.space, number, receipts.pending(receipt, outcome.affected), outcome.job)
        space = space if holds else jobs.settle(turn, space, number)
    state = turn.state.having(space, turn.number).joined(space.space_id, outcome.grantees)
    return state, {"receipt": space.receipts.docs[number]}
