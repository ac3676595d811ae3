"""What was sent and answered since the last worlds began: of this a counterexample is made.

A world begins with the provisioning of its space. Where spaces are shared there is no such sign, and all is one world.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.exchange import CONTROL_PREFIX, Call, Reply

PROVISION = f"{CONTROL_PREFIX}provision"
MOST_WORLDS = 4
MOST_EVENTS = 600
"""So many events of a world are kept; a longer one has no counterexample that is worth the time."""


@dataclass(frozen=True, slots=True)
class Event:
    """Calls that were sent at the same time, mostly one, with their answers (None: none came)."""

    calls: tuple[Call, ...]
    replies: tuple[Reply | None, ...]


class History:
    """The events of the last worlds. ``spaces`` are the ids of all spaces that were made, in the worlds before too."""

    def __init__(self) -> None:
        self._worlds: deque[list[Event]] = deque([[]], maxlen=MOST_WORLDS)
        self.spaces: set[str] = set()

    def add(self, calls: Sequence[Call], replies: Sequence[Reply | None]) -> None:
        """Take note of calls with their answers."""
        if calls and calls[0].op == PROVISION:
            self._worlds.append([])
            self.spaces |= {
                reply.payload["space_id"] for reply in replies if reply is not None and reply.ok and _names_space(reply)
            }
        world = self._worlds[-1]
        if len(world) <= MOST_EVENTS:
            world.append(Event(tuple(calls), tuple(replies)))

    @property
    def worlds(self) -> int:
        """How many worlds are known."""
        return len(self._worlds)

    def last(self, worlds: int) -> list[Event]:
        """Return the events of the last ``worlds`` worlds, in order; empty where one of them went on for too long."""
        chosen = list(self._worlds)[-worlds:]
        return [] if any(len(world) > MOST_EVENTS for world in chosen) else [event for world in chosen for event in world]


def _names_space(reply: Reply) -> bool:
    return isinstance(reply.payload, Mapping) and isinstance(reply.payload.get("space_id"), str)
