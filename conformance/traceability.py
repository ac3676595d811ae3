"""Which check stands for which duty of the reference page: ``invariants/traceability.json``, read.

Each sentence of the page that states a duty has a key; it is mapped to check ids, or excluded with a written reason. A duty that
is neither is open, and none may be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from conformance.modules import directory


class Standing(StrEnum):
    """What has become of a duty."""

    MAPPED = "mapped"
    EXCLUDED = "excluded"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Duty:
    """One sentence of the reference page, by its key: the ``checks`` that stand for it, or why it is ``excluded``."""

    key: str
    checks: tuple[str, ...] = ()
    excluded: str = ""

    @property
    def standing(self) -> Standing:
        """Say whether the duty is mapped, excluded or open."""
        if self.checks:
            return Standing.MAPPED
        return Standing.EXCLUDED if self.excluded else Standing.OPEN


@cache
def duties() -> tuple[Duty, ...]:
    """Return all duties in the order of the page."""
    rows = json.loads((directory() / "traceability.json").read_text("utf-8"))["rows"]
    return tuple(Duty(row["key"], tuple(row.get("checks", ())), row.get("excluded", "")) for row in rows)
