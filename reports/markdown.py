"""The result as Markdown, made for a job's summary on GitHub: the verdict first, what is wrong next, the rest folded.

What comes from a provider never becomes markup: it stands in code, or its special characters are written as entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from reports.calls import Call, calls
from reports.counts import counts
from reports.words import NAME, again, answered, bad_checks, clean, given, replay, sentence, short

LONGEST = 900_000
"""A job's summary may have one MiB; from here on failures are only counted."""
LAST_CALLS = 12
LONGEST_VALUE = 400
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>()#+!|~&@:]")
_SIGNS: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.PASS: "✅",
        Verdict.FAIL: "❌",
        Verdict.SUITE_ERROR: "💥",
        Verdict.INCONCLUSIVE: "⚠️",
        Verdict.NOT_APPLICABLE: "➖",
        Verdict.DESELECTED: "➖",
    }
)


def render(result: RunResult) -> str:
    """Return the Markdown text."""
    lines = [*_head(result), *_notices(result), *_failures(result), *_rules(result)]
    return clean("\n".join(lines)) + "\n"


def _head(result: RunResult) -> Iterator[str]:
    facts, found = result.facts, counts(result)
    yield f"## {_SIGNS[result.verdict]} {NAME}: {result.verdict}, {_text(sentence(result))}"
    yield ""
    provider = f" ({_text(facts.provider)})" if facts.provider else ""
    shard = f", shard {facts.shard}" if facts.shard else ""
    yield f"{_code(facts.target)}{provider}, profile {facts.profile}, seed {facts.seed}{shard}, suite {facts.suite}"
    yield ""
    numbers = ", ".join(f"{number} {verdict}" for verdict, number in found.checks.items())
    waived = f" ({found.waived} of them waived)" if found.waived else ""
    yield f"**{found.total} checks**: {numbers or 'none'}{waived}. {found.calls} calls, {result.seconds:.1f} s."
    yield ""


def _notices(result: RunResult) -> Iterator[str]:
    for said in (*result.trouble, *result.complaints):
        yield f"> **{'Incomplete' if not result.complete else 'Trouble'}:** {_text(said)}"
        yield ""


def _failures(result: RunResult) -> Iterator[str]:
    length = left = 0
    for rule, check in bad_checks(result):
        part = list(_failure(rule, check, result))
        length += sum(map(len, part))
        if length <= LONGEST:
            yield from part
        else:
            left += 1
    if left:
        yield f"… and {left} more checks that did not pass: the other reports tell them."
        yield ""


def _failure(rule: RuleResult, check: CheckResult, result: RunResult) -> Iterator[str]:
    waived = " (waived)" if check.waiver is not None else ""
    yield f"### {_SIGNS[check.verdict]} {_code(check.check_id)}{waived}"
    yield ""
    yield f"- **rule** {rule.rule_id} {rule.title}: {_text(rule.statement)}"
    yield f"- **check** {_text(check.sentence)}"
    yield f"- **what** {_text(check.reason)}"
    if check.waiver is not None:
        yield f"- **waived** until {check.waiver.expires}: {_text(check.waiver.reason)} {_text(check.waiver.link)}"
    if check.failure is not None and not check.failure.transport:
        for word, value in check.failure.said():
            yield f"- **{word}** {_code(short(value, LONGEST_VALUE))}"
        if check.failure.pointer:
            yield f"- **at** {_code(check.failure.pointer)}"
    if check.counterexample is not None and check.counterexample.unreduced:
        yield f"- **unreduced** {_text(check.counterexample.unreduced)}"
    command = replay(check, result) if check.counterexample is not None else again(check, result)
    yield f"- **again** {_code(command)}"
    yield ""
    yield from _calls(calls(check))


def _calls(listed: Sequence[Call]) -> Iterator[str]:
    if not listed:
        return
    yield f"<details><summary>{len(listed)} calls</summary>"
    yield ""
    left = len(listed) - LAST_CALLS
    if left > 0:
        yield f"{left} calls before these"
        yield ""
    for call in listed[-LAST_CALLS:]:
        mark = " **← here**" if call.offends else ""
        yield f"1. {_text(call.caller)} {_code(f'{call.op} {short(given(call.payload), LONGEST_VALUE)}')}"
        yield f"   → {_code(answered(call.answer, LONGEST_VALUE))}{mark}"
    yield ""
    yield "</details>"
    yield ""


def _rules(result: RunResult) -> Iterator[str]:
    yield "<details><summary>All rules</summary>"
    yield ""
    yield "| rule | says | verdict | checks | calls | s |"
    yield "|---|---|---|---:|---:|---:|"
    for rule in result.rules:
        why = f"<br>{_text(rule.reason)}" if rule.verdict is not Verdict.PASS and rule.reason else ""
        checks = f"{rule.passed}/{len(rule.checks)}" if rule.checks else ""
        row = (
            rule.rule_id,
            f"{rule.title}{why}",
            f"{_SIGNS[rule.verdict]} {rule.verdict}",
            checks,
            rule.calls,
            f"{rule.seconds:.2f}",
        )
        yield f"| {' | '.join(map(str, row))} |"
    yield ""
    yield "</details>"


def _text(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", " ".join(text.split()))


def _code(text: str) -> str:
    """Return text as code, in one line and within a fence that does not occur in it."""
    plain = " ".join(clean(text).replace("|", "¦").split()) or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"
