"""Faults that MEM-R027 (transfer) must catch: what an export holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from conformance import sealing
from conformance.oracle import contents, exports, store
from conformance.oracle.policy import chunks
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.vocabulary import Flag
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, always, patched
from tests.seeded.scoped import without

RULE = "MEM-R027"
MOST_SAFE = 2**53 - 1
Item = Callable[[Doc], Doc | None]


def _exporting(change: Item) -> Patch:
    """Export each item as ``change`` makes it; None leaves it out."""

    def wrap(original: Any) -> Any:
        def items(turn: Turn, space: Space) -> Iterator[Doc]:
            changed = (change(item) for item in original(turn, space))
            return (item for item in changed if item is not None)

        return items

    return Patch(exports, "items", wrap)


def _without(*kinds: str) -> Item:
    return lambda item: None if item["type"] in kinds else item


def _of_values(kind: str, change: Callable[[Doc], Doc | None]) -> Item:
    """Change the values of one type; None leaves the item out."""

    def changed(item: Doc) -> Doc | None:
        if item["type"] != kind:
            return item
        value = change(item["value"])
        return None if value is None else {**item, "value": value}

    return changed


def _lacking(name: str) -> Callable[[Doc], Doc]:
    return lambda value: {member: part for member, part in value.items() if member != name}


def _dead(value: Doc) -> Doc | None:
    return None if "tombstone" in value else value


def _failed(value: Doc) -> Doc | None:
    return value if value["state"] == "committed" else None


def _consumed(value: Doc) -> Doc | None:
    return value if value["state"] == "pending" else None


def _fenced(value: Doc) -> Doc:
    return {**value, "state": "active"} if value["state"] == "fenced" else value


def _without_empty(value: Doc) -> Doc:
    kept = {name: part for name, part in value["content"].items() if (name, part) != ("cognition", [])}
    return {**value, "content": kept}


def _without_null(value: Doc) -> Doc:
    return {**value, "content": {name: part for name, part in value["content"].items() if part is not None}}


def _of_contents(*kinds: str, lost: Callable[[str, Any], bool]) -> Item:
    """Leave the ``lost`` members of the contents of some types out."""

    def changed(item: Doc) -> Doc:
        if item["type"] not in kinds:
            return item
        content = {name: part for name, part in item["value"]["content"].items() if not lost(name, part)}
        return {**item, "value": {**item["value"], "content": content}}

    return changed


def _null(name: str, part: Any) -> bool:
    return name == "structured" and part is None


def _void(name: str, part: Any) -> bool:
    """Say whether a structured value counts as nothing although it is not null."""
    return name == "structured" and part is not None and not part


def _empty(name: str, part: Any) -> bool:
    return name == "cognition" and part == []


def _plain_when_frozen(original: Any) -> Any:
    """Drop the extensions of a request for an export of a frozen space."""

    def facts(turn: Turn, space: Space, request: Doc, export_id: str) -> Doc:
        made: Doc = original(turn, space, request, export_id)
        return _bare(made) if space.facts["state"] == "frozen" else made

    return facts


def _plain_when_empty(original: Any) -> Any:
    """Drop the extensions of a request for an export of a space without subjects."""

    def facts(turn: Turn, space: Space, request: Doc, export_id: str) -> Doc:
        made: Doc = original(turn, space, request, export_id)
        return made if space.subjects.all() else _bare(made)

    return facts


def _bare(value: Doc) -> Doc:
    return {**value, "extensions": {}}


def _all_receipts(_original: Any) -> Any:
    """Export pending receipts too."""
    return lambda space: space.receipts.all()


def _sourced(value: Doc) -> Doc:
    return {**value, "provenance": _lacking("source_context_id")(value["provenance"])}


def _live(original: Any) -> Any:
    """Show the records of an export as they are now."""

    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        chunk = outcome.members["chunk"]
        items = [{**item, "value": _now(space, item["value"])} if item["type"] == "record" else item for item in chunk["items"]]
        return outcome._replace(members={**outcome.members, "chunk": {**chunk, "items": items}})

    return get


def _now(space: Space, value: Doc) -> Doc:
    return space.records.get(value["record_id"]) or value


def _last_for_ever(original: Any) -> Any:
    """Answer the last chunk for every ordinal past it."""

    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        export = space.exports.get(request["export_id"])
        last = len(export["chunks"]) - 1 if export is not None else request["ordinal"]
        outcome: Outcome = original(turn, space, {**request, "ordinal": min(request["ordinal"], last)})
        return outcome

    return get


def _without_end(original: Any) -> Any:
    """Say that there are more chunks than anybody could fetch, and answer the last one for every ordinal past it."""
    step = _last_for_ever(original)

    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = step(turn, space, request)
        bundle = sealing.sealed_bundle({**outcome.members["bundle"], "chunk_count": MOST_SAFE})
        return outcome._replace(members={**outcome.members, "bundle": bundle})

    return get


def _two_at_least(original: Any) -> Any:
    return lambda turn, request: max(2, original(turn, request))


def _tail_joined(original: Any) -> Any:
    """Put a last item that would be alone in its chunk into the one before it."""

    def make_chunks(export_id: str, packs: Sequence[list[Doc]]) -> list[Doc]:
        alone = len(packs) > 1 and len(packs[-1]) == 1 < len(packs[-2])
        joined = [*packs[:-2], [*packs[-2], *packs[-1]]] if alone else packs
        made: list[Doc] = original(export_id, joined)
        return made

    return make_chunks


def _few_of_a_type(original: Any) -> Any:
    return lambda kind, docs: original(kind, list(docs)[:50])


def _own_only(original: Any) -> Any:
    """Leave out receipts of before the present generation."""

    def receipts_of(space: Space) -> list[Doc]:
        found: list[Doc] = original(space)
        generation = space.facts["authority_generation"]
        return found if generation == 1 else [one for one in found if one["authority_generation"] == generation]

    return receipts_of


def _unlimited(_original: Any) -> Any:
    return lambda turn, request: int(request.get("max_items_per_chunk", turn.choices.limits.max_chunk_items))


def _exports_lost(original: Callable[[Doc], Space]) -> Any:
    return lambda saved: original({**saved, "exports": []})


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md", **oracle: Any) -> Fault:
    return Fault(f"r027_{name}", RULE, sentence, patched(*patches, **oracle), source)


def _ours(name: str, sentence: str, *patches: Patch) -> Fault:
    return _fault(name, sentence, *patches, source="ours")


def _exported(name: str, sentence: str, change: Item, *, source: str = "ours") -> Fault:
    return _fault(name, sentence, _exporting(change), source=source)


def _measured(table: str, member: str) -> Callable[[Turn, Space, Doc], None]:
    """Measure the content that an object has already."""

    def look(turn: Turn, space: Space, request: Doc) -> None:
        found = getattr(space, table).get(request[member])
        if found is not None:
            contents.refuse_oversized(turn, found["content"])

    return look


FAULTS: tuple[Fault, ...] = (
    _exported("receipts_lost", "an export holds no receipts", _without("receipt"), source="rules.md"),
    _exported("tombstones_dropped", "an export leaves tombstones out", _of_values("record", _dead), source="rules.md"),
    _exported("f15_candidates_left_out", "an export holds no candidates", _without("candidate"), source="F15"),
    _exported("f15_fences_left_out", "an export holds no context fences", _without("context_fence"), source="F15"),
    _exported("f15_fenced_as_active", "an export shows fenced subjects as active", _of_values("subject", _fenced), source="F15"),
    _exported("f15_empty_cognition_lost", "an export leaves out empty cognition arrays",
              _of_values("record", _without_empty), source="F15"),
    _exported("profiles_left_out", "an export holds no profiles", _without("profile")),
    _exported("reflections_left_out", "an export holds no reflections", _without("reflection")),
    _exported("failed_receipts_left_out", "an export holds committed receipts alone", _of_values("receipt", _failed)),
    _exported("consumed_candidates_left_out", "an export holds pending candidates alone", _of_values("candidate", _consumed)),
    _exported("extensions_not_exported", "an export drops the extensions of records", _of_values("record", _bare)),
    _exported("source_context_not_exported", "an export drops source contexts", _of_values("record", _sourced)),
    _exported("null_not_exported", "an export drops structured null", _of_values("record", _without_null)),
    _exported("candidate_null_not_exported", "an export drops structured null of candidates",
              _of_contents("candidate", lost=_null)),
    _exported("profile_null_not_exported", "an export drops structured null of profiles", _of_contents("profile", lost=_null)),
    _exported("voids_not_exported", "an export drops structured false, 0, empty strings, arrays and objects",
              _of_contents("record", "candidate", "profile", lost=_void)),
    _exported("candidate_empty_cognition_not_exported", "an export drops empty cognition arrays of candidates",
              _of_contents("candidate", lost=_empty)),
    _exported("candidate_extensions_not_exported", "an export drops the extensions of candidates",
              _of_values("candidate", _bare)),
    _ours("deletion_is_measured", "a record whose imported content is too large cannot be deleted",
          altered.step("records.delete", altered.first(_measured("records", "record_id")))),
    _ours("promotion_is_measured", "a record whose imported content is too large cannot be moved",
          altered.step("records.promote", altered.first(_measured("records", "record_id")))),
    _ours("review_is_measured", "a candidate whose imported content is too large cannot be promoted",
          altered.step("candidates.review", altered.first(_measured("candidates", "candidate_id")))),
    _ours("frozen_bundle_plain", "the bundle of a frozen space lacks the extensions of its request",
          Patch(exports, "_facts", _plain_when_frozen)),
    _ours("empty_bundle_plain", "the bundle of an empty space lacks the extensions of its request",
          Patch(exports, "_facts", _plain_when_empty)),
    _ours("pending_receipts_exported", "an export holds pending receipts", Patch(exports, "receipts_of", _all_receipts)),
    _ours("live_export", "an export shows the space as it is now", altered.step("exports.get", _live)),
    _ours("last_chunk_for_ever", "past the last chunk the last is given", altered.step("exports.get", _last_for_ever)),
    _ours("export_never_ends", "an export claims chunks without end", altered.step("exports.get", _without_end)),
    _ours("chunks_too_large", "a chunk holds two items at least", Patch(exports, "chunk_size", _two_at_least)),
    _ours("tail_joined", "a last item goes into the chunk before it, above the size that was asked for",
          Patch(chunks, "make_chunks", _tail_joined)),
    _ours("chunk_size_unlimited", "any number of items per chunk may be asked for", Patch(exports, "chunk_size", _unlimited)),
    _ours("exports_lost_at_restart", "a restart loses exports", Patch(store, "load_space", _exports_lost)),
    _ours("first_records_only", "an export holds the first fifty items of a type", Patch(exports, "_typed", _few_of_a_type)),
    _ours("brought_receipts_stay", "an export leaves out brought receipts", Patch(exports, "receipts_of", _own_only)),
    Fault("r027_reflections_need_the_flag", RULE, "an export without the flag of reflections holds none",
          without(Flag.REFLECTION, Patch(exports, "reflections_of", always([]))), "ours"),
)  # fmt: skip
