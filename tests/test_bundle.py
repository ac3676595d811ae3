"""The bundle: what it holds, how another directory is loaded, and the one sentence of a broken one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import BadBundle, NotInContract
from conformance.wire import bundle as wire
from conformance.wire.bundle import Bundle, Need, load
from conformance.wire.tables import read_tables
from conformance.wire.vocabulary import Code, Field, Flag, Reason

PACKAGED = Path(wire.__file__).parent
BUNDLE = load()
REFS = sorted(
    [ref for ref in BUNDLE.documents if "definitions" not in BUNDLE.documents[ref] or "type" in BUNDLE.documents[ref]]
    + [f"{ref}#/definitions/{name}" for ref, one in BUNDLE.documents.items() for name in one.get("definitions", {})]
)
RECORD = BUNDLE.model("RetainedRecord")
RECORD_EXAMPLE = BUNDLE.documents[RECORD.ref]["examples"][0]


def with_codes(keep: Callable[[str], bool]) -> Bundle:
    """Return the packaged bundle with only some rows of errors, by their symbols."""
    operations, errors = (json.loads((PACKAGED / f"{name}.json").read_text("utf-8")) for name in ("operations", "errors"))
    errors["codes"] = [row for row in errors["codes"] if keep(row["symbol"])]
    return Bundle("edited", BUNDLE.documents, read_tables(operations, errors), [operations, errors])


def nested(depth: int, kind: type = list) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGED / "schemas", tmp_path, dirs_exist_ok=True)
    shutil.copy(PACKAGED / "operations.json", tmp_path)
    shutil.copy(PACKAGED / "errors.json", tmp_path)
    return tmp_path


def edit(path: Path, change: Callable[[Any], object]) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")


class TestContents:
    def test_the_tables_and_the_vocabulary_name_the_same_symbols(self) -> None:
        assert set(BUNDLE.errors) == set(Code)
        assert BUNDLE.further_codes == {}
        assert {BUNDLE.symbol(BUNDLE.code(code)) for code in Code} == set(Code)
        assert {BUNDLE.flag_symbol(BUNDLE.flag(flag)) for flag in Flag} == set(Flag)
        assert len({BUNDLE.reason(reason) for reason in Reason}) == len(Reason)
        assert len({BUNDLE.field(field) for field in Field}) == len(Field)

    def test_what_no_table_names_has_no_symbol(self) -> None:
        assert BUNDLE.symbol("no_such_code") is None
        assert BUNDLE.flag_symbol("no-such-flag") is None

    def test_every_sub_flag_implies_the_core(self) -> None:
        assert {flag: BUNDLE.implied(flag) for flag in Flag} == {flag: () if flag is Flag.CORE else (Flag.CORE,) for flag in Flag}

    def test_an_operation_knows_its_names_and_needs(self) -> None:
        promote = BUNDLE.operations["memory.records.promote"]
        assert (promote.stem, promote.method) == ("records.promote", "records_promote")
        assert promote.needs == (Need("records_write", "record", "write"), Need("records_write", "to_scope", "write"))
        assert BUNDLE.operations["memory.capture"].method == "capture"

    def test_the_rows_count_as_the_contract_does(self) -> None:
        rows = BUNDLE.operations.values()
        assert len(rows) == 33
        by_flag = {flag: sum(row.flag is flag for row in rows) for flag in Flag}
        assert by_flag == {Flag.CORE: 25, Flag.REFLECTION: 3, Flag.TRANSFER: 5, Flag.COGNITION: 0}
        assert sum(row.takes_cognition_filter for row in rows) == 5
        assert sum(row.may_be_pending for row in rows) == 4
        assert all(row.while_frozen for row in rows if not row.mutation)

    @pytest.mark.parametrize("op", BUNDLE.operations)
    def test_the_rows_and_the_schemas_tell_the_same(self, op: str) -> None:
        row = BUNDLE.operations[op]
        request = BUNDLE.schema(BUNDLE.request_ref(op))
        success = BUNDLE.schema(BUNDLE.response_ref(op))["oneOf"][0]
        assert (
            row.mutation
            == ("idempotency_key" in request["properties"])
            == (set(success["properties"]) == {"receipt", "extensions"} and row.mutation)
        )
        assert row.takes_cognition_filter == ("cognition_filter" in request["properties"])
        assert (row.lists is not None) == ("page" in request["properties"]) == ("next_cursor" in success["properties"])
        assert row.lists is None or success["properties"][row.lists]["type"] == "array"
        capabilities = BUNDLE.schema(BUNDLE.model_ref("GrantCapability"))["enum"]
        assert {need.capability for need in row.needs} <= set(capabilities)

    def test_validators_and_the_packaged_bundle_are_built_once(self) -> None:
        assert load() is BUNDLE
        assert BUNDLE.model("RetainedRecord") is RECORD
        assert BUNDLE.validator(RECORD.ref) is RECORD

    def test_a_schema_is_found_by_its_reference(self) -> None:
        assert BUNDLE.schema(RECORD.ref)["title"] == "RetainedRecord"
        assert BUNDLE.schema(BUNDLE.model_ref("Revision"))["minimum"] == 1

    def test_an_unknown_model_or_operation_is_named(self) -> None:
        with pytest.raises(BadBundle, match="titled NoSuchModel"):
            BUNDLE.model_ref("NoSuchModel")
        with pytest.raises(KeyError, match=r"memory\.nothing"):
            BUNDLE.request("memory.nothing")


class TestOtherDirectories:
    def test_a_copy_is_the_same_contract(self, copied: Path) -> None:
        other = load(str(copied))
        assert (other.digest, other.origin) == (BUNDLE.digest, str(copied))
        assert other.documents == BUNDLE.documents

    def test_the_wire_directory_itself_can_be_loaded(self) -> None:
        assert load(PACKAGED).digest == BUNDLE.digest

    def test_tables_that_are_not_there_are_the_packaged_ones(self, copied: Path) -> None:
        (copied / "operations.json").unlink()
        (copied / "errors.json").unlink()
        assert load(copied).digest == BUNDLE.digest

    def test_another_wire_string_changes_the_code_and_the_digest(self, copied: Path) -> None:
        edit(copied / "errors.json", lambda table: table["codes"][5].update(code="BAD_VALUE"))
        other = load(copied)
        assert other.code(Code.INVALID_VALUE) == "BAD_VALUE"
        assert other.symbol("BAD_VALUE") is Code.INVALID_VALUE
        assert other.digest != BUNDLE.digest

    @pytest.mark.parametrize("gone", Code)
    def test_a_contract_may_lack_a_code(self, gone: Code) -> None:
        other = with_codes(lambda symbol: symbol != gone)
        assert {*other.errors} == {*Code} - {gone}
        with pytest.raises(NotInContract, match=f"no error code for {gone}$"):
            other.code(gone)
        assert other.answered(gone).symbol in {*other.errors} - {Code.INTERNAL}
        assert all(other.answered(code) is row for code, row in other.errors.items())

    @pytest.mark.parametrize("left", Code)
    def test_a_contract_of_one_code(self, left: Code) -> None:
        other = with_codes(lambda symbol: symbol == left)
        assert {other.answered(code).symbol for code in Code} == {left}

    @pytest.mark.parametrize("flag", [flag for flag in Flag if flag is not Flag.CORE])
    def test_a_contract_may_lack_a_flag_that_nothing_needs(self, copied: Path, flag: Flag) -> None:
        def without(table: Any) -> None:
            del table["flags"][flag]
            table["operations"] = [
                {**row, "takes_cognition_filter": row["takes_cognition_filter"] and flag is not Flag.COGNITION}
                for row in table["operations"]
                if row["flag"] != flag
            ]

        edit(copied / "operations.json", without)
        other = load(copied)
        assert {*other.flags} == {*Flag} - {flag}
        assert other.flag_symbol(other.flag(flag)) is None
        assert other.implied(flag) == ()

    def test_a_listing_of_codes_that_is_that_of_the_table(self, copied: Path) -> None:
        codes = [row.code for row in BUNDLE.errors.values()]
        shelf = {"definitions": {"A": {"enum": codes[:9]}, "B": {"oneOf": [{"const": code} for code in codes[9:]]}}}
        parts = {"anyOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/B"}], "not": {"enum": ["X"]}}
        edit(copied / ENVELOPE, lambda one: one.update(shelf))
        edit(copied / ENVELOPE, lambda one: one["properties"].update(code={"type": "string", "allOf": [parts, {"minLength": 1}]}))
        load(copied)
        edit(copied / ENVELOPE, lambda one: one["definitions"]["A"]["enum"].pop())
        with pytest.raises(BadBundle, match=f"^errors.json: /codes: the schema ErrorEnvelope admits no code {codes[8]}.$"):
            load(copied)

    def test_another_prefix_and_other_file_names_will_do(self, copied: Path) -> None:
        for path in copied.rglob("*.schema.json"):
            text = path.read_text("utf-8").replace("https://spoke42.invalid/schemas/", "https://example.invalid/v2/")
            path.with_name(f"v2-{path.name}").write_text(text.replace("/memory-records-get-", "/v2-records-get-"), "utf-8")
            path.unlink()
        other = load(copied)
        assert other.model("RetainedRecord").accepts(RECORD_EXAMPLE)
        assert other.request("memory.records.get").ref == "https://example.invalid/v2/ops/v2-records-get-request.schema.json"

    def test_definitions_of_one_name_have_no_name(self, copied: Path) -> None:
        edit(copied / "data/memory-space.schema.json", lambda one: one.update(definitions={"Revision": {"type": "integer"}}))
        with pytest.raises(BadBundle, match="titled Revision"):
            load(copied).model_ref("Revision")


def _put(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        document[path[-1]] = value

    return change


ENVELOPE = "common/error-envelope.schema.json"
SPACE, RECORD_FILE = "data/memory-space.schema.json", "data/memory-record.schema.json"
BROKEN: list[tuple[str, Callable[[Any], Any], str]] = [
    (SPACE, lambda one: one.pop("$id"), "/$id: the document has no $id."),
    (SPACE, _put("$id", value=7), "/$id: the document has no $id."),
    (SPACE, _put("type", value="objekt"), "/type: 'objekt' is not valid under any of the given schemas."),
    (SPACE, _put("properties", "revision", "minimum", value="1"), "/properties/revision/minimum: '1' is not of type 'number'."),
    (SPACE, _put("title", value="RetainedRecord"), f"/title: RetainedRecord is the title of {RECORD_FILE} too."),
    (SPACE, _put("properties", "state", "pattern", value="("), "/properties/state: the pattern '(' cannot be used"),
    (
        SPACE,
        _put("properties", "state", "patternProperties", value={"[": {}}),
        "/properties/state: the pattern '[' cannot be used",
    ),
    (
        SPACE,
        _put("properties", "revision", value={"$ref": "https://elsewhere.invalid/x.json"}),
        "/properties/revision/$ref: nothing in the bundle is named https://elsewhere.invalid/x.json.",
    ),
    (SPACE, _put("properties", "revision", value={"$ref": "#/title"}), "/properties/revision/$ref: #/title is no schema."),
    (
        SPACE,
        _put("properties", "fenced_context_ids", "items", value=[{"not": {"anyOf": [{"$ref": "#/no"}]}}]),
        "/properties/fenced_context_ids/items/0/not/anyOf/0/$ref: nothing in the bundle is named #/no.",
    ),
    (
        "operations.json",
        _put("operations", 3, "kind", value="write"),
        "/operations/3/kind: 'write' is not one of ['read', 'mutation'].",
    ),
    (
        "operations.json",
        _put("operations", 3, "name", value="memory.describe"),
        "/operations: memory.describe stands there 2 times.",
    ),
    ("operations.json", lambda one: one["operations"][3].pop("needs"), "/operations/3: 'needs' is a required property."),
    ("operations.json", _put("flags", "core", "flag", value="spoke-cognition"), "/flags: spoke-cognition stands there 2 times."),
    ("operations.json", lambda one: one["flags"].pop("core"), "/flags: 'core' is a required property."),
    (
        "operations.json",
        _put("operations", 3, "name", value="memory.spaces.melt"),
        "/operations/3: the bundle has no schema for the request of memory.spaces.melt.",
    ),
    ("errors.json", _put("codes", 5, "retry", value="sometimes"), "/codes/5/retry: 'sometimes' is not one of"),
    ("errors.json", _put("codes", 5, "code", value="NOT_FOUND"), "/codes: NOT_FOUND stands there 2 times."),
    ("errors.json", lambda one: one.update(codes=[]), "/codes: no row has a symbol that is known, such as not_found."),
    ("errors.json", lambda one: one["codes"][5].update(operations=[]), "/codes/5: Additional properties are not allowed"),
    ("operations.json", lambda one: one["flags"].pop("transfer"), "/operations/"),
    (ENVELOPE, _put("properties", "code", "enum", value=["X", "NOT_FOUND"]), "/properties/code: errors.json has no row for X."),
    ("errors.json", _put("codes", 5, "symbol", value="not_found"), "/codes: not_found stands there 2 times."),
    ("errors.json", _put("reasons", value=[]), "/reasons: [] is not of type 'object'."),
    ("errors.json", _put("fields", "cognition", value=""), "/fields/cognition: '' should be non-empty."),
]


class TestBrokenBundles:
    @pytest.mark.parametrize(("file", "change", "sentence"), BROKEN, ids=[sentence[:60] for _, _, sentence in BROKEN])
    def test_an_edit_that_breaks_the_bundle_is_told_in_one_sentence(
        self, copied: Path, file: str, change: Callable[[Any], Any], sentence: str
    ) -> None:
        edit(copied / file, change)
        told = self.told(copied)
        assert told.startswith(f"{file}: {sentence}")

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("{", "/: not JSON: "),
            ('{"a": NaN}', "/: not JSON: NaN is no JSON number."),
            ('{"a": 1, "b": {"c": 1, "c": 2}}', "/: not JSON: the member 'c' stands there twice."),
            ("[" * 100_000, "/: not JSON: "),
            ("[]", "/: a schema file holds an object."),
            ("\ufeff{}", "/: not JSON: "),
        ],
    )
    def test_a_file_that_is_no_schema_is_told_in_one_sentence(self, copied: Path, text: str, sentence: str) -> None:
        (copied / SPACE).write_text(text, "utf-8")
        assert self.told(copied).startswith(f"{SPACE}: {sentence}")

    def test_bytes_that_are_no_text(self, copied: Path) -> None:
        (copied / "errors.json").write_bytes(b'{"\xff": 1}')
        assert self.told(copied).startswith("errors.json: /: not JSON: ")

    def test_a_file_that_cannot_be_read(self, copied: Path) -> None:
        (copied / SPACE).unlink()
        (copied / SPACE).mkdir()
        assert self.told(copied).startswith(f"{SPACE}: /: cannot be read: ")

    def test_two_files_of_one_id(self, copied: Path) -> None:
        shutil.copy(copied / SPACE, copied / "data/other.schema.json")
        assert self.told(copied).startswith("data/other.schema.json: /$id: https://")

    def test_a_missing_answer_schema(self, copied: Path) -> None:
        (copied / "ops/memory-recall-response.schema.json").unlink()
        assert self.told(copied) == "operations.json: /operations/21: the bundle has no schema for the response of memory.recall."

    def test_an_empty_directory_and_none(self, tmp_path: Path) -> None:
        assert self.told(tmp_path) == f"{tmp_path}: /: no *.schema.json file in this directory."
        assert self.told(tmp_path / "no") == f"{tmp_path / 'no'}: /: no such directory."

    @staticmethod
    def told(directory: Path) -> str:
        with pytest.raises(BadBundle) as caught:
            load(directory)
        text = str(caught.value)
        assert text.endswith(".")
        assert "\n" not in text
        return text
