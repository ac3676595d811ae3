"""Freeze and fences (protocol.md section 7): what refuses a write. Reads never come here."""

from __future__ import annotations

from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire.vocabulary import Code

ACTIVE, FROZEN = "active", "frozen"
FENCED, ARCHIVED = "fenced", "archived"


def is_frozen(space: Space) -> bool:
    """Say whether a space is frozen."""
    return bool(space.facts["state"] == FROZEN)


def refuse_frozen(turn: Turn, space: Space) -> None:
    """Refuse an operation that does not work while its space is frozen."""
    if is_frozen(space) and not turn.op.while_frozen:
        raise Refusal(Code.SPACE_FROZEN)


def refuse_subject(space: Space, subject_id: str) -> None:
    """Refuse a write for a fenced or archived subject; one that does not exist is neither."""
    subject = space.subjects.get(subject_id)
    if subject is None:
        return
    refuse_archived(subject)
    refuse_fenced(subject)


def refuse_archived(subject: Doc) -> None:
    """Refuse an archived subject, for ever."""
    if subject["state"] == ARCHIVED:
        raise Refusal(Code.SUBJECT_ARCHIVED)


def refuse_fenced(subject: Doc) -> None:
    """Refuse a fenced subject."""
    if subject["state"] == FENCED:
        raise Refusal(Code.SUBJECT_FENCED)


def is_fenced_context(space: Space, context_id: str) -> bool:
    """Say whether a context is fenced, for every subject."""
    return context_id in space.facts["fenced_context_ids"]


def refuse_context(space: Space, scope: Doc) -> None:
    """Refuse what is placed in a fenced context, or moved into or out of it; the shared placement is no context."""
    if "context_id" in scope and is_fenced_context(space, scope["context_id"]):
        raise Refusal(Code.CONTEXT_FENCED)


def refuse_write(turn: Turn, space: Space, *scopes: Doc) -> None:
    """Refuse a write that touches placements: freeze first, then each placement's subject and context (section 6, item 9)."""
    refuse_frozen(turn, space)
    for scope in scopes:
        refuse_subject(space, scope["subject_id"])
        refuse_context(space, scope)
