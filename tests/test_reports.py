"""Reports are pure functions of the result, and agree with each other."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from conformance.verdict import CheckResult, Failure, Pair, RuleResult, RunFacts, RunResult, Step, Verdict
from reports import json_file, junit
from reports.terminal import Loudness, summary
from reports.writers import report_named

FACTS = RunFacts("0.1.0", "d" * 64, "python:a.b:c", "shop 2", "i1", ("spoke-memory",), "quick", 7, "3.11.7")
RECEIPT = {
    "receipt": {"state": "committed", "affected": [{"type": "record", "id": "r1", "revision": 2}, {"type": "space", "id": "s"}]}
}
STEPS = (
    Step("root", "memory.records.create", {"space_id": "s", "idempotency_key": "k", "kind": "note"}, RECEIPT),
    Step("ada", "memory.records.get", {"record_id": "r1"}, {"error": {"code": "NOT_FOUND", "message": "none"}}),
    Step("ada", "memory.recall", ["odd\x00 \ud800"], {"records": []}),
)
FAILED = CheckResult(
    "MEM-R001.bad[\ud800\x01]",
    "MEM-R001",
    Verdict.FAIL,
    "it is <broken> & [bold]bad[/bold]",
    "It holds.",
    assertions=3,
    calls=9,
    seconds=0.25,
    failure=Failure("it is <broken>", {"a": 1}, "\ud800", "/a"),
    trace=STEPS * 3,
    seen=(Pair("memory.recall", "", 9),),
)


def check(verdict: Verdict, number: int = 1) -> CheckResult:
    return CheckResult(f"MEM-R002.c{number}", "MEM-R002", verdict, "so", assertions=1, traceback="Traceback\nKeyError: 'x'")


RESULT = RunResult(
    FACTS,
    (
        RuleResult(
            "MEM-R001", "Durable envelope", "Every object has its envelope.", (FAILED, check(Verdict.PASS), check(Verdict.FAIL))
        ),
        RuleResult("MEM-R002", "Capability gate", "Flags.", tuple(check(verdict, n) for n, verdict in enumerate(Verdict))),
        RuleResult("MEM-R003", "Admission", "Who.", absent="there is no module of this rule yet"),
        RuleResult("MEM-R004", "Dispatch validation", "What.", absent="not chosen", absence=Verdict.DESELECTED),
        RuleResult("MEM-R005", "Single authority", "One.", (check(Verdict.PASS),)),
    ),
    seconds=12.5,
    trouble=("a worker process died",),
)


def printed(result: RunResult, loudness: Loudness = Loudness.NORMAL, width: int = 80) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False)
    for part in summary(result, loudness):
        console.print(part)
    return stream.getvalue()


def test_json_is_the_whole_result_with_counts() -> None:
    text = json_file.render(RESULT)
    text.encode("ascii")
    value = json.loads(text)
    assert RunResult.of_json(value) == RESULT
    assert value["verdict"] == "SUITE_ERROR"
    assert value["counts"]["checks"] == Counter(str(check.verdict) for check in RESULT.checks)
    assert sum(value["counts"]["rules"].values()) == len(RESULT.rules)


def test_junit_counts_as_the_result_does() -> None:
    root = ET.fromstring(junit.render(RESULT))
    verdicts = Counter(check.verdict for check in RESULT.checks)
    without_check = [rule for rule in RESULT.rules if not rule.checks]
    cases = list(root.iter("testcase"))
    assert len(cases) == len(RESULT.checks) + len(without_check) + len(RESULT.trouble) == int(root.get("tests", ""))
    assert len(list(root.iter("failure"))) == verdicts[Verdict.FAIL] == int(root.get("failures", ""))
    assert len(list(root.iter("error"))) == verdicts[Verdict.SUITE_ERROR] + len(RESULT.trouble) == int(root.get("errors", ""))
    bad = (Verdict.PASS, Verdict.FAIL, Verdict.SUITE_ERROR)
    skipped = sum(count for verdict, count in verdicts.items() if verdict not in bad) + len(without_check)
    assert len(list(root.iter("skipped"))) == skipped == int(root.get("skipped", ""))
    assert [suite.get("name") for suite in root] == [f"{rule.rule_id} {rule.title}" for rule in RESULT.rules] + ["run"]


def test_junit_is_well_formed_whatever_a_provider_sent() -> None:
    root = ET.fromstring(junit.render(RESULT))
    failure = next(root.iter("failure"))
    assert failure.get("message") == "it is <broken> & [bold]bad[/bold]"
    assert "ada: memory.records.get" in (failure.text or "")


def test_the_terminal_shows_rules_failures_and_verdict() -> None:
    said = printed(RESULT)
    lines = said.splitlines()
    assert max(map(len, lines)) <= 80
    assert "MEM-R005  Single authority" in said
    assert "MEM-R004" not in said
    assert "1 rules were not chosen" in said
    assert "there is no module" in said
    assert "FAIL  MEM-R001.bad[" in said
    assert "it is <broken> & [bold]bad[/bold]" in said
    assert "again: memory-conformance run python:a.b:c --rules R001 --profile quick --seed 7" in " ".join(said.split())
    assert "SUITE_ERROR  a worker process died" in said
    assert lines[-4].startswith("SUITE_ERROR  the suite itself is at fault")


def test_the_terminal_shows_the_last_calls_in_short() -> None:
    said = " ".join(printed(RESULT, width=140).split())
    assert "3 calls before these" in said
    assert 'records.create {"kind": "note"} → committed record r1 at 2, space s' in said
    assert 'records.get {"record_id": "r1"} → error {"code": "NOT_FOUND", "message": "none"}' in said


def test_only_one_failure_a_rule_is_told_unless_verbose() -> None:
    assert "and 1 more checks of this rule (-v tells all)" in printed(RESULT)
    assert "MEM-R002.c1" not in printed(RESULT)
    assert "FAIL  MEM-R002.c1" in printed(RESULT, Loudness.VERBOSE)


def test_quiet_is_three_lines() -> None:
    assert len(printed(RESULT, Loudness.QUIET, width=100).splitlines()) == 3


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.json"
    report = report_named(f"json:{file}")
    report.write(RESULT)
    whole = file.read_text("utf-8")
    assert json.loads(whole)["format"] == 1

    def full(*_arguments: Any) -> int:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space"):
        report.write(RESULT)
    monkeypatch.undo()
    assert file.read_text("utf-8") == whole


@pytest.mark.parametrize("text", ["json", "json:", "html:x", ":x"])
def test_a_report_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="FORMAT:FILE"):
        report_named(text)
