"""The compiler over the packaged bundle: always valid, every branch and option reached, next to nothing discarded."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from conformance.wire import bundle as bundles
from conformance.wire.bundle import Bundle
from strategies.branches import reached
from strategies.from_schema import Branch, branches, compiled, from_schema
from strategies.schema_source import SchemaSource
from tests.drawing import drawn

BUNDLE = bundles.load()
EXAMPLES = 32
BATCHES = 60


def _receipts_only() -> set[str]:
    """Name the responses that hold a receipt and nothing else; they are the same but for their names, so one is measured."""
    mutations = [BUNDLE.response_ref(name) for name, row in BUNDLE.operations.items() if row.mutation]
    return set(mutations[1:])


ALIKE = _receipts_only()
MEASURED = [ref for ref in BUNDLE.documents if ref not in ALIKE]


def _name(ref: str) -> str:
    return ref.rsplit("/", 1)[-1].removesuffix(".schema.json")


def _own(ref: str) -> set[Branch]:
    """Give the branches to reach: of an answer, those that it says itself, because the models in it are measured alone."""
    found = branches(BUNDLE, ref)
    return {branch for branch in found if not ref.endswith("-response.schema.json") or branch.where.startswith(ref)}


def _values_until_all_is_reached(ref: str) -> tuple[int, set[Branch]]:
    """Draw in batches, each value valid, until nothing is missing; give how many values it took and what is missing then."""
    source, missing = SchemaSource(BUNDLE.registry), _own(ref)
    for batch in range(BATCHES):
        values = drawn(compiled(BUNDLE, ref), EXAMPLES, start=batch * EXAMPLES)
        assert [value for value in values if not BUNDLE.validator(ref).accepts(value)] == []
        missing -= reached(source, ref, values)
        if not missing:
            break
    return (batch + 1) * EXAMPLES, missing


@pytest.mark.parametrize("ref", MEASURED, ids=_name)
def test_a_document_is_drawn_valid_and_every_branch_is_reached(ref: str, record_property: Callable[[str, object], None]) -> None:
    total = len(_own(ref))
    values, missing = _values_until_all_is_reached(ref)
    record_property("branches", f"{total - len(missing)}/{total} in {values} values")
    assert missing == set()


@pytest.mark.parametrize("ref", sorted(ALIKE), ids=_name)
def test_the_other_answers_of_a_receipt_are_drawn_valid(ref: str) -> None:
    values = drawn(compiled(BUNDLE, ref), 24)
    assert [value for value in values if not BUNDLE.validator(ref).accepts(value)] == []


@pytest.mark.parametrize("name", sorted(BUNDLE.documents[BUNDLE.model_ref("Common")]["definitions"]))
def test_each_common_definition_is_drawn_valid(name: str) -> None:
    values = drawn(compiled(BUNDLE, BUNDLE.model_ref(name)), 48)
    assert [value for value in values if not BUNDLE.model(name).accepts(value)] == []


def test_the_branches_of_a_selection_are_those_that_a_reader_finds() -> None:
    found = {(branch.pointer, branch.kind, branch.label) for branch in branches(BUNDLE, BUNDLE.model_ref("ReadSelection"))}
    assert found == {
        ("/mode", "value", '"contexts"'),
        ("/mode", "value", '"shared"'),
        ("/mode", "value", '"contexts_and_shared"'),
        ("/mode", "value", '"all_authorized"'),
        ("/context_ids", "present", "context_ids"),
        ("/context_ids", "absent", "context_ids"),
        ("/context_ids", "size", "one"),
        ("/context_ids", "size", "several"),
        ("", "condition", "then"),
        ("", "condition", "else"),
    }


def test_a_branch_that_no_value_takes_is_missing() -> None:
    ref = BUNDLE.model_ref("ReadSelection")
    taken = reached(SchemaSource(BUNDLE.registry), ref, [{"subject_id": "a", "mode": "shared"}])
    assert {(branch.kind, branch.label) for branch in taken} == {
        ("value", '"shared"'),
        ("absent", "context_ids"),
        ("condition", "else"),
    }


DISCARDING = (
    "RetainedRecord", "MemoryCandidate", "MemoryGrant", "MemoryReceipt", "MemorySpace", "CognitionRecord",
    "MemoryCaptureRequest", "MemoryCandidatesReviewRequest", "MemoryRecordsListRequest", "MemorySubjectsFenceRequest",
    "MemoryGrantsGrantRequest", "MemoryRecordsListResponse",
)  # fmt: skip


def _begun_and_got(title: str, examples: int) -> tuple[int, int]:
    begun: list[None] = []
    got: list[None] = []

    @seed(7)
    @settings(
        max_examples=examples, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.builds(lambda: begun.append(None)), compiled(BUNDLE, BUNDLE.model_ref(title)))
    def count(_: None, value: object) -> None:
        got.append(None)

    count()
    return len(begun), len(got)


def test_less_than_two_in_a_hundred_examples_are_discarded() -> None:
    counts = [_begun_and_got(title, 100) for title in DISCARDING]
    begun, got = sum(one[0] for one in counts), sum(one[1] for one in counts)
    assert (begun - got) / begun < 0.02


def test_the_same_reference_gives_the_same_strategy() -> None:
    ref = BUNDLE.model_ref("RetainedRecord")
    assert compiled(BUNDLE, ref) is compiled(BUNDLE, ref)


def test_a_schema_of_its_own_may_refer_to_the_bundle() -> None:
    schema = {"type": "array", "items": {"$ref": BUNDLE.model_ref("Id")}, "minItems": 2, "uniqueItems": True}
    values = drawn(from_schema(BUNDLE, schema), 36)
    assert all(len(value) >= 2 and all(BUNDLE.model("Id").accepts(one) for one in value) for value in values)


def test_another_bundle_has_strategies_of_its_own() -> None:
    other = Bundle("other", BUNDLE.documents, BUNDLE._tables, BUNDLE._raw_tables)
    ref = BUNDLE.model_ref("Id")
    assert compiled(other, ref) is not compiled(BUNDLE, ref)


def test_what_is_drawn_may_be_changed_without_changing_what_is_drawn_next() -> None:
    strategy = from_schema(None, {"enum": [{"a": []}, {"a": [1]}]})
    for value in drawn(strategy, 24):
        assert value in ({"a": []}, {"a": [1]})
        value["a"].append("changed")


@pytest.mark.parametrize("title", ["RetainedRecord", "MemoryExportChunk", "MemoryExportsGetResponse"])
def test_a_strategy_prints_in_a_line(title: str) -> None:
    assert len(repr(compiled(BUNDLE, BUNDLE.model_ref(title)))) < 200
