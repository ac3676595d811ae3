"""How many of what: the one place that counts, so that no two formats disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.verdict import RunResult, Verdict


@dataclass(frozen=True, slots=True)
class Counts:
    """``checks`` and ``rules`` by verdict, in the order of ``Verdict`` and without those that there are none of.

    ``waived`` checks did not pass and are waived; they are among the checks of their verdict too.
    """

    checks: Mapping[Verdict, int]
    rules: Mapping[Verdict, int]
    waived: int
    calls: int
    assertions: int

    @property
    def total(self) -> int:
        """How many checks there are."""
        return sum(self.checks.values())

    @property
    def passed(self) -> int:
        """How many checks passed."""
        return self.checks.get(Verdict.PASS, 0)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
        by_verdict = {"rules": self.rules, "checks": self.checks}
        told = {name: {str(verdict): number for verdict, number in counts.items()} for name, counts in by_verdict.items()}
        return {**told, "waived": self.waived, "calls": self.calls, "assertions": self.assertions}


def counts(result: RunResult) -> Counts:
    """Count."""
    return Counts(
        checks=_ordered(Counter(check.verdict for check in result.checks)),
        rules=_ordered(Counter(rule.verdict for rule in result.rules)),
        waived=sum(rule.waived for rule in result.rules),
        calls=sum(rule.calls for rule in result.rules),
        assertions=sum(rule.assertions for rule in result.rules),
    )


def _ordered(found: Counter[Verdict]) -> Mapping[Verdict, int]:
    return {verdict: found[verdict] for verdict in Verdict if found[verdict]}
