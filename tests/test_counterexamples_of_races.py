"""A counterexample of a race blames nobody for who won: it says that one of the calls commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from conformance.bench import Bench
from conformance.counterexample import Counterexample, Expectation, Kind
from conformance.counterexamples import About, Maker
from conformance.expectations import judge
from conformance.listening import Listening
from conformance.rehearsal import Stage
from conformance.target import open_target
from conformance.verdict import Failure
from conformance.wire.bundle import load
from tests.travelling import ENSURED, FAULT, MOVED, WRITTEN, example


@contextmanager
def _stage(target: str) -> Iterator[tuple[Stage, Bench, Listening]]:
    opened = open_target(target, bundle=load()).open()
    heard = Listening(opened.shim)
    try:
        yield Stage(opened, load()), Bench(heard, load(), opened.facts), heard
    finally:
        opened.shim.close()


def _race(target: str) -> Counterexample | None:
    """Send three updates on one revision at once; return what is made of it."""
    with _stage(target) as (stage, bench, heard), _stage("oracle") as (model, _, _):
        world = bench.world()
        record_id = world.root.create()
        calls = [world.root.call("records.update", record_id=record_id, expected_revision=1, kind=kind) for kind in "abc"]
        world.at_once(calls)
        world.root.read(record_id)
        return Maker(load(), stage, model).of_history(heard.history, Failure("two won"), About("MEM-R016", "two won"))


def test_of_a_race_it_says_that_one_commits() -> None:
    found = _race("python:tests.faults:r016_check_then_act")
    assert found is not None
    expectation = found.expectation
    assert (expectation.kind, len(expectation.calls), found.failed) == (Kind.ONE_COMMITS, 2, found.runs)
    assert len(found.calls) == 4
    with _stage("python:tests.test_linearizability:at_once") as (stage, _, _):
        assert judge(found, stage.perform(found)).met


def test_a_right_provider_that_takes_calls_at_once_has_none() -> None:
    assert _race("python:tests.test_linearizability:at_once") is None


def test_what_comes_after_a_race_that_was_won_alike_is_found() -> None:
    """Two creations at once succeed on both sides: who came first says nothing of what comes after them."""
    twice = [replace(WRITTEN, payload={**WRITTEN.payload, "idempotency_key": key}, names={}, together=1) for key in "xy"]
    calls = (ENSURED, *twice, WRITTEN, MOVED)
    with _stage(FAULT) as (target, _, _), _stage("oracle") as (model, _, _):
        whole = example(*calls, expectation=Expectation(Kind.CHECK))
        found = Maker(load(), target, model, tries=0).of_calls(whole, Failure("it moved"))
    assert found is not None
    assert [said.together for said in found.calls] == [0, 1, 1, 0, 0]
    assert found.expectation.kind is Kind.REFUSED
