"""Faults that MEM-R027 (transfer) must catch: tombstones, archived subjects and consumed candidates that do not survive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.oracle import activation, jobs
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Settled, Turn
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Patched, Provider, always, patched

RULE = "MEM-R027"


def _further_wins(original: Any) -> Any:
    """Let what was brought win over a survivor where it has gone further: by its revision."""

    def surviving(brought: Iterable[Doc], own: Iterable[Doc], key: str) -> list[Doc]:
        listed = list(brought)
        further = {doc[key]: doc["revision"] for doc in listed}
        found: list[Doc] = original(listed, [doc for doc in own if doc["revision"] >= further.get(doc[key], 0)], key)
        return found

    return surviving


def _scope_brought(original: Any) -> Any:
    """Place a tombstone where the bundle has the record."""

    def surviving(brought: Iterable[Doc], own: Iterable[Doc], key: str) -> list[Doc]:
        listed = list(brought)
        scopes = {doc[key]: doc["scope"] for doc in listed if "scope" in doc}
        moved = [{**doc, "scope": scopes[doc[key]]} if doc[key] in scopes else doc for doc in own]
        found: list[Doc] = original(listed, moved, key)
        return found

    return surviving


def _of_the_request() -> Provider:
    """Make a provider in which only what was a tombstone when the activation was asked for survives it."""
    dead: dict[str, set[str]] = {}

    def asked(original: Any) -> Any:
        def activate(turn: Turn, space: Space, request: Doc) -> Outcome:
            dead[request["import_id"]] = {record["record_id"] for record in activation.tombstones(space)}
            outcome: Outcome = original(turn, space, request)
            return outcome

        return activate

    def settled(original: Any) -> Any:
        def settle(turn: Turn, space: Space, job: Doc) -> Settled:
            known = dead.get(job["import_id"], set())

            def then(found: Any) -> Any:
                return lambda space: [record for record in found(space) if record["record_id"] in known]

            with Patch(activation, "tombstones", then).applied():
                done: Settled = original(turn, space, job)
            return done

        return settle

    return Patched([altered.step("imports.activate", asked), Patch(jobs.SETTLERS, "memory.imports.activate", settled)])


def _fault(name: str, sentence: str, *patches: Patch) -> Fault:
    return Fault(f"r027_{name}", RULE, sentence, patched(*patches), "ours")


FAULTS: tuple[Fault, ...] = (
    _fault("archived_reopened", "an archived subject takes the state that the bundle has",
           Patch(activation, "archived", always([]))),
    _fault("consumed_reopened", "a consumed candidate takes the state that the bundle has",
           Patch(activation, "consumed", always([]))),
    _fault("tombstones_replaced", "a tombstone takes the form that the bundle has", Patch(activation, "tombstones", always([]))),
    _fault("retired_kinds_are_lost", "an archived subject of a kind that was fenced before is lost where the bundle lacks it",
           Patch(activation, "archived", lambda original: lambda space: [
               one for one in original(space) if "kind" not in one or one["revision"] < 3])),
    _fault("further_revision_wins", "what went further elsewhere wins over a tombstone, a decision or an archived subject",
           Patch(activation, "surviving", _further_wins)),
    _fault("tombstone_moves", "a tombstone goes where the bundle has the record", Patch(activation, "surviving", _scope_brought)),
    _fault("survivors_without_subject", "what survives loses its subject", Patch(activation, "needed", always([]))),
    Fault("r027_survivors_of_the_request", RULE, "what is deleted while an activation is pending lives again",
          _of_the_request, "ours"),
)  # fmt: skip
