"""A provider over HTTP: one POST an operation or control (harness.md, Target strings; HTTP status by error code)."""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
from functools import cache

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from conformance.exchange import CONTROL_PREFIX
from conformance.serving.host import Answer, Gone, Host
from conformance.serving.openapi import document
from conformance.serving.sockets import LOOPBACK
from conformance.serving.statuses import status_of
from conformance.wire import json_text
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code

REQUEST_LIMIT = 16 * 2**20
"""No request is longer, in bytes."""
CONTRACT_PATH = "/openapi.json"


class Broken(Response):
    """No answer: the connection ends in the middle of one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - the signature of ASGI
        """Begin an answer and break off. Raises ``Gone``."""
        await send({"type": "http.response.start", "status": 500, "headers": [(b"content-length", b"1")]})
        raise Gone


class TooLong(Exception):
    """A request is longer than ``REQUEST_LIMIT``."""


def application(host: Host, token: str) -> Starlette:
    """Make the ASGI application; ``token`` is what a control call must show."""

    async def answer(request: Request) -> Response:
        try:
            return _response(host.bundle, await _answer(host, token, request))
        except Gone:
            return Broken()

    async def contract(request: Request) -> Response:  # noqa: ARG001 - the signature of an endpoint
        return Response(await asyncio.to_thread(described), media_type="application/json")

    @cache
    def described() -> bytes:
        return json_text.written(document(host.bundle)).encode("ascii")

    routes = [Route(CONTRACT_PATH, contract, methods=["GET"]), Route("/{op:path}", answer, methods=["POST"])]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK, "localhost"])
    return Starlette(routes=routes, middleware=[hosts])


def serve_http(host: Host, token: str, opened: socket.socket) -> None:
    """Serve until a signal ends it."""
    config = uvicorn.Config(
        application(host, token),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_keep_alive=60,
        server_header=False,
    )
    logging.getLogger("uvicorn.error").addFilter(_tells)
    uvicorn.Server(config).run(sockets=[opened])


def _tells(record: logging.LogRecord) -> bool:
    """Leave a broken answer out of the log: it is meant."""
    return not (record.exc_info and isinstance(record.exc_info[1], Gone))


async def _answer(host: Host, token: str, request: Request) -> Answer:
    try:
        payload = json_text.read((await _body(request)).decode("utf-8"), strict=False)
    except TooLong:
        return host.refusal(Code.LIMIT_EXCEEDED, f"a request has at most {REQUEST_LIMIT} bytes")
    except ValueError:
        return host.refusal(Code.MALFORMED_REQUEST, "the body is not JSON")
    name, bearer = request.path_params["op"], _bearer(request)
    if not name.startswith(CONTROL_PREFIX):
        return await host.memory(bearer, _flags(request), name, payload)
    if not hmac.compare_digest((bearer or "").encode(), token.encode()):
        return host.refusal(Code.NOT_AUTHENTICATED, "a control call shows the harness token")
    return await host.control(name, payload)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > REQUEST_LIMIT:
            raise TooLong
    return bytes(body)


def _bearer(request: Request) -> str | None:
    raw = dict(request.headers.raw).get(b"authorization", b"")
    scheme, _, rest = raw.partition(b" ")
    return rest.decode("utf-8", "surrogateescape").strip() or None if scheme.lower() == b"bearer" else None


def _flags(request: Request) -> list[str]:
    return [flag for part in request.headers.get("spoke-capabilities", "").split(",") if (flag := part.strip())]


def _response(bundle: Bundle, answer: Answer) -> Response:
    body, status = (answer["payload"], 200) if "payload" in answer else (answer, status_of(bundle, answer["error"]))
    return Response(json_text.written(body).encode("ascii"), status, media_type="application/json")
