"""MEM-R004, dispatch validation, of HTTP targets: no request whatever breaks the server, hangs it or shows its inside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.edge.generated import chosen, exchanges
from conformance.edge.judging import wrong
from conformance.edge.probe import Asked, Came, Edge
from conformance.errors import TargetFault
from conformance.expect import NotApplicable
from conformance.world import World

pytestmark = pytest.mark.edge

Headers = list[tuple[bytes, bytes]]
HUGE = 4 * 2**20
JSON = (b"Content-Type", b"application/json")


def _edge(bench: Bench) -> Edge:
    if bench.edge is None:
        raise NotApplicable("the target is not reached over HTTP")
    return bench.edge


def _headers(world: World, credential: bytes | None = None) -> Headers:
    """Return what goes along with a valid request; ``credential`` stands in for the whole value of Authorization."""
    flags = ", ".join(sorted(world.root.flags)).encode()
    own = b"Bearer " + (world.root.credential or "").encode()
    return [(b"Authorization", own if credential is None else credential), (b"Spoke-Capabilities", flags)]


def _body(world: World) -> bytes:
    return json.dumps(_request(world)).encode()


def _request(world: World) -> dict[str, Any]:
    return {"space_id": world.space_id, "selection": world.everything()}


LIST = "/memory.records.list"
TYPES = (b"", b"text/plain", b"application/xml", b"multipart/form-data", b"application/json; charset=x")
CODINGS = (b"gzip", b"br", b"identity", b"x")
BROKEN = (b"", b"{", b"}", b"nul", b"[1,]", b"{'a': 1}", b'{"a"}', b"\x00", b"\xff\xfe", b'{"a": 01}', b'{"a": "\xff"}', b"{}{}")
NO_OBJECTS = (b"null", b"[]", b'""', b"1", b"true", b"1e999")
METHODS = ("GET", "PUT", "PATCH", "DELETE", "BREW")
PATHS = (
    "/",
    "/memory",
    "/memory.records.nothing",
    "//",
    "/../..",
    "/%00",
    "/%ff",
    "/%2e%2e/",
    f"/{'x' * 6000}",
    f"{LIST}/x",
    "/;",
)
CREDENTIALS = (
    b"",
    b"Bearer",
    b"Bearer ",
    b"Basic YTpi",
    b"x",
    b"Bearer x",
    b"Bearer a b",
    b"Bearer \xff\xfe",
    b"Bearer \xc3\xbc",
)
LONG = b"Bearer " + b"x" * 6000


def _types(world: World) -> Sequence[Asked]:
    """Return requests that are right but for their content type."""
    given: list[Headers] = [[], *([(b"Content-Type", kind)] for kind in TYPES)]
    return [Asked(LIST, headers=[*_headers(world), *kind], body=_body(world)) for kind in given]


def _codings(world: World) -> Sequence[Asked]:
    coded = [(b"Content-Encoding", coding) for coding in CODINGS]
    return [Asked(LIST, headers=[*_headers(world), JSON, one], body=_body(world)) for one in coded]


def _bodies(*bodies: bytes) -> Callable[[World], Sequence[Asked]]:
    return lambda world: [Asked(LIST, headers=[*_headers(world), JSON], body=body) for body in bodies]


def _cut(world: World) -> Sequence[Asked]:
    """Return requests whose body is a valid one with a byte too few or too many."""
    body = _body(world)
    return _bodies(body[:-1], body + b"}", body + b"\xff", body + b"\x00")(world)


def _methods(world: World) -> Sequence[Asked]:
    return [Asked(LIST, method, [*_headers(world), JSON]) for method in METHODS]


def _paths(world: World) -> Sequence[Asked]:
    return [Asked(path, headers=[*_headers(world), JSON], body=_body(world)) for path in PATHS]


def _credentials(world: World) -> Sequence[Asked]:
    asked = [Asked(LIST, headers=[*_headers(world, one), JSON], body=_body(world)) for one in (*CREDENTIALS, LONG)]
    return [*asked, Asked(LIST, headers=[*_headers(world)[1:], JSON], body=_body(world))]


REFUSED: Mapping[str, Callable[[World], Sequence[Asked]]] = MappingProxyType(
    {
        "broken_json": _bodies(*BROKEN),
        "cut_json": _cut,
        "no_object": _bodies(*NO_OBJECTS),
        "wrong_method": _methods,
        "unknown_path": _paths,
        "wrong_credentials": _credentials,
    }
)
"""Requests that a server has to refuse."""
LEFT_OPEN: Mapping[str, Callable[[World], Sequence[Asked]]] = MappingProxyType(
    {"content_type": _types, "content_coding": _codings}
)
"""Requests that it may take or refuse."""


def _survives(world: World, asked: Asked, came: Came) -> None:
    fault = wrong(came)
    seen = {"asked": asked.shown(), "came": came.shown()}
    world.expect(fault is None, f"{asked.method} {asked.path[:80]}: {fault}", seen=seen)


def _as_a_call(world: World, asked: Asked) -> None:
    """Send what a request says as a call of the operation, where it is one: what fails so can be shown on any transport."""
    try:
        payload = json.loads(asked.body)
    except ValueError:
        return
    if (op := asked.path.removeprefix("/")) in world.bundle.operations and asked.method == "POST":
        with suppress(TargetFault):  # what no shim can read is told as it came over HTTP
            world.root.raw(op, payload)


def _alive(world: World) -> None:
    """Expect the server to go on answering."""
    world.root.do("records.list", selection=world.everything())


@pytest.mark.parametrize("kind", [*REFUSED, *LEFT_OPEN])
def test_no_http_request_breaks_the_server(bench: Bench, kind: str) -> None:
    """A request that is wrong as HTTP is refused below status 500, with no stack trace, and changes nothing."""
    edge, world = _edge(bench), bench.world()
    world.root.create()
    with world.unchanged():
        for asked in (REFUSED.get(kind) or LEFT_OPEN[kind])(world):
            came = edge.ask(asked)
            _survives(world, asked, came)
            if kind in REFUSED:
                seen = {"asked": asked.shown(), "came": came.shown()}
                done = came.status is not None and 200 <= came.status < 300
                world.expect(not done, f"{asked.method} {asked.path[:80]}: answered with success", seen=seen)
    _alive(world)


def test_a_huge_body_does_not_break_the_server(bench: Bench) -> None:
    """A body far beyond the limit is refused in time, by an answer or by the end of the connection, and the server goes on."""
    edge, world = _edge(bench), bench.world()
    world.root.create()
    request = _request(world)
    bodies = (
        json.dumps({**request, "extensions": {"x": {"y": "z" * HUGE}}}).encode(),
        json.dumps({**request, "extensions": {"x": {"y": [0] * (HUGE // 3)}}}).encode(),
        b"[" * HUGE,
        b" " * HUGE + json.dumps(request).encode(),
    )
    with world.unchanged():
        for body in bodies:
            asked = Asked(LIST, headers=[*_headers(world), JSON], body=body)
            came = edge.ask(asked)
            if came.status is not None:
                _survives(world, asked, came)
            _alive(world)


def test_no_generated_request_breaks_the_server(bench: Bench) -> None:
    """No request that can be made from the operations' schemas, valid or not, makes the server fail or show its inside."""
    edge, world = _edge(bench), bench.world()
    ops = [operation.name for operation in scenes.served(world)]
    tried = {op: world.bundle.operations[op] for op in chosen(ops, edge.thoroughness, bench.seed)}
    requests = {op: world.root.call(row.stem, **scenes.request_in_peace(world, row.stem)).payload for op, row in tried.items()}
    for asked, came in exchanges(edge, requests, _headers(world), bench.seed):
        if wrong(came) is not None:
            _as_a_call(world, asked)
        _survives(world, asked, came if came.status is not None else edge.ask(asked))
    _alive(world)
