"""What every report of the gate says in the same words."""

from __future__ import annotations

import json
from typing import Any

from conformance.gate.outcome import Comparison, Direction, Evidence, Finding, Severity

LANDS = {0: "it may land", 1: "it breaks", 2: "it could not be told"}
"""What an exit code means."""

_SHOWN = {
    "same form": "both say the same",
    "every rule": "each rule of the one is there in the other",
    "no instance": "no instance can break the {empty} rules that differ",
    "refuted": "refuted",
    "unknown": "not shown",
}


def headline(found: Comparison) -> str:
    """Say the verdict in one line."""
    counts = {severity: sum(change.severity is severity for change in found.types) for severity in Severity}
    told = ", ".join(f"{count} {severity}" for severity, count in reversed(counts.items()) if count)
    tables = f", {len(found.tables)} changes of tables" if found.tables else ""
    changed = f"{len(found.types)} types changed ({told})" if found.types else "no type changed"
    return f"{changed}{tables}, {found.unchanged} unchanged: {LANDS[found.exit_code()]}"


def change_of(finding: Finding) -> str:
    """Say what changed: the place, the keyword, before and after."""
    if finding.before is None and finding.after is None:
        return f"{finding.pointer or '/'} {finding.keyword}".strip()
    return f"{finding.pointer or '/'} {finding.keyword}: {_value(finding.before)} → {_value(finding.after)}"


def _value(value: Any) -> str:
    return "nothing" if value is None else short(value)


def short(value: Any, limit: int = 120) -> str:
    """Write a value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def standing(found: Comparison, finding: Finding) -> str:
    """Say how grave a finding is, and whether it may land although it breaks."""
    if finding.severity is Severity.BREAKING and found.permitted(finding):
        return "breaking, with a step of schema_version" if finding.stepped else "breaking, permitted"
    return str(finding.severity)


def proof(name: str, evidence: Evidence) -> str:
    """Say what speaks for it that one side accepts what the other does."""
    whose = "old instances by the new" if name == "old_by_new" else "new instances by the old"
    shown = _SHOWN[evidence.shown].format(empty=evidence.empty)
    tried = f"{evidence.accepted} of {evidence.tried} tried accepted, {evidence.reached} of {evidence.branches} branches reached"
    return f"{whose}: {shown}; {tried}"


def refuser(direction: Direction | None) -> str:
    """Say who refuses a witness."""
    return {Direction.NARROWED: "refused by the new", Direction.WIDENED: "refused by the old", None: "the row"}[direction]
