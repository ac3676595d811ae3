"""The result as one HTML file: it loads nothing, reads well on paper, and stays fluent with thousands of checks.

Everything is in the page before a script runs; the script filters, follows links into folded parts, and copies. What comes from a
provider is escaped everywhere. Traces are cut to their last calls and long values are cut, so that the file stays small.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance.counterexample import Counterexample, Kind
from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from reports.calls import Call, calls
from reports.counts import counts
from reports.marked import LONGEST_WHOLE, marked
from reports.shell import curl_lines, json_lines
from reports.words import NAME, again, bad_checks, clean, expected, file_name, replay, sentence

MOST_TOLD = 700_000
"""So many characters of calls and values at the most are in the page; of the failures after them there is the reason."""
LAST_CALLS = 12
LONGEST_SHELL = 20_000
"""So many characters of shell lines at the most stand in the page; the command that prints them is told in any case."""
_PARTS = "templates"
_SHELLS: Mapping[str, Callable[[Counterexample], Iterator[str]]] = {"curl": curl_lines, "stdio": json_lines}
_SIGNS: Mapping[Verdict, str] = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.SUITE_ERROR: "‼",
    Verdict.INCONCLUSIVE: "?",
    Verdict.NOT_APPLICABLE: "–",
    Verdict.DESELECTED: "–",
}


@dataclass(frozen=True)
class Failure:
    """A failure as the page tells it: ``calls`` are the last ones, ``before`` how many came before, ``lanes`` who calls."""

    rule: RuleResult
    check: CheckResult
    calls: Sequence[Call]
    before: int
    lanes: Sequence[str]
    commands: Sequence[str]

    @property
    def expectation(self) -> str:
        """What must be so, in words, where a counterexample says it."""
        found = self.check.counterexample
        return "" if found is None else expected(found.expectation)

    @cached_property
    def shells(self) -> Sequence[tuple[str, str]]:
        """The calls of the counterexample as lines for a shell, each form with its name; none where they are too long."""
        found = self.check.counterexample
        if found is None or found.expectation.kind is Kind.CHECK:
            return ()
        told = [(name, "\n".join(lines(found))) for name, lines in _SHELLS.items()]
        return [(name, text) for name, text in told if len(text) <= LONGEST_SHELL]

    @cached_property
    def download(self) -> str:
        """The counterexample as a link's target."""
        found = self.check.counterexample
        text = "" if found is None else json.dumps(found.to_json(), indent=1)
        return f"data:application/json;base64,{base64.b64encode(text.encode()).decode()}"


@dataclass(frozen=True, slots=True)
class Cell:
    """How often the checks of a rule called an operation: ``level`` 0 for never to 5 for very often."""

    rule: str
    count: int

    @property
    def level(self) -> int:
        """The number of digits, 5 at the most."""
        return min(5, len(str(self.count))) if self.count else 0


@dataclass(frozen=True, slots=True)
class Row:
    """An operation of the coverage map: its cells rule by rule, and the answers it gave."""

    op: str
    cells: Sequence[Cell]
    codes: Sequence[str]
    succeeded: bool


def render(result: RunResult) -> str:
    """Return the page."""
    found = [_failure(rule, check, result) for rule, check in bad_checks(result)]
    told = _told(found)
    text = _page().render(
        result=result,
        counts=counts(result),
        sentence=sentence(result),
        failures=found[:told],
        left=len(found) - told,
        rows=list(_rows(result)),
        name=NAME,
        style=Markup(_part("report.css")),  # noqa: S704 - a file of ours
        script=Markup(_part("report.js")),  # noqa: S704 - the same
    )
    return clean(text)


@cache
def _page() -> Any:
    environment = Environment(
        loader=FunctionLoader(_part), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(marked=marked, anchor=anchor, sign=_SIGNS.__getitem__, link=link, file_name=file_name)
    environment.globals["Verdict"] = Verdict
    return environment.get_template("report.html.jinja")


@cache
def _part(name: str) -> str:
    return resources.files("reports").joinpath(_PARTS, name).read_text("utf-8")


def anchor(check_id: str) -> str:
    """Return the id under which a check is found in the page: a link into the page may end with it."""
    return "".join(letter if letter.isalnum() or letter in "._-" else f"~{ord(letter):x}" for letter in check_id)


def link(text: str) -> str:
    """Return a waiver's link where it leads into the web, else ""."""
    return text if urlsplit(text).scheme in ("http", "https") else ""


def _failure(rule: RuleResult, check: CheckResult, result: RunResult) -> Failure:
    listed = calls(check)
    shown = listed[-LAST_CALLS:]
    commands = [replay(check, result)] if check.counterexample is not None else []
    lanes = list(dict.fromkeys(call.caller for call in shown))
    return Failure(rule, check, shown, len(listed) - len(shown), lanes, [*commands, again(check, result)])


def _told(found: Sequence[Failure]) -> int:
    """Return how many of the failures can be told with all their calls."""
    size = 0
    for number, failure in enumerate(found):
        size += 2_000 + sum(_size(call.payload) + _size(call.answer) for call in failure.calls) + len(failure.download)
        size += sum(2 * len(text) for _, text in failure.shells)
        if size > MOST_TOLD:
            return max(1, number)
    return len(found)


def _size(value: Any) -> int:
    return 400 + min(2 * len(json.dumps(value)), 2 * LONGEST_WHOLE)


def _rows(result: RunResult) -> Iterator[Row]:
    """Give the coverage map: what was called, and then what was not."""
    coverage = result.coverage
    answers = coverage.get("answers", {})
    for op in sorted({*answers, *coverage.get("missing_operations", ())}):
        by_code = answers.get(op, {})
        cells = [Cell(rule.rule_id, sum(by.get(rule.rule_id, 0) for by in by_code.values())) for rule in result.rules]
        yield Row(op, cells, sorted(code for code in by_code if code), "" in by_code)
