"""The last resort against a provider that hangs and cannot be interrupted: the worker process ends itself.

A shim's deadline interrupts a call where that is possible. Where it is not (code that swallows every exception, a lock that
nobody frees), the worker leaves its check's result in a file and dies; xdist starts another worker, and the results of all other
checks are kept. And where the run itself was killed, its workers do not go on without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path

from conformance.doing import Doing
from conformance.errors import NoAnswer
from conformance.verdict import CheckResult

STEP_SECONDS = 0.5
SPARE_SECONDS = 5.0
DEADLINES = 3
"""A call has its deadline; so many deadlines without a further call mean that it was not kept."""


class Watchdog:
    """Watches the check that runs; ``post`` is the directory for its result, ``deadline`` the target's in seconds a call."""

    def __init__(self, post: Path, deadline: float) -> None:
        self._post = post
        self._patience = DEADLINES * deadline + SPARE_SECONDS
        self._doing: Doing | None = None
        self._parent = os.getppid()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def watch(self, doing: Doing | None) -> None:
        """Watch this check from now on, None: no check."""
        self._doing = doing

    def _watch(self) -> None:
        seen, since = self._progress(), time.monotonic()
        while True:
            time.sleep(STEP_SECONDS)
            if os.getppid() != self._parent:
                os._exit(1)  # the run was killed; nobody takes a result any more
            now = self._progress()
            if now != seen or (self._doing is not None and self._doing.waits):
                seen, since = now, time.monotonic()
            elif (doing := self._doing) is not None and time.monotonic() - since > self._patience:
                self._give_up(doing)

    def _progress(self) -> tuple[int, int]:
        doing = self._doing
        bench = None if doing is None else doing.bench
        return id(doing), 0 if bench is None else bench.client.tally.calls

    def _give_up(self, doing: Doing) -> None:
        doing.error = NoAnswer(f"no answer within {self._patience:g} s, and the call could not be interrupted")
        place(self._post, doing.node_id).write_text(json.dumps(doing.result().to_json()), "utf-8")
        os._exit(1)


def place(post: Path, node_id: str) -> Path:
    """Return the file in which a check's result is left."""
    return post / f"{hashlib.sha256(node_id.encode()).hexdigest()}.json"


def left(post: Path, node_id: str) -> CheckResult | None:
    """Return the result that a worker left of a check before it ended itself, None where it left none."""
    file = place(post, node_id)
    return CheckResult.of_json(json.loads(file.read_text("utf-8"))) if file.is_file() else None
