"""Pages of a list (protocol.md section 4, page): each item of a cursor chain exactly once, ``limit`` free to change along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.oracle import cursors
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc
from conformance.oracle.turn import Turn
from conformance.wire.vocabulary import Code


def arranged(turn: Turn, items: list[Doc]) -> list[Doc]:
    """Put items, oldest first, into the provider's order."""
    return turn.choices.list_order(items)


def limit(turn: Turn, page: Doc) -> int:
    """Give the page size: the request's, refused above ``max_page``, or the provider's default."""
    wanted = int(page.get("limit", turn.choices.default_limit))
    if wanted > turn.choices.limits.max_page:
        raise Refusal(Code.LIMIT_EXCEEDED)
    return wanted


def start(turn: Turn, request: Doc, mark: cursors.Mark, page: Doc) -> int:
    """Give where the page begins: where its cursor says, else at the first item."""
    return cursors.position(turn, request, mark, page["cursor"]) if "cursor" in page else 0


def reply(turn: Turn, request: Doc, items: Sequence[Doc], mark: cursors.Mark) -> dict[str, Any]:
    """Give the page of ``items`` that the request asks for, with ``next_cursor`` only when more follows."""
    page = request.get("page", {})
    size = limit(turn, page)
    first = start(turn, request, mark, page)
    members: dict[str, Any] = {str(turn.op.lists): list(items[first : first + size])}
    if first + size < len(items):
        members["next_cursor"] = cursors.token(turn, request, mark, first + size)
    return members
