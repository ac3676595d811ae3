"""The connect transport: right frames, nobody let in or believed who must not be, and the same verdicts as in process."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import socket
import string
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT7
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from conformance.bench import Bench
from conformance.catalogue import named
from conformance.connect import envelopes
from conformance.connect.identity import PURPOSE, Identity, Untrusted, check_signature, key_of, peer_id_of
from conformance.crashing import Crashed, crash_amid, settled
from conformance.errors import BadTarget, CannotTravel, NoAnswer, TargetFault
from conformance.exchange import Call
from conformance.judging import judge
from conformance.levers import control, hello
from conformance.runner import Order, run
from conformance.serving.sockets import listening
from conformance.serving.ws import BAD_SEQUENCE
from conformance.target import open_target
from conformance.transport.connect import Connect
from conformance.transport.started import Server, running
from conformance.verdict import RunResult, Verdict
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from tests.connect_schemas import SCHEMAS
from tests.ports import free_port
from tests.served import COMMAND, NAME, ROOT

CONTRACT = bundle.load()
FLAGS = frozenset(CONTRACT.flag(flag) for flag in Flag)
CORE = CONTRACT.flag(Flag.CORE)
TOKEN = "a token of this test"
CRASHES = 10
"""A crash falls where it falls: one of so many is amid the calls."""
RULES = [named(name) for name in ("R010", "R017", "R018", "R023")]
UPSTREAM = ROOT.parent / "shared" / "reference" / "upstream-schemas"
LETTERS = string.ascii_letters + string.digits + "-_"
DENIED = CONTRACT.code(Code.NOT_AUTHENTICATED)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    port = free_port()
    server = Server((*COMMAND.split(), "--ws", str(port)), (), re.compile("serving on"), {"MEMORY_HARNESS_TOKEN": TOKEN}, ROOT)
    with running(server):
        yield f"ws://127.0.0.1:{port}"


@pytest.fixture
def shim(url: str) -> Iterator[Connect]:
    made = Connect(url, deadline=20, token=TOKEN)
    yield made
    made.close()


class Peer:
    """A caller that says what it likes, frame by frame."""

    def __init__(self, wire: ClientConnection, identity: Identity) -> None:
        self.wire = wire
        self.identity = identity
        self.session_id = ""
        self.frames: list[tuple[str, Any]] = []

    def greet(self, said: Any = None) -> Any:
        said = said or envelopes.hello(self.identity, envelopes.manifest("t", ["checker"], [CORE]))
        self.say("connect-hello", said)
        answer = self.hear("connect-hello")
        greeting = envelopes.greeted(answer, peer_nonce=said["nonce"])
        opened = self.hear("connect-session")
        session = envelopes.opened(opened, self.identity.peer_id, greeting["peer_id"])
        self.session_id = session["session_id"]
        return session

    def request(self, sequence: int, **members: Any) -> dict[str, Any]:
        plain = {
            "session_id": self.session_id,
            "sequence": sequence,
            "request_id": f"r{sequence}",
            "op": "memory.describe",
            "payload": {},
        }
        return envelopes.signed(self.identity, {**plain, **members})

    def ask(self, request: dict[str, Any]) -> Any:
        self.say("connect-invoke-request", request)
        return self.hear("connect-invoke-response")

    def say(self, kind: str, frame: Any) -> None:
        self.frames.append((kind, frame))
        self.wire.send(json.dumps(frame))

    def hear(self, kind: str) -> Any:
        frame = json.loads(self.wire.recv(timeout=10))
        self.frames.append((kind, frame))
        return frame


@contextmanager
def peer(url: str, identity: Identity | None = None) -> Iterator[Peer]:
    with connect(url, proxy=None) as wire:
        yield Peer(wire, identity or Identity.of_token(TOKEN))


def schemas() -> list[dict[str, Any]]:
    """Give our schemas, and the published ones where they are at hand."""
    published = {path.name.partition(".")[0]: json.loads(path.read_text("utf-8")) for path in UPSTREAM.glob("*.schema.json")}
    return [SCHEMAS, published] if published else [SCHEMAS]


def problems(schemas: dict[str, Any], kind: str, frame: Any) -> list[str]:
    named = [(schema["$id"], DRAFT7.create_resource(schema)) for schema in schemas.values() if "$id" in schema]
    registry: Registry[Any] = Registry().with_resources(named)
    return [error.message for error in jsonschema.Draft7Validator(schemas[kind], registry=registry).iter_errors(frame)]


def test_every_frame_is_valid_by_its_schema(url: str) -> None:
    with peer(url) as caller:
        caller.greet()
        caller.ask(caller.request(0))
        caller.ask(caller.request(1, auth={"credential": "x"}))
        made = caller.ask(caller.request(2, op="control.principal", auth={"credential": TOKEN}))["payload"]
        caller.ask(caller.request(3, auth={"credential": made["credential"]}))
        caller.ask(caller.request(9))
    assert {"payload", "error"} <= {name for _, frame in caller.frames for name in frame}
    assert len({kind for kind, _ in caller.frames}) == 4
    for known in schemas():
        assert [problem for kind, frame in caller.frames for problem in problems(known, kind, frame)] == []
        for kind, frame in caller.frames:
            assert problems(known, kind, {**frame, "surprise": 1})
            assert problems(known, kind, {name: value for name, value in frame.items() if name != "signature"})


# -- identity, and the published library's word on it (in a process of its own: its exit may abort)

THEIRS = """
import json, sys, spoke_connect
asked = json.load(sys.stdin)
seed, key = bytes.fromhex(asked["seed"]), bytes.fromhex(asked["key"])
def accepted(hello):
    try:
        spoke_connect.verify_hello_ed25519(key, asked["peer_id"], json.dumps(hello))
    except Exception as error:
        return repr(error)
    return ""
print(json.dumps({
    "peer_id": spoke_connect.derive_peer_id_from_ed25519_pubkey(key),
    "accepted": [accepted(hello) for hello in asked["hellos"]],
    "hello": json.loads(spoke_connect.sign_hello_ed25519(seed, "n" * 20, json.dumps(asked["host"]))),
}), flush=True)
import os
os._exit(0)
"""


def theirs(seed: bytes, hellos: list[Any], host: Any) -> Any:
    identity = Identity(seed)
    asked = {
        "seed": seed.hex(),
        "key": key_of(identity.peer_id).hex(),
        "peer_id": identity.peer_id,
        "hellos": hellos,
        "host": host,
    }
    ended = subprocess.run(
        [sys.executable, "-c", THEIRS], input=json.dumps(asked), capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stdout, ended.stderr
    return json.loads(ended.stdout)


def test_both_verifiers_accept_each_other_s_hello_and_refuse_a_forged_one() -> None:
    seed = bytes(range(32))
    identity = Identity(seed)
    host = envelopes.manifest("hast \u00fc\U0001f600", ["checker"], FLAGS)
    ours = [envelopes.hello(identity, host), envelopes.hello(identity, host, "m" * 20)]
    forged = [{**ours[0], "nonce": "x" * 20}, {**ours[1], "peer_nonce": "x" * 20}, {**ours[0], "host": {**host, "host_id": "y"}}]
    seen = theirs(seed, [*ours, *forged], host)
    assert seen["peer_id"] == identity.peer_id
    assert [bool(complaint) for complaint in seen["accepted"]] == [False, False, True, True, True], seen["accepted"]
    assert envelopes.greeted(seen["hello"])["peer_id"] == identity.peer_id
    with pytest.raises(Untrusted, match="not the peer's"):
        envelopes.greeted({**seen["hello"], "nonce": "x" * 20})


def test_a_peer_id_is_its_key() -> None:
    identity = Identity.fresh()
    assert peer_id_of(key_of(identity.peer_id)) == identity.peer_id
    assert identity.peer_id.startswith("12D3KooW")
    for wrong in ("", "0", "1", identity.peer_id[:-1], identity.peer_id + "1", "z" * 52, "Qm" + identity.peer_id[2:], "1" * 500):
        with pytest.raises(Untrusted):
            key_of(wrong)


def test_a_signature_has_one_coding() -> None:
    identity = Identity.fresh()
    good = identity.sign({"a": 1})
    check_signature(identity.peer_id, {"a": 1}, good)
    check_signature(identity.peer_id, {"a": 1.0}, good)
    raw = base64.urlsafe_b64decode(good + "==")
    alike = [good[:-1] + letter for letter in LETTERS if letter != good[-1]]
    slack = next(text for text in alike if base64.urlsafe_b64decode(text + "==") == raw)
    for wrong in (slack, good + "=", "", None, 5, good[:-2], "!" * 86, Identity.fresh().sign({"a": 1}), identity.sign({"a": 2})):
        with pytest.raises(Untrusted):
            check_signature(identity.peer_id, {"a": 1}, wrong)


# -- who is let in, and what is taken of a session


def closed_at_once(url: str, identity: Identity, said: Any) -> None:
    with peer(url, identity) as caller:
        caller.wire.send(said if isinstance(said, str | bytes) else json.dumps(said))
        with pytest.raises(ConnectionClosed):
            caller.wire.recv(timeout=10)


def test_nobody_else_is_let_in(url: str) -> None:
    known, stranger = Identity.of_token(TOKEN), Identity.fresh()
    host = envelopes.manifest("t", ["checker"], [CORE])
    good = envelopes.hello(known, host)
    unnamed = envelopes.signed(known, {"protocol_version": 1, "peer_id": known.peer_id, "nonce": "n" * 20, "host": {}})
    wrong: list[Any] = [
        envelopes.hello(stranger, host),
        {**envelopes.hello(stranger, host), "peer_id": known.peer_id},
        {**good, "nonce": "x" * 20},
        {**good, "protocol_version": 2},
        {**good, "surprise": 1},
        envelopes.hello(known, host, "n" * 20),
        unnamed,
        [], None, 5, "{", b"\xff\xfe", "[" * 5000,
    ]  # fmt: skip
    for said in wrong:
        closed_at_once(url, known, said)
    with peer(url) as caller:
        caller.greet(good)
    closed_at_once(url, known, good)  # its nonce was used


def test_a_request_that_cannot_be_believed_has_no_effect(url: str) -> None:
    with peer(url) as caller:
        caller.greet()
        first = caller.request(0, op="control.principal", auth={"credential": TOKEN})
        other = envelopes.signed(Identity.fresh(), {name: first[name] for name in first if name not in envelopes.OUTSIDE})
        wrong = [
            {**first, "payload": {"x": 1}},
            {**first, "op": "control.provision"},
            {**first, "auth": {"credential": "x"}},
            {**first, "signature": first["signature"][::-1]},
            other,
            caller.request(0, session_id="other"),
            {**first, "surprise": 1},
        ]
        for request in wrong:
            assert caller.ask(request)["error"]["code"] == DENIED
        for sequence in (1, 7):
            assert caller.ask(caller.request(sequence))["error"]["code"] == BAD_SEQUENCE
        before = int(caller.ask(first)["payload"]["principal_id"].rpartition("-")[2])
        assert caller.ask(first)["error"]["code"] == BAD_SEQUENCE  # replayed
        again = caller.ask(caller.request(1, op="control.principal", auth={"credential": TOKEN}))
        assert int(again["payload"]["principal_id"].rpartition("-")[2]) == before + 2  # a principal, its credential


def test_a_control_needs_the_token_though_the_peer_is_known(url: str) -> None:
    with peer(url) as caller:
        caller.greet()
        for number, auth in enumerate(({}, {"credential": "x"}, {"credential": None}, {"credential": 5}, "x")):
            assert "error" in caller.ask(caller.request(number, op="control.provision", auth=auth))


def test_flags_are_those_of_the_session(shim: Connect, url: str) -> None:
    credential = control(shim, "provision", {})["root"]["credential"]
    refused = shim.send(Call("memory.exports.create", {}, credential, frozenset({CORE})))
    assert refused.code == CONTRACT.code(Code.FLAG_NOT_NEGOTIATED)
    assert shim.send(Call("memory.exports.create", {}, credential, FLAGS)).code == CONTRACT.code(Code.MALFORMED_REQUEST)
    with peer(url) as caller:
        assert caller.greet()["negotiated_capabilities"] == sorted([envelopes.CONNECT, CORE])


def test_calls_at_once_are_paired(shim: Connect) -> None:
    credential = control(shim, "provision", {})["root"]["credential"]
    calls = [
        Call("memory.describe", {}, who, flags) for who in (credential, "x", None, "") for flags in (FLAGS, frozenset({CORE}))
    ] * 5
    codes = [reply.code for reply in shim.send_all(calls) if not isinstance(reply, TargetFault)]
    assert codes == [None, None, *[DENIED] * 6] * 5


def test_what_has_no_canonical_form_cannot_travel(shim: Connect) -> None:
    with pytest.raises(CannotTravel) as stopped:
        shim.send(Call("memory.describe", {"extensions": {"x": {"y": "\ud800"}}}, "c", FLAGS))
    assert judge(stopped.value).verdict is Verdict.NOT_APPLICABLE
    assert hello(shim).name == "oracle"


# -- hosts that cannot be believed


Respond = Callable[[Identity, Any], Any]


@contextmanager
def hosted(respond: Respond) -> Iterator[str]:
    """Run a host that greets rightly and answers a request with what ``respond`` makes of it: frames, None for the end."""
    opened, loop, ready = listening(0), asyncio.new_event_loop(), threading.Event()

    async def met(wire: ServerConnection) -> None:
        identity = Identity.fresh()
        greeting = json.loads(await wire.recv())
        await wire.send(json.dumps(envelopes.hello(identity, envelopes.manifest("h", ["data-store"], FLAGS), greeting["nonce"])))
        await wire.send(json.dumps(envelopes.session(identity, greeting["peer_id"], [envelopes.CONNECT])))
        async for frame in wire:
            answer = respond(identity, json.loads(frame))
            if answer is None:
                return
            await wire.send(answer if isinstance(answer, str | bytes) else json.dumps(answer))

    async def served(sock: socket.socket) -> None:
        async with serve(met, sock=sock):
            ready.set()
            await stopped.wait()

    stopped = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(served(opened)))
    thread.start()
    ready.wait(10)
    try:
        yield f"ws://127.0.0.1:{opened.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        loop.close()


def said(identity: Identity, request: Any, **members: Any) -> Any:
    return envelopes.signed(identity, {**envelopes.echo(request), "payload": {}, **members})


HOSTILE: dict[str, tuple[Respond, str]] = {
    "another's signature": (lambda _, request: said(Identity.fresh(), request), "the signature is not the peer's"),
    "changed after signing": (lambda identity, request: {**said(identity, request), "payload": {"x": 1}}, "not the peer's"),
    "no signature": (lambda _, request: {**envelopes.echo(request), "payload": {}, "extensions": {}}, "cannot be believed"),
    "payload and error": (lambda identity, request: said(identity, request, error={"code": "x"}), "other members"),
    "a further member": (lambda identity, request: said(identity, request, more=1), "other members"),
    "another session": (lambda identity, request: said(identity, request, session_id="x"), "does not repeat"),
    "another sequence": (lambda identity, request: said(identity, request, sequence=7), "does not repeat"),
    "no JSON": (lambda *_: "{", "not JSON"),
    "no UTF-8": (lambda *_: b"\xff", "not JSON"),
    "no object": (lambda *_: "[]", "cannot be believed"),
    "the end": (lambda *_: None, "the connection broke"),
    "too long": (lambda *_: " " * (33 * 2**20), "the connection broke"),
    "a payload that is none": (lambda identity, request: said(identity, request, payload=5), "'payload' is no JSON object"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_host_that_cannot_be_believed_is_to_blame(name: str) -> None:
    respond, reason = HOSTILE[name]
    with hosted(respond) as there:
        shim = Connect(there, deadline=10)
        with pytest.raises(TargetFault, match=r"^memory\.describe: ") as caught:
            shim.send(Call("memory.describe", {}, "c", FLAGS))
        shim.close()
    assert reason in str(caught.value)


def test_a_host_that_is_silent_or_not_there_gives_no_answer() -> None:
    with hosted(
        lambda identity, request: said(identity, request, request_id=f"{request['session_id']}/99", sequence=99)
    ) as there:
        shim = Connect(there, deadline=1)
        with pytest.raises(NoAnswer, match=r"memory\.describe: no answer within 1 s"):
            shim.send(Call("memory.describe", {}, "c", FLAGS))
        shim.close()
    nobody = Connect(f"ws://127.0.0.1:{free_port()}", deadline=5)
    with pytest.raises(NoAnswer, match="nobody answers"):
        nobody.send(Call("memory.describe", {}))


@pytest.mark.parametrize("text", ["ws:", "ws://", "ws:///x", "ws://u@h:1", "ws://h:x", "ws://h/?q"])
def test_a_wrong_address_is_told_in_one_sentence(text: str) -> None:
    with pytest.raises(BadTarget, match=r"^target ws:.*\.$"):
        open_target(text, bundle=CONTRACT).open()


# -- as a target


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


def test_a_host_without_the_tool_is_to_blame() -> None:
    error = {"code": "op_unsupported", "message": "", "extensions": {}}
    with hosted(lambda identity, request: envelopes.signed(identity, {**envelopes.echo(request), "error": error})) as there:
        shim = Connect(there, deadline=10, tunnel=True)
        with pytest.raises(TargetFault, match=r"the tool tools\.memory\.call gave no result"):
            shim.send(Call("memory.describe", {}, "c", FLAGS))
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
