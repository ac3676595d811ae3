"""The workers of a run together: started, listened to, stopped; what they tell is merged in one place.

Ctrl-C ends all workers after their present act; what was found until then is kept. A worker that dies without a word is the
provider's doing where the provider runs in it, and is told.
"""

from __future__ import annotations

import queue
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from typing import Any

from conformance.fuzz.corpus import Corpus
from conformance.fuzz.findings import Findings
from conformance.fuzz.order import Order
from conformance.fuzz.work import News, Worker
from conformance.machine.duo import Share

POLL_SECONDS = 0.2
END_SECONDS = 20.0


@dataclass(slots=True)
class Outcome:
    """What came of a run. ``stopped``: by hand. ``seconds`` is wall time, ``worked`` that of all workers together."""

    corpus: Corpus
    findings: Findings = field(default_factory=Findings)
    calls: int = 0
    episodes: int = 0
    fresh: int = 0
    share: Share = field(default_factory=Share)
    seconds: float = 0.0
    worked: float = 0.0
    troubles: list[str] = field(default_factory=list)
    unusable: str = ""
    stopped: bool = False

    def take(self, news: News) -> bool:
        """Take news in; say whether it brought a finding that is new."""
        self.calls += news.calls
        self.episodes += news.episodes
        self.share.provider += news.share.provider
        self.share.suite += news.share.suite
        self.worked += news.seconds
        if news.entry is not None:
            before = len(self.corpus.behaviours)
            self.corpus.add(news.entry)
            self.fresh += len(self.corpus.behaviours) - before
        if news.trouble:
            self.troubles.append(news.trouble)
        self.unusable = self.unusable or news.unusable
        return news.finding is not None and self.findings.add(news.finding)


Look = Callable[[Outcome, News], None]


def run(order: Order, corpus: Corpus, look: Look = lambda _outcome, _news: None) -> Outcome:
    """Do what an order says. ``look`` is told of everything as it comes."""
    outcome, began = Outcome(corpus), time.monotonic()
    hear = _here(order, corpus, outcome) if order.workers == 0 else _apart(order, corpus, outcome)
    for news in hear:
        outcome.seconds = time.monotonic() - began
        outcome.take(news)
        look(outcome, news)
    outcome.seconds = time.monotonic() - began
    corpus.count(outcome.episodes, outcome.calls)
    return outcome


def _here(order: Order, corpus: Corpus, outcome: Outcome) -> Iterator[News]:
    """Work in this process."""
    heard: list[News] = []
    with interruption() as interrupted:
        Worker(order, 0, corpus.entries, heard.append, interrupted).work()
        outcome.stopped = interrupted()
    return iter(heard)


class interruption:  # noqa: N801  (a context, named as it is read)
    """Takes note of SIGINT instead of raising: the present act is done to its end."""

    def __enter__(self) -> Callable[[], bool]:
        self._seen = False
        self._before = signal.signal(signal.SIGINT, self._see)
        return lambda: self._seen

    def _see(self, _signum: int, _frame: object) -> None:
        self._seen = True

    def __exit__(self, *_error: object) -> None:
        signal.signal(signal.SIGINT, self._before)


def _apart(order: Order, corpus: Corpus, outcome: Outcome) -> Iterator[News]:
    """Work in processes of their own."""
    context = get_context("spawn")
    heard: Any = context.Queue()
    stop = context.Event()
    workers: list[BaseProcess] = [
        context.Process(target=_work, args=(order, number, list(corpus.entries), heard, stop)) for number in range(order.workers)
    ]
    with interruption() as interrupted:
        for worker in workers:
            worker.start()
        try:
            yield from _listened(workers, heard, stop, interrupted, outcome)
        finally:
            stop.set()
            _ended(workers)
    heard.close()


def _work(order: Order, number: int, entries: Any, heard: Any, stop: Event) -> None:
    # Ctrl-C reaches the whole group; the crew says when it is time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Worker(order, number, entries, heard.put, stop.is_set).work()


def _listened(
    workers: list[BaseProcess], heard: Any, stop: Event, interrupted: Callable[[], bool], outcome: Outcome
) -> Iterator[News]:
    over = 0
    while over < len(workers):
        if interrupted() and not stop.is_set():
            outcome.stopped = True
            stop.set()
        try:
            news: News = heard.get(timeout=POLL_SECONDS)
        except queue.Empty:
            yield News()
            if not any(worker.is_alive() for worker in workers) and heard.empty():
                break
            continue
        over += news.over
        yield news
    for worker in workers:
        worker.join(END_SECONDS)
        if worker.exitcode not in (0, None):
            yield News(trouble=f"a worker ended with {worker.exitcode}: a provider in this process killed it, or the machine did")


def _ended(workers: list[BaseProcess]) -> None:
    for worker in workers:
        worker.join(END_SECONDS)
        if worker.is_alive():
            worker.terminate()
