"""The stdio transport: answers in order or not, and another process after a restart."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.errors import BadTarget, NoAnswer
from conformance.exchange import Call
from conformance.levers import control, hello
from conformance.target import open_target
from conformance.transport.stdio import Stdio
from conformance.wire import bundle
from conformance.wire.vocabulary import Code
from tests.served import ROOT

CONTRACT = bundle.load()
PYTHON = sys.executable


def of_lines(body: str, deadline: float = 5.0) -> Stdio:
    """Run a provider whose ``body`` handles ``number, line`` of each request."""
    text = f"import sys, json, os, time\nfor line in sys.stdin:\n    number = json.loads(line)['id']\n    {body}\n"
    return Stdio([PYTHON, "-uc", text], deadline=deadline)


@pytest.fixture(scope="module")
def oracle() -> Iterator[Stdio]:
    shim = Stdio([PYTHON, "-m", "conformance.cli", "serve", "--stdio"], deadline=20, cwd=ROOT)
    yield shim
    shim.close()


def test_answers_in_any_order_find_their_calls() -> None:
    shim = of_lines(
        "kept = globals().setdefault('kept', []); kept.append(number)\n"
        "    if len(kept) == 3: [print(json.dumps({'id': n, 'payload': {'n': n}})) for n in reversed(kept)]"
    )
    replies = shim.send_all([Call(f"op{number}", {}) for number in range(3)])
    shim.close()
    assert [getattr(reply, "payload", reply) for reply in replies] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_restart_is_another_process(oracle: Stdio) -> None:
    before = hello(oracle).instance
    made = control(oracle, "provision", {})
    assert oracle.restart()
    assert hello(oracle).instance != before
    reply = oracle.send(Call("memory.describe", {}, made["root"]["credential"], frozenset()))
    assert reply.code == CONTRACT.code(Code.NOT_AUTHENTICATED)


def test_many_large_calls_at_once_do_not_fill_the_pipes(oracle: Stdio) -> None:
    calls = [Call("memory.describe", {"x": "y" * 200_000}) for _ in range(20)]
    assert len({reply.code for reply in oracle.send_all(calls) if not isinstance(reply, Exception)}) == 1


def test_a_process_that_missed_a_deadline_is_followed_by_another() -> None:
    shim = of_lines("number == 2 and time.sleep(30); print(json.dumps({'id': number, 'payload': {'pid': os.getpid()}}))", 1)
    first = shim.send(Call("first", {})).payload["pid"]
    with pytest.raises(NoAnswer, match="second: no answer within 1 s"):
        shim.send(Call("second", {}))
    assert shim.send(Call("third", {})).payload["pid"] != first
    shim.close()


def test_a_process_that_died_is_told_with_its_last_words_and_followed_by_another() -> None:
    shim = of_lines("number == 1 and sys.exit('no disk'); print(json.dumps({'id': number, 'payload': {}}))")
    with pytest.raises(NoAnswer, match=r"first: the process ended \(exit code 1\); on stderr: no disk"):
        shim.send(Call("first", {}))
    assert shim.send(Call("second", {})).ok
    shim.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [("stdio:", "it names no command"), ("stdio:'x", "it is no command"), ("stdio:/nowhere/at-all", "it cannot be started")],
)
def test_a_command_that_cannot_be_run_is_told_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(BadTarget, match=said):
        open_target(text, bundle=CONTRACT).open()


def test_closing_leaves_no_process(tmp_path: Path) -> None:
    shim = of_lines("print(json.dumps({'id': number, 'payload': {'pid': os.getpid()}}))")
    pid = shim.send(Call("x", {})).payload["pid"]
    shim.close()
    assert not Path(f"/proc/{pid}").exists()
