"""Providers that take calls at once and judge each by what it found when it arrived: what a race makes of the oracle.

A call notes the state that it meets, gives way to the others, and then acts. Called in turn, such a provider is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, cast

from conformance.oracle import Oracle, steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import State
from tests.seeded.fault import Answer, Patch, Provider, Wrapper

Patches = Callable[[State], Sequence[Patch]]


class Racing:
    """The oracle, async, with the patches that a state on arrival calls for."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches
        self.oracle = Oracle()

    async def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        arrived = self.oracle.state
        await asyncio.sleep(0)
        with ExitStack() as stack:
            for patch in self._patches(arrived):
                stack.enter_context(patch.applied())
            return self.oracle.call(credential, flags, op, payload)

    def control(self, name: str, payload: Any) -> Answer:
        return self.oracle.control(name, payload)


def racing(patches: Patches) -> Callable[[], Provider]:
    """Return a factory of the racing oracle."""
    return lambda: cast("Provider", Racing(patches))


def checked_on_arrival(*unchecked: Patch, only: str = "") -> Patches:
    """Return patches for check-then-act: a mutation is refused by the state it met on arrival, and done on the present one.

    ``unchecked`` take away the checks that would notice what came between; ``only`` names the one operation that is so judged.
    """

    def wrap(arrived: State) -> Wrapper:
        def wrapped(original: Any) -> Any:
            def step(state: State, caller: str, op: str, request: Any, env: Any, *rest: Any, **named: Any) -> Any:
                _, reply = original(arrived, caller, op, request, env, *rest, **named)
                row = env.bundle.operations[op]
                if isinstance(reply, Refusal) or not row.mutation or only not in ("", row.stem):
                    return original(state, caller, op, request, env, *rest, **named)
                with ExitStack() as stack:
                    for patch in unchecked:
                        stack.enter_context(patch.applied())
                    return original(state, caller, op, request, env, *rest, **named)

            return step

        return wrapped

    return lambda arrived: [Patch(steps, "step", wrap(arrived))]


def written_back(*stems: str) -> Patches:
    """Return the patch of a store that is written as a whole from an earlier reading, by some operations or by all.

    What came between is lost.
    """

    def patches(arrived: State) -> Sequence[Patch]:
        def wrap(original: Any) -> Any:
            def step(state: State, caller: str, op: str, request: Any, env: Any, *rest: Any, **named: Any) -> Any:
                row = env.bundle.operations[op]
                stale = row.mutation and (not stems or row.stem in stems)
                after, reply = original(arrived if stale else state, caller, op, request, env, *rest, **named)
                return (state if isinstance(reply, Refusal) else after), reply

            return step

        return [Patch(steps, "step", wrap)]

    return patches
