"""``memory.records.*`` (protocol.md sections 3, 4 and 7, Update, Promote and Delete)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.oracle import authority, contents, cursors, fences, filters, pages, revisions, selection, subjects
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, changed, extensions_of
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code, Field

AUTHOR, REVIEW = "author", "review"
READING_OP = "memory.records.get"


# -- one record


def create(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.records.create``: a direct write of an author."""
    authority.require(turn, request["scope"], turn.op.needs)
    contents.refuse_oversized(turn, request["content"])
    fences.refuse_write(turn, space, request["scope"])
    subjects.require_existing(space, request["scope"]["subject_id"])
    provenance = authored(turn, request)
    space, record = added(
        turn,
        space,
        request["kind"],
        request["content"],
        request["scope"],
        provenance,
        extensions_of(request),
        **turn.carried(request, "RetainedRecord"),
    )
    return Outcome(space, affected=(affected(record),))


def authored(turn: Turn, request: Doc) -> Doc:
    """Give the provenance of a direct write."""
    return {"source": AUTHOR, "created_by": turn.caller, **source_context(request)}


def source_context(given: Doc) -> Doc:
    """Give the source context where one was named; naming it needs no coverage and meets no fence."""
    return {"source_context_id": given["source_context_id"]} if "source_context_id" in given else {}


def added(
    turn: Turn, space: Space, kind: str, content: Doc, scope: Doc, provenance: Doc, extensions: Doc, **carried: Any
) -> tuple[Space, Doc]:
    """Put a new record into a space."""
    record_id, number = turn.mint("rec", space.records)
    record: dict[str, Any] = {
        **turn.envelope(extensions),
        "record_id": record_id,
        "space_id": space.space_id,
        "kind": kind,
        "content": content,
        "scope": scope,
        "provenance": provenance,
        "revision": revisions.FIRST,
        "created_at": turn.now,
        "updated_at": turn.now,
        **carried,
    }
    return space.having(records=space.records.add(record_id, scope["subject_id"], number, record)), record


def affected(record: Doc) -> Doc:
    """Name a record as changed, at its revision."""
    return changed("record", record["record_id"], record["revision"])


def found(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> Doc:
    """Give the record that a request names, where the caller covers its placement by each of ``needs``."""
    record = space.records.get(request["record_id"])
    return authority.require_object(turn, record, "scope", needs, turn.need_of(READING_OP))


def get(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.records.get``: authorised anew at each read; a deleted record is its tombstone."""
    return Outcome(space, {"record": found(turn, space, request, turn.op.needs)})


def is_tombstone(record: Doc) -> bool:
    """Say whether a record was deleted."""
    return "tombstone" in record


def refuse_tombstone(record: Doc) -> None:
    """Refuse any later change of a deleted record."""
    if is_tombstone(record):
        raise Refusal(Code.RECORD_TOMBSTONED)


def changeable(turn: Turn, space: Space, request: Doc, record: Doc) -> None:
    """Refuse a change by freeze, fences, deletion and revision, in this order (section 6, items 9 to 11)."""
    fences.refuse_write(turn, space, record["scope"])
    refuse_tombstone(record)
    revisions.check(request["expected_revision"], record["revision"])


def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Outcome:
    """Put the next version of a record into a space."""
    record = revisions.revised(record, turn.now, **members)
    return Outcome(space.having(records=space.records.change(record["record_id"], record)), affected=(affected(record),))


def update(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.records.update``: ``content`` and/or ``kind``, to equal values too; everything else stays."""
    record = found(turn, space, request, turn.op.needs)
    given = updated(request)
    contents.refuse_oversized(turn, *([given["content"]] if "content" in given else []))
    changeable(turn, space, request, record)
    return stored(turn, space, record, **given)


def updated(request: Doc) -> Doc:
    """Give what an update changes, as it was given."""
    return {name: request[name] for name in ("content", "kind") if name in request}


def delete(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.records.delete``: the content goes, the record stays as a tombstone."""
    record = found(turn, space, request, turn.op.needs)
    changeable(turn, space, request, record)
    return stored(turn, space, record, content=tombstone_content(record), tombstone=tombstone(turn))


def tombstone_content(_record: Doc) -> Doc:
    """Give what is left of the content of a deleted record."""
    return {"text": ""}


def tombstone(turn: Turn) -> Doc:
    """Say when and by whom a record was deleted."""
    return {"deleted_at": turn.now, "deleted_by": turn.caller}


def promote(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.records.promote``: the only change of placement, under authority at both ends; nothing else changes."""
    source_need, target_need = turn.op.needs
    record = found(turn, space, request, [source_need])
    to_scope = request["to_scope"]
    authority.require(turn, to_scope, [target_need])
    refuse_other_subject(turn, record, to_scope)
    fences.refuse_write(turn, space, record["scope"], to_scope)
    refuse_tombstone(record)
    refuse_same_placement(record, to_scope)
    revisions.check(request["expected_revision"], record["revision"])
    return stored(turn, space, record, scope=to_scope)


def refuse_other_subject(turn: Turn, record: Doc, to_scope: Doc) -> None:
    """Refuse to move a record to another subject."""
    if to_scope["subject_id"] != record["scope"]["subject_id"]:
        raise Refusal(Code.INVALID_VALUE, field=turn.bundle.field(Field.TO_SUBJECT))


def refuse_same_placement(record: Doc, to_scope: Doc) -> None:
    """Refuse to move a record to where it is."""
    if to_scope.get("context_id") == record["scope"].get("context_id"):
        raise Refusal(Code.WRONG_STATE)


# -- many records


def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.records.list``: selection AND filters, with the count of the whole set whatever the page."""
    selection.authorise(turn, request["selection"], turn.op.needs)
    items = pages.arranged(turn, filtered(in_selection(turn, space, request, turn.op.needs), request))
    mark = cursors.mark(turn, space, lambda: space.records.of(request["selection"]["subject_id"]))
    members = pages.reply(turn, request, items, mark)
    return Outcome(space, {**members, "total_authorized": total(items)})


def total(items: Sequence[Doc]) -> int:
    """Count the whole set after authorisation, selection and filters."""
    return len(items)


def in_selection(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> list[Doc]:
    """List the records that a request selects and its caller covers, oldest first: the living, and tombstones where asked for."""
    wanted = request["selection"]
    records = space.records.of(wanted["subject_id"])
    listed = [record for record in records if is_listed(record, request)]
    return selection.selected(turn, wanted, needs, listed, placement)


def is_listed(record: Doc, request: Doc) -> bool:
    """Say whether a record shows at all: a tombstone only in a list that asks for it."""
    return bool(request.get("include_tombstones")) or not is_tombstone(record)


def placement(record: Doc) -> Doc:
    """Give where a record lies."""
    scope: Doc = record["scope"]
    return scope


def filtered(records: Sequence[Doc], request: Doc) -> list[Doc]:
    """Keep what meets the provenance filter AND the cognition filter of a request."""
    return filters.by_cognition(filters.by_provenance(records, request.get("filter")), request.get("cognition_filter"))


def eligible(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> list[Doc]:
    """List the living records that a request selects, its caller covers and its filters keep, oldest first."""
    living = {name: value for name, value in request.items() if name != "include_tombstones"}
    return filtered(in_selection(turn, space, living, needs), request)
