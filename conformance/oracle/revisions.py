"""Compare and set (protocol.md section 7, CAS): a change commits only against the exact revision and adds exactly 1."""

from __future__ import annotations

from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc
from conformance.wire.vocabulary import Code

FIRST = 1


def check(expected: int | None, actual: int | None) -> None:
    """Refuse an expected revision that is not the stored one; None is no object, or the expectation that there is none.

    Expecting nothing where something is stored is stale; expecting something where nothing is stored is ahead.
    """
    if expected == actual:
        return
    raise Refusal(mismatch(expected, actual), expected_revision=expected, actual_revision=actual)


def mismatch(expected: int | None, actual: int | None) -> Code:
    """Tell a caller that is behind from one that is ahead."""
    return Code.REVISION_STALE if (expected or 0) < (actual or 0) else Code.REVISION_AHEAD


def following(actual: int) -> int:
    """Give the revision after an accepted change."""
    return actual + 1


def revised(doc: Doc, now: str, **members: object) -> Doc:
    """Give the next version of a document with other members."""
    return {**doc, **members, "revision": following(doc["revision"]), "updated_at": now}
