"""Cursors: bound to principal, operation and request, and to the state that they must not outlive (protocol.md section 7, Lists).

A cursor is a position in the caller's own list and a tag that nobody can make up. Verifying it needs no memory of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from conformance.oracle import authority
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

Mark = list[Any]


def mark(turn: Turn, space: Space, listed: Callable[[], Sequence[Doc]], grants: Sequence[Doc] | None = None) -> Mark:
    """Give what a cursor dies with: the caller's own grants, and either any committed change or what it must die at.

    ``listed`` gives the documents that tell a change of what the request without its filters would list. Nothing here may ever
    be again what it was: a cursor that had to die must not come back when a grant, a freeze or an item has come and gone.
    """
    own = own_grants(own_of(turn, space) if grants is None else grants)
    if turn.choices.cursor_dies_at_any_change:
        return [own, space.version]
    return [own, space_mark(space), list(listed())]


def own_of(turn: Turn, space: Space) -> list[Doc]:
    """List the caller's grants of every state in a space, with whether each is effective now."""
    return [{**grant, "effective": authority.is_effective(grant, turn)} for grant in space.grants.of(turn.caller)]


def own_grants(grants: Sequence[Doc]) -> Mark:
    """Tell a caller's grants, and which of them are effective, apart from any others."""
    return [[grant["grant_id"], grant["revision"], grant.get("effective")] for grant in grants]


def space_mark(space: Space) -> Mark:
    """Tell a space's state and generation, and that they were changed; a space that does not exist has neither."""
    return [space.facts.get(name) for name in ("state", "authority_generation", "revision")]


def bound_to(turn: Turn, request: Doc) -> Mark:
    """Give what a cursor belongs to: principal, operation and all request members but ``page``."""
    return [turn.caller, turn.op.name, {name: value for name, value in request.items() if name != "page"}]


def token(turn: Turn, request: Doc, mark: Mark, position: int) -> str:
    """Make the cursor that goes on at ``position`` of the caller's list."""
    text = canonical.canonical([turn.env.secret, bound_to(turn, request), mark, position])
    return f"{position}.{hashlib.sha256(text).hexdigest()[:32]}"


def position(turn: Turn, request: Doc, mark: Mark, cursor: str) -> int:
    """Give the position of a cursor of this caller, operation, request and state; refuse every other text."""
    digits = cursor.partition(".")[0]
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16) or token(turn, request, mark, int(digits)) != cursor:
        raise Refusal(Code.CURSOR_INVALID)
    return int(digits)
