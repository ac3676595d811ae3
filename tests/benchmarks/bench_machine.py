"""How fast the walk and hypothesis' machine drive the oracle, and where the time goes.

``python -m tests.benchmarks.bench_machine``

Both do the same acts; the walk chooses by ``random``, the machine by hypothesis, which can shrink and costs for it.
"""

from __future__ import annotations

import sys
import time

from hypothesis.stateful import run_state_machine_as_test

from conformance.bench import Bench
from conformance.machine.behaviour import Behaviours
from conformance.machine.stateful import machine_for, settings
from conformance.machine.walk import Leg, Plan, play
from conformance.target import open_target
from conformance.wire.bundle import load

SECONDS = 10.0
EXAMPLES, STEPS = 40, 50


def walk(seconds: float) -> str:
    """Walk for some processor seconds."""
    bundle, target = load(), open_target("oracle", bundle=load())
    behaviours = Behaviours()
    calls, provider, suite, episode, began = 0, 0.0, 0.0, 0, time.process_time()
    wall = time.perf_counter()
    while time.process_time() - began < seconds:
        opened = target.open()
        bench = Bench(opened.shim, bundle, opened.facts)
        played = play(bench, Plan((Leg(episode),)), watch=behaviours.watch, until=lambda: time.process_time() - began >= seconds)
        calls, episode = calls + played.share.calls, episode + 1
        provider, suite = provider + played.share.provider, suite + played.share.suite
    spent, walled = time.process_time() - began, time.perf_counter() - wall
    rest = 1 - (provider + suite) / walled
    return (
        f"walk: {calls / spent:.0f} calls/s of processor, {len(behaviours.counts)} behaviours in {calls} calls; provider and "
        f"form {provider / walled:.0%}, model and comparison {suite / walled:.0%}, choosing and the rest {rest:.0%}"
    )


def machine(examples: int, steps: int) -> str:
    """Let hypothesis play some episodes."""
    bundle = load()
    opened = open_target("oracle", bundle=bundle).open()
    bench = Bench(opened.shim, bundle, opened.facts)
    began = time.process_time()
    run_state_machine_as_test(machine_for(bench), settings=settings(examples, steps))
    spent = time.process_time() - began
    return f"machine: {bench.client.tally.calls / spent:.0f} calls/s of processor, {examples} episodes of up to {steps} acts"


if __name__ == "__main__":
    sys.stdout.write(f"{walk(SECONDS)}\n{machine(EXAMPLES, STEPS)}\n")
