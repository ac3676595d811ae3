"""Receipts and idempotency (protocol.md section 7): one effect and one receipt a key, for ever.

A receipt is bound to its payload's digest and free of content; it settles once and never changes after.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.oracle import authority
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Ledger, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

COMMITTED, PENDING, FAILED = "committed", "pending", "failed"


def payload_digest(request: Doc) -> str:
    """Digest the whole request as it was received. Refuses a value without canonical form (section 1, digest rule)."""
    try:
        return canonical.digest(request)
    except canonical.NotCanonical as error:
        raise Refusal(Code.INVALID_VALUE) from error


def key_of(principal_id: str, op: str, idempotency_key: str) -> tuple[str, ...]:
    """Give the key of a request within its space: (principal, op, idempotency_key)."""
    return (principal_id, op, idempotency_key)


def find_replay(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
    """Give the receipt of a known key, whatever has happened since; refuse another payload under it."""
    known = space.receipts.by_key(key_of(turn.caller, turn.op.name, request["idempotency_key"]))
    if known is not None:
        refuse_other_payload(known, digest)
    return known


def refuse_other_payload(known: Doc, digest: str) -> None:
    """Refuse a request under the key of another one."""
    if known["payload_digest"] != digest:
        raise Refusal(Code.KEY_REUSED)


def make(turn: Turn, space: Space, request: Doc, digest: str, receipt_id: str) -> Doc:
    """Make the receipt of an accepted request, not settled yet, with the generation in force; no extensions of the request."""
    return {
        **turn.envelope(),
        "receipt_id": receipt_id,
        "space_id": space.space_id,
        "op": turn.op.name,
        "principal_id": turn.caller,
        "idempotency_key": request["idempotency_key"],
        "payload_digest": digest,
        "state": PENDING,
        "affected": [],
        "authority_generation": space.facts["authority_generation"],
        "created_at": turn.now,
    }


def pending(receipt: Doc, affected: Sequence[Doc]) -> Doc:
    """Name what a pending receipt is about."""
    return {**receipt, "affected": list(affected)}


def committed(receipt: Doc, affected: Sequence[Doc], now: str) -> Doc:
    """Settle a receipt: its effect is there."""
    return {**receipt, "state": COMMITTED, "affected": list(affected), "settled_at": now}


def failed(receipt: Doc, affected: Sequence[Doc], code: str, now: str) -> Doc:
    """Settle a receipt: there is no effect, and the key is used."""
    return {**receipt, "state": FAILED, "affected": list(affected), "error": {"code": code}, "settled_at": now}


def record(ledger: Ledger, number: int, receipt: Doc) -> Ledger:
    """Bind a receipt to its key."""
    return ledger.add(number, key_of(receipt["principal_id"], receipt["op"], receipt["idempotency_key"]), receipt)


def is_own(turn: Turn, receipt: Doc) -> bool:
    """Say whether a receipt is the caller's: it needs no effective grant for that."""
    return bool(receipt["principal_id"] == turn.caller)


def get(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.receipts.get``: for the receipt's own principal, or ``admin``; anyone else meets what does not exist."""
    receipt = space.receipts.by_id(request["receipt_id"])
    if receipt is None or not (is_own(turn, receipt) or authority.holds_space(turn, turn.need())):
        raise Refusal(Code.NOT_FOUND)
    return Outcome(space, {"receipt": receipt})
