"""A campaign on more than one machine: shards on the workers of a Dask scheduler, put together here.

A shard plays rounds, one after another, each a task of the scheduler that is done in seconds: what it is to play is in the task,
so that a round whose worker is lost is played again, in the same way, by another one. What a round finds is told at once as an
event and again with its result; each piece of news has its place in its round and counts once, however often it comes. Between
the rounds the corpus is shared out anew. A finding is reduced once, by the shard that told it first. ``distributed`` comes with
the extra ``memory-conformance[cluster]``.
"""

from __future__ import annotations

import math
import pickle
import queue
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import distributed

from conformance.bench import Bench
from conformance.commands.here import find_modules_here
from conformance.errors import BadInput, TargetFault, blame
from conformance.fuzz.corpus import Corpus, Entry
from conformance.fuzz.crew import Look, Outcome, interruption
from conformance.fuzz.findings import Finding, Key, Reducer
from conformance.fuzz.order import SHARD, Order
from conformance.fuzz.work import News, Worker
from conformance.listening import Listening
from conformance.machine.walk import Plan, play
from conformance.release import DISTRIBUTION, version
from conformance.secrets import of_route
from conformance.target import open_target
from conformance.wire.bundle import load

ROUND_CALLS = 3_000
ROUND_SECONDS = 60.0
POLL_SECONDS = 0.1
ASKED_EVERY = 1.0
CONNECT_SECONDS = 15.0
LONELY_SECONDS = 60.0
"""So long a campaign waits for a worker where none is left."""

NOT_AGAIN = "it did not show when its episode was played again"


@dataclass(slots=True)
class Shard:
    """A part of a campaign: how far it has come, the findings that it is to reduce, and what it does now.

    ``broken``: it plays no more rounds.
    """

    number: int
    rounds: int = 0
    episodes: int = 0
    due: list[Finding] = field(default_factory=list)
    task: Any = None
    reducing: bool = False
    broken: bool = False
    over: bool = False


# -- on a worker


def play_round(order: Order, shard: int, number: int, entries: Sequence[Entry], topic: str) -> list[News]:
    """Play a round of a shard and return its news; figures and findings are events of ``topic`` too, as they come."""
    find_modules_here()
    worker, heard = distributed.get_worker(), list[News]()

    def tell(news: News) -> None:
        if news.entry is None and not news.over:
            worker.log_event(topic, pickle.dumps((shard, number, len(heard), news)))
        heard.append(news)

    try:
        with open_target(order.target, bundle=load(order.schemas)).started():
            Worker(order, shard, entries, tell, _Stop(topic)).work()
    except BadInput as error:
        heard.append(News(unusable=str(error)))
    return heard


def reduce_finding(order: Order, finding: Finding) -> Finding:
    """Play the episode of a finding again and give it with its counterexample."""
    find_modules_here()
    bundle = load(order.schemas)
    target = open_target(order.target, bundle=bundle)
    with target.started():
        opened = target.open()
        try:
            listening = Listening(opened.shim)
            bench = Bench(listening, bundle, opened.facts, seed=order.seed, homes=opened.homes, logins=opened.logins)
            played = play(bench, Plan(finding.legs, order.alone(shared=opened.shim.shared)))
            secrets = of_route(target.route)
            hiding = secrets.with_more(listening.credentials)
            again = None if played.finding is None else Finding.of(played, played.finding, hiding)
            if again is None or again.key != finding.key:
                return replace(finding, unreduced=NOT_AGAIN)
            return Reducer(bundle, opened, order.seed).reduced(again, listening, secrets)
        except TargetFault as fault:
            return replace(finding, unreduced=of_route(target.route).text(blame(fault)))
        finally:
            target.release(opened)
            target.close()


class _Stop:
    """Whether the campaign was stopped: asked of the scheduler now and then."""

    def __init__(self, topic: str) -> None:
        self._event = distributed.Event(topic)
        self._asked = time.monotonic()
        self._set = False

    def __call__(self) -> bool:
        if not self._set and time.monotonic() - self._asked > ASKED_EVERY:
            self._set = bool(self._event.is_set())
            self._asked = time.monotonic()
        return self._set


# -- where the campaign is led


def run(order: Order, corpus: Corpus, address: str, template: str | None = None, look: Look = lambda _o, _n: None) -> Outcome:
    """Do what an order says on the workers of the scheduler at ``address`` (``tcp://HOST:PORT``).

    ``workers`` 0 makes a shard for each of their threads. ``template`` is a target with ``{shard}`` in it, for a target of each
    shard's own. Raises ``BadInput`` where the cluster cannot be used.
    """
    client = _client(address)
    try:
        threads = _threads(client, address)
        order = replace(order, workers=order.workers or threads, apart=template is not None)
        campaign = Campaign(client, order, corpus, template)
        with interruption() as interrupted:
            campaign.lead(look, interrupted)
        return campaign.outcome
    finally:
        client.close(timeout=POLL_SECONDS)


def _client(address: str) -> Any:
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{address}: no Dask scheduler answers there: {blame(error)}.") from error


def _threads(client: Any, address: str) -> int:
    """Count the threads of all workers. Raises ``BadInput`` where there is none, or one of them has another suite."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        versions = client.run(version)
    except TimeoutError as error:
        raise BadInput(f"{address}: the scheduler has no workers.") from error
    except Exception as error:
        raise BadInput(f"{address}: memory-conformance cannot be used on the workers: {blame(error)}.") from error
    for worker, theirs in versions.items():
        if theirs != version():
            raise BadInput(f"{worker}: the worker has memory-conformance {theirs}, here is {version()}.")
    return sum(client.nthreads().values())


class Campaign:
    """Leads the shards until the budget is used up: hands out rounds, takes in news, has findings reduced."""

    def __init__(self, client: Any, order: Order, corpus: Corpus, template: str | None) -> None:
        self.outcome = Outcome(corpus)
        self._client = client
        self._order = order
        self._template = template
        self._topic = f"{DISTRIBUTION}-{uuid.uuid4().hex}"
        self._events: queue.SimpleQueue[tuple[int, int, int, News]] = queue.SimpleQueue()
        self._seen: set[tuple[int, int, int]] = set()
        self._known: set[Key] = set()
        self._shards = [Shard(number) for number in range(order.workers)]
        self._began = self._met = time.monotonic()

    def lead(self, look: Look, interrupted: Callable[[], bool]) -> None:
        """Go on until all shards are over."""
        self._client.subscribe_topic(self._topic, self._hear)
        while not all(shard.over for shard in self._shards):
            self._stop_where(interrupted)
            self._take_events(look)
            for shard in self._shards:
                self._go_on(shard, look)
            look(self.outcome, News())
            time.sleep(POLL_SECONDS)
        self._client.unsubscribe_topic(self._topic)
        self.outcome.seconds = time.monotonic() - self._began
        self.outcome.corpus.count(self.outcome.episodes, self.outcome.calls)

    # -- news

    def _hear(self, event: tuple[Any, Any]) -> None:
        self._events.put(pickle.loads(event[1]))  # noqa: S301  (what a Dask cluster sends is pickled throughout)

    def _take_events(self, look: Look) -> None:
        while not self._events.empty():
            number, played, place, news = self._events.get()
            self._take(self._shards[number], (number, played, place), news, look)

    def _take(self, shard: Shard, place: tuple[int, int, int], news: News, look: Look) -> None:
        """Take news in, once, wherever it comes from."""
        if place in self._seen:
            return
        self._seen.add(place)
        shard.episodes += news.episodes
        self.outcome.seconds = time.monotonic() - self._began
        self.outcome.take(news)
        if news.finding is not None and news.finding.key not in self._known:
            self._known.add(news.finding.key)
            shard.due.append(news.finding)
        look(self.outcome, news)

    # -- shards

    def _go_on(self, shard: Shard, look: Look) -> None:
        """Take a task's result, where it is done, and hand out the next one."""
        if shard.over or (shard.task is not None and not shard.task.done()):
            return
        if shard.task is not None:
            self._done(shard, look)
        shard.task, shard.reducing = None, bool(shard.due)
        if shard.reducing:
            shard.task = self._submit(reduce_finding, self._order_of(shard), shard.due[0])
        elif shard.broken or self._is_over():
            shard.over = True
        else:
            entries = list(self.outcome.corpus.entries)
            shard.task = self._submit(play_round, self._order_of(shard), shard.number, shard.rounds, entries, self._topic)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False)

    def _done(self, shard: Shard, look: Look) -> None:
        reduced = shard.due.pop(0) if shard.reducing else None
        try:
            result = shard.task.result()
        except Exception as error:  # a killed worker too often, a lost scheduler, whatever a cluster can do
            self.outcome.troubles.append(f"shard {shard.number}: {blame(error)}")
            shard.broken = shard.broken or reduced is None
            return
        if reduced is not None:
            self.outcome.findings.add(replace(result, times=0))
            return
        for place, news in enumerate(result):
            self._take(shard, (shard.number, shard.rounds, place), replace(news, over=False), look)
            shard.broken = shard.broken or bool(news.unusable or news.trouble)
        shard.rounds += 1

    def _order_of(self, shard: Shard) -> Order:
        """Give the order of a shard's next round."""
        order = self._order
        target = order.target if self._template is None else self._template.replace(SHARD, str(shard.number))
        calls = ROUND_CALLS * order.workers
        if order.calls is not None:
            calls = max(order.workers, min(calls, math.ceil(order.calls - self.outcome.calls)))
        left = ROUND_SECONDS if order.seconds is None else order.seconds - (time.monotonic() - self._began)
        first = order.first + shard.episodes * order.workers
        return replace(order, target=target, calls=calls, seconds=max(1.0, min(ROUND_SECONDS, left)), first=first, reduces=False)

    # -- the end

    def _is_over(self) -> bool:
        order, outcome = self._order, self.outcome
        late = order.seconds is not None and time.monotonic() - self._began >= order.seconds
        enough = order.calls is not None and outcome.calls >= order.calls
        return late or enough or outcome.stopped or bool(outcome.unusable)

    def _stop_where(self, interrupted: Callable[[], bool]) -> None:
        """Stop by hand, and where nobody is left to do anything."""
        if interrupted() and not self.outcome.stopped:
            self.outcome.stopped = True
            distributed.Event(self._topic, client=self._client).set()
        if time.monotonic() - self._met < ASKED_EVERY:
            return
        if self._is_met():
            self._met = time.monotonic()
        elif time.monotonic() - self._met > LONELY_SECONDS:
            self.outcome.troubles.append("the cluster has had no worker for a minute: what it was about to do is left out")
            for shard in self._shards:
                shard.over = True

    def _is_met(self) -> bool:
        """Say whether the scheduler answers and has a worker."""
        try:
            return bool(self._client.nthreads())
        except Exception:
            return False
