"""``memory.describe`` and ``memory.spaces.*`` (protocol.md sections 3, 4 and 7, Freeze)."""

from __future__ import annotations

from typing import Any

from conformance.oracle import authority, cursors, fences, pages, revisions
from conformance.oracle.policy.chunks import SCHEMA_VERSION
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, changed
from conformance.wire.vocabulary import Code


def founded(space_id: str, now: str) -> Space:
    """Make an empty active space of generation 1."""
    facts: Doc = {
        "schema_version": SCHEMA_VERSION,
        "space_id": space_id,
        "state": fences.ACTIVE,
        "revision": revisions.FIRST,
        "authority_generation": 1,
        "fenced_context_ids": [],
        "created_at": now,
        "updated_at": now,
        "extensions": {},
    }
    return Space(space_id, facts)


def pending_receipts(space: Space) -> int:
    """Count the receipts of a space that are pending at this read; each waits for one job."""
    return len(space.jobs)


def document(space: Space) -> Doc:
    """Give the MemorySpace: space-level facts, the same for every caller that sees the space."""
    return {**space.facts, "pending_receipts": pending_receipts(space)}


def describe(turn: Turn, space: Space, _request: Doc) -> Outcome:
    """``memory.describe``: what is served, whatever was negotiated."""
    choices = turn.choices
    limits = choices.limits
    members: dict[str, Any] = {
        "protocol_version": choices.protocol_version,
        "capabilities": sorted(turn.env.declared),
        "limits": {
            "max_content_bytes": limits.max_content_bytes,
            "max_page": limits.max_page,
            "max_fragments": limits.max_fragments,
            "max_chunk_items": limits.max_chunk_items,
        },
        "required_profile_kinds": list(choices.required_profile_kinds),
        "engine_policy_version": choices.engine_policy_version,
        "cognition_dimensions": sorted(turn.env.dimensions),
    }
    return Outcome(space, members)


def visible(turn: Turn) -> list[Space]:
    """List the spaces where the caller has an effective grant."""
    return [space for space in turn.state.homes_of(turn.caller) if authority.effective(turn, space)]


def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.spaces.list``: the spaces where the caller has an effective grant."""
    seen = visible(turn)
    items = pages.arranged(turn, [document(one) for one in seen])
    mark = [[one.version, cursors.mark(turn, one, list)] for one in seen]
    mark += [cursors.own_grants(cursors.own_of(turn, one)) for one in turn.state.homes_of(turn.caller)]
    return Outcome(space, pages.reply(turn, request, items, mark))


def freeze(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.spaces.freeze``: an active space stops taking writes; a frozen one is in the wrong state."""
    return _switched(turn, space, request, fences.ACTIVE, fences.FROZEN)


def unfreeze(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.spaces.unfreeze``: a frozen space takes writes again; an active one is in the wrong state."""
    return _switched(turn, space, request, fences.FROZEN, fences.ACTIVE)


def _switched(turn: Turn, space: Space, request: Doc, before: str, after: str) -> Outcome:
    authority.require_space(turn)
    if space.facts["state"] != before:
        raise Refusal(Code.WRONG_STATE)
    revisions.check(request["expected_revision"], space.facts["revision"])
    facts = revisions.revised(space.facts, turn.now, state=after)
    return Outcome(space.having(facts=facts), affected=(affected(facts),))


def affected(facts: Doc) -> Doc:
    """Name a space as changed, at its revision."""
    return changed("space", facts["space_id"], facts["revision"])
