"""The target and the model, driven together: one call goes to both, and what comes back is judged.

The target is asked first; the model then takes the same call, with the names that the target gave, and goes on from the state
that the answer means. What a target leaves pending of its own accord is waited for at once; what the bench holds stays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.errors import NoAnswer, TargetFault
from conformance.exchange import Call, Reply
from conformance.expect import CheckFailed
from conformance.machine import blames
from conformance.machine.comparison import Sight
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.judging import Judge, Judged
from conformance.machine.model import Asked, Model
from conformance.oracle.state import Doc, State
from conformance.wire.bundle import instant
from conformance.world import World

RECEIPTS_GET = "memory.receipts.get"
SETTLE_SECONDS = 10.0
POLLS_AT_ONCE = 8
POLL_SECONDS = 0.01
KEPT_CALLS = 400
KEPT_FIRST = 60
"""The oldest mutations of an episode stay known, however long it gets."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A principal of an episode, with the name that a person reads."""

    name: str
    principal_id: str
    credential: str | None


@dataclass(frozen=True, slots=True)
class Done:
    """A mutation that was sent: by whom, what, and the code of its refusal or ""."""

    actor: Actor
    op: str
    request: Doc
    code: str


@dataclass(slots=True)
class Share:
    """Where the time of a walk goes, in seconds: ``provider`` in the target's calls, ``suite`` in model and comparison."""

    provider: float = 0.0
    suite: float = 0.0
    calls: int = 0


Watch = Callable[[Asked, Reply, State], None]


@dataclass(slots=True)
class Duo:
    """Sends calls to the target (through ``world``) and to the model. ``watch`` is told of every answer that was right."""

    world: World
    model: Model
    sight: Sight
    flags: frozenset[str]
    watch: Watch | None = None
    held: bool = False
    share: Share = field(default_factory=Share)
    done: list[Done] = field(default_factory=list)
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        self.judge = Judge(self.model, self.sight)

    # -- one call

    def send(self, actor: Actor, op: str, request: Doc) -> Reply:
        """Send one call and judge the answer. Raises ``Disagreement`` where it is wrong."""
        seen = self.exchange(actor, op, request)
        started = time.perf_counter()
        self.sight.hear(request)
        asked = self.asked(actor, op, request, seen)
        judged = self.judge.judge(self.model.state, asked, seen)
        self.keep(judged)
        self._noted(actor, asked, seen)
        self.share.suite += time.perf_counter() - started
        if asked.pends and not self.held:
            receipt = seen.payload["receipt"]
            self.wait(receipt, lambda: self.read_pending(actor, receipt))
        return seen

    def exchange(self, actor: Actor, op: str, request: Doc, flags: frozenset[str] | None = None, *, wrong: bool = False) -> Reply:
        """Send one call to the target alone. Raises ``Disagreement`` for an answer of no form, or none."""
        call = Call(op, request, actor.credential, self.flags if flags is None else flags, actor.name)
        reply: Reply = self.timed(op, lambda: self.world.exchange(call, meant_invalid=wrong))
        return reply

    def timed(self, op: str, send: Callable[[], Any]) -> Any:
        """Let ``send`` reach the target; what is wrong with the form of the answer is a disagreement."""
        started = time.perf_counter()
        try:
            return send()
        except Disagreement:
            raise
        except CheckFailed as failed:
            raise Disagreement(_of_form(failed, op), op, Kind.FORM, reason=failed.pointer, seen=failed.seen) from failed
        except NoAnswer:
            raise
        except TargetFault as fault:
            raise Disagreement("R004", op, Kind.SILENT, reason=str(fault)[:80]) from fault
        finally:
            self.share.provider += time.perf_counter() - started
            self.share.calls += 1

    def asked(self, actor: Actor, op: str, request: Doc, seen: Reply) -> Asked:
        """Give a call as the model takes it, with the target's names from the answer; set the model's clock by it."""
        row = self.model.bundle.operations[op]
        if not row.mutation or seen.error is not None:
            return Asked(actor.principal_id, op, request)
        receipt = seen.payload["receipt"]
        if not self.sight.timed:
            self.model.now = max(self.model.now, receipt["created_at"], key=instant)
        return Asked(actor.principal_id, op, request, receipt, row.may_be_pending and receipt["state"] == "pending")

    def keep(self, judged: Judged) -> None:
        """Go on from a judgement. Raises its ``Disagreement``."""
        if judged.disagreement is not None:
            raise judged.disagreement
        self.model.state = judged.state

    def _noted(self, actor: Actor, asked: Asked, seen: Reply) -> None:
        if self.watch is not None:
            self.watch(asked, seen, self.model.state)
        if not self.model.bundle.operations[asked.op].mutation:
            return
        self.done.append(Done(actor, asked.op, asked.request, seen.code or ""))
        if len(self.done) > KEPT_CALLS:
            del self.done[KEPT_FIRST : KEPT_FIRST + KEPT_CALLS // 4]

    # -- what is pending

    def wait(self, receipt: Doc, settled: Callable[[], bool]) -> None:
        """Look at what the target left pending until it has ``settled``. Raises ``Disagreement`` where it never does."""
        until, polls = time.monotonic() + SETTLE_SECONDS, 0
        while not settled():
            polls += 1
            if time.monotonic() > until:
                raise Disagreement("R007", receipt["op"], Kind.STATE, reason="never settles", seen=receipt)
            if polls > POLLS_AT_ONCE:
                time.sleep(POLL_SECONDS)

    def read_pending(self, actor: Actor, receipt: Doc) -> bool:
        """Read a receipt that may have settled; say whether it has, and judge it."""
        request = {"space_id": receipt["space_id"], "receipt_id": receipt["receipt_id"]}
        seen = self.exchange(actor, RECEIPTS_GET, request)
        state = seen.payload["receipt"]["state"] if seen.error is None else ""
        number = self.model.number_of(self.model.state, receipt["space_id"], receipt["receipt_id"])
        settled = state not in ("", "pending")
        if settled and number is not None:
            self.model.state = self.model.settle(self.model.state, number, receipt["space_id"])
        self.keep(self.judge.judge(self.model.state, Asked(actor.principal_id, RECEIPTS_GET, request), seen))
        return settled

    def hold(self, hold: bool, pull: Callable[[str, Mapping[str, Any]], Any]) -> None:
        """Hold the four operations that may be pending, or let them settle on both sides."""
        self.timed("control.hold", lambda: pull("hold", {"hold": hold}))
        self.held = hold
        if not hold:
            for number, space_id in self.model.pending(self.model.state):
                self.model.state = self.model.settle(self.model.state, number, space_id)


def _of_form(failed: CheckFailed, op: str) -> str:
    """Name the rule of an answer that has no form of the contract."""
    if "internal" in failed.what:
        return "R004"
    if "/content" in failed.pointer and _is_dead(failed.seen, failed.pointer.partition("/content")[0]):
        return "R021"
    return blames.of_member(op, failed.pointer) if failed.pointer else "R001"


def _is_dead(shown: Any, pointer: str) -> bool:
    """Say whether a pointer leads to a record that is deleted."""
    for step in pointer.split("/")[1:]:
        if isinstance(shown, Mapping):
            shown = shown.get(step)
        elif isinstance(shown, list) and step.isdecimal() and int(step) < len(shown):
            shown = shown[int(step)]
    return isinstance(shown, Mapping) and "tombstone" in shown


def ids_of(affected: Sequence[Doc], kind: str) -> list[str]:
    """List the ids of one type in a receipt's ``affected``."""
    return [entry["id"] for entry in affected if entry["type"] == kind]
