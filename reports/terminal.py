"""The result for a person at a terminal: a table of the rules, then what matters of each failure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.verdict import CheckResult, RuleResult, RunResult, Step, Verdict

STYLES: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.PASS: "green",
        Verdict.FAIL: "bold red",
        Verdict.SUITE_ERROR: "bold magenta",
        Verdict.INCONCLUSIVE: "yellow",
        Verdict.NOT_APPLICABLE: "dim",
        Verdict.DESELECTED: "dim",
    }
)
SENTENCES: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.PASS: "the target conforms",
        Verdict.FAIL: "the target does not conform",
        Verdict.SUITE_ERROR: "the suite itself is at fault: this run says nothing about the target",
        Verdict.INCONCLUSIVE: "not every rule could be exercised",
        Verdict.NOT_APPLICABLE: "nothing is applicable to this target",
        Verdict.DESELECTED: "no rule was run",
    }
)
LAST_CALLS = 6
LONGEST_VALUE = 300
LONGEST_CALL = 160
_TOLD = (Verdict.SUITE_ERROR, Verdict.FAIL)
_WHOLE = ("", "/")
_PLAIN = ("space_id", "idempotency_key", "extensions")
_INDENT = (0, 0, 0, 2)


class Loudness(Enum):
    """How much is told: the verdict; the rules and one failure a rule; every check and every failure."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


def summary(result: RunResult, loudness: Loudness = Loudness.NORMAL) -> Iterator[RenderableType]:
    """Return what to print, part by part."""
    if loudness is not Loudness.QUIET:
        yield _rules(result, verbose=loudness is Loudness.VERBOSE)
        if left := len(result.rules) - len(_run(result)):
            yield Text(f"{left} rules were not chosen", style="dim")
        for rule in result.rules:
            yield from _failures(rule, result, verbose=loudness is Loudness.VERBOSE)
        yield from (Text(f"\nSUITE_ERROR  {sentence}", style=STYLES[Verdict.SUITE_ERROR]) for sentence in result.trouble)
        yield Text()
    yield _verdict(result, reached=loudness is not Loudness.QUIET and len(_run(result)) == len(result.rules))


def _verdict(result: RunResult, *, reached: bool) -> RenderableType:
    """Say the verdict, and what it was given on. What was reached says something of a whole run alone."""
    facts = result.facts
    provider = f" ({facts.provider})" if facts.provider else ""
    passed = sum(check.verdict is Verdict.PASS for check in result.checks)
    calls = sum(rule.calls for rule in result.rules)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(str(result.verdict), style=STYLES[result.verdict]), SENTENCES[result.verdict])
    table.add_row("", Text(f"{facts.target}{provider}, profile {facts.profile}, seed {facts.seed}"))
    table.add_row("", Text(f"{passed} of {len(result.checks)} checks passed, {calls} calls, {result.seconds:.1f} s"))
    if reached and result.coverage:
        table.add_row("", Text(_reached(result.coverage)))
    return table


def _reached(coverage: Mapping[str, Any]) -> str:
    """Say how much of the contract was exercised."""
    operations = [op for op, answers in coverage["answers"].items() if "" in answers]
    codes = {code for answers in coverage["answers"].values() for code in answers if code}
    tried, untried = len(coverage["exercised"]), len(coverage["missing_exercises"])
    return (
        f"reached: {len(operations)} of {len(operations) + len(coverage['missing_operations'])} operations, "
        f"{len(codes)} of {len(codes) + len(coverage['missing_codes'])} error codes, "
        f"{tried} of {tried + untried} capabilities held and lacking"
    )


# -- the table


def _rules(result: RunResult, *, verbose: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("rule", no_wrap=True)
    table.add_column("says")
    table.add_column("verdict", no_wrap=True)
    for name in ("checks", "calls", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    for rule in _run(result):
        table.add_row(*_row(rule))
        for check in rule.checks if verbose else ():
            table.add_row("", Text(check.check_id.partition(".")[2], style="dim", overflow="fold"), *_numbers(check))
    return table


def _run(result: RunResult) -> list[RuleResult]:
    return [rule for rule in result.rules if rule.verdict is not Verdict.DESELECTED]


def _row(rule: RuleResult) -> list[RenderableType]:
    says = Text(rule.title)
    if rule.verdict not in (Verdict.PASS, *_TOLD) and rule.reason:
        says.append(f"\n{rule.reason}", style="dim")
    checks = f"{rule.passed}/{len(rule.checks)}" if rule.checks else ""
    calls, seconds = (str(rule.calls), f"{rule.seconds:.2f}") if rule.checks else ("", "")
    return [rule.rule_id, says, Text(str(rule.verdict), style=STYLES[rule.verdict]), checks, calls, seconds]


def _numbers(check: CheckResult) -> list[RenderableType]:
    return [Text(str(check.verdict), style=STYLES[check.verdict]), "", str(check.calls), f"{check.seconds:.2f}"]


# -- the failures


def _failures(rule: RuleResult, result: RunResult, *, verbose: bool) -> Iterator[RenderableType]:
    told = [check for verdict in _TOLD for check in rule.checks if check.verdict is verdict]
    shown = told if verbose else told[:1]
    for check in shown:
        yield from _failure(check, rule)
    if told:
        if len(told) > len(shown):
            yield Padding(Text(f"… and {len(told) - len(shown)} more checks of this rule (-v tells all)", style="dim"), _INDENT)
        yield Padding(Text(_again(rule, result), style="dim"), _INDENT)


def _failure(check: CheckResult, rule: RuleResult) -> Iterator[RenderableType]:
    yield Text.assemble("\n", (str(check.verdict), STYLES[check.verdict]), f"  {check.check_id}")
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _lines(check, rule):
        table.add_row(name, Text(text))
    yield Padding(table, _INDENT)
    if check.trace:
        yield Padding(_calls(check), _INDENT)


def _lines(check: CheckResult, rule: RuleResult) -> Iterator[tuple[str, str]]:
    yield "rule", rule.statement
    if check.sentence:
        yield "check", check.sentence
    yield "what", check.reason
    failure = check.failure
    if failure is not None and (failure.expected is not None or failure.seen is not None):
        yield "expected", _short(failure.expected, LONGEST_VALUE)
        yield "seen", _short(failure.seen, LONGEST_VALUE)
    if failure is not None and failure.pointer not in _WHOLE:
        yield "at", failure.pointer
    if check.verdict is Verdict.SUITE_ERROR and check.traceback:
        yield "traceback", "\n".join(check.traceback.splitlines()[-12:])


def _calls(check: CheckResult) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    left = len(check.trace) - LAST_CALLS
    if left > 0:
        table.add_row("", Text(f"{left} calls before these", style="dim"))
    for step in check.trace[-LAST_CALLS:]:
        table.add_row(step.caller, _call(step))
    return table


def _call(step: Step) -> Text:
    """Show a call in two lines; what nearly every call has the same is left to the other reports."""
    given = step.payload
    if isinstance(given, Mapping):
        given = {name: value for name, value in given.items() if name not in _PLAIN}
    answer, style = _answer(step.answer)
    return Text.assemble(f"{step.op.removeprefix('memory.')} {_short(given, LONGEST_CALL)}", ("\n→ ", "dim"), (answer, style))


def _answer(answer: Any) -> tuple[str, str]:
    match answer:
        case None:
            return "no answer", STYLES[Verdict.FAIL]
        case {"error": error}:
            return f"error {_short(error, LONGEST_CALL)}", STYLES[Verdict.INCONCLUSIVE]
        case {"receipt": {"state": str() as state, "affected": list() as affected}}:
            return f"{state} {', '.join(_affected(entry) for entry in affected)}", ""
        case _:
            return _short(answer, LONGEST_CALL), ""


def _affected(entry: Any) -> str:
    match entry:
        case {"type": kind, "id": id_, "revision": revision}:
            return f"{kind} {id_} at {revision}"
        case {"type": kind, "id": id_}:
            return f"{kind} {id_}"
        case _:
            return _short(entry, LONGEST_CALL)


def _again(rule: RuleResult, result: RunResult) -> str:
    facts = result.facts
    chosen = f"--rules {rule.rule_id.removeprefix('MEM-')} --profile {facts.profile} --seed {facts.seed}"
    return f"again: memory-conformance run {shlex.quote(facts.target)} {chosen}"


def _short(value: Any, limit: int) -> str:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
