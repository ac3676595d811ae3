"""The in-process shim: a Python object is the provider (harness.md, ``oracle`` and ``python:`` targets).

Requests and answers pass through JSON text, so that neither side can see or change the other's objects and no value that
JSON lacks gets through. A call that exceeds the deadline is interrupted by an interval timer where that is possible (the main
thread of a POSIX process); elsewhere it is not bounded, nor where the provider takes the alarm's signal for itself.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections.abc import Awaitable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from conformance.errors import NoAnswer, TargetFault, blame
from conformance.exchange import Call, Reply
from conformance.transport.reading import ANSWER_LIMIT
from conformance.transport.shim import read_answer
from conformance.wire import json_text

AGAIN_SECONDS = 1.0
"""The alarm rings on: Python drops what it raises while garbage is collected, and a provider may catch it."""
Answer = Mapping[str, Any]
_PASSED_ON = (TargetFault, KeyboardInterrupt)
"""What comes out of a provider's code and is not its own: the alarm that interrupts it, and the person who does."""


class Provider(Protocol):
    """An object that takes memory calls and control calls, sync or async.

    Calls to a sync provider come one after another, unless it says ``parallel = True``; an async one gets them at once.
    """

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer | Awaitable[Answer]:
        """Answer a memory call with ``{"payload": …}`` or ``{"error": …}``."""
        ...

    def control(self, name: str, payload: Any) -> Answer | Awaitable[Answer]:
        """Pull a lever of the test bench; ``name`` carries its ``control.`` prefix."""
        ...


class InProcess:
    """A shim over a ``Provider`` object; ``deadline`` is in seconds a call."""

    shared = False

    def __init__(self, provider: Provider, *, deadline: float = 10.0) -> None:
        self._provider = provider
        self._deadline = deadline
        self._made_loop: asyncio.AbstractEventLoop | None = None
        self._bounded = False

    def send(self, call: Call) -> Reply:
        """Carry one call (see ``Shim``)."""
        self._bound()
        with _alarm(self._deadline, call.op):
            answer = self._guarded(call)
            if inspect.isawaitable(answer):
                answer = self._loop.run_until_complete(_awaited(answer, call.op, self._deadline))
            return read_answer(call.op, _through_json(answer, call.op))

    def send_all(self, calls: Sequence[Call]) -> list[Reply | TargetFault]:
        """Carry calls at once where the provider is async or says ``parallel``, else in turn (see ``Shim``)."""
        if inspect.iscoroutinefunction(self._provider.call):
            return self._loop.run_until_complete(self._gathered(calls))
        if getattr(self._provider, "parallel", False):
            with ThreadPoolExecutor(max_workers=max(1, len(calls))) as pool:
                return list(pool.map(self._outcome, calls))
        return [self._outcome(call) for call in calls]

    def restart(self) -> bool:
        """Return False: only the provider's own control can restart it."""
        return False

    def close(self) -> None:
        """Close the event loop, where an async provider made one necessary."""
        if self._made_loop is not None:
            self._made_loop.close()

    def _bound(self) -> None:
        """Put the handler of the alarm, once: to put it, or to ask for it, at each call would cost more than many an answer."""
        if not self._bounded and _in_main_thread():
            signal.signal(signal.SIGALRM, _ring)
            self._bounded = True

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._made_loop is None:
            self._made_loop = asyncio.new_event_loop()
        return self._made_loop

    def _guarded(self, call: Call) -> Any:
        payload = json_text.copied(call.payload)
        try:
            if call.is_control:
                return self._provider.control(call.op, payload)
            return self._provider.call(call.credential, sorted(call.flags), call.op, payload)
        except _PASSED_ON:
            raise
        except BaseException as error:  # SystemExit too: it is not the provider's to end the run
            raise TargetFault(f"{call.op}: the provider raised {blame(error)}") from error

    def _outcome(self, call: Call) -> Reply | TargetFault:
        try:
            return self.send(call)
        except TargetFault as fault:
            return fault

    async def _gathered(self, calls: Sequence[Call]) -> list[Reply | TargetFault]:
        async def one(call: Call) -> Reply | TargetFault:
            try:
                answer = self._guarded(call)
                if inspect.isawaitable(answer):
                    answer = await _awaited(answer, call.op, self._deadline)
                return read_answer(call.op, _through_json(answer, call.op))
            except TargetFault as fault:
                return fault

        return list(await asyncio.gather(*(one(call) for call in calls)))


async def _awaited(answer: Awaitable[Any], op: str, deadline: float) -> Any:
    try:
        return await asyncio.wait_for(_as_coroutine(answer, op), deadline)
    except TimeoutError as error:
        raise NoAnswer(f"{op}: no answer within {deadline:g} s") from error
    except asyncio.CancelledError as error:
        raise TargetFault(f"{op}: the provider raised {blame(error)}") from error


async def _as_coroutine(answer: Awaitable[Any], op: str) -> Any:
    try:
        return await answer
    except (*_PASSED_ON, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        raise TargetFault(f"{op}: the provider raised {blame(error)}") from error


def _through_json(answer: Any, op: str) -> Any:
    try:
        return json_text.copied(answer, strict=True, limit=ANSWER_LIMIT)
    except _PASSED_ON:
        raise
    except json_text.TooLong as error:
        raise TargetFault(f"{op}: the answer is longer than {ANSWER_LIMIT} bytes") from error
    except BaseException as error:  # whatever an object of the provider's does while it is written
        raise TargetFault(f"{op}: the answer is not JSON: {blame(error)}") from error


class _alarm:  # noqa: N801  (a context, named as it is read; a generator would cost as much as the timer)
    """Raises ``NoAnswer`` in the main thread where the context is open for too long."""

    __slots__ = ("_op", "_rings", "_seconds")

    def __init__(self, seconds: float, op: str) -> None:
        self._seconds = seconds
        self._op = op

    def __enter__(self) -> None:
        self._rings = _in_main_thread()
        if self._rings:
            signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN_SECONDS)

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if self._rings:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if isinstance(error, _Late):
            raise NoAnswer(f"{self._op}: no answer within {self._seconds:g} s") from None


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


class _Late(TargetFault):
    """The alarm has rung."""


def _ring(_signum: int, _frame: object) -> None:
    raise _Late
