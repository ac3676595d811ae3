"""How a step refuses: a ``Refusal`` by symbol, raised before anything changed (protocol.md section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code

# One message a code, so that a message tells no more than its code (section 5, Visibility).
MESSAGES: Mapping[Code, str] = {
    Code.INVALID_VALUE: "a value of the request cannot be taken",
    Code.NOT_FOUND: "there is no such thing",
    Code.NOT_AUTHORIZED: "the caller's grants do not cover this",
    Code.REVISION_STALE: "what is stored is newer than expected",
    Code.REVISION_AHEAD: "what is stored is older than expected",
    Code.KEY_REUSED: "this idempotency key was used for another request",
    Code.WRONG_STATE: "the present state does not allow this",
    Code.SPACE_FROZEN: "the space is frozen",
    Code.SPACE_NOT_FROZEN: "the space is not frozen",
    Code.SUBJECT_FENCED: "the subject is fenced",
    Code.CONTEXT_FENCED: "the context is fenced",
    Code.SUBJECT_ARCHIVED: "the subject is archived",
    Code.CANDIDATE_CONSUMED: "the candidate was consumed",
    Code.RECORD_TOMBSTONED: "the record was deleted",
    Code.CURSOR_INVALID: "the cursor is not valid here and now",
    Code.LIMIT_EXCEEDED: "a limit of this provider is exceeded",
    Code.PROFILE_INCOMPLETE: "a required profile kind was never written",
    Code.INSUFFICIENT_DATA: "there is no eligible record",
    Code.IMPORT_SEQUENCE: "another chunk is due",
    Code.IMPORT_INVALID: "the import is defective",
}


class Refusal(Exception):
    """An operation is refused with ``symbol`` and ``details``; the state stays the very same."""

    def __init__(self, symbol: Code, **details: Any) -> None:
        super().__init__(symbol)
        self.symbol = symbol
        self.details = details


def envelope(refusal: Refusal, bundle: Bundle, *, tells_retry: bool) -> dict[str, Any]:
    """Give the code, message and details of a refusal as they travel."""
    row = bundle.answered(refusal.symbol)
    details = with_retry(refusal.details, row.retry) if tells_retry else dict(refusal.details)
    return {"code": row.code, "message": MESSAGES[refusal.symbol], "details": details}


def with_retry(details: Mapping[str, Any], retry: str) -> dict[str, Any]:
    """Add the retry class of the table to the details of an error."""
    return {**details, "retry": retry}
