"""Export bundles and chunks as values: what is in them, and how one is sealed again after an edit (protocol.md section 3).

Sealing computes what follows from the rest: a chunk's digest, the bundle's counts and chunk digests, the bundle's own digest.
A check that edits an export and seals it again sends exactly one defect, and no wrong digest beside it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from conformance.wire.canonical import canonical, digest

Doc = Mapping[str, Any]
Parcel = tuple[Doc, list[Doc]]
"""A bundle with its chunks in order."""

NAMED_BY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "subject": ("subject_id",),
        "record": ("record_id",),
        "candidate": ("candidate_id",),
        "profile": ("subject_id", "kind"),
        "reflection": ("reflection_id",),
        "receipt": ("receipt_id",),
        "context_fence": ("context_id",),
    }
)
"""The seven item types, and the members of a value that name it among those of its type."""

OF_THE_SPACE = ("space_id", "stale")
"""What an item does not bring along: it becomes the receiving space's, and staleness is computed at each read."""


def items_of(chunks: Iterable[Doc]) -> list[Doc]:
    """Return the items of all chunks, in order."""
    return [item for chunk in chunks for item in chunk["items"]]


def values(chunks: Iterable[Doc], kind: str) -> list[Doc]:
    """Return the values of the items of one type, in order."""
    return [item["value"] for item in items_of(chunks) if item["type"] == kind]


def name_of(kind: str, value: Doc) -> str:
    """Return what names a value: its type and its ids."""
    return f"{kind} {json.dumps([value[member] for member in NAMED_BY[kind]])}"


def carried(items: Iterable[Doc]) -> dict[str, Any]:
    """Return what items bring along, by name: their values without what is the space's own (``OF_THE_SPACE``)."""
    return {name_of(item["type"], item["value"]): moved(item["value"]) for item in items}


def moved(value: Doc) -> dict[str, Any]:
    """Return a value without what is the space's own, and what is a set in an order of ours."""
    kept = {member: part for member, part in value.items() if member not in OF_THE_SPACE}
    return {**kept, "basis": _in_order(kept["basis"])} if "basis" in kept else kept


def _in_order(basis: Doc) -> dict[str, Any]:
    return {member: sorted(part, key=canonical) if isinstance(part, list) else part for member, part in basis.items()}


# -- sealing


def sealed_chunk(chunk: Doc) -> dict[str, Any]:
    """Return a chunk with the digest that is its own."""
    return {**chunk, "chunk_digest": digest(chunk, without="chunk_digest")}


def sealed_bundle(bundle: Doc) -> dict[str, Any]:
    """Return a bundle with the digest that is its own; all else of it stays, right or wrong."""
    return {**bundle, "digest": digest(bundle, without="digest")}


def counted(items: Iterable[Doc]) -> dict[str, int]:
    """Count the items of each of the seven types; an item of no such type counts nowhere."""
    found = Counter(item.get("type") for item in items)
    return {kind: found[kind] for kind in NAMED_BY}


def sealed(bundle: Doc, chunks: Iterable[Doc]) -> Parcel:
    """Return a bundle and its chunks with every digest and count computed anew."""
    own = [sealed_chunk(chunk) for chunk in chunks]
    listing = {"counts": counted(items_of(own)), "chunk_digests": [chunk["chunk_digest"] for chunk in own]}
    return sealed_bundle({**bundle, **listing, "chunk_count": len(own)}), [*own]


def packed(bundle: Doc, items: Sequence[Doc], size: int) -> Parcel:
    """Return a bundle over other items than its own, in sealed chunks of at most ``size``."""
    packs = [items[first : first + size] for first in range(0, len(items), size)] or [()]
    facts = {"schema_version": 1, "export_id": bundle["export_id"], "extensions": {}}
    last = len(packs) - 1
    return sealed(
        bundle,
        [{**facts, "ordinal": number, "final": number == last, "items": list(pack)} for number, pack in enumerate(packs)],
    )


def forged(space_id: str, items: Sequence[Doc], size: int, **facts: Any) -> Parcel:
    """Return a sealed parcel of items that no export made; ``facts`` are members of the bundle other than the plainest."""
    plain = {
        "schema_version": 1,
        "export_id": "made-up",
        "space_id": space_id,
        "authority_generation": 1,
        "protocol_version": "1",
        "created_at": "2026-01-01T00:00:00Z",
        "extensions": {},
    }
    return packed({**plain, **facts}, items, size)
