"""Small changes of one schema with their known effect: what the gate's bars are measured with.

``relation`` says of the instances that the new schema accepts, beside the old one: ``same``, ``wider``, ``narrower`` or
``other`` (some more and some fewer). The cases stand in ``gate_cases``, a file for each kind of keyword.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.gate.containment import Containment, contained
from conformance.gate.sides import NEW, OLD, Ground, Side

_ID = "https://case.invalid/schemas/data/case.schema.json"


@dataclass(frozen=True)
class Case:
    """One change, and what it does to the set of accepted instances."""

    name: str
    old: Any
    new: Any
    relation: str


@dataclass(frozen=True)
class Judged:
    """What the gate says of a case: whether the new refuses what the old accepts, and the other way round."""

    narrowed: Containment
    widened: Containment

    @property
    def relation(self) -> str:
        """The relation in the words of the cases; ``unknown`` where the gate could not tell."""
        if self.narrowed.unknown or self.widened.unknown:
            return "unknown"
        return _RELATIONS[bool(self.narrowed.broken), bool(self.widened.broken)]


_RELATIONS: Mapping[tuple[bool, bool], str] = {
    (False, False): "same",
    (False, True): "wider",
    (True, False): "narrower",
    (True, True): "other",
}


def cases() -> list[Case]:
    """Read all cases."""
    files = sorted((Path(__file__).parent / "gate_cases").glob("*.json"))
    return [Case(**case) for file in files for case in json.loads(file.read_text("utf-8"))]


def judged(old: Any, new: Any, examples: int = 8) -> Judged:
    """Compare two schemas in both directions."""
    ours, theirs = (Side.of(name, {_ID: {**schema, "$id": _ID}}) for name, schema in ((OLD, old), (NEW, new)))
    ground = Ground(ours, theirs)
    return Judged(
        contained(ground, ours.ref(_ID), theirs.ref(_ID), examples), contained(ground, theirs.ref(_ID), ours.ref(_ID), examples)
    )
