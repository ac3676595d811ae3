"""``memory.imports.*`` (protocol.md section 7, Transfer): staged in order, verified at the final chunk, visible at once or never.

An import is ``staging`` until its final chunk came, ``verifying`` until that chunk's receipt settles, then ``staged`` or
``failed``; it ends ``activated`` or ``discarded``. Nothing of it is visible before activation.
"""

from __future__ import annotations

from conformance.oracle import activation, authority, fences, revisions, spaces
from conformance.oracle.policy import chunks
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Job, Space
from conformance.oracle.turn import Outcome, Settled, Turn, changed
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

STAGING, VERIFYING, STAGED, FAILED, ACTIVATED, DISCARDED = "staging", "verifying", "staged", "failed", "activated", "discarded"
OVER = frozenset({FAILED, ACTIVATED, DISCARDED})


# -- staging


def stage(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.imports.stage``: one chunk in its turn; the final one has all verified."""
    authority.require_space(turn)
    chunk = request["chunk"]
    import_id, held = _held(turn, space, request)
    refuse_crowded(turn, chunk)
    refuse_over(held)
    refuse_out_of_turn(held, chunk)
    held = {**held, "chunks": [*held["chunks"], chunk], "differs": held["differs"] or differs(held, request)}
    final = chunks.is_final(held["bundle"], chunk)
    refuse_early_defect(turn, held, final=final)
    return _staged(turn, space, import_id, held, final=final)


def refuse_crowded(turn: Turn, chunk: Doc) -> None:
    """Refuse a chunk of more items than ``max_chunk_items``."""
    if len(chunk["items"]) > turn.choices.limits.max_chunk_items:
        raise Refusal(Code.LIMIT_EXCEEDED)


def _held(turn: Turn, space: Space, request: Doc) -> tuple[str, Doc]:
    if "import_id" in request:
        return request["import_id"], found(space, request["import_id"])
    import_id, _ = turn.mint("imp", space.imports)
    return import_id, {"state": STAGING, "bundle": request["bundle"], "chunks": [], "differs": False}


def found(space: Space, import_id: str) -> Doc:
    """Give the import that a request names."""
    held = space.imports.get(import_id)
    if held is None:
        raise Refusal(Code.NOT_FOUND)
    return held


def refuse_over(held: Doc) -> None:
    """Refuse to use a failed, activated or discarded import again."""
    if held["state"] in OVER:
        raise Refusal(Code.WRONG_STATE)


def refuse_out_of_turn(held: Doc, chunk: Doc) -> None:
    """Refuse any chunk but the next one, and every further chunk of a complete import."""
    if held["state"] != STAGING or chunk["ordinal"] != len(held["chunks"]):
        raise Refusal(Code.IMPORT_SEQUENCE)


def differs(held: Doc, request: Doc) -> bool:
    """Say whether a stage brings another bundle than the first one did."""
    return not canonical.same(held["bundle"], request["bundle"])


def refuse_early_defect(turn: Turn, held: Doc, *, final: bool) -> None:
    """Refuse a defect before the final chunk at once, where the provider does so; that chunk is not staged."""
    if final or not turn.choices.refuses_defects_early:
        return
    if held["differs"] or not chunks.is_sound_so_far(held["bundle"], held["chunks"], _judge(turn)):
        raise Refusal(Code.IMPORT_INVALID)


def _judge(turn: Turn) -> chunks.Judge:
    return turn.bundle.model("ExportItem").accepts


def _staged(turn: Turn, space: Space, import_id: str, held: Doc, *, final: bool) -> Outcome:
    affected = (changed("import", import_id),)
    if not final:
        return Outcome(put(turn, space, import_id, held), affected=affected)
    job = Job(turn.op.name, {"import_id": import_id, "sound": is_sound(turn, held)})
    return Outcome(put(turn, space, import_id, {**held, "state": VERIFYING}), affected=affected, job=job)


def is_sound(turn: Turn, held: Doc) -> bool:
    """Say whether digests, counts, items and export ids of a complete import are right, and its bundle always the same."""
    return not held["differs"] and chunks.is_sound(held["bundle"], held["chunks"], _judge(turn))


def put(turn: Turn, space: Space, import_id: str, held: Doc) -> Space:
    """Put a version of an import into a space."""
    known = import_id in space.imports
    imports = space.imports.change(import_id, held) if known else space.imports.add(import_id, "", turn.next_number(), held)
    return space.having(imports=imports)


def settle_stage(turn: Turn, space: Space, job: Doc) -> Settled:
    """Settle the final chunk: the import is staged, or it failed and is kept as such. One discarded meanwhile stays so."""
    import_id = job["import_id"]
    held = found(space, import_id)
    if held["state"] == VERIFYING:
        space = put(turn, space, import_id, {**held, "state": STAGED} if job["sound"] else ended(held, FAILED))
    return Settled(space, (changed("import", import_id),), None if job["sound"] else Code.IMPORT_INVALID)


def ended(held: Doc, state: str) -> Doc:
    """Give what is left of an import that is over: how many chunks were staged, and nothing of them."""
    return {"state": state, "bundle": {}, "chunks": [], "staged": len(held["chunks"]), "differs": False}


# -- activation and discard


def activate(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.imports.activate``: a staged import, a frozen space and the expected generation."""
    authority.require_space(turn)
    held = found(space, request["import_id"])
    refuse_activation(space, held, request["expected_authority_generation"])
    pinned = {"import_id": request["import_id"], "expected": request["expected_authority_generation"]}
    return Outcome(space, affected=(changed("import", request["import_id"]),), job=Job(turn.op.name, pinned))


def refuse_activation(space: Space, held: Doc, expected: int) -> None:
    """Refuse an activation of an unfrozen space, an import that is not staged, or another generation."""
    refuse_unfrozen(space)
    refuse_unstaged(held)
    refuse_other_generation(space, expected)


def refuse_unfrozen(space: Space) -> None:
    """Refuse to activate in a space that is not frozen."""
    if not fences.is_frozen(space):
        raise Refusal(Code.SPACE_NOT_FROZEN)


def refuse_unstaged(held: Doc) -> None:
    """Refuse to activate what is not completely staged, or is over."""
    if held["state"] != STAGED:
        raise Refusal(Code.WRONG_STATE)


def refuse_other_generation(space: Space, expected: int) -> None:
    """Refuse to activate under another generation than the expected one."""
    revisions.check(expected, space.facts["authority_generation"])


def settle_activation(turn: Turn, space: Space, job: Doc) -> Settled:
    """Check again, then make the whole import visible at once; a failure changes nothing and leaves the import usable."""
    held = found(space, job["import_id"])
    try:
        refuse_activation(space, held, job["expected"])
    except Refusal as refusal:
        return Settled(space, (), refusal.symbol)
    items = [item for chunk in held["chunks"] for item in chunk["items"]]
    space = put(turn, activation.activated(turn, space, items), job["import_id"], ended(held, ACTIVATED))
    return Settled(space, (changed("import", job["import_id"]), spaces.affected(space.facts)))


def discard(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.imports.discard``: drop what was staged."""
    authority.require_space(turn)
    held = found(space, request["import_id"])
    refuse_over(held)
    space = put(turn, space, request["import_id"], ended(held, DISCARDED))
    return Outcome(space, affected=(changed("import", request["import_id"]),))
