"""The result for a person at a terminal: a table of the rules, then what matters of each failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from reports.calls import Call, calls
from reports.counts import Counts, counts
from reports.words import WHOLE, again, answered, clean, given, replay, sentence, short

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
LAST_CALLS = 6
LONGEST_VALUE = 300
LONGEST_CALL = 160
_TOLD = (Verdict.SUITE_ERROR, Verdict.FAIL)
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
        yield from _notices(result)
        yield Text()
    yield _verdict(result, reached=loudness is not Loudness.QUIET and len(_run(result)) == len(result.rules))


def _notices(result: RunResult) -> Iterator[RenderableType]:
    kind = "SUITE_ERROR" if result.complete else "INCOMPLETE"
    for said in result.trouble:
        yield Text(f"\n{kind}  {clean(said)}", style=STYLES[Verdict.SUITE_ERROR])
    for said in result.complaints:
        yield Text(f"\nWAIVERS  {clean(said)}", style=STYLES[Verdict.FAIL])


def _waived(found: Counts) -> str:
    return f", {found.waived} waived" if found.waived else ""


def _verdict(result: RunResult, *, reached: bool) -> RenderableType:
    """Say the verdict, and what it was given on. What was reached says something of a whole run alone."""
    facts = result.facts
    provider = f" ({facts.provider})" if facts.provider else ""
    found = counts(result)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(str(result.verdict), style=STYLES[result.verdict]), clean(sentence(result)))
    table.add_row("", Text(f"{facts.target}{provider}, profile {facts.profile}, seed {facts.seed}"))
    passed = f"{found.passed} of {found.total} checks passed{_waived(found)}"
    table.add_row("", Text(f"{passed}, {found.calls} calls, {result.seconds:.1f} s"))
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
            table.add_row("", Text(clean(check.check_id.partition(".")[2]), style="dim", overflow="fold"), *_numbers(check))
    return table


def _run(result: RunResult) -> list[RuleResult]:
    return [rule for rule in result.rules if rule.verdict is not Verdict.DESELECTED]


def _row(rule: RuleResult) -> list[RenderableType]:
    says = Text(rule.title)
    if rule.verdict not in (Verdict.PASS, *_TOLD) and rule.reason:
        says.append(f"\n{clean(rule.reason)}", style="dim")
    if rule.waived:
        says.append(f"\n{rule.waived} waived", style="dim")
    verdict = Text(str(rule.verdict), style="dim" if rule.counted is not rule.verdict else STYLES[rule.verdict])
    if not rule.checks:
        return [rule.rule_id, says, verdict, "", "", ""]
    return [rule.rule_id, says, verdict, f"{rule.passed}/{len(rule.checks)}", str(rule.calls), f"{rule.seconds:.2f}"]


def _numbers(check: CheckResult) -> list[RenderableType]:
    return [Text(str(check.verdict), style=STYLES[check.verdict]), "", str(check.calls), f"{check.seconds:.2f}"]


# -- the failures


def _failures(rule: RuleResult, result: RunResult, *, verbose: bool) -> Iterator[RenderableType]:
    bad = [check for verdict in _TOLD for check in rule.checks if check.verdict is verdict]
    told = bad if verbose else [check for check in bad if check.waiver is None]
    shown = told if verbose else sorted(told, key=_pains)[:1]
    for check in shown:
        yield from _failure(check, rule)
        if check.counterexample is not None:
            yield Padding(Text(f"replay: {replay(check, result)}", style="dim"), _INDENT)
    if told:
        if len(told) > len(shown):
            yield Padding(Text(f"… and {len(told) - len(shown)} more checks of this rule (-v tells all)", style="dim"), _INDENT)
        yield Padding(Text(f"again: {again(rule if len(told) > 1 else told[0], result)}", style="dim"), _INDENT)


def _pains(check: CheckResult) -> tuple[int, bool, int]:
    """Say how hard a failure is to follow: a break of the suite comes first, then what the fewest calls show."""
    reduced = check.counterexample.calls if check.counterexample is not None else ()
    return _TOLD.index(check.verdict), not reduced, len(reduced) or check.calls


def _failure(check: CheckResult, rule: RuleResult) -> Iterator[RenderableType]:
    yield Text.assemble(
        "\n", (str(check.verdict), STYLES[check.verdict]), f"  {clean(check.check_id)}", " (waived)" if check.waiver else ""
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _lines(check, rule):
        table.add_row(name, Text(clean(text)))
    yield Padding(table, _INDENT)
    if listed := calls(check):
        yield Padding(_calls(listed), _INDENT)


def _lines(check: CheckResult, rule: RuleResult) -> Iterator[tuple[str, str]]:
    yield "rule", rule.statement
    if check.sentence:
        yield "check", check.sentence
    yield "what", check.reason
    if check.waiver is not None:
        yield "waived", f"until {check.waiver.expires}: {check.waiver.reason} {check.waiver.link}"
    failure = check.failure
    for word, value in () if failure is None else failure.said():
        yield word, short(value, LONGEST_VALUE)
    if failure is not None and failure.pointer not in WHOLE:
        yield "at", failure.pointer
    if check.counterexample is not None and check.counterexample.unreduced:
        yield "unreduced", check.counterexample.unreduced
    if check.verdict is Verdict.SUITE_ERROR and check.traceback:
        yield "traceback", "\n".join(check.traceback.splitlines()[-12:])


def _calls(listed: Sequence[Call]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    left = len(listed) - LAST_CALLS
    if left > 0:
        table.add_row("", Text(f"{left} calls before these", style="dim"))
    for call in listed[-LAST_CALLS:]:
        table.add_row(call.caller, _call(call))
    return table


def _call(call: Call) -> Text:
    """Show a call in two lines; what nearly every call has the same is left to the other reports."""
    style = STYLES[Verdict.FAIL] if call.offends else _style(call.answer)
    sent = f"{call.op.removeprefix('memory.')} {short(given(call.payload), LONGEST_CALL)}"
    return Text.assemble(clean(sent), ("\n→ ", "dim"), (clean(answered(call.answer, LONGEST_CALL)), style))


def _style(answer: Any) -> str:
    match answer:
        case None:
            return STYLES[Verdict.FAIL]
        case {"error": _}:
            return STYLES[Verdict.INCONCLUSIVE]
        case _:
            return ""
