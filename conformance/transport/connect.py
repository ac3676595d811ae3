"""The connect shim: signed invoke requests and responses over WebSocket, a session for each set of flags (harness.md).

An operation's body is the invoke's payload as it is; the credential travels in ``auth``, which is signed too. The suite's own key
is made of the harness token, so that a provider can allow exactly this peer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import ClientConnection, connect

from conformance.connect import envelopes
from conformance.connect.identity import Identity, Untrusted
from conformance.errors import BadTarget, CannotTravel, NoAnswer, TargetFault, blame
from conformance.exchange import Call, Reply
from conformance.transport.reading import ANSWER_LIMIT, excerpt, read_json
from conformance.transport.route import Route
from conformance.transport.shim import Shim, read_answer
from conformance.wire import json_text
from conformance.wire.canonical import NotCanonical

HOST = "memory-conformance"
LEAVE_SECONDS = 1.0

Outcome = Reply | TargetFault
Flags = frozenset[str]
Done = TypeVar("Done")


class Session:
    """An open session; ``held`` is what is closed with it. Raises ``TargetFault``, and what ``websockets`` raises."""

    def __init__(self, wire: ClientConnection, identity: Identity, flags: Flags, until: float) -> None:
        self.wire = wire
        self.held = ExitStack()
        self._identity = identity
        self._sequence = 0
        hello = envelopes.hello(identity, envelopes.manifest(HOST, ["checker"], flags))
        self._send(hello)
        try:
            greeting = envelopes.greeted(self.receive("hello", until), peer_nonce=hello["nonce"])
            self._peer_id = greeting["peer_id"]
            self._session = envelopes.opened(self.receive("session", until), identity.peer_id, self._peer_id)
        except Untrusted as untrusted:
            raise TargetFault(f"connect: {untrusted}") from untrusted
        extra = set(self._session["negotiated_capabilities"]) - {envelopes.CONNECT, *flags}
        if extra:
            raise TargetFault(f"connect: the session negotiates what was not offered: {', '.join(sorted(map(str, extra)))}")

    def invoke(self, call: Call, asked: Mapping[str, Any]) -> str:
        """Send a signed request that holds the members ``asked``, and return its id. Raises ``CannotTravel``."""
        numbered = {
            "session_id": self._session["session_id"],
            "sequence": self._sequence,
            "request_id": f"{self._session['session_id']}/{self._sequence}",
        }
        try:
            envelope = envelopes.signed(self._identity, {**numbered, **asked})
        except NotCanonical as error:
            raise CannotTravel(f"{call.op}: a value without canonical form cannot be signed, and so not travel") from error
        self._sequence += 1
        self._send(envelope)
        return str(numbered["request_id"])

    def answer(self, op: str, until: float) -> tuple[str, Mapping[str, Any]]:
        """Return the id of the request that the next response is for, and its answer. Raises ``TargetFault``."""
        try:
            members = envelopes.believed(envelopes.RESPONSE, self.receive(op, until), self._peer_id)
        except Untrusted as untrusted:
            raise TargetFault(f"{op}: the response cannot be believed: {untrusted}") from untrusted
        number = str(members["request_id"]).rpartition("/")[2]
        if members["session_id"] != self._session["session_id"] or str(members["sequence"]) != number:
            raise TargetFault(f"{op}: the response does not repeat session, sequence and request id of one request")
        return str(members["request_id"]), {name: members[name] for name in ("payload", "error") if name in members}

    def receive(self, op: str, until: float) -> Any:
        """Return the next frame as JSON."""
        frame = self.wire.recv(timeout=max(0.0, until - time.monotonic()), decode=False)
        return read_json(op, frame)

    def _send(self, envelope: Mapping[str, Any]) -> None:
        self.wire.send(json_text.written(envelope))


class Connect:
    """A shim over the host at ``url``. ``deadline`` is in seconds a call; ``token`` goes along with controls.

    With ``tunnel`` every call travels as the arguments of the tool ``tools.memory.call``, for hosts that take nothing else.
    """

    shared = True

    def __init__(self, url: str, *, deadline: float, token: str | None = None, tunnel: bool = False) -> None:
        self._url = url
        self._deadline = deadline
        self._token = token
        self._tunnel = tunnel
        self._identity = Identity.fresh() if token is None else Identity.of_token(token)
        self._sessions: dict[Flags, Session] = {}

    @property
    def peer_id(self) -> str:
        """Who the suite is, for the allow-list of a provider."""
        return self._identity.peer_id

    def send(self, call: Call) -> Reply:
        """Carry one call (see ``Shim``)."""
        outcome = self.send_all([call])[0]
        if isinstance(outcome, TargetFault):
            raise outcome
        return outcome

    def send_all(self, calls: Sequence[Call]) -> list[Outcome]:
        """Send all requests at once, then pair the responses (see ``Shim``)."""
        until = time.monotonic() + self._deadline
        found: dict[int, Outcome] = {}
        waiting: dict[Flags, dict[str, int]] = {}
        for number, call in enumerate(calls):
            flags, asked = _tunnelled(call) if self._tunnel else self._invoked(call)
            sent = self._guarded(flags, call, partial(Session.invoke, call=call, asked=asked), until)
            if isinstance(sent, TargetFault):
                found[number] = sent
            else:
                waiting.setdefault(flags, {})[sent] = number
        for flags, numbers in waiting.items():
            self._collect(flags, calls, numbers, found, until)
        return [found[number] for number in range(len(calls))]

    def restart(self) -> bool:
        """Return False: only the provider's own control can restart it."""
        return False

    def close(self) -> None:
        """Close the sessions."""
        for flags in list(self._sessions):
            self._drop(flags)

    def _invoked(self, call: Call) -> tuple[Flags, Mapping[str, Any]]:
        """Return the capabilities of a call's session, and its request."""
        credential = self._token if call.is_control else call.credential
        auth = {} if credential is None else {"auth": {"credential": credential}}
        return frozenset() if call.is_control else call.flags, {"op": call.op, "payload": call.payload, **auth}

    # -- sessions

    def _collect(
        self, flags: Flags, calls: Sequence[Call], numbers: dict[str, int], found: dict[int, Outcome], until: float
    ) -> None:
        """Pair the responses of one session with its requests; a session that cannot be followed is given up."""
        while numbers:
            first = calls[min(numbers.values())]
            answer = self._guarded(flags, first, partial(Session.answer, op=first.op, until=until), until)
            if isinstance(answer, TargetFault):
                found.update({number: type(answer)(f"{calls[number].op}: {_reason(answer)}") for number in numbers.values()})
                return
            request_id, body = answer
            if (number := numbers.pop(request_id, None)) is not None:
                found[number] = _outcome(calls[number].op, body, tunnel=self._tunnel)

    def _guarded(self, flags: Flags, call: Call, do: Callable[[Session], Done], until: float) -> Done | TargetFault:
        """Return what ``do`` does with the session of ``flags``, or the fault that ended it."""
        try:
            return do(self._session(flags, until))
        except TimeoutError:
            fault: TargetFault = NoAnswer(f"{call.op}: no answer within {self._deadline:g} s")
        except (OSError, InvalidHandshake) as error:
            fault = NoAnswer(f"{call.op}: nobody answers at {self._url}: {blame(error)}")
        except WebSocketException as error:
            fault = TargetFault(f"{call.op}: the connection broke: {blame(error)}")
        except TargetFault as seen:
            fault = seen
        self._drop(flags)
        return fault

    def _session(self, flags: Flags, until: float) -> Session:
        if flags not in self._sessions:
            left = max(0.0, until - time.monotonic())
            dialled = connect(
                self._url, open_timeout=left, close_timeout=LEAVE_SECONDS, max_size=ANSWER_LIMIT, proxy=None, compression=None
            )
            with ExitStack() as held:
                session = Session(held.enter_context(dialled), self._identity, flags, until)
                self._sessions[flags] = session
                session.held = held.pop_all()
        return self._sessions[flags]

    def _drop(self, flags: Flags) -> None:
        if (session := self._sessions.pop(flags, None)) is not None:
            session.held.close()


def open_connect(route: Route) -> Shim:
    """Return a shim over the host that ``route`` names. Raises ``BadTarget`` where it is no address."""
    return _opened(route, tunnel=False)


def open_tunnel(route: Route) -> Shim:
    """Return a shim over the host that ``route`` names, through its tool. Raises ``BadTarget`` where it is no address."""
    return _opened(route, tunnel=True)


def _opened(route: Route, *, tunnel: bool) -> Shim:
    url = f"ws:{route.rest}"
    try:
        where = urlsplit(url)
        named = bool(where.hostname) and where.port != 0
    except ValueError as error:
        raise BadTarget(f"target {url}: it is no address: {error}.") from error
    if not named or where.username or where.query or where.fragment:
        raise BadTarget(f"target {url}: write it as ws://host:port.")
    return Connect(url, deadline=route.deadline, token=route.token, tunnel=tunnel)


def _tunnelled(call: Call) -> tuple[Flags, Mapping[str, Any]]:
    """Return the capabilities of a tunnel's session, and a call as the arguments of its tool."""
    if call.is_control:
        plain: dict[str, Any] = {"control": call.op, "payload": call.payload}
    else:
        plain = {"credential": call.credential, "flags": sorted(call.flags), "op": call.op, "payload": call.payload}
    return frozenset({envelopes.TOOL}), {"op": envelopes.TOOL, "payload": {"arguments": plain}}


def _outcome(op: str, answer: Mapping[str, Any], *, tunnel: bool) -> Outcome:
    try:
        return read_answer(op, _result(op, answer) if tunnel else answer)
    except TargetFault as fault:
        return fault


def _result(op: str, answer: Mapping[str, Any]) -> Any:
    """Return the tool's result, which is the answer. Raises ``TargetFault`` where the tool itself was refused."""
    told = answer.get("payload")
    if not isinstance(told, Mapping) or "result" not in told:
        raise TargetFault(f"{op}: the tool {envelopes.TOOL} gave no result: {excerpt(json_text.written(answer).encode())}")
    return told["result"]


def _reason(fault: TargetFault) -> str:
    return str(fault).partition(": ")[2]
