"""Waivers: checks that are known not to pass, accepted by somebody until a day (``--waivers waivers.toml``).

[[waiver]]                        # must not pass until then; one that passes is no longer needed
check = "MEM-R016.…"              # a check's id; a parametrised check may be named without its parameter
reason = "…"
link = "https://…"
expires = 2027-01-31

[[flaky]]                         # may pass, or fail in a way that does not show again; a failure that does is no flaky one
…                                 # the same keys

A waiver leaves the verdict as it is and takes it out of the exit code. What is wrong with the file itself is told before the run;
an entry that is of no check, or no longer needed, at its end. Both are wrong usage: a list that nobody minds hides failures.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from conformance.catalogue import name_of, named, rules
from conformance.errors import BadInput, BadUsage
from conformance.modules import listed
from conformance.verdict import CheckResult, RunResult, Verdict, Waiver

_KINDS = ("waiver", "flaky")
_TEXTS = ("check", "reason", "link")
_KEYS = (*_TEXTS, "expires")
_WAIVABLE = (Verdict.FAIL, Verdict.INCONCLUSIVE)
_UNDECIDED = (Verdict.DESELECTED, Verdict.SUITE_ERROR)


class BadWaivers(BadInput):
    """A waiver file cannot be used. The sentence names the file and the entry."""


@dataclass(frozen=True, slots=True)
class Waivers:
    """The entries of a file, by check id."""

    path: str
    entries: Mapping[str, Waiver]

    def applied(self, result: RunResult) -> RunResult:
        """Return the result with its checks waived, and with complaints of entries that are of no use."""
        rules_ = tuple(replace(rule, checks=tuple(map(self._waived, rule.checks))) for rule in result.rules)
        waived = replace(result, rules=rules_)
        return replace(waived, complaints=tuple(f"{self.path}: {said}" for said in self._complaints(waived)))

    def _waived(self, check: CheckResult) -> CheckResult:
        entry = self._of(check)
        if entry is None or check.verdict not in _WAIVABLE or (entry.flaky and not check.flaky):
            return replace(check, waiver=None)
        return replace(check, waiver=entry)

    def _of(self, check: CheckResult) -> Waiver | None:
        return self.entries.get(check.check_id) or self.entries.get(name_of(check.check_id))

    def _complaints(self, result: RunResult) -> Iterator[str]:
        """Say what is wrong with entries. Of a rule that was not run, or a run that was cut, nothing can be said."""
        ran = {rule.rule_id for rule in result.rules if rule.checks}
        for check_id, entry in self.entries.items():
            rule_id = check_id.partition(".")[0]
            named_ = [check for check in result.checks if self._of(check) is entry]
            if not named_ and rule_id in ran and result.complete and not result.facts.shard and _whole(result, rule_id):
                yield f"{check_id} is no check of this run"
            elif named_ and not entry.flaky and all(check.verdict is Verdict.PASS for check in named_):
                yield f"{check_id} passes: its waiver is no longer needed"
            elif named_ and not entry.flaky and all(check.verdict is Verdict.NOT_APPLICABLE for check in named_):
                yield f"{check_id} is not applicable: its waiver is not needed"


def _whole(result: RunResult, rule_id: str) -> bool:
    """Say whether all checks of a rule were run, as far as their modules tell (a smoke run leaves most of them out)."""
    declared = {check.check_id for check in listed(named(rule_id))}
    return declared <= {name_of(check.check_id) for check in result.checks}


def read_waivers(path: Path, *, today: date) -> Waivers:
    """Read a waiver file. Raises ``BadWaivers``: for another form, a doubled, unknown or expired entry."""
    entries: dict[str, Waiver] = {}
    for kind, rows in _tables(path):
        for number, row in enumerate(rows, 1):
            entry = _entry(f"{path}: {kind} {number}", row, today, flaky=kind == "flaky")
            if entry.check_id in entries:
                raise BadWaivers(f"{path}: {entry.check_id} is named twice.")
            entries[entry.check_id] = entry
    return Waivers(str(path), entries)


def _tables(path: Path) -> Iterator[tuple[str, list[Any]]]:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadWaivers(f"{path}: the waivers cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadWaivers(f"{path}: not TOML: {error}.") from error
    for kind, rows in table.items():
        if kind not in _KINDS or not isinstance(rows, list):
            raise BadWaivers(
                f"{path}: there is nothing but [[waiver]] and [[flaky]] in a waiver file, and this one has {kind!r}."
            )
        yield kind, rows


def _entry(where: str, row: Any, today: date, *, flaky: bool) -> Waiver:
    if not isinstance(row, dict) or sorted(row) != sorted(_KEYS):
        raise BadWaivers(f"{where}: an entry has exactly {', '.join(_KEYS)}.")
    for key in _TEXTS:
        if not isinstance(row[key], str) or not row[key].strip():
            raise BadWaivers(f"{where}: {key!r} must be a non-empty string.")
    expires = row["expires"]
    if isinstance(expires, datetime) or not isinstance(expires, date):
        raise BadWaivers(f"{where}: 'expires' must be a date, as 2027-01-31.")
    if expires < today:
        raise BadWaivers(f"{where}: the waiver of {row['check']} has expired on {expires}.")
    _known(where, row["check"])
    return Waiver(row["check"], row["reason"], row["link"], expires.isoformat(), flaky)


def _known(where: str, check_id: str) -> None:
    """Raise ``BadWaivers`` for a check that no module declares."""
    rule_id = check_id.partition(".")[0]
    try:
        declared = {check.check_id for check in listed(named(rule_id))} if rule_id in rules() else set()
    except BadUsage:
        declared = set()
    if name_of(check_id) not in declared:
        raise BadWaivers(f"{where}: there is no check {check_id!r} (memory-conformance explain R0NN lists those of a rule).")
