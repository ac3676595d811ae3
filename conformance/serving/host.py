"""A provider that others reach: what it raises becomes the contract's internal error, and never shows outside."""

from __future__ import annotations

import asyncio
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.errors import BadTarget
from conformance.exchange import CONTROL_PREFIX
from conformance.oracle import Oracle
from conformance.transport.in_process import Provider
from conformance.transport.python_object import provider_at
from conformance.transport.route import Route
from conformance.wire import json_text
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code

Answer = Mapping[str, Any]
ORACLE = "oracle"
PYTHON = "python:"


def provider_named(text: str, bundle: Bundle) -> Provider:
    """Make the provider that ``text`` names: the oracle, or a ``python:`` target. Raises ``BadTarget`` and ``NotOffered``."""
    if text == ORACLE:
        return Oracle(bundle=bundle)
    if not text.startswith(PYTHON):
        raise BadTarget(f"{text!r} cannot be served: write {ORACLE} or {PYTHON}package.module:factory.")
    made: Provider = provider_at(Route(text.removeprefix(PYTHON), bundle))
    return made


class Gone(Exception):
    """The provider's process ended before it answered: nobody knows whether the call took effect, and there is no answer."""


class Host:
    """Calls ``provider`` for others: an async one at once, one that says ``parallel`` in threads, another in turn."""

    def __init__(self, provider: Provider, bundle: Bundle) -> None:
        self.bundle = bundle
        self._provider = provider
        self._threads = bool(getattr(provider, "parallel", False)) and not inspect.iscoroutinefunction(provider.call)

    async def memory(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        """Answer a memory call."""
        return await self._answer(lambda: self._provider.call(credential, flags, op, payload))

    async def message(self, message: Any) -> Answer:
        """Answer a call in its plain form: {credential, flags, op, payload} or {control, payload}."""
        match message:
            case {"control": str(name), "payload": payload}:
                return await self.control(name, payload)
            case {"credential": str() | None as credential, "flags": list(flags), "op": str(op), "payload": payload}:
                return await self.memory(credential, [flag for flag in flags if isinstance(flag, str)], op, payload)
        return self.refusal(Code.MALFORMED_REQUEST, "a call is {credential, flags, op, payload} or {control, payload}")

    async def control(self, name: str, payload: Any) -> Answer:
        """Pull a lever; ``name`` carries its prefix, without which there is none."""
        if not name.startswith(CONTROL_PREFIX):
            return self.refusal(Code.UNKNOWN_OPERATION, "there is no such control")
        return await self._answer(lambda: self._provider.control(name, payload))

    def refusal(self, symbol: Code, message: str) -> Answer:
        """Make an answer of the host's own."""
        return {"error": {"code": self.bundle.answered(symbol).code, "message": message, "extensions": {}}}

    async def _answer(self, ask: Callable[[], Any]) -> Answer:
        try:
            answer = await asyncio.to_thread(ask) if self._threads else ask()
            made: Answer = await answer if inspect.isawaitable(answer) else answer
            json_text.written(made, strict=True)
        except Gone:
            raise
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return self.refusal(Code.INTERNAL, "the provider failed")
        return made
