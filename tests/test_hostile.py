"""Hostile providers: each ends in bounded time and memory, with a fault of the provider's that names the call."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import pytest

from conformance.catalogue import named
from conformance.client import Client
from conformance.errors import NoAnswer, TargetFault
from conformance.exchange import Call, Trace
from conformance.expect import CheckFailed
from conformance.levers import hello
from conformance.runner import Order, run
from conformance.transport.http import Http
from conformance.transport.stdio import Stdio
from conformance.verdict import Verdict
from conformance.wire import bundle
from conformance.wire.vocabulary import Flag
from tests import hostile, hostile_http
from tests.served import ROOT

CONTRACT = bundle.load()
CORE = CONTRACT.flag(Flag.CORE)
DEADLINE = 1.0
LONGEST = 15.0
GROWTH = 300 * 2**20
EXPECTED = {
    **{deed.__name__: NoAnswer for deed in (*hostile.SILENT, *hostile.GONE)},
    **{deed.__name__: TargetFault for deed in hostile.GARBLED},
    **{deed.__name__: CheckFailed for deed in hostile.MALFORMED},
}


def most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def provider(name: str) -> Stdio:
    return Stdio([sys.executable, "-m", "tests.hostile", name, CORE], deadline=DEADLINE, cwd=ROOT)


def test_there_are_at_least_forty() -> None:
    assert len(hostile.DEEDS) >= 40
    assert set(EXPECTED) == set(hostile.DEEDS)


@pytest.mark.parametrize("name", hostile.DEEDS)
def test_over_stdio_it_is_the_providers_fault_in_bounded_time(name: str) -> None:
    shim = provider(name)
    assert hello(shim).name == "hostile"
    started, before = time.monotonic(), most_memory()
    with pytest.raises((TargetFault, CheckFailed), match=r"memory\.describe") as caught:
        Client(shim, CONTRACT).send(Call("memory.describe", {}, "c", frozenset({CORE})), Trace())
    assert isinstance(caught.value, EXPECTED[name])
    shim.close()
    assert time.monotonic() - started < LONGEST
    assert most_memory() - before < GROWTH


HTTP_EXPECTED = {
    **{deed.__name__: NoAnswer for deed in hostile_http.SILENT},
    **{deed.__name__: TargetFault for deed in hostile_http.BROKEN},
    **{deed.__name__: CheckFailed for deed in hostile_http.MALFORMED},
}


@pytest.mark.parametrize("name", hostile_http.DEEDS)
def test_over_http_it_is_the_providers_fault_in_bounded_time(name: str) -> None:
    started, before = time.monotonic(), most_memory()
    with hostile_http.server(name) as base:
        shim = Http(base, deadline=DEADLINE)
        with pytest.raises((TargetFault, CheckFailed), match=r"memory\.describe") as caught:
            Client(shim, CONTRACT).send(Call("memory.describe", {}, "c", frozenset({CORE})), Trace())
        shim.close()
    assert isinstance(caught.value, HTTP_EXPECTED[name])
    assert time.monotonic() - started < LONGEST
    assert most_memory() - before < GROWTH


@pytest.mark.parametrize("name", ["exits", "never", "twice", "slow_drip"])
def test_a_hostile_provider_is_followed_by_a_next_call_that_is_understood(name: str) -> None:
    """The stream is followed again, or another process answers."""
    shim = provider(name)
    for _ in range(2):
        hello(shim)
        with pytest.raises(TargetFault, match=r"memory\.describe"):
            shim.send(Call("memory.describe", {}, "c", frozenset({CORE})))
    shim.close()


def test_a_run_ends_with_a_verdict_for_every_check(tmp_path: Path) -> None:
    file = tmp_path / "target.toml"
    command = f"{sys.executable} -m tests.hostile exits {CORE}"
    space = 'spaces = [{ space_id = "s", root = { principal_id = "p", credential = "c" } }]'
    file.write_text(f'target = "stdio:{command}"\ndeadline = 5\n{space}\n', "utf-8")
    result = run(Order(str(file), "smoke", counterexamples=False), [named("R023"), named("R017")])
    assert result.trouble == ()
    assert result.verdict is Verdict.FAIL
    failed = [check.reason for check in result.checks if check.verdict is Verdict.FAIL]
    assert all("memory." in reason and "the process ended (exit code 3)" in reason for reason in failed)
    assert {check.verdict for check in result.checks} <= {Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE}


def test_a_provider_that_dies_of_one_operation_keeps_the_results_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    deadly = f"stdio:{sys.executable} -m conformance.cli serve python:tests.providers:Deadly --stdio"
    result = run(Order(deadly, "smoke", counterexamples=False), [named("R018"), named("R023")])
    assert result.trouble == ()
    verdicts = {rule.rule_id: rule.verdict for rule in result.rules}
    assert (verdicts["MEM-R018"], verdicts["MEM-R023"]) == (Verdict.PASS, Verdict.FAIL)
    failed = [check.reason for check in result.checks if check.verdict is Verdict.FAIL]
    assert all("memory.recall: the process ended (exit code 0)" in reason for reason in failed)
