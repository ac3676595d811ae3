"""One call to a target, with what is right and wrong about its request and its answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.client import Client
from conformance.errors import TargetFault
from conformance.exchange import Call, Reply, Trace
from conformance.expect import CheckFailed
from conformance.levers import Levers
from conformance.target import Opened
from conformance.wire.bundle import Bundle, Problem

SPACE = "$space"
"""In a payload it stands for the space of the caller that was chosen for the person."""


@dataclass(frozen=True, slots=True)
class Who:
    """Who calls: a credential (None: none is shown), and the space that ``$space`` stands for, empty where there is none."""

    credential: str | None
    space_id: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """What came of a call: ``request`` are the problems of what was sent, ``fault`` says what the provider did wrong."""

    request: Sequence[Problem]
    reply: Reply | None
    fault: str
    seconds: float


def somebody(opened: Opened) -> Who:
    """Choose a caller: the root of the target file's first space, else that of a new space, else nobody."""
    levers = Levers(opened.shim, opened.facts)
    home = next(iter(opened.homes), None) or (levers.provision() if levers.has("provision") else None)
    return Who(None) if home is None else Who(home.root.credential, home.space_id)


def call(opened: Opened, bundle: Bundle, op: str, payload: Any, who: Who, flags: frozenset[str]) -> Called:
    """Send one memory call or control call and judge the form of both sides; nothing is raised for a fault of the provider."""
    made = Call(op, filled(payload, who.space_id), who.credential, flags)
    trace = Trace()
    reply: Reply | None
    started = time.perf_counter()
    try:
        reply, fault = _sent(opened, bundle, made, trace), ""
    except (TargetFault, CheckFailed) as error:
        reply, fault = next((exchange.reply for exchange in trace), None), str(error)
    return Called(list(_problems(bundle, made)), reply, fault, time.perf_counter() - started)


def filled(payload: Any, space_id: str) -> Any:
    """Put ``space_id`` where ``$space`` stands."""
    if isinstance(payload, dict):
        return {name: filled(value, space_id) for name, value in payload.items()}
    if isinstance(payload, list):
        return [filled(value, space_id) for value in payload]
    return space_id if payload == SPACE and space_id else payload


def _sent(opened: Opened, bundle: Bundle, made: Call, trace: Trace) -> Reply:
    if made.is_control:
        return opened.shim.send(made)
    return Client(opened.shim, bundle).send(made, trace, meant_invalid=True)


def _problems(bundle: Bundle, made: Call) -> Iterator[Problem]:
    if made.op in bundle.operations:
        yield from bundle.request(made.op).problems(made.payload)
