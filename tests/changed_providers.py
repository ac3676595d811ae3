"""Providers for runs by a changed bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.oracle import Oracle
from conformance.wire.bundle import Bundle

Answer = Mapping[str, Any]


class Forgetful:
    """The oracle, but members that it does not know are dropped from requests, one or two levels deep."""

    def __init__(self, *forgotten: str) -> None:
        self._oracle = Oracle()
        self._forgotten = forgotten

    def use_bundle(self, bundle: Bundle) -> None:
        self._oracle.use_bundle(bundle)

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        if isinstance(payload, dict):
            payload = {name: self._without(value) for name, value in payload.items() if name not in self._forgotten}
        return self._oracle.call(credential, flags, op, payload)

    def control(self, name: str, payload: Any) -> Answer:
        return self._oracle.control(name, payload)

    def _without(self, value: Any) -> Any:
        return {name: one for name, one in value.items() if name not in self._forgotten} if isinstance(value, dict) else value


def forgets_mood() -> Forgetful:
    return Forgetful("mood")


def forgets_language() -> Forgetful:
    return Forgetful("language")
