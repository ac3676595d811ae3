"""Exports and imports: the way from one to the other step by step, and every way to leave it."""

from __future__ import annotations

from typing import Any

from conformance.machine import draws, forgery
from conformance.machine.acts.records import UNKNOWN
from conformance.machine.duo import Actor
from conformance.machine.stage import Stage, keys, ordered
from conformance.oracle import fences, imports
from conformance.oracle.state import Doc, Space

MOST_CHUNKS = 8


def _carrier(stage: Stage, space_id: str) -> Actor:
    if stage.chance(0.75):
        return stage.roots[space_id]
    grants = [grant for grant in stage.space(space_id).grants.all() if "transfer" in grant["capabilities"]]
    return stage.actor_of(stage.pick(grants)["grantee_id"], space_id) if grants else stage.someone(space_id)


def create(stage: Stage) -> None:
    """Make an export, of few or many chunks."""
    space_id = stage.space_id()
    most = stage.model.described["limits"]["max_chunk_items"]
    travelling = len(stage.space(space_id).records.rows) + len(stage.space(space_id).receipts.docs)
    size = {"max_items_per_chunk": min(most, max(1, travelling // stage.random.randint(1, 4)))}
    if stage.chance(0.06):
        size = {"max_items_per_chunk": most + 1}
    members = size if stage.chance(0.8) else {}
    seen = stage.ask(_carrier(stage, space_id), "exports.create", space_id, **members, **draws.extensions(stage))
    if seen.error is None and stage.chance(0.7):
        stage.parcels.fetch(stage.roots[space_id], space_id, seen.payload["receipt"]["affected"][0]["id"])


def get(stage: Stage) -> None:
    """Fetch an export: whole the first time, a chunk later, as root or somebody."""
    space_id = stage.space_id()
    exports = keys(stage.space(space_id).exports)
    pending = [job.pinned["export_id"] for _, job in sorted(stage.space(space_id).jobs.items()) if "export_id" in job.pinned]
    export_id = stage.pick([*exports, *pending, UNKNOWN] if stage.chance(0.1) or not exports else exports)
    actor = stage.roots[space_id] if stage.chance(0.6) else stage.someone(space_id)
    if not stage.parcels.is_taken(space_id, str(export_id)):
        stage.parcels.fetch(actor, space_id, str(export_id))
        return
    chunks = len(stage.space(space_id).exports.rows[export_id].doc["chunks"])
    stage.ask(actor, "exports.get", space_id, export_id=export_id, ordinal=stage.random.randint(0, chunks))


def a_parcel(stage: Stage) -> tuple[Doc, list[Doc]] | None:
    """Pick an export that was fetched, as bundle and chunks; mostly as it is, sometimes forged."""
    taken = [
        row.doc
        for space_id in stage.space_ids
        for export_id, row in ordered(stage.space(space_id).exports)
        if stage.parcels.is_taken(space_id, str(export_id)) and len(row.doc["chunks"]) <= MOST_CHUNKS
    ]
    if not taken:
        return None
    export = stage.pick(taken)
    return export["bundle"], export["chunks"]


def begin(stage: Stage) -> None:
    """Stage the first chunk of an export, mostly all of it, as it is or forged."""
    parcel = a_parcel(stage)
    if parcel is None:
        return create(stage)
    if stage.chance(0.45):
        parcel = forgery.forged(stage, *parcel)
    space_id = stage.pick(stage.space_ids) if stage.chance(0.6) else stage.space_ids[0]
    carrier = _carrier(stage, space_id)
    import_id = _stage(stage, space_id, carrier, parcel, 0, "")
    if import_id is not None and stage.chance(0.85):
        _rest(stage, space_id, carrier, parcel, 1, import_id)
    return None


def _rest(stage: Stage, space_id: str, carrier: Actor, parcel: tuple[Doc, list[Doc]], first: int, import_id: str) -> None:
    for ordinal in range(first, len(parcel[1])):
        if stage.chance(0.04):
            return
        if _stage(stage, space_id, carrier, parcel, ordinal, import_id) is None:
            return


def _stage(
    stage: Stage, space_id: str, carrier: Actor, parcel: tuple[Doc, list[Doc]], ordinal: int, import_id: str
) -> str | None:
    bundle, chunks = parcel
    if ordinal and stage.chance(0.04):
        bundle = forgery.under_another(bundle)
    named = {"import_id": import_id} if import_id else {}
    seen = stage.ask(carrier, "imports.stage", space_id, bundle=bundle, chunk=chunks[ordinal], **named)
    return None if seen.error is not None else str(seen.payload["receipt"]["affected"][0]["id"])


def an_import(stage: Stage, space: Space, *states: str) -> str:
    """Pick an import, mostly one in these states; a made-up one where there is none."""
    held = {str(import_id): row.doc["state"] for import_id, row in ordered(space.imports)}
    wanted = [import_id for import_id, state in held.items() if state in states]
    if wanted and stage.chance(0.85):
        return wanted[-1] if stage.chance(0.6) else stage.pick(wanted)
    return stage.pick([*held, UNKNOWN])


def go_on(stage: Stage) -> None:
    """Stage a further chunk: the one that is due, another, one of another export, or one under another bundle."""
    space_id = stage.pick(stage.space_ids)
    space = stage.space(space_id)
    import_id = an_import(stage, space, imports.STAGING)
    held = space.imports.get(import_id)
    parcel = a_parcel(stage)
    if held is None or parcel is None:
        return begin(stage)
    bundle, chunks = parcel
    if held["bundle"] and stage.chance(0.8):
        bundle = held["bundle"]
        chunks = _chunks_of(stage, bundle) or chunks
    due = len(held["chunks"])
    ordinal = due if due < len(chunks) and stage.chance(0.75) else stage.random.randrange(len(chunks))
    if ordinal == 0:
        return begin(stage)
    _stage(stage, space_id, _carrier(stage, space_id), (bundle, chunks), ordinal, import_id)
    return None


def _chunks_of(stage: Stage, bundle: Doc) -> list[Doc]:
    for space_id in stage.space_ids:
        export = stage.space(space_id).exports.get(bundle["export_id"])
        if export is not None and export["bundle"] == bundle:
            chunks: list[Doc] = export["chunks"]
            return chunks
    return []


def activate(stage: Stage) -> None:
    """Activate an import, mostly a staged one in a space that was frozen for it; then look at what is there."""
    staged = [space_id for space_id in stage.space_ids if _has(stage.space(space_id), imports.STAGED)]
    if not staged and stage.chance(0.8):
        return begin(stage)
    space_id = stage.pick(staged) if staged else stage.pick(stage.space_ids)
    root = stage.roots[space_id]
    if not fences.is_frozen(stage.space(space_id)) and stage.chance(0.85):
        stage.ask(root, "spaces.freeze", space_id, expected_revision=stage.space(space_id).facts["revision"])
    generation = stage.space(space_id).facts["authority_generation"]
    expected = generation if stage.chance(0.7) else max(1, generation + stage.pick((-1, -1, 1, 1, 2)))
    import_id = an_import(stage, stage.space(space_id), imports.STAGED)
    members = {"import_id": import_id, "expected_authority_generation": expected}
    seen = stage.ask(_carrier(stage, space_id), "imports.activate", space_id, **members)
    if stage.chance(0.7):
        _thaw(stage, space_id)
    if seen.error is None or stage.chance(0.3):
        look(stage, space_id)
    return None


def _thaw(stage: Stage, space_id: str) -> None:
    facts = stage.space(space_id).facts
    if facts["state"] == fences.FROZEN:
        stage.by_root(space_id, "spaces.unfreeze", expected_revision=facts["revision"])


def _has(space: Space, state: str) -> bool:
    return any(row.doc["state"] == state for row in space.imports.rows.values())


def discard(stage: Stage) -> None:
    """Discard an import, in whatever state."""
    space_id = stage.pick(stage.space_ids)
    import_id = an_import(stage, stage.space(space_id), imports.STAGED, imports.STAGING, imports.DISCARDED)
    stage.ask(_carrier(stage, space_id), "imports.discard", space_id, import_id=import_id)


def look(stage: Stage, space_id: str) -> None:
    """Read all that a space shows to its root."""
    root = stage.roots[space_id]
    stage.listed(root, "spaces.list", space_id)
    stage.listed(root, "grants.list", space_id, view="admin")
    for subject_id in _subjects(stage, space_id):
        everything: dict[str, Any] = {"subject_id": subject_id, "mode": "all_authorized"}
        stage.ask(root, "subjects.get", space_id, subject_id=subject_id)
        stage.listed(root, "records.list", space_id, selection=everything, include_tombstones=True)
        stage.listed(root, "candidates.list", space_id, selection=everything)
        stage.ask(root, "profile.get", space_id, subject_id=subject_id, kinds=list(stage.names.kinds))
    _look_at_reflections(stage, space_id)


def _subjects(stage: Stage, space_id: str) -> list[str]:
    return list(dict.fromkeys((*stage.names.subjects, *map(str, keys(stage.space(space_id).subjects)))))


def _look_at_reflections(stage: Stage, space_id: str) -> None:
    seen: list[Doc] = []
    for one in stage.space(space_id).reflections.all():
        basis: Doc = {name: one[name] for name in ("selection", "filter", "cognition_filter") if name in one}
        if basis not in seen:
            seen.append(basis)
            stage.listed(stage.roots[space_id], "reflections.list", space_id, **basis)


def audit(stage: Stage) -> None:
    """Read all that a space shows."""
    look(stage, stage.space_id())
