"""Providers that are right in how they answer: what no choice of the oracle reaches (``tests.variants`` lists them).

Each wraps the oracle and differs in one thing that protocol.md leaves open.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.machine import reasons
from conformance.machine.comparison import as_set
from conformance.machine.freedom import members
from conformance.machine.model import Asked, Model
from conformance.oracle import Choices, Oracle, imports
from conformance.oracle.clock import Clock
from conformance.oracle.methods import Members
from conformance.oracle.provider import Answer
from conformance.oracle.refusals import Refusal
from conformance.port import MemoryRejected, Principal, Request
from conformance.wire import json_text
from conformance.wire.vocabulary import Code, Reason

ERROR = "error"


class Annotated(Oracle):
    """Marks each answer with a number of its own: in its ``extensions``, and in an error's message and open ``details``."""

    def __init__(self, choices: Choices | None = None) -> None:
        super().__init__(choices=choices)
        self._marks = itertools.count(1)

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        [(branch, body)] = super().call(credential, flags, op, payload).items()
        number = next(self._marks)
        marked = {**body, "extensions": {**body.get("extensions", {}), "tracing": {"request": number}}}
        if branch == ERROR:
            marked |= {"message": f"refused ({number})", "details": {**body.get("details", {}), "hint": "see the manual"}}
        return {branch: marked}


class FilterAsInput(Annotated):
    """Calls a cognition filter without its flag an unsupported requirement, not a missing capability (section 2)."""

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        answer = super().call(credential, flags, op, payload)
        if not self._is_gated_filter(answer, flags, op):
            return answer
        row, reason = self.bundle.errors[Code.MALFORMED_REQUEST], self.bundle.reason(Reason.UNSUPPORTED_COGNITION)
        return {ERROR: {**answer[ERROR], "code": row.code, "details": {"retry": row.retry, "reason": reason}}}

    def _is_gated_filter(self, answer: Answer, flags: Iterable[str], op: str) -> bool:
        """Say whether the capability that is missing is the filter's, not the operation's."""
        missing = answer.get(ERROR, {}).get("code") == self.bundle.errors[Code.FLAG_NOT_NEGOTIATED].code
        return bool(missing) and self.bundle.flag(self.bundle.operations[op].flag) in flags


def backwards(value: Any) -> Any:
    """Return a JSON value with the members of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: backwards(member) for name, member in reversed(value.items())}
    return [backwards(item) for item in value] if isinstance(value, list | tuple) else value


class Backwards(Oracle):
    """Writes the members of every answer in the opposite order: an object has none."""

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        [(branch, body)] = super().call(credential, flags, op, payload).items()
        return {branch: backwards(body)}


SETS = members(as_set)
VERBATIM = frozenset({"content", "extensions", "selection", "filter", "cognition_filter", "bundle", "chunk"})


def sets_backwards(value: Any, name: str = "") -> Any:
    """Return an answer with each list that is a set in the opposite order; what is verbatim or has a digest stays."""
    if isinstance(value, dict):
        return {member: inner if member in VERBATIM else sets_backwards(inner, member) for member, inner in value.items()}
    if isinstance(value, list | tuple):
        told = [sets_backwards(item) for item in value]
        return told[::-1] if name == "documents" or (name in SETS and not _are_listed(told)) else told
    return value


def _are_listed(items: list[Any]) -> bool:
    """Say whether these are objects of a list, whose order is the provider's but stable, and not of a basis."""
    return bool(items) and isinstance(items[0], dict) and "space_id" in items[0]


class SetsBackwards(Oracle):
    """Tells every set in the opposite order (sections 3 and 4)."""

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        answer: Answer = sets_backwards(super().call(credential, flags, op, payload))
        return answer


class LastReason(Oracle):
    """Where several conditions are violated at once, tells the one that the oracle checks last (preamble)."""

    def run(self, op: str, principal: Principal, request: Request) -> Members:
        self._asked = Asked(principal.principal_id, op, dict(request))
        return super().run(op, principal, request)

    def _rejected(self, refusal: Refusal) -> MemoryRejected:
        model = Model(self.bundle, self._described(), self.declared)
        model.now, model.env = self.clock.now(), self.env
        *_, last = reasons.reasons(model, self.state, self._asked, refusal, self.env)
        return super()._rejected(last)

    def _described(self) -> Mapping[str, Any]:
        described: Mapping[str, Any] = super().run("memory.describe", Principal(self._asked.caller), {})
        return described


class ShortPages(Oracle):
    """Gives one item fewer than asked for on the first page of a list (section 7, Lists: no page need be filled)."""

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        return super().call(credential, flags, op, self._shortened(op, payload))

    def _shortened(self, op: str, payload: Any) -> Any:
        row = self.bundle.operations.get(op)
        if row is None or not row.lists or not self.bundle.request(op).accepts(payload):
            return payload
        page, most = payload.get("page", {}), self.env.choices.limits.max_page
        limit = page.get("limit", self.env.choices.default_limit)
        return payload if "cursor" in page or not 1 < limit <= most else {**payload, "page": {**page, "limit": limit - 1}}


class FormFirst(Oracle):
    """Judges a request from its form up: where several things are wrong, what section 6 judges first is told last."""

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        row = self.bundle.operations.get(op)
        wrong = {
            Code.NOT_AUTHENTICATED: self.admit(credential) is None,
            Code.UNKNOWN_OPERATION: row is None,
            Code.FLAG_NOT_NEGOTIATED: row is not None and self.bundle.flag(row.flag) not in self.declared & {*flags},
            Code.MALFORMED_REQUEST: row is not None and not self.bundle.request(op).accepts(payload),
        }
        found = [code for code, holds in wrong.items() if holds]
        if len(found) < 2:
            return super().call(credential, flags, op, payload)
        return {ERROR: {"code": self.bundle.errors[found[-1]].code, "message": "", "extensions": {}}}


class PendingNamesSpace(Oracle):
    """Names the space in the pending receipt of an activation too (section 4: its id is there while pending)."""

    def __init__(self) -> None:
        super().__init__(choices=Choices(pending_calls=2))

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        answer = super().call(credential, flags, op, payload)
        receipt = answer.get("payload", {}).get("receipt")
        if not receipt or receipt["state"] != "pending" or receipt["op"] != "memory.imports.activate":
            return answer
        affected = [*receipt["affected"], {"type": "space", "id": receipt["space_id"]}]
        return {"payload": {**answer["payload"], "receipt": {**receipt, "affected": affected}}}


class OddCursors(Oracle):
    """Makes cursors that are long, and hard on whoever takes them apart."""

    FRAME = '⟨100%/\u0085 \\"{}&?=+\t⟩' * 60

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        page = payload.get("page") if isinstance(payload, dict) else None
        if isinstance(page, dict) and isinstance(page.get("cursor"), str):
            payload = {**payload, "page": {**page, "cursor": self._unframed(page["cursor"])}}
        answer = super().call(credential, flags, op, payload)
        if "next_cursor" not in answer.get("payload", {}):
            return answer
        return {"payload": {**answer["payload"], "next_cursor": f"{self.FRAME}{answer['payload']['next_cursor']}"}}

    def _unframed(self, cursor: str) -> str:
        return cursor.removeprefix(self.FRAME) if cursor.startswith(self.FRAME) else f"made up: {cursor}"


class WholeSeconds(Clock):
    """A clock that tells whole seconds, but where it was set."""

    def now(self) -> str:
        return super().now() if self._stopped is not None else f"{super().now()[:19]}Z"


class ManyDigits(Clock):
    """A clock that tells picoseconds, but where it was set."""

    def now(self) -> str:
        return super().now() if self._stopped is not None else f"{super().now()[:-1].ljust(26, '0')}000123Z"


LARGEST = 2**20
TOO_LARGE = (Code.MALFORMED_REQUEST, Code.INVALID_VALUE, Code.LIMIT_EXCEEDED)


class RefusesLarge(Oracle):
    """Refuses a request of more than 1 MiB, each time with another of the codes that conform (section 1)."""

    _codes = itertools.cycle(TOO_LARGE)

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        row = self.bundle.operations.get(op)
        reached = self.admit(credential) is not None and row is not None and self.bundle.flag(row.flag) in flags
        if reached and len(json_text.written(payload)) > LARGEST:
            return {ERROR: {"code": self.bundle.errors[next(self._codes)].code, "message": "too large", "extensions": {}}}
        return super().call(credential, flags, op, payload)


class RefusesAnotherBundle(Oracle):
    """Refuses a stage under another bundle at once, each time with another of the codes that may be meant (section 4)."""

    _codes = itertools.cycle((Code.WRONG_STATE, Code.INVALID_VALUE, Code.IMPORT_SEQUENCE))

    def run(self, op: str, principal: Principal, request: Request) -> Members:
        before, other = self.state, op == "memory.imports.stage" and self._is_of_another_bundle(dict(request))
        answer = super().run(op, principal, request)
        if not other or answer["receipt"]["idempotency_key"] != request["idempotency_key"]:
            return answer
        self.state = before
        raise self._rejected(Refusal(next(self._codes)))

    def _is_of_another_bundle(self, request: dict[str, Any]) -> bool:
        space = self.state.spaces.get(request["space_id"])
        held = None if space is None else space.imports.get(request.get("import_id", ""))
        return held is not None and held["state"] == imports.STAGING and imports.differs(held, request)


class CompletesInTime(Oracle):
    """Settles what is pending when some time has passed, whatever is called meanwhile (section 7, Pending)."""

    SECONDS = 0.02

    def __init__(self) -> None:
        self._since: dict[int, float] = {}
        super().__init__(choices=Choices(pending_calls=1))

    def _is_due(self, number: int) -> bool:
        now = time.monotonic()
        return now - self._since.setdefault(number, now) > self.SECONDS
