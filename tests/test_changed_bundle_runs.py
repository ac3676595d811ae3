"""Runs by a changed bundle: what is new is generated and comes back, what is gone is not called, renamed codes are followed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import named
from conformance.cli import main
from conformance.gate.reruns import faults_of, killed_less, verdicts_changed
from conformance.gate.revisions import opened
from conformance.kill_matrix import Outcome, attempt, trials
from conformance.runner import Order, run
from conformance.verdict import RunResult, Verdict
from tests.changed_bundles import changed_bundle, member

MOOD = member("mood", {"type": "string", "maxLength": 9})
DISMISS = "memory.candidates.dismiss"
SUBJECT = "memory.subjects.get"
KEEPS = "MEM-R001.an_object_keeps_what_its_request_says_of_it"
COMES_BACK = "MEM-R001.a_content_comes_back_with_every_member"


def _language(document: Any) -> None:
    for schema in (document, document["definitions"]["ContentInput"]):
        member("language", {"type": "string", "minLength": 2, "maxLength": 3})(schema)


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> str:
    objects = ("data/memory-record", "ops/memory-records-create-request", "data/memory-candidate", "ops/memory-capture-request")
    edits = {"data/memory-content": _language, **dict.fromkeys(objects, MOOD)}
    return str(changed_bundle(tmp_path_factory.mktemp("added") / "bundle", edits))


@pytest.fixture(scope="module")
def gone(tmp_path_factory: pytest.TempPathFactory) -> str:
    return without_operation(tmp_path_factory.mktemp("gone") / "bundle", DISMISS)


def without_operation(directory: Path, op: str) -> str:
    def edit(table: Any) -> None:
        table["operations"] = [row for row in table["operations"] if row["name"] != op]

    changed_bundle(directory, {"operations": edit})
    for side in ("request", "response"):
        (directory / "schemas" / "ops" / f"{op.replace('.', '-')}-{side}.schema.json").unlink()
    return str(directory)


def ran(schemas: str, *rules: str, target: str = "oracle", profile: str = "smoke") -> RunResult:
    return run(Order(target=target, profile=profile, schemas=schemas), [named(rule) for rule in rules])


def verdicts(result: RunResult) -> dict[str, Verdict]:
    return {check.check_id: check.verdict for check in result.checks}


class TestAdded:
    def test_the_oracle_keeps_members_that_are_new(self, added: str) -> None:
        for rule, profile in (("R001", "quick"), ("R004", "smoke")):
            result = ran(added, rule, profile=profile)
            assert result.verdict is Verdict.PASS, [(check.check_id, check.reason) for check in result.checks if check.reason]

    @pytest.mark.parametrize(("target", "check"), [("forgets_mood", KEEPS), ("forgets_language", COMES_BACK)])
    def test_a_provider_that_drops_them_fails(self, added: str, target: str, check: str) -> None:
        result = ran(added, "R001", target=f"python:tests.changed_providers:{target}", profile="quick")
        assert {name for name, verdict in verdicts(result).items() if verdict is Verdict.FAIL} == {check}

    def test_by_the_packaged_bundle_it_passes(self) -> None:
        result = run(Order(target="python:tests.changed_providers:forgets_mood"), [named("R001")])
        assert result.verdict is Verdict.PASS


class TestGone:
    def test_an_operation_that_is_gone_is_not_called(self, gone: str) -> None:
        result = ran(gone, "R001", "R016", profile="quick")
        assert result.verdict is Verdict.PASS
        assert not any(pair.op == DISMISS for check in result.checks for pair in check.seen)
        told = {check.check_id: check.reason for check in result.checks if check.verdict is Verdict.NOT_APPLICABLE}
        assert "MEM-R016.a_change_commits_against_the_exact_revision_alone[dismiss]" in told
        assert set(told.values()) == {f"the contract of this run has no operation {DISMISS}"}

    def test_the_difference_is_told_check_by_check(self, gone: str) -> None:
        with opened("packaged") as old, opened(gone) as new:
            changed, unknown = verdicts_changed(old, new, "quick", 0, [named("R016")])
        assert unknown == []
        told = [line.partition(" (")[0] for line in changed]
        assert "MEM-R016.a_change_commits_against_the_exact_revision_alone[dismiss]: PASS → NOT_APPLICABLE" in told
        left = verdicts(ran(gone, "R016", profile="quick"))
        assert told == [f"{name}: PASS → {verdict}" for name, verdict in left.items() if verdict is not Verdict.PASS]


class TestRenamed:
    def test_renamed_codes_are_followed(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            for row in table["codes"]:
                row["code"] = f"X_{row['code']}"

        result = ran(str(changed_bundle(tmp_path / "new", {"errors": edit})), "R004", "R013", "R016", profile="smoke")
        assert result.verdict is Verdict.PASS
        codes = {pair.code for check in result.checks for pair in check.seen} - {""}
        assert codes
        assert all(code.startswith("X_") for code in codes)


class TestCodeGone:
    """What asks for a code that is gone is not applicable; all else is judged as before."""

    @pytest.mark.parametrize(
        ("code", "rules"),
        [("not_found", ("R008", "R012", "R016")), ("revision_stale", ("R016", "R027")), ("malformed_request", ("R002", "R004"))],
    )
    def test_a_run_goes_to_its_end(self, tmp_path: Path, code: str, rules: tuple[str, ...]) -> None:
        result = ran(without_code(tmp_path / "new", code), *rules)
        told = {check.reason for check in result.checks if check.verdict is Verdict.NOT_APPLICABLE}
        assert told == {f"the contract of this run has no error code for {code}"}
        assert {*verdicts(result).values()} <= {Verdict.PASS, Verdict.NOT_APPLICABLE}
        assert result.verdict is Verdict.PASS

    def test_no_other_refusal_stands_for_a_success(self, tmp_path: Path) -> None:
        """What must be refused and is not is a failure where one of the codes is left."""
        directory = without_code(tmp_path / "new", "not_found")
        (trial,) = trials(["r010_shared_read_writes"], [], profile="quick", seed=0, schemas=directory)
        assert attempt(trial).outcome is Outcome.KILLED

    def test_a_flag_that_is_gone(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            table["operations"] = [row for row in table["operations"] if row["flag"] != "reflection"]
            del table["flags"]["reflection"]

        result = ran(str(changed_bundle(tmp_path / "new", {"operations": edit})), "R002", "R024", "R026")
        assert result.verdict is Verdict.PASS, [(check.check_id, check.reason) for check in result.checks if check.reason]
        assert "the contract of this run has no flag reflection" in {check.reason for check in result.checks}


def without_code(directory: Path, code: str) -> str:
    def edit(table: Any) -> None:
        table["codes"] = [row for row in table["codes"] if row["symbol"] != code]

    return str(changed_bundle(directory, {"errors": edit}))


class TestFaults:
    NAME = "r001_read_drops_extensions"

    def test_a_fault_is_run_by_the_bundle_that_is_asked_for(self, added: str) -> None:
        (trial,) = trials([self.NAME], [], profile="quick", seed=0, schemas=added)
        assert attempt(trial).outcome is Outcome.KILLED

    def test_a_fault_that_no_longer_bites_is_told(self, tmp_path: Path) -> None:
        """Without subjects.get nobody can see that its answer lacks the kind."""
        directory = without_operation(tmp_path / "new", SUBJECT)
        with opened("packaged") as old, opened(directory) as new:
            less, unknown = killed_less(old, new, 1, ["r001_subject_without_its_kind"])
        why = f"NOT_APPLICABLE: the contract of this run has no operation {SUBJECT}; {KEEPS} found it by packaged"
        assert (less, unknown) == ([f"r001_subject_without_its_kind (MEM-R001): survived ({why.replace('; ', '); ', 1)}"], [])

    def test_the_matrix_is_run_by_another_bundle(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        directory = without_operation(tmp_path / "new", SUBJECT)
        asked = ["faults", "--kill-matrix", "--only", "r001_subject_without_its_kind", "-n", "1"]
        assert main([*asked, "--schemas", directory, "--json", str(tmp_path / "new.json")]) == 1
        (cell,) = json.loads((tmp_path / "new.json").read_text("utf-8"))["cells"]
        assert (cell["outcome"], cell["check_id"]) == ("survived", "")
        assert cell["reason"] == f"NOT_APPLICABLE: the contract of this run has no operation {SUBJECT}"
        capsys.readouterr()
        for wrong in (["--schemas", str(tmp_path / "nowhere")], ["--json", str(tmp_path)]):
            assert main([*asked, *wrong]) == 3
            said = capsys.readouterr()
            assert (said.out, len(said.err.strip().splitlines())) == ("", 1)

    def test_the_faults_of_chosen_rules(self) -> None:
        assert self.NAME in faults_of([named("R001")])
        assert not {self.NAME} & {*faults_of([named("R002"), named("R003")])}


def test_results_of_both_bundles_can_be_told_apart(added: str) -> None:
    digests = {ran(added, "R021").facts.bundle, run(Order(profile="smoke"), [named("R021")]).facts.bundle}
    assert len(digests) == 2
    assert all(len(digest) == 64 for digest in json.loads(json.dumps(sorted(digests))))
