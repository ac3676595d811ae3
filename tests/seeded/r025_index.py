"""Faults that MEM-R025 (the cognition filter) must catch: an index of cognition that is not kept up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from conformance.oracle import activation, filters
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Patched, Provider

RULE = "MEM-R025"


def _lost_by(stem: str) -> Callable[[], Provider]:
    """Make a provider that finds no record by its cognition once an operation was done with it."""

    def make() -> Provider:
        lost: set[str] = set()

        def losing(original: Any) -> Any:
            def step(turn: Turn, space: Space, request: Doc) -> Outcome:
                outcome: Outcome = original(turn, space, request)
                lost.update(entry["id"] for entry in outcome.affected if entry["type"] == "record")
                return outcome

            return step

        return Patched([altered.step(stem, losing), _blind_to(lost)])

    return make


def _lost_by_import() -> Provider:
    """Make a provider that finds no brought record by its cognition."""
    lost: set[str] = set()

    def losing(original: Any) -> Any:
        def activated(turn: Turn, space: Space, items: Iterable[Doc]) -> Space:
            after: Space = original(turn, space, items)
            lost.update(record["record_id"] for record in after.records.all())
            return after

        return activated

    return Patched([Patch(activation, "activated", losing), _blind_to(lost)])


def _blind_to(lost: set[str]) -> Patch:
    def wrap(original: Any) -> Any:
        def by_cognition(records: Iterable[Doc], wanted: Doc | None) -> list[Doc]:
            known = [one for one in records if wanted is None or one["record_id"] not in lost]
            found: list[Doc] = original(known, wanted)
            return found

        return by_cognition

    return Patch(filters, "by_cognition", wrap)


FAULTS: tuple[Fault, ...] = (
    *(
        Fault(f"r025_index_lost_by_{word}", RULE, f"a record matches no more after {stem}", _lost_by(stem), "ours")
        for word, stem in (("promotion", "records.promote"), ("review", "candidates.review"))
    ),
    Fault("r025_index_lost_by_import", RULE, "a record that an import brought matches nothing", _lost_by_import, "ours"),
)
