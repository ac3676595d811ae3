"""A MemoryPort as a provider: behind the bundled dispatcher, with the port's own levers (harness.md, MemoryPort)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from conformance.dispatch import Dispatcher
from conformance.port import Principal
from conformance.transport.route import Route
from conformance.wire.vocabulary import Code

Answer = Mapping[str, Any]


class Ported:
    """``port.control(name, payload)`` gives levers where it is there; ``port.admission(credential)`` admits.

    Without an ``admission`` the principals are admitted that the port's control made or the target file names.
    """

    def __init__(self, port: Any, route: Route) -> None:
        self._port = port
        self._bundle = route.bundle
        self._admitted = dict(route.principals)
        self._dispatcher = self._declaring(route.flags or frozenset())

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer | Awaitable[Answer]:
        """Answer a memory call through the dispatcher."""
        return self._dispatcher.call(credential, flags, op, payload)

    def control(self, name: str, payload: Any) -> Answer | Awaitable[Answer]:
        """Hand a control to the port, and learn from the answer whom to admit and what is declared."""
        control = getattr(self._port, "control", None)
        if not callable(control):
            return {"error": {"code": self._bundle.answered(Code.UNKNOWN_OPERATION).code, "message": "the port has no control"}}
        answer: Any = control(name, payload)
        return self._later(answer) if inspect.isawaitable(answer) else self._learn(answer)

    async def _later(self, answer: Awaitable[Answer]) -> Answer:
        return self._learn(await answer)

    def _learn(self, answer: Any) -> Answer:
        payload = answer.get("payload") if isinstance(answer, Mapping) else None
        if isinstance(payload, Mapping):
            for login in (payload, payload.get("root")):
                self._admit(login)
            if isinstance(flags := payload.get("flags"), list) and "harness" in payload:
                self._dispatcher = self._declaring(frozenset(flag for flag in flags if isinstance(flag, str)))
        told: Answer = answer
        return told

    def _admit(self, login: Any) -> None:
        if isinstance(login, Mapping) and isinstance(credential := login.get("credential"), str):
            self._admitted[credential] = str(login.get("principal_id"))

    def _admission(self, credential: str | None) -> Principal | None:
        principal_id = self._admitted.get(credential) if credential else None
        return None if principal_id is None else Principal(principal_id)

    def _declaring(self, flags: frozenset[str]) -> Dispatcher:
        admission = getattr(self._port, "admission", None)
        return Dispatcher(self._port, admission if callable(admission) else self._admission, self._bundle, flags)
