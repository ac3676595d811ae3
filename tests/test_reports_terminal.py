"""The terminal tells a result in short, keeps to its width, and shows of a failure what is needed to follow it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from conformance.expect import CheckFailed
from conformance.judging import judge
from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from reports import html, junit, markdown
from reports.terminal import Loudness
from tests.result_samples import COUNTEREXAMPLE, FACTS, FAILED, GOOD, MIXED, TRAVELS, UNREDUCED, WAIVED_ALONE, check, printed


def test_the_terminal_shows_rules_failures_and_verdict() -> None:
    said = printed(MIXED)
    lines = said.splitlines()
    assert max(map(len, lines)) <= 80
    assert "MEM-R005  Single authority" in said
    assert "MEM-R004" not in said
    assert "1 rules were not chosen" in said
    assert "there is no module" in said
    assert "FAIL  MEM-R001.bad[" in printed(UNREDUCED)
    assert "it is <broken> & [bold]bad[/bold]" in printed(UNREDUCED)
    assert "again: memory-conformance run python:a.b:c --rules R001 --profile quick --seed 7" in " ".join(said.split())
    assert "SUITE_ERROR  a worker process died" in said
    assert "WAIVERS  waivers.toml: MEM-R005.c1 passes" in said
    assert "SUITE_ERROR  the run itself broke" in said
    assert "3 of 11 checks passed, 1 waived" in said
    said.encode("utf-8")


def test_the_terminal_shows_the_last_calls_in_short() -> None:
    said = " ".join(printed(UNREDUCED, width=140).split())
    assert "3 calls before these" in said
    assert 'records.create {"kind": "note"} → committed record r1 at 2, space s' in said
    assert 'records.get {"record_id": "r1"} → error {"code": "NOT_FOUND", "message": "none"}' in said


def test_the_failure_that_the_fewest_calls_show_is_told() -> None:
    longer = replace(TRAVELS, check_id="MEM-R001.longer", counterexample=replace(COUNTEREXAMPLE, calls=COUNTEREXAMPLE.calls * 2))
    said = printed(replace(MIXED, rules=(replace(MIXED.rules[0], checks=(FAILED, longer, TRAVELS)), *MIXED.rules[1:])))
    assert "FAIL  MEM-R001.travels" in said
    assert "MEM-R001.bad" not in said
    assert "MEM-R001.longer" not in said


def test_only_one_failure_a_rule_is_told_unless_verbose() -> None:
    assert "and 1 more checks of this rule (-v tells all)" in printed(MIXED)
    assert "MEM-R002.c1" not in printed(MIXED)
    assert "FAIL  MEM-R002.c1" in printed(MIXED, Loudness.VERBOSE)
    assert "replay: memory-conformance replay" in " ".join(printed(MIXED, Loudness.VERBOSE).split())


def test_a_waived_failure_is_told_only_when_asked_for() -> None:
    assert "MEM-R005.waived" not in printed(WAIVED_ALONE)
    assert "all that is wrong is waived" in " ".join(printed(WAIVED_ALONE).split())
    assert "FAIL  MEM-R005.waived (waived)" in printed(WAIVED_ALONE, Loudness.VERBOSE)


@pytest.mark.parametrize("width", [40, 60, 120])
def test_the_terminal_keeps_to_its_width(width: int) -> None:
    assert max(map(len, printed(MIXED, Loudness.VERBOSE, width).splitlines())) <= width


def test_quiet_is_three_lines() -> None:
    assert len(printed(MIXED, Loudness.QUIET, width=120).splitlines()) == 3


def test_a_check_without_a_failure_is_told_too() -> None:
    odd = CheckResult("MEM-R005.odd", "MEM-R005", Verdict.SUITE_ERROR, "the process died", traceback="x\nKeyError")
    result = replace(GOOD, rules=(replace(GOOD.rules[0], checks=(odd,)),))
    assert "KeyError" in printed(result)
    assert "KeyError" in html.render(result)


def _says(error: CheckFailed) -> Mapping[str, str]:
    """Give all reports for people of a check that failed so."""
    failed = replace(check(Verdict.FAIL), reason=error.what, failure=judge(error).failure)
    result = RunResult(FACTS, (RuleResult("MEM-R002", "Capability gate", "Flags.", (failed,)),))
    page = html.render(result).partition("<body")[2].partition("<script")[0]
    return {"terminal": printed(result), "page": page, "markdown": markdown.render(result), "junit": junit.render(result)}


WORDS = {
    "terminal": r"^  {word} +{value}",
    "page": r"<figcaption>{word}</figcaption><pre[^>]*>(<[^>]*>)*{value}",
    "markdown": r"\*\*{word}\*\* `{value}`",
    "junit": r"^{word}: {value}",
}


@pytest.mark.parametrize("form", sorted(WORDS))
def test_nothing_is_said_of_a_value_that_the_check_does_not_say(form: str) -> None:
    """A failure without an expectation shows none; where null is expected, or seen, it is shown."""

    def shows(error: CheckFailed, word: str, value: str) -> bool:
        return re.search(WORDS[form].format(word=word, value=value), _says(error)[form], re.MULTILINE) is not None

    without = CheckFailed("it is wrong", seen=7)
    assert [shows(without, "expected", "null"), shows(without, "seen", "7")] == [False, True]
    nothing = CheckFailed("it is wrong")
    assert [shows(nothing, "expected", "null"), shows(nothing, "seen", "null")] == [False, False]
    meant = CheckFailed("it is wrong", expected=None, seen=7)
    assert [shows(meant, "expected", "null"), shows(meant, "seen", "7")] == [True, True]
    gone = CheckFailed("it is wrong", expected=7, seen=None)
    assert [shows(gone, "expected", "7"), shows(gone, "seen", "null")] == [True, True]
