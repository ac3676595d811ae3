"""Faults that MEM-R027 (transfer) must catch: what an import is asked for.

What an export holds is in ``r027_export``, what an activation does wrong in ``r027_activation`` and ``r027_survivors``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any

from conformance.oracle import imports, jobs, records, store
from conformance.oracle.policy import chunks
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Settled, Turn
from conformance.wire import canonical
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Wrapper, always, patched

RULE = "MEM-R027"


# -- what staging lets through


def _unsequenced(only: Callable[[Doc, Doc], bool]) -> Patch:
    """Take a chunk out of turn where ``only`` says so of the import and the chunk."""

    def wrap(original: Callable[[Doc, Doc], None]) -> Any:
        def refuse(held: Doc, chunk: Doc) -> None:
            if not only(held, chunk):
                original(held, chunk)

        return refuse

    return Patch(imports, "refuse_out_of_turn", wrap)


def _is_gap(held: Doc, chunk: Doc) -> bool:
    return bool(held["state"] == imports.STAGING and chunk["ordinal"] > len(held["chunks"]))


def _is_repeat(held: Doc, chunk: Doc) -> bool:
    return bool(held["state"] == imports.STAGING and chunk["ordinal"] < len(held["chunks"]))


def _is_further(held: Doc, _chunk: Doc) -> bool:
    return bool(held["state"] == imports.STAGED)


def _sorting(original: Any) -> Any:
    """Put chunks in order before they are judged."""

    def is_sound(bundle: Doc, held: list[Doc], is_item: Any) -> bool:
        return bool(original(bundle, list({chunk["ordinal"]: chunk for chunk in held}.values()), is_item))

    return is_sound


def _unjudged(*names: str) -> tuple[Patch, ...]:
    """Leave out some judgements of bundles and chunks."""
    return tuple(Patch(chunks, name, always(True)) for name in names)


def _cover_alone(_original: Any) -> Any:
    """Judge an item by its cover: type and the presence of a value."""
    return lambda item, _is_item: isinstance(item.get("value"), dict) and item.get("type") in chunks.NAMES and len(item) == 2


def _contents_unjudged(original: Any) -> Any:
    """Judge items but for what their contents hold."""

    def is_sound(item: Doc, is_item: Any) -> bool:
        value: Any = item.get("value")
        content: Any = value.get("content") if isinstance(value, dict) else None
        if item.get("type") in ("record", "candidate") and isinstance(content, dict) and "cognition" in content:
            item = {**item, "value": {**value, "content": {**content, "cognition": []}}}
        return bool(original(item, is_item))

    return is_sound


def _unknown_left_out(original: Any) -> Any:
    """Pass over items of an unknown type."""

    def known(held: Iterable[Doc]) -> list[Doc]:
        return [{**chunk, "items": [item for item in chunk["items"] if item.get("type") in chunks.NAMES]} for chunk in held]

    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        held = imports.found(space, job["import_id"])
        space = imports.put(turn, space, job["import_id"], {**held, "chunks": known(held["chunks"])})
        settled: Settled = original(turn, space, job)
        return settled

    return settle


def _known_counted(original: Any) -> Any:
    """Judge and count items of known types alone."""
    return lambda items: original([item for item in items if item.get("type") in chunks.NAMES])


def _known_judged(original: Any) -> Any:
    return lambda item, is_item: item.get("type") not in chunks.NAMES or original(item, is_item)


def _dates_unjudged(original: Any) -> Any:
    """Judge items but for their days."""

    def dated(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: dated(part) for name, part in value.items()}
        return "2025-01-01T00:00:00Z" if isinstance(value, str) and len(value) == 20 and value[4] == "-" else value

    return lambda item, is_item: original(dated(item), is_item)


def _by_code_point(_original: Any) -> Any:
    """Digest a chunk with its names sorted by code point."""

    def has_own_digest(chunk: Doc) -> bool:
        named = {name: value for name, value in chunk.items() if name != "chunk_digest"}
        text = json.dumps(named, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return bool(hashlib.sha256(text.encode()).hexdigest() == chunk["chunk_digest"])

    return has_own_digest


def _in_any_order(_original: Any) -> Any:
    return lambda bundle, chunk: chunk["chunk_digest"] in bundle["chunk_digests"]


def _at_the_end(original: Any) -> Any:
    """Take the last chunk by count for the final one, whatever it says."""
    return lambda bundle, chunk: chunk["ordinal"] == bundle["chunk_count"] - 1


def _refused_at_the_end(original: Any) -> Any:
    """Refuse a defect at the final chunk instead of settling a failed receipt."""

    def staged(turn: Turn, space: Space, import_id: str, held: Doc, *, final: bool) -> Outcome:
        if final and not imports.is_sound(turn, held):
            raise Refusal(Code.IMPORT_INVALID)
        outcome: Outcome = original(turn, space, import_id, held, final=final)
        return outcome

    return staged


def _other_reason(original: Any) -> Any:
    """Settle a defect as another failure."""

    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        settled: Settled = original(turn, space, job)
        return settled if settled.error is None else settled._replace(error=Code.INVALID_VALUE)

    return settle


def _measured(original: Any) -> Any:
    """Measure imported content like any other."""

    def stage(turn: Turn, space: Space, request: Doc) -> Outcome:
        for item in request["chunk"]["items"]:
            content = item.get("value", {}).get("content") if isinstance(item.get("value"), dict) else None
            if isinstance(content, dict) and canonical.content_bytes(content) > turn.choices.limits.max_content_bytes:
                raise Refusal(Code.LIMIT_EXCEEDED)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return stage


def _of_this_version(original: Any) -> Any:
    """Take bundles of the own protocol version alone."""

    def stage(turn: Turn, space: Space, request: Doc) -> Outcome:
        if request["bundle"]["protocol_version"] not in (turn.choices.protocol_version, "1"):
            raise Refusal(Code.IMPORT_INVALID)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return stage


def _of_this_space(original: Any) -> Any:
    """Take bundles of the own space alone."""

    def stage(turn: Turn, space: Space, request: Doc) -> Outcome:
        if request["bundle"]["space_id"] != space.space_id:
            raise Refusal(Code.IMPORT_INVALID)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return stage


def _one_at_a_time(original: Any) -> Any:
    """Go on with the import that is being staged, whichever the request names."""

    def held(turn: Turn, space: Space, request: Doc) -> tuple[str, Doc]:
        begun = [name for name, row in space.imports.rows.items() if row.doc["state"] == imports.STAGING]
        if "import_id" in request and begun:
            return str(begun[0]), imports.found(space, str(begun[0]))
        found: tuple[str, Doc] = original(turn, space, request)
        return found

    return held


# -- what is visible before activation


def _staged_records(space: Space) -> list[Doc]:
    held = [row.doc for row in space.imports.rows.values() if row.doc["state"] == imports.STAGED]
    items = [item for one in held for chunk in one["chunks"] for item in chunk["items"]]
    return [{**item["value"], "space_id": space.space_id} for item in items if item["type"] == "record"]


def _staged_recalled(original: Any) -> Any:
    """Find the records of a staged import in recall."""

    def eligible(turn: Turn, space: Space, request: Doc, needs: Any) -> list[Doc]:
        found: list[Doc] = original(turn, space, request, needs)
        if turn.op.name != "memory.recall":
            return found
        staged = _staged_records(space)
        wanted = request["selection"]["subject_id"]
        return [*found, *(one for one in staged if one["scope"]["subject_id"] == wanted and "tombstone" not in one)]

    return eligible


def _staged_readable(original: Any) -> Any:
    """Give the records of a staged import by their ids."""

    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        for record in _staged_records(space):
            if record["record_id"] == request["record_id"]:
                return Outcome(space, {"record": record})
        outcome: Outcome = original(turn, space, request)
        return outcome

    return get


def _staged_subjects(_turn: Turn, _before: Space, after: Space) -> Space:
    """Make the subjects of a chunk when it is staged."""
    held = [row.doc for row in after.imports.rows.values() if row.doc["chunks"]]
    for item in (item for one in held for chunk in one["chunks"] for item in chunk["items"]):
        value = item.get("value")
        if item.get("type") == "subject" and isinstance(value, dict) and value.get("subject_id") not in after.subjects:
            subject = {**value, "space_id": after.space_id}
            after = after.having(subjects=after.subjects.add(value.get("subject_id", ""), "", 0, subject))
    return after


def _lost_at_restart(original: Callable[[Doc], Space]) -> Any:
    """Read a space back without what was staged."""
    return lambda saved: original({**saved, "imports": []})


def _verified_again(original: Callable[[Turn, Space, Doc], Settled]) -> Any:
    """Have an import staged when its final chunk settles, discarded or not."""

    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        import_id = job["import_id"]
        held = imports.found(space, import_id)
        if held["state"] == imports.DISCARDED:
            space = imports.put(turn, space, import_id, {**held, "state": imports.VERIFYING})
        return original(turn, space, job)

    return settle


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md", **oracle: Any) -> Fault:
    return Fault(f"r027_{name}", RULE, sentence, patched(*patches, **oracle), source)


def _ours(name: str, sentence: str, *patches: Patch) -> Fault:
    return _fault(name, sentence, *patches, source="ours")


def _staging(wrap: Wrapper) -> Patch:
    return altered.step("imports.stage", wrap)


FAULTS: tuple[Fault, ...] = (
    _fault("accepts_a_gap", "a chunk after the one that is due is taken",
           _unsequenced(_is_gap), *_unjudged("has_all_chunks", "has_right_counts")),
    _fault("accepts_bad_chunk_digest", "a chunk's digest is not verified", *_unjudged("has_own_digest")),
    _fault("accepts_bad_bundle_digest", "the bundle's digest is not verified", *_unjudged("bundle_is_sound")),
    _fault("staged_recalled", "recall finds what is only staged", Patch(records, "eligible", _staged_recalled)),
    _fault("f22_items_not_judged", "items are not verified", *_unjudged("item_is_sound", "has_no_twins"), source="F22"),
    _fault("f22_judged_by_cover", "items are verified by type and value alone",
           Patch(chunks, "item_is_sound", _cover_alone), source="F22"),
    _fault("f22_contents_not_judged", "the cognition of imported contents is not verified",
           Patch(chunks, "item_is_sound", _contents_unjudged), source="F22"),
    _fault("f22_dates_not_judged", "days that do not exist are imported",
           Patch(chunks, "item_is_sound", _dates_unjudged), source="F22"),
    _fault("f22_counts_not_verified", "counts are not verified", *_unjudged("has_right_counts"), source="F22"),
    _fault("f22_digests_in_any_order", "chunk digests are verified in any order",
           Patch(chunks, "has_listed_digest", _in_any_order), source="F22"),
    _fault("f22_digest_by_code_point", "digests are over names sorted by code point",
           Patch(chunks, "has_own_digest", _by_code_point), source="F22"),
    _ours("accepts_a_repeat", "a chunk that was staged is taken again",
          _unsequenced(_is_repeat), Patch(chunks, "is_sound", _sorting)),
    _ours("accepts_a_further", "a further chunk of a complete import is taken", _unsequenced(_is_further)),
    _ours("export_ids_not_verified", "chunks of another export are taken", *_unjudged("is_of_export")),
    _ours("listed_digests_not_verified", "the bundle's list of digests is not verified", *_unjudged("has_listed_digest")),
    _ours("end_not_verified", "a final chunk that is not the last is no defect",
          *_unjudged("ends_where_counted", "has_all_chunks")),
    _ours("chunk_count_not_verified", "the number of chunks is not verified",
          *_unjudged("has_all_chunks", "ends_where_counted"), Patch(chunks, "is_final", lambda _original: (
              lambda _bundle, chunk: bool(chunk["final"])))),
    _ours("final_not_looked_at", "the last chunk by count is the final one, whatever it says",
          Patch(chunks, "is_final", _at_the_end), *_unjudged("ends_where_counted")),
    _ours("bundle_may_differ", "another bundle on the way is taken", Patch(imports, "differs", always(False))),
    _ours("unknown_types_passed_over", "items of an unknown type are passed over",
          Patch(chunks, "item_is_sound", _known_judged), Patch(chunks, "counts", _known_counted), *_unjudged("has_no_twins"),
          Patch(jobs.SETTLERS, "memory.imports.stage", _unknown_left_out)),
    _ours("refused_at_the_end", "a defect is refused at the final chunk", Patch(imports, "_staged", _refused_at_the_end)),
    _ours("failed_for_another_reason", "a defect settles as another failure",
          Patch(jobs.SETTLERS, "memory.imports.stage", _other_reason)),
    _ours("discard_undone_at_settling", "an import that is discarded while it is verified is staged again when that settles",
          Patch(jobs.SETTLERS, "memory.imports.stage", _verified_again)),
    _ours("content_measured", "imported content is measured", _staging(_measured)),
    _ours("version_judged", "bundles of another protocol version are refused", _staging(_of_this_version)),
    _ours("space_judged", "bundles of another space are refused", _staging(_of_this_space)),
    _ours("imports_mixed", "a chunk goes to the oldest import that is being staged", Patch(imports, "_held", _one_at_a_time)),
    _ours("crowd_taken", "a chunk of any number of items is taken", Patch(imports, "refuse_crowded", always(None))),
    _ours("staged_readable", "staged records can be read by their ids", altered.step("records.get", _staged_readable)),
    _ours("staged_subjects", "the subjects of a chunk exist once it is staged",
          altered.effect("imports.stage", _staged_subjects)),
    _ours("staging_lost_at_restart", "a restart loses what was staged", Patch(store, "load_space", _lost_at_restart)),
)  # fmt: skip
