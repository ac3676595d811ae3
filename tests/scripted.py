"""A provider that answers from a script: for tests of the client, the callers and the shims, where no real one is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.client import Client
from conformance.levers import Facts, Home, Login
from conformance.transport.in_process import InProcess
from conformance.wire import bundle
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Flag
from conformance.world import World

Answer = Mapping[str, Any]
Script = Callable[[str, Any], Answer]

CONTROLS = frozenset({"hello", "provision", "principal"})
DIGEST = "0" * 64
NOW = "2026-01-01T00:00:00Z"


class Scripted:
    """Answers each memory call by ``script(op, payload)`` and keeps what it was asked."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[tuple[str | None, tuple[str, ...], str, Any]] = []

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        self.asked.append((credential, tuple(flags), op, payload))
        return self.script(op, payload)

    def control(self, name: str, payload: Any) -> Answer:
        self.asked.append((None, (), name, payload))
        return self.script(name, payload)


def facts(contract: Bundle, *controls: str) -> Facts:
    """Return what a scripted provider says of itself: all flags, and the controls named (by default those of a fresh world)."""
    flags = frozenset(contract.flag(flag) for flag in Flag)
    return Facts("scripted", "1", "i1", flags, frozenset(controls) or CONTROLS)


def world(script: Script) -> World:
    """Return a world over a scripted provider."""
    contract = bundle.load()
    client = Client(InProcess(Scripted(script)), contract)
    home = Home("s1", Login("root-id", "root-credential"))
    return World(client, facts(contract), home, login=lambda index: Login(f"id-{index}", f"credential-{index}"))


def receipt(op: str, *affected: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """Return a valid committed receipt."""
    return {
        "schema_version": 1,
        "receipt_id": "r1",
        "space_id": "s1",
        "op": op,
        "principal_id": "root-id",
        "idempotency_key": "k1",
        "payload_digest": DIGEST,
        "state": "committed",
        "affected": list(affected),
        "authority_generation": 1,
        "created_at": NOW,
        "settled_at": NOW,
        "extensions": {},
        **members,
    }


def error(code: str, **details: Any) -> Answer:
    """Return the error branch of an answer."""
    return {"error": {"code": code, "message": "refused", "details": details, "extensions": {}}}
