"""The connect transport as a target: the published library on either side, crashes, and the verdicts of in process."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.bench import Bench
from conformance.catalogue import named
from conformance.connect.identity import PURPOSE, Identity
from conformance.crashing import Crashed, crash_amid, settled
from conformance.errors import TargetFault
from conformance.exchange import Call
from conformance.levers import control, hello
from conformance.runner import Order, run
from conformance.target import open_target
from conformance.transport.connect import Connect
from conformance.verdict import RunResult, Verdict
from conformance.wire.vocabulary import Code
from conformance.world import World
from tests.connect_peers import CONTRACT, CORE, FLAGS, TOKEN, our_host
from tests.ports import free_port
from tests.served import NAME, ROOT

CRASHES = 10
"""A crash falls where it falls: one of so many is amid the calls."""
RULES = [named(name) for name in ("R010", "R017", "R018", "R023")]
DENIED = CONTRACT.code(Code.NOT_AUTHENTICATED)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with our_host() as url:
        yield url


def target_file(tmp_path: Path, more: str = NAME) -> str:
    port = free_port()
    file = tmp_path / "target.toml"
    command = f"{sys.executable} -m conformance.cli serve {more} --ws {port}"
    file.write_text(
        f'target = "ws://127.0.0.1:{port}"\nstart = "{command}"\nready = "serving on"\ncwd = "{ROOT}"\n'
        f'token = "{TOKEN}"\nenv = {{ MEMORY_HARNESS_TOKEN = "{TOKEN}" }}\ndeadline = 20\n',
        "utf-8",
    )
    return str(file)


THEIR_CALLER = """
import json, os, sys, spoke_connect
from websockets.sync.client import connect
from conformance.connect import envelopes
from conformance.connect.identity import key_of
from tests.tool_host import MANIFEST, Wire
asked = json.load(sys.stdin)
with connect(asked["url"], proxy=None) as wire:
    adapter = spoke_connect.connect_remote_adapter_ffi(
        Wire(wire), bytes.fromhex(asked["seed"]), json.dumps(MANIFEST), key_of(asked["peer_id"]), [asked["peer_id"]], 10_000
    )
    answers = [json.loads(adapter.invoke_tool(envelopes.TOOL, json.dumps(arguments))) for arguments in asked["arguments"]]
    print(json.dumps({"state": adapter.state(), "answers": answers}), flush=True)
    os._exit(0)  # the library aborts where it is left otherwise
"""


def test_the_published_library_calls_our_host_through_its_tool(url: str) -> None:
    seed = hashlib.sha256(PURPOSE + TOKEN.encode()).digest()
    told = [
        {"control": "control.hello", "payload": {}},
        {"op": "memory.describe", "credential": None, "flags": [], "payload": {}},
        {},
    ]
    asked = {"url": url, "seed": seed.hex(), "peer_id": Identity.of_host(TOKEN).peer_id, "arguments": told}
    command = [sys.executable, "-c", THEIR_CALLER]
    ended = subprocess.run(command, input=json.dumps(asked), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout, ended.stderr
    seen = json.loads(ended.stdout)
    assert seen["state"] == "Established"
    assert seen["answers"][0]["payload"]["harness"] == 1
    assert [answer["error"]["code"] for answer in seen["answers"][1:]] == [DENIED, CONTRACT.code(Code.MALFORMED_REQUEST)]


def test_a_host_on_the_published_library_is_judged_through_its_tool(tmp_path: Path) -> None:
    port = free_port()
    file = tmp_path / "target.toml"
    file.write_text(
        f'target = "ws+tool://127.0.0.1:{port}"\nstart = "{sys.executable} -m tests.tool_host {port}"\nready = "serving"\n'
        f'cwd = "{ROOT}"\ntoken = "{TOKEN}"\nenv = {{ MEMORY_HARNESS_TOKEN = "{TOKEN}" }}\ndeadline = 20\n',
        "utf-8",
    )
    here = run(Order(NAME, "smoke", seed=7), RULES)
    there = run(Order(str(file), "smoke", seed=7), RULES)
    assert there.trouble == ()
    assert {check.verdict for check in there.checks} == {Verdict.PASS}
    assert shape(here) == shape(there)


def test_the_tunnel_leads_to_our_host_too(url: str) -> None:
    shim = Connect(url, deadline=20, token=TOKEN, tunnel=True)
    credential = control(shim, "provision", {})["root"]["credential"]
    replies = shim.send_all([Call("memory.describe", {}, who, FLAGS) for who in (credential, "x")] * 3)
    assert [reply.code for reply in replies if not isinstance(reply, TargetFault)] == [None, DENIED] * 3
    refused = shim.send(Call("memory.exports.create", {}, credential, frozenset({CORE})))
    assert refused.code == CONTRACT.code(Code.FLAG_NOT_NEGOTIATED)
    shim.close()


def shape(result: RunResult) -> list[tuple[str, str, str]]:
    return [(check.check_id, str(check.verdict), check.sent) for check in result.checks]


def test_the_same_seed_sends_the_same_and_gets_the_same_verdicts_as_in_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    here = run(Order(NAME, "smoke", seed=7), RULES)
    there = run(Order(target_file(tmp_path), "smoke", seed=7), RULES)
    assert here.trouble == there.trouble == ()
    assert {check.verdict for check in there.checks} == {Verdict.PASS}
    assert shape(here) == shape(there)


def test_a_durable_provider_is_really_killed_over_connect_too(tmp_path: Path) -> None:
    target = open_target(target_file(tmp_path, f"--db {tmp_path / 'memory.db'}"), bundle=CONTRACT)
    with target.started():
        shim = target.open().shim
        bench = Bench(shim, CONTRACT, hello(shim))
        world = bench.world()
        assert any(None in crash_amid_creations(bench, world).replies for _ in range(CRASHES))
        target.close()


def crash_amid_creations(bench: Bench, world: World) -> Crashed:
    scope = world.scope()
    calls = [world.root.call("records.create", kind="n", content={"text": f"{n}"}, scope=scope) for n in range(20)]
    crashed = crash_amid(bench, world, calls, 9)
    assert len({receipt["receipt_id"] for receipt in settled(world, crashed)}) == len(calls)
    return crashed
