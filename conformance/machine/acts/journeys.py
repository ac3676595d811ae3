"""Exports and imports from their beginning to their end: a space taken back to what it was, and parcels that are not right.

Short walks seldom get through all chunks of a parcel and an activation; here each step is the next one, and what is drawn is what
happens between the export and the activation, which step is disturbed, and what is forged.
"""

from __future__ import annotations

from conformance.machine import draws, forgery
from conformance.machine.acts import edges, lives, storms, syntheses, transfer
from conformance.machine.stage import Stage
from conformance.oracle import fences, imports
from conformance.oracle.state import Doc

CHUNKS = 3
DISTURBED = 0.25
Parcel = tuple[Doc, list[Doc]]


def rewind(stage: Stage) -> None:
    """Export a space, let things live and die in it, and activate the export there again, or in the other space."""
    space_id = stage.space_ids[0]
    scope = lives.a_place(stage, space_id)
    candidate_id = _captured(stage, space_id, scope)
    _reflected(stage, space_id, scope)
    parcel = exported(stage, space_id)
    if parcel is None:
        return
    for between in stage.some((_decide, _live, _fence, _reflect_elsewhere), 3):
        between(stage, space_id, scope, candidate_id)
    target = space_id if stage.chance(0.75) else stage.space_ids[-1]
    _brought(stage, target, parcel)


def overtaken(stage: Stage) -> None:
    """Take a space back, end there what went further before, and bring the further state: what has ended stays ended."""
    space_id = stage.space_ids[0]
    scope = lives.a_place(stage, space_id)
    candidate_id, record = _captured(stage, space_id, scope), lives.born(stage, space_id, scope)
    early = exported(stage, space_id)
    if record is None or early is None:
        return
    for change in stage.some(lives.CHANGES, 2):
        change(stage, space_id, stage.space(space_id).records.rows[record["record_id"]].doc)
    late = exported(stage, space_id)
    if late is None or (back := staged(stage, space_id, early)) is None:
        return
    _activate(stage, space_id, back)
    storms.switch(stage, space_id, fences.FROZEN)
    lives.die(stage, space_id, record)
    _decide(stage, space_id, scope, candidate_id)
    _brought(stage, space_id, late)


def forged(stage: Stage) -> None:
    """Stage a parcel that is forged in one way, chunk by chunk to its end, and activate it if it was taken."""
    space_id = stage.space_ids[0]
    parcel = transfer.a_parcel(stage)
    if parcel is None or len(parcel[1]) < 2:
        lives.a_place(stage, space_id)
        parcel = exported(stage, space_id)
    if parcel is None:
        return
    import_id = staged(stage, space_id, forgery.forged(stage, *parcel))
    if import_id is not None and stage.chance(0.3):
        _activated(stage, space_id, import_id)


def _captured(stage: Stage, space_id: str, scope: Doc) -> str:
    made = stage.by_root(space_id, "capture", content=draws.content(stage), scope=scope).payload
    return "" if made is None else str(made["receipt"]["affected"][0]["id"])


def _reflected(stage: Stage, space_id: str, scope: Doc) -> None:
    """Make a reflection over what is there, so that one travels."""
    if "memory.reflections.generate" not in stage.served or stage.duo.held:
        return
    stage.by_root(space_id, "records.create", kind="note", content=draws.content(stage), scope=scope)
    syntheses.completed(stage, space_id, scope["subject_id"])
    # What lies elsewhere does not make a reflection over the placement alone stale.
    stage.by_root(space_id, "reflections.generate", selection=syntheses.over(stage, scope))


def exported(stage: Stage, space_id: str) -> Parcel | None:
    """Export a space in a few chunks and fetch them."""
    space = stage.space(space_id)
    most = stage.model.described["limits"]["max_chunk_items"]
    items = len(space.records.rows) + len(space.receipts.docs) + len(space.candidates.rows) + len(space.subjects.rows)
    size = min(most, items // CHUNKS + 1)
    made = stage.by_root(space_id, "exports.create", max_items_per_chunk=size).payload
    if made is None or stage.duo.held:
        return None
    export_id = made["receipt"]["affected"][0]["id"]
    stage.parcels.fetch(stage.roots[space_id], space_id, export_id)
    export = stage.space(space_id).exports.get(export_id)
    return None if export is None else (export["bundle"], export["chunks"])


# -- between the export and its activation


def _decide(stage: Stage, space_id: str, _scope: Doc, candidate_id: str) -> None:
    if candidate_id:
        decision = stage.pick(({"action": "promote", "kind": "note"}, {"action": "discard"}))
        stage.by_root(space_id, "candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def _live(stage: Stage, _space_id: str, _scope: Doc, _candidate_id: str) -> None:
    lives.of_a_record(stage)


def _fence(stage: Stage, space_id: str, scope: Doc, _candidate_id: str) -> None:
    subject = stage.space(space_id).subjects.get(scope["subject_id"])
    if subject is not None:
        target = {"type": "subject", "subject_id": scope["subject_id"]}
        action = "archive" if stage.chance(0.2) else "fence"
        stage.by_root(space_id, "subjects.fence", target=target, action=action, expected_revision=subject["revision"])


def _reflect_elsewhere(stage: Stage, space_id: str, scope: Doc, _candidate_id: str) -> None:
    elsewhere = draws.scope(stage, scope["subject_id"])
    stage.by_root(space_id, "records.create", kind="fact", content=draws.content(stage), scope=elsewhere)


# -- staging and activation


def staged(stage: Stage, space_id: str, parcel: Parcel) -> str | None:
    """Stage a parcel to its end, here and there disturbed; give the import, if it came to be."""
    bundle, chunks = parcel
    import_id, disturbed = "", stage.chance(0.5)
    for ordinal, chunk in enumerate(chunks):
        if disturbed and ordinal and stage.chance(DISTURBED):
            _send(stage, space_id, bundle, stage.pick(chunks[1:]), import_id)
        made = _send(stage, space_id, bundle, chunk, import_id)
        if made is None:
            return None
        import_id = import_id or made
        if disturbed and ordinal + 1 < len(chunks) and stage.chance(DISTURBED):
            _activate(stage, space_id, import_id)
    if disturbed and len(chunks) > 1 and stage.chance(0.5):
        _send(stage, space_id, bundle, stage.pick(chunks[1:]), import_id)
    return import_id or None


def _brought(stage: Stage, space_id: str, parcel: Parcel) -> None:
    """Stage a parcel, and activate it if it was taken."""
    import_id = staged(stage, space_id, parcel)
    if import_id is not None:
        _activated(stage, space_id, import_id)


def _send(stage: Stage, space_id: str, bundle: Doc, chunk: Doc, import_id: str) -> str | None:
    named = {"import_id": import_id} if import_id else {}
    made = stage.by_root(space_id, "imports.stage", bundle=bundle, chunk=chunk, **named).payload
    return None if made is None else str(made["receipt"]["affected"][0]["id"])


def _activated(stage: Stage, space_id: str, import_id: str) -> None:
    """Activate an import, perhaps after a failure, perhaps again; look at what is there, and let something change."""
    storms.switch(stage, space_id, fences.ACTIVE)
    if stage.chance(0.35):
        _fail(stage, space_id, import_id)
    chains = [edges.begun(stage, stage.roots[space_id], space_id) for _ in range(stage.random.randint(0, 2))]
    _activate(stage, space_id, import_id)
    for chain in chains:
        edges.gone_on(stage, chain)
    if stage.chance(0.4):
        _activate(stage, space_id, import_id)
    storms.switch(stage, space_id, fences.FROZEN)
    transfer.look(stage, space_id)
    scope = lives.a_place(stage, space_id)
    stage.by_root(space_id, "records.create", kind="note", content=draws.content(stage), scope=scope)
    transfer.look(stage, space_id)


def _activate(stage: Stage, space_id: str, import_id: str) -> None:
    """Activate an import, at times a while after the freeze, so that what dates the space is seen to be the activation."""
    storms.switch(stage, space_id, fences.ACTIVE)
    if stage.chance(0.3):
        stage.advance(2)
    generation = stage.space(space_id).facts["authority_generation"]
    stage.by_root(space_id, "imports.activate", import_id=import_id, expected_authority_generation=generation)
    stage.listed(stage.roots[space_id], "spaces.list", space_id)


def _fail(stage: Stage, space_id: str, import_id: str) -> None:
    """Let an activation fail: while it is held the space is thawed."""
    if not (stage.alone and stage.bench.levers.has("hold")) or stage.duo.held:
        return
    held = stage.space(space_id).imports.get(import_id)
    if held is None or held["state"] != imports.STAGED:
        return
    stage.hold(True)
    _activate(stage, space_id, import_id)
    storms.switch(stage, space_id, fences.FROZEN)
    stage.hold(False)
    storms.switch(stage, space_id, fences.ACTIVE)
