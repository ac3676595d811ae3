"""The packaged schemas: complete, closed, described, with valid examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from conformance.wire import bundle as wire
from conformance.wire.bundle import load
from conformance.wire.documents import subschemas

ROOT = Path(wire.__file__).parent / "schemas"
FILES = {path.relative_to(ROOT).as_posix(): json.loads(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.json"))}
BUNDLE = load()
MODELS = {
    "memory-space": "MemorySpace",
    "memory-subject": "Subject",
    "memory-principal": "Principal",
    "memory-grant": "MemoryGrant",
    "memory-record": "RetainedRecord",
    "memory-candidate": "MemoryCandidate",
    "memory-profile-document": "ProfileDocument",
    "memory-reflection": "Reflection",
    "memory-receipt": "MemoryReceipt",
    "memory-read-selection": "ReadSelection",
    "memory-provenance-filter": "ProvenanceFilter",
    "memory-export-bundle": "MemoryExportBundle",
    "memory-export-chunk": "MemoryExportChunk",
}
PARTS = {"cognition-record": "CognitionRecord", "cognition-filter": "CognitionFilter", "memory-content": "Content"}
DURABLE = set(MODELS.values()) - {"ReadSelection", "ProvenanceFilter"}
# Objects that the contract leaves open: their values belong to products, or are judged later.
OPEN = {
    ("common/common.schema.json", "/definitions/ExtensionMap"),
    ("common/common.schema.json", "/definitions/ExtensionMap/additionalProperties"),
    ("common/error-envelope.schema.json", "/properties/details"),
    ("data/memory-export-chunk.schema.json", "/definitions/StagedChunk/properties/items/items"),
}


def walked() -> Iterator[tuple[str, str, Any]]:
    for name, document in FILES.items():
        for where, schema in subschemas(document):
            yield name, where, schema


def conditional(where: str) -> bool:
    return any(part in {"if", "then", "else", "anyOf", "allOf"} for part in where.split("/"))


class TestFiles:
    def test_there_are_84_files_and_each_is_named(self) -> None:
        expected = {f"data/{stem}.schema.json" for stem in MODELS | PARTS}
        expected |= {"common/common.schema.json", "common/error-envelope.schema.json"}
        for op in BUNDLE.operations:
            expected |= {f"ops/{op.replace('.', '-')}-{side}.schema.json" for side in ("request", "response")}
        assert set(FILES) == expected
        assert len(FILES) == 84

    @pytest.mark.parametrize("name", FILES)
    def test_a_file_is_a_draft_07_schema_with_its_own_address(self, name: str) -> None:
        document = FILES[name]
        Draft7Validator.check_schema(document)
        assert list(document)[:4] == ["$schema", "$id", "title", "description"]
        assert document["$schema"] == "http://json-schema.org/draft-07/schema#"
        assert document["$id"] == f"https://spoke42.invalid/schemas/{name}"

    def test_titles_are_the_type_names(self) -> None:
        titles = {name: document["title"] for name, document in FILES.items()}
        assert {stem: titles[f"data/{stem}.schema.json"] for stem in MODELS | PARTS} == MODELS | PARTS
        for op, row in BUNDLE.operations.items():
            type_name = "".join(part.capitalize() for part in row.name.split("."))
            assert FILES[f"ops/{op.replace('.', '-')}-request.schema.json"]["title"] == f"{type_name}Request"
            assert FILES[f"ops/{op.replace('.', '-')}-response.schema.json"]["title"] == f"{type_name}Response"
        assert len(set(titles.values())) == len(titles)

    def test_files_read_well(self) -> None:
        for path in sorted(ROOT.rglob("*.json")):
            text = path.read_text("utf-8")
            assert text.endswith("}\n"), path
            assert not re.search(r"\t| $", text, re.MULTILINE), path
            assert all(len(line) <= 200 for line in text.splitlines()), path


class TestForm:
    def test_every_reference_is_absolute_and_resolves(self) -> None:
        references = {schema["$ref"] for _, _, schema in walked() if isinstance(schema, dict) and "$ref" in schema}
        assert len(references) > 30
        for reference in references:
            assert reference.startswith("https://spoke42.invalid/schemas/")
            assert isinstance(BUNDLE.schema(reference), dict)

    def test_every_definition_is_used(self) -> None:
        used = {schema["$ref"] for _, _, schema in walked() if isinstance(schema, dict) and "$ref" in schema}
        defined = {f"{one['$id']}#/definitions/{name}" for one in FILES.values() for name in one.get("definitions", {})}
        assert defined <= used

    def test_every_object_is_closed(self) -> None:
        found = [
            (name, where)
            for name, where, schema in walked()
            if isinstance(schema, dict) and schema.get("type") == "object" and schema.get("additionalProperties") is not False
        ]
        assert set(found) == OPEN

    def test_every_object_schema_says_that_it_is_one(self) -> None:
        for name, where, schema in walked():
            if isinstance(schema, dict) and "properties" in schema and not conditional(where):
                assert schema["type"] == "object", (name, where)
                assert set(schema.get("required", [])) <= set(schema["properties"]), (name, where)

    def test_every_property_and_definition_is_described_by_a_sentence(self) -> None:
        count = 0
        for name, where, schema in walked():
            parent = where.rsplit("/", 2)[-2] if where.count("/") > 1 else ""
            if (parent in {"properties", "definitions"} or not where) and not conditional(where):
                count += 1
                assert re.fullmatch(r"[A-Z].{10,}\.", schema["description"]), (name, where)
        assert count > 400

    def test_data_files_end_with_examples(self) -> None:
        for name, document in FILES.items():
            if name.startswith("data/") or name == "common/error-envelope.schema.json":
                assert list(document)[-1] == "examples", name
                assert len(document["examples"]) >= 2, name

    @pytest.mark.parametrize("name", [name for name, one in FILES.items() if "examples" in one])
    def test_every_example_is_valid(self, name: str) -> None:
        validator = BUNDLE.validator(FILES[name]["$id"])
        for example in FILES[name]["examples"]:
            assert validator.problems(example) == []
            assert validator.accepts(example)

    @pytest.mark.parametrize("title", sorted(DURABLE))
    def test_durable_objects_carry_version_and_extensions(self, title: str) -> None:
        assert {"schema_version", "extensions"} <= set(BUNDLE.schema(BUNDLE.model_ref(title))["required"])

    def test_arrays_are_unique_only_where_the_contract_says_so(self) -> None:
        schemas = [(name, where, one) for name, where, one in walked() if isinstance(one, dict)]
        unique = {(name, where.rpartition("/")[2]) for name, where, one in schemas if one.get("uniqueItems")}
        assert unique == {
            ("data/memory-grant.schema.json", "capabilities"),
            ("data/memory-candidate.schema.json", "signals"),
            ("data/memory-space.schema.json", "fenced_context_ids"),
            ("ops/memory-grants-grant-request.schema.json", "capabilities"),
        }


class TestOperations:
    @pytest.mark.parametrize("op", BUNDLE.operations)
    def test_a_request_has_its_members_at_the_top(self, op: str) -> None:
        request = BUNDLE.schema(BUNDLE.request_ref(op))
        members, required = request["properties"], request.get("required", [])
        assert "extensions" in members
        assert "extensions" not in required
        assert not {"op", "principal", "principal_id", "params", "payload"} & set(members)
        spaceless = {"memory.describe", "memory.spaces.list"}
        assert ("space_id" in required) == ("space_id" in members) == (op not in spaceless)
        assert ("idempotency_key" in required) == BUNDLE.operations[op].mutation

    @pytest.mark.parametrize("op", BUNDLE.operations)
    def test_an_answer_is_a_result_or_a_refusal(self, op: str) -> None:
        success, refusal = BUNDLE.schema(BUNDLE.response_ref(op))["oneOf"]
        assert (set(refusal["properties"]), refusal["required"]) == ({"error", "extensions"}, ["error"])
        assert "error" not in success["properties"]
        assert "extensions" in success["properties"]
        assert set(success["properties"]) - set(success["required"]) <= {"extensions", "next_cursor"}
        if BUNDLE.operations[op].mutation:
            assert success["required"] == ["receipt"]

    @pytest.mark.parametrize("op", BUNDLE.operations)
    def test_an_answer_is_never_both_nor_neither(self, op: str) -> None:
        response = BUNDLE.response(op)
        error = {"code": "X", "message": "", "extensions": {}}
        assert response.accepts({"error": error})
        assert response.accepts({"error": error, "extensions": {"a": {}}})
        name = BUNDLE.schema(response.ref)["oneOf"][0]["required"][0]
        wrong: list[Any] = [{}, {"error": error, name: []}, {"error": error | {"more": 1}}, {"error": {"code": "X"}}, [], None]
        for answer in wrong:
            assert not response.accepts(answer)
