"""Where the time goes, from the bare oracle to fuzz; writes the tables into ``tests/benchmarks/RESULTS.md``.

    python -m tests.benchmarks.bench_shares [--seconds 5] [--rules R007,R016] [--to FILE]

All figures are processor time, of the median part where a way has parts, since other work on the machine is no fault of ours.
``own`` is what is neither the provider's nor the generator's: the suite and hypothesis' engine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from conformance import runner
from conformance.bench import Bench
from conformance.catalogue import named
from conformance.client import Client, Tally
from conformance.exchange import Call, Exchange, Reply, Trace
from conformance.fuzz import crew
from conformance.fuzz.corpus import Corpus
from conformance.fuzz.order import Order
from conformance.listening import Listening
from conformance.machine.behaviour import Behaviours
from conformance.machine.walk import Leg, Plan, play
from conformance.oracle import Oracle
from conformance.target import open_target
from conformance.wire.bundle import load
from tests.benchmarks.null_provider import DESCRIBED, FLAG
from tests.benchmarks.pages import machine_and_commit, reported
from tests.benchmarks.sampling import ENGINE, GENERATOR, OTHER, PROVIDER, SUITE, sampled

RESULTS = Path(__file__).with_name("RESULTS.md")
NULL = "python:tests.benchmarks.null_provider:Null"
OWN_BAR, VALIDATION_BAR = 150.0, 20.0
LENGTHS = (10, 1_000, 100_000)
REPEATED = 20
FLAT = 2.0
"""A cost counts as constant where the longest trace makes it less than so many times as high as the shortest."""

DESCRIBE = Call("memory.describe", {}, "c", frozenset({FLAG}))
SCOPE = {"subject_id": "s", "context_id": "c"}
Send = Callable[[Call], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A measured way: so many calls in so many processor seconds, and whose they were."""

    name: str
    calls: int
    seconds: float
    shares: dict[str, float]

    @property
    def each(self) -> float:
        """Microseconds a call."""
        return self.seconds / self.calls * 1e6

    def of(self, *names: str) -> float:
        """Microseconds a call on these accounts."""
        return self.each * sum(self.shares[name] for name in names)

    @property
    def own(self) -> float:
        """The suite's own microseconds a call."""
        return self.of(SUITE, ENGINE)


# -- the ways


def records(send: Send, home: dict[str, Any], flags: frozenset[str]) -> int:
    """Do what a check does with records, in a space of its own; return how many calls were sent."""
    sent = 0

    def do(op: str, **members: Any) -> Any:
        nonlocal sent
        sent += 1
        request = {"space_id": home["space_id"], **members}
        if op not in READS:
            request["idempotency_key"] = f"k{sent}"
        return send(Call(f"memory.{op}", request, home["root"]["credential"], flags, "root"))

    selection = {"subject_id": "s", "mode": "contexts_and_shared", "context_ids": ["c"]}
    do("subjects.ensure", subject_id="s")
    for number in range(10):
        made = do("records.create", kind="note", scope=SCOPE, content={"text": f"the text of record {number}"})
        record_id = made["receipt"]["affected"][0]["id"]
        do("records.get", record_id=record_id)
        do("records.update", record_id=record_id, expected_revision=1, content={"text": "other"})
        do("records.list", selection=selection)
        do("recall", selection=selection, query={"text": "other"}, budget={"max_records": 5})
    return sent


READS = frozenset({"records.get", "records.list", "recall"})


def bare(seconds: float) -> Row:
    """Call the oracle as an object."""
    oracle = Oracle()
    flags = frozenset(load().flag(flag) for flag in _flags())

    def send(call: Call) -> Any:
        return oracle.call(call.credential, sorted(call.flags), call.op, call.payload)["payload"]

    return _measured("bare oracle", seconds, lambda: records(send, oracle.control("control.provision", {})["payload"], flags))


def judged(seconds: float) -> Row:
    """Call it as a check does: both sides validated, the exchange recorded."""
    bundle, target = load(), open_target("oracle", bundle=load())
    shim = target.open().shim
    flags = frozenset(bundle.flag(flag) for flag in _flags())

    def work() -> int:
        client, trace = Client(Listening(shim), bundle), Trace()
        home = shim.send(Call("control.provision", {})).payload
        return records(lambda call: client.send(call, trace).payload, home, flags)

    return _measured("oracle + client", seconds, work)


def null(seconds: float) -> Row:
    """Call a provider that does nothing, as a check does."""
    bundle = load()
    client, trace = Client(Listening(open_target(NULL, bundle=bundle).open().shim), bundle), Trace()

    def work() -> int:
        for _ in range(100):
            client.send(DESCRIBE, trace)
        return 100

    return _measured("null provider + client", seconds, work)


def modules(rules: str) -> Row:
    """Run rule modules."""
    began = time.process_time()
    with sampled() as looks:
        result = runner.run(runner.Order(profile="quick"), [named(rule) for rule in rules.split(",")])
    spent = time.process_time() - began
    if result.exit_code() != 0:
        raise SystemExit(f"the oracle does not pass {rules}")
    return Row(f"rule modules {rules}", sum(check.calls for check in result.checks), spent, looks.shares())


def machine(seconds: float) -> Row:
    """Walk beside the model."""
    bundle, target, behaviours, episode = load(), open_target("oracle", bundle=load()), Behaviours(), iter(range(10**6))

    def work() -> int:
        opened = target.open()
        bench = Bench(opened.shim, bundle, opened.facts)
        until = time.process_time() + seconds / 5
        played = play(bench, Plan((Leg(next(episode)),)), watch=behaviours.watch, until=lambda: time.process_time() > until)
        if played.finding is not None:
            raise SystemExit(f"the machine disagrees with the oracle: {played.finding}")
        target.release(opened)
        return played.share.calls

    return _measured("machine", seconds, work)


def fuzz(seconds: float) -> Row:
    """Fuzz in this process."""
    crew.run(Order("oracle", calls=500, workers=0), Corpus())  # what is made once is not counted
    began = time.process_time()
    with sampled() as looks:
        outcome = crew.run(Order("oracle", seconds=seconds, workers=0), Corpus())
    return Row("fuzz", outcome.calls, time.process_time() - began, looks.shares())


def _flags() -> tuple[Any, ...]:
    return tuple(row.flag for row in load().operations.values())


def _measured(name: str, seconds: float, work: Callable[[], int]) -> Row:
    work()  # what is made once is not counted
    # The thread's clock: the process' goes by ticks of 4 ms as long as a timer of it is set, and parts are shorter than that.
    calls, costs, began = 0, list[float](), time.thread_time()
    with sampled() as looks:
        while (now := time.thread_time()) - began < seconds:
            done = work()
            calls += done
            costs.append((time.thread_time() - now) / done)
    return Row(name, calls, median(costs) * calls, looks.shares())


# -- single costs


def validation(seconds: float) -> float:
    """Give the mean microseconds of judging both sides of a call, over the calls of ``records``."""
    bundle, shim = load(), open_target("oracle", bundle=load()).open().shim
    client, trace = Client(shim, bundle), Trace()
    home = shim.send(Call("control.provision", {})).payload
    records(lambda call: client.send(call, trace).payload, home, frozenset(bundle.flag(flag) for flag in _flags()))
    pairs = [(bundle.request(one.call.op), one.call.payload) for one in trace]
    pairs += [(bundle.response(one.call.op), one.reply.payload) for one in trace]

    def once() -> None:
        for validator, value in pairs:
            validator.accepts(value)

    return _each(once, seconds) / len(trace) * 1e6


def recording(seconds: float) -> dict[int, float]:
    """Give the microseconds of recording a call, by the length that the trace has already."""
    exchange = Exchange(DESCRIBE, Reply(DESCRIBED))
    costs = {}
    for length in LENGTHS:
        trace, tally, listening = Trace([exchange] * length), Tally(), Listening(_Still())
        for _ in range(min(length, 2_000)):
            listening.send(DESCRIBE)

        def once(trace: Trace = trace, tally: Tally = tally, listening: Listening = listening) -> None:
            listening.send(DESCRIBE)
            trace.add(exchange)
            tally.count(exchange)

        costs[length] = _each(once, seconds) * 1e6
    return costs


class _Still:
    """A shim that costs nothing."""

    shared = False

    def send(self, call: Call) -> Reply:
        return Reply(DESCRIBED)

    def send_all(self, calls: Any) -> list[Any]:
        return [Reply(DESCRIBED) for _ in calls]

    def restart(self) -> bool:
        return False

    def close(self) -> None: ...


def _each(once: Callable[[], None], seconds: float) -> float:
    costs, began = list[float](), time.process_time()
    while (now := time.process_time()) - began < seconds:
        for _ in range(REPEATED):
            once()
        costs.append((time.process_time() - now) / REPEATED)
    return median(costs)


# -- the page


def page(rows: list[Row], judging: float, costs: dict[int, float]) -> Iterator[str]:
    """Write the tables."""
    yield "# Where the time goes\n"
    yield f"Written by `nox -s bench` on {machine_and_commit()}."
    yield "Microseconds of processor time a call; `own` is the suite and hypothesis' engine. The machine's model is an oracle"
    yield "too: with the machine and fuzz, `provider` is the target and the model together.\n"
    yield "| way | calls | calls/s | a call | generator | hypothesis | suite | provider | start and pytest | own |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        parts = [row.of(name) for name in (GENERATOR, ENGINE, SUITE, PROVIDER, OTHER)]
        told = " | ".join(f"{part:,.0f}" for part in (row.each, *parts, row.own))
        yield f"| {row.name} | {row.calls:,} | {1e6 / row.each:,.0f} | {told} |"
    yield "\n| cost of a call | µs | bar |"
    yield "|---|---:|---:|"
    yield f"| validation of both sides, fast path | {judging:.1f} | {VALIDATION_BAR:g} |"
    for length, cost in costs.items():
        yield f"| recording (digest, history, trace), trace of {length:,} | {cost:.1f} | constant |"
    for row in rows:
        yield f"| own share, {row.name} | {row.own:.0f} | {OWN_BAR:g} |"


def kept(rows: list[Row], judging: float, costs: dict[int, float]) -> dict[str, bool]:
    """Say which bars are kept."""
    return {
        **{f"own share of {row.name} at most {OWN_BAR:g} µs": row.own <= OWN_BAR for row in rows},
        f"validation under {VALIDATION_BAR:g} µs": judging < VALIDATION_BAR,
        "recording is constant": max(costs.values()) < FLAT * min(costs.values()),
    }


def main() -> int:
    """Measure, write, and say which bars are kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0, help="of processor time for each way")
    parser.add_argument("--rules", default="R007,R014,R016,R022,R023,R027")
    parser.add_argument("--to", type=Path, default=RESULTS)
    options = parser.parse_args()
    seconds = options.seconds
    rows = [bare(seconds), judged(seconds), null(seconds), modules(options.rules), machine(seconds), fuzz(seconds)]
    figures = rows, validation(seconds / 5), recording(seconds / 10)
    return reported(page(*figures), kept(*figures), options.to)


if __name__ == "__main__":
    sys.exit(main())
