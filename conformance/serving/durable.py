"""The bundled provider on a file: what it has acknowledged outlives every end of its process (harness.md, ``--db``).

The steps are the oracle's. A call that changed something is answered when that is on the disk; where it cannot be written, it
was not done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from conformance.oracle import Choices, Clock, Oracle
from conformance.oracle.state import State
from conformance.serving.database import Database
from conformance.wire.bundle import Bundle

Answer = dict[str, Any]


class Durable(Oracle):
    """The oracle over the file at ``path``, which is made where it is not there. Raises ``BadUsage`` where it cannot be used."""

    kept_by: ClassVar[type[Database]] = Database

    def __init__(
        self, path: Path, bundle: Bundle | None = None, *, clock: Clock | None = None, choices: Choices | None = None
    ) -> None:
        self._path = path
        self._database = self.kept_by(path)
        super().__init__(bundle=bundle, clock=clock, choices=choices)

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        """Answer a memory call (see ``Oracle``) when its change is on the disk."""
        with self._kept_after():
            return super().call(credential, flags, op, payload)

    def control(self, name: str, payload: Any) -> Answer:
        """Pull a lever (see ``Oracle``); what it moved is on the disk when it answers."""
        with self._kept_after():
            return super().control(name, payload)

    def start(self) -> None:
        """Begin a new instance over what the file holds; no two starts over one file are the same instance."""
        self.state, facts = self._database.read()
        if "clock" in facts:
            self.clock.load(facts["clock"])
        self.holds = facts.get("holds", False)
        self._starts = facts.get("starts", 0)
        super().start()
        self._keep(self.state)

    def restart(self) -> None:
        """Drop everything, the open file included, and begin a new instance over what it holds."""
        self._database.close()
        self.state = State()
        self._database = self.kept_by(self._path)
        self.start()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    @contextmanager
    def _kept_after(self) -> Iterator[None]:
        before, holds, clock, starts = self.state, self.holds, self.clock.save(), self._starts
        yield
        moved = holds != self.holds or any(clock[name] != now for name, now in self.clock.save().items() if name != "latest")
        if self._starts == starts and (self.state is not before or moved):
            try:
                self._keep(before)
            except BaseException:
                self.state, self.holds = before, holds
                self.clock.load(clock)
                raise

    def _keep(self, before: State) -> None:
        facts = {"clock": self.clock.save(), "holds": self.holds, "starts": self._starts}
        self._database.keep(before, self.state, facts)
