"""A check never sees by which transport it reaches a provider: one seed sends the same over each, and gets the same verdicts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.catalogue import named
from conformance.runner import Order, run
from conformance.verdict import RunResult, Verdict
from tests.ports import free_port
from tests.served import GENEROUS, NAME, ROOT

SEED = 7
RULES = [named(name) for name in ["R002", "R003", "R004", "R007", "R010", "R012", "R013", "R017", "R018", "R022", "R023", "R027"]]


def over_stdio(provider: str, _directory: Path) -> str:
    return f"stdio:{sys.executable} -m conformance.cli serve {provider} --stdio"


def over_http(provider: str, directory: Path) -> str:
    return started(provider, directory, "http")


def over_ws(provider: str, directory: Path) -> str:
    return started(provider, directory, "ws")


def started(provider: str, directory: Path, kind: str) -> str:
    """Write a target file that serves the provider for the run."""
    port, token = free_port(), "a token of this test"
    file = directory / "target.toml"
    file.write_text(
        f'target = "{kind}://127.0.0.1:{port}"\nstart = "{sys.executable} -m conformance.cli serve {provider} --{kind} {port}"\n'
        f'ready = "serving on"\ncwd = "{ROOT}"\ntoken = "{token}"\nenv = {{ MEMORY_HARNESS_TOKEN = "{token}" }}\ndeadline = 20\n',
        "utf-8",
    )
    return str(file)


TRANSPORTS = (over_stdio, over_http, over_ws)
Shape = list[tuple[str, str, str, str]]


def shape(result: RunResult) -> Shape:
    """Return what must be the same: each check with its verdict, the reason of it, and the digest of all that it sent."""
    assert result.trouble == ()
    return [(check.check_id, str(check.verdict), check.reason, check.sent) for check in result.checks]


def judged(target: str) -> RunResult:
    return run(Order(target, "smoke", seed=SEED, counterexamples=False), RULES)


@pytest.fixture(scope="module")
def right() -> RunResult:
    return judged(NAME)


@pytest.fixture(scope="module")
def faulty() -> RunResult:
    return judged(GENEROUS)


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_right_provider_is_asked_the_same_and_passes(
    transport: Callable[[str, Path], str], right: RunResult, tmp_path: Path
) -> None:
    assert {check.verdict for check in right.checks} == {Verdict.PASS}
    assert len({check.sent for check in right.checks}) == len(right.checks) == len(RULES)
    assert shape(judged(transport(NAME, tmp_path))) == shape(right)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_faulty_provider_is_asked_the_same_and_fails_for_the_same_reasons(
    transport: Callable[[str, Path], str], faulty: RunResult, tmp_path: Path
) -> None:
    verdicts = [check.verdict for check in faulty.checks]
    assert verdicts.count(Verdict.FAIL) >= 2
    assert verdicts.count(Verdict.PASS) >= 3
    assert shape(judged(transport(GENEROUS, tmp_path))) == shape(faulty)
