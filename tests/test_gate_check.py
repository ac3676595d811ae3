"""One bundle looked at alone: ours has nothing against it, and each way to break one is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.cli import main
from conformance.gate.checking import Checked, check
from conformance.gate.points import Point
from conformance.gate.reachability import reachability
from conformance.wire.bundle import load
from tests.changed_bundles import Edit, changed_bundle, together

SCHEMA = json.loads(Path("reports/schema/schema-check.schema.json").read_text("utf-8"))
SPACE = "data/memory-space"


def test_the_packaged_bundle_is_right(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "out.json"
    assert main(["schemas", "check", "--report", f"json:{report}", "--report", f"markdown:{tmp_path / 'out.md'}"]) == 0
    told = json.loads(report.read_text("utf-8"))
    Draft202012Validator(SCHEMA).validate(told)
    assert (told["points"], told["unknown"], told["documents"], told["operations"]) == ([], [], 84, 33)
    assert told["reached"] == told["branches"] > 600
    assert "nothing to say against it" in capsys.readouterr().out
    assert (tmp_path / "out.md").read_text("utf-8").startswith("### Schema check")


def _member(document: Any) -> Any:
    return document["properties"]["state"]


def _edited(**keywords: Any) -> Edit:
    return lambda document: document.update(keywords)


def _opened(document: Any) -> None:
    del document["additionalProperties"]


def _undescribed(document: Any) -> None:
    del _member(document)["description"]


def _relative(document: Any) -> None:
    document["properties"]["space_id"] = {"$ref": "../common/common.schema.json#/definitions/Id", "description": "The space."}


def _unused(document: Any) -> None:
    document["definitions"]["Spare"] = {"type": "string", "description": "Nobody refers to it."}


def _without_envelope(document: Any) -> None:
    document["required"].remove("schema_version")


def _bad_example(document: Any) -> None:
    document["examples"][0]["state"] = "molten"


def _one_answer(document: Any) -> None:
    document["oneOf"] = document["oneOf"][:1]


def _unknown_keyword(document: Any) -> None:
    _member(document)["minValue"] = 1


CONVENTIONS: dict[str, tuple[str, Edit]] = {
    "closed": (SPACE, _opened),
    "description": (SPACE, _undescribed),
    "reference": (SPACE, _relative),
    "definition": ("common/common", _unused),
    "envelope": (SPACE, _without_envelope),
    "examples": (SPACE, _bad_example),
    "response": ("ops/memory-describe-response", _one_answer),
    "keyword": (SPACE, _unknown_keyword),
    "model": (SPACE, _edited(title="Room")),
    "request": ("ops/memory-describe-request", lambda document: document["properties"].pop("extensions")),
}


@pytest.mark.parametrize("kind", CONVENTIONS)
def test_a_broken_convention_is_told(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.gate.checking.reachability", lambda _bundle: Nothing())
    name, edit = CONVENTIONS[kind]
    found = check(str(changed_bundle(tmp_path / "new", {name: edit})))
    assert [point.kind for point in found.points] == [kind]
    assert found.exit_code() == 1
    Draft202012Validator(SCHEMA).validate(found.to_json())


class Nothing:
    points: tuple[Point, ...] = ()
    unknown: tuple[str, ...] = ()
    branches = reached = 0


def test_a_wrong_address_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.gate.checking.reachability", lambda _bundle: Nothing())
    directory = changed_bundle(tmp_path / "new", {})
    path = directory / "schemas" / "data" / "memory-principal.schema.json"
    path.rename(path.with_name("principal.schema.json"))
    (point,) = check(str(directory)).points
    assert (point.kind, point.where) == ("$id", "schemas/data/principal.schema.json#")


class TestBroken:
    def test_every_broken_file_is_told(self, tmp_path: Path) -> None:
        edits = {
            SPACE: lambda document: document.update(type="thing"),
            "data/memory-grant": lambda document: document["properties"]["grant_id"].update(
                {"$ref": "https://nowhere.invalid/x"}
            ),
            "ops/memory-recall-request": lambda document: document["properties"]["space_id"].update(
                {"$ref": "#/definitions/None"}
            ),
        }
        directory = changed_bundle(tmp_path / "new", edits)
        (directory / "schemas" / "data" / "memory-subject.schema.json").write_text("{", "utf-8")
        found = check(str(directory))
        assert {point.kind for point in found.points} == {"broken"}
        wheres = [point.where for point in found.points]
        for name in ("memory-space", "memory-grant", "memory-recall-request", "memory-subject"):
            assert any(name in where for where in wheres), name
        assert found.exit_code() == 1

    def test_a_missing_operation_schema_is_told(self, tmp_path: Path) -> None:
        directory = changed_bundle(tmp_path / "new", {})
        (directory / "schemas" / "ops" / "memory-recall-request.schema.json").unlink()
        found = check(str(directory))
        assert ["memory.recall" in point.what for point in found.points] == [True]


def _reached(tmp_path: Path, edit: Edit, name: str = SPACE) -> Checked:
    bundle = load(changed_bundle(tmp_path / "new", {name: edit}))
    only = {ref: document for ref, document in bundle.documents.items() if f"/{name}." in ref or "/common/" in ref}
    found = reachability(Part(bundle, only))  # type: ignore[arg-type]  # it looks at documents and schemas alone
    return Checked("new", "", tuple(found.points), found.unknown, branches=found.branches, reached=found.reached)


class Part:
    """A bundle with a few of its documents."""

    def __init__(self, bundle: Any, documents: Any) -> None:
        self.documents, self.schema, self.registry = documents, bundle.schema, bundle.registry


class TestReachability:
    def test_an_option_that_can_never_be_is_told_with_its_reason(self, tmp_path: Path) -> None:
        edit = together(
            _edited(**{"not": {"required": ["spare"]}}),
            lambda document: document["properties"].update(spare={"type": "string", "description": "Never there."}),
        )
        found = _reached(tmp_path, edit)
        assert [(point.kind, "spare" in point.what) for point in found.points] == [("unreachable", True)]

    def test_a_listed_value_that_another_rule_forbids(self, tmp_path: Path) -> None:
        found = _reached(tmp_path, _edited(allOf=[{"properties": {"state": {"const": "active"}}}]))
        assert [point.what.partition(":")[0] for point in found.points] == ['no instance has the listed value "frozen"']

    def test_an_alternative_that_nobody_takes(self, tmp_path: Path) -> None:
        dead = {"required": ["gone"], "properties": {"gone": {"type": "string"}}}
        found = _reached(tmp_path, _edited(anyOf=[{"required": ["state"]}, dead]))
        assert {point.kind for point in found.points} == {"unreachable"}
        assert any("takes the alternative 1" in point.what for point in found.points)

    def test_a_condition_that_never_holds(self, tmp_path: Path) -> None:
        condition = {"if": {"properties": {"state": {"const": "molten"}}, "required": ["state"]}, "then": {"maxProperties": 1}}
        found = _reached(tmp_path, _edited(**condition))
        assert [point.what.partition(":")[0] for point in found.points] == ["no instance comes to then"]

    def test_a_type_without_any_instance(self, tmp_path: Path) -> None:
        found = _reached(tmp_path, lambda document: document["properties"].update(space_id=False))
        assert [(point.kind, point.where) for point in found.points] == [("unsatisfiable", "data/memory-space.schema.json#")]
