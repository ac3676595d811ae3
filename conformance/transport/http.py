"""The HTTP shim: one client that keeps its connections, one POST a call (harness.md, Target strings).

The deadline is of the whole exchange, however slowly an answer drips. Nothing is followed, decoded or taken from the
surroundings: a redirect, a content coding or an answer that is too long is a fault of the provider, and proxies are not used.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import httpx

from conformance.errors import BadTarget, NoAnswer, SuiteFault, TargetFault, blame
from conformance.exchange import Call, Reply
from conformance.transport.reading import ANSWER_LIMIT, read_json
from conformance.transport.route import Route
from conformance.transport.shim import Shim, read_answer
from conformance.wire import json_text

KEEP_ALIVE_SECONDS = 2.0
"""Less than any server waits, so that no call meets a connection that is just being closed."""
SPARE_SECONDS = 0.1
"""So much later the whole exchange is given up: the connecting, which closes what it has opened, has given up before."""
LAST_TURNS = 3
"""A transport that was closed is gone some turns of the loop later."""
PARALLEL = 64
FLAGS_HEADER = "Spoke-Capabilities"

Outcome = Reply | TargetFault


class Http:
    """A shim over the server at ``base``. ``deadline`` is in seconds a call; ``token`` goes along with controls.

    ``ca`` is a PEM file of the certificates that are trusted, None: the public ones are.

    All workers of a run reach the same server, hence ``shared``.
    """

    shared = True

    def __init__(
        self,
        base: str,
        *,
        deadline: float,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        ca: Path | None = None,
    ) -> None:
        self._base = base.rstrip("/")
        self._deadline = deadline
        self._token = token
        self._headers = dict(headers or {})
        self._loop = asyncio.new_event_loop()
        self._client = self._made_client(True if ca is None else ssl.create_default_context(cafile=ca))

    def send(self, call: Call) -> Reply:
        """Carry one call (see ``Shim``)."""
        outcome = self._loop.run_until_complete(self._outcome(call))
        if isinstance(outcome, TargetFault):
            raise outcome
        return outcome

    def send_all(self, calls: Sequence[Call]) -> list[Outcome]:
        """Carry calls at the same time (see ``Shim``)."""
        return self._loop.run_until_complete(self._gathered(calls))

    def restart(self) -> bool:
        """Return False: only the provider's own control can restart it."""
        return False

    def close(self) -> None:
        """Close the connections and the event loop, also where an exchange was interrupted."""
        if not self._loop.is_closed():
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(self._farewell())
            self._loop.close()

    # -- one exchange

    async def _farewell(self) -> None:
        await self._client.aclose()
        for _ in range(LAST_TURNS):
            await asyncio.sleep(0)

    def _made_client(self, trusted: ssl.SSLContext | bool) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=trusted,
            timeout=httpx.Timeout(None, connect=self._deadline),  # the whole exchange has the deadline
            trust_env=False,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=PARALLEL, keepalive_expiry=KEEP_ALIVE_SECONDS),
        )

    async def _gathered(self, calls: Sequence[Call]) -> list[Outcome]:
        return list(await asyncio.gather(*map(self._outcome, calls)))

    async def _outcome(self, call: Call) -> Outcome:
        try:
            async with asyncio.timeout(self._deadline + SPARE_SECONDS):
                status, body = await self._exchange(call)
        except (TimeoutError, httpx.ConnectTimeout):
            return NoAnswer(f"{call.op}: no answer within {self._deadline:g} s")
        except httpx.ConnectError as error:
            self._refuse_distrust(error)
            return NoAnswer(f"{call.op}: nobody answers at {self._base}: {blame(error)}")
        except httpx.LocalProtocolError as error:
            raise SuiteFault(f"{call.op}: the suite's own request cannot travel over HTTP: {blame(error)}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return TargetFault(f"{call.op}: the exchange broke: {blame(error)}")
        except TargetFault as fault:
            return fault
        return _read(call.op, status, body)

    async def _exchange(self, call: Call) -> tuple[int, bytes]:
        body = json_text.written(call.payload).encode("ascii")
        async with self._client.stream("POST", self._url(call.op), content=body, headers=self._headers_of(call)) as response:
            _refuse_detours(call.op, response)
            answer = bytearray()
            async for chunk in response.aiter_raw():
                answer += chunk
                if len(answer) > ANSWER_LIMIT:
                    raise TargetFault(f"{call.op}: the answer is longer than {ANSWER_LIMIT} bytes")
            return response.status_code, bytes(answer)

    def _refuse_distrust(self, error: BaseException) -> None:
        """Tell a person of a certificate that is not trusted: no provider is to be blamed for it."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                why = cause.verify_message
                raise BadTarget(
                    f"target {self._base}: its certificate is not trusted ({why}); a target file names a private CA by 'ca'."
                ) from error
            cause = cause.__cause__ or cause.__context__

    def _url(self, op: str) -> str:
        return f"{self._base}/{quote(op, safe='')}"

    def _headers_of(self, call: Call) -> list[tuple[bytes, bytes]]:
        """Give the request's headers; a credential travels as UTF-8."""
        named = {**self._headers, "Content-Type": "application/json", "Accept-Encoding": "identity"}
        if not call.is_control:
            named[FLAGS_HEADER] = ", ".join(sorted(call.flags))
        bearer = self._token if call.is_control else call.credential
        if bearer is not None:
            named["Authorization"] = f"Bearer {bearer}".rstrip()  # an empty one leaves no space, which HTTP forbids at the end
        return [(name.encode("ascii"), value.encode("utf-8", "surrogatepass")) for name, value in named.items()]


def open_http(route: Route) -> Shim:
    """Return a shim over the server that ``route`` names. Raises ``BadTarget`` where it is no address."""
    return _opened("http", route)


def open_https(route: Route) -> Shim:
    """Return a shim over the server that ``route`` names, over TLS. Raises ``BadTarget`` where it is no address."""
    return _opened("https", route)


def _opened(scheme: str, route: Route) -> Shim:
    base = f"{scheme}:{route.rest}"
    try:
        url = httpx.URL(base)
    except httpx.InvalidURL as error:
        raise BadTarget(f"target {base}: it is no address: {error}.") from error
    if not url.host or url.query or url.fragment or url.userinfo:
        raise BadTarget(f"target {base}: write it as {scheme}://host:port/base.")
    return Http(base, deadline=route.deadline, token=route.token, headers=route.headers, ca=route.ca)


def _refuse_detours(op: str, response: httpx.Response) -> None:
    if response.is_redirect or 300 <= response.status_code < 400:
        raise TargetFault(f"{op}: the answer is a redirect ({response.status_code}); an operation answers where it is asked")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise TargetFault(f"{op}: the answer has a content coding that was not asked for")


def _read(op: str, status: int, body: bytes) -> Outcome:
    """Turn a status and a body into an outcome: 2xx has the success body, every other status an error envelope."""
    try:
        answer = read_json(op, body)
        if 200 <= status < 300:
            return read_answer(op, {"payload": answer})
        reply = read_answer(op, answer)
    except TargetFault as fault:
        return type(fault)(f"{fault} (HTTP status {status})")
    return reply if reply.error is not None else TargetFault(f"{op}: HTTP status {status} came with a success body")
