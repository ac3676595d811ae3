"""A condition that a step checks, apart from all others, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import NamedTuple

from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire.canonical import NotCanonical
from conformance.wire.vocabulary import Code


class Rests(Enum):
    """What a condition rests on.

    The request alone; what every caller of the space sees; the object that the request names; the subject, or whatever else only
    a caller with full coverage sees; the subject that an object is to be moved to.
    """

    REQUEST = auto()
    SPACE = auto()
    OBJECT = auto()
    COVERED = auto()
    TARGET = auto()


class Condition(NamedTuple):
    """One check of a step, which raises ``Refusal`` where it is violated."""

    rests: Rests
    check: Callable[[], object]

    def violated(self) -> Refusal | None:
        """Give how a request is refused for this alone."""
        try:
            self.check()
        except Refusal as refusal:
            return refusal.with_traceback(None)
        except NotCanonical:
            return None  # what has no canonical form has neither bytes nor digest: it is refused for that
        return None


class Call(NamedTuple):
    """What conditions are asked of; ``turn`` holds the caller's effective grants."""

    turn: Turn
    space: Space
    request: Doc


def of(rests: Rests, check: Callable[..., object], *given: object) -> Condition:
    """Make the condition that a check with these arguments is."""
    return Condition(rests, partial(check, *given))


def refuse(code: Code, is_so: bool) -> None:
    """Refuse what is so."""
    if is_so:
        raise Refusal(code)
