"""``memory.exports.*`` (protocol.md section 7, Transfer): a chunked logical export, pinned at the request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.oracle import authority, reflections
from conformance.oracle.policy import chunks
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Job, Space
from conformance.oracle.turn import Outcome, Settled, Turn, changed, extensions_of
from conformance.wire.vocabulary import Code


def create(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.exports.create``: everything but grants, also of a frozen space."""
    authority.require_space(turn)
    size = chunk_size(turn, request)
    export_id, number = turn.mint("exp", space.exports)
    made = chunks.make_chunks(export_id, turn.choices.pack(list(items(turn, space)), size))
    bundle = chunks.make_bundle(_facts(turn, space, request, export_id), made)
    job = Job(turn.op.name, {"number": number, "export_id": export_id, "bundle": bundle, "chunks": made})
    return Outcome(space, affected=(changed("export", export_id),), job=job)


def chunk_size(turn: Turn, request: Doc) -> int:
    """Give how many items a chunk holds: the request's number, refused above ``max_chunk_items``, or that."""
    most = turn.choices.limits.max_chunk_items
    wanted = int(request.get("max_items_per_chunk", most))
    if wanted > most:
        raise Refusal(Code.LIMIT_EXCEEDED)
    return wanted


def _facts(turn: Turn, space: Space, request: Doc, export_id: str) -> Doc:
    return {
        **turn.envelope(extensions_of(request)),
        "export_id": export_id,
        "space_id": space.space_id,
        "authority_generation": space.facts["authority_generation"],
        "protocol_version": turn.choices.protocol_version,
        "created_at": turn.now,
    }


def items(turn: Turn, space: Space) -> Iterator[Doc]:
    """Give all that travels, type by type and each type in the order in which it was made."""
    yield from _typed("subject", space.subjects.all())
    yield from _typed("context_fence", fences_of(space))
    yield from _typed("record", space.records.all())
    yield from _typed("candidate", space.candidates.all())
    yield from _typed("profile", space.profiles.all())
    yield from _typed("reflection", reflections_of(turn, space))
    yield from _typed("receipt", receipts_of(space))


def _typed(kind: str, docs: Iterable[Doc]) -> Iterator[Doc]:
    return ({"type": kind, "value": doc} for doc in docs)


def fences_of(space: Space) -> list[Doc]:
    """List the context fences of a space."""
    return [{"context_id": context_id} for context_id in space.facts["fenced_context_ids"]]


def reflections_of(turn: Turn, space: Space) -> list[Doc]:
    """List the reflections as they travel: ``stale`` over what their generators covered."""
    return [{**one, "stale": reflections.is_stale(turn, space, one, ())} for one in space.reflections.all()]


def receipts_of(space: Space) -> list[Doc]:
    """List the receipts that are settled."""
    return [receipt for receipt in space.receipts.all() if chunks.is_settled(receipt)]


def settle(_turn: Turn, space: Space, job: Doc) -> Settled:
    """Put the export into the space, whatever came between."""
    export = {"bundle": job["bundle"], "chunks": job["chunks"]}
    kept = space.exports.add(job["export_id"], "", job["number"], export)
    return Settled(space.having(exports=kept), (changed("export", job["export_id"]),))


def get(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.exports.get``: one chunk, as it was when the export was made."""
    authority.require_space(turn)
    export = space.exports.get(request["export_id"])
    if export is None or request["ordinal"] >= len(export["chunks"]):
        raise Refusal(Code.NOT_FOUND)
    return Outcome(space, {"bundle": export["bundle"], "chunk": export["chunks"][int(request["ordinal"])]})
