"""``memory.recall`` (protocol.md section 7, Recall): authorised, selected, living, filtered; then ordered, then cut."""

from __future__ import annotations

from conformance.oracle import pages, records, selection
from conformance.oracle.policy import ranking
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn


def recall(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.recall``: at most the budget, with the exact sum of content bytes and whether anything was left out."""
    selection.authorise(turn, request["selection"], turn.op.needs)
    found = pages.arranged(turn, records.eligible(turn, space, request, turn.op.needs))
    ordered = ranking.ordered(found, query_text(request), turn.choices.recall_order)
    cut = ranking.cut(ordered, budget(request), skips=turn.choices.recall_skips)
    return Outcome(space, {"records": cut.records, "truncated": cut.truncated, "used_bytes": cut.used})


def query_text(request: Doc) -> str | None:
    """Give the text that a recall asks with; it orders and never filters."""
    text: str | None = request.get("query", {}).get("text")
    return text


def budget(request: Doc) -> ranking.Budget:
    """Give the budget of a recall."""
    given = request["budget"]
    return ranking.Budget(given.get("max_records"), given.get("max_bytes"))
