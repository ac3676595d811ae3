"""The machine as hypothesis plays it: the same acts."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from conformance.bench import Bench
from conformance.machine import acts
from conformance.machine.disagreement import Disagreement
from conformance.machine.stateful import Machine, machine_for, settings
from conformance.target import open_target
from conformance.wire.bundle import load


def _bench(target: str) -> Bench:
    bundle = load()
    opened = open_target(target, bundle=bundle).open()
    return Bench(opened.shim, bundle, opened.facts)


def _run(machine: type[Machine], examples: int, steps: int, *, shrink: bool = True) -> None:
    run_state_machine_as_test(machine, settings=settings(examples, steps, shrink=shrink))


def test_every_act_is_a_rule() -> None:
    machine = machine_for(_bench("oracle"))
    assert {f"{act.family}_{act.name}" for act in acts.ACTS} <= set(vars(machine))


def test_the_right_oracle_passes() -> None:
    bench = _bench("oracle")
    _run(machine_for(bench), 4, 15)
    assert bench.client.tally.calls > 50


def test_a_wrong_provider_fails() -> None:
    bench = _bench("python:tests.faults:r016_adds_two")
    with pytest.raises(Disagreement) as failed:
        _run(machine_for(bench), 20, 10, shrink=False)
    assert failed.value.rule == "R016"


def test_what_the_target_lacks_is_left_out() -> None:
    bench = _bench("python:tests.providers:core_only")
    _run(machine_for(bench), 4, 15)
    assert not any(
        op.startswith(("memory.exports", "memory.imports", "memory.reflections"))
        for op, code in bench.client.tally.seen
        if not code
    )
