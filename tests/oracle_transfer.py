"""Moving a space between houses, for the tests: fetch, tamper, seal again, stage, activate."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from conformance.oracle.policy import chunks as policy
from conformance.wire import canonical

from .oracle_house import C2, SHARED, Doc, House, belief, contexts, everything


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


def furnished() -> House:
    """Make a house with every type of item and their optional members."""
    house = House()
    house.root.ok("subjects.ensure", subject_id="u2", kind="app:user", extensions={"acme": {"x": 1}})
    house.root.ok("subjects.ensure", subject_id="u3")
    house.profile()
    content = {"text": "full", "structured": None, "cognition": [belief()]}
    house.root.create(content=content, scope=SHARED, source_context_id="src", extensions={"acme": {}})
    gone = house.root.create("gone", content={"text": "gone", "cognition": []})
    house.root.create("kept", C2)
    candidates = [house.root.capture(str(number), extensions={"n": {}}) for number in range(5)]
    decisions: list[Doc] = [
        {"action": "promote"},
        {"action": "fragment", "fragments": [{"content": {"text": "p"}}] * 2},
        {"action": "discard"},
    ]
    for candidate, decision in zip(candidates, decisions, strict=False):
        house.root.ok("candidates.review", candidate_id=candidate, expected_revision=1, decision=decision)
    house.root.ok("candidates.dismiss", candidate_id=candidates[3], expected_revision=1)
    cognitive = {"cognition_filter": {"dimension": "belief"}, "filter": {"sources": ["author"]}}
    house.root.ok("reflections.generate", selection=everything(), **cognitive)
    house.root.ok("records.delete", record_id=gone, expected_revision=1)
    house.root.ok("reflections.generate", selection=contexts("c1", "c2"))
    house.fence(context="c3")
    house.fence(subject="u2")
    house.fence("archive", subject="u3")
    return house


def snapshot(house: House, space_id: str) -> Doc:
    """Read all that travels, without what is the space's own."""
    where = {"space_id": space_id}
    everything_of: dict[str, Any] = {}
    for subject in ("u1", "u2", "u3"):
        selection = {"selection": everything(subject), "page": {"limit": 50}}
        everything_of[subject] = [
            house.root.ok("subjects.get", subject_id=subject, **where),
            house.root.ok("records.list", include_tombstones=True, **selection, **where),
            house.root.ok("candidates.list", **selection, **where),
            house.root.ok("profile.get", subject_id=subject, **where),
            house.root.ok(
                "reflections.list", filter={"sources": ["author"]}, cognition_filter={"dimension": "belief"}, **selection, **where
            ),
            house.root.ok("reflections.list", selection=contexts("c1", "c2", subject=subject), **where),
        ]
    (space,) = [one for one in house.root.ok("spaces.list")["spaces"] if one["space_id"] == space_id]
    found: Doc = _nowhere({"of": everything_of, "fences": space["fenced_context_ids"]}, space_id)
    return found


def _nowhere(value: Any, space_id: str) -> Any:
    if isinstance(value, dict):
        return {name: _nowhere(member, space_id) for name, member in value.items()}
    if isinstance(value, list):
        return [_nowhere(item, space_id) for item in value]
    return "here" if value == space_id else value


def change(kind: str, **members: Any) -> Callable[[Doc, list[Doc]], None]:
    """Change one item of a type; None takes a member away, a dotted name reaches inside."""

    def change(_bundle: Doc, chunks: list[Doc]) -> None:
        item = next(item for chunk in chunks for item in chunk["items"] if item["type"] == kind)
        for name, value in members.items():
            *path, last = name.split("__")
            place: Any = item
            for step in path:
                place = place[int(step)] if step.isdigit() else place[step]
            if value is None:
                del place[last]
            else:
                place[last] = value

    return change
