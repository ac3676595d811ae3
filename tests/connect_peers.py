"""A host of ours over connect, and a caller that says to it what it likes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

from conformance.connect import envelopes
from conformance.connect.identity import Identity
from conformance.transport.started import Server, running
from conformance.wire import bundle
from conformance.wire.vocabulary import Flag
from tests.ports import free_port
from tests.served import COMMAND, ROOT

CONTRACT = bundle.load()
FLAGS = frozenset(CONTRACT.flag(flag) for flag in Flag)
CORE = CONTRACT.flag(Flag.CORE)
TOKEN = "a token of this test"


@contextmanager
def our_host() -> Iterator[str]:
    """Serve the bundled provider over connect, and give its address."""
    port = free_port()
    server = Server((*COMMAND.split(), "--ws", str(port)), (), re.compile("serving on"), {"MEMORY_HARNESS_TOKEN": TOKEN}, ROOT)
    with running(server):
        yield f"ws://127.0.0.1:{port}"


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
