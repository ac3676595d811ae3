"""What was sent and answered since the last worlds began: of this a counterexample is made.

A world begins with the provisioning of its space. Where spaces are shared there is no such sign, and all is one world.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.exchange import CONTROL_PREFIX, Call, Reply

PROVISION = f"{CONTROL_PREFIX}provision"
PRINCIPAL = f"{CONTROL_PREFIX}principal"
MOST_WORLDS = 4
MOST_EVENTS = 800
"""So many events of a world are kept; a longer one has no counterexample that is worth the time. Fuzz plays no longer ones."""


@dataclass(frozen=True, slots=True)
class Event:
    """Calls that were sent at the same time, mostly one, with their answers (None: none came)."""

    calls: tuple[Call, ...]
    replies: tuple[Reply | None, ...]


class Introduced(NamedTuple):
    """A root with its space, or a principal that is nobody's root (``space_id`` ""), as the provider names them."""

    space_id: str
    principal_id: str
    credential: str


def introduced(events: Iterable[Event]) -> Iterator[Introduced]:
    """Give each root and each principal that the events made; what is told in another form than the harness's is left out."""
    for event in events:
        for call, reply in zip(event.calls, event.replies, strict=True):
            if call.op in (PROVISION, PRINCIPAL) and reply is not None and isinstance(reply.payload, Mapping):
                yield from _told(call.op, reply.payload)


def _told(op: str, answer: Mapping[str, Any]) -> Iterator[Introduced]:
    login = answer.get("root") if op == PROVISION else answer
    space_id = answer.get("space_id") if op == PROVISION else ""
    if isinstance(login, Mapping) and isinstance(space_id, str):
        principal_id, credential = login.get("principal_id"), login.get("credential")
        if isinstance(principal_id, str) and isinstance(credential, str):
            yield Introduced(space_id, principal_id, credential)


class History:
    """The events of the last worlds. ``parties`` are all that the provider made, in the worlds before too."""

    def __init__(self) -> None:
        self._worlds: deque[list[Event]] = deque([[]], maxlen=MOST_WORLDS)
        self.parties: list[Introduced] = []

    def add(self, calls: Sequence[Call], replies: Sequence[Reply | None]) -> None:
        """Take note of calls with their answers."""
        if calls and calls[0].op == PROVISION:
            self._worlds.append([])
        event = Event(tuple(calls), tuple(replies))
        self.parties += introduced([event])
        world = self._worlds[-1]
        if len(world) <= MOST_EVENTS:
            world.append(event)

    @property
    def worlds(self) -> int:
        """How many worlds are known."""
        return len(self._worlds)

    def last(self, worlds: int) -> list[Event]:
        """Return the events of the last ``worlds`` worlds, in order; empty where one of them went on for too long."""
        chosen = list(self._worlds)[-worlds:]
        return [] if any(len(world) > MOST_EVENTS for world in chosen) else [event for world in chosen for event in world]
