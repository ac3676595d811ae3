"""Two results beside each other: what is new, what is fixed, what changed its reason, what vanished (command ``diff``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.verdict import CheckResult, RunResult, Verdict

_GOOD = (Verdict.PASS, Verdict.NOT_APPLICABLE)
_LEFT = Verdict.DESELECTED


class Kind(StrEnum):
    """What became of a check."""

    BROKEN = "broken"
    VANISHED = "vanished"
    CHANGED = "changed reason"
    FIXED = "fixed"
    ADDED = "added"


REGRESSIONS = frozenset({Kind.BROKEN, Kind.VANISHED})


@dataclass(frozen=True, slots=True)
class Change:
    """One check's change; ``before`` and ``after`` are verdicts with their reason, "" where there is none."""

    kind: Kind
    check_id: str
    before: str
    after: str

    @property
    def regression(self) -> bool:
        """Say whether a gate must stop it."""
        return self.kind in REGRESSIONS


def changes(before: RunResult, after: RunResult) -> Iterator[Change]:
    """Give what changed, check by check in the order of the earlier result; then what was added.

    A check counts as good where it passes, is not applicable or is waived. ``broken`` is one that was good, or is new, and is
    good no longer; ``vanished`` one that has no result any more although its rule was run.
    """
    old, new = _by_id(before), _by_id(after)
    for check_id, check in old.items():
        if check_id in new:
            yield from _changed(check, new[check_id])
        elif _wanted(after, check.rule_id):
            yield Change(Kind.VANISHED, check_id, _said(check), "")
    for check_id, check in new.items():
        if check_id not in old:
            yield Change(Kind.ADDED if _good(check) else Kind.BROKEN, check_id, "", _said(check))


def comparable(before: RunResult, after: RunResult) -> list[str]:
    """Say what was otherwise about the two runs, so that a reader weighs the changes rightly."""
    runs = (("earlier", before), ("later", after))
    return [f"the {name} run: {said}" for name, run in runs for said in run.trouble] + list(_others(before, after))


def regressed(found: Iterable[Change], after: RunResult) -> bool:
    """Say whether a gate must stop it: a regression, or a later run that says nothing."""
    return any(change.regression for change in found) or bool(after.trouble) or not after.complete


def _others(before: RunResult, after: RunResult) -> Iterator[str]:
    facts = (("suite", "suite version"), ("bundle", "schema bundle"), ("profile", "profile"), ("seed", "seed"))
    for name, title in facts:
        one, other = getattr(before.facts, name), getattr(after.facts, name)
        if one != other:
            yield f"another {title}: {one}, then {other}"


def _by_id(result: RunResult) -> Mapping[str, CheckResult]:
    return {check.check_id: check for check in result.checks if check.verdict is not _LEFT}


def _wanted(result: RunResult, rule_id: str) -> bool:
    """Say whether a rule was to be run: it was not left out by choice."""
    return any(rule.rule_id == rule_id and rule.verdict is not _LEFT for rule in result.rules)


def _changed(before: CheckResult, after: CheckResult) -> Iterator[Change]:
    kind: Kind | None = None
    if _good(before) is not _good(after):
        kind = Kind.FIXED if _good(after) else Kind.BROKEN
    elif not _good(after) and (before.verdict, before.reason) != (after.verdict, after.reason):
        worse = after.verdict in (Verdict.FAIL, Verdict.SUITE_ERROR) and before.verdict is Verdict.INCONCLUSIVE
        kind = Kind.BROKEN if worse else Kind.CHANGED
    if kind is not None:
        yield Change(kind, before.check_id, _said(before), _said(after))


def _good(check: CheckResult) -> bool:
    return check.counted in _GOOD


def _said(check: CheckResult) -> str:
    waived = " (waived)" if check.waiver is not None else ""
    return f"{check.verdict}{waived}: {check.reason}" if check.reason else f"{check.verdict}{waived}"
