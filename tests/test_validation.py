"""Both validators agree, they keep the contract where libraries differ, and problems say where and which keyword."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from conformance.wire import bundle as wire
from conformance.wire.bundle import load
from conformance.wire.validation import Engines, Validator, shallow
from tests.schema_samples import damaged, sample

BUNDLE = load()
REFS = sorted(
    [ref for ref in BUNDLE.documents if "definitions" not in BUNDLE.documents[ref] or "type" in BUNDLE.documents[ref]]
    + [f"{ref}#/definitions/{name}" for ref, one in BUNDLE.documents.items() for name in one.get("definitions", {})]
)
RECORD = BUNDLE.model("RetainedRecord")
RECORD_EXAMPLE = BUNDLE.documents[RECORD.ref]["examples"][0]


def nested(depth: int, kind: type = list) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


class TestAgreement:
    @pytest.mark.parametrize("ref", REFS, ids=lambda ref: ref.rpartition("/")[2])
    def test_both_validators_agree_on_generated_and_damaged_instances(self, ref: str) -> None:
        random, validator = Random(ref), BUNDLE.validator(ref)  # not a secret
        verdicts = []
        for _ in range(8):
            valid = sample(BUNDLE, ref, random)
            assert validator.accepts(valid)
            for instance in [damaged(valid, random) for _ in range(6)]:
                problems = validator.problems(instance)
                assert validator.accepts(instance) == (problems == []), (instance, problems)
                verdicts.append(problems == [])
        assert len(verdicts) == 48
        assert not all(verdicts) or ref.endswith(("ContentInput", "ExtensionMap", "/Page"))

    @pytest.mark.parametrize(
        ("title", "instance", "valid"),
        [
            ("Digest", "a" * 64, True),
            ("Digest", "a" * 64 + "\n", False),
            ("SubjectKind", "a:b\n", False),
            ("SubjectKind", "a:٣", False),
            ("ExtensionMap", {"a\n": {}}, False),
            ("ExtensionMap", {"a": {"\ud800": "\ud800"}}, True),
            ("ExtensionMap", {"\ud800": {}}, False),
            ("Revision", 5.0, True),
            ("Revision", 5.5, False),
            ("Revision", True, False),
            ("Revision", 1e300, True),
            ("Revision", 10**400, True),
            ("Revision", -(10**400), False),
            ("Revision", math.inf, False),
            ("Revision", math.nan, False),
            ("Id", "\U0001f600" * 128, True),
            ("Id", "\U0001f600" * 129, False),
            ("Id", "\ud800", True),
            ("Id", "\ud800" * 129, False),
            ("Id", "", False),
            ("Content", {"text": "\ud800", "structured": math.nan}, True),
            ("Content", {"text": "", "structured": 10**400}, True),
            ("Timestamp", "2026-02-29T00:00:00Z", False),
            ("Timestamp", "2024-02-29T00:00:00." + "123456789" * 9 + "Z", True),
            ("Timestamp", "0000-01-01T00:00:00Z", False),
            ("Timestamp", "2016-12-31T23:59:60Z", False),
            ("Timestamp", "2026-01-01T00:00:00Z\n", False),
            ("Timestamp", "2026-01-01T00:00:00+00:00", False),
        ],
    )
    def test_both_validators_keep_the_contract_where_libraries_differ(self, title: str, instance: Any, valid: bool) -> None:
        validator = BUNDLE.model(title)
        assert validator.accepts(instance) is valid
        assert (validator.problems(instance) == []) is valid

    @pytest.mark.parametrize("depth", [64, 500, 5_000, 20_000])
    @pytest.mark.parametrize("kind", [list, dict])
    def test_depth_is_answered(self, depth: int, kind: type) -> None:
        deep = nested(depth, kind)
        open_part = RECORD_EXAMPLE | {"content": {"text": "", "structured": deep}}
        assert RECORD.accepts(open_part)
        assert RECORD.problems(open_part) == []
        for closed_part in (deep, RECORD_EXAMPLE | {"kind": deep}, RECORD_EXAMPLE | {"unknown": deep}):
            assert not RECORD.accepts(closed_part)
            assert RECORD.problems(closed_part) != []

    def test_depth_is_answered_where_values_are_compared(self) -> None:
        deep = nested(20_000)
        for title, instance in [
            ("MemorySpace", {"fenced_context_ids": [deep, deep]}),
            ("CognitionRecord", {"view": deep, "dimension": deep}),
            ("TombstoneContent", {"text": deep}),
        ]:
            assert not BUNDLE.model(title).accepts(instance)
            assert BUNDLE.model(title).problems(instance) != []

    def test_an_integer_that_python_does_not_print_is_explained(self) -> None:
        assert [problem.keyword for problem in BUNDLE.model("Id").problems(10**5000)] == ["type"]

    def test_a_surrogate_and_a_deep_part_together_are_answered(self) -> None:
        instance = RECORD_EXAMPLE | {"record_id": "\ud800", "content": {"text": "", "structured": nested(20_000)}}
        assert RECORD.accepts(instance)
        assert not RECORD.accepts(instance | {"revision": 0})

    def test_the_shallow_copy_leaves_the_value_alone(self) -> None:
        value = {"a": [1, {"b": "c"}], "d": nested(300)}
        before = value["a"]
        assert shallow(value)["a"] == before
        assert shallow(value) is not value
        assert value["d"] == nested(300)


class TestProblems:
    def test_a_problem_says_where_and_which_keyword(self) -> None:
        (problem,) = RECORD.problems(RECORD_EXAMPLE | {"revision": 0})
        assert (problem.pointer, problem.keyword) == ("/revision", "minimum")
        assert problem.schema_pointer == "/properties/revision/minimum"
        assert "0 is less than" in problem.message

    def test_a_forbidden_member_is_named(self) -> None:
        (problem,) = BUNDLE.model("ReadSelection").problems({"subject_id": "a", "mode": "shared", "context_ids": ["b"]})
        assert (problem.pointer, problem.keyword) == ("/context_ids", "false")

    def test_pointers_are_escaped(self) -> None:
        problems = BUNDLE.model("ExtensionMap").problems({"a/b~": 1})
        assert {problem.pointer for problem in problems} == {"", "/a~1b~0"}
        assert [one.pointer for one in BUNDLE.model("Content").problems({"text": "", "cognition": [1]})] == ["/cognition/0"]

    def test_a_union_is_explained_by_the_branch_that_was_meant(self) -> None:
        request = BUNDLE.request("memory.candidates.review")
        base = {"space_id": "s", "idempotency_key": "k", "expected_revision": 1, "candidate_id": "c"}
        (problem,) = request.problems(base | {"decision": {"action": "fragment", "fragments": [{"content": {"text": ""}}]}})
        assert (problem.pointer, problem.keyword) == ("/decision/fragments", "minItems")
        (problem,) = request.problems(base | {"decision": {"action": "keep"}})
        assert (problem.pointer, problem.keyword) == ("/decision", "oneOf")

    def test_an_answer_is_explained_by_its_result_or_its_refusal(self) -> None:
        response = BUNDLE.response("memory.records.get")
        assert [one.pointer for one in response.problems({"record": RECORD_EXAMPLE | {"revision": "1"}})] == ["/record/revision"]
        (problem,) = response.problems({"error": {"code": 1, "message": "", "extensions": {}}})
        assert (problem.pointer, problem.keyword) == ("/error/code", "type")

    def test_a_long_message_is_cut(self) -> None:
        (problem,) = BUNDLE.model("Id").problems(["x" * 100_000])
        assert len(problem.message) <= 300


def test_our_patterns_stay_in_force_inside_documents(tmp_path: Path) -> None:
    """At a document with "$schema" the library returns to its own class, unless it is kept from it."""
    shutil.copytree(Path(wire.__file__).parent / "schemas", tmp_path, dirs_exist_ok=True)
    space = tmp_path / "data/memory-space.schema.json"
    document = json.loads(space.read_text("utf-8"))
    document["properties"]["created_at"] = {"type": "string", "pattern": "^a$"}
    space.write_text(json.dumps(document), "utf-8")
    validator = load(tmp_path).model("MemorySpace")
    base = document["examples"][0]
    assert validator.problems(base | {"created_at": "a"}) == []
    assert [one.keyword for one in validator.problems(base | {"created_at": "a\n"})] == ["pattern"]


@pytest.mark.parametrize(
    ("instance", "wrong"),
    [
        ({"a": 1, "known": "b", "c1": None}, []),
        ({"a": "1"}, ["/a"]),
        ({"a\n": 1}, [""]),
        ({"c1": 1, "\u0663": 1}, ["", "/c1"]),
        ({"known": 1, "b": 1}, ["", "/known"]),
        ([], []),
        (7, []),
    ],
)
def test_patterns_of_names_are_judged_alike_in_another_bundle(instance: Any, wrong: list[str]) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example.invalid/names",
        "properties": {"known": {"type": "string"}},
        "patternProperties": {"^a$": {"type": "integer"}, r"^c\d$": {"type": "null"}},
        "additionalProperties": False,
    }
    validator = Validator("https://example.invalid/names", Engines.of({"https://example.invalid/names": schema}))
    assert sorted(problem.pointer for problem in validator.problems(instance)) == wrong
    assert validator.accepts(instance) == (wrong == [])
