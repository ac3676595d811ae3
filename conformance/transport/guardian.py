"""No orphans: a process of its own that ends what we started when we are gone, however we went.

A process that is killed cannot clean up. So a second one holds the reading end of a pipe of ours: it is told of each process
group that we start, and of each that we ended, and when the pipe ends, because it was closed or because we died, it kills the
groups that are left.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

LEAVE_SECONDS = 5.0
_CODE = """\
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
groups = set()
for line in sys.stdin.buffer:
    group = int(line[1:])
    (groups.add if line[:1] == b"+" else groups.discard)(group)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Guardian:
    """Watches over process groups until it is closed. It takes no part in the signals of the terminal."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own code, by our own interpreter
            [sys.executable, "-I", "-S", "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """Have the process group ended when this process is gone."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Leave the process group alone from now on: it was ended."""
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """End what is left of the groups."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE_SECONDS)

    def _tell(self, line: str) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):  # somebody ended the guardian itself; the rest of our cleaning up goes on
                self._process.stdin.write(line.encode("ascii"))
