"""Moving a space between houses, for the tests: fetch, tamper, seal again, stage, activate."""

from __future__ import annotations

import copy
from typing import Any

from conformance.oracle.policy import chunks as policy
from conformance.wire import canonical

from .oracle_house import Doc, House


def exported(house: House, **members: Any) -> tuple[Doc, list[Doc]]:
    """Give the bundle and the chunks of a new export, free to be tampered with."""
    export_id = house.root.made("exports.create", **members)
    answer = house.root.ok("exports.get", export_id=export_id, ordinal=0)
    count = answer["bundle"]["chunk_count"]
    fetched = [house.root.ok("exports.get", export_id=export_id, ordinal=ordinal)["chunk"] for ordinal in range(count)]
    return copy.deepcopy(answer["bundle"]), copy.deepcopy(fetched)


def sealed(bundle: Doc, chunks: list[Doc], *, count: bool = True) -> tuple[Doc, list[Doc]]:
    """Put counts and digests right after a change of items, so that only the change is wrong."""
    chunks = [{**chunk, "chunk_digest": canonical.digest(chunk, without="chunk_digest")} for chunk in chunks]
    items = [item for chunk in chunks for item in chunk["items"]]
    known = [item for item in items if item.get("type") in policy.NAMES]
    counts = policy.counts(known) if count else bundle["counts"]
    digests = [chunk["chunk_digest"] for chunk in chunks]
    bundle = {**bundle, "chunk_digests": digests, "chunk_count": len(chunks), "counts": counts}
    return {**bundle, "digest": canonical.digest(bundle, without="digest")}, chunks


def stage(house: House, bundle: Doc, chunks: list[Doc], **members: Any) -> tuple[str, Doc]:
    """Stage all chunks; give the import and the last receipt."""
    receipt = house.root.receipt("imports.stage", bundle=bundle, chunk=chunks[0], **members)
    import_id = str(receipt["affected"][0]["id"])
    for chunk in chunks[1:]:
        receipt = house.root.receipt("imports.stage", bundle=bundle, chunk=chunk, import_id=import_id, **members)
    return import_id, receipt


def activate(house: House, import_id: str, **members: Any) -> Doc:
    """Freeze, activate and unfreeze; give the receipt."""
    (space,) = [
        one for one in house.root.ok("spaces.list")["spaces"] if one["space_id"] == members.get("space_id", house.space_id)
    ]
    house.root.ok("spaces.freeze", expected_revision=space["revision"], **members)
    generation = space["authority_generation"]
    receipt = house.root.receipt("imports.activate", import_id=import_id, expected_authority_generation=generation, **members)
    house.root.ok("spaces.unfreeze", expected_revision=space["revision"] + 2, **members)
    return receipt


def activated(house: House, bundle: Doc, chunks: list[Doc]) -> tuple[str, Doc]:
    """Bring a bundle, sealed, into a new space that the house's root governs too; give the space and the receipt."""
    target, other = house.provision()
    house.grant_in(target, other, house.root)
    import_id, staged = stage(house, *sealed(bundle, chunks), space_id=target)
    assert staged["state"] == "committed", staged
    return target, activate(house, import_id, space_id=target)
