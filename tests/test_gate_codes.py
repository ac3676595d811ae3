"""What a changed table of errors does: to readers, to what is stored, and to the suite's checks, targets and faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.cli import main
from conformance.gate.comparison import compare
from conformance.gate.markdown import markdown
from conformance.gate.outcome import Comparison, Direction, Finding, Policy, Severity
from conformance.gate.revisions import opened
from conformance.gate.suite_effect import Asked, effect
from conformance.wire.bundle import Bundle, load
from tests.changed_bundles import Edit, changed_bundle

BUNDLE = load()
SCHEMA = json.loads(Path("reports/schema/schema-comparison.schema.json").read_text("utf-8"))
ENVELOPE = "common/error-envelope"
NOT_FOUND, MALFORMED = "not_found", "malformed_request"
QUOTA = {"symbol": "quota_spent", "code": "QUOTA_SPENT", "layer": "operation", "retry": "later"}


def row(table: Any, symbol: str) -> Any:
    return next(row for row in table["codes"] if row["symbol"] == symbol)


def put(which: str, **members: str) -> Edit:
    return lambda table: row(table, which).update(members)


def without(symbol: str) -> Edit:
    return lambda table: table["codes"].remove(row(table, symbol))


def swapped(table: Any) -> None:
    one, other = row(table, NOT_FOUND), row(table, "not_authorized")
    one["code"], other["code"] = other["code"], one["code"]


def compared(directory: Path, edit: Edit, *, back: bool = False, tolerant: bool = False, **further: Edit) -> Comparison:
    named = {name.replace("__", "/").replace("_", "-"): one for name, one in further.items()}
    new = load(changed_bundle(directory / "new", {"errors": edit, **named}))
    found = compare(*((new, BUNDLE) if back else (BUNDLE, new)), Policy(tolerant=tolerant, examples=2))
    Draft202012Validator(SCHEMA).validate(found.to_json())
    sides = (new, BUNDLE) if back else (BUNDLE, new)
    for finding in found.tables:
        told_apart(finding, *sides)
    return found


def told_apart(finding: Finding, old: Bundle, new: Bundle) -> None:
    """See that the witness of a directed finding is an envelope that one side knows and the other does not."""
    if finding.direction is None:
        return
    assert finding.witness is not None
    instance = finding.witness.instance
    knows = {Direction.NARROWED: old, Direction.WIDENED: new}[finding.direction]
    other = new if knows is old else old
    assert knows.model("ErrorEnvelope").accepts(instance)
    assert knows.knows_code(instance["code"])
    assert not other.knows_code(instance["code"])


Told = tuple[str, Severity, Direction | None]
CASES: dict[str, tuple[Edit, dict[str, Any], list[Told]]] = {
    "a code of an operation is gone": (
        without(NOT_FOUND),
        {},
        [("/codes/not_found", Severity.BREAKING, Direction.NARROWED)],
    ),
    "a code of the dispatch is gone": (
        without(MALFORMED),
        {},
        [("/codes/malformed_request", Severity.ADDITIVE, Direction.NARROWED)],
    ),
    "a code is new": (
        lambda table: table["codes"].append(QUOTA),
        {},
        [("/codes/quota_spent", Severity.BREAKING, Direction.WIDENED)],
    ),
    "a code is new to tolerant readers": (
        lambda table: table["codes"].append(QUOTA),
        {"tolerant": True},
        [("/codes/quota_spent", Severity.ADDITIVE, Direction.WIDENED)],
    ),
    "a known code comes back": (
        without(NOT_FOUND),
        {"back": True},
        [("/codes/not_found", Severity.BREAKING, Direction.WIDENED)],
    ),
    "a code that no check asks for is gone": (
        lambda table: table["codes"].append(QUOTA),
        {"back": True},
        [("/codes/quota_spent", Severity.BREAKING, Direction.NARROWED)],
    ),
    "a code is renamed": (
        put(NOT_FOUND, code="MISSING"),
        {},
        [("/codes/not_found/code", Severity.BREAKING, Direction.WIDENED)],
    ),
    "two codes change places": (
        swapped,
        {},
        [("/codes/not_found/code", Severity.BREAKING, None), ("/codes/not_authorized/code", Severity.BREAKING, None)],
    ),
    "a code takes the name of one that is gone": (
        lambda table: (without("not_authorized")(table), put(NOT_FOUND, code="NOT_AUTHORIZED")(table)),
        {},
        [
            ("/codes/not_found/code", Severity.BREAKING, Direction.NARROWED),
            ("/codes/not_authorized", Severity.BREAKING, None),
        ],
    ),
    "a symbol is renamed and the code stays": (put(NOT_FOUND, symbol="is_missing"), {}, []),
    "another retry class": (put(NOT_FOUND, retry="later"), {}, [("/codes/not_found/retry", Severity.BREAKING, None)]),
    "another layer": (put(NOT_FOUND, layer="dispatch"), {}, [("/codes/not_found/layer", Severity.BREAKING, None)]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_changed_row_has_its_direction(tmp_path: Path, case: str) -> None:
    edit, how, expected = CASES[case]
    found = compared(tmp_path, edit, **how)
    assert [(one.old_at.partition("#")[2], one.severity, one.direction) for one in found.tables] == expected
    assert found.exit_code() == int(Severity.BREAKING in {severity for _, severity, _ in expected})


def listing(edit: Callable[[list[str]], object]) -> Edit:
    codes = [one.code for one in BUNDLE.errors.values()]
    edit(codes)
    return lambda document: document["properties"]["code"].update(enum=codes)


def test_where_the_schema_lists_the_codes_both_tell(tmp_path: Path) -> None:
    def fewer(document: Any) -> None:
        listing(lambda codes: codes.remove("NOT_FOUND"))(document)
        document["examples"].pop(0)

    old = load(changed_bundle(tmp_path / "old", {ENVELOPE: listing(lambda _codes: None)}))
    new = load(changed_bundle(tmp_path / "new", {ENVELOPE: fewer, "errors": without(NOT_FOUND)}))
    found = compare(old, new, Policy(examples=2))
    (row_gone,) = found.tables
    told_apart(row_gone, old, new)
    (change,) = [change for change in found.types if change.title == "ErrorEnvelope"]
    (narrowed,) = change.findings
    assert (narrowed.direction, narrowed.severity) == (Direction.NARROWED, Severity.ADDITIVE)
    assert narrowed.witness is not None
    assert old.model("ErrorEnvelope").accepts(narrowed.witness.instance)
    assert not new.model("ErrorEnvelope").accepts(narrowed.witness.instance)


def test_a_listing_that_is_not_the_tables_is_a_broken_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = str(changed_bundle(tmp_path / "one", {ENVELOPE: listing(lambda _codes: None), "errors": without(NOT_FOUND)}))
    assert main(["schemas", "diff", "packaged", one]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith("error-envelope.schema.json: /properties/code: errors.json has no row for NOT_FOUND.\n")
    assert len(said.err.splitlines()) == 1


def test_the_markdown_shows_the_envelope(tmp_path: Path) -> None:
    told = markdown(compared(tmp_path, without(NOT_FOUND)))
    assert '{"code": "NOT_FOUND", "message": "a refusal", "extensions": {}}' in told
    assert "refused by the new: `errors.json has no code NOT_FOUND`" in told


class TestEffect:
    def told(self, tmp_path: Path, edit: Edit) -> Any:
        directory = str(changed_bundle(tmp_path / "new", {"errors": edit}))
        with opened("packaged") as old, opened(directory) as new:
            return effect(old, new, Asked())

    def test_checks_and_faults_of_a_code_that_is_gone(self, tmp_path: Path) -> None:
        told = self.told(tmp_path, without("cursor_invalid"))
        assert "MEM-R022.a_cursor_is_bound_to_its_caller_and_request" in told["checks_that_name_what_is_gone"]
        assert "MEM-R016.a_change_commits_against_the_exact_revision_alone" not in told["checks_that_name_what_is_gone"]
        assert told["faults_killed_by_such_a_check"]
        assert all(fault.partition("_")[0] != "r016" for fault in told["faults_killed_by_such_a_check"])
        assert "CURSOR_INVALID" not in told["codes_without_a_check"]
        assert told["negative_targets_gone"] == []

    def test_nothing_is_malformed_without_a_code_that_says_so(self, tmp_path: Path) -> None:
        assert len(self.told(tmp_path, without(MALFORMED))["negative_targets_gone"]) > 900

    def test_a_renamed_code_is_asked_for_as_before(self, tmp_path: Path) -> None:
        told = self.told(tmp_path, put(NOT_FOUND, code="MISSING"))
        assert {name: value for name, value in told.items() if value} == {}


class TestOtherTables:
    def test_a_flag_is_gone_with_its_operations(self, tmp_path: Path) -> None:
        def edit(table: Any) -> None:
            table["operations"] = [one for one in table["operations"] if one["flag"] != "reflection"]
            del table["flags"]["reflection"]

        new = load(changed_bundle(tmp_path / "new", {"operations": edit}))
        ways = {back: compare(*((new, BUNDLE) if back else (BUNDLE, new)), Policy(examples=1)) for back in (False, True)}
        for back, severity in ((False, Severity.BREAKING), (True, Severity.ADDITIVE)):
            told = {one.old_at.partition("#")[2]: one.severity for one in ways[back].tables}
            stems = ("state", "list", "generate")
            names = ["/flags/reflection", *(f"/operations/memory.reflections.{stem}" for stem in stems)]
            assert told == dict.fromkeys(names, severity)

    def test_a_model_is_gone(self, tmp_path: Path) -> None:
        """Nothing refers to a filter of cognition once the requests that take it do not."""
        directory = changed_bundle(tmp_path / "new", {})
        for path in (directory / "schemas").rglob("*.json"):
            document = json.loads(path.read_text("utf-8"))
            if document.get("properties", {}).pop("cognition_filter", None) is not None:
                path.write_text(json.dumps(document), "utf-8")
        (directory / "schemas" / "data" / "cognition-filter.schema.json").unlink()
        found = compare(BUNDLE, load(directory), Policy(examples=1))
        gone = {change.title: change for change in found.types}["CognitionFilter"]
        (finding,) = gone.findings
        assert (finding.severity, finding.direction, finding.keyword) == (Severity.BREAKING, Direction.NARROWED, "type gone")
        assert finding.witness is not None
        assert BUNDLE.model("CognitionFilter").accepts(finding.witness.instance)
        assert found.exit_code() == 1
