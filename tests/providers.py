"""Providers for tests of targets and runs, each named for what it is or does wrong: ``python:tests.providers:<name>``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.oracle import Oracle
from conformance.port import Principal
from conformance.wire import bundle
from conformance.wire.vocabulary import Flag

Answer = Mapping[str, Any]
ALL = tuple(bundle.load().flag(flag) for flag in Flag)
CORE = bundle.load().flag(Flag.CORE)


def oracle() -> Oracle:
    """Make the right one."""
    return Oracle()


def core_only() -> Oracle:
    """Make the right one, without any flag beyond the core."""
    return Oracle(flags=[CORE])


class Undeclared:
    """Serves all flags, whatever was negotiated, and declares the core alone."""

    def __init__(self) -> None:
        self._oracle = Oracle()

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        return self._oracle.call(credential, ALL, op, payload)

    def control(self, name: str, payload: Any) -> Answer:
        answer = self._oracle.control(name, payload)
        return {"payload": {**answer["payload"], "flags": [CORE]}} if name == "control.hello" else answer


class Hanging:
    """Says hello and answers nothing else."""

    def __init__(self) -> None:
        self._oracle = Oracle()

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        while True:
            time.sleep(1)

    def control(self, name: str, payload: Any) -> Answer:
        return self._oracle.control(name, payload)


class Stubborn(Hanging):
    """Answers nothing, and cannot be interrupted."""

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        while True:
            try:
                time.sleep(1)
            except Exception:
                continue


class Deadly(Hanging):
    """Ends its whole process, politely, at the first recall."""

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        if op.endswith(".recall"):
            os._exit(0)
        return self._oracle.call(credential, flags, op, payload)


class Uncontrolled:
    """Takes memory calls and has no levers: what it serves stands in the target file."""

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        return {"payload": {}}

    def control(self, name: str, payload: Any) -> Answer:
        raise NotImplementedError(name)


class Adapter:
    """Offers the memory family of ``port``."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def as_memory(self) -> Any:
        return self._port


class Port:
    """A MemoryPort, and nothing more: the oracle's 33 methods."""

    def __init__(self) -> None:
        oracle = Oracle()
        for row in bundle.load().operations.values():
            setattr(self, row.method, getattr(oracle, row.method))


class PortWithLevers(Port):
    """A MemoryPort that has levers and admits whom it made itself."""

    def __init__(self) -> None:
        super().__init__()
        self._made = 0

    def control(self, name: str, payload: Any) -> Answer:
        return _LEVERS[name](self)

    def hello(self) -> Answer:
        provider = {"name": "port", "version": "1"}
        return {"payload": {"harness": 1, "provider": provider, "instance": "i", "flags": [CORE], "controls": ["principal"]}}

    def principal(self) -> Answer:
        self._made += 1
        return {"payload": {"principal_id": f"p{self._made}", "credential": f"c{self._made}"}}


class PortThatAdmits(PortWithLevers):
    """A MemoryPort with its own admission."""

    def admission(self, credential: str | None) -> Principal | None:
        return Principal("known") if credential == "open sesame" else None


_LEVERS: Mapping[str, Callable[[Any], Answer]] = {
    "control.hello": PortWithLevers.hello,
    "control.principal": PortWithLevers.principal,
}


def adapter() -> Adapter:
    """Make an adapter with a MemoryPort."""
    return Adapter(PortWithLevers())


def adapter_without_memory() -> Adapter:
    """Make an adapter that does not offer the memory family."""
    return Adapter(None)


def raises() -> None:
    """Fail to make a provider."""
    raise RuntimeError("no database here\nat all")


def nonsense() -> object:
    """Make something that is no provider."""
    return object()


not_callable = 5
