"""Controls: what the bench reads out of their answers, and what it does where a target has none."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.errors import TargetFault
from conformance.expect import CheckFailed, Inconclusive
from conformance.levers import Facts, Home, Levers, Login, hello
from conformance.transport.in_process import InProcess
from conformance.wire import bundle
from tests import scripted

HELLO: dict[str, Any] = {
    "harness": 1,
    "provider": {"name": "p", "version": "1"},
    "instance": "i1",
    "flags": ["spoke-memory"],
    "controls": ["clock", "control.hold"],
}


def shim(**answers: Any) -> InProcess:
    return InProcess(scripted.Scripted(lambda name, _payload: answers[name.removeprefix("control.")]))


def levers(*controls: str, **answers: Any) -> Levers:
    return Levers(shim(**answers), scripted.facts(bundle.load(), *controls))


def test_hello_names_the_provider_and_its_controls_without_prefix() -> None:
    assert hello(shim(hello={"payload": HELLO})) == Facts(
        "p", "1", "i1", frozenset({"spoke-memory"}), frozenset({"clock", "hold"})
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"harness": 2}, "this suite speaks 1"),
        ({"provider": "p"}, "'provider' is no object"),
        ({"instance": ""}, "'instance'"),
        ({"flags": "spoke-memory"}, "'flags' is no array of strings"),
        ({"controls": [1]}, "'controls' is no array of strings"),
    ],
)
def test_a_malformed_hello_is_the_targets_fault(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TargetFault, match=sentence):
        hello(shim(hello={"payload": {**HELLO, **change}}))


def test_provision_and_principal_are_read() -> None:
    root = {"principal_id": "r", "credential": "rc"}
    bench = levers(provision={"payload": {"space_id": "s", "root": root}}, principal={"payload": root})
    assert bench.provision() == Home("s", Login("r", "rc"))
    assert bench.principal() == Login("r", "rc")


@pytest.mark.parametrize("answer", [{}, {"space_id": "s"}, {"space_id": "s", "root": {}}, {"space_id": 5, "root": {}}])
def test_a_malformed_provision_is_the_targets_fault(answer: dict[str, Any]) -> None:
    with pytest.raises(TargetFault, match=r"control\.provision"):
        levers(provision={"payload": answer}).provision()


def test_a_refused_control_is_the_targets_fault() -> None:
    with pytest.raises(TargetFault, match=r"control\.principal was refused: op_unsupported"):
        levers(principal=scripted.error("op_unsupported")).principal()


def test_a_missing_lever_is_inconclusive_and_a_short_wait_stands_in_for_the_clock() -> None:
    bench = levers("hello")
    for pull in (bench.provision, bench.principal, bench.run_clock, bench.restart):
        with pytest.raises(Inconclusive, match="offers no control"):
            pull()
    with pytest.raises(Inconclusive, match="too long to wait"):
        bench.advance(60)
    bench.advance(0)


def test_clock_and_hold_send_what_harness_says() -> None:
    provider = scripted.Scripted(lambda _name, _payload: {"payload": {}})
    bench = Levers(InProcess(provider), scripted.facts(bundle.load(), "clock", "hold"))
    bench.advance(5)
    bench.set_clock(scripted.NOW)
    bench.run_clock()
    bench.hold(True)
    assert [(name, payload) for _, _, name, payload in provider.asked] == [
        ("control.clock", {"advance_seconds": 5}),
        ("control.clock", {"set": scripted.NOW, "frozen": True}),
        ("control.clock", {"frozen": False}),
        ("control.hold", {"hold": True}),
    ]


def test_a_restart_must_bring_another_instance() -> None:
    answers = {"restart": {"payload": {"instance": "i2"}}, "hello": {"payload": {**HELLO, "instance": "i2"}}}
    bench = levers("restart", **answers)
    bench.restart()
    assert bench.facts.instance == "i2"
    with pytest.raises(CheckFailed, match="did not restart"):
        Levers(shim(**answers), Facts("p", "1", "i2", frozenset(), frozenset({"restart"}))).restart()
