"""The bundled provider: the oracle's steps as a ``MemoryPort`` behind the bundled dispatcher, with the test bench's controls.

This is the only place of the oracle that holds a state; everything below it is pure. Calls come one after another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from conformance.dispatch import Dispatcher, served_dimensions
from conformance.oracle import controls, jobs, refusals, steps, store
from conformance.oracle.choices import Choices
from conformance.oracle.clock import Clock
from conformance.oracle.methods import Members, OraclePort
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import State
from conformance.oracle.turn import Env
from conformance.port import MemoryRejected, Principal, Request
from conformance.wire.bundle import Bundle, load

Answer = dict[str, Any]


class Oracle(OraclePort):
    """A whole memory provider in memory: a ``MemoryPort`` that also takes memory calls and control calls.

    ``flags`` are the declared capability flags as wire strings (None: all four), ``state`` is what a served oracle read from its
    file. Requests become part of the state and answers are parts of it: neither is to be changed afterwards (the in-process shim
    copies both).
    """

    def __init__(
        self,
        bundle: Bundle | None = None,
        choices: Choices | None = None,
        clock: Clock | None = None,
        flags: Iterable[str] | None = None,
        state: State | None = None,
    ) -> None:
        self.bundle = bundle or load()
        self.choices = choices or Choices()
        self.clock = clock or Clock()
        self.state = state or State()
        self.holds = False
        self.crashes: list[Exception] = []
        self._starts = 0
        self._calls = 0
        self._waiting_since: dict[int, int] = {}
        self._flags = None if flags is None else frozenset(flags)
        self.start()

    @property
    def declared(self) -> frozenset[str]:
        """The declared capability flags as wire strings."""
        return frozenset(map(self.bundle.flag, self.bundle.flags)) if self._flags is None else self._flags

    def use_bundle(self, bundle: Bundle) -> None:
        """Speak the language of another bundle from now on, as a new instance."""
        self.bundle = bundle
        self.start()

    # -- calls

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        """Answer a memory call: ``{"payload": …}`` or ``{"error": ErrorEnvelope}``."""
        self._settle_due()
        return cast("Answer", self._dispatcher.call(credential, flags, op, payload))

    def control(self, name: str, payload: Any) -> Answer:
        """Pull a lever of the test bench; its name may carry the ``control.`` prefix or not."""
        return controls.pull(self, name, payload)

    def run(self, op: str, principal: Principal, request: Request) -> Members:
        """Take one step (``OraclePort``)."""
        holds = self.holds or self.choices.pending_calls > 0
        now = self.clock.now()
        self.state, reply = steps.step(self.state, principal.principal_id, op, dict(request), self.env, now, holds=holds)
        if isinstance(reply, Refusal):
            raise self._rejected(reply)
        return reply

    def admit(self, credential: str | None) -> Principal | None:
        """Give the principal that a credential stands for; compared exactly."""
        principal_id = None if credential is None else self.state.credentials.get(credential)
        return None if principal_id is None else Principal(principal_id)

    def _rejected(self, refusal: Refusal) -> MemoryRejected:
        made = refusals.envelope(refusal, self.bundle, tells_retry=self.choices.tells_retry)
        return MemoryRejected(made["code"], made["message"], made["details"])

    # -- pending receipts

    def settle_all(self) -> None:
        """Settle every pending receipt."""
        self.state = jobs.settle_all(self.state, self.env, self.clock.now())

    def _settle_due(self) -> None:
        self._calls += 1
        if self.holds or not self.state.waiting:
            return
        for number, space_id in jobs.due(self.state):
            if self._is_due(number):
                self._waiting_since.pop(number, None)
                self.state = jobs.settle_one(self.state, space_id, number, self.env, self.clock.now())

    def _is_due(self, number: int) -> bool:
        return self._calls - self._waiting_since.setdefault(number, self._calls) >= self.choices.pending_calls

    # -- starting and restarting

    def start(self) -> None:
        """Begin a new instance over the present state."""
        self._starts += 1
        self._waiting_since = {}
        self.instance = f"{self.clock.now()}/{self._starts}"
        self.env = Env(
            bundle=self.bundle,
            choices=self.choices,
            declared=self.declared,
            dimensions=self._dimensions(),
            secret="oracle" if self.choices.cursor_survives_restart else self.instance,
        )
        self._dispatcher = Dispatcher(
            self, self.admit, self.bundle, self.declared, dimensions=self.env.dimensions, crashed=self.crashes.append
        )

    def _dimensions(self) -> frozenset[str]:
        served = self.choices.cognition_dimensions
        return served_dimensions(self.bundle) if served is None else frozenset(served)

    def save(self) -> Answer:
        """Give all that outlives a restart, as JSON: the state, the clock and the hold."""
        return {"state": store.dump(self.state), "clock": self.clock.save(), "holds": self.holds}

    def restore(self, saved: Answer) -> None:
        """Go on as a new instance from what ``save`` gave."""
        self.state = store.load(saved["state"])
        self.clock.load(saved["clock"])
        self.holds = saved["holds"]
        self.start()

    def restart(self) -> None:
        """Write everything as JSON, drop it, and read it back into a new instance."""
        saved = self.save()
        spaces = saved["state"].pop("spaces")  # texts already
        text = json.dumps(saved)
        self.state = State()
        saved = json.loads(text)
        saved["state"]["spaces"] = spaces
        self.restore(saved)
