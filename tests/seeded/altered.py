"""Patches of one operation of the oracle: what it answers, what it leaves behind, or when it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.oracle import steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.vocabulary import Code
from tests.seeded.fault import Patch, Wrapper


def step(stem: str, wrap: Wrapper) -> Patch:
    """Replace the step of an operation by ``wrap(step)``."""
    return Patch(steps.STEPS, f"memory.{stem}", wrap)


def answer(stem: str, change: Callable[[Turn, Space, Doc], Doc]) -> Patch:
    """Change the members that a read answers; ``change`` gets the turn, the space and the right members."""

    def wrap(original: Any) -> Any:
        def changed(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            return outcome._replace(members=change(turn, space, outcome.members))

        return changed

    return step(stem, wrap)


def effect(stem: str, change: Callable[[Turn, Space, Space], Space]) -> Patch:
    """Change the space that a mutation leaves behind; ``change`` gets the turn, the space before and the right one after."""

    def wrap(original: Any) -> Any:
        def changed(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            return outcome._replace(space=change(turn, space, outcome.space))

        return changed

    return step(stem, wrap)


def refusing(stem: str, when: Callable[[Turn, Space], bool], code: Code) -> Patch:
    """Refuse an operation with ``code`` whenever ``when`` says so, before its own step."""

    def wrap(original: Any) -> Any:
        def changed(turn: Turn, space: Space, request: Doc) -> Outcome:
            if when(turn, space):
                raise Refusal(code)
            outcome: Outcome = original(turn, space, request)
            return outcome

        return changed

    return step(stem, wrap)


def facts(space: Space, **members: Any) -> Space:
    """Give a space with other space-level facts."""
    return space.having(facts={**space.facts, **members})
