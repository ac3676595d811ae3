"""The connect transport beside hosts that cannot be believed, are silent or are not there."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from conformance.connect import envelopes
from conformance.connect.identity import Identity
from conformance.errors import BadTarget, NoAnswer, TargetFault
from conformance.exchange import Call
from conformance.serving.sockets import listening
from conformance.target import open_target
from conformance.transport.connect import Connect
from tests.connect_peers import CONTRACT, FLAGS
from tests.ports import free_port

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


def test_a_host_without_the_tool_is_to_blame() -> None:
    error = {"code": "op_unsupported", "message": "", "extensions": {}}
    with hosted(lambda identity, request: envelopes.signed(identity, {**envelopes.echo(request), "error": error})) as there:
        shim = Connect(there, deadline=10, tunnel=True)
        with pytest.raises(TargetFault, match=r"the tool tools\.memory\.call gave no result"):
            shim.send(Call("memory.describe", {}, "c", FLAGS))
        shim.close()
