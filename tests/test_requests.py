"""Requests, selections, budgets, placements and histories."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.wire.bundle import load
from strategies import selections, sequences
from strategies.requests import requests
from strategies.vocabulary import record_sources, selection_modes
from tests.sampling import CALM, plainest, reached, some

BUNDLE = load()


@pytest.mark.parametrize("op", BUNDLE.operations)
def test_every_request_is_valid(op: str) -> None:
    drawn = some(requests(BUNDLE, op), 15)
    assert drawn
    assert all(BUNDLE.request(op).accepts(request) for request in drawn)


@pytest.mark.parametrize("op", BUNDLE.operations)
def test_fixed_members_stand_in_a_valid_request(op: str) -> None:
    required = BUNDLE.schema(BUNDLE.request_ref(op)).get("required", ())
    fixed = {name: "given" for name in ("space_id", "idempotency_key", "record_id", "candidate_id") if name in required}
    drawn = some(requests(BUNDLE, op, fixed=fixed), 10)
    assert drawn
    assert all(BUNDLE.request(op).accepts(request) for request in drawn)
    assert all(request[name] == "given" for request in drawn for name in fixed)


def test_a_fixed_member_may_be_a_strategy() -> None:
    drawn = some(requests(BUNDLE, "memory.subjects.get", fixed={"subject_id": st.sampled_from(("u", "U"))}), 20)
    assert {request["subject_id"] for request in drawn} == {"u", "U"}


@pytest.mark.parametrize(
    ("op", "fixed"),
    [
        ("memory.imports.stage", {"import_id": "i"}),
        ("memory.subjects.fence", {"target": {"type": "context", "context_id": "c"}}),
        ("memory.subjects.fence", {"target": {"type": "subject", "subject_id": "u"}, "expected_revision": 1}),
        ("memory.records.update", {"content": {"text": ""}}),
    ],
)
def test_what_is_drawn_gives_way_to_what_is_fixed(op: str, fixed: dict[str, Any]) -> None:
    drawn = some(requests(BUNDLE, op, fixed=fixed), 10)
    assert len(drawn) == 10
    assert all(BUNDLE.request(op).accepts(request) for request in drawn)
    assert all(request[name] == value for request in drawn for name, value in fixed.items())


def test_the_plainest_request_is_plain() -> None:
    assert plainest(requests(BUNDLE, "memory.subjects.get")) == {"space_id": "a", "subject_id": "a"}
    assert plainest(requests(BUNDLE, "memory.subjects.get", fixed={"space_id": "s"})) == {"space_id": "s", "subject_id": "a"}


def test_an_unknown_operation_has_no_requests() -> None:
    with pytest.raises(KeyError):
        requests(BUNDLE, "memory.nothing")


# Selections, filters, budgets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contexts", [(), ("c",), ("c", "C", "d", "e", "f")])
def test_selections_and_scopes_are_valid(contexts: tuple[str, ...]) -> None:
    @CALM
    @given(selections.selections("u", contexts), selections.scopes("u", contexts))
    def check(selection: dict[str, Any], scope: dict[str, Any]) -> None:
        assert BUNDLE.model("ReadSelection").accepts(selection)
        assert BUNDLE.model("PlacementScope").accepts(scope)
        assert isinstance(selections.selects(selection, scope), bool)

    check()


def test_every_mode_of_selection_is_drawn() -> None:
    assert set(selections.NAMING_MODES + selections.BARE_MODES) == set(selection_modes())
    modes = {selection["mode"] for selection in some(selections.selections("u", ("c",)), 60)}
    assert modes == set(selection_modes())
    assert plainest(selections.selections("u", ("c",))) == {"subject_id": "u", "mode": "all_authorized"}


SHARED = {"subject_id": "u"}
IN_C = {"subject_id": "u", "context_id": "c"}
IN_D = {"subject_id": "u", "context_id": "d"}
ELSEWHERE = {"subject_id": "U", "context_id": "c"}


@pytest.mark.parametrize(
    ("mode", "selected"),
    [
        ("contexts", [IN_C]),
        ("shared", [SHARED]),
        ("contexts_and_shared", [IN_C, SHARED]),
        ("all_authorized", [IN_C, SHARED, IN_D]),
    ],
)
def test_a_selection_means_its_placements(mode: str, selected: list[dict[str, Any]]) -> None:
    named = {"context_ids": ["c"]} if mode in selections.NAMING_MODES else {}
    selection = {"subject_id": "u", "mode": mode, **named}
    for scope in (SHARED, IN_C, IN_D, ELSEWHERE):
        assert selections.selects(selection, scope) == (scope in selected)


@CALM
@given(selections.provenance_filters(), selections.provenance_filters(("c", "C")))
def test_provenance_filters_are_valid(free: dict[str, Any], named: dict[str, Any]) -> None:
    assert BUNDLE.model("ProvenanceFilter").accepts(free)
    assert BUNDLE.model("ProvenanceFilter").accepts(named)
    assert set(named.get("source_context_ids", ())) <= {"c", "C"}


def test_a_provenance_filter_is_a_conjunction_that_looks_at_provenance_only() -> None:
    first, second = record_sources()[:2]
    provenance = {"source": first, "source_context_id": "c"}
    assert selections.passes(provenance, {"sources": [first], "source_context_ids": ["c", "d"]})
    assert not selections.passes(provenance, {"sources": [second], "source_context_ids": ["c"]})
    assert not selections.passes(provenance, {"sources": [first], "source_context_ids": ["C"]})
    assert not selections.passes({"source": first}, {"source_context_ids": ["c"]})


SIZES = (11, 30, 500)


def test_budgets_lie_on_and_beside_the_sums() -> None:
    edges = set(selections.byte_edges(SIZES))
    assert {1, 10, 11, 12, 29, 30, 31, 40, 41, 42, 540, 541, 542, 499, 500, 501, 529, 530, 531} <= edges
    assert min(edges) == 1


@CALM
@given(selections.budgets(SIZES), selections.budgets(()))
def test_budgets_are_valid(budget: dict[str, int], of_nothing: dict[str, int]) -> None:
    members = {"space_id": "s", "selection": {"subject_id": "u", "mode": "shared"}}
    assert BUNDLE.request("memory.recall").accepts({**members, "budget": budget})
    assert BUNDLE.request("memory.recall").accepts({**members, "budget": of_nothing})


# Histories ----------------------------------------------------------------------------------------------------------------


class Names:
    """Stands in for the receipts of a run: every object has the name that its symbol spells."""

    def __call__(self, symbol: sequences.Symbol) -> Any:
        if isinstance(symbol, sequences.Made):
            return f"{symbol.kind}{symbol.index}"
        return 2 + symbol.off


CAST = sequences.Cast(("u", "U"), ("c",), callers=2)


@settings(CALM, max_examples=40)
@given(sequences.histories(CAST, off=st.sampled_from((0, -1, 1))))
def test_a_history_is_of_valid_calls_that_speak_of_what_was_made(history: tuple[sequences.Step, ...]) -> None:
    made: Counter[str] = Counter()
    for step in history:
        verb = sequences.VERBS[step.stem]
        for symbol in step.members.values():
            if isinstance(symbol, sequences.Made):
                assert symbol.index < made[symbol.kind]
        made[verb.makes or ""] += 1
        request = {"space_id": "s", "idempotency_key": "k", **sequences.resolved(dict(step.members), Names())}
        assert BUNDLE.request(f"memory.{step.stem}").accepts(request), request
        assert step.caller in (0, 1)


def test_the_plainest_history_is_empty() -> None:
    assert plainest(sequences.histories()) == ()


def test_what_nothing_was_made_for_is_not_called() -> None:
    assert set(some(sequences.histories(verbs=("records.update", "records.delete")), 10)) == {()}


@pytest.mark.parametrize("stem", sequences.VERBS)
def test_every_verb_is_a_mutation_and_is_reached(stem: str) -> None:
    assert BUNDLE.operations[f"memory.{stem}"].mutation
    verbs = tuple(
        verb for verb in sequences.VERBS if verb == stem or sequences.VERBS[verb].makes == (sequences.VERBS[stem].on or "")
    )
    history = reached(sequences.histories(CAST, verbs=verbs), lambda drawn: any(step.stem == stem for step in drawn))
    assert stem in {step.stem for step in history}


def test_symbols_are_replaced_at_every_depth() -> None:
    symbol = sequences.Made("record", 1)
    members = {"a": [{"b": symbol}], "c": sequences.RevisionOf(symbol, -1), "d": "as it is"}
    assert sequences.resolved(members, Names()) == {"a": [{"b": "record1"}], "c": 1, "d": "as it is"}
