"""The command ``fuzz``: budgets, findings that are merged and saved, a corpus that later runs go on from, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.commands import fuzz_options
from conformance.counterexample import Counterexample, Kind
from conformance.counterexamples import Maker
from conformance.disagreement import Difference
from conformance.errors import BadInput
from conformance.fuzz.corpus import Corpus, Entry, open_corpus
from conformance.fuzz.crew import run
from conformance.fuzz.findings import Finding, Findings, name_of, same_as
from conformance.fuzz.order import Order
from conformance.machine import acts
from conformance.machine.walk import Leg
from conformance.rehearsal import Stage
from conformance.replay import Status, replayed
from conformance.target import open_target
from tests.foreign import MARK
from tests.travelling import CONTRACT, said

ROOT = Path(__file__).parent.parent
FAULT = "python:tests.faults:r016_adds_two"
FINDING = Finding("MEM-R016", "memory.records.update", "member: revision", "what", 1, 2, "/revision", (Leg(1, "cas", 3),), 40)


# -- findings


def test_findings_of_one_key_are_one() -> None:
    findings = Findings()
    assert findings.add(FINDING)
    assert not findings.add(replace(FINDING, calls=7))
    assert findings.add(replace(FINDING, op="memory.records.delete"))
    assert [(one.times, one.calls) for one in findings.found.values()] == [(2, 7), (1, 40)]


def test_a_finding_is_saved(tmp_path: Path) -> None:
    findings = Findings()
    findings.add(replace(FINDING, seen="\ud800"))
    assert findings.save(tmp_path / "new") == []
    saved = json.loads((tmp_path / "new" / f"{name_of(FINDING)}.json").read_text("utf-8"))
    assert (saved["rule"], saved["seen"], saved["legs"]) == ("MEM-R016", "\ud800", [{"seed": 1, "focus": "cas", "acts": 3}])


REFUSED = {"code": "B", "message": "no"}
"""The answer that a finding saw."""


@pytest.mark.parametrize(
    ("reason", "expected", "seen", "difference", "same"),
    [
        ("accepted: A", "A", {}, Difference(0, Kind.REFUSED, expected="A", seen=""), True),
        ("accepted: A", "A", {}, Difference(0, Kind.REFUSED, expected="auth_failed", seen=""), False),
        ("accepted: A", "A", {}, Difference(0, Kind.REFUSED, expected="A", seen="B"), False),
        ("code: A/B", ["A", "C"], REFUSED, Difference(0, Kind.REFUSED, expected="C", seen="B"), True),
        ("code: A/B", ["A", "C"], REFUSED, Difference(0, Kind.REFUSED, expected="auth_failed", seen=""), False),
        ("code: A/B", ["A"], REFUSED, Difference(0, Kind.REFUSED, expected="A", seen="C"), False),
        ("refused: B", None, REFUSED, Difference(0, Kind.ACCEPTED, seen="B"), True),
        ("refused: B", None, REFUSED, Difference(0, Kind.ACCEPTED, seen="C"), False),
        ("member: a", 1, 2, Difference(0, Kind.ITEMS, ("a",)), True),
        ("member: a", 1, 2, Difference(0, Kind.REFUSED, expected="A", seen=""), False),
        ("form: /a", None, None, Difference(0, Kind.FORM), True),
        ("state: x", None, None, Difference(0, Kind.ONE_COMMITS), True),
    ],
)
def test_a_finding_is_reduced_to_what_was_found(
    reason: str, expected: object, seen: object, difference: Difference, *, same: bool
) -> None:
    shows = same_as(replace(FINDING, reason=reason, expected=expected, seen=seen))
    assert shows(said("records.update", "k"), difference) is same
    assert shows(said("records.delete", "k"), difference) is reason.startswith("state")


# -- the corpus


def test_a_corpus_keeps_what_reached_something_new(tmp_path: Path) -> None:
    corpus = open_corpus(tmp_path / "corpus")
    corpus.add(Entry((Leg(1, "cas", 3),), ("a", "b")))
    corpus.add(Entry((Leg(2, "cas", 3),), ("a",)))
    corpus.add(Entry((Leg(3, "cas", 3),), ("b", "c")))
    corpus.count(3, 100)
    again = open_corpus(tmp_path / "corpus")
    assert sorted(again.behaviours) == ["a", "b", "c"]
    assert sorted(entry.legs[0].seed for entry in again.entries) == [1, 3]
    assert (again.episodes, again.calls) == (3, 100)


@pytest.mark.parametrize(("name", "text"), [("entries/x.json", "{"), ("entries/x.json", '{"format": 9}'), ("state.json", "[]")])
def test_a_broken_corpus_is_told_in_a_sentence(tmp_path: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    open_corpus(tmp_path)
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(BadInput):
        open_corpus(tmp_path)
    assert main(["fuzz", "--calls", "10", "--corpus", str(tmp_path)]) == 3
    told = capsys.readouterr().err
    assert name.rpartition("/")[2] in told
    assert "Traceback" not in told


def test_a_second_run_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    first = run(Order("oracle", "cas", calls=120, workers=0), corpus := open_corpus(tmp_path))
    assert first.findings.found == {}
    assert first.episodes == corpus.episodes > 0
    assert first.fresh == len(corpus.behaviours) > 10
    again = open_corpus(tmp_path)
    second = run(Order("oracle", "cas", calls=120, workers=0, first=again.episodes), again)
    assert second.troubles == []
    assert again.episodes == first.episodes + second.episodes


# -- runs


def test_the_same_order_does_the_same() -> None:
    runs = [run(Order("oracle", "grants", calls=150, workers=0, seed=4), Corpus()) for _ in range(2)]
    assert runs[0].corpus.entries == runs[1].corpus.entries
    assert runs[0].calls == runs[1].calls >= 150


def test_a_wrong_provider_is_found_reduced_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fuzz", FAULT, "--focus", "cas", "--calls", "60", "-n", "0", "--findings", str(tmp_path)]
    assert main(arguments) == 1
    said = capsys.readouterr().out
    assert "MEM-R016" in said
    examples = [Counterexample.of_json(json.loads(path.read_text("utf-8"))) for path in tmp_path.glob("*.mem.json")]
    assert examples
    assert all(example.failed == example.runs > 0 for example in examples)
    assert min(len(example.calls) for example in examples) <= 6


def statuses(example: Counterexample, target: str) -> list[Status]:
    """Replay on a target and on the oracle."""
    found = []
    for text in (target, "oracle"):
        opened = open_target(text, bundle=CONTRACT).open()
        found.append(replayed(example, Stage(opened, CONTRACT)).status)
        opened.shim.close()
    return found


def test_each_counterexample_shows_what_was_found() -> None:
    """Not what a principal of the other space did, whom a right provider does not know."""
    found = run(Order(FAULT, "cas", calls=300, workers=0), Corpus()).findings.found.values()
    assert len(found) > 3
    for finding in found:
        example = finding.counterexample
        assert example is not None, finding.key
        assert example.calls[-1].op == finding.op or finding.reason.startswith("state")
        assert {party.credential for party in example.callers} <= {f"${{{party.name}}}" for party in example.callers}
        assert statuses(example, FAULT) == [Status.FAILED, Status.FIXED]


@pytest.mark.parametrize("fault", ["Wrong", "Misspelt"])
def test_what_a_provider_makes_of_any_characters_is_hidden_or_a_symbol(fault: str, tmp_path: Path) -> None:
    target = f"python:tests.foreign:{fault}"
    assert main(["fuzz", target, "--focus", "cas", "--calls", "400", "-n", "0", "-q", "--findings", str(tmp_path)]) == 1
    saved = [(path.read_text("utf-8"), json.loads(path.read_text("utf-8"))) for path in tmp_path.glob("*.json")]
    assert "<credential" in str(saved) or fault == "Misspelt"
    assert all(MARK not in f"{text}{value}" and json.dumps(MARK)[1:-1] not in text for text, value in saved)
    found = [value for _, value in saved if "legs" in value]
    # What calls at once left behind need not show again when they are sent once more, and is told as not reduced.
    findings = [value for value in found if value["counterexample"] or not value["reason"].startswith("state")]
    assert findings
    for finding in findings:
        example = Counterexample.of_json(finding["counterexample"])
        assert example.calls[-1].op == finding["op"]
        assert "😀" not in str(finding["counterexample"])
        assert statuses(example, target) == [Status.FAILED, Status.FIXED]


def test_a_finding_counts_whatever_becomes_of_its_counterexample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_given: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(Maker, "of_history", broken)
    assert main(["fuzz", FAULT, "--focus", "cas", "--calls", "60", "-n", "0", "--findings", str(tmp_path)]) == 3
    said = capsys.readouterr()
    assert "not reduced: KeyError: 'x'" in said.out
    assert f"saved in {tmp_path}\n" in said.out
    assert "replay" not in said.out
    assert "no counterexample of" in said.err
    saved = [json.loads(path.read_text("utf-8")) for path in tmp_path.glob("*.json")]
    assert saved
    assert all(one["legs"] and one["counterexample"] is None and one["unreduced"] == "KeyError: 'x'" for one in saved)


def test_a_right_provider_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "oracle", "--calls", "60", "-n", "0", "-q"]) == 0
    assert "0 findings" in " ".join(capsys.readouterr().out.split())


def test_two_workers_share_the_work() -> None:
    outcome = run(Order("oracle", "even", calls=200, workers=2), Corpus())
    assert outcome.troubles == []
    assert outcome.episodes >= 2
    assert outcome.calls >= 200


def test_a_target_that_cannot_be_used_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "python:tests.nowhere:x", "--calls", "10", "-n", "0"]) == 3
    told = capsys.readouterr().err
    assert "python:tests.nowhere:x" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    "arguments", [["--focus", "nothing"], ["-n", "-1"], ["--minutes", "0"], ["--minutes", "nan"], ["--calls", "0"], ["--sooner"]]
)
def test_wrong_usage_exits_with_3(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "oracle", *arguments]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_help_names_the_foci_that_there_are() -> None:
    assert fuzz_options.FOCI == acts.ASKED_FOR


def test_ctrl_c_ends_it_with_what_it_has(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance.cli", "fuzz", "oracle", "--minutes", "5", "-n", "1", "--corpus", str(tmp_path)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        until = time.monotonic() + 60
        while not list((tmp_path / "entries").glob("*")) and time.monotonic() < until:
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        said, troubles = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, troubles
    assert "stopped by hand" in " ".join(said.split())
    assert open_corpus(tmp_path).episodes > 0
