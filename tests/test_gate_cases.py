"""The gate's bars: more than a hundred small changes of a schema, each classed right, with a witness for each difference."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from jsonschema import Draft7Validator

from conformance.gate.containment import Broken
from conformance.wire.bundle import is_timestamp
from tests.gate_pairs import Case, cases, judged

CASES = cases()
LONGEST_WITNESS = 200


def accepts(schema: Any, instance: Any) -> bool:
    """Judge by the plain library alone: nothing of the gate is in it."""
    checker = Draft7Validator.FORMAT_CHECKER
    assert checker.conforms("x", "date-time") is is_timestamp("x")
    return Draft7Validator(schema, format_checker=checker).is_valid(instance)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_is_classed_as_what_it_is_and_each_difference_has_a_witness(case: Case) -> None:
    found = judged(case.old, case.new)
    assert (found.relation, found.narrowed.unknown, found.widened.unknown) == (case.relation, (), ())
    for contained, given, judge in ((found.narrowed, case.old, case.new), (found.widened, case.new, case.old)):
        for broken in contained.broken:
            shows(broken, given, judge)
        if not contained.broken:
            evidence = contained.evidence
            assert evidence.shown in ("same form", "every rule", "no instance")
            assert 0 < evidence.accepted == evidence.tried


def shows(broken: Broken, given: Any, judge: Any) -> None:
    instance = broken.witness.instance
    assert accepts(given, instance)
    assert not accepts(judge, instance)
    assert broken.witness.message
    assert len(json.dumps(instance)) <= LONGEST_WITNESS


def test_there_are_enough_cases_of_every_relation() -> None:
    counts = Counter(case.relation for case in CASES)
    assert len(CASES) >= 60
    assert all(counts[relation] >= 8 for relation in ("same", "wider", "narrower", "other")), counts
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", [case for case in CASES if case.relation in ("wider", "narrower")], ids=lambda case: case.name)
def test_a_change_taken_back_is_the_opposite(case: Case) -> None:
    opposite = {"wider": "narrower", "narrower": "wider"}[case.relation]
    assert judged(case.new, case.old, examples=1).relation == opposite
