"""Faults that MEM-R027 (transfer) must catch: tombstones, archived subjects and consumed candidates that do not survive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.oracle import activation
from conformance.oracle.state import Doc
from tests.seeded.fault import Fault, Patch, always, patched

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
)  # fmt: skip
