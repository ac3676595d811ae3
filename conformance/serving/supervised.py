"""A provider in a process of its own, which ``control.restart`` really kills: what was in flight then is never answered.

The process is ``serve --stdio``. It holds the state; this side holds the connections of those who call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.exchange import CONTROL_PREFIX
from conformance.serving.host import Answer, Gone
from conformance.wire import json_text

HELLO = f"{CONTROL_PREFIX}hello"
RESTART = f"{CONTROL_PREFIX}restart"
LINE_LIMIT = 64 * 2**20
"""No line of the process is longer, in bytes."""


class Supervised:
    """An async provider over the process of ``command``, which is started when it is first needed."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._starting = asyncio.Lock()
        self._running: _Running | None = None

    async def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        """Answer a memory call. Raises ``Gone`` where the process ended before it answered."""
        return await self._ask({"credential": credential, "flags": list(flags), "op": op, "payload": payload})

    async def control(self, name: str, payload: Any) -> Answer:
        """Pull a lever; a restart kills the process and answers when another one does."""
        if name == RESTART:
            return await self._restarted(payload)
        return await self._ask({"control": name, "payload": payload})

    async def _restarted(self, payload: Any) -> Answer:
        answer = await self._ask({"control": HELLO, "payload": payload if _unknown(payload) else {}})
        if "error" in answer:
            return answer
        async with self._starting:
            if self._running is not None:
                await self._running.kill()
        begun = await self._ask({"control": HELLO, "payload": {}})
        return {"payload": {"instance": begun["payload"]["instance"]}}

    async def _ask(self, message: Mapping[str, Any]) -> Answer:
        async with self._starting:
            if self._running is None or self._running.ended:
                self._running = await _Running.started(self._command)
        return await self._running.ask(message)


class _Running:
    """One process; each line that it answers goes to the one who waits for its id."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._number = 0
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def started(cls, command: Sequence[str]) -> _Running:
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=LINE_LIMIT))

    @property
    def ended(self) -> bool:
        return self._reading.done()

    async def ask(self, message: Mapping[str, Any]) -> Answer:
        self._number += 1
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = answer
        if self.ended or self._process.stdin is None:
            self._end()
        else:
            self._process.stdin.write(json_text.written({"id": self._number, **message}).encode("ascii") + b"\n")
        return await answer

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        try:
            while self._process.stdout is not None and (line := await self._process.stdout.readline()):
                answer = json_text.read(line.decode("utf-8"), strict=False)
                if (waiting := self._waiting.pop(answer.pop("id"), None)) is not None and not waiting.done():
                    waiting.set_result(answer)
        finally:
            self._end()

    def _end(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Gone())
        self._waiting.clear()


def _unknown(payload: Any) -> bool:
    """Say whether the payload of a restart has what a restart does not know, so that any control refuses it."""
    return not isinstance(payload, dict) or not set(payload) <= {"crash"} or not isinstance(payload.get("crash"), bool | None)
