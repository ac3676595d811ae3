"""Issuance that is expired from the start: left to the provider, whatever it covers (protocol.md section 5).

The model refuses what nothing of the issuer's covers. Where the target issued it all the same, the model does so too, as if the
issuer had a grant of everything.
"""

from __future__ import annotations

from conformance.machine.model import Asked, Model
from conformance.oracle import authority, fences, issuance
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, State

GRANT = "memory.grants.grant"
NOWHERE = "\0imagined"
"""The name of whatever is imagined: no provider and no request has it."""


def issued(model: Model, state: State, asked: Asked) -> tuple[State, Doc | Refusal] | None:
    """Issue what is expired from the start; None where it is not, or where its caller may issue nothing."""
    space = state.spaces.get(asked.request.get("space_id", ""))
    if asked.op != GRANT or space is None:
        return None
    turn = model.turn(asked.caller, GRANT, space, state)
    if not (issuance.issuing(turn) and authority.is_expired(asked.request, turn)):
        return None
    able = space.grants.add(NOWHERE, asked.caller, state.number, _everything(model, asked.caller))
    after, reply = model.step(state.having(space.having(grants=able), state.number), asked)
    if isinstance(reply, Refusal):
        return after, reply
    [made] = reply["receipt"]["affected"]
    done = after.spaces[space.space_id]
    row = done.grants.rows[made["id"]]
    kept = space.grants.add(made["id"], row.group, row.number, row.doc)
    return after.having(done.having(grants=kept, issued_under=done.issued_under.set(made["id"], ())), after.number), reply


def _everything(model: Model, holder: str) -> Doc:
    capabilities = list(model.bundle.schema(model.bundle.model_ref("GrantCapability"))["enum"])
    return {
        "grant_id": NOWHERE,
        "grantee_id": holder,
        "issuer_id": NOWHERE,
        "capabilities": capabilities,
        "shared_access": "write",
        "state": fences.ACTIVE,
        "revision": 1,
    }
