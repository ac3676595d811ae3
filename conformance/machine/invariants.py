"""What holds after every step, whatever the step was, judged from what the target said and not from the model.

Revisions go up by one, a key has one effect, no tombstone comes to life, generations never fall, pending receipts are counted, a
settled receipt never changes. The model implies all of it; here it stands on its own, so that a mistake of the model shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.exchange import Exchange
from conformance.machine import coverage
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.stage import Stage

Doc = Mapping[str, Any]
ACTIVATE = "memory.imports.activate"
LIST = "memory.grants.list"
KEPT_EXCHANGES = 200
REVISED = {"record": "record_id", "candidate": "candidate_id"}


class Ledger:
    """What the answers of an episode have said so far. ``check`` reads on from where it stopped, and keeps the trace short."""

    def __init__(self) -> None:
        self._read = 0
        self._revisions: dict[tuple[str, str, str], int] = {}
        self._dead: set[tuple[str, str]] = set()
        self._settled: dict[tuple[str, str], Doc] = {}
        self._keys: dict[tuple[str, str, str, str], str] = {}
        self._generations: dict[str, int] = {}

    def check(self, stage: Stage) -> None:
        """Read what was answered since the last time. Raises ``Disagreement``."""
        trace = stage.world.trace
        for exchange in trace.exchanges[self._read :]:
            if exchange.reply.error is None:
                self._answer(exchange)
                self._closure(stage, exchange)
        trace.forget_all_but(KEPT_EXCHANGES)
        self._read = len(trace)

    def _answer(self, exchange: Exchange) -> None:
        payload, op = exchange.reply.payload, exchange.call.op
        if "receipt" in payload:
            self._receipt(op, payload["receipt"])
        for record in self._records(payload):
            self._record(op, record)
        for space in payload.get("spaces", ()):
            self._generation(op, space)

    def _closure(self, stage: Stage, exchange: Exchange) -> None:
        request, answer = exchange.call.payload, exchange.reply.payload
        if exchange.call.op == LIST and request["view"] == "admin" and "page" not in request and "next_cursor" not in answer:
            coverage.require_closed(answer["grants"], stage.roots[request["space_id"]].principal_id)

    def _records(self, payload: Doc) -> list[Doc]:
        return [*payload.get("records", ()), *([payload["record"]] if "record" in payload else [])]

    def _record(self, op: str, record: Doc) -> None:
        name = (record["space_id"], record["record_id"])
        if name in self._dead and "tombstone" not in record:
            raise Disagreement("R021", op, Kind.STATE, reason="a tombstone lives", seen=record)
        if "tombstone" in record:
            self._dead.add(name)

    def _generation(self, op: str, space: Doc) -> None:
        before = self._generations.get(space["space_id"], space["authority_generation"])
        if space["authority_generation"] < before:
            raise Disagreement("R005", op, Kind.STATE, reason="the generation fell", expected=before, seen=space)
        self._generations[space["space_id"]] = space["authority_generation"]

    def _receipt(self, op: str, receipt: Doc) -> None:
        name = (receipt["space_id"], receipt["receipt_id"])
        key = (receipt["space_id"], receipt["principal_id"], receipt["op"], receipt["idempotency_key"])
        if self._keys.setdefault(key, receipt["receipt_id"]) != receipt["receipt_id"] and op == receipt["op"]:
            raise Disagreement("R014", op, Kind.STATE, reason="two receipts of one key", expected=self._keys[key], seen=receipt)
        if receipt["state"] == "pending":
            return
        known = self._settled.get(name)
        if known is not None and known != receipt:
            raise Disagreement("R015", op, Kind.STATE, reason="a settled receipt changed", expected=known, seen=receipt)
        if known is None:
            self._settled[name] = receipt
            self._revised(op, receipt)

    def _revised(self, op: str, receipt: Doc) -> None:
        """Hold the chain of revisions: each accepted change adds exactly 1, unless an activation came between."""
        if receipt["op"] == ACTIVATE and receipt["state"] == "committed":
            self._revisions = {name: found for name, found in self._revisions.items() if name[0] != receipt["space_id"]}
        if op != receipt["op"]:
            return
        for entry in receipt["affected"]:
            if entry["type"] in REVISED and "revision" in entry:
                name = (receipt["space_id"], entry["type"], entry["id"])
                before = self._revisions.get(name)
                if before is not None and entry["revision"] != before + 1:
                    raise Disagreement("R016", op, Kind.STATE, reason="the chain of revisions", expected=before + 1, seen=entry)
                self._revisions[name] = entry["revision"]
