"""The comparison of two bundles: who is affected, what may land, what is never taken for unchanged."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.cli import main
from conformance.gate import comparison
from conformance.gate.comparison import compare
from conformance.gate.markdown import markdown
from conformance.gate.outcome import Comparison, Direction, Policy, Role, Severity, Step, TypeChange
from conformance.gate.revisions import opened
from conformance.gate.suite_effect import Asked, effect
from conformance.wire.bundle import load
from tests.changed_bundles import Edit, changed_bundle, member, together

BUNDLE = load()
SCHEMA = json.loads(Path("reports/schema/schema-comparison.schema.json").read_text("utf-8"))
CANDIDATE = "data/memory-candidate"
CAPTURE = "ops/memory-capture-request"
DESCRIBE = "ops/memory-describe-response"
MOOD = member("mood", {"type": "string"})
REQUIRED = member("mood", {"type": "string"}, required=True)
FEW = Policy(examples=4)


def compared(directory: Path, policy: Policy = FEW, **edits: Edit) -> Comparison:
    """Compare the packaged bundle with an edited one; the report of every comparison is of the schema's form."""
    named = {name.replace("__", "/").replace("_", "-"): edit for name, edit in edits.items()}
    found = compare(BUNDLE, load(changed_bundle(directory / "new", named)), policy)
    Draft202012Validator(SCHEMA).validate(found.to_json())
    assert json.loads(json.dumps(found.to_json())) == found.to_json()
    assert markdown(found).startswith("### Schema gate")
    return found


def only(found: Comparison) -> TypeChange:
    (change,) = found.types
    return change


class TestDirections:
    def test_an_optional_member_of_a_request_is_additive(self, tmp_path: Path) -> None:
        found = compared(tmp_path, ops__memory_capture_request=MOOD)
        change = only(found)
        assert (change.severity, change.roles, found.exit_code()) == (Severity.ADDITIVE, (Role.SENT,), 0)
        (finding,) = change.findings
        assert (finding.direction, finding.pointer) == (Direction.WIDENED, "/mood")
        assert finding.witness is not None
        assert BUNDLE.request("memory.capture").problems(finding.witness.instance)

    def test_a_required_member_of_a_request_breaks_old_clients(self, tmp_path: Path) -> None:
        found = compared(tmp_path, ops__memory_capture_request=REQUIRED)
        broken = [one for one in only(found).findings if one.severity is Severity.BREAKING]
        assert [(one.direction, one.keyword, one.after) for one in broken] == [(Direction.NARROWED, "required", "mood")]
        assert broken[0].witness is not None
        assert BUNDLE.request("memory.capture").accepts(broken[0].witness.instance)
        assert found.exit_code() == 1

    def test_a_member_more_in_an_answer_breaks_readers_who_validate(self, tmp_path: Path) -> None:
        edit = lambda document: MOOD(document["oneOf"][0])  # noqa: E731 - an edit of a part
        strict = compared(tmp_path / "a", ops__memory_describe_response=edit)
        assert (only(strict).severity, only(strict).roles, strict.exit_code()) == (Severity.BREAKING, (Role.READ,), 1)
        tolerant = compared(tmp_path / "b", Policy(tolerant=True, examples=4), ops__memory_describe_response=edit)
        assert (only(tolerant).severity, tolerant.exit_code()) == (Severity.ADDITIVE, 0)

    def test_tolerant_readers_do_not_understand_everything(self, tmp_path: Path) -> None:
        edit = lambda document: document["oneOf"][0]["properties"].update(protocol_version={"type": "integer"})  # noqa: E731
        found = compared(tmp_path, Policy(tolerant=True, examples=4), ops__memory_describe_response=edit)
        assert (only(found).severity, found.exit_code()) == (Severity.BREAKING, 1)

    def test_an_answer_that_promises_more_is_additive(self, tmp_path: Path) -> None:
        edit = lambda document: document["oneOf"][0]["properties"]["protocol_version"].update(minLength=1)  # noqa: E731
        found = compared(tmp_path, ops__memory_describe_response=edit)
        assert (only(found).severity, found.exit_code()) == (Severity.ADDITIVE, 0)

    def test_a_narrower_model_breaks_what_is_stored(self, tmp_path: Path) -> None:
        edit = lambda document: document["properties"]["classification"]["properties"]["label"].update(maxLength=9)  # noqa: E731
        found = compared(tmp_path, data__memory_candidate=edit)
        changes = {change.title: change for change in found.types}
        assert changes["MemoryCandidate"].severity is Severity.BREAKING
        assert changes["MemoryCandidate"].roles == (Role.READ, Role.STORED)
        assert changes["MemoryCandidatesGetResponse"].severity is Severity.ADDITIVE
        assert changes["MemoryExportChunk"].severity is Severity.BREAKING
        assert found.unchanged + len(found.types) == len(BUNDLE.documents) - 1

    def test_one_change_of_a_shared_definition_is_one_finding_of_each_type(self, tmp_path: Path) -> None:
        edit = lambda document: document["definitions"]["SubjectKind"].update(maxLength=9)  # noqa: E731
        found = compared(tmp_path, common__common=edit)
        told = {change.title: change.severity for change in found.types}
        assert told["MemorySubjectsEnsureRequest"] is told["Subject"] is Severity.BREAKING
        assert told["Common"] is Severity.EDITORIAL
        assert all(len(change.findings) <= 1 for change in found.types)
        assert all("#/definitions/SubjectKind" in one.new_at for change in found.types for one in change.findings)


class TestNothingChanged:
    def test_the_same_bundle_is_unchanged(self) -> None:
        found = compare(BUNDLE, BUNDLE, FEW)
        assert (found.types, found.tables, found.severity, found.exit_code()) == ((), (), Severity.NONE, 0)

    def test_words_and_writing_are_editorial_with_evidence(self, tmp_path: Path) -> None:
        def rewritten(document: Any) -> None:
            document["description"] = "Told otherwise."
            document["required"].reverse()
            pending: dict[str, Any] = {"state": {"const": "pending"}}
            condition = {"properties": pending, "required": ["state"]}
            for word in ("if", "then", "else"):
                del document[word]
            document["oneOf"] = [
                {**condition, "properties": {**pending, "outcome": False}},
                {"not": condition, "required": ["outcome"]},
            ]

        found = compared(tmp_path, data__memory_candidate=rewritten)
        assert {change.severity for change in found.types} == {Severity.EDITORIAL}
        assert found.exit_code() == 0
        change = next(change for change in found.types if change.title == "MemoryCandidate")
        assert "1 annotations changed: / description" in change.notes
        for evidence in change.evidence.values():
            assert evidence.shown in ("no instance", "every rule")
            assert evidence.tried == evidence.accepted > 4
            assert 0 < evidence.reached <= evidence.branches

    def test_a_comparison_that_fails_is_unknown(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*_: object) -> None:
            raise RuntimeError("lost its way")

        monkeypatch.setattr(comparison, "contained", fails)
        found = compared(tmp_path, ops__memory_capture_request=MOOD)
        assert only(found).unknown == ("the comparison failed: RuntimeError: lost its way",)
        assert (found.severity, found.exit_code()) == (Severity.UNKNOWN, 2)

    def test_what_breaks_weighs_more_than_what_is_unknown(self, tmp_path: Path) -> None:
        found = compared(tmp_path, ops__memory_capture_request=member("x", {"type": "string"}, required=True))
        change = TypeChange("T", "f", (), unknown=("why",))
        both = Comparison(found.old, found.new, found.policy, found.suite, (*found.types, change))
        assert both.exit_code() == 1


class TestVersions:
    @pytest.mark.parametrize(("policy", "exit_code"), [(Step.MODEL, 0), (Step.ANY, 0), (Step.NEVER, 1), (Step.OFF, 0)])
    def test_a_breaking_change_needs_a_step_of_the_model(self, tmp_path: Path, policy: Step, exit_code: int) -> None:
        version = {"description": "The version of this object's shape.", "type": "integer", "minimum": 2}
        edit = together(REQUIRED, lambda document: document["properties"].update(schema_version=version))
        found = compared(tmp_path, Policy(step=policy, examples=2), data__memory_principal=edit)
        assert found.stepped == ("Principal",)
        assert found.severity is Severity.BREAKING
        assert all(one.stepped for one in found.findings)
        assert found.exit_code() == exit_code

    def test_without_a_step_it_may_not_land(self, tmp_path: Path) -> None:
        found = compared(tmp_path, data__memory_principal=REQUIRED)
        assert (found.stepped, found.exit_code()) == ((), 1)

    def test_examples_of_a_later_version_are_a_step_too(self, tmp_path: Path) -> None:
        def later(document: Any) -> None:
            REQUIRED(document)
            document["examples"] = [{**example, "schema_version": 2, "mood": "calm"} for example in document["examples"]]

        assert compared(tmp_path, data__memory_principal=later).exit_code() == 0

    def test_a_step_of_one_model_permits_nothing_elsewhere(self, tmp_path: Path) -> None:
        version = {"description": "The version.", "type": "integer", "minimum": 2}
        step = lambda document: document["properties"].update(schema_version=version)  # noqa: E731
        for number, (policy, exit_code) in enumerate(((Step.MODEL, 1), (Step.ANY, 0))):
            found = compared(
                tmp_path / str(number),
                Policy(step=policy, examples=2),
                data__memory_principal=step,
                ops__memory_capture_request=REQUIRED,
            )
            assert found.exit_code() == exit_code


class TestTables:
    def rows(self, found: Comparison) -> dict[str, Severity]:
        return {one.new_at.partition("#")[2]: one.severity for one in found.tables}

    def test_rows_that_change(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            rows = {row["name"]: row for row in table["operations"]}
            rows["memory.capture"]["may_be_pending"] = True
            rows["memory.records.promote"]["while_frozen"] = True
            rows["memory.recall"]["needs"] = []
            table["flags"]["transfer"]["flag"] = "spoke-memory-move"

        assert not BUNDLE.operations["memory.capture"].may_be_pending
        assert self.rows(compared(tmp_path, operations=edit)) == {
            "/operations/memory.capture/may_be_pending": Severity.BREAKING,
            "/operations/memory.records.promote/while_frozen": Severity.BREAKING,
            "/operations/memory.recall/needs": Severity.BREAKING,
            "/flags/transfer/flag": Severity.BREAKING,
        }

    def test_a_renamed_code_breaks_old_readers(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            next(row for row in table["codes"] if row["symbol"] == "not_found")["code"] = "MISSING"

        found = compared(tmp_path, errors=edit)
        assert self.rows(found) == {"/codes/not_found/code": Severity.BREAKING}
        assert found.exit_code() == 1

    def test_a_code_that_the_suite_has_no_symbol_for(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            table["codes"].append({"symbol": "quota_spent", "code": "QUOTA_SPENT", "layer": "operation", "retry": "later"})

        changed_bundle(tmp_path / "new", {"errors": edit})
        with opened("packaged") as old, opened(str(tmp_path / "new")) as named:
            assert effect(old, named, Asked())["codes_without_a_check"] == ["QUOTA_SPENT"]

    def test_operations_and_members_that_no_check_or_only_checks_know(self, tmp_path: Path) -> None:
        def more(table: Any) -> None:
            table["operations"].append({**table["operations"][0], "name": "memory.records.count"})

        def without(document: Any) -> None:
            del document["properties"]["classification"]
            document["required"].remove("classification")
            del document["examples"]

        directory = changed_bundle(tmp_path / "new", {"operations": more, CANDIDATE: without})
        for side in ("request", "response"):
            schemas = directory / "schemas" / "ops"
            document = json.loads((schemas / f"memory-describe-{side}.schema.json").read_text("utf-8"))
            name = f"memory-records-count-{side}.schema.json"
            document |= {"title": f"MemoryRecordsCount{side.title()}", "$id": document["$id"].rpartition("/")[0] + f"/{name}"}
            (schemas / name).write_text(json.dumps(document), "utf-8")
        with opened("packaged") as old, opened(str(directory)) as new:
            told = effect(old, new, Asked())
        assert told["operations_without_a_check_of_their_own"] == ["memory.records.count"]
        assert "MEM-R017.signals_name_cognition_exactly_when_there_is_any" in told["checks_that_name_what_is_gone"]

    def test_schemas_of_an_operation_that_is_gone_may_stay(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            table["operations"] = [row for row in table["operations"] if row["name"] != "memory.profile.get"]

        found = compared(tmp_path, operations=edit)
        assert (found.types, self.rows(found)) == ((), {"/operations/memory.profile.get": Severity.BREAKING})

    def test_an_operation_that_is_gone_and_one_that_is_new(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            table["operations"] = [row for row in table["operations"] if row["name"] != "memory.profile.get"]

        directory = changed_bundle(tmp_path / "new", {"operations": edit})
        for side in ("request", "response"):
            (directory / "schemas" / "ops" / f"memory-profile-get-{side}.schema.json").unlink()
        gone, new = compare(BUNDLE, load(directory), FEW), compare(load(directory), BUNDLE, FEW)
        assert self.rows(gone) == {"/operations/memory.profile.get": Severity.BREAKING}
        assert {change.title: change.severity for change in gone.types} == {
            "MemoryProfileGetRequest": Severity.BREAKING,
            "MemoryProfileGetResponse": Severity.BREAKING,
        }
        assert self.rows(new) == {"/operations/memory.profile.get": Severity.ADDITIVE}
        assert (gone.exit_code(), new.exit_code()) == (1, 0)

    def test_a_model_with_another_title_is_the_same(self, tmp_path: Path) -> None:
        found = compared(tmp_path, data__memory_principal=lambda document: document.update(title="MemoryPrincipal"))
        assert {change.severity for change in found.types} == {Severity.EDITORIAL}
        assert found.exit_code() == 0


class TestCommand:
    def test_directories_and_reports(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        new = changed_bundle(tmp_path / "new", {CAPTURE: REQUIRED})
        reports = [f"json:{tmp_path / 'out.json'}", f"markdown:{tmp_path / 'out.md'}"]
        assert (
            main(["schemas", "diff", "packaged", str(new), "--examples", "4", "--report", reports[0], "--report", reports[1]])
            == 1
        )
        said = capsys.readouterr().out
        assert "it breaks" in said
        assert "refused by the new" in said
        told = json.loads((tmp_path / "out.json").read_text("utf-8"))
        Draft202012Validator(SCHEMA).validate(told)
        assert told["effect"]["negative_targets_new"]
        assert told["effect"]["new_members_judged_by_schema_alone"] == ["MemoryCaptureRequest.mood"]
        assert "```json" in (tmp_path / "out.md").read_text("utf-8")

    def test_git_revisions(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        def git(*arguments: str) -> None:
            who = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
            subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

        changed_bundle(tmp_path / "wire", {})
        git("init", "-q")
        git("add", ".")
        git("commit", "-q", "-m", "old")
        path = tmp_path / "wire" / "schemas" / f"{CAPTURE}.schema.json"
        document = json.loads(path.read_text("utf-8"))
        MOOD(document)
        path.write_text(json.dumps(document), "utf-8")
        directory = str(tmp_path / "wire")
        quick = ["--no-suite", "--examples", "2", "-q"]
        assert main(["schemas", "diff", "HEAD", directory, *quick]) == 0
        assert "1 types changed (1 additive)" in capsys.readouterr().out
        git("commit", "-q", "-a", "-m", "new")
        assert main(["schemas", "diff", "HEAD~1", "HEAD", "--dir", directory, *quick]) == 0
        assert "1 types changed (1 additive)" in capsys.readouterr().out
        assert main(["schemas", "diff", f"HEAD:{directory}", f"HEAD~1:{directory}", *quick]) == 1
        for wrong in (["HEAD", "HEAD~1"], ["no-such-revision", directory], [f"HEAD:{tmp_path / 'nowhere'}", directory]):
            assert main(["schemas", "diff", *wrong, *quick]) == 3
            assert len(capsys.readouterr().err.strip().splitlines()) == 1

    @pytest.mark.parametrize(
        "arguments",
        [
            ["schemas"],
            ["schemas", "diff", "packaged"],
            ["schemas", "merge", "packaged"],
            ["schemas", "check", "packaged", "packaged"],
            ["schemas", "diff", "packaged", "/no/such/directory"],
            ["schemas", "diff", "packaged", "packaged", "--examples", "0"],
            ["schemas", "diff", "packaged", "packaged", "--report", "html:x"],
            ["schemas", "diff", "packaged", "packaged", "--readers", "lazy"],
            ["schemas", "diff", "packaged", "packaged", "--run", "slow"],
            ["schemas", "diff", "packaged", "packaged", "-n", "0"],
            ["schemas", "diff", "packaged", "packaged", "--transcripts", "/no/such/directory"],
            ["schemas", "check", "/no/such/directory"],
        ],
    )
    def test_wrong_usage_is_one_sentence(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(arguments) == 3
        said = capsys.readouterr().err
        assert len(said.strip().splitlines()) == 1
        assert said.startswith("memory-conformance: ")

    def test_a_broken_bundle_is_no_comparison(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        new = changed_bundle(tmp_path / "new", {CAPTURE: lambda document: document.update(type="thing")})
        assert main(["schemas", "diff", "packaged", str(new)]) == 3
        assert f"{CAPTURE}.schema.json" in capsys.readouterr().err
