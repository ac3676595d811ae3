"""A whole run as a function: repeatable, isolated, and never a silent pass."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.catalogue import named, rules
from conformance.modules import modules_of
from conformance.recorder import Recorder
from conformance.runner import NO_MODULE, NOT_CHOSEN, Order, run
from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from conformance.watching import Together
from conformance.wire import bundle

RECALL = named("R023")
PROVIDERS = "python:tests.providers:"


class Watcher:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.total = 0
        self.results: list[CheckResult] = []

    def began(self, result: RunResult) -> None:
        assert result.checks == ()

    def collected(self, total: int) -> None:
        self.total = total

    def ended(self, result: CheckResult) -> None:
        self.results.append(result)


def recall(result: RunResult) -> RuleResult:
    return next(rule for rule in result.rules if rule.rule_id == RECALL.rule_id)


def smoke(target: str = "oracle", workers: int = 0, *, stop_early: bool = False) -> RunResult:
    return run(Order(target, "smoke", workers=workers, stop_early=stop_early), [RECALL])


def shape(result: RunResult) -> list[tuple[str, str, str]]:
    return [(check.check_id, str(check.verdict), check.sent) for check in result.checks]


def test_the_oracle_passes_and_the_others_were_not_chosen() -> None:
    watcher = Watcher()
    result = run(Order(profile="smoke"), [RECALL], watcher)
    assert (result.verdict, result.exit_code(), result.trouble) == (Verdict.PASS, 0, ())
    assert [rule.rule_id for rule in result.rules] == list(rules())
    others = [rule for rule in result.rules if rule.rule_id != RECALL.rule_id]
    assert {(rule.verdict, rule.reason) for rule in others} == {(Verdict.DESELECTED, NOT_CHOSEN)}
    assert watcher.total == len(watcher.results) == len(recall(result).checks) > 0
    facts = result.facts
    assert (facts.target, facts.profile, facts.seed, facts.bundle) == ("oracle", "smoke", 0, bundle.load().digest)
    assert facts.provider.startswith("oracle")


def test_the_same_run_again_and_over_workers_sends_the_same() -> None:
    first = smoke()
    assert shape(smoke()) == shape(first)
    assert shape(smoke(workers=2)) == shape(first)


def test_what_surrounds_a_run_takes_no_part_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    monkeypatch.setenv("PYTEST_PLUGINS", "nowhere")
    Path("pytest.ini").write_text("[pytest]\naddopts = --nonsense\n", "utf-8")
    Path("conftest.py").write_text("raise SystemExit", "utf-8")
    for name in ("re", "json", "reports"):
        Path(f"{name}.py").write_text("raise SystemExit", "utf-8")
    assert smoke(workers=1).verdict is Verdict.PASS
    assert os.environ["PYTEST_ADDOPTS"] == "-k nothing"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conftest.py", "json.py", "pytest.ini", "re.py", "reports.py"]


def test_an_adapter_without_memory_makes_every_rule_not_applicable() -> None:
    result = run(Order(f"{PROVIDERS}adapter_without_memory"))
    assert {rule.verdict for rule in result.rules} == {Verdict.NOT_APPLICABLE}
    assert result.exit_code() == 2


def test_a_core_provider_has_the_refusal_of_its_flags_checked() -> None:
    result = run(Order(f"{PROVIDERS}core_only", "smoke"), [named("R025")])
    checks = result.checks
    assert {check.verdict for check in checks} == {Verdict.NOT_APPLICABLE}
    assert all(check.assertions for check in checks)
    assert result.exit_code() == 2


def test_a_provider_that_kills_its_process_is_no_pass() -> None:
    result = smoke(f"{PROVIDERS}Deadly", workers=1)
    assert result.exit_code() == 3
    assert any("died" in check.reason for check in result.checks)


def test_a_provider_that_cannot_be_interrupted_fails_in_bounded_time(tmp_path: Path) -> None:
    file = tmp_path / "target.toml"
    file.write_text(f'target = "{PROVIDERS}Stubborn"\ndeadline = 0.1\n', "utf-8")
    result = run(Order(str(file), "quick", workers=1), [RECALL])
    assert (result.verdict, result.trouble) == (Verdict.FAIL, ())
    assert "could not be interrupted" in recall(result).reason
    assert {check.verdict for check in result.checks} == {Verdict.FAIL, Verdict.INCONCLUSIVE}


def test_stop_early_stops_and_still_fails() -> None:
    order = Order("python:tests.faults:r008_second_ensure_bumps", "quick", stop_early=True)
    result = run(order, [named("R008")])
    verdicts = [check.verdict for check in result.checks]
    assert result.verdict is Verdict.FAIL
    assert verdicts.count(Verdict.FAIL) == 1
    assert Verdict.DESELECTED in verdicts


def test_a_rule_without_a_module_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.runner.modules_of", lambda _rule: ())
    result = smoke()
    assert (result.exit_code(), recall(result).reason) == (2, NO_MODULE)


def test_a_module_that_cannot_be_imported_is_our_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "test_mem_r023_broken.py"
    broken.write_text("import nowhere_at_all", "utf-8")
    monkeypatch.setattr("conformance.runner.modules_of", lambda rule: (*modules_of(rule), broken))
    result = smoke()
    assert result.exit_code() == 3
    assert any("nowhere_at_all" in sentence for sentence in result.trouble)


def test_a_check_without_a_result_is_trouble(tmp_path: Path) -> None:
    recorder = Recorder(Together(), tmp_path)
    recorder.pytest_xdist_node_collection_finished(None, ["invariants/test_mem_r023_recall_budget.py::test_x"])
    recorder.complete()
    assert "1 of the checks have no result" in next(iter(recorder.trouble))
