"""A process that will not go: it ignores every signal that can be ignored, and the end of its input.

``python tests/stubborn.py DIRECTORY`` has a child that does the same. Both leave their process ids in the directory, with the
suffix ``.asked`` where one was asked for more than its hello, which it does not answer.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

SECONDS = 60
PROVIDER = {"name": "stubborn", "version": "1"}
HELLO = {"harness": 1, "provider": PROVIDER, "instance": "i", "flags": ["spoke-memory"], "controls": []}


def main(directory: str) -> None:
    """Stay."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        _linger(directory)
    sys.stderr.write("up\n")
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("control") == "control.hello":
            sys.stdout.write(json.dumps({"id": message["id"], "payload": HELLO}) + "\n")
            sys.stdout.flush()
        else:
            _linger(directory, ".asked")
    _linger(directory)


def _linger(directory: str, suffix: str = "") -> None:
    (Path(directory) / f"{os.getpid()}{suffix}").touch()
    time.sleep(SECONDS)


if __name__ == "__main__":
    main(sys.argv[1])
