"""The edge of HTTP targets: faulty servers are caught, each for its reason, and the served oracle passes."""

from __future__ import annotations

import importlib
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from conformance.bench import Bench
from conformance.check import MARKERS
from conformance.edge.generated import chosen
from conformance.edge.judging import wrong
from conformance.edge.probe import Asked, Came, Edge
from conformance.errors import NoAnswer
from conformance.expect import CheckFailed
from conformance.levers import hello
from conformance.serving.openapi import document
from conformance.transport.http import Http
from conformance.wire import bundle
from tests.edge_faults import FRONTS, NODE, TOKEN, TRACE, Front, Fronted, Hanging, served

CONTRACT = bundle.load()
LITTLE = 2
"""So thorough are these tests: two operations are tried with what is generated."""


@pytest.fixture(scope="module")
def checks(pytestconfig: pytest.Config) -> ModuleType:
    for marker in MARKERS:
        pytestconfig.addinivalue_line("markers", marker)
    return importlib.import_module("invariants.test_mem_r004_dispatch_validation_edge")


def ran(checks: ModuleType, front: Front, kind: str, served_as: type[Fronted] = Fronted, deadline: float = 10) -> None:
    """Run the check of one kind of request against the oracle behind a front."""
    with served(front, served_as) as base:
        shim = Http(base, deadline=deadline, token=TOKEN)
        edge = Edge(base, deadline, partial(document, CONTRACT), LITTLE)
        try:
            bench = Bench(shim, CONTRACT, hello(shim), edge=edge)
            if kind == "generated":
                checks.test_no_generated_request_breaks_the_server(bench)
            else:
                checks.test_no_http_request_breaks_the_server(bench, kind)
        finally:
            shim.close()


def right(*_: Any) -> None:
    return None


@pytest.mark.parametrize("name", FRONTS)
def test_a_faulty_server_is_caught_for_its_reason(checks: ModuleType, name: str) -> None:
    front, kind, said = FRONTS[name]
    with pytest.raises(CheckFailed, match=said) as caught:
        ran(checks, front, kind)
    assert "credential" not in str(caught.value.seen)


@pytest.mark.parametrize("kind", sorted({kind for _, kind, _ in FRONTS.values()}))
def test_the_served_oracle_passes(checks: ModuleType, kind: str) -> None:
    ran(checks, right, kind)


def test_a_huge_body_is_survived(checks: ModuleType) -> None:
    with served(right) as base:
        shim = Http(base, deadline=20, token=TOKEN)
        checks.test_a_huge_body_does_not_break_the_server(
            Bench(shim, CONTRACT, hello(shim), edge=Edge(base, 20, partial(document, CONTRACT), LITTLE))
        )
        shim.close()


def test_a_server_that_hangs_gives_no_answer(checks: ModuleType) -> None:
    with pytest.raises(NoAnswer, match=r"POST /memory\.records\.list: no answer within 1 s"):
        ran(checks, right, "content_type", Hanging, deadline=1)


@pytest.mark.parametrize(
    ("came", "said"),
    [
        (Came(200, b"{}"), None),
        (Came(400, b'{"error": {"message": "look at line 3"}}'), None),
        (Came(501), None),
        (Came(500), "failed"),
        (Came(503), "failed"),
        (Came(None), "without an answer"),
        (Came(400, TRACE.encode()), "stack trace"),
        (Came(200, NODE.encode()), "stack trace"),
        (Came(400, b"java.lang.X: y\n\tat a.B.c(B.java:12)"), "stack trace"),
        (Came(400, b"goroutine 1 [running]:"), "stack trace"),
        (Came(400, b"thread 'main' panicked at src/main.rs"), "stack trace"),
    ],
)
def test_what_is_wrong_with_an_answer(came: Came, said: str | None) -> None:
    seen = wrong(came)
    assert (seen is None) if said is None else (said in (seen or ""))


def test_the_profile_bounds_what_is_tried() -> None:
    ops = list(CONTRACT.operations)
    assert [len(chosen(ops, examples, 0)) for examples in (2, 15, 150, 1500)] == [2, 3, 33, 33]
    assert chosen(ops, 15, 0) != chosen(ops, 15, 1)
    assert len(set(chosen(ops, 60, 5))) == 13


def test_a_credential_is_never_shown() -> None:
    asked = Asked("/x", headers=[(b"Authorization", b"Bearer secret"), (b"X", b"y")], body=b"z" * 900)
    assert asked.shown()["headers"] == {"X": "y"}
    assert len(asked.shown()["body"]) == 201
