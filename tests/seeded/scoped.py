"""Patches that hold for one operation alone, and requests that a provider reads otherwise than they were sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from conformance.oracle import steps
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.vocabulary import Flag
from tests.seeded import altered
from tests.seeded.fault import Answer, Patch, Patched, Provider

Respell = Callable[[Space, str, str], str]
"""(space, member, name) -> the name that the provider takes it for."""


def during(stem: str, *patches: Patch) -> Patch:
    """Apply patches only while the step of one operation runs."""

    def wrap(original: Any) -> Any:
        def step(turn: Turn, space: Space, request: Doc) -> Outcome:
            with ExitStack() as stack:
                for patch in patches:
                    stack.enter_context(patch.applied())
                outcome: Outcome = original(turn, space, request)
                return outcome

        return step

    return altered.step(stem, wrap)


def reading(respell: Respell) -> Patch:
    """Let the provider take the names in a request for others; receipts and keys are bound to what was sent."""

    def wrap(original: Any) -> Any:
        def take(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, _respelled(respell, space, "", request))
            return outcome

        return take

    return Patch(steps, "take", wrap)


def _respelled(respell: Respell, space: Space, member: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _respelled(respell, space, name, inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_respelled(respell, space, member, inner) for inner in value]
    return respell(space, member, value) if isinstance(value, str) else value


def without(flag: Flag, *patches: Patch) -> Callable[[], Provider]:
    """Return a factory of the oracle with patches that hold only for calls whose session has not negotiated a flag."""

    class Gated(Patched):
        def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
            if self.oracle.bundle.flag(flag) in flags:
                return self.oracle.call(credential, flags, op, payload)
            return super().call(credential, flags, op, payload)

    return lambda: Gated(patches)
