"""All the codes that a refusal may carry: with two reasons present at once, either may be told (protocol.md, preamble).

The model tells one reason. It is put right in a state or a request that is only imagined, and the model is asked again, until it
accepts or there is nothing left to put right. What a caller may not see is no reason that it may be told (section 5, Visibility).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from conformance.machine.imagined import Imagined
from conformance.machine.model import Asked, Model
from conformance.machine.repairs import repaired
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import State
from conformance.oracle.turn import Env
from conformance.wire.vocabulary import Code, Field

MOST = 8

LACKING = frozenset({Code.NOT_AUTHORIZED, Code.NOT_FOUND})
"""What a caller is told that lacks coverage."""

# What a caller without coverage may be told instead: it rests on the request, or on what every caller of the space sees.
OPEN_REASONS = frozenset({Code.LIMIT_EXCEEDED, Code.SPACE_FROZEN, Code.SPACE_NOT_FROZEN, Code.INVALID_VALUE, Code.KEY_REUSED})
OF_THE_REQUEST = frozenset({Code.LIMIT_EXCEEDED, Code.INVALID_VALUE, Code.KEY_REUSED})

OF_THE_OBJECT = (Field.TO_SUBJECT, Field.DECISION_KIND)
"""The fields that are held against the object that a request names: whoever cannot see it is not told of them."""


def reasons(model: Model, state: State, asked: Asked, refusal: Refusal, env: Env | None = None) -> Mapping[Code, Refusal]:
    """Give every code that the refusal of this call may carry, with the model's refusal for it; the model's own comes first."""
    found = {refusal.symbol: refusal}
    present = Imagined(state, replace(asked, named=None, pends=False), env or model.env)
    open_to = None if refusal.symbol not in LACKING else _open_to(model, present)
    hidden = refusal.symbol is Code.NOT_FOUND
    for _ in range(MOST):
        following = repaired(model, present, refusal)
        if following is None:
            return found
        present = following
        _, reply = model.step(present.state, present.asked, present.env)
        if not isinstance(reply, Refusal):
            return found
        refusal = reply
        lacks_first = open_to is None and refusal.symbol in LACKING
        if lacks_first:
            open_to = _open_to(model, present)
        told = open_to is None or refusal.symbol in open_to
        if lacks_first or (told and not (hidden and _of_the_object(model, refusal))):
            found.setdefault(refusal.symbol, refusal)
    return found


def _of_the_object(model: Model, refusal: Refusal) -> bool:
    return refusal.details.get("field") in [model.bundle.field(field) for field in OF_THE_OBJECT]


def _open_to(model: Model, present: Imagined) -> frozenset[Code]:
    """Give what the caller may be told although it lacks coverage: nothing of a space that it cannot see."""
    asked = present.asked
    if not model.turn(asked.caller, asked.op, present.space, present.state).grants:
        return OF_THE_REQUEST
    named = {asked.request.get(name, {}).get("context_id") for name in ("scope", "to_scope")}
    return OPEN_REASONS | {Code.CONTEXT_FENCED} if named & {*present.space.facts["fenced_context_ids"]} else OPEN_REASONS
