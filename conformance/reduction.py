"""Call-wise reduction: fewer calls that still show the same, then simpler requests (delta debugging; Zeller, Hildebrandt 2002).

It knows nothing of providers: ``fails`` says whether a list of calls shows the failure. The last call is the one that shows it
and stays. A call that names what a dropped one made goes with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from conformance.counterexample import Said
from conformance.symbols import symbols_in

Calls = tuple[Said, ...]
Fails = Callable[[Calls], bool]
Variants = Callable[[Any], Iterator[Any]]
ELSEWHERE = 3
PLAIN = {"text": "a"}
"""The content that every content is replaced by, where that shows the same."""


class Budget:
    """How much may be tried: so many tries, so many seconds of our own processor time, nothing more when all is ``stopped``.

    A busy machine does not make what is found longer; a target that takes its time elsewhere gets three times as many seconds.
    """

    def __init__(self, tries: int, seconds: float, stopped: Callable[[], bool] = lambda: False) -> None:
        self.tries = tries
        self._busy_until = time.process_time() + seconds
        self._until = time.monotonic() + ELSEWHERE * seconds
        self._stopped = stopped

    def spend(self) -> bool:
        """Take one try; False where none is left."""
        self.tries -= 1
        late = time.process_time() >= self._busy_until or time.monotonic() >= self._until
        return self.tries >= 0 and not late and not self._stopped()


def reduce(calls: Sequence[Said], fails: Fails, budget: Budget, given: frozenset[str] = frozenset()) -> Calls:
    """Return a shorter list of calls for which ``fails`` holds, as it does for ``calls``.

    ``given`` are the symbols that have a meaning before the first call. Where the budget ends, what was reached is returned.
    """
    tried = _Tried(fails, budget)
    # The number of a page or a chunk that there is only after many calls.
    kept = _simpler(tuple(calls), tried, range(len(calls) - 1, len(calls)), _smaller)
    kept = _fewer(kept, tried, given)
    kept = _simpler(kept, tried, range(len(kept)), _variants)
    # A request that names less needs fewer calls before it.
    while len(shorter := _pass(kept, 1, tried, given)) < len(kept):
        kept = shorter
    return kept


def _fewer(calls: Calls, fails: Fails, given: frozenset[str]) -> Calls:
    """Leave out half of the calls, then smaller parts, down to single ones, until none can be left out."""
    size = max(1, len(calls) // 2)
    while True:
        shorter = _pass(calls, size, fails, given)
        if size == 1 and len(shorter) == len(calls):
            return shorter
        size = max(1, min(size // 2, len(shorter) // 2))
        calls = shorter


class _Tried:
    """Asks ``fails`` as long as the budget lasts; what was not asked does not fail."""

    def __init__(self, fails: Fails, budget: Budget) -> None:
        self._fails = fails
        self._budget = budget

    def __call__(self, calls: Calls) -> bool:
        return self._budget.spend() and self._fails(calls)


def _pass(calls: Calls, size: int, fails: Fails, given: frozenset[str]) -> Calls:
    """Leave out each ``size`` neighbours in turn, from the end, where the rest still fails."""
    start = len(calls) - 1 - size
    while len(calls) > 1 and start > -size:
        shorter = _closed(calls[: max(0, start)] + calls[max(0, start) + size + min(0, start) :], given)
        if shorter is not None and len(shorter) < len(calls) and fails(shorter):
            calls = shorter
        start = min(start, len(calls) - 1) - size
    return calls


def _closed(calls: Calls, given: frozenset[str]) -> Calls | None:
    """Return the calls without those that name what none of the others made; None where the last one does."""
    known = set(given)
    kept: list[Said] = []
    for said in calls:
        if symbols_in(said.payload) <= known:
            kept.append(said)
            known.update(said.names)
    return tuple(kept) if kept and calls and kept[-1] is calls[-1] else None


def _simpler(calls: Calls, fails: Fails, which: range, variants: Variants) -> Calls:
    """Try other requests of these calls, one change at a time, from the last call to the first."""
    for number in reversed(which):
        changed = True
        while changed:
            changed = False
            for payload in variants(calls[number].payload):
                attempt = (*calls[:number], replace(calls[number], payload=payload), *calls[number + 1 :])
                if fails(attempt):
                    calls, changed = attempt, True
                    break
    return calls


KEPT = frozenset({"space_id", "idempotency_key"})


def _variants(value: Any) -> Iterator[Any]:
    """Give simpler forms of a value, the simplest first: without a part, with a plainer part."""
    for key, inner in _parts(value):
        yield _with(value, key)
        if key in CONTENTS and isinstance(inner, dict) and len(str(inner)) > len(str(PLAIN)):
            yield _with(value, key, dict(PLAIN))
        for simpler in _variants(inner):
            yield _with(value, key, simpler)


def _smaller(value: Any) -> Iterator[Any]:
    """Give a value with one of its numbers smaller."""
    if type(value) is int:
        yield from (small for small in (0, 1) if small < value)
    for key, inner in _parts(value):
        yield from (_with(value, key, smaller) for smaller in _smaller(inner))


CONTENTS = ("content", "content_override")
_GONE: Any = object()


def _parts(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return [(name, inner) for name, inner in value.items() if name not in KEPT]
    return list(enumerate(value)) if isinstance(value, list) else []


def _with(value: Any, key: Any, inner: Any = _GONE) -> Any:
    """Return the object or list with another part, or without it."""
    if isinstance(value, dict):
        return {name: inner if name == key else old for name, old in value.items() if name != key or inner is not _GONE}
    return [inner if number == key else old for number, old in enumerate(value) if number != key or inner is not _GONE]
