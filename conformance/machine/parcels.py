"""Exports: fetched whole, verified, compared item by item, and then taken on by the model as the target cut them.

What an export holds was pinned when it was made (protocol.md section 7, Pending): the model's own export of that instant is what
it is compared with. After that its bundle and chunks must stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.machine import freedom
from conformance.machine.comparison import moment
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Actor, Duo
from conformance.machine.model import Asked
from conformance.oracle.policy import chunks as policy
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc
from conformance.wire.canonical import digest

GET = "memory.exports.get"
RULE = "R027"
TOLD = ("export_id", "space_id", "authority_generation", "protocol_version", "extensions")


class Parcels:
    """The exports of an episode that the model has taken on."""

    def __init__(self, duo: Duo) -> None:
        self._duo = duo
        self._taken: set[tuple[str, str]] = set()

    def is_taken(self, space_id: str, export_id: str) -> bool:
        """Say whether an export was fetched whole before."""
        return (space_id, export_id) in self._taken

    def fetch(self, actor: Actor, space_id: str, export_id: str) -> bool:
        """Fetch an export whole where the actor may and it is there; say whether the model has it now."""
        request = {"space_id": space_id, "export_id": export_id, "ordinal": 0}
        model = self._duo.model
        _, reply = model.step(model.state, Asked(actor.principal_id, GET, request))
        if isinstance(reply, Refusal) or self.is_taken(space_id, export_id):
            self._duo.send(actor, GET, request)
            return not isinstance(reply, Refusal)
        self._take(actor, request)
        return True

    def _take(self, actor: Actor, request: Doc) -> None:
        space = self._duo.model.space(request["space_id"])
        mine = space.exports.rows[request["export_id"]].doc
        bundle, chunks = self._fetched(actor, request)
        self._verify(bundle, chunks)
        self._compare(mine, bundle, chunks)
        held = {**mine, "bundle": bundle, "chunks": chunks}
        self._duo.model.replaced(space.having(exports=space.exports.change(request["export_id"], held)))
        self._taken.add((request["space_id"], request["export_id"]))
        past = {**request, "ordinal": len(chunks)}
        self._duo.send(actor, GET, past)

    def _fetched(self, actor: Actor, request: Doc) -> tuple[Doc, list[Doc]]:
        bundle: Doc | None = None
        chunks: list[Doc] = []
        while bundle is None or len(chunks) < bundle["chunk_count"]:
            seen = self._duo.exchange(actor, GET, {**request, "ordinal": len(chunks)})
            if seen.error is not None:
                raise Disagreement(RULE, GET, Kind.REFUSED, reason=str(seen.code), seen=seen.error)
            if bundle is not None and bundle != seen.payload["bundle"]:
                raise _wrong("the bundle changes along its chunks", bundle, seen.payload["bundle"])
            bundle = seen.payload["bundle"]
            _same("chunk_count", len(bundle["chunk_digests"]), bundle["chunk_count"])
            chunks.append(seen.payload["chunk"])
        return bundle, chunks

    def _verify(self, bundle: Doc, chunks: list[Doc]) -> None:
        most = self._duo.model.described["limits"]["max_chunk_items"]
        for ordinal, chunk in enumerate(chunks):
            _same("ordinal", ordinal, chunk["ordinal"])
            _same("final", ordinal == len(chunks) - 1, chunk["final"])
            _same("export_id of a chunk", bundle["export_id"], chunk["export_id"])
            _same("chunk_digest", digest(chunk, without="chunk_digest"), chunk["chunk_digest"])
            if len(chunk["items"]) > most:
                raise _wrong("more items than max_chunk_items", most, len(chunk["items"]))
        _same("chunk_digests", [chunk["chunk_digest"] for chunk in chunks], bundle["chunk_digests"])
        _same("counts", policy.counts([item for chunk in chunks for item in chunk["items"]]), bundle["counts"])
        _same("digest", digest(bundle, without="digest"), bundle["digest"])

    def _compare(self, mine: Doc, bundle: Doc, chunks: list[Doc]) -> None:
        model, target = ({name: side[name] for name in TOLD} for side in (mine["bundle"], bundle))
        found = freedom.BUNDLE(self._duo.sight, model, target, "/bundle")
        if found is not None:
            raise _wrong("bundle", found.expected, found.seen, found.pointer)
        asked_for = max(map(len, (chunk["items"] for chunk in mine["chunks"])))
        most = max(len(chunk["items"]) for chunk in chunks)
        if most > asked_for and len(mine["chunks"]) > 1:
            raise _wrong("more items a chunk than asked for", asked_for, most)
        expected, seen = _typed(mine["chunks"]), _typed(chunks)
        for kind, compare in freedom.TRAVELS.items():
            found = compare(self._duo.sight, expected[kind], seen[kind], f"/{kind}")
            if found is not None:
                raise _wrong(f"exported {kind}", found.expected, found.seen, found.pointer)
        found = moment(self._duo.sight, mine["bundle"]["created_at"], bundle["created_at"], "/bundle/created_at")
        if found is not None and not self._duo.held:
            raise _wrong("created_at", found.expected, found.seen, found.pointer)


def _typed(chunks: list[Doc]) -> Mapping[str, list[Doc]]:
    found: dict[str, list[Doc]] = {kind: [] for kind in freedom.TRAVELS}
    for item in _items(chunks):
        found[item["type"]].append(item["value"])
    return found


def _items(chunks: list[Doc]) -> Iterator[Doc]:
    return (item for chunk in chunks for item in chunk["items"])


def _same(member: str, expected: Any, seen: Any) -> None:
    if expected != seen:
        raise _wrong(member, expected, seen)


def _wrong(reason: str, expected: Any, seen: Any, pointer: str = "") -> Disagreement:
    return Disagreement(RULE, GET, Kind.MEMBER, reason=reason, expected=expected, seen=seen, pointer=pointer)
