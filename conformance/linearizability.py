"""Whether what came of calls that were in flight together can be had by taking them one after another.

A history is a list of entries, each with what was asked, what was told, and the time between: an entry takes effect at one
instant between its call and its answer. One that was never answered takes effect at some instant after its call, or never. The
search is Wing and Gong's with Lowe's memory of (what is done, state), as in porcupine; a history is partitioned by object before,
so that each part is short. What costs more than the budget is ``UNDECIDED``, never a pass.

    Lowe, Testing for linearizability, Concurrency and Computation 29 (2017)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State", bound=Hashable)
Ask = TypeVar("Ask")
Told = TypeVar("Told")

NEVER = math.inf
"""When a call was answered that never was."""
BUDGET = 200_000
"""So many steps of the model are tried."""


class Ending(StrEnum):
    """What a search found."""

    LINEARIZABLE = "linearizable"
    IMPOSSIBLE = "impossible"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Entry(Generic[Ask, Told]):
    """One call: ``called`` before ``answered`` (``NEVER``: no answer came, and ``told`` is None)."""

    asked: Ask
    told: Told | None
    called: float
    answered: float


Step = Callable[[State, Ask, Told | None], Iterable[State]]
"""Gives the states that are possible after a request that was told so; none where no right provider tells so in that state."""


@dataclass(frozen=True, slots=True)
class Found:
    """The ``ending``, and the longest prefix that was possible: the numbers of entries in the order in which they took effect."""

    ending: Ending
    order: tuple[int, ...]


def partitioned(entries: Iterable[tuple[Hashable, Entry[Ask, Told]]]) -> Mapping[Hashable, list[Entry[Ask, Told]]]:
    """Return the history of each object; entries of different objects say nothing of each other."""
    parts: dict[Hashable, list[Entry[Ask, Told]]] = {}
    for name, entry in entries:
        parts.setdefault(name, []).append(entry)
    return parts


def linearized(history: Sequence[Entry[Ask, Told]], start: State, step: Step[State, Ask, Told], budget: int = BUDGET) -> Found:
    """Search an order of the entries that the model takes from ``start``."""
    return _Search(history, step, budget).found(start)


class _Search(Generic[State, Ask, Told]):
    """Depth first, without recursion: a frame is what is done, the state, the order so far."""

    def __init__(self, history: Sequence[Entry[Ask, Told]], step: Step[State, Ask, Told], budget: int) -> None:
        self._history = history
        self._step = step
        self._left = budget
        self._must = sum(1 << number for number, entry in enumerate(history) if entry.answered != NEVER)

    def found(self, start: State) -> Found:
        best: tuple[int, ...] = ()
        todo: list[tuple[int, State, tuple[int, ...]]] = [(0, start, ())]
        known: set[tuple[int, State]] = {(0, start)}
        while todo:
            done, state, order = todo.pop()
            best = max(best, order, key=len)
            if done & self._must == self._must:
                return Found(Ending.LINEARIZABLE, order)
            for number in self._next(done):
                self._left -= 1
                if self._left < 0:
                    return Found(Ending.UNDECIDED, best)
                entry = self._history[number]
                for after in self._step(state, entry.asked, entry.told):
                    frame = (done | 1 << number, after)
                    if frame not in known:
                        known.add(frame)
                        todo.append((*frame, (*order, number)))
        return Found(Ending.IMPOSSIBLE, best)

    def _next(self, done: int) -> list[int]:
        """Return what may take effect next: nothing that was called after another one, still to be done, was answered."""
        waiting = [number for number in range(len(self._history)) if not done >> number & 1]
        first = min((self._history[number].answered for number in waiting), default=NEVER)
        return [number for number in waiting if self._history[number].called <= first]
