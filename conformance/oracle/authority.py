"""Grants and what they cover (protocol.md section 5): one function a sentence.

``holds*`` answer for the caller of a turn, ``require*`` refuse as the paragraph on visibility says. A placement is a scope
document: without ``context_id`` it is the shared placement of its subject.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire.bundle import Need, instant
from conformance.wire.vocabulary import Code

SHARED_RANK = {"none": 0, "read": 1, "write": 2}

# -- one grant


def is_active(grant: Doc) -> bool:
    """Say whether a grant was never revoked."""
    return bool(grant["state"] == "active")


def is_expired(grant: Doc, turn: Turn) -> bool:
    """Say whether a grant has expired: at or after ``expires_at`` it authorises nothing (section 3)."""
    return "expires_at" in grant and turn.instant >= instant(grant["expires_at"])


def is_effective(grant: Doc, turn: Turn) -> bool:
    """Say whether a grant authorises anything now."""
    return is_active(grant) and not is_expired(grant, turn)


def lists_capability(grant: Doc, capability: str) -> bool:
    """Say whether a grant lists a capability; none implies another."""
    return capability in grant["capabilities"]


def covers_subject(grant: Doc, subject_id: str) -> bool:
    """Say whether a grant reaches a subject: absent ``subject_ids`` reach every one."""
    return "subject_ids" not in grant or subject_id in grant["subject_ids"]


def covers_context(grant: Doc, context_id: str) -> bool:
    """Say whether a grant reaches a context: absent ``context_ids`` reach every one."""
    return "context_ids" not in grant or context_id in grant["context_ids"]


def covers_shared(grant: Doc, access: str) -> bool:
    """Say whether a grant reaches the shared placement as far as ``access``, ``read`` or ``write``."""
    return SHARED_RANK[grant["shared_access"]] >= SHARED_RANK[access]


def covers_placement(grant: Doc, scope: Doc, access: str) -> bool:
    """Say whether a grant reaches a placement: its context, or the shared placement as far as ``access``."""
    return covers_context(grant, scope["context_id"]) if "context_id" in scope else covers_shared(grant, access)


def covers(grant: Doc, need: Need, scope: Doc) -> bool:
    """Say whether an effective grant covers (capability, subject, placement)."""
    return (
        lists_capability(grant, need.capability)
        and covers_subject(grant, scope["subject_id"])
        and covers_placement(grant, scope, need.access)
    )


def covers_whole_subject(grant: Doc, need: Need, subject_id: str) -> bool:
    """Say whether a grant covers a subject-level operation, which needs the subject only."""
    return lists_capability(grant, need.capability) and covers_subject(grant, subject_id)


def covers_space(grant: Doc, need: Need) -> bool:
    """Say whether a grant covers a space-level operation: it has neither ``subject_ids`` nor ``context_ids``."""
    return lists_capability(grant, need.capability) and "subject_ids" not in grant and "context_ids" not in grant


# -- the caller


def effective(turn: Turn, space: Space) -> list[Doc]:
    """List the caller's effective grants in a space."""
    return [grant for grant in space.grants.of(turn.caller) if is_effective(grant, turn)]


def holds(turn: Turn, need: Need, scope: Doc) -> bool:
    """Say whether the caller is authorised for a placement."""
    return any(covers(grant, need, scope) for grant in turn.grants)


def holds_subject(turn: Turn, need: Need, subject_id: str) -> bool:
    """Say whether the caller is authorised for a subject-level operation."""
    return any(covers_whole_subject(grant, need, subject_id) for grant in turn.grants)


def holds_space(turn: Turn, need: Need) -> bool:
    """Say whether the caller is authorised for a space-level operation."""
    return any(covers_space(grant, need) for grant in turn.grants)


def holds_somewhere(turn: Turn, need: Need, subject_id: str) -> bool:
    """Say whether the caller holds a capability for a subject in some placement; every grant reaches one."""
    return holds_subject(turn, need, subject_id)


# -- refusals


def enter(turn: Turn) -> None:
    """Refuse a space where the caller has no effective grant, as one that does not exist."""
    if not turn.grants:
        raise Refusal(Code.NOT_FOUND)


def refuse_name(turn: Turn) -> Refusal:
    """Make the refusal for a lacking capability on a name (subject, context, scope) or a space."""
    return Refusal(turn.choices.lacking_on_name)


def require(turn: Turn, scope: Doc, needs: Iterable[Need]) -> None:
    """Refuse a named placement that the caller does not cover by each of ``needs``: decided on the name alone."""
    if not all(holds(turn, need, scope) for need in needs):
        raise refuse_name(turn)


def require_subject(turn: Turn, subject_id: str) -> None:
    """Refuse a named subject that the caller does not cover for this operation: decided on the name alone."""
    if not holds_subject(turn, turn.need(), subject_id):
        raise refuse_name(turn)


def require_space(turn: Turn) -> None:
    """Refuse a caller without the space-level capabilities of this operation, before any id is looked at."""
    if not all(holds_space(turn, need) for need in turn.op.needs):
        raise refuse_name(turn)


def require_object(turn: Turn, found: Doc | None, scope: str, needs: Iterable[Need], reading: Need) -> Doc:
    """Give an object that the caller covers by each of ``needs``; ``scope`` names the member with its placement.

    What the caller does not cover is answered as what does not exist, unless the caller can otherwise see it, by ``reading``.
    """
    if found is None:
        raise Refusal(Code.NOT_FOUND)
    if not all(holds(turn, need, found[scope]) for need in needs):
        raise refuse_object(turn, visible=holds(turn, reading, found[scope]))
    return found


def refuse_object(turn: Turn, *, visible: bool) -> Refusal:
    """Make the refusal for a lacking capability on an object: as missing, or by the provider's choice where it is visible."""
    return Refusal(turn.choices.lacking_on_visible if visible else Code.NOT_FOUND)
