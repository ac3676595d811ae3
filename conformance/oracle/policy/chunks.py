"""Transfer chunks and digests (protocol.md section 3, MemoryExportBundle and -Chunk, and section 7, Transfer)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.wire import canonical

Doc = Mapping[str, Any]
Judge = Callable[[Any], bool]

SCHEMA_VERSION = 1

# What names an item among those of its type; receipts are named by their keys, which the first one under it keeps.
NAMES: Mapping[str, tuple[str, ...]] = {
    "subject": ("subject_id",),
    "context_fence": ("context_id",),
    "record": ("record_id",),
    "candidate": ("candidate_id",),
    "profile": ("subject_id", "kind"),
    "reflection": ("reflection_id",),
    "receipt": (),
}

# -- making


def packed(items: Sequence[Doc], size: int) -> list[list[Doc]]:
    """Cut items into chunks of at most ``size``; an export of nothing is one empty chunk."""
    return [list(items[first : first + size]) for first in range(0, len(items), size)] or [[]]


def make_chunk(export_id: str, ordinal: int, *, final: bool, items: Sequence[Doc]) -> dict[str, Any]:
    """Make one chunk with its digest."""
    chunk = {
        "schema_version": SCHEMA_VERSION,
        "export_id": export_id,
        "ordinal": ordinal,
        "final": final,
        "items": list(items),
        "extensions": {},
    }
    return {**chunk, "chunk_digest": canonical.digest(chunk)}


def make_chunks(export_id: str, packs: Sequence[Sequence[Doc]]) -> list[dict[str, Any]]:
    """Make all chunks of an export, in order, from what each holds."""
    last = len(packs) - 1
    return [make_chunk(export_id, ordinal, final=ordinal == last, items=pack) for ordinal, pack in enumerate(packs)]


def make_bundle(facts: Doc, chunks: Sequence[Doc]) -> dict[str, Any]:
    """Make the bundle over its chunks, with its digest; ``facts`` are its members that do not follow from them."""
    bundle = {
        **facts,
        "chunk_count": len(chunks),
        "counts": counts([item for chunk in chunks for item in chunk["items"]]),
        "chunk_digests": [chunk["chunk_digest"] for chunk in chunks],
    }
    return {**bundle, "digest": canonical.digest(bundle)}


def counts(items: Sequence[Doc]) -> dict[str, int]:
    """Count the items of each of the seven types, zeros included."""
    found = dict.fromkeys(NAMES, 0)
    for item in items:
        found[item["type"]] += 1
    return found


# -- judging


def is_final(bundle: Doc, chunk: Doc) -> bool:
    """Say whether a chunk ends an import: the first that says so or that is the last by count."""
    return bool(chunk["final"]) or chunk["ordinal"] == bundle["chunk_count"] - 1


def is_sound(bundle: Doc, chunks: Sequence[Doc], is_item: Judge) -> bool:
    """Say whether a complete import has no defect."""
    return (
        bundle_is_sound(bundle)
        and all(chunk_is_sound(bundle, chunk, is_item) for chunk in chunks)
        and has_all_chunks(bundle, chunks)
        and has_right_counts(bundle, chunks)
        and has_no_twins(chunks)
    )


def is_sound_so_far(bundle: Doc, chunks: Sequence[Doc], is_item: Judge) -> bool:
    """Say whether an import has no defect that shows with the last of the chunks that there are."""
    return (
        bundle_is_sound(bundle)
        and lists_what_it_counts(bundle)
        and chunk_is_sound(bundle, chunks[-1], is_item)
        and has_no_more_than_counted(bundle, chunks)
        and has_no_twins(chunks)
    )


def bundle_is_sound(bundle: Doc) -> bool:
    """Say whether a bundle's digest is its own."""
    return bool(canonical.digest(bundle, without="digest") == bundle["digest"])


def chunk_is_sound(bundle: Doc, chunk: Doc, is_item: Judge) -> bool:
    """Say whether a chunk has no defect of its own."""
    return (
        is_of_export(bundle, chunk)
        and has_own_digest(chunk)
        and has_listed_digest(bundle, chunk)
        and ends_where_counted(bundle, chunk)
        and all(item_is_sound(item, is_item) for item in chunk["items"])
    )


def is_of_export(bundle: Doc, chunk: Doc) -> bool:
    """Say whether a chunk belongs to the bundle's export."""
    return bool(chunk["export_id"] == bundle["export_id"])


def has_own_digest(chunk: Doc) -> bool:
    """Say whether a chunk's digest is its own."""
    return bool(canonical.digest(chunk, without="chunk_digest") == chunk["chunk_digest"])


def has_listed_digest(bundle: Doc, chunk: Doc) -> bool:
    """Say whether the bundle lists a chunk's digest at its place."""
    listed, ordinal = bundle["chunk_digests"], int(chunk["ordinal"])
    return ordinal < len(listed) and listed[ordinal] == chunk["chunk_digest"]


def ends_where_counted(bundle: Doc, chunk: Doc) -> bool:
    """Say whether a chunk says ``final`` exactly when it is the last by count."""
    return bool(chunk["final"] == (chunk["ordinal"] == bundle["chunk_count"] - 1))


def lists_what_it_counts(bundle: Doc) -> bool:
    """Say whether a bundle lists as many chunk digests as it counts chunks."""
    return bool(bundle["chunk_count"] == len(bundle["chunk_digests"]))


def has_all_chunks(bundle: Doc, chunks: Sequence[Doc]) -> bool:
    """Say whether there are as many chunks and chunk digests as the bundle counts."""
    return lists_what_it_counts(bundle) and bundle["chunk_count"] == len(chunks)


def has_no_more_than_counted(bundle: Doc, chunks: Sequence[Doc]) -> bool:
    """Say whether there are no more items of any type than the bundle counts."""
    there = counts([item for chunk in chunks for item in chunk["items"]])
    return all(number <= bundle["counts"][kind] for kind, number in there.items())


def has_right_counts(bundle: Doc, chunks: Sequence[Doc]) -> bool:
    """Say whether the bundle counts the items that there are."""
    return bool(bundle["counts"] == counts([item for chunk in chunks for item in chunk["items"]]))


def has_no_twins(chunks: Sequence[Doc]) -> bool:
    """Say whether no two items of a type have one name, so that each item can be where it says."""
    names = [name_of(item) for chunk in chunks for item in chunk["items"] if NAMES[item["type"]]]
    return len(names) == len(set(names))


def name_of(item: Doc) -> tuple[str, ...]:
    """Give what names an item."""
    return (item["type"], *(item["value"][member] for member in NAMES[item["type"]]))


def item_is_sound(item: Any, is_item: Judge) -> bool:
    """Say whether an item is valid for its type; ``is_item`` is the schema's verdict."""
    return is_item(item) and ITEM_JUDGES.get(item["type"], _is_anything)(item["value"])


def is_settled(receipt: Doc) -> bool:
    """Say whether a receipt is settled: only such ones travel, and a pending one would stay so for ever."""
    return "settled_at" in receipt


def has_content_digest(profile: Doc) -> bool:
    """Say whether a profile document's content digest is that of its content."""
    return bool(canonical.digest(profile["content"]) == profile["content_digest"])


def _is_anything(_value: Doc) -> bool:
    return True


ITEM_JUDGES: Mapping[str, Judge] = {"receipt": is_settled, "profile": has_content_digest}
