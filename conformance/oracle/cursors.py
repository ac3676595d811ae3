"""Cursors: bound to principal, operation and request, and to the state that they must not outlive (protocol.md section 7, Lists).

A cursor is a position in the caller's own list and a tag that nobody can make up. Verifying it needs no memory of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

Mark = list[Any]


def mark(turn: Turn, space: Space, listed: Callable[[], Sequence[Doc]], grants: Sequence[Doc] | None = None) -> Mark:
    """Give what a cursor dies with: the caller's effective grants and either any committed change or what it must die at.

    ``listed`` gives the items that the request without its filters would list.
    """
    own = own_grants(turn.grants if grants is None else grants)
    if turn.choices.cursor_dies_at_any_change:
        return [own, space.version]
    return [own, space_mark(space), list(listed())]


def own_grants(grants: Sequence[Doc]) -> Mark:
    """Tell a caller's effective grants apart from any others."""
    return [[grant["grant_id"], grant["revision"]] for grant in grants]


def space_mark(space: Space) -> Mark:
    """Tell a space's state and generation; a space that does not exist has neither."""
    return [space.facts.get("state"), space.facts.get("authority_generation")]


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
