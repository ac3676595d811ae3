"""A child process that speaks lines: started in a group of its own, read without trust, ended without mercy.

One thread does it all: whoever waits for a line also writes what is still to be written and takes in what the child says on
stderr, so that no full pipe can stop both sides. Memory is bounded: a line by ``ANSWER_LIMIT``, stderr by its last bytes.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from conformance.transport.reading import ANSWER_LIMIT

STDERR_KEPT = 8192
CHUNK = 2**16
TICK_SECONDS = 0.1
"""A process that died is noticed so late at most: a grandchild may keep its pipes open, so that no end of file tells."""
LEAVE_SECONDS = 1.0


class Overlong(Exception):
    """A line is longer than any answer can be."""


class Child:
    """A running process. Raises ``OSError`` where it cannot be started."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the command is the person's own
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **env},
            cwd=cwd,
            bufsize=0,
            start_new_session=True,
        )
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in streams if stream is not None)
        self._unsent = bytearray()
        self._unread = bytearray()
        self._searched = 0
        self._stderr = bytearray()
        self._selector = selectors.DefaultSelector()
        for number in (self._in, self._out, self._err):
            os.set_blocking(number, False)
        for number in (self._out, self._err):
            self._selector.register(number, selectors.EVENT_READ)

    @property
    def group(self) -> int:
        """The process group that the process leads."""
        return self._process.pid

    @property
    def said(self) -> str:
        """The last that the process wrote on stderr."""
        return bytes(self._stderr).decode("utf-8", "replace")

    @property
    def ended(self) -> bool:
        """True where the process is dead and nothing of it is left to read."""
        return self._process.poll() is not None and not self._take_in(0)

    @property
    def exit_code(self) -> int | None:
        """The exit code of a dead process, negative for a signal."""
        return self._process.poll()

    def write(self, line: bytes) -> None:
        """Give a line to be written while lines are awaited."""
        if not self._unsent:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        self._unsent += line

    def line(self, until: float) -> bytes | None:
        """Wait for the next line, without its LF. None: the time is over (monotonic seconds), or the process is dead.

        Raises ``Overlong``.
        """
        while (found := self.next_line()) is None:
            left = until - time.monotonic()
            if left <= 0 or (not self._take_in(min(left, TICK_SECONDS)) and self.ended):
                return self.next_line()
        return found

    def next_line(self) -> bytes | None:
        """Return the next line that has come already, None where none has. Raises ``Overlong``."""
        end = self._unread.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._unread)
            if self._searched > ANSWER_LIMIT:
                raise Overlong
            return None
        found = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._searched = 0
        return found

    def kill(self) -> None:
        """End the process and its group at once, without a goodbye, and let go of its pipes."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE_SECONDS)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def leave(self) -> None:
        """Say goodbye by the end of its input, wait a little, then end what is left of it."""
        if self._unsent:
            self._all_sent()
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE_SECONDS)
        self.kill()

    # -- pipes

    def _take_in(self, seconds: float) -> bool:
        """Write and read what can be written and read; False where nothing could be read."""
        moved = False
        for key, _ in self._selector.select(seconds):
            if key.fd == self._in:
                self._send()
            elif chunk := self._read(key.fd):
                moved = True
                self._keep(key.fd, chunk)
        return moved

    def _send(self) -> None:
        try:
            del self._unsent[: os.write(self._in, self._unsent[:CHUNK])]
        except BlockingIOError:
            return
        except OSError:  # it does not read any more; whether it still answers shows elsewhere
            self._unsent.clear()
        if not self._unsent:
            self._all_sent()

    def _all_sent(self) -> None:
        self._unsent.clear()
        self._selector.unregister(self._in)

    def _read(self, number: int) -> bytes:
        try:
            chunk = os.read(number, CHUNK)
        except BlockingIOError:
            return b""
        if not chunk:
            self._selector.unregister(number)
        return chunk

    def _keep(self, number: int, chunk: bytes) -> None:
        if number == self._out:
            self._unread += chunk
        else:
            self._stderr += chunk
            del self._stderr[:-STDERR_KEPT]
