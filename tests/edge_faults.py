"""HTTP servers with one fault each, which no well-formed call of an operation shows: the served oracle behind a bad front."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.oracle import Oracle
from conformance.serving.host import Host
from conformance.serving.http import application
from conformance.serving.sockets import listening
from conformance.wire import bundle

TOKEN = "a token of these tests"
FAILURE = "failed with status 500"


class Cut(Response):
    """Ends the connection, without an answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cycle: Any = getattr(send, "__self__")  # noqa: B009 - ASGI has no word for it; uvicorn's own object has
        cycle.transport.abort()


FAILED = PlainTextResponse("Internal Server Error", 500)
TRACE = 'Traceback (most recent call last):\n  File "server.py", line 12, in handle\nValueError: x'
NODE = "TypeError: x is undefined\n    at handle (/srv/app.js:12:7)"

Front = Callable[[Request, bytes], Response | None]
"""Answers a request in the server's place, or leaves it (None)."""


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _member(body: bytes, name: str) -> object:
    parsed = json.loads(body) if _is_json(body) else None
    return parsed.get(name) if isinstance(parsed, dict) else None


def _typed(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("application/json")


FRONTS: Mapping[str, tuple[Front, str, str]] = MappingProxyType(
    {
        # what the front does, the kind of request that shows it ("generated": what schemathesis makes), and what is said then
        "fails_on_broken_json": (lambda _, body: None if _is_json(body) else FAILED, "broken_json", FAILURE),
        "shows_python_trace": (
            lambda _, body: None if _is_json(body) else PlainTextResponse(TRACE, 400), "cut_json", "shows a stack trace",
        ),
        "shows_node_trace": (
            lambda _, body: JSONResponse({"error": {"message": NODE}}, 400) if body == b"null" else None,
            "no_object", "shows a stack trace",
        ),
        "fails_on_type": (lambda request, _: None if _typed(request) else FAILED, "content_type", FAILURE),
        "fails_on_coding": (
            lambda request, _: FAILED if "content-encoding" in request.headers else None, "content_coding", FAILURE,
        ),
        "answers_get": (
            lambda request, _: JSONResponse({"records": []}) if request.method == "GET" else None,
            "wrong_method", "answered with success",
        ),
        "answers_any_path": (
            lambda request, _: JSONResponse({}) if request.url.path.count(".") != 2 else None,
            "unknown_path", "answered with success",
        ),
        "fails_without_credential": (
            lambda request, _: None if "authorization" in request.headers else FAILED, "wrong_credentials", FAILURE,
        ),
        "fails_on_other_schemes": (
            lambda request, _: FAILED if request.headers.get("authorization", "").startswith("Basic") else None,
            "wrong_credentials", FAILURE,
        ),
        "fails_on_a_member": (
            lambda _, body: FAILED if _member(body, "extensions") else None, "generated", FAILURE,
        ),
        "shows_a_trace_for_a_member": (
            lambda _, body: PlainTextResponse(TRACE, 400) if isinstance(_member(body, "space_id"), int) else None,
            "generated", "shows a stack trace",
        ),
        "ends_without_an_answer": (
            lambda _, body: Cut() if _member(body, "extensions") else None, "generated", "without an answer",
        ),
    }
)  # fmt: skip


class Fronted:
    """An application behind a front; controls are left alone."""

    def __init__(self, behind: ASGIApp, front: Front) -> None:
        self._behind = behind
        self._front = front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        answer = None if request.url.path.startswith("/control.") else self._front(request, body)

        async def again() -> dict[str, object]:
            return {"type": "http.request", "body": body, "more_body": False}

        await (answer or self._behind)(scope, again if answer is None else receive, send)


class Hanging(Fronted):
    """Never answers a request whose content type is not JSON."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _typed(Request(scope)):
            await asyncio.sleep(3600)
        await super().__call__(scope, receive, send)


@contextmanager
def served(front: Front, kind: type[Fronted] = Fronted) -> Iterator[str]:
    """Serve the oracle behind a front, and give its address."""
    behind = application(Host(Oracle(), bundle.load()), TOKEN)
    config = uvicorn.Config(kind(behind, front), log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    opened = listening(0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        opened.close()
