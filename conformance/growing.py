"""A result while it grows, and the stream that carries it: JSON lines, one for each thing that happens.

A stream whose last line is not there, or not whole, is of a run that was killed: it still reads as a result, which says that it
is incomplete. The form of a line is reports/schema/stream.schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from conformance.verdict import CheckResult, RunResult


class Growing:
    """What is known of a run: ``began``, then ``collected`` and ``ended`` as they come, then ``over``."""

    def __init__(self) -> None:
        self._start: RunResult | None = None
        self._end: Mapping[str, Any] | None = None
        self._checks: dict[str, CheckResult] = {}
        self._planned = 0

    def began(self, result: RunResult) -> None:
        """Take the result of a run of which no check has ended."""
        self._start = result

    def collected(self, total: int) -> None:
        """Take how many checks there are."""
        self._planned = total

    def ended(self, result: CheckResult) -> None:
        """Take one check's result; a later one of the same check takes its place."""
        self._checks[result.node_id] = result

    def over(self, end: Mapping[str, Any]) -> None:
        """Take what is known at the end alone (``ending``)."""
        self._end = end

    def result(self) -> RunResult:
        """Return the result as far as it is known. Raises ``ValueError`` where not even its beginning is."""
        if self._start is None:
            raise ValueError("it does not tell how the run began")
        if self._end is not None:
            ordered = [self._checks[node_id] for node_id in self._end["order"]]
            return _finished(_filled(self._start, ordered), self._end)
        return replace(_filled(self._start, self._checks.values()), complete=False, trouble=(self._unfinished(),))

    def _unfinished(self) -> str:
        return f"the run did not reach its end: {len(self._checks)} of {self._planned or 'unknown'} checks have a result"


def ending(result: RunResult) -> dict[str, Any]:
    """Return what a stream says last of a run: all that the beginning and the checks do not tell."""
    return {
        "order": [check.node_id for check in result.checks],
        "seconds": result.seconds,
        "trouble": list(result.trouble),
        "complaints": list(result.complaints),
        "complete": result.complete,
        "coverage": dict(result.coverage),
        "waived": {check.node_id: check.to_json()["waiver"] for check in result.checks if check.waiver is not None},
        "absences": {rule.rule_id: [rule.absent, str(rule.absence)] for rule in result.rules},
    }


def _filled(start: RunResult, checks: Iterable[CheckResult]) -> RunResult:
    by_rule: dict[str, list[CheckResult]] = {}
    for check in checks:
        by_rule.setdefault(check.rule_id, []).append(check)
    return replace(start, rules=tuple(replace(rule, checks=tuple(by_rule.get(rule.rule_id, ()))) for rule in start.rules))


def _finished(result: RunResult, end: Mapping[str, Any]) -> RunResult:
    rules = [rule.to_json() for rule in result.rules]
    for rule in rules:
        rule["absent"], rule["absence"] = end["absences"][rule["rule_id"]]
        for check in rule["checks"]:
            check["waiver"] = end["waived"].get(check["node_id"])
    told = {name: end[name] for name in ("seconds", "trouble", "complaints", "complete", "coverage")}
    return RunResult.of_json({**result.to_json(), **told, "rules": rules})


class Stream:
    """Writes the stream of a run to a file; each line is there, whole, before the run goes on."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def began(self, result: RunResult) -> None:
        """Write how the run began."""
        self._write("began", result=result.to_json())

    def collected(self, total: int) -> None:
        """Write how many checks there are."""
        self._write("collected", checks=total)

    def ended(self, result: CheckResult) -> None:
        """Write one check's result."""
        self._write("check", check=result.to_json())

    def over(self, result: RunResult) -> None:
        """Write the end."""
        self._write("over", end=ending(result))

    def _write(self, event: str, **members: Any) -> None:
        self._file.write(json.dumps({"event": event, **members}) + "\n")
        self._file.flush()


def read_result(path: Path) -> RunResult:
    """Read a result file: JSON, or the stream of a run, whether or not the run reached its end.

    Raises ``OSError`` where it cannot be read and ``ValueError`` with the reason where it is none.
    """
    text = path.read_text("utf-8")
    first = text.partition("\n")[0]
    try:
        if '"event"' in first:
            return _streamed(text)
        return RunResult.of_json(json.loads(text))
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"it is no result of a run ({type(error).__name__}: {error})") from error


def _streamed(text: str) -> RunResult:
    """Read a stream. What follows the last end of line was being written when the run was killed."""
    growing = Growing()
    for line in text.split("\n")[:-1]:
        match json.loads(line):
            case {"event": "began", "result": result}:
                growing.began(RunResult.of_json(result))
            case {"event": "collected", "checks": int(total)}:
                growing.collected(total)
            case {"event": "check", "check": check}:
                growing.ended(CheckResult.of_json(check))
            case {"event": "over", "end": end}:
                growing.over(end)
            case _:
                raise ValueError(f"no event of a run: {line[:80]}")
    return growing.result()
