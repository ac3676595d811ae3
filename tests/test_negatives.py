"""Negatives: every target of every request schema is reached, and each edit breaks what it says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.wire.bundle import Bundle, Problem, load
from conformance.wire.canonical import canonical, same
from conformance.wire.vocabulary import Reason
from strategies import breakers
from strategies.breakers import BREAKERS
from strategies.negatives import Edit, Target, breaking, edits_of, targets
from strategies.proof import also_broken, cleanly_broken
from tests.other_bundle import OTHER_OP, other_bundle_in
from tests.sampling import plainest, some

BUNDLE = load()
TARGETS = targets(BUNDLE)


# The list -----------------------------------------------------------------------------------------------------------------


def test_the_list_is_complete_and_says_nothing_twice() -> None:
    assert len(set(TARGETS)) == len(TARGETS)
    assert {target.op for target in TARGETS} == set(BUNDLE.operations)
    assert {target.keyword for target in TARGETS} <= set(BREAKERS)


def test_the_list_has_every_assertion_of_a_request_schema() -> None:
    # counted by an own, plainer walk over the schemas: members, items, branches and conditions, references followed
    counted = Counter(keyword for op in BUNDLE.operations for keyword in _assertions(BUNDLE.schema(BUNDLE.request_ref(op))))
    listed = Counter(target.keyword for target in TARGETS)
    assert listed == counted


def _assertions(schema: Any) -> Iterator[str]:
    if schema is False:
        yield "false"
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield from _assertions(BUNDLE.schema(schema["$ref"]))
        return
    for keyword, value in schema.items():
        if keyword == "required":
            yield from (keyword for _ in value)
        elif keyword in BREAKERS and not (keyword == "additionalProperties" and value is not False):
            yield keyword
        for inner in _inner(keyword, value):
            yield from _assertions(inner)


def _inner(keyword: str, value: Any) -> list[Any]:
    if keyword == "properties":
        return list(value.values())
    if keyword in ("oneOf", "anyOf", "allOf"):
        return list(value)
    if keyword in ("items", "propertyNames", "then", "else"):
        return [value]
    return [value] if keyword == "additionalProperties" and value is not False else []


def test_the_cognition_filter_s_strangers_are_labelled_with_their_reason() -> None:
    labelled = [target for target in TARGETS if target.reason is not None]
    filtering = [op for op, row in BUNDLE.operations.items() if row.takes_cognition_filter]
    assert {target.reason for target in labelled} == {Reason.UNSUPPORTED_COGNITION}
    assert Counter(target.op for target in labelled) == dict.fromkeys(filtering, 2)
    assert {(target.pointer, target.keyword) for target in labelled} == {
        ("/cognition_filter", "additionalProperties"),
        ("/cognition_filter/dimension", "enum"),
    }


def test_what_the_schemas_leave_open_is_no_target() -> None:
    pointers = {target.pointer for target in TARGETS}
    assert not any("/cognition/" in pointer or pointer.endswith(("/cognition", "/structured")) for pointer in pointers)
    assert not any(pointer.startswith("/chunk/items/*/") for pointer in pointers)


# The edits ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", BUNDLE.operations)
def test_every_target_is_reached_by_an_edit_that_breaks_it(op: str) -> None:
    aimed = [target for target in TARGETS if target.op == op]
    reached = 0
    for target in aimed:
        edits = some(breaking(BUNDLE, target), 2)
        reached += bool(edits)
        for edit in edits:
            prove(edit)
    print(f"{op}: {len(aimed)} targets, {reached} reached")  # noqa: T201  # the figure that pytest -s shows
    assert reached == len(aimed)


def prove(edit: Edit) -> None:
    """Check an edit with the slow validator, which explains: the named keyword at the named place, and what ``also`` lists."""
    validator = BUNDLE.request(edit.target.op)
    assert validator.accepts(edit.valid_base)
    assert json.loads(json.dumps(edit.request)) == edit.request
    assert canonical(edit.request)
    problems = validator.problems(edit.request)
    assert problems, edit
    if not edit.also:
        assert len({_location(problem) for problem in problems}) == 1, (edit, problems)
        assert is_named(edit.target, problems[0]), (edit, problems)
    else:
        assert any(is_named(edit.target, problem) for problem in problems), (edit, problems)


def _location(problem: Problem) -> str:
    """Say where a problem is; what several branches say of one value is one fault."""
    return problem.schema_pointer.partition("/oneOf/")[0].partition("/anyOf/")[0]


def is_named(target: Target, problem: Problem) -> bool:
    """Tell whether a problem is the target's keyword, or the combinator around it where no branch could be told as meant."""
    own = target.schema_pointer
    exact = problem.schema_pointer == own and problem.keyword == target.keyword
    around = problem.keyword in ("oneOf", "anyOf") and own.startswith(f"{problem.schema_pointer}/")
    inside = target.keyword in ("oneOf", "anyOf") and problem.schema_pointer.startswith(own)
    sibling = "oneOf/" in own and problem.schema_pointer.partition("oneOf/")[0] == own.partition("oneOf/")[0]
    return exact or around or inside or sibling


UNAVOIDABLE = {
    # a value of another type is none of the listed ones
    ("type", ("enum",)),
    ("type", ("const",)),
    # a text of another form is no date either
    ("pattern", ("format",)),
    # a target whose type cannot be told is taken for a context's by the condition, which forbids a revision
    ("const", ("false",)),
    ("required", ("false",)),
    ("type", ("const", "false")),
    # no target at all is taken for a subject's, which needs a revision
    ("type", ("required",)),
}


@pytest.mark.parametrize(
    "target", [one for one in TARGETS if one.op in ("memory.subjects.fence", "memory.imports.stage")], ids=str
)
def test_where_an_edit_breaks_more_it_could_not_be_avoided(target: Target) -> None:
    least = min(some(breaking(BUNDLE, target), 5), key=lambda edit: len(edit.also))
    assert least.also == () or (target.keyword, least.also) in UNAVOIDABLE, least


def test_an_edit_is_one_edit() -> None:
    for target in TARGETS[:: len(TARGETS) // 12]:
        edit = plainest(breaking(BUNDLE, target))
        changed = set(edit.request) ^ set(edit.valid_base) if isinstance(edit.request, dict) else {""}
        changed |= {
            name
            for name in (edit.request if isinstance(edit.request, dict) else ())
            if name in edit.valid_base and not same(edit.request[name], edit.valid_base[name])
        }
        assert len(changed) == 1, edit


def target_of(op: str, pointer: str, keyword: str) -> Target:
    return next(target for target in TARGETS if (target.op, target.pointer, target.keyword) == (op, pointer, keyword))


def test_the_plainest_edit_is_plain() -> None:
    edit = plainest(breaking(BUNDLE, target_of("memory.subjects.get", "/subject_id", "maxLength")))
    assert edit.valid_base == {"space_id": "a", "subject_id": "a"}
    assert edit.request == {"space_id": "a", "subject_id": "a" * 129}
    assert edit.also == ()


def test_fixed_members_stand_as_given_but_for_the_broken_place() -> None:
    fixed = {"space_id": "the space", "record_id": "the record", "expected_revision": 7, "unknown to the schema": 1}
    edits = some(breaking(BUNDLE, target_of("memory.records.delete", "/record_id", "type"), fixed=fixed), 20)
    for edit in edits:
        assert edit.valid_base["record_id"] == "the record"
        assert edit.valid_base["expected_revision"] == edit.request["expected_revision"] == 7
        assert edit.request["space_id"] == "the space"
        assert not isinstance(edit.request["record_id"], str)
        assert "unknown to the schema" not in edit.request


def test_a_fixed_member_that_the_way_excludes_is_left_out() -> None:
    target = target_of("memory.subjects.fence", "/target/context_id", "minLength")
    fixed = {"target": {"type": "subject", "subject_id": "a"}, "expected_revision": 1, "idempotency_key": "k"}
    edit = plainest(breaking(BUNDLE, target, fixed=fixed))
    assert edit.request["idempotency_key"] == "k"
    assert edit.request["target"] == {"type": "context", "context_id": ""}


def test_the_edits_of_one_request_are_clean_and_of_that_request() -> None:
    base = {"space_id": "s", "subject_id": "u", "extensions": {"a": {}}}
    pointers = {"/subject_id": "maxLength", "/extensions": "pattern", "": "additionalProperties"}
    for where, keyword in pointers.items():
        edits = list(edits_of(BUNDLE, target_of("memory.subjects.get", where, keyword), base, sample=str))
        assert len(edits) > 2
        assert all(edit.valid_base is base and edit.also == () for edit in edits)
    assert not list(edits_of(BUNDLE, target_of("memory.subjects.get", "/extensions/*", "type"), {**base, "extensions": {}}, str))


@pytest.mark.parametrize("value", [1, 1.0, "a", None, True, [], {}])
def test_a_wrong_type_is_wrong_under_every_reading(value: Any) -> None:
    for name in ("integer", "number", "string", "boolean", "null", "array", "object"):
        validator = BUNDLE.model("Revision") if name == "integer" else None
        for wrong in breakers.BREAKERS["type"](name, value, None):  # type: ignore[arg-type]  # the surroundings say nothing of types
            assert not (name == "integer" and isinstance(wrong, float) and wrong.is_integer())
            assert not (name == "boolean" and isinstance(wrong, bool))
            assert validator is None or not validator.accepts(wrong)


def test_two_faults_are_both_told() -> None:
    both_missing = target_of("memory.records.update", "", "anyOf").site
    broken = {"space_id": 1, "idempotency_key": "k", "expected_revision": 1, "record_id": "r"}
    assert cleanly_broken(BUNDLE, "memory.records.update", both_missing, broken) is None
    assert also_broken(BUNDLE, "memory.records.update", both_missing, (), broken) == ("type",)
    assert also_broken(BUNDLE, "memory.records.update", both_missing, (), {**broken, "kind": "a"}) is None


# A bundle of another kind -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def other_bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return other_bundle_in(tmp_path_factory.mktemp("bundle"))


def test_every_keyword_of_draft_07_can_be_broken(other_bundle: Bundle) -> None:
    found = {target.keyword for target in targets(other_bundle)}
    assert set(BREAKERS) - found == set()
    for target in targets(other_bundle):
        if target.op == OTHER_OP:
            assert some(breaking(other_bundle, target), 2), (target, target.schema_pointer)
