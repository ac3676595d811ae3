"""A worker: it opens the target for itself, plays episodes until it is told to stop, and tells what it saw.

What it tells are ``News``: figures, entries for the corpus, findings with their counterexamples, and at last its end.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from conformance.bench import Bench
from conformance.errors import BadInput, SuiteFault, TargetFault, blame
from conformance.fuzz.corpus import Entry
from conformance.fuzz.findings import Finding, Key, Reducer
from conformance.fuzz.order import Order
from conformance.garbage import collecting_rarely
from conformance.listening import Listening
from conformance.machine.behaviour import Behaviours
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Share
from conformance.machine.walk import Leg, Plan, Played, play
from conformance.secrets import Secrets, of_route
from conformance.target import Opened, Target, open_target
from conformance.wire.bundle import Bundle, load

FROM_THE_CORPUS = 0.4
MOST_LEGS = 4
MOST_CALLS = 700
"""A longer episode finds no more than another one (with 1,500 the 40 faults that hide longest fell as late, two seeds each), its
calls cost more, and what both sides hold by then a process does not give back."""
TOLD_EVERY = 0.5
MOST_SILENT = 3
"""After so many episodes without any answer nobody is there."""


@dataclass(frozen=True, slots=True)
class News:
    """What a worker tells: figures are since the last news. ``trouble`` is the suite's own, ``unusable`` the person's."""

    calls: int = 0
    episodes: int = 0
    share: Share = field(default_factory=Share)
    seconds: float = 0.0
    entry: Entry | None = None
    finding: Finding | None = None
    trouble: str = ""
    unusable: str = ""
    over: bool = False


Tell = Callable[[News], None]


class Worker:
    """The ``number``-th worker of an order. ``stopped`` says that all is to end; ``entries`` are what there is to go on from."""

    def __init__(self, order: Order, number: int, entries: Sequence[Entry], tell: Tell, stopped: Callable[[], bool]) -> None:
        self._order = order
        self._number = number
        self._entries = list(entries)
        self._tell = tell
        self._stopped = stopped
        self._behaviours = Behaviours(behaviour for entry in entries for behaviour in entry.behaviours)
        self._known: set[Key] = set()
        self._secrets = Secrets()
        self._told = Share()
        self._last = 0.0
        self._silent = 0
        self._calls = 0

    def work(self) -> None:
        """Play until the budget is used up, the order is to stop, or nobody answers."""
        try:
            bundle = load(self._order.schemas)
            target = open_target(self._order.target, bundle=bundle)
            self._secrets = of_route(target.route)
            try:
                with collecting_rarely():
                    self._play(target, bundle)
            finally:
                target.close()
        except BadInput as error:
            self._tell(News(unusable=str(error)))
        except (SuiteFault, Exception) as error:
            self._tell(News(trouble=f"{blame(error)}\n{traceback.format_exc(limit=-6)}"))
        finally:
            self._tell(News(over=True))

    def _play(self, target: Target, bundle: Bundle) -> None:
        began = self._last = time.monotonic()
        episode = self._order.first + self._number
        while not self._is_over(began) and self._silent < MOST_SILENT:
            opened = target.open()
            try:
                self._episode(opened, bundle, episode, began)
            finally:
                target.release(opened)
            episode += max(1, self._order.workers)

    def _is_over(self, began: float) -> bool:
        order = self._order
        late = order.seconds is not None and time.monotonic() - began >= order.seconds
        share = None if order.calls is None else order.calls / max(1, order.workers)
        return late or (share is not None and self._calls >= share) or self._stopped()

    # -- one episode

    def _episode(self, opened: Opened, bundle: Bundle, number: int, began: float) -> None:
        listening = Listening(opened.shim, digested=False)
        bench = Bench(
            listening, bundle, opened.facts, check_id=f"fuzz {number}", seed=self._order.seed, homes=opened.homes,
            logins=opened.logins,
        )  # fmt: skip
        legs = self._legs(self._order.seed_of(number))
        alone = self._order.alone(shared=opened.shim.shared)
        self._behaviours.begin()
        reached: list[tuple[Leg, ...]] = []

        def keep(played: tuple[Leg, ...]) -> None:
            if self._behaviours.fresh and len(reached) < len(self._behaviours.fresh):
                reached.extend([played] * (len(self._behaviours.fresh) - len(reached)))

        def until() -> bool:
            calls = bench.client.tally.calls
            self._calls = self._told.calls + calls
            return calls >= MOST_CALLS or self._is_over(began)

        try:
            played = play(bench, Plan(legs, alone), watch=self._behaviours.watch, until=until, reached=keep)
        except TargetFault as fault:
            played = _silence(legs, fault)
        finally:
            self._close(bench)
        self._silent = self._silent + 1 if played.finding is not None and played.finding.kind is Kind.SILENT else 0
        self._after(played, reached[-1] if reached else (), opened, bundle, listening)

    def _close(self, bench: Bench) -> None:
        try:
            bench.close()
        except (TargetFault, AssertionError):
            # What is left behind in a shared space is told by the next episode.
            return

    def _legs(self, seed: int) -> tuple[Leg, ...]:
        """Begin anew, or go on from an entry whose behaviours are rare."""
        random = Random(seed)  # noqa: S311  (it chooses what to try, and must choose the same again)
        leg = Leg(seed, self._order.focus)
        if not self._entries or random.random() >= FROM_THE_CORPUS:
            return (leg,)
        rarities = [self._behaviours.rarity(entry.behaviours) + 0.001 for entry in self._entries]
        base = random.choices(self._entries, rarities)[0]
        return (*base.legs[: MOST_LEGS - 1], leg)

    def _after(self, played: Played, reached: tuple[Leg, ...], opened: Opened, bundle: Bundle, listening: Listening) -> None:
        self._count(played.share)
        if self._behaviours.fresh and reached:
            entry = Entry(reached, tuple(self._behaviours.fresh))
            self._entries.append(entry)
            self._tell(News(entry=entry))
        if played.finding is not None and not self._stopped_by_hand(played.finding):
            finding = Finding.of(played, played.finding, self._secrets.with_more(listening.credentials))
            self._found(finding, opened, bundle, listening)

    def _stopped_by_hand(self, finding: Disagreement) -> bool:
        """Say whether a target is silent because all is ending."""
        return finding.kind is Kind.SILENT and self._stopped()

    def _count(self, share: Share) -> None:
        now = time.monotonic()
        self._told.calls += share.calls
        self._calls = self._told.calls
        self._tell(News(calls=share.calls, episodes=1, share=share, seconds=now - self._last))
        self._last = now

    def _found(self, finding: Finding, opened: Opened, bundle: Bundle, listening: Listening) -> None:
        if self._order.reduces and finding.key not in self._known:
            self._known.add(finding.key)
            try:
                reducer = Reducer(bundle, opened, self._order.seed, stopped=self._stopped)
                finding = reducer.reduced(finding, listening, self._secrets)
            except Exception as error:
                # The finding counts, whatever becomes of its counterexample.
                hide = self._secrets.with_more(listening.credentials).text
                why = hide(blame(error))
                finding = replace(finding, unreduced=why)
                self._tell(News(trouble=hide(f"no counterexample of {finding.key}: {why}\n{traceback.format_exc(limit=-4)}")))
            self._last = time.monotonic()
        self._tell(News(finding=finding))


def _silence(legs: tuple[Leg, ...], fault: TargetFault) -> Played:
    silence = Disagreement("R004", "any operation", Kind.SILENT, reason=str(fault)[:120])
    return Played(legs, [], Share(), silence)
