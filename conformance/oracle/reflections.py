"""``memory.reflections.*`` (protocol.md section 7, Reflections): pinned at the request, stale computed at read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.oracle import authority, cursors, fences, pages, profiles, records, selection, subjects
from conformance.oracle.policy import assembly
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Job, Space
from conformance.oracle.turn import Outcome, Settled, Turn, changed, extensions_of
from conformance.wire import canonical
from conformance.wire.bundle import Need, instant
from conformance.wire.vocabulary import Code

PINNED = ("selection", "filter", "cognition_filter")


# -- the basis


def basis(turn: Turn, space: Space, subject_id: str, found: Sequence[Doc]) -> Doc:
    """Give the basis over eligible records: with ALL profile documents of the subject, whatever the caller may read of them."""
    return assembly.basis(found, space.profiles.of(subject_id), turn.choices.engine_policy_version)


def state_digest(turn: Turn, request: Doc, pinned: Doc) -> str:
    """Digest the state that a reflection rests on; the form is the provider's."""
    return turn.choices.state_digest(request, pinned)


def is_sufficient(found: Sequence[Doc]) -> bool:
    """Say whether there is at least one eligible record."""
    return bool(found)


def state(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.reflections.state``: what a generation would rest on now, as far as ``reflections_read`` sees it."""
    selection.authorise(turn, request["selection"], turn.op.needs)
    subject_id = request["selection"]["subject_id"]
    found = records.eligible(turn, space, request, turn.op.needs)
    current = basis(turn, space, subject_id, found)
    members: dict[str, Any] = {
        "state_digest": state_digest(turn, request, current),
        "stale": not any(assembly.same_basis(one["basis"], current) for one in shown(turn, space, request)),
        "sufficient": is_sufficient(found),
        "record_count": len(found),
        "missing_required_kinds": profiles.missing(turn, space, subject_id),
    }
    return Outcome(space, members)


# -- generation


def generate(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.reflections.generate``: explicit and billed, over what the caller covers by both capabilities."""
    wanted = request["selection"]
    selection.authorise(turn, wanted, turn.op.needs)
    fences.refuse_frozen(turn, space)
    fences.refuse_subject(space, wanted["subject_id"])
    subjects.require_existing(space, wanted["subject_id"])
    found = records.eligible(turn, space, request, turn.op.needs)
    refuse_incomplete(turn, space, wanted["subject_id"])
    refuse_insufficient(found)
    pinned = basis(turn, space, wanted["subject_id"], found)
    digest = state_digest(turn, request, pinned)
    refuse_other_state(request, digest)
    return _pinned(turn, space, request, {"state_digest": digest, **pinned}, found)


def refuse_incomplete(turn: Turn, space: Space, subject_id: str) -> None:
    """Refuse generation while a required profile kind was never written."""
    missing = profiles.missing(turn, space, subject_id)
    if missing:
        raise Refusal(Code.PROFILE_INCOMPLETE, missing_kinds=missing)


def refuse_insufficient(found: Sequence[Doc]) -> None:
    """Refuse generation over no eligible record."""
    if not is_sufficient(found):
        raise Refusal(Code.INSUFFICIENT_DATA)


def refuse_other_state(request: Doc, digest: str) -> None:
    """Refuse generation on another state than the one expected."""
    if request.get("expected_state_digest", digest) != digest:
        raise Refusal(Code.REVISION_STALE, expected_revision=None, actual_revision=None)


def _pinned(turn: Turn, space: Space, request: Doc, pinned: Doc, found: Sequence[Doc]) -> Outcome:
    reflection_id, number = turn.mint("refl", space.reflections)
    job = {
        "number": number,
        "reflection": make(turn, space, request, reflection_id, pinned, found),
        "pin": pin(selection.reach(turn, request["selection"]["subject_id"], turn.op.needs), found),
    }
    return Outcome(space, affected=(changed("reflection", reflection_id),), job=Job(turn.op.name, job))


def make(turn: Turn, space: Space, request: Doc, reflection_id: str, pinned: Doc, found: Sequence[Doc]) -> Doc:
    """Make the document of a new reflection, without ``stale``, which is computed at each read."""
    return {
        **turn.envelope(extensions_of(request)),
        "reflection_id": reflection_id,
        "space_id": space.space_id,
        **{name: request[name] for name in PINNED if name in request},
        "basis": pinned,
        "text": turn.choices.compose(request["selection"]["subject_id"], found),
        "created_at": turn.now,
    }


def pin(reach: Doc, found: Sequence[Doc]) -> Doc:
    """Pin what the generator covered, and where the basis records lay."""
    return {"reach": reach, "scopes": {record["record_id"]: record["scope"] for record in found}}


def settle(_turn: Turn, space: Space, job: Doc) -> Settled:
    """Put the generated reflection into the space, whatever came between."""
    reflection = job["reflection"]
    reflection_id, subject_id = reflection["reflection_id"], reflection["selection"]["subject_id"]
    kept = space.reflections.add(reflection_id, subject_id, job["number"], reflection)
    space = space.having(reflections=kept, pins=space.pins.set(reflection_id, job["pin"]))
    return Settled(space, (changed("reflection", reflection_id),))


# -- reading


def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.reflections.list``: newest first, on exactly the request's selection and filters, ``stale`` as of now."""
    selection.authorise(turn, request["selection"], turn.op.needs)
    items = [read(turn, space, one) for one in shown(turn, space, request)]
    mark = cursors.mark(turn, space, lambda: behind(space, request["selection"]["subject_id"]))
    return Outcome(space, pages.reply(turn, request, newest_first(items), mark))


def newest_first(items: Sequence[Doc]) -> list[Doc]:
    """Order reflections by when they were asked for, the latest first."""
    # Among equal instants the later one comes first: a reversed sort keeps the order it is given.
    latest_first = items[::-1]
    return sorted(latest_first, key=lambda one: instant(one["created_at"]), reverse=True)


def read(turn: Turn, space: Space, reflection: Doc) -> Doc:
    """Give a reflection as its reader sees it."""
    return {**reflection, "stale": is_stale(turn, space, reflection, turn.op.needs)}


def shown(turn: Turn, space: Space, request: Doc) -> list[Doc]:
    """List the reflections on exactly the request's selection and filters that its caller may see, oldest first."""
    held = space.reflections.of(request["selection"]["subject_id"])
    return [one for one in held if is_pinned_alike(one, request) and is_covered(turn, space, one)]


def behind(space: Space, subject_id: str) -> list[Doc]:
    """List what the reflections of a subject, and whether they are stale, depend on."""
    return [*space.reflections.of(subject_id), *space.records.of(subject_id), *space.profiles.of(subject_id)]


def is_pinned_alike(reflection: Doc, request: Doc) -> bool:
    """Say whether the pinned selection, filter and cognition filter all equal the request's."""
    return all(same_member(reflection, request, name) for name in PINNED)


def same_member(one: Doc, other: Doc, name: str) -> bool:
    """Say whether two documents have the same member, as JSON; absent equals only absent."""
    if name not in one or name not in other:
        return name not in one and name not in other
    return canonical.same(one[name], other[name])


def is_covered(turn: Turn, space: Space, reflection: Doc) -> bool:
    """Say whether a caller who covers the selection may see a reflection: of ``all_authorized`` ones, by every basis record."""
    if selection.names_placements(reflection["selection"]):
        return True
    basis_ids = [entry["record_id"] for entry in reflection["basis"]["records"]]
    return all(covers_record(turn, space, reflection, record_id) for record_id in basis_ids)


def covers_record(turn: Turn, space: Space, reflection: Doc, record_id: str) -> bool:
    """Say whether the caller covers a basis record where it lies, or lay when it was pinned if it is there no more."""
    record = space.records.get(record_id)
    pinned = space.pins[reflection["reflection_id"]]["scopes"].get(record_id)
    scope = pinned if record is None else record["scope"]
    return scope is not None and all(authority.holds(turn, need, scope) for need in turn.op.needs)


def is_stale(turn: Turn, space: Space, reflection: Doc, needs: Sequence[Need]) -> bool:
    """Say whether the state has left a reflection's basis, over the placements that its generator and its reader cover.

    Without ``needs`` there is no reader: the generator's placements alone count (an export).
    """
    placed = _is_selected(turn, space, reflection, needs)
    subject_id = reflection["selection"]["subject_id"]
    living = [record for record in space.records.of(subject_id) if not records.is_tombstone(record) and placed(record["scope"])]
    current = basis(turn, space, subject_id, records.filtered(living, reflection))
    return not assembly.same_basis(reflection["basis"], current)


def _is_selected(turn: Turn, space: Space, reflection: Doc, needs: Sequence[Need]) -> Callable[[Doc], bool]:
    wanted = reflection["selection"]
    if selection.names_placements(wanted):
        return lambda scope: selection.is_named(wanted, scope)
    reach = space.pins[reflection["reflection_id"]]["reach"]
    return lambda scope: selection.reaches(reach, scope) and all(authority.holds(turn, need, scope) for need in needs)
