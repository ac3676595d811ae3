"""A host on the published connect library that takes memory calls as its tool ``tools.memory.call``: the oracle behind it.

MEMORY_HARNESS_TOKEN=… python -m tests.tool_host PORT
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any

import spoke_connect
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from conformance.connect import envelopes
from conformance.connect.identity import Identity, key_of
from tests.served import ticking

SEED = bytes(range(32))
HANDLER_SECONDS = 10.0
MANIFEST = envelopes.manifest("tool host", ["data-store"], [envelopes.TOOL])


class Wire(spoke_connect.Transport):  # type: ignore[misc]
    """Carries the library's envelopes over a WebSocket, one a frame."""

    def __init__(self, wire: Any, *, handled: bool = True) -> None:
        self._wire = wire
        self._greeted = False
        self.over = threading.Event()
        self.ready = threading.Event()
        """Set once the handler is there: the library takes calls before its host can name one."""
        if handled:
            self.ready.set()

    def send(self, envelope: bytes) -> None:
        with suppress(ConnectionClosed):
            self._wire.send(envelope.decode())

    def recv(self) -> bytes:
        try:
            frame: bytes = self._wire.recv(decode=False)
        except ConnectionClosed as error:
            self.over.set()
            raise spoke_connect.TransportError.Closed from error
        if self._greeted:
            self.ready.wait(HANDLER_SECONDS)
        self._greeted = True
        return frame

    def close(self) -> None:
        self._wire.close()


class Memory(spoke_connect.ToolHandler):  # type: ignore[misc]
    """The tool: a memory call or a control in its plain form."""

    def __init__(self) -> None:
        self._oracle = ticking()
        self._turn = threading.Lock()

    def handle(self, arguments_json: str) -> str:
        with self._turn:
            return self._answer(json.loads(arguments_json))

    def _answer(self, message: Any) -> str:
        if "control" in message:
            return json.dumps(self._oracle.control(message["control"], message["payload"]))
        return json.dumps(self._oracle.call(message["credential"], message["flags"], message["op"], message["payload"]))


def main(port: int) -> None:
    peer_id = Identity.of_token(os.environ["MEMORY_HARNESS_TOKEN"]).peer_id
    memory = Memory()

    def met(wire: ServerConnection) -> None:
        carried = Wire(wire, handled=False)
        responder = spoke_connect.connect_responder_ffi(
            carried, SEED, json.dumps(MANIFEST), [peer_id], {peer_id: key_of(peer_id)}, None, 10_000
        )
        responder.register_tool_handler(envelopes.TOOL, memory)
        carried.ready.set()
        carried.over.wait()

    with serve(met, "127.0.0.1", port) as server:
        sys.stdout.write("serving\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))
