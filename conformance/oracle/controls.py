"""The test bench's levers (harness.md, control calls): one function a control, ``CONTROLS`` is the table."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from conformance.exchange import CONTROL_PREFIX
from conformance.oracle import grants, revisions, spaces
from conformance.oracle.choices import Choices
from conformance.oracle.clock import Clock
from conformance.oracle.policy.chunks import SCHEMA_VERSION
from conformance.oracle.state import Doc, Space, State
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code

Answer = dict[str, Any]


class Refused(Exception):
    """The payload of a control call cannot be taken."""


class Host(Protocol):
    """What the levers move: the provider with its state, clock and hold."""

    bundle: Bundle
    choices: Choices
    clock: Clock
    state: State
    holds: bool
    instance: str

    @property
    def declared(self) -> frozenset[str]:
        """The declared capability flags as wire strings."""
        ...

    def settle_all(self) -> None:
        """Settle every pending receipt."""
        ...

    def restart(self) -> None:
        """Go on as a new instance from what was written."""
        ...


Lever = Callable[[Host, Doc], Answer]


def pull(oracle: Host, name: str, payload: Any) -> Answer:
    """Answer a control call; an unknown control is an unknown operation, a payload that cannot be taken a malformed request."""
    lever = CONTROLS.get(name.removeprefix(CONTROL_PREFIX))
    if lever is None:
        return _rejection(oracle, Code.UNKNOWN_OPERATION)
    try:
        return {"payload": lever(oracle, payload if isinstance(payload, dict) else {"": payload})}
    except (Refused, ValueError):
        return _rejection(oracle, Code.MALFORMED_REQUEST)


def _rejection(oracle: Host, symbol: Code) -> Answer:
    return {
        "error": {"code": oracle.bundle.answered(symbol).code, "message": "this control cannot be pulled so", "extensions": {}}
    }


def _take(payload: Doc, *names: str) -> None:
    if not set(payload) <= set(names):
        raise Refused


def _bool(payload: Doc, name: str) -> bool | None:
    value = payload.get(name)
    if value is not None and not isinstance(value, bool):
        raise Refused
    return value


def hello(oracle: Host, payload: Doc) -> Answer:
    """``control.hello``."""
    _take(payload)
    return {
        "harness": 1,
        "provider": {"name": "oracle", "version": _version()},
        "instance": oracle.instance,
        "flags": sorted(oracle.declared),
        "controls": sorted(CONTROLS),
    }


def _version() -> str:
    try:
        return version("memory-conformance")
    except PackageNotFoundError:
        return "0"


def provision(oracle: Host, payload: Doc) -> Answer:
    """``control.provision``: a new empty space whose root principal holds one grant of everything."""
    _take(payload)
    root = _new_principal(oracle)
    space_id, _ = _mint(oracle, "space")
    grant_id, number = _mint(oracle, "grant")
    space = spaces.founded(space_id, oracle.clock.now())
    made = root_grant(oracle, space, grant_id, root["principal_id"])
    space = grants.issued(space, made, number, ())
    oracle.state = oracle.state.having(space, oracle.state.number).joined(space_id, [root["principal_id"]])
    return {"space_id": space_id, "root": root}


def root_grant(oracle: Host, space: Space, grant_id: str, principal_id: str) -> Doc:
    """Make the grant of everything."""
    return {
        "schema_version": SCHEMA_VERSION,
        "grant_id": grant_id,
        "space_id": space.space_id,
        "grantee_id": principal_id,
        "issuer_id": principal_id,
        "capabilities": list(oracle.bundle.schema(oracle.bundle.model_ref("GrantCapability"))["enum"]),
        "shared_access": "write",
        "state": grants.ACTIVE,
        "revision": revisions.FIRST,
        "created_at": space.facts["created_at"],
        "extensions": {},
    }


def principal(oracle: Host, payload: Doc) -> Answer:
    """``control.principal``: a new principal without grants."""
    _take(payload)
    return _new_principal(oracle)


def _new_principal(oracle: Host) -> Answer:
    principal_id, _ = _mint(oracle, "principal")
    credential, _ = _mint(oracle, "credential")
    credentials = oracle.state.credentials.set(credential, principal_id)
    oracle.state = oracle.state._replace(credentials=credentials)
    return {"principal_id": principal_id, "credential": credential}


def _mint(oracle: Host, kind: str) -> tuple[str, int]:
    number = oracle.state.number + 1
    oracle.state = oracle.state._replace(number=number)
    return oracle.choices.make_id(kind, number), number


def clock(oracle: Host, payload: Doc) -> Answer:
    """``control.clock``: set, stop, let run on, advance; in this order where several are asked for. Never backwards."""
    _take(payload, "advance_seconds", "set", "frozen")
    moment, seconds, frozen = payload.get("set"), payload.get("advance_seconds", 0), _bool(payload, "frozen")
    if not isinstance(moment, str | None) or isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise Refused
    if moment is not None:
        oracle.clock.set(moment, frozen)
    elif frozen is not None:
        oracle.clock.freeze(frozen)
    if seconds:
        oracle.clock.advance(seconds)
    return {"now": oracle.clock.now()}


def hold(oracle: Host, payload: Doc) -> Answer:
    """``control.hold``: keep the operations that may be pending so, or settle them all before the answer."""
    _take(payload, "hold")
    holds = _bool(payload, "hold")
    if holds is None:
        raise Refused
    oracle.holds = holds
    if not holds:
        oracle.settle_all()
    return {}


def restart(oracle: Host, payload: Doc) -> Answer:
    """``control.restart``: everything through JSON into a new instance."""
    _take(payload, "crash")
    _bool(payload, "crash")
    oracle.restart()
    return {"instance": oracle.instance}


CONTROLS: dict[str, Lever] = {
    "hello": hello,
    "provision": provision,
    "principal": principal,
    "clock": clock,
    "hold": hold,
    "restart": restart,
}
