"""Waivers leave the verdict as it is, take it out of the exit code, and complain when they are of no use."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from conformance.catalogue import named, rules
from conformance.cli import main
from conformance.modules import listed
from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from conformance.waivers import BadWaivers, Waivers, read_waivers
from tests.result_samples import FACTS

TODAY = date(2026, 12, 2)
RULE = named("R023")
IDS = [check.check_id for check in listed(RULE)]
FIRST, SECOND = IDS[:2]


def entry(check: str = FIRST, kind: str = "waiver", **others: str) -> str:
    given = {"check": json.dumps(check), "reason": '"known"', "link": '"https://x.invalid/1"', "expires": "2026-12-02", **others}
    return f"[[{kind}]]\n" + "\n".join(f"{key} = {value}" for key, value in given.items() if value) + "\n"


def waivers(tmp_path: Path, *entries: str) -> Waivers:
    file = tmp_path / "waivers.toml"
    file.write_text("\n".join(entries), "utf-8")
    return read_waivers(file, today=TODAY)


def run(**verdicts: Verdict) -> RunResult:
    """Make a run of all checks of the rule: PASS, but for those that are named by their place, as _0."""
    found = {IDS[int(name.strip("_"))]: verdict for name, verdict in verdicts.items()}
    checks = [
        CheckResult(check_id, RULE.rule_id, found.get(check_id, Verdict.PASS), "so", node_id=check_id, assertions=1)
        for check_id in IDS
    ]
    return RunResult(FACTS, (RuleResult(RULE.rule_id, RULE.title, checks=tuple(checks)),))


def test_a_waived_failure_keeps_its_verdict_and_leaves_the_exit_code(tmp_path: Path) -> None:
    failed = run(_0=Verdict.FAIL)
    assert failed.exit_code() == 1
    result = waivers(tmp_path, entry()).applied(failed)
    assert (result.verdict, result.exit_code(), result.complaints) == (Verdict.FAIL, 0, ())
    assert result.checks[0].waiver is not None
    assert result.checks[0].waiver.reason == "known"


def test_another_failure_still_counts(tmp_path: Path) -> None:
    assert waivers(tmp_path, entry()).applied(run(_0=Verdict.FAIL, _1=Verdict.FAIL)).exit_code() == 1


def test_what_is_inconclusive_can_be_waived_and_a_suite_error_cannot(tmp_path: Path) -> None:
    assert waivers(tmp_path, entry()).applied(run(_0=Verdict.INCONCLUSIVE)).exit_code() == 0
    result = waivers(tmp_path, entry()).applied(run(_0=Verdict.SUITE_ERROR))
    assert (result.exit_code(), result.checks[0].waiver) == (3, None)


def test_a_waiver_that_is_no_longer_needed_is_an_error_that_says_which(tmp_path: Path) -> None:
    result = waivers(tmp_path, entry(), entry(SECOND)).applied(run(_1=Verdict.FAIL))
    assert (result.exit_code(), len(result.complaints)) == (3, 1)
    assert f"waivers.toml: {FIRST} passes: its waiver is no longer needed" in result.complaints[0]


def test_a_flaky_check_may_pass_and_may_fail_in_a_way_that_does_not_show_again(tmp_path: Path) -> None:
    flaky = waivers(tmp_path, entry(kind="flaky"))
    assert flaky.applied(run()).exit_code() == 0
    failed = run(_0=Verdict.FAIL)
    assert flaky.applied(failed).exit_code() == 1
    rule = failed.rules[0]
    odd = replace(failed, rules=(replace(rule, checks=(replace(rule.checks[0], flaky=True), *rule.checks[1:])),))
    assert flaky.applied(odd).exit_code() == 0
    assert flaky.applied(odd).complaints == ()


def test_a_parametrised_check_is_named_with_its_parameter_or_without(tmp_path: Path) -> None:
    failed = run(_0=Verdict.FAIL)
    rule = failed.rules[0]
    both = tuple(replace(rule.checks[0], check_id=f"{FIRST}[{name}]") for name in "ab")
    result = replace(failed, rules=(replace(rule, checks=(*both, *rule.checks[1:])),))
    assert waivers(tmp_path, entry()).applied(result).exit_code() == 0
    assert waivers(tmp_path, entry(f"{FIRST}[a]")).applied(result).exit_code() == 1
    unknown = waivers(tmp_path, entry(f"{FIRST}[c]"), entry()).applied(result)
    assert unknown.complaints == (f"{tmp_path}/waivers.toml: {FIRST}[c] is no check of this run",)


def test_nothing_is_said_of_what_was_not_run(tmp_path: Path) -> None:
    other = RunResult(FACTS, (RuleResult(RULE.rule_id, RULE.title, absence=Verdict.DESELECTED),))
    assert waivers(tmp_path, entry()).applied(other).complaints == ()
    part = run()
    smoke = replace(part, rules=(replace(part.rules[0], checks=part.checks[3:4]),))
    assert waivers(tmp_path, entry()).applied(smoke).complaints == ()


def test_waiving_twice_is_waiving_once(tmp_path: Path) -> None:
    found = waivers(tmp_path, entry())
    once = found.applied(run(_0=Verdict.FAIL))
    assert found.applied(once) == once
    assert waivers(tmp_path, entry(SECOND)).applied(once).checks[0].waiver is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (entry(expires="2026-12-01"), rf"waiver 1: the waiver of {FIRST} has expired on 2026-12-01\."),
        (entry() + entry(kind="flaky"), rf"{FIRST} is named twice\."),
        (entry("MEM-R023.nothing"), "waiver 1: there is no check 'MEM-R023.nothing'"),
        (entry("MEM-R099.x"), "there is no check 'MEM-R099.x'"),
        (entry("x"), "there is no check 'x'"),
        (entry(reason=""), "an entry has exactly check, reason, link, expires"),
        (entry(reason='" "'), "'reason' must be a non-empty string"),
        (entry(link="5"), "'link' must be a non-empty string"),
        (entry(expires='"2027-01-01"'), "'expires' must be a date"),
        (entry(expires="2027-01-01T00:00:00Z"), "'expires' must be a date"),
        (entry(more="1"), "an entry has exactly"),
        ("x = 1", r"nothing but \[\[waiver\]\] and \[\[flaky\]\]"),
        ("[waiver]", r"nothing but \[\[waiver\]\]"),
        ("waiver = [1]", "an entry has exactly"),
        ("[[", "not TOML"),
    ],
)
def test_a_wrong_file_is_told_in_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadWaivers, match=said) as caught:
        waivers(tmp_path, text)
    assert str(caught.value).endswith((".", ")."))
    assert "\n" not in str(caught.value)


def test_the_command_applies_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The control breaks everything, and every check of the rule is waived; then one waiver is not needed."""
    file = tmp_path / "w.toml"
    file.write_text("".join(entry(check_id, expires="2999-01-01") for check_id in IDS), "utf-8")
    arguments = ["run", "python:tests.controls:breaks_everything", "--profile", "smoke", "--rules", RULE.short, "-n", "0"]
    assert main([*arguments, "--waivers", str(file)]) == 0
    assert "all that is wrong is waived" in " ".join(capsys.readouterr().out.split())
    assert main(["run", "--profile", "smoke", "--rules", RULE.short, "-n", "0", "--waivers", str(file)]) == 3
    assert "its waiver is no longer needed" in " ".join(capsys.readouterr().out.split())
    assert main([*arguments, "--waivers", str(tmp_path / "none")]) == 3
    assert "the waivers cannot be read" in capsys.readouterr().err
    assert len(rules()) == 27
