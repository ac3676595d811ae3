"""A principal at work in a world: the verbs that a check is written with.

``send`` says what came, ``do`` wants success, ``refused`` wants one of the named codes, ``denied`` the two that the contract
lets stand for lacking coverage (protocol.md section 5). Operations are named by their stem, ``records.create``; ``space_id``
and a fresh ``idempotency_key`` are filled in where the request has them and the check does not give them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from conformance.exchange import Call, Reply
from conformance.expect import CheckFailed
from conformance.paging import Chain
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code, Field, Flag, Reason

OMIT: Any = object()
"""Given as a member's value: leave the member out although it would be filled in."""

POLL_SECONDS = 0.01
SETTLE_SECONDS = 10.0


class Place(Protocol):
    """What a caller needs of the world it works in (``conformance.world.World``)."""

    bundle: Bundle
    space_id: str

    def operation(self, stem: str) -> str:
        """Return the full name of the operation with this stem."""
        ...

    def members_of(self, op: str) -> Mapping[str, Any]:
        """Return the properties of the operation's request schema."""
        ...

    def fresh_key(self) -> str:
        """Return an unused idempotency key."""
        ...

    def scope(self) -> dict[str, str]:
        """Return the world's first placement scope."""
        ...

    def exchange(self, call: Call, *, meant_invalid: bool = False) -> Reply:
        """Send a call and record it."""
        ...

    def expect(self, holds: bool, what: str, *, seen: Any = None) -> None:
        """Count an assertion; raise ``CheckFailed`` unless it holds."""
        ...

    def expect_refusal(
        self, call: Call, reply: Reply, codes: Sequence[Code], *, reason: Reason | None = None, field: Field | None = None
    ) -> Mapping[str, Any]:
        """Expect a refusal with one of ``codes``; return the error envelope."""
        ...


@dataclass(frozen=True)
class Caller:
    """A principal of a world. ``flags`` are wire strings: the negotiated set that its calls carry."""

    world: Place
    name: str
    principal_id: str
    credential: str | None
    flags: frozenset[str]

    def with_flags(self, *flags: Flag) -> Caller:
        """Return the same principal in a session that negotiated only ``flags``."""
        return replace(self, flags=frozenset(self.world.bundle.flag(flag) for flag in flags))

    def with_credential(self, credential: str | None, *, name: str = "") -> Caller:
        """Return a caller that shows another credential (None: none at all)."""
        return replace(self, credential=credential, name=name or f"{self.name}?")

    def call(self, stem: str, **members: Any) -> Call:
        """Build a call without sending it, with the common members filled in."""
        op = self.world.operation(stem)
        given = {name: value for name, value in members.items() if value is not OMIT}
        taken = self.world.members_of(op)
        if "space_id" in taken and "space_id" not in members:
            given = {"space_id": self.world.space_id, **given}
        if "idempotency_key" in taken and "idempotency_key" not in members:
            given["idempotency_key"] = self.world.fresh_key()
        return Call(op, given, self.credential, self.flags, self.name)

    def send(self, stem: str, **members: Any) -> Reply:
        """Send a valid request and return the answer, whatever it is."""
        return self.world.exchange(self.call(stem, **members))

    def raw(self, op: str, payload: Any) -> Reply:
        """Send a payload as it is, to an operation by its full name; both may be invalid on purpose."""
        return self.world.exchange(Call(op, payload, self.credential, self.flags, self.name), meant_invalid=True)

    def do(self, stem: str, **members: Any) -> Any:
        """Send a request that must succeed.

        Returns the success members of a read, the settled and committed receipt of a mutation.
        """
        return self.accepted(self.call(stem, **members))

    def accepted(self, call: Call) -> Any:
        """Send a built call that must succeed (see ``do``); sending the same call again is a replay."""
        reply = self.world.exchange(call)
        self.world.expect(
            reply.ok, f"{call.op}: {self.name} was refused a request that the contract accepts", seen=reply.error or None
        )
        return self._receipt(call.op, reply) if self.world.bundle.operations[call.op].mutation else reply.payload

    def refused(
        self, stem: str, *codes: Code, reason: Reason | None = None, field: Field | None = None, **members: Any
    ) -> Mapping[str, Any]:
        """Send a valid request that must be refused with one of ``codes`` (and ``details.reason``, ``details.field``).

        Returns the error envelope.
        """
        return self.must_refuse(self.call(stem, **members), *codes, reason=reason, field=field)

    def must_refuse(
        self, call: Call, *codes: Code, reason: Reason | None = None, field: Field | None = None, meant_invalid: bool = False
    ) -> Mapping[str, Any]:
        """Send a built call that must be refused (see ``refused``)."""
        reply = self.world.exchange(call, meant_invalid=meant_invalid)
        return self.world.expect_refusal(call, reply, codes, reason=reason, field=field)

    def denied(self, stem: str, **members: Any) -> Mapping[str, Any]:
        """Send a valid request that the caller is not entitled to: either answer of section 5 conforms."""
        return self.refused(stem, Code.NOT_AUTHORIZED, Code.NOT_FOUND, **members)

    def pages(self, stem: str, *, limits: Iterable[int] = (), **members: Any) -> Iterator[Mapping[str, Any]]:
        """Follow a cursor chain from its start.

        ``limits`` gives the page limits in turn (the last one goes on); without it the provider's default holds.
        """
        given, chain = list(limits), self.chain(stem)
        page: dict[str, Any] = {"limit": given[0]} if given else {}
        while True:
            answer = self.do(stem, **members, **({"page": page} if page else {}))
            yield answer
            if (cursor := chain.cursor(answer)) is None:
                return
            given = given[1:] or given
            page = {"cursor": cursor, **({"limit": given[0]} if given else {})}

    def chain(self, stem: str) -> Chain:
        """Begin a chain of a paged operation."""
        op = self.world.operation(stem)
        return Chain(op, self.world.bundle.operations[op].lists or "")

    def all(self, stem: str, *, limits: Iterable[int] = (), **members: Any) -> list[Any]:
        """Return every item of a paged operation, by following its cursor chain to the end."""
        lists = self.chain(stem).lists
        return [item for answer in self.pages(stem, limits=limits, **members) for item in answer[lists]]

    def settled(self, receipt: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a receipt once it is settled, polling with ``receipts.get`` (protocol.md section 4)."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while receipt["state"] == "pending":
            if time.monotonic() > deadline:
                raise CheckFailed(f"{receipt['op']}: still pending after {SETTLE_SECONDS:g} s", seen=receipt)
            reply = self.world.exchange(self.call("receipts.get", receipt_id=receipt["receipt_id"]))
            self.world.expect(reply.ok, "memory.receipts.get: the caller cannot read its own pending receipt", seen=reply.error)
            receipt = reply.payload["receipt"]
            if receipt["state"] == "pending":
                time.sleep(POLL_SECONDS)
        return receipt

    def _receipt(self, op: str, reply: Reply) -> Mapping[str, Any]:
        receipt = reply.payload["receipt"]
        if receipt["state"] == "pending" and not self.world.bundle.operations[op].may_be_pending:
            raise CheckFailed(f"{op}: an operation that must commit at once answered pending", seen=receipt)
        receipt = self.settled(receipt)
        self.world.expect(receipt["state"] == "committed", f"{op}: the receipt settled {receipt['state']}", seen=receipt)
        return receipt

    # -- the shortest way to the things that nearly every check needs

    def ensure(self, subject_id: str, **members: Any) -> str:
        """Make a subject and return its id."""
        self.do("subjects.ensure", subject_id=subject_id, **members)
        return subject_id

    def create(self, **members: Any) -> str:
        """Write a record (by default a note saying ``a`` at the world's first scope) and return its id."""
        return made(self.do("records.create", **self._material(members)), "record")

    def capture(self, **members: Any) -> str:
        """Capture a candidate (by default a note saying ``a`` at the world's first scope) and return its id."""
        return made(self.do("capture", **self._material(members)), "candidate")

    def read(self, record_id: str) -> Mapping[str, Any]:
        """Return a record."""
        record: Mapping[str, Any] = self.do("records.get", record_id=record_id)["record"]
        return record

    def candidate(self, candidate_id: str) -> Mapping[str, Any]:
        """Return a candidate."""
        candidate: Mapping[str, Any] = self.do("candidates.get", candidate_id=candidate_id)["candidate"]
        return candidate

    def grant(self, grantee: Caller, **members: Any) -> str:
        """Issue a grant (by default without shared access) and return its id."""
        members = {"shared_access": "none", **members}
        return made(self.do("grants.grant", grantee_id=grantee.principal_id, **members), "grant")

    def _material(self, members: Mapping[str, Any]) -> dict[str, Any]:
        return {"kind": "note", "content": {"text": "a"}, "scope": self.world.scope(), **members}


def made(receipt: Mapping[str, Any], kind: str) -> str:
    """Return the id of the first affected object of type ``kind`` in a receipt. Raises ``CheckFailed`` where there is none."""
    return all_made(receipt, kind)[0]


def all_made(receipt: Mapping[str, Any], kind: str) -> list[str]:
    """Return the ids of all affected objects of type ``kind``, in the receipt's order, at least one."""
    found = [str(entry["id"]) for entry in receipt["affected"] if entry["type"] == kind]
    if not found:
        raise CheckFailed(f"{receipt['op']}: the receipt's affected list names no {kind}", seen=receipt)
    return found
