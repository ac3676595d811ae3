"""What changed from one result to another, and the gate that stands on it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.comparison import Kind, changes, comparable, regressed
from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from reports import json_file
from tests.result_samples import FACTS, WAIVER


def run(**checks: Verdict | tuple[Verdict, str]) -> RunResult:
    made = []
    for name, told in checks.items():
        verdict, reason = told if isinstance(told, tuple) else (told, "so")
        made.append(CheckResult(f"MEM-R001.{name}", "MEM-R001", verdict, reason, node_id=name, assertions=1))
    return RunResult(FACTS, (RuleResult("MEM-R001", "x", checks=tuple(made)),))


PASS, FAIL, OPEN, NONE, ERROR = (
    Verdict.PASS,
    Verdict.FAIL,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_APPLICABLE,
    Verdict.SUITE_ERROR,
)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (PASS, PASS, None),
        (FAIL, FAIL, None),
        (PASS, FAIL, Kind.BROKEN),
        (PASS, OPEN, Kind.BROKEN),
        (NONE, ERROR, Kind.BROKEN),
        (OPEN, FAIL, Kind.BROKEN),
        (FAIL, PASS, Kind.FIXED),
        (OPEN, NONE, Kind.FIXED),
        (FAIL, OPEN, Kind.CHANGED),
        ((FAIL, "this"), (FAIL, "that"), Kind.CHANGED),
        (PASS, NONE, None),
        (None, PASS, Kind.ADDED),
        (None, FAIL, Kind.BROKEN),
        (PASS, None, Kind.VANISHED),
        (FAIL, None, Kind.VANISHED),
    ],
)
def test_what_became_of_a_check(before: Verdict | None, after: Verdict | None, kind: Kind | None) -> None:
    one = run(other=PASS, **({} if before is None else {"x": before}))
    other = run(other=PASS, **({} if after is None else {"x": after}))
    found = list(changes(one, other))
    assert [(change.kind, change.check_id) for change in found] == ([] if kind is None else [(kind, "MEM-R001.x")])
    assert regressed(found, other) is (kind in (Kind.BROKEN, Kind.VANISHED))


def test_a_rule_that_was_not_chosen_has_not_vanished() -> None:
    after = RunResult(FACTS, (RuleResult("MEM-R001", "x", absence=Verdict.DESELECTED),))
    assert list(changes(run(x=PASS), after)) == []
    lost = RunResult(FACTS, (RuleResult("MEM-R001", "x", absence=Verdict.INCONCLUSIVE),))
    assert [change.kind for change in changes(run(x=PASS), lost)] == [Kind.VANISHED]


def test_a_waived_check_is_as_good_as_passed() -> None:
    after = run(x=FAIL)
    rule = after.rules[0]
    waived = replace(after, rules=(replace(rule, checks=(replace(rule.checks[0], waiver=WAIVER),)),))
    assert list(changes(run(x=PASS), waived)) == []
    assert [change.kind for change in changes(waived, after)] == [Kind.BROKEN]


def test_a_run_that_says_nothing_is_no_progress() -> None:
    after = replace(run(x=PASS), complete=False)
    assert regressed([], after)
    assert regressed([], replace(run(x=PASS), trouble=("a worker died",)))
    assert not regressed([], run(x=PASS))


def test_what_was_otherwise_about_the_runs_is_told() -> None:
    other = replace(run(), facts=replace(FACTS, seed=8, profile="full"), trouble=("a worker died",))
    assert comparable(run(), other) == [
        "the later run: a worker died",
        "another profile: quick, then full",
        "another seed: 7, then 8",
    ]


def written(tmp_path: Path, name: str, result: RunResult) -> str:
    file = tmp_path / name
    file.write_text(json_file.render(result), "ascii")
    return str(file)


def test_the_command_tells_the_changes_and_ends_with_1_for_regressions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = written(tmp_path, "a", run(good=PASS, bad=FAIL, same=FAIL, gone=PASS))
    after = written(tmp_path, "b", run(good=(FAIL, "[bold]\ud800"), bad=PASS, same=FAIL, new=PASS))
    assert main(["diff", before, after]) == 1
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines() if "MEM-R001" in line] == ["broken", "vanished", "fixed", "added"]
    assert said.endswith("1 broken, 1 vanished, 1 fixed, 1 added\n")
    assert main(["diff", after, after]) == 0
    assert capsys.readouterr().out == "nothing changed\n"
    assert main(["diff", before, after, "--json"]) == 1
    assert {change["kind"] for change in json.loads(capsys.readouterr().out)["changes"]} == {
        "broken",
        "vanished",
        "fixed",
        "added",
    }
    assert main(["diff", before, str(tmp_path / "c")]) == 3
    assert capsys.readouterr().err.startswith("memory-conformance: ")


def test_a_baseline_decides_instead_of_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "python:tests.controls:breaks_everything", "--profile", "smoke", "--rules", "R023", "-n", "0"]
    baseline = tmp_path / "base.json"
    assert main([*arguments, "--report", f"json:{baseline}"]) == 1
    assert main([*arguments, "--baseline", str(baseline)]) == 0
    good = tmp_path / "good.json"
    assert main(["run", "--profile", "smoke", "--rules", "R023", "-n", "0", "--report", f"json:{good}"]) == 0
    assert main([*arguments, "--baseline", str(good)]) == 1
    assert "1 broken" in capsys.readouterr().out
