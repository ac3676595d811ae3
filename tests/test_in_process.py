"""The in-process shim: JSON in and out, exceptions and hangs blamed on the provider, parallel where the provider takes it."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import pytest

from conformance.errors import TargetFault
from conformance.exchange import Call
from conformance.transport.in_process import InProcess
from conformance.wire.canonical import same
from tests.signals import while_collected

CALL = Call("memory.describe", {"a": [1]}, "c", frozenset({"y", "x"}))


class Echo:
    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.seen: list[Any] = []

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Any:
        self.seen.append((credential, list(flags), op, payload))
        return self.answer if self.answer is not None else {"payload": payload}

    def control(self, name: str, payload: Any) -> Any:
        return {"payload": {"name": name, **payload}}


class Raising(Echo):
    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Any:
        raise KeyError("lost")


class Hanging(Echo):
    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Any:
        time.sleep(5)


class Asynchronous:
    def __init__(self, *, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.running = 0
        self.most = 0

    async def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Mapping[str, Any]:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(self.seconds)
        self.running -= 1
        if payload == {"raise": True}:
            raise KeyError("lost")
        return {"payload": payload}

    async def control(self, name: str, payload: Any) -> Mapping[str, Any]:
        return {"payload": {"name": name}}


class Parallel(Echo):
    parallel = True

    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(3, timeout=5)

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Any:
        self.meeting.wait()
        return {"payload": payload}


def test_a_call_arrives_as_it_was_made_and_shares_no_object() -> None:
    provider = Echo()
    shim = InProcess(provider)
    reply = shim.send(CALL)
    assert provider.seen == [("c", ["x", "y"], "memory.describe", {"a": [1]})]
    assert reply.payload == {"a": [1]}
    assert reply.payload["a"] is not CALL.payload["a"]
    assert shim.send(Call("control.hello", {})).payload == {"name": "control.hello"}
    assert shim.restart() is False
    shim.close()


def test_lone_surrogates_travel() -> None:
    assert InProcess(Echo()).send(Call("memory.describe", {"a": "\ud800"})).payload == {"a": "\ud800"}


@pytest.mark.parametrize("answer", [{"payload": {"a": float("nan")}}, {"payload": {"a": {1, 2}}}, {"payload": {"a": b"x"}}])
def test_what_json_lacks_is_the_targets_fault(answer: Any) -> None:
    with pytest.raises(TargetFault, match="not JSON"):
        InProcess(Echo(answer)).send(CALL)


def nested(levels: int) -> Any:
    value: Any = "a"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize("levels", [500, 2_000, 20_000])
def test_any_depth_travels_both_ways(levels: int) -> None:
    provider = Echo()
    reply = InProcess(provider).send(Call("memory.describe", {"a": nested(levels)}))
    assert same(provider.seen[0][3], {"a": nested(levels)})
    assert same(reply.payload, {"a": nested(levels)})
    assert reply.payload["a"] is not provider.seen[0][3]["a"]


def circle(length: int) -> list[Any]:
    first: list[Any] = []
    last = first
    for _ in range(length):
        last.append([])
        last = last[0]
    last.append(first)
    return first


class Treacherous(dict[str, Any]):
    """Raises while it is written."""

    def items(self) -> Any:
        raise SystemExit("gone")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (circle(0), "not JSON"),
        (circle(5_000), "not JSON"),
        ({"payload": nested(200_000)}, "not JSON"),
        ({"payload": {"a": "x" * 40_000_000}}, "longer than"),
        ({"payload": {"a": 10**10_000}}, "not JSON"),
        ({"payload": Treacherous(a=1)}, "not JSON: SystemExit: gone"),
        ({"payload": {"a": nested(20_000), "b": {1}}}, "not JSON"),
        ({"payload": {"a": nested(20_000), "b": float("inf")}}, "not JSON"),
    ],
    ids=[
        "circle",
        "long circle",
        "too deep",
        "too long",
        "too large a number",
        "treacherous",
        "deep and a set",
        "deep and infinite",
    ],
)
def test_an_answer_that_cannot_be_written_is_the_targets_fault(answer: Any, said: str) -> None:
    with pytest.raises(TargetFault, match=f"memory.describe: the answer is {said}"):
        InProcess(Echo(answer)).send(CALL)


class Leaving(Echo):
    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Any:
        sys.exit("enough")


class LeavingLater:
    async def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Any:
        sys.exit("enough")

    async def control(self, name: str, payload: Any) -> Any:
        raise asyncio.CancelledError


@pytest.mark.parametrize("provider", [Leaving(), LeavingLater()])
def test_a_provider_cannot_end_the_run(provider: Any) -> None:
    with closing(InProcess(provider)) as shim:
        with pytest.raises(TargetFault, match="raised SystemExit: enough"):
            shim.send(CALL)
        assert [str(reply) for reply in shim.send_all([CALL])] == ["memory.describe: the provider raised SystemExit: enough"]


def test_a_provider_that_cancels_itself_is_at_fault() -> None:
    with closing(InProcess(LeavingLater())) as shim, pytest.raises(TargetFault, match="raised CancelledError"):
        shim.send(Call("control.hello", {}))


@pytest.mark.parametrize("provider", [Raising(), Asynchronous()])
def test_an_exception_is_the_targets_fault(provider: Any) -> None:
    with closing(InProcess(provider)) as shim, pytest.raises(TargetFault, match="raised KeyError"):
        shim.send(Call("memory.describe", {"raise": True}))


@pytest.mark.parametrize("provider", [Hanging(), Asynchronous(seconds=5)])
def test_a_hang_ends_at_the_deadline(provider: Any) -> None:
    started = time.monotonic()
    with closing(InProcess(provider, deadline=0.1)) as shim, pytest.raises(TargetFault, match="no answer within"):
        shim.send(CALL)
    assert time.monotonic() - started < 2


class Collecting(Echo):
    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Any:
        gc.collect()
        time.sleep(30)


def test_a_hang_ends_although_the_alarm_rang_while_garbage_was_collected() -> None:
    hook, sys.unraisablehook = sys.unraisablehook, lambda _dropped: None
    try:
        shim = InProcess(Collecting(), deadline=0.1)
        with while_collected(lambda: time.sleep(0.3)), pytest.raises(TargetFault, match="no answer within"):
            shim.send(CALL)
    finally:
        sys.unraisablehook = hook


def test_async_providers_get_calls_at_once_and_sync_ones_in_turn() -> None:
    provider = Asynchronous(seconds=0.01)
    calls = [Call("memory.describe", {"n": n}) for n in range(3)] + [Call("memory.describe", {"raise": True})]
    with closing(InProcess(provider)) as shim:
        replies = shim.send_all(calls)
    assert [reply.payload if not isinstance(reply, TargetFault) else "fault" for reply in replies] == [
        {"n": 0}, {"n": 1}, {"n": 2}, "fault",
    ]  # fmt: skip
    assert provider.most == 4
    assert [isinstance(reply, TargetFault) for reply in InProcess(Raising()).send_all(calls[:2])] == [True, True]


def test_a_sync_provider_that_says_parallel_gets_calls_at_once() -> None:
    replies = InProcess(Parallel()).send_all([Call("memory.describe", {"n": n}) for n in range(3)])
    assert [reply.payload for reply in replies if not isinstance(reply, TargetFault)] == [{"n": 0}, {"n": 1}, {"n": 2}]
