"""How the walk says that target and model disagree."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from conformance.expect import CheckFailed


class Kind(StrEnum):
    """In what an answer is wrong."""

    ACCEPTED = "accepted what must be refused"
    REFUSED = "refused what must be accepted"
    CODE = "refused for another reason"
    DETAILS = "told other details"
    MEMBER = "answered another member"
    FORM = "answered in no form of the contract"
    SILENT = "gave no answer"
    STATE = "left another state"


class Disagreement(CheckFailed):
    """The target's answer is none that the contract allows. ``rule`` is the rule that it breaks, ``op`` the operation."""

    def __init__(
        self, rule: str, op: str, kind: Kind, *, reason: str = "", expected: Any = None, seen: Any = None, pointer: str = ""
    ) -> None:
        self.rule = rule
        self.op = op
        self.kind = kind
        self.reason = reason
        super().__init__(f"MEM-{rule}: {op} {kind}", expected=expected, seen=seen, pointer=pointer)

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells one finding from another: rule, operation and reason."""
        return (self.rule, self.op, f"{self.kind.name.lower()}: {self.reason}")
