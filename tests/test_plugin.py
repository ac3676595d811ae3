"""The pytest plugin: what ends a check becomes its verdict, whatever way pytest is called."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from conformance.plugin import PROPERTY
from conformance.verdict import CheckResult, Verdict

pytest_plugins = ("pytester",)

HEAD = """
from __future__ import annotations
import time
import pytest
from hypothesis import given, strategies as st
from conformance.bench import Bench
from conformance.errors import SuiteFault, TargetFault
from conformance.expect import CheckFailed, Inconclusive, NotApplicable
from conformance.wire.vocabulary import Flag

def ok(bench):
    world = bench.world()
    world.expect(True, "it holds")
    return world
"""

Run = Callable[..., Mapping[str, CheckResult]]


class Listener:
    """Keeps the results that reports carry, and pytest's own outcomes."""

    def __init__(self) -> None:
        self.results: dict[str, CheckResult] = {}
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid.partition("::test_")[2]] = report.outcome
        for name, value in report.user_properties:
            if name == PROPERTY:
                result = CheckResult.of_json(json.loads(str(value)))
                self.results[result.check_id.partition(".")[2]] = result


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def run(pytester: pytest.Pytester, listener: Listener) -> Run:
    """Write a rule module with these checks, run it, and return the results by name."""

    def go(checks: str, *options: str, target: str = "oracle") -> Mapping[str, CheckResult]:
        Path("test_mem_r016_revision_cas.py").write_text(HEAD + dedent(checks), "utf-8")
        common = ("-p", "conformance.plugin", "-p", "no:schemathesis", "-p", "no:cacheprovider", "--import-mode=importlib")
        pytester.inline_run(*common, "--target", target, "--profile", "quick", *options, plugins=[listener])
        return listener.results

    return go


def verdicts(results: Mapping[str, CheckResult]) -> dict[str, str]:
    return {name: str(result.verdict) for name, result in results.items()}


ENDINGS = '''
def test_passes(bench: Bench) -> None:
    """It holds. Whatever
    happens.

    And more."""
    ok(bench)

def test_asserts_nothing(bench: Bench) -> None:
    bench.world()

def test_has_no_bench() -> None:
    pass

def test_broken(bench: Bench) -> None:
    ok(bench).same({"a": [1, 2]}, {"a": [1, 3]}, "the lists agree")

def test_provider_fault(bench: Bench) -> None:
    raise TargetFault("no JSON")

def test_suite_fault(bench: Bench) -> None:
    raise SuiteFault("our own request")

def test_plain_assert(bench: Bench) -> None:
    assert 1 == 2

def test_crash(bench: Bench) -> None:
    {}["missing"]

def test_inconclusive(bench: Bench) -> None:
    ok(bench)
    raise Inconclusive("no clock here")

def test_not_applicable(bench: Bench) -> None:
    raise NotApplicable("no such flag")

@pytest.mark.parametrize("name", ["a", "b"])
def test_many(bench: Bench, name: str) -> None:
    ok(bench).expect(name == "a", "only a")
'''

EXPECTED = {
    "passes": "PASS",
    "asserts_nothing": "INCONCLUSIVE",
    "has_no_bench": "INCONCLUSIVE",
    "broken": "FAIL",
    "provider_fault": "FAIL",
    "suite_fault": "SUITE_ERROR",
    "plain_assert": "SUITE_ERROR",
    "crash": "SUITE_ERROR",
    "inconclusive": "INCONCLUSIVE",
    "not_applicable": "NOT_APPLICABLE",
    "many[a]": "PASS",
    "many[b]": "FAIL",
}
OUTCOMES = {"PASS": "passed", "FAIL": "failed", "SUITE_ERROR": "failed", "INCONCLUSIVE": "skipped", "NOT_APPLICABLE": "skipped"}


def test_what_ends_a_check_is_its_verdict(run: Run, listener: Listener) -> None:
    assert verdicts(run(ENDINGS)) == EXPECTED
    assert listener.outcomes == {name: OUTCOMES[verdict] for name, verdict in EXPECTED.items()}


def test_x_stops_and_k_chooses(run: Run, listener: Listener) -> None:
    assert list(run(ENDINGS, "-x")) == ["passes", "asserts_nothing", "has_no_bench", "broken"]
    listener.results.clear()
    assert list(run(ENDINGS, "-k", "many")) == ["many[a]", "many[b]"]


def test_a_result_tells_what_matters(run: Run) -> None:
    results = run(ENDINGS, "-k", "passes or broken or crash or asserts_nothing")
    passed, broken = results["passes"], results["broken"]
    assert (passed.check_id, passed.rule_id) == ("MEM-R016.passes", "MEM-R016")
    assert passed.sentence == "It holds. Whatever happens."
    assert (passed.assertions, passed.trace) == (1, ())
    assert broken.failure is not None
    assert broken.reason == broken.failure.what == "the lists agree"
    assert (broken.failure.expected, broken.failure.seen, broken.failure.pointer) == (2, 3, "/a/1")
    assert results["asserts_nothing"].reason == "the check executed no assertion"
    assert "KeyError" in results["crash"].reason
    assert "missing" in results["crash"].traceback


PROPERTIES = """
DRAWN = []

@pytest.mark.parametrize("name", ["a", "b"])
@given(number=st.integers())
def test_shrinks(bench: Bench, name: str, number: int) -> None:
    world = ok(bench)
    world.root.do("spaces.list")
    world.expect(number < 100, "small", expected=name, seen=number)

@pytest.mark.examples(0.1)
@given(number=st.integers())
def test_few(bench: Bench, number: int) -> None:
    ok(bench)

@given(number=st.integers())
def test_more(bench: Bench, number: int) -> None:
    ok(bench)

@given(number=st.integers())
def test_our_own_mistake(bench: Bench, number: int) -> None:
    raise ValueError(number)

@given(number=st.integers())
def test_cannot(bench: Bench, number: int) -> None:
    DRAWN.append(number)
    raise Inconclusive(f"{len(DRAWN)} tries")
"""


def test_a_property_is_shrunk_and_its_last_world_is_the_trace(run: Run) -> None:
    results = run(PROPERTIES, "--profile", "quick")
    for name in ("a", "b"):
        result = results[f"shrinks[{name}]"]
        assert result.failure is not None
        assert (result.verdict, result.failure.seen, result.failure.expected) == (Verdict.FAIL, 100, name)
        assert [step.op for step in result.trace] == ["memory.spaces.list"]
    assert (results["few"].assertions, results["more"].assertions) == (2, 15)
    assert results["our_own_mistake"].verdict is Verdict.SUITE_ERROR
    assert results["cannot"].reason == "1 tries"


SEEDED = """
@pytest.mark.parametrize("name", ["a", "b"])
@given(number=st.integers(0, 10**9))
def test_draws(bench: Bench, name: str, number: int) -> None:
    ok(bench)
    raise Inconclusive(str(number))
"""


def drawn(results: Mapping[str, CheckResult]) -> list[str]:
    return [results[f"draws[{name}]"].reason for name in "ab"]


def test_what_is_drawn_derives_from_the_seed_and_the_check_alone(run: Run) -> None:
    alone = drawn(run(SEEDED, "--seed", "5"))
    assert alone[0] != alone[1] or alone == ["0", "0"]
    assert drawn(run(SEEDED, "--seed", "5")) == alone
    distributed = run(SEEDED + ENDINGS, "--seed", "5", "-n", "2")
    assert drawn(distributed) == alone
    told = {name: verdict for name, verdict in verdicts(distributed).items() if not name.startswith("draws[")}
    assert told == EXPECTED, "results survive xdist"


FLAKY = """
TRIES = []

def test_flaky(bench: Bench) -> None:
    TRIES.append(1)
    ok(bench).expect(len(TRIES) > 1, "the first time")

def test_steady(bench: Bench) -> None:
    ok(bench).expect(False, "every time")

@given(number=st.integers())
def test_flaky_property(bench: Bench, number: int) -> None:
    TRIES.append(1)
    ok(bench).expect(len(TRIES) != 4, "the fourth time")
"""


def test_a_failure_that_does_not_come_again_is_told_as_flaky(run: Run) -> None:
    results = run(FLAKY)
    assert verdicts(results) == {"flaky": "FAIL", "steady": "FAIL", "flaky_property": "FAIL"}
    assert results["flaky"].reason.startswith("flaky: ")
    assert results["steady"].reason == "every time"
    assert results["flaky_property"].reason.startswith("flaky: ")


NEEDS = """
@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_transfer(bench: Bench) -> None:
    ok(bench)

@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_reflection(bench: Bench) -> None:
    ok(bench)

@pytest.mark.needs(flags=[Flag.COGNITION])
def test_cognition(bench: Bench) -> None:
    ok(bench)

@pytest.mark.needs(controls=["clock"])
def test_clock(bench: Bench) -> None:
    ok(bench)

@pytest.mark.needs(controls=["levitation"])
def test_levitation(bench: Bench) -> None:
    ok(bench)
"""


def test_what_a_check_needs_is_there(run: Run) -> None:
    assert verdicts(run(NEEDS)) == {
        "transfer": "PASS",
        "reflection": "PASS",
        "cognition": "PASS",
        "clock": "PASS",
        "levitation": "INCONCLUSIVE",
    }


def test_where_a_flag_is_not_declared_its_refusal_is_checked_instead(run: Run) -> None:
    results = run(NEEDS, target="python:tests.providers:core_only")
    for name, calls in {"transfer": 10, "reflection": 6, "cognition": 4}.items():
        assert (name, results[name].verdict) == (name, Verdict.NOT_APPLICABLE)
        assert (name, results[name].calls) == (name, calls)
        assert results[name].assertions >= calls


def test_a_flag_that_is_served_undeclared_fails(run: Run) -> None:
    results = run(NEEDS, target="python:tests.providers:Undeclared")
    assert {name: str(results[name].verdict) for name in ("transfer", "reflection", "cognition")} == {
        "transfer": "FAIL",
        "reflection": "FAIL",
        "cognition": "FAIL",
    }


HANGS = """
def test_one(bench: Bench) -> None:
    ok(bench).root.do("spaces.list")

@given(number=st.integers())
def test_two(bench: Bench, number: int) -> None:
    ok(bench).root.do("spaces.list")

def test_three(bench: Bench) -> None:
    ok(bench).root.do("spaces.list")

def test_four(bench: Bench) -> None:
    ok(bench)

def test_five(bench: Bench) -> None:
    ok(bench)
"""


def test_a_dead_provider_is_not_asked_for_ever(run: Run) -> None:
    Path("t.toml").write_text('target = "python:tests.providers:Hanging"\ndeadline = 0.1\n', "utf-8")
    results = run(HANGS, target="t.toml")
    assert list(verdicts(results).values()) == ["FAIL"] * 3 + ["INCONCLUSIVE"] * 2
    assert results["two"].reason == "memory.spaces.list: no answer within 0.1 s"
    assert results["two"].seconds < 5  # a busy machine is slow, but for ever is longer
    (step,) = results["two"].trace
    assert (step.caller, step.op, step.answer) == ("root", "memory.spaces.list", None)
    assert "no answer to 3 checks in a row" in results["five"].reason


def test_stop_early_leaves_out_what_follows_a_failure_of_its_rule(run: Run) -> None:
    results = run(ENDINGS, "--stop-early", "-k", "passes or broken or many")
    assert verdicts(results) == {"passes": "PASS", "broken": "FAIL", "many[a]": "DESELECTED", "many[b]": "DESELECTED"}


def test_secrets_are_blotted_out(run: Run) -> None:
    results = run(
        """
        def test_leaks(bench: Bench) -> None:
            world = ok(bench)
            secret = world.root.credential
            world.root.raw("memory.records.get", {"credential": secret, secret: ["Bearer " + secret]})
            raise Inconclusive("look")
        """
    )
    (step,) = results["leaks"].trace
    blotted = "<credential of root>"
    assert step.payload == {"credential": blotted, blotted: [f"Bearer {blotted}"]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "nowhere"), "there is no target kind"),
        (("--target", "python:tests.providers:raises"), "the factory raised"),
        (("--schemas", "nowhere"), "no such directory"),
        (("--profile", "huge"), "invalid choice"),
    ],
)
def test_wrong_usage_ends_pytest_with_a_sentence(pytester: pytest.Pytester, options: tuple[str, ...], said: str) -> None:
    Path("test_mem_r016_x.py").write_text(HEAD + "def test_x(bench): ok(bench)", "utf-8")
    ended = pytester.runpytest_inprocess("-p", "conformance.plugin", "-p", "no:schemathesis", *options)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    assert said in ended.stderr.str()


def test_other_tests_are_left_alone(run: Run, listener: Listener) -> None:
    Path("test_other.py").write_text("def test_here(): pass", "utf-8")
    run("def test_there(bench): ok(bench)")
    assert list(listener.results) == ["there"]
    assert listener.outcomes == {"here": "passed", "there": "passed"}
