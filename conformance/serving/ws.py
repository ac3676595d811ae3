"""A provider over WebSocket: SPOKE connect sessions, signed on both sides (harness.md, ``ws://`` targets).

Only the peer whose key is made of the harness token is let in. What its hello declares and the provider declares too is the
session's negotiated set.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from conformance.connect import envelopes
from conformance.connect.identity import Identity, Untrusted
from conformance.exchange import CONTROL_PREFIX
from conformance.serving.host import Answer, Gone, Host
from conformance.wire import json_text
from conformance.wire.canonical import NotCanonical
from conformance.wire.vocabulary import Code

REQUEST_LIMIT = 16 * 2**20
"""No frame is longer, in bytes."""
BAD_SEQUENCE = "invalid_sequence"
"""Connect's own code for a request that is out of order."""
REFUSED = 1008
BROKEN = 1011


class Door:
    """Lets peers in: ``allowed`` is the one peer id; each nonce is good for one hello."""

    def __init__(self, host: Host, token: str) -> None:
        self.host = host
        self.token = token
        self.identity = Identity.of_host(token)
        self._allowed = Identity.of_token(token).peer_id
        self._nonces: set[str] = set()

    async def met(self, wire: ServerConnection) -> None:
        """Greet a peer and serve its session until it leaves."""
        try:
            session = await self._greeted(wire)
        except Untrusted as untrusted:
            await wire.close(REFUSED, str(untrusted)[:100])
            return
        with suppress(ConnectionClosed, ExceptionGroup):
            await session.serve()

    async def _greeted(self, wire: ServerConnection) -> Session:
        greeting = envelopes.greeted(_read(await wire.recv()))
        if greeting["peer_id"] != self._allowed or greeting["nonce"] in self._nonces:
            raise Untrusted("the peer is not allowed, or its hello is not new")
        self._nonces.add(greeting["nonce"])
        declared = (await self.host.control(f"{CONTROL_PREFIX}hello", {}))["payload"]["flags"]
        own = envelopes.manifest("memory-conformance serve", ["data-store"], [*declared, envelopes.TOOL])
        negotiated = envelopes.capabilities_of(greeting) & set(own["capabilities"])
        await wire.send(json_text.written(envelopes.hello(self.identity, own, greeting["nonce"])))
        opened = envelopes.session(self.identity, greeting["peer_id"], negotiated | {envelopes.CONNECT})
        await wire.send(json_text.written(opened))
        return Session(self, wire, greeting["peer_id"], opened)


class Session:
    """An open session. Requests are taken in their order and answered as their answers get ready."""

    def __init__(self, door: Door, wire: ServerConnection, peer_id: str, opened: Mapping[str, Any]) -> None:
        self._door = door
        self._wire = wire
        self._peer_id = peer_id
        self._session_id = opened["session_id"]
        self._tunnels = envelopes.TOOL in opened["negotiated_capabilities"]
        self._flags = sorted(set(opened["negotiated_capabilities"]) - {envelopes.CONNECT, envelopes.TOOL})
        self._next = 0

    async def serve(self) -> None:
        """Answer requests until the peer leaves."""
        async with asyncio.TaskGroup() as group:
            async for frame in self._wire:
                group.create_task(self._answered(*self._taken(frame)))

    def _taken(self, frame: str | bytes) -> tuple[Mapping[str, Any], Answer | None]:
        """Return a request with the refusal that it meets before anyone looks at its operation (None: it meets none)."""
        host = self._door.host
        message = _read(frame)
        try:
            request = envelopes.believed(envelopes.REQUEST, message, self._peer_id)
        except Untrusted as untrusted:
            return _named(message), host.refusal(Code.NOT_AUTHENTICATED, str(untrusted))
        if request["session_id"] != self._session_id:
            return request, host.refusal(Code.NOT_AUTHENTICATED, "the request is of another session")
        if request["sequence"] != self._next:
            said = f"sequence {request['sequence']!r}, expected {self._next}"
            return request, {"error": {"code": BAD_SEQUENCE, "message": said, "extensions": {}}}
        self._next += 1
        return request, None

    async def _answered(self, request: Mapping[str, Any], refusal: Answer | None) -> None:
        try:
            answer = refusal or await self._asked(request)
        except Gone:
            await self._wire.close(BROKEN, "the provider is gone")
            return
        with suppress(ConnectionClosed):
            await self._wire.send(json_text.written(self._response(request, answer)))

    def _response(self, request: Mapping[str, Any], answer: Answer) -> envelopes.Envelope:
        echo = envelopes.echo(request)
        try:
            return envelopes.signed(self._door.identity, {**echo, **answer})
        except NotCanonical:
            refusal = self._door.host.refusal(Code.INTERNAL, "the answer has no canonical form")
            return envelopes.signed(self._door.identity, {**echo, **refusal})

    async def _asked(self, request: Mapping[str, Any]) -> Answer:
        host, op, auth = self._door.host, request["op"], request.get("auth")
        credential = auth.get("credential") if isinstance(auth, dict) else None
        if not isinstance(op, str) or not isinstance(credential, str | None):
            return host.refusal(Code.MALFORMED_REQUEST, "'op' and 'auth.credential' are strings")
        if op == envelopes.TOOL and self._tunnels:
            payload = request["payload"]
            return {"payload": {"result": await host.message(payload.get("arguments") if isinstance(payload, dict) else None)}}
        if not op.startswith(CONTROL_PREFIX):
            return await host.memory(credential, self._flags, op, request["payload"])
        if not hmac.compare_digest((credential or "").encode(), self._door.token.encode()):
            return host.refusal(Code.NOT_AUTHENTICATED, "a control call shows the harness token")
        return await host.control(op, request["payload"])


def serve_ws(host: Host, token: str, opened: socket.socket) -> None:
    """Serve until a signal ends it."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(host, token, opened))


async def _serve(host: Host, token: str, opened: socket.socket) -> None:
    async with serve(Door(host, token).met, sock=opened, max_size=REQUEST_LIMIT, compression=None) as server:
        await server.serve_forever()


def _read(frame: str | bytes) -> Any:
    try:
        return json_text.read(frame if isinstance(frame, str) else frame.decode("utf-8"), strict=False)
    except ValueError:
        return None


def _named(message: Any) -> Mapping[str, Any]:
    """Return what can be echoed of a request that cannot be believed."""
    found = message if isinstance(message, dict) else {}
    named = {name: str(found.get(name, "")) for name in ("session_id", "request_id")}
    sequence = found.get("sequence")
    whole = isinstance(sequence, int) and not isinstance(sequence, bool) and 0 <= sequence <= envelopes.LAST_SEQUENCE
    return {**named, "sequence": sequence if whole else 0}
