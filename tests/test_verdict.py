"""The algebra of results, and their way to JSON and back."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.verdict import (
    EXIT_CODES,
    CheckResult,
    Failure,
    Pair,
    RuleResult,
    RunFacts,
    RunResult,
    Step,
    Verdict,
    worst,
)

FACTS = RunFacts("0.1.0", "d" * 64, "oracle", "oracle 1", "i", ("a", "b"), "quick", 0, "3.11.7")


def check(verdict: Verdict, *, assertions: int = 1, reason: str = "because") -> CheckResult:
    return CheckResult("MEM-R001.x", "MEM-R001", verdict, reason, assertions=assertions)


def rule(*verdicts: Verdict) -> RuleResult:
    return RuleResult("MEM-R001", "Durable envelope", checks=tuple(check(verdict) for verdict in verdicts), absent="no module")


def run(*verdicts: Verdict, trouble: tuple[str, ...] = ()) -> RunResult:
    return RunResult(FACTS, tuple(rule(verdict) for verdict in verdicts), trouble=trouble)


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (Verdict.PASS, 0),
        (Verdict.FAIL, 1),
        (Verdict.INCONCLUSIVE, 2),
        (Verdict.NOT_APPLICABLE, 2),
        (Verdict.DESELECTED, 2),
        (Verdict.SUITE_ERROR, 3),
    ],
)
def test_every_verdict_has_its_exit_code(verdict: Verdict, code: int) -> None:
    assert run(verdict).exit_code() == code


def test_of_two_rules_the_worse_exit_code_wins_three_before_one_before_two() -> None:
    severity = [0, 2, 1, 3]
    decisive = (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.FAIL, Verdict.SUITE_ERROR)
    for one, other in product(decisive, repeat=2):
        expected = max(EXIT_CODES[one], EXIT_CODES[other], key=severity.index)
        assert run(one, other).exit_code() == expected


def test_a_rule_that_was_not_chosen_or_not_applicable_spoils_nothing() -> None:
    assert run(Verdict.PASS, Verdict.DESELECTED, Verdict.NOT_APPLICABLE).verdict is Verdict.PASS
    assert run(Verdict.NOT_APPLICABLE, Verdict.DESELECTED).verdict is Verdict.NOT_APPLICABLE
    assert RunResult(FACTS, ()).exit_code() == 2


def test_trouble_with_the_run_outweighs_everything() -> None:
    assert run(Verdict.FAIL, trouble=("a worker died",)).exit_code() == 3


def test_a_rule_without_an_executed_assertion_never_passes() -> None:
    empty = RuleResult("MEM-R001", "x", checks=(check(Verdict.PASS, assertions=0),))
    assert empty.verdict is Verdict.INCONCLUSIVE
    assert rule(Verdict.PASS).verdict is Verdict.PASS


def test_a_rule_without_checks_is_what_its_absence_says() -> None:
    assert rule().verdict is Verdict.INCONCLUSIVE
    assert rule().reason == "no module"
    assert RuleResult("MEM-R001", "x", absence=Verdict.DESELECTED).verdict is Verdict.DESELECTED


def test_a_rule_tells_the_reason_of_its_verdict_and_adds_up() -> None:
    mixed = RuleResult("MEM-R001", "x", checks=(check(Verdict.PASS, reason=""), check(Verdict.FAIL, reason="broken")))
    assert (mixed.verdict, mixed.reason, mixed.passed, mixed.assertions) == (Verdict.FAIL, "broken", 1, 2)


@given(st.lists(st.sampled_from(list(Verdict)), min_size=1))
def test_the_worst_is_one_of_them_and_does_not_depend_on_their_order(verdicts: list[Verdict]) -> None:
    found = worst(verdicts, none=Verdict.PASS)
    assert found in verdicts
    assert worst(reversed(verdicts), none=Verdict.PASS) is found
    assert worst([*verdicts, Verdict.SUITE_ERROR], none=Verdict.PASS) is Verdict.SUITE_ERROR


def test_a_result_goes_to_json_and_comes_back_equal() -> None:
    failed = CheckResult(
        "MEM-R001.x[\ud800]",
        "MEM-R001",
        Verdict.FAIL,
        "broken",
        sentence="It holds.",
        failure=Failure("broken", {"a": [1]}, None, "/a/0"),
        trace=(Step("root", "memory.describe", {}, {"error": {"code": "x"}}),),
        seen=(Pair("memory.describe", "x", 2),),
    )
    whole = RunResult(FACTS, (RuleResult("MEM-R001", "x", "It holds.", (failed, check(Verdict.PASS))), rule()), 1.5, ("odd",))
    assert RunResult.of_json(json.loads(json.dumps(whole.to_json()))) == whole


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="format 2"):
        RunResult.of_json({**run(Verdict.PASS).to_json(), "format": 2})
