"""Patches of one operation of the oracle: what it answers, what it leaves behind, or when it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.oracle import Oracle, reviews, steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.vocabulary import Code
from tests.seeded.fault import Patch, Wrapper


def step(stem: str, wrap: Wrapper) -> Patch:
    """Replace the step of an operation by ``wrap(step)``."""
    return Patch(steps.STEPS, f"memory.{stem}", wrap)


def first(look: Callable[[Turn, Space, Doc], None]) -> Any:
    """Look at something before the operation's own step does."""

    def wrap(original: Any) -> Any:
        def step(turn: Turn, space: Space, request: Doc) -> Outcome:
            look(turn, space, request)
            outcome: Outcome = original(turn, space, request)
            return outcome

        return step

    return wrap


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

    def look(turn: Turn, space: Space, _request: Doc) -> None:
        if when(turn, space):
            raise Refusal(code)

    return step(stem, first(look))


def restored(change: Callable[[Space], Space]) -> Patch:
    """Change each space when the provider starts from what it had kept."""

    def wrap(original: Any) -> Any:
        def restore(self: Oracle, saved: Doc) -> None:
            original(self, saved)
            spaces = self.state.spaces
            for space_id, space in spaces.items():
                spaces = spaces.set(space_id, change(space))
            self.state = self.state._replace(spaces=spaces)

        return restore

    return Patch(Oracle, "restore", wrap)


def cut(place: Any, name: str, most: int = 50) -> Patch:
    """Let a function give no more than the first of what it lists: a query with an end that nobody asked for."""
    return Patch(place, name, lambda original: lambda *given, **named: list(original(*given, **named))[:most])


def facts(space: Space, **members: Any) -> Space:
    """Give a space with other space-level facts."""
    return space.having(facts={**space.facts, **members})


def kind_first(turn: Turn, space: Space, request: Doc) -> None:
    """Miss a kind before anyone has asked whether the caller may see the candidate."""
    candidate = space.candidates.get(request["candidate_id"])
    for draft in () if candidate is None else reviews.drafted(candidate, request["decision"]):
        reviews.refuse_kindless(turn, draft)
