"""A bundled oracle with one space in it, for the tests that read it beside protocol.md.

``ok`` sends a request that must succeed, validates the answer against its schema and returns it; ``no`` sends one that must be
refused with exactly one code, and sees that the state is the very same object afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.oracle import Choices, Clock, Oracle
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code, Flag

Doc = dict[str, Any]
NOON = "2026-05-01T12:00:00Z"
C1: Doc = {"subject_id": "u1", "context_id": "c1"}
C2: Doc = {"subject_id": "u1", "context_id": "c2"}
SHARED: Doc = {"subject_id": "u1"}


class House:
    """An oracle whose clock stands at noon, a space, its root, and the subject ``u1``."""

    def __init__(self, *, subject: bool = True, **choices: Any) -> None:
        clock = Clock()
        clock.set(NOON.replace("2026", "9000"), frozen=True)
        self.oracle = Oracle(choices=Choices(**choices), clock=clock)
        self.bundle: Bundle = self.oracle.bundle
        self.flags = frozenset(map(self.bundle.flag, Flag))
        self.keys = 0
        self.space_id, self.root = self.provision()
        if subject:
            self.root.ok("subjects.ensure", subject_id="u1")

    def provision(self) -> tuple[str, Who]:
        made = self.control("provision")
        return made["space_id"], Who(self, made["root"]["principal_id"], made["root"]["credential"])

    def control(self, name: str, **payload: Any) -> Doc:
        answer = self.oracle.control(name, payload)
        assert "payload" in answer, answer
        found: Doc = answer["payload"]
        return found

    def stranger(self) -> Who:
        made = self.control("principal")
        return Who(self, made["principal_id"], made["credential"])

    def holder(self, *capabilities: str, shared: str = "none", **members: Any) -> Who:
        """Make a principal with one grant from root."""
        who = self.stranger()
        who.grant_id = self.grant(who, *capabilities, shared=shared, **members)
        return who

    def grant(self, who: Who, *capabilities: str, shared: str = "none", **members: Any) -> str:
        return self.root.made(
            "grants.grant", grantee_id=who.principal_id, capabilities=list(capabilities), shared_access=shared, **members
        )

    def grant_in(self, space_id: str, root: Who, who: Who) -> None:
        """Give ``who`` everything in another space, from that space's root."""
        (own,) = root.ok("grants.list", view="own", space_id=space_id)["grants"]
        members = {"capabilities": own["capabilities"], "shared_access": "write"}
        root.ok("grants.grant", space_id=space_id, grantee_id=who.principal_id, **members)

    def space(self) -> Doc:
        found: Doc = self.root.ok("spaces.list")["spaces"][0]
        return found

    def freeze(self) -> None:
        self.root.ok("spaces.freeze", expected_revision=self.space()["revision"])

    def unfreeze(self) -> None:
        self.root.ok("spaces.unfreeze", expected_revision=self.space()["revision"])

    def fence(self, action: str = "fence", context: str | None = None, subject: str = "u1") -> None:
        if context is not None:
            self.root.ok("subjects.fence", target={"type": "context", "context_id": context}, action=action)
            return
        revision = self.root.ok("subjects.get", subject_id=subject)["subject"]["revision"]
        self.root.ok(
            "subjects.fence", target={"type": "subject", "subject_id": subject}, action=action, expected_revision=revision
        )

    def profile(self, kind: str = "personality", subject: str = "u1") -> None:
        self.root.ok("profile.update", subject_id=subject, kind=kind, content={"text": "calm"}, expected_revision=None)

    def wait(self, seconds: float) -> None:
        self.control("clock", advance_seconds=seconds)


@dataclass
class Who:
    house: House
    principal_id: str
    credential: str | None
    grant_id: str = ""

    def request(self, stem: str, members: Doc) -> tuple[str, Doc]:
        """Give the full name and payload of a request, ``space_id`` and a fresh key filled in."""
        op = f"memory.{stem}"
        properties = self.house.bundle.schema(self.house.bundle.request_ref(op))["properties"]
        payload = dict(members)
        if "space_id" in properties:
            payload.setdefault("space_id", self.house.space_id)
        if "idempotency_key" in properties and "idempotency_key" not in payload:
            self.house.keys += 1
            payload["idempotency_key"] = f"k{self.house.keys}"
        return op, payload

    def send(self, stem: str, **members: Any) -> Doc:
        """Give the answer, whatever it is, valid by its schema."""
        op, payload = self.request(stem, members)
        answer = self.house.oracle.call(self.credential, self.house.flags, op, payload)
        assert not self.house.oracle.crashes, self.house.oracle.crashes
        body = answer["payload"] if "payload" in answer else {"error": answer["error"]}
        validator = self.house.bundle.response(op)
        assert validator.accepts(body), validator.problems(body)
        return body

    def ok(self, stem: str, **members: Any) -> Doc:
        body = self.send(stem, **members)
        assert "error" not in body, body
        return body

    def no(self, stem: str, symbol: Code, **members: Any) -> Doc:
        """Expect a refusal with this code and give its details; nothing changed, not even the state object."""
        before = self.house.oracle.state
        body = self.send(stem, **members)
        assert body.get("error", {}).get("code") == self.house.bundle.code(symbol), body
        assert self.house.oracle.state is before
        details: Doc = body["error"].get("details", {})
        assert details.get("retry") == (self.house.bundle.errors[symbol].retry if self.house.oracle.choices.tells_retry else None)
        return details

    def receipt(self, stem: str, **members: Any) -> Doc:
        found: Doc = self.ok(stem, **members)["receipt"]
        return found

    def made(self, stem: str, **members: Any) -> str:
        """Give the id of the first affected object of a committed mutation."""
        receipt = self.receipt(stem, **members)
        assert receipt["state"] == "committed", receipt
        return str(receipt["affected"][0]["id"])

    def create(self, text: str = "a", scope: Doc = C1, **members: Any) -> str:
        content = members.pop("content", {"text": text})
        return self.made("records.create", **{"kind": "note", "content": content, "scope": scope, **members})

    def capture(self, text: str = "a", scope: Doc = C1, **members: Any) -> str:
        content = members.pop("content", {"text": text})
        return self.made("capture", **{"kind": "note", "content": content, "scope": scope, **members})

    def read(self, record_id: str) -> Doc:
        found: Doc = self.ok("records.get", record_id=record_id)["record"]
        return found

    def candidate(self, candidate_id: str) -> Doc:
        found: Doc = self.ok("candidates.get", candidate_id=candidate_id)["candidate"]
        return found

    def listed(self, selection: Doc | None = None, **members: Any) -> list[str]:
        answer = self.ok("records.list", selection=selection or everything(), **members)
        return [record["record_id"] for record in answer["records"]]


def everything(subject: str = "u1") -> Doc:
    return {"subject_id": subject, "mode": "all_authorized"}


def contexts(*names: str, subject: str = "u1") -> Doc:
    return {"subject_id": subject, "mode": "contexts", "context_ids": list(names)}


def shared(subject: str = "u1") -> Doc:
    return {"subject_id": subject, "mode": "shared"}


def belief(**members: Any) -> Doc:
    """Make a whole cognition record, with other members where given (dotted names reach inside)."""
    entry: Doc = {
        "view": "recorded_at",
        "dimension": "belief",
        "value": "tea is hot",
        "attribution": {"holder_id": "mira"},
        "basis": {"kind": "stated", "refs": []},
        "time": {"recorded_at": NOON},
    }
    for name, value in members.items():
        outer, _, inner = name.partition("__")
        if inner:
            entry[outer] = {**entry[outer], inner: value}
        else:
            entry[outer] = value
    return entry
