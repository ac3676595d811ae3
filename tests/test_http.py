"""The HTTP transport and the served provider: no way round token, limits and deadline."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from conformance.catalogue import named
from conformance.errors import BadTarget, NoAnswer, TargetFault
from conformance.exchange import Call
from conformance.levers import control, hello
from conformance.runner import Order, run
from conformance.serving.http import REQUEST_LIMIT
from conformance.target import open_target
from conformance.transport.http import Http
from conformance.transport.started import Server, running
from conformance.verdict import Verdict
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Flag
from tests import hostile_http
from tests.ports import free_port
from tests.served import COMMAND, ROOT

CONTRACT = bundle.load()
TOKEN = "a token of this test"
FLAGS = frozenset(CONTRACT.flag(flag) for flag in Flag)
READY = re.compile("serving on")


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    port = free_port()
    server = Server((*COMMAND.split(), "--http", str(port)), (), READY, {"MEMORY_HARNESS_TOKEN": TOKEN}, ROOT)
    with running(server):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def shim(base: str) -> Iterator[Http]:
    made = Http(base, deadline=20, token=TOKEN)
    yield made
    made.close()


def target_file(tmp_path: Path, ready: str = 'ready = "serving on"') -> str:
    port = free_port()
    file = tmp_path / "target.toml"
    file.write_text(
        f'target = "http://127.0.0.1:{port}"\n'
        f'start = "{COMMAND} --http {port}"\n{ready}\ncwd = "{ROOT}"\n'
        f'token = "{TOKEN}"\nenv = {{ MEMORY_HARNESS_TOKEN = "{TOKEN}" }}\ndeadline = 20\n',
        "utf-8",
    )
    return str(file)


def test_two_workers_share_one_server_and_who_holds_it_is_alone(tmp_path: Path) -> None:
    result = run(
        Order(target_file(tmp_path), "smoke", workers=2),
        [named(name) for name in ("R005", "R006", "R007", "R012", "R014", "R017")],
    )
    assert result.trouble == ()
    assert {check.verdict for check in result.checks} == {Verdict.PASS}


def test_a_control_needs_the_token(base: str, shim: Http) -> None:
    assert hello(shim).name == "oracle"
    for wrong in (None, "", "x", TOKEN[:-1], control(shim, "principal", {})["credential"]):
        other = Http(base, deadline=20, token=wrong)
        assert other.send(Call("control.provision", {})).code == CONTRACT.code(Code.NOT_AUTHENTICATED)
        other.close()


def test_no_answer_waits_for_an_acknowledgement(shim: Http) -> None:
    """Which would take 40 ms, every time."""

    def seconds() -> float:
        started = time.perf_counter()
        shim.send(Call("memory.describe", {}))
        return time.perf_counter() - started

    assert min(seconds() for _ in range(50)) < 0.03


def test_calls_at_once_are_paired(shim: Http) -> None:
    credential = control(shim, "provision", {})["root"]["credential"]
    good = Call("memory.describe", {}, credential, FLAGS)
    replies = shim.send_all([good, Call("memory.describe", {}, "x", FLAGS)] * 10)
    codes = [reply.code for reply in replies if not isinstance(reply, TargetFault)]
    assert codes == [None, CONTRACT.code(Code.NOT_AUTHENTICATED)] * 10


@pytest.mark.parametrize("op", ["memory.nothing", "a/b", "a b", "control", "%2e", "ü"])
def test_an_unknown_operation_is_refused_as_such(shim: Http, op: str) -> None:
    credential = control(shim, "principal", {})["credential"]
    assert shim.send(Call(op, {}, credential, FLAGS)).code == CONTRACT.code(Code.UNKNOWN_OPERATION)


def test_a_body_that_is_too_long_or_no_json_is_refused(base: str) -> None:
    with httpx.Client(base_url=base, trust_env=False) as client:
        long = client.post("/memory.describe", content=b" " * (REQUEST_LIMIT + 1))
        broken = client.post("/memory.describe", content=b"{")
        foreign = client.post("/memory.describe", content=b"{}", headers={"Host": "evil.example"})
    assert (long.status_code, long.json()["error"]["code"]) == (413, CONTRACT.code(Code.LIMIT_EXCEEDED))
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, CONTRACT.code(Code.MALFORMED_REQUEST))
    assert foreign.status_code == 400


def test_nobody_there_is_told() -> None:
    shim = Http(f"http://127.0.0.1:{free_port()}", deadline=5)
    with pytest.raises(NoAnswer, match=r"memory\.describe: nobody answers"):
        shim.send(Call("memory.describe", {}))
    shim.close()


@pytest.mark.parametrize("text", ["http:", "http://", "http:///x", "http://u:p@h/", "http://h/?q", "http://h:x/"])
def test_a_wrong_address_is_told_in_one_sentence(text: str) -> None:
    with pytest.raises(BadTarget, match=r"^target http:.*\.$"):
        open_target(text, bundle=CONTRACT).open()


def test_a_server_that_does_not_get_ready_is_told_with_its_last_words() -> None:
    server = Server((sys.executable, "-c", "print('no port')"), (), re.compile("listening"))
    with pytest.raises(BadTarget, match="ended before it was ready: no port"), running(server):
        pass


def test_a_started_server_is_stopped_whatever_happens(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); print('up', flush=True); time.sleep(60)"
    with pytest.raises(KeyboardInterrupt), running(Server((sys.executable, "-c", code), (), re.compile("up"))):
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text("utf-8")), 0)


def test_a_server_that_names_no_pattern_is_asked_until_it_answers(tmp_path: Path) -> None:
    target = open_target(target_file(tmp_path, ready=""), bundle=CONTRACT)
    with target.started():
        assert target.open().facts.name == "oracle"
        target.close()


def test_plain_pytest_starts_the_server_too(tmp_path: Path) -> None:
    module = ROOT / "invariants" / "test_mem_r023_recall_budget.py"
    options = ["-p", "no:schemathesis", "-p", "conformance.plugin", "--target", target_file(tmp_path), "--profile", "smoke"]
    command = [sys.executable, "-m", "pytest", "-q", *options, str(module)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, " passed" in ended.stdout) == (0, True), ended.stdout


def test_an_exchange_that_a_person_interrupts_leaves_nothing_behind() -> None:
    with hostile_http.server("never") as base:
        shim = Http(base, deadline=20)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                shim.send(Call("memory.describe", {}))
        finally:
            signal.signal(signal.SIGALRM, before)
        shim.close()
        assert asyncio.all_tasks(shim._loop) == set()
