"""The stdio shim: a child process that answers JSON lines, in any order, paired by their ids (harness.md, Target strings).

What is wrong with one line is told of the call that waits for it. A process that died, hangs, or whose stream cannot be followed
any more is ended, and the next call finds a new one: the checks that come after keep their results.
"""

from __future__ import annotations

import shlex
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.errors import BadTarget, NoAnswer, TargetFault
from conformance.exchange import CONTROL_PREFIX, Call, Reply
from conformance.transport.child import Child, Overlong
from conformance.transport.guardian import Guardian
from conformance.transport.reading import ANSWER_LIMIT, excerpt, read_json
from conformance.transport.route import Route
from conformance.transport.shim import Shim, read_answer
from conformance.wire import json_text

STARTING = 3
"""So many deadlines may pass until the first answer of a process: it must start first."""
REMEMBERED = 1000
"""So many calls are remembered whose answer was given up for a wrong line, to tell it from a foreign one when it comes."""

HELLO = f"{CONTROL_PREFIX}hello"
RESTART = f"{CONTROL_PREFIX}restart"
"""A restart is the shim's own to do: it holds the process."""

Outcome = Reply | TargetFault


class Stdio:
    """A shim over the process of ``command``; ``deadline`` is in seconds a call. Each worker has a process of its own."""

    shared = False

    def __init__(
        self, command: Sequence[str], *, deadline: float, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self._command = tuple(command)
        self._deadline = deadline
        self._env = dict(env or {})
        self._cwd = cwd
        self._child: Child | None = None
        self._guardian: Guardian | None = None
        self._started = False
        self._number = 0
        self._late: deque[int] = deque(maxlen=REMEMBERED)

    @property
    def stderr(self) -> str:
        """The last that the process wrote on stderr, for the report."""
        return "" if self._child is None else self._child.said

    def send(self, call: Call) -> Reply:
        """Carry one call (see ``Shim``)."""
        outcome = self.send_all([call])[0]
        if isinstance(outcome, TargetFault):
            raise outcome
        return outcome

    def send_all(self, calls: Sequence[Call]) -> list[Outcome]:
        """Write all calls at once, then pair the answers (see ``Shim``)."""
        place = next((index for index, call in enumerate(calls) if call.op == RESTART), None)
        return self._exchanged(calls, len(calls)) if place is None else self._amid_a_kill(calls, place)

    def _amid_a_kill(self, calls: Sequence[Call], place: int) -> list[Outcome]:
        """Write all calls but the restart at ``place``, and kill the process when so many of them are answered."""
        outcomes = self._exchanged([*calls[:place], *calls[place + 1 :]], place)
        self._give_up()
        begun = self.send(Call(HELLO, {}))
        return [*outcomes[:place], begun, *outcomes[place:]]

    def _exchanged(self, calls: Sequence[Call], enough: int) -> list[Outcome]:
        """Write all calls at once, then pair the answers until ``enough`` calls have theirs."""
        child = self._running()
        waiting = {self._number + index + 1: call for index, call in enumerate(calls)}
        self._number += len(calls)
        for number, call in waiting.items():
            child.write(_line(number, call))
        until = time.monotonic() + self._deadline * (1 if self._started else STARTING)
        found: dict[int, Outcome] = {}
        while len(found) < enough and self._child is child:
            self._take_one(child, until, waiting, found)
        self._take_rest(child, waiting, found)
        return [found.get(number) or NoAnswer(f"{call.op}: not answered when it was killed") for number, call in waiting.items()]

    def restart(self) -> bool:
        """Kill the process without a goodbye; the next call finds another one."""
        self._give_up()
        return True

    def close(self) -> None:
        """Say goodbye by the end of its input, then end what is left of it."""
        if self._child is not None:
            self._child.leave()
            self._let_go(self._child)
        if self._guardian is not None:
            self._guardian.close()
            self._guardian = None

    # -- the process

    def _running(self) -> Child:
        if self._child is None:
            try:
                self._child = Child(self._command, env=self._env, cwd=self._cwd)
            except OSError as error:
                raise BadTarget(f"target stdio:{shlex.join(self._command)}: it cannot be started: {error.strerror}.") from error
            self._guarded(self._child)
            self._started = False
            self._late.clear()
        return self._child

    def _guarded(self, child: Child) -> None:
        if self._guardian is None:
            self._guardian = Guardian()
        self._guardian.watch(child.group)

    def _let_go(self, child: Child) -> None:
        self._child = None
        if self._guardian is not None:
            self._guardian.forget(child.group)

    def _give_up(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._let_go(self._child)

    # -- answers

    def _take_one(self, child: Child, until: float, waiting: Mapping[int, Call], found: dict[int, Outcome]) -> None:
        try:
            line = child.line(until)
        except Overlong:
            self._lost(waiting, found, TargetFault, f"an answer is longer than {ANSWER_LIMIT} bytes")
            return
        if line is not None:
            self._pair(line, waiting, found)
        elif child.ended:
            self._lost(waiting, found, NoAnswer, _obituary(child))
        else:
            self._lost(waiting, found, NoAnswer, f"no answer within {self._deadline:g} s")

    def _take_rest(self, child: Child, waiting: Mapping[int, Call], found: dict[int, Outcome]) -> None:
        """Look at the lines that came with the last answer: a second answer is told of the call that it is for."""
        while self._child is child and (line := _already(child)) is not None:
            self._pair(line, waiting, found)

    def _pair(self, line: bytes, waiting: Mapping[int, Call], found: dict[int, Outcome]) -> None:
        first = next((number for number in waiting if number not in found), max(waiting))
        try:
            number, answer = _numbered(waiting[first].op, line)
            if number in self._late:
                self._late.remove(number)
            elif number in waiting:
                found[number] = _twice(waiting[number]) if number in found else _outcome(waiting[number].op, answer)
                self._started = True
            else:
                found[first] = TargetFault(f"{waiting[first].op}: an answer came with the id {number}, which no open call has")
                self._late.append(first)
        except TargetFault as fault:
            found[first] = fault
            self._late.append(first)

    def _lost(self, waiting: Mapping[int, Call], found: dict[int, Outcome], kind: type[TargetFault], why: str) -> None:
        for number, call in waiting.items():
            found.setdefault(number, kind(f"{call.op}: {why}"))
        self._give_up()


def open_stdio(route: Route) -> Shim:
    """Return a shim over the command that ``route`` names. Raises ``BadTarget`` where it is no command."""
    try:
        command = shlex.split(route.rest)
    except ValueError as error:
        raise BadTarget(f"target stdio:{route.rest}: it is no command: {error}.") from error
    if not command:
        raise BadTarget("target stdio: it names no command: write it as stdio:node provider.js.")
    return Stdio(command, deadline=route.deadline, env=route.env, cwd=route.cwd)


def _line(number: int, call: Call) -> bytes:
    if call.is_control:
        message: dict[str, Any] = {"id": number, "control": call.op, "payload": call.payload}
    else:
        flags = sorted(call.flags)
        message = {"id": number, "credential": call.credential, "flags": flags, "op": call.op, "payload": call.payload}
    return json_text.written(message).encode("ascii") + b"\n"


def _already(child: Child) -> bytes | None:
    try:
        return child.next_line()
    except Overlong:
        return None  # the next call meets it again


def _numbered(op: str, line: bytes) -> tuple[int, Mapping[str, Any]]:
    answer = read_json(op, line)
    if not isinstance(answer, dict) or "id" not in answer:
        raise TargetFault(f"{op}: a line is no object with an 'id': {excerpt(line)}")
    number = answer["id"]
    if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number):
        raise TargetFault(f"{op}: the 'id' of an answer is none that was sent: {excerpt(line)}")
    return int(number), answer


def _twice(call: Call) -> TargetFault:
    return TargetFault(f"{call.op}: it was answered twice")


def _outcome(op: str, answer: Mapping[str, Any]) -> Outcome:
    try:
        return read_answer(op, answer)
    except TargetFault as fault:
        return fault


def _obituary(child: Child) -> str:
    last = [line.strip() for line in child.said.splitlines() if line.strip()][-1:]
    return f"the process ended (exit code {child.exit_code}){''.join(f'; on stderr: {line[:200]}' for line in last)}"
