"""Bundles that nobody exported: a right one with one thing changed, its digests made right again where that is not the thing.

Each change says in its name what it breaks, or that it breaks nothing; the oracle judges the result as it judges any import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.machine import draws
from conformance.machine.stage import Stage
from conformance.oracle.policy import chunks as policy
from conformance.oracle.state import Doc
from conformance.wire.canonical import digest
from strategies.timestamps import INVALID_TIMESTAMPS

Parcel = tuple[Doc, list[Doc]]
Forge = Callable[[Stage, Doc, list[Doc]], Parcel]

COMPUTED = ("chunk_count", "counts", "chunk_digests", "digest")
WRONG = "0" * 64


def forged(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Give a forged parcel."""
    return stage.pick(FORGERIES)(stage, bundle, chunks)


def _packed(bundle: Doc, packs: Sequence[Sequence[Mapping[str, Any]]]) -> Parcel:
    """Pack items anew, with all digests right."""
    last = len(packs) - 1
    made = [policy.make_chunk(bundle["export_id"], number, final=number == last, items=pack) for number, pack in enumerate(packs)]
    facts = {name: value for name, value in bundle.items() if name not in COMPUTED}
    typed = [item for pack in packs for item in pack if item["type"] in policy.NAMES]
    digests = [chunk["chunk_digest"] for chunk in made]
    covered = {**facts, "chunk_count": len(made), "counts": policy.counts(typed), "chunk_digests": digests}
    return {**covered, "digest": digest(covered)}, made


def _packs(chunks: list[Doc]) -> list[list[Doc]]:
    return [list(chunk["items"]) for chunk in chunks]


def under_another(bundle: Doc) -> Doc:
    """Give a bundle that differs in what nobody reads, its digest right: it is not the same on every call."""
    return _covered(bundle, extensions={**bundle["extensions"], "other": {}})


def _covered(bundle: Doc, **members: Any) -> Doc:
    """Give the bundle with other members, and its own digest right."""
    changed = {**bundle, **members}
    return {**changed, "digest": digest(changed, without="digest")}


def _sealed(chunk: Doc, **members: Any) -> Doc:
    """Give the chunk with other members, and its own digest right."""
    changed = {**chunk, **members}
    return {**changed, "chunk_digest": digest(changed, without="chunk_digest")}


def _with(chunks: list[Doc], index: int, chunk: Doc) -> list[Doc]:
    return [*chunks[:index], chunk, *chunks[index + 1 :]]


# -- what breaks nothing


def other_version(_stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Name another protocol: the version of a bundle is not judged."""
    return _packed({**bundle, "protocol_version": "0.0-other"}, _packs(chunks))


def other_space(_stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Name another space: a bundle may be activated in any."""
    return _packed({**bundle, "space_id": "a-space-of-nobody"}, _packs(chunks))


def big_content(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Make a content too big for a request: imported content is not measured."""
    big = draws.oversized(stage)
    return _record(stage, bundle, chunks, lambda record: record if "tombstone" in record else {**record, "content": big})


def one_chunk(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Cut the same items otherwise."""
    items = [item for pack in _packs(chunks) for item in pack]
    size = min(stage.model.described["limits"]["max_chunk_items"], max(1, len(items) // 2))
    return _packed(bundle, [[*pack] for pack in policy.packed(items, size)])


def fewer_records(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Leave candidates, and records that no reflection rests on, out."""
    items = [item for pack in _packs(chunks) for item in pack]
    bases = [item["value"]["basis"]["records"] for item in items if item["type"] == "reflection"]
    needed = {entry["record_id"] for basis in bases for entry in basis}
    free = {"record", "candidate"}

    def is_kept(item: Doc) -> bool:
        return item["type"] not in free or item["value"].get("record_id") in needed or stage.chance(0.6)

    return _packed(bundle, [[item for item in pack if is_kept(item)] for pack in _packs(chunks)])


# -- items that are none


def _item(stage: Stage, bundle: Doc, chunks: list[Doc], types: Sequence[str], change: Callable[[Doc], Doc]) -> Parcel:
    packs = _packs(chunks)
    places = [(number, index) for number, pack in enumerate(packs) for index, item in enumerate(pack) if item["type"] in types]
    if places:
        number, index = stage.pick(places)
        packs[number][index] = change(packs[number][index])
    return _packed(bundle, packs)


def _record(stage: Stage, bundle: Doc, chunks: list[Doc], change: Callable[[Doc], Doc]) -> Parcel:
    return _item(stage, bundle, chunks, ("record",), lambda item: {**item, "value": change(item["value"])})


def lacking_member(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Leave a required member of an item out."""

    def change(item: Doc) -> Doc:
        gone = stage.pick([name for name in item["value"] if name in ("schema_version", "revision", "created_at", "extensions")])
        return {**item, "value": {name: value for name, value in item["value"].items() if name != gone}}

    return _item(stage, bundle, chunks, ("subject", "record", "candidate"), change)


def extra_member(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Give an item a member that it does not have."""
    return _item(
        stage, bundle, chunks, ("subject", "record", "candidate"), lambda item: {**item, "value": {**item["value"], "surplus": 1}}
    )


def bad_date(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Give an item a day that does not exist."""
    date = stage.pick(INVALID_TIMESTAMPS[:8])
    return _item(
        stage, bundle, chunks, ("subject", "record", "candidate"),
        lambda item: {**item, "value": {**item["value"], "created_at": date}},
    )  # fmt: skip


def bad_cognition(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Give a living record a malformed cognition record."""
    broken = {**draws.cognition(stage), "surplus": 1}

    def change(record: Doc) -> Doc:
        return record if "tombstone" in record else {**record, "content": {"text": "a", "cognition": [broken]}}

    return _record(stage, bundle, chunks, change)


def unknown_type(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Give an item a type that there is not."""
    return _item(stage, bundle, chunks, ("subject", "record", "candidate"), lambda item: {**item, "type": "nothing"})


def a_grant(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Put a grant in the place of an item: grants never travel."""
    grants = stage.space(stage.space_ids[0]).grants.all()
    return _item(stage, bundle, chunks, ("record", "subject"), lambda _item: {"type": "grant", "value": stage.pick(grants)})


# -- covers that do not fit


def bad_chunk_digest(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Give a chunk a digest that is not its own, listed as such."""
    index = stage.random.randrange(len(chunks))
    digests = [WRONG if number == index else listed for number, listed in enumerate(bundle["chunk_digests"])]
    return _covered(bundle, chunk_digests=digests), _with(chunks, index, {**chunks[index], "chunk_digest": WRONG})


def unlisted_digest(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """List another digest than the chunk's own."""
    index = stage.random.randrange(len(chunks))
    digests = [WRONG if number == index else listed for number, listed in enumerate(bundle["chunk_digests"])]
    return _covered(bundle, chunk_digests=digests), chunks


def swapped_digests(_stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """List the digests in another order."""
    return _covered(bundle, chunk_digests=bundle["chunk_digests"][::-1]), chunks


def bad_bundle_digest(_stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Give the bundle a digest that is not its own."""
    return {**bundle, "digest": WRONG}, chunks


def bad_counts(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Count an item too many of a type."""
    kind = stage.pick(sorted(bundle["counts"]))
    return _covered(bundle, counts={**bundle["counts"], kind: bundle["counts"][kind] + 1}), chunks


def foreign_chunk(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Let a chunk be of another export, all digests right."""
    index = stage.random.randrange(len(chunks))
    made = _with(chunks, index, _sealed(chunks[index], export_id="another-export"))
    return _covered(bundle, chunk_digests=[chunk["chunk_digest"] for chunk in made]), made


def early_end(_stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Say ``final`` at the first chunk of several."""
    made = _with(chunks, 0, _sealed(chunks[0], final=True))
    return _covered(bundle, chunk_digests=[chunk["chunk_digest"] for chunk in made]), made


def no_end(_stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Never say ``final``."""
    made = _with(chunks, len(chunks) - 1, _sealed(chunks[-1], final=False))
    return _covered(bundle, chunk_digests=[chunk["chunk_digest"] for chunk in made]), made


def one_more(_stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Count a chunk more than there are."""
    return _covered(bundle, chunk_count=bundle["chunk_count"] + 1), chunks


def crowded(stage: Stage, bundle: Doc, chunks: list[Doc]) -> Parcel:
    """Put more items into a chunk than are taken."""
    most = stage.model.described["limits"]["max_chunk_items"]
    items = [{"type": "context_fence", "value": {"context_id": f"c{number}"}} for number in range(most + 1)]
    return _packed(bundle, [items, *_packs(chunks)])


FORGERIES: tuple[Forge, ...] = (
    other_version, other_space, big_content, one_chunk, fewer_records, lacking_member, extra_member, bad_date, bad_cognition,
    unknown_type, a_grant, bad_chunk_digest, unlisted_digest, swapped_digests, bad_bundle_digest, bad_counts, foreign_chunk,
    early_end, no_end, one_more, crowded,
)  # fmt: skip
