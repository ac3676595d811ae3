"""A fresh world for one generated example: a space with its principals, subjects and contexts, and the trace of what was sent.

The root principal holds one grant of everything. Names and keys come from counters of the world alone, so that the same seed
and the same answers give the same requests. Every expectation is counted: a check that executed none cannot pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from conformance import snapshot
from conformance.caller import Caller
from conformance.client import Client
from conformance.errors import NotInContract
from conformance.exchange import Call, Exercise, Reply, Trace
from conformance.expect import UNSAID, CheckFailed, Inconclusive, at, difference
from conformance.levers import Facts, Home, Login
from conformance.wire.bundle import Operation
from conformance.wire.vocabulary import Code, Field, Reason

MOST_CALLS = 100_000
"""No check has that much to ask in one world, not even of a space that holds as many records: its answers lead on for ever."""


class World:
    """A space with its principals, subjects and contexts, and the trace of what was sent in it."""

    def __init__(self, client: Client, facts: Facts, home: Home, *, login: Callable[[int], Login], salt: str = "") -> None:
        self.bundle = client.bundle
        self.space_id = home.space_id
        self.shared = home.shared
        self.trace = Trace()
        self.subjects: dict[str, None] = {}
        self.profiles: dict[tuple[str, str], None] = {}
        self.receipts: dict[str, None] = {}
        self.granted: dict[str, None] = {}
        self.root = Caller(self, "root", home.root.principal_id, home.root.credential, facts.flags)
        self._client = client
        self._facts = facts
        self._login = login
        self._salt = salt
        self._keys = 0
        self._callers = 0

    # -- names

    def name(self, plain: str) -> str:
        """Return a name that is this world's own: ``plain`` itself in a space of its own, salted in a shared one."""
        return f"{plain}{self._salt}"

    def fresh_key(self) -> str:
        """Return an idempotency key that was not used before in this world."""
        self._keys += 1
        return f"k{self._keys}{self._salt}"

    def scope(self, subject: str = "u1", context: str | None = "c1") -> dict[str, str]:
        """Return a placement scope, making sure once that its subject exists; ``context`` None is the shared placement."""
        subject_id = self.name(subject)
        if subject_id not in self.subjects:
            self.root.ensure(subject_id)
        return {"subject_id": subject_id} if context is None else {"subject_id": subject_id, "context_id": self.name(context)}

    def everything(self, subject: str = "u1") -> dict[str, Any]:
        """Return the selection of all that a caller may read of a subject."""
        return {"subject_id": self.name(subject), "mode": "all_authorized"}

    # -- principals

    def stranger(self, name: str = "") -> Caller:
        """Return a new principal without any grant."""
        login = self._login(self._callers)
        self._callers += 1
        name = name or f"p{self._callers}"
        return Caller(self, name, login.principal_id, login.credential, self._facts.flags)

    def principal(self, *capabilities: str, name: str = "", **members: Any) -> Caller:
        """Return a new principal to whom root granted ``capabilities``, with the further members of a grant request."""
        caller = self.stranger(name)
        self.root.grant(caller, capabilities=list(capabilities), **members)
        return caller

    # -- sending

    def operation(self, stem: str) -> str:
        """Return the full name of the operation with this stem. Raises ``NotInContract`` where this run's contract has none."""
        op = stem if stem in self.bundle.operations else f"memory.{stem}"
        if op not in self.bundle.operations:
            raise NotInContract(f"the contract of this run has no operation {op}")
        return op

    def has(self, stem: str) -> bool:
        """Say whether this run's contract has the operation: a table over many goes on without one of them."""
        return f"memory.{stem}" in self.bundle.operations

    def members_of(self, op: str) -> Mapping[str, Any]:
        """Return the properties of the operation's request schema."""
        properties: Mapping[str, Any] = self.bundle.schema(self.bundle.request_ref(op)).get("properties", {})
        return properties

    def exchange(self, call: Call, *, meant_invalid: bool = False) -> Reply:
        """Send a call, record it in the trace and remember what it made.

        Raises ``Inconclusive`` where the world has seen so many calls that a check in it comes to no end.
        """
        if len(self.trace) >= MOST_CALLS:
            raise Inconclusive(f"the check came to no end within {MOST_CALLS} calls")
        reply = self._client.send(call, self.trace, meant_invalid=meant_invalid)
        self._remember(call, reply)
        return reply

    def at_once(self, calls: Sequence[Call]) -> list[Reply]:
        """Send calls at the same time, where the target takes parallel calls; else one after another."""
        replies = self._client.send_all(calls, self.trace)
        for call, reply in zip(calls, replies, strict=True):
            self._remember(call, reply)
        return replies

    def amid(self, control: Call, calls: Sequence[Call], place: int) -> list[Reply | None]:
        """Send calls at the same time with a control call among them that may cost answers (see ``Client.send_amid``)."""
        replies = self._client.send_amid(control, calls, place, self.trace)
        for call, reply in zip(calls, replies, strict=True):
            if reply is not None:
                self._remember(call, reply)
        return replies

    def _remember(self, call: Call, reply: Reply) -> None:
        """Keep what the snapshot must look at: the subjects, profiles and receipts of this space, and its grants to take back."""
        receipt = reply.payload.get("receipt") if isinstance(reply.payload, Mapping) else None
        if receipt is None or receipt["space_id"] != self.space_id:
            return
        self.receipts[receipt["receipt_id"]] = None
        for entry in receipt["affected"]:
            if entry["type"] == "grant":
                self.granted[entry["id"]] = None
        payload = call.payload
        if isinstance(subject_id := payload.get("subject_id"), str):
            self.subjects[subject_id] = None
            if isinstance(kind := payload.get("kind"), str) and "expected_revision" in payload:
                self.profiles[subject_id, kind] = None

    def close(self) -> None:
        """Take back, as root, what others would meet in a shared space: the grants that were made in this world, and a freeze."""
        for grant_id in self.granted:
            self.root.send("grants.revoke", grant_id=grant_id)
        self.granted.clear()
        found = snapshot.space(self.root, self.space_id)
        if found is not None and found["state"] == "frozen":
            self.root.send("spaces.unfreeze", expected_revision=found["revision"])

    # -- expecting

    def expect(self, holds: bool, what: str, *, expected: Any = UNSAID, seen: Any = UNSAID, pointer: str = "") -> None:
        """Count an assertion; raise ``CheckFailed`` with the sentence ``what`` unless it holds."""
        self._client.tally.assertions += 1
        if not holds:
            raise CheckFailed(what, expected=expected, seen=seen, pointer=pointer)

    def same(self, expected: Any, seen: Any, what: str) -> None:
        """Expect two JSON values to be equal (5 equals 5.0, true is not 1); name the first place where they differ."""
        pointer = difference(expected, seen)
        where = pointer or ""
        self.expect(pointer is None, what, expected=at(expected, where), seen=at(seen, where), pointer=where)

    def same_set(self, expected: Sequence[Any], seen: Sequence[Any], what: str) -> None:
        """Expect the same strings, each as often, in whatever order."""
        self.same(sorted(expected), sorted(seen), what)

    def carries(self, brought: Mapping[str, Any], shown: Mapping[str, Any], what: str) -> None:
        """Expect an object to have the extensions that its request brought (section 4), whatever its provider adds to them."""
        self.same(brought, {namespace: shown["extensions"].get(namespace) for namespace in brought}, what)

    def expect_refusal(
        self,
        call: Call,
        reply: Reply,
        codes: Sequence[Code],
        *,
        reason: Reason | None = None,
        field: Field | None = None,
    ) -> Mapping[str, Any]:
        """Expect a refusal with one of ``codes``, and with the reason and field that the contract names. Returns the envelope.

        Raises ``NotInContract`` where this run's contract lacks all of the codes, and where it lacks one of them and none of the
        others is answered.
        """
        wanted = [self.bundle.code(code) for code in codes if code in self.bundle.errors] or [self.bundle.code(codes[0])]
        if reply.error is None:
            self.expect(False, f"{call.op}: {call.caller} was given what must be refused", expected=wanted, seen=reply.payload)
            raise AssertionError
        if reply.code not in wanted:
            self.bundle.need(*codes)
        self.expect(
            reply.code in wanted, f"{call.op}: refused for another reason", expected=wanted, seen=reply.error, pointer="/code"
        )
        details = reply.error.get("details") or {}
        if reason is not None:
            self.same(self.bundle.reason(reason), details.get("reason"), f"{call.op}: details.reason is not as the contract says")
        if field is not None:
            self.same(self.bundle.field(field), details.get("field"), f"{call.op}: details.field is not as the contract says")
        return reply.error

    def exercised(self, operation: Operation, dimension: str, *, held: bool, lacking: str = "") -> None:
        """Note that the operation's capabilities (or the ``lacking`` one) were tried in a dimension (``exchange.Exercise``)."""
        for need in operation.needs:
            if not lacking or need.capability == lacking:
                self._client.tally.exercised[Exercise(operation.name, need.capability, dimension, held)] = None

    def snapshot(self) -> dict[str, Any]:
        """Return the observable state of the space, as root reads it."""
        known = snapshot.Known(self.space_id, tuple(self.subjects), tuple(self.profiles), tuple(self.receipts))
        return snapshot.take(self.root, known)

    @contextmanager
    def unchanged(self, what: str = "a refused request changed the state") -> Iterator[None]:
        """Expect the observable state to be the same after the block as before it."""
        before = self.snapshot()
        yield
        self.same(before, self.snapshot(), what)
