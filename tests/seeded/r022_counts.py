"""Faults of MEM-R022: what a list finds among tombstones, and how often it counts."""

from __future__ import annotations

from typing import Any

from conformance.oracle import filters, records
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, patched

RULE = "MEM-R022"


def _sourceless_tombstones(original: Any) -> Any:
    def by_provenance(found: Any, wanted: Doc | None) -> list[Doc]:
        by_source = wanted is not None and "source_context_ids" in wanted
        return [one for one in original(found, wanted) if not (by_source and records.is_tombstone(one))]

    return by_provenance


def _counting_names(original: Any) -> Any:
    """Count the records of a context as often as it is named."""

    def listed(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        names = request["selection"].get("context_ids", [])
        again = (len(names) - len(set(names))) * bool(outcome.members["records"])
        return outcome._replace(members={**outcome.members, "total_authorized": outcome.members["total_authorized"] + again})

    return listed


def _a_hundred(_turn: Turn, _space: Space, members: Doc) -> Doc:
    return {**members, "total_authorized": min(100, members["total_authorized"])}


def _few_contexts(original: Any) -> Any:
    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        wanted = request["selection"]
        few = {**wanted, "context_ids": wanted["context_ids"][:50]} if "context_ids" in wanted else wanted
        outcome: Outcome = original(turn, space, {**request, "selection": few})
        return outcome

    return list_


FAULTS: tuple[Fault, ...] = (
    Fault(
        "r022_tombstones_have_no_source",
        RULE,
        "a filter by source contexts finds no tombstone",
        patched(Patch(filters, "by_provenance", _sourceless_tombstones)),
        source="ours",
    ),
    Fault(
        "r022_names_count_twice",
        RULE,
        "total_authorized counts again for a context that is named twice",
        patched(altered.step("records.list", _counting_names)),
        source="ours",
    ),
    Fault(
        "r022_total_cut",
        RULE,
        "total_authorized ends at a hundred",
        patched(altered.answer("records.list", _a_hundred)),
        source="ours",
    ),
    Fault(
        "r022_first_contexts_only",
        RULE,
        "only the first fifty contexts of a selection are selected",
        patched(altered.step("records.list", _few_contexts)),
        source="ours",
    ),
)
