"""The durability checks see what a crash shows, and see nothing where a provider is durable."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.bench import Bench
from conformance.catalogue import named
from conformance.check import MARKERS
from conformance.crashing import crash_amid
from conformance.expect import CheckFailed, Inconclusive
from conformance.levers import hello
from conformance.modules import directory, modules_of
from conformance.oracle import Oracle
from conformance.transport.in_process import InProcess
from conformance.transport.stdio import Stdio
from conformance.wire import bundle
from tests.crashes import crashes
from tests.durable_faults import FAULTS, FILE, DurableFault
from tests.served import ROOT

CONTRACT = bundle.load()
COMMAND = (sys.executable, "-m", "conformance.cli", "serve")
TRIES = 30
"""A crash falls where it falls: a check that looks for a narrow gap is given so many chances, and the first mostly does."""
SHOWN_BY = {
    # the check that sees the fault, and what it says then
    "key_after_effect": ("done_once_or_not_at_all", "not exactly one record a key"),
    "key_before_effect": ("done_once_or_not_at_all", "not exactly one record a key"),
    "journal_late": ("stay_bound_to_their_payload", "the receipt that was answered before it is not there"),
    "answer_before_write": ("count_once", "after a crash"),
    "receipts_late": ("outlive_a_crash_together", "the receipt that was answered before it is not there"),
    "tombstone_last": ("whole_and_final", "half deleted"),
    "generation_first": ("counts_one_or_none", "memory.imports.activate"),
    "items_last": ("an_activation_in_flight", "an activated import is not there whole"),
}


@pytest.fixture(autouse=True, scope="module")
def marks(pytestconfig: pytest.Config) -> None:
    """Know the marks of rule modules, which are imported here as plain functions."""
    for marker in MARKERS:
        pytestconfig.addinivalue_line("markers", marker)


def checks_of(rule: str) -> Iterator[Callable[[Bench], None]]:
    [module] = [path.stem for path in modules_of(named(rule)) if path.stem.endswith("_durability")]
    loaded = importlib.import_module(f"{directory().name}.{module}")
    yield from (check for name, check in vars(loaded).items() if name.startswith("test_"))


def caught(name: str, check: Callable[[Bench], None], file: Path) -> str | None:
    """Return why a check failed on a provider of ``durable_faults``, None where it passed."""
    command = [*COMMAND, f"python:tests.durable_faults:{name}", "--stdio"]
    shim = Stdio(command, deadline=30, env={FILE: str(file)}, cwd=ROOT)
    try:
        check(Bench(shim, CONTRACT, hello(shim)))
    except CheckFailed as failed:
        return failed.what
    finally:
        shim.close()
    return None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_faulty_durable_provider_is_caught_for_its_reason(fault: DurableFault, tmp_path: Path) -> None:
    shown_by, reason = SHOWN_BY[fault.name]
    [check] = [check for check in checks_of(fault.rule) if shown_by in check.__name__]
    seen: list[str] = []
    for attempt in range(TRIES):
        seen.append(caught(fault.name, check, tmp_path / f"{attempt}.db") or "passed")
        if reason in seen[-1]:
            return
    pytest.fail(f"not caught: {seen}")


@pytest.mark.parametrize("rule", ["R005", "R015", "R027"])
def test_what_was_pending_at_a_crash_may_settle_later(rule: str, tmp_path: Path) -> None:
    for number, check in enumerate(checks_of(rule)):
        assert caught("settles_late", check, tmp_path / f"{number}.db") is None


def test_the_bundled_durable_provider_loses_and_doubles_nothing(tmp_path: Path) -> None:
    shim = Stdio([*COMMAND, "--stdio", "--db", str(tmp_path / "memory.db")], deadline=30, cwd=ROOT)
    counted = crashes(Bench(shim, CONTRACT, hello(shim)), 3)
    shim.close()
    assert counted.crashes == 3
    assert min(counted.answered, counted.unanswered) > 9


def test_a_provider_without_a_file_fails_durability() -> None:
    shim = Stdio([*COMMAND, "--stdio"], deadline=30, cwd=ROOT)
    bench = Bench(shim, CONTRACT, hello(shim))
    with pytest.raises(CheckFailed):
        crashes(bench, 1)
    shim.close()


class Deathless(Oracle):
    """Says that it restarts, and does not."""

    def restart(self) -> None:
        return


class Helpless(Oracle):
    """Has no lever that restarts it."""

    def control(self, name: str, payload: Any) -> dict[str, Any]:
        answer = super().control(name, payload)
        return {"payload": {**answer["payload"], "controls": ["provision"]}} if name == "control.hello" else answer


def crash_of(oracle: Oracle) -> None:
    shim = InProcess(oracle)
    bench = Bench(shim, CONTRACT, hello(shim))
    world = bench.world()
    crash_amid(bench, world, [world.root.call("describe")] * 4, 2)


def test_that_another_process_answers_is_proved_and_never_believed() -> None:
    crash_of(Oracle())
    with pytest.raises(CheckFailed, match="did not restart"):
        crash_of(Deathless())


def test_a_crash_needs_a_lever() -> None:
    with pytest.raises(Inconclusive, match=r"control\.restart"):
        crash_of(Helpless())
