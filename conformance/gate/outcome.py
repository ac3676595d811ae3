"""What a comparison found: frozen values that go to JSON, from which every report is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

FORMAT = 1
"""The number of the format of ``to_json``."""


class Severity(StrEnum):
    """How grave a change is, from harmless to worst; ``UNKNOWN`` means that it could not be told."""

    NONE = "none"
    EDITORIAL = "editorial"
    ADDITIVE = "additive"
    UNKNOWN = "unknown"
    BREAKING = "breaking"


_RANK = MappingProxyType({severity: rank for rank, severity in enumerate(Severity)})


def worst(severities: Iterable[Severity]) -> Severity:
    """Return the worst of the severities, ``NONE`` where there is not one."""
    return max(severities, key=_RANK.__getitem__, default=Severity.NONE)


class Direction(StrEnum):
    """Whose instances are refused by whom."""

    NARROWED = "the new one refuses what the old one accepts"
    WIDENED = "the old one refuses what the new one accepts"


class Role(StrEnum):
    """Who relies on a type: it is sent in requests, read in answers, or stored and exported."""

    SENT = "sent"
    READ = "read"
    STORED = "stored"


@dataclass(frozen=True)
class Witness:
    """``instance`` is accepted by one side and refused by the other, for the reason given."""

    instance: Any
    keyword: str = ""
    pointer: str = ""
    message: str = ""


@dataclass(frozen=True)
class Finding:
    """One change of what is accepted, or of a row of a table.

    ``pointer`` is the place in an instance with ``*`` for any item or map member, ``keyword`` the rule that changed, ``before``
    and ``after`` its value. ``old_at`` and ``new_at`` name files and pointers in them. ``affects`` says in words who is affected,
    ``places`` how many places of the type change alike. ``stepped``: the change goes with a step of ``schema_version``.
    """

    severity: Severity
    direction: Direction | None
    keyword: str
    pointer: str = ""
    before: Any = None
    after: Any = None
    old_at: str = ""
    new_at: str = ""
    affects: tuple[str, ...] = ()
    places: int = 1
    witness: Witness | None = None
    stepped: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        witness = self.witness
        told = None if witness is None else {name: getattr(witness, name) for name in _WITNESS}
        plain = {name: getattr(self, name) for name in _FINDING}
        direction = None if self.direction is None else self.direction.name.lower()
        return {**plain, "severity": str(self.severity), "direction": direction, "affects": list(self.affects), "witness": told}


_WITNESS = ("instance", "keyword", "pointer", "message")
_FINDING = ("keyword", "pointer", "before", "after", "old_at", "new_at", "places", "stepped")


@dataclass(frozen=True)
class Evidence:
    """What speaks for "accepted": how it was shown, and how many instances of how many branches were tried.

    ``shown`` is ``same form`` (the two say the same), ``every rule`` (each rule of the judge is there in the other, or a stricter
    one), ``no instance`` (``empty`` rules differ, and no instance can break them), or ``refuted``.
    """

    shown: str
    empty: int = 0
    tried: int = 0
    accepted: int = 0
    reached: int = 0
    branches: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as a JSON object."""
        return {name: getattr(self, name) for name in ("shown", "empty", "tried", "accepted", "reached", "branches")}


@dataclass(frozen=True)
class TypeChange:
    """One changed type. ``unknown`` lists what could not be told, with reasons; ``notes`` the changes of words alone."""

    title: str
    file: str
    roles: tuple[Role, ...]
    findings: tuple[Finding, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def severity(self) -> Severity:
        """The worst of the findings; unknown where something could not be told and nothing is known to break."""
        found = [finding.severity for finding in self.findings] + [Severity.UNKNOWN] * bool(self.unknown)
        return worst([Severity.EDITORIAL, *found])

    def to_json(self) -> dict[str, Any]:
        """Return the change as a JSON object."""
        return {
            "title": self.title,
            "file": self.file,
            "severity": str(self.severity),
            "roles": [str(role) for role in self.roles],
            "findings": [finding.to_json() for finding in self.findings],
            "unknown": list(self.unknown),
            "notes": list(self.notes),
            "evidence": {name: one.to_json() for name, one in self.evidence.items()},
            "seconds": self.seconds,
        }


class Step(StrEnum):
    """Which breaking changes may land."""

    MODEL = "model"
    ANY = "any"
    NEVER = "never"
    OFF = "off"


@dataclass(frozen=True)
class Policy:
    """``tolerant`` readers skip members that they do not know; ``step`` says which breaking changes may land.

    ``examples`` is how many instances of each changed type are tried in each direction.
    """

    tolerant: bool = False
    step: Step = Step.MODEL
    examples: int = 20


@dataclass(frozen=True)
class Comparison:
    """All that was found. ``tables`` are changes of operations and errors; ``effect`` is what the suite makes of it, if asked."""

    old: Mapping[str, str]
    new: Mapping[str, str]
    policy: Policy
    suite: str
    types: tuple[TypeChange, ...] = ()
    unchanged: int = 0
    tables: tuple[Finding, ...] = ()
    stepped: tuple[str, ...] = ()
    effect: Mapping[str, Any] | None = None
    seconds: float = 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, those of the tables first."""
        return (*self.tables, *(finding for change in self.types for finding in change.findings))

    @property
    def severity(self) -> Severity:
        """The worst of all."""
        return worst([*(finding.severity for finding in self.tables), *(change.severity for change in self.types)])

    def permitted(self, finding: Finding) -> bool:
        """Say whether a breaking change may land under the policy."""
        step = self.policy.step
        return step is Step.OFF or (step is Step.MODEL and finding.stepped) or (step is Step.ANY and bool(self.stepped))

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The breaking changes that may not land."""
        return tuple(one for one in self.findings if one.severity is Severity.BREAKING and not self.permitted(one))

    def exit_code(self) -> int:
        """Return what the command ends with: 0 it may land, 1 it breaks, 2 it could not be told."""
        if self.blocking:
            return 1
        unknown = any(change.unknown for change in self.types)
        return 2 if unknown or (self.effect or {}).get("unknown") else 0

    def to_json(self) -> dict[str, Any]:
        """Return everything as a JSON object (``reports/schema/schema-comparison.schema.json``)."""
        return {
            "format": FORMAT,
            "suite": self.suite,
            "old": dict(self.old),
            "new": dict(self.new),
            "policy": {
                "readers": "tolerant" if self.policy.tolerant else "strict",
                "step": str(self.policy.step),
                "examples": self.policy.examples,
            },
            "severity": str(self.severity),
            "exit_code": self.exit_code(),
            "blocking": len(self.blocking),
            "stepped": list(self.stepped),
            "unchanged": self.unchanged,
            "tables": [finding.to_json() for finding in self.tables],
            "types": [change.to_json() for change in self.types],
            "effect": None if self.effect is None else dict(self.effect),
            "seconds": self.seconds,
        }
