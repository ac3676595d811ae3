"""A server that a target file has started for the run, and stopped at its end (harness.md, Target strings)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from conformance.errors import BadTarget
from conformance.transport.guardian import Guardian

READY_SECONDS = 30.0
"""So long a server may take until it is ready."""
LEAVE_SECONDS = 5.0
KEPT = 8192
"""So many characters of its output are kept, and searched for the pattern."""


@dataclass(frozen=True, slots=True)
class Server:
    """``start`` and ``stop`` are commands, split into words; ``ready`` is what the output shows when the server listens."""

    start: tuple[str, ...]
    stop: tuple[str, ...] = ()
    ready: re.Pattern[str] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None


@contextmanager
def running(server: Server | None) -> Iterator[None]:
    """Start ``server`` and wait until it is ready; stop it in the end, come what may. None: there is nothing to start.

    Raises ``BadTarget`` where it cannot be started or does not get ready.
    """
    if server is None:
        yield
        return
    guardian = Guardian()
    try:
        process = _spawned(server)
        guardian.watch(process.pid)
        try:
            _await_ready(process, server)
            yield
        finally:
            _stop(process, server)
            guardian.forget(process.pid)
    finally:
        guardian.close()


def _spawned(server: Server) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(  # noqa: S603 - the command is the person's own
            server.start,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **server.env},
            cwd=server.cwd,
            start_new_session=True,
        )
    except OSError as error:
        raise BadTarget(f"start: {server.start[0]!r} cannot be started: {error.strerror}.") from error


def _await_ready(process: subprocess.Popen[str], server: Server) -> None:
    heard = _Heard(server.ready)
    threading.Thread(target=heard.listen, args=(process.stdout,), daemon=True).start()
    if server.ready is None:
        return
    if not heard.over.wait(READY_SECONDS):
        raise BadTarget(f"start: the output did not match 'ready' within {READY_SECONDS:g} s: {heard.last}.")
    if not heard.ready:
        raise BadTarget(f"start: the server ended before it was ready: {heard.last}.")


class _Heard:
    """What a server says, taken in for as long as it runs, so that it never waits for a reader."""

    def __init__(self, pattern: re.Pattern[str] | None) -> None:
        self._pattern = pattern
        self._text = ""
        self.ready = False
        self.over = threading.Event()

    @property
    def last(self) -> str:
        """The last line that is not empty."""
        return next((line.strip()[:200] for line in reversed(self._text.splitlines()) if line.strip()), "it said nothing")

    def listen(self, stream: IO[str]) -> None:
        """Take in all of ``stream``, and close it."""
        with stream, suppress(OSError):
            while chunk := stream.readline(KEPT):
                self._text = (self._text + chunk)[-KEPT:]
                if not self.ready and self._pattern is not None and self._pattern.search(self._text):
                    self.ready = True
                    self.over.set()
        self.over.set()


def _stop(process: subprocess.Popen[str], server: Server) -> None:
    if server.stop:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(  # noqa: S603 - the command is the person's own
                server.stop,
                env={**os.environ, **server.env},
                cwd=server.cwd,
                timeout=LEAVE_SECONDS,
                capture_output=True,
                check=False,
            )
    else:
        _signal(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(LEAVE_SECONDS)
    _signal(process, signal.SIGKILL)
    process.wait(LEAVE_SECONDS)


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
