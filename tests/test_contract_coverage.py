"""What a run exercised of the contract, and what it did not."""

from __future__ import annotations

from dataclasses import replace

from conformance.contract_coverage import contract_coverage, exercises
from conformance.exchange import Exercise
from conformance.verdict import CheckResult, Pair, RuleResult, RunFacts, RunResult, Verdict
from conformance.wire import bundle

CONTRACT = bundle.load()
FACTS = RunFacts("0", "d", "oracle", "oracle 1", "i", (), "quick", 0, "3.11")
CREATE = "memory.records.create"
HELD = Exercise(CREATE, "records_write", "subject", held=True)


def run_of(*checks: CheckResult) -> RunResult:
    return RunResult(FACTS, (RuleResult("MEM-R010", "t", checks=checks),))


def test_answers_are_counted_by_operation_code_and_rule() -> None:
    seen = (Pair(CREATE, "", 2), Pair(CREATE, "NOT_FOUND", 1))
    check = CheckResult("MEM-R010.a", "MEM-R010", Verdict.PASS, seen=seen, exercised=(HELD,))
    found = contract_coverage(run_of(check, replace(check, check_id="MEM-R010.b", seen=seen[:1])), CONTRACT)
    assert found.answers == {CREATE: {"": {"MEM-R010": 4}, "NOT_FOUND": {"MEM-R010": 1}}}
    assert CREATE not in found.missing_operations
    assert len(found.missing_operations) == 32
    assert "NOT_FOUND" not in found.missing_codes
    assert "INVALID_INPUT" in found.missing_codes
    assert "internal_error" not in found.missing_codes
    assert HELD not in found.missing_exercises
    assert HELD._replace(held=False) in found.missing_exercises


def test_only_refused_operations_are_missing() -> None:
    check = CheckResult("MEM-R010.a", "MEM-R010", Verdict.PASS, seen=(Pair(CREATE, "NOT_FOUND", 1),))
    assert CREATE in contract_coverage(run_of(check), CONTRACT).missing_operations


def test_every_need_of_the_table_is_an_exercise_held_and_lacking() -> None:
    listed = list(exercises(CONTRACT))
    assert len(set(listed)) == len(listed)
    for operation in CONTRACT.operations.values():
        for need in operation.needs:
            for held in (True, False):
                assert Exercise(operation.name, need.capability, "capability", held) in listed
    assert Exercise("memory.spaces.freeze", "admin", "space", held=False) in listed
    assert Exercise("memory.profile.update", "profile_write", "subject", held=False) in listed
    assert {one.dimension for one in listed if one.op == CREATE} == {"capability", "subject", "context", "shared"}
