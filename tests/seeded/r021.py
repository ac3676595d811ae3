"""Faults that MEM-R021 (tombstones) must catch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from conformance.oracle import activation, candidates, exports, filters, records, store
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from tests.seeded import altered, scoped
from tests.seeded.fault import Fault, Patch, Patched, Provider, Wrapper, always, patched

RULE = "MEM-R021"
UNREFUSED = Patch(records, "refuse_tombstone", always(None))
Stored = Callable[..., Outcome]


def _left(*names: str) -> Patch:
    """Leave members of the content on the tombstone."""

    def wrap(original: Callable[[Doc], Doc]) -> Any:
        def content(record: Doc) -> Doc:
            return {**original(record), **{name: value for name, value in record["content"].items() if name in names}}

        return content

    return Patch(records, "tombstone_content", wrap)


def _at_deletion(change: Callable[[Turn, Doc], Doc]) -> Patch:
    """Take another record than the stored one to be deleted."""

    def wrap(original: Stored) -> Any:
        def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Outcome:
            return original(turn, space, change(turn, record) if "tombstone" in members else record, **members)

        return stored

    return Patch(records, "stored", wrap)


def _listed(when: Callable[[Doc], bool]) -> Patch:
    """List tombstones where ``when`` says so of the request."""
    return Patch(records, "is_listed", lambda original: lambda record, request: original(record, request) or when(request))


def _counting(original: Any) -> Any:
    """Count tombstones in a list that leaves them out."""

    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        whole = {name: value for name, value in request.items() if name != "page"} | {"include_tombstones": True}
        total = original(turn, space, whole).members["total_authorized"]
        return outcome._replace(members={**outcome.members, "total_authorized": total})

    return list_


def _living(record: Doc) -> Doc:
    return {name: value for name, value in record.items() if name != "tombstone"}


def _reviving(original: Stored) -> Any:
    def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Outcome:
        return original(turn, space, record if "tombstone" in members else _living(record), **members)

    return stored


def _brought_wins(_original: Any) -> Any:
    def surviving(brought: Iterable[Doc], own: Iterable[Doc], key: str) -> list[Doc]:
        kept = {doc[key]: doc for doc in own}
        kept.update((doc[key], doc) for doc in brought)
        return list(kept.values())

    return surviving


def _emptied(original: Any) -> Any:
    """Empty the candidate that a deleted record came from."""

    def delete(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        record = space.records.get(request["record_id"]) or {"provenance": {}}
        candidate = space.candidates.get(record["provenance"].get("candidate_id", ""))
        if candidate is None:
            return outcome
        kept = outcome.space.candidates.change(candidate["candidate_id"], {**candidate, "content": {"text": ""}})
        return outcome._replace(space=outcome.space.having(candidates=kept))

    return delete


def _reopened(original: Any) -> Any:
    """Bring the candidate of a deleted record back into review."""

    def delete(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        record = space.records.get(request["record_id"]) or {"provenance": {}}
        candidate = space.candidates.get(record["provenance"].get("candidate_id", ""))
        if candidate is None:
            return outcome
        pending = {name: value for name, value in candidate.items() if name != "outcome"} | {"state": candidates.PENDING}
        kept = outcome.space.candidates.change(candidate["candidate_id"], pending)
        return outcome._replace(space=outcome.space.having(candidates=kept))

    return delete


def _unmarked_at_restart(original: Callable[[Doc], Space]) -> Any:
    """Read a space back without the mark of deletion."""

    def load(saved: Doc) -> Space:
        return original({**saved, "records": [[*head, _living(doc)] for *head, doc in saved["records"]]})

    return load


# -- faults that remember what was deleted

Recall = Callable[[dict[str, Doc]], Wrapper]


def _remembering(place: Any, name: str, using: Recall) -> Callable[[], Provider]:
    """Make oracles of which one function also has what was deleted, by record id, as it was before."""

    def make() -> Provider:
        deleted: dict[str, Doc] = {}

        def remember(original: Stored) -> Any:
            def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Outcome:
                if "tombstone" in members:
                    deleted[f"{space.space_id} {record['record_id']}"] = record
                return original(turn, space, record, **members)

            return stored

        return Patched([Patch(records, "stored", remember), Patch(place, name, using(deleted))])

    return make


def _before(deleted: dict[str, Doc], record: Doc) -> Doc:
    return deleted.get(f"{record['space_id']} {record['record_id']}", record)


def _still_matched(deleted: dict[str, Doc]) -> Wrapper:
    """Match a cognition filter against what a tombstone held."""

    def wrap(original: Any) -> Any:
        def by_cognition(found: Any, wanted: Doc | None) -> list[Doc]:
            found = list(found)
            hits = {one["record_id"] for one in original([_before(deleted, one) for one in found], wanted)}
            return [one for one in found if one["record_id"] in hits]

        return by_cognition

    return wrap


def _still_indexed(deleted: dict[str, Doc]) -> Wrapper:
    """Find deleted records in recall as they were: the search index keeps its own copy."""

    def wrap(original: Any) -> Any:
        def eligible(turn: Turn, space: Space, request: Doc, needs: Any) -> list[Doc]:
            found: list[Doc] = original(turn, space, request, needs)
            if turn.op.name != "memory.recall":
                return found
            with _listed(lambda _request: True).applied():
                return [_before(deleted, one) for one in original(turn, space, request, needs)]

        return eligible

    return wrap


def _still_exported(deleted: dict[str, Doc]) -> Wrapper:
    """Export deleted records as they were."""

    def wrap(original: Any) -> Any:
        def items(turn: Turn, space: Space) -> Any:
            for item in original(turn, space):
                yield {**item, "value": _before(deleted, item["value"])} if item["type"] == "record" else item

        return items

    return wrap


def _still_in_basis(original: Any) -> Any:
    """Count tombstones among the eligible records of a reflection."""

    def eligible(turn: Turn, space: Space, request: Doc, needs: Any) -> list[Doc]:
        if not turn.op.name.startswith("memory.reflections"):
            found: list[Doc] = original(turn, space, request, needs)
            return found
        with _listed(lambda _request: True).applied():
            counted: list[Doc] = original(turn, space, request, needs)
        return counted

    return eligible


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r021_{name}", RULE, sentence, patched(*patches), source)


FAULTS: tuple[Fault, ...] = (
    _fault("structured_stays", "deletion takes the text and leaves structured", _left("structured")),
    _fault(
        "cognition_emptied", "a tombstone has an empty cognition array",
        Patch(records, "tombstone_content", always({"text": "", "cognition": []})),
    ),
    _fault("still_in_recall", "recall returns tombstones", _listed(lambda request: "budget" in request)),
    _fault("update_revives", "an update makes a tombstone a record again", UNREFUSED, Patch(records, "stored", _reviving)),
    _fault("import_revives", "a record of a bundle takes the place of its tombstone",
           Patch(activation, "surviving", _brought_wins)),
    _fault(
        "revision_not_bumped", "deletion keeps the revision",
        _at_deletion(lambda _turn, record: {**record, "revision": record["revision"] - 1}),
    ),
    Fault(
        "r021_filter_still_matches", RULE, "a cognition filter matches what a tombstone held",
        _remembering(filters, "by_cognition", _still_matched),
    ),
    Fault(
        "r021_f01_still_indexed", RULE, "the search index keeps what was deleted",
        _remembering(records, "eligible", _still_indexed), "F01",
    ),
    _fault("f06_mark_not_looked_at", "an activation looks at no mark of deletion",
           Patch(activation, "tombstones", always([])), source="F06"),
    Fault(
        "r021_still_exported", RULE, "a later export holds deleted records as they were",
        _remembering(exports, "items", _still_exported), "ours",
    ),
    _fault("still_in_basis", "tombstones count as eligible for a reflection",
           Patch(records, "eligible", _still_in_basis), source="ours"),
    _fault("listed_unasked", "lists show tombstones unasked",
           _listed(lambda request: "budget" not in request), source="ours"),
    _fault("counted_unasked", "total_authorized counts tombstones that the list leaves out",
           altered.step("records.list", _counting), source="ours"),
    _fault("promote_moves_tombstone", "a tombstone can be promoted", scoped.during("records.promote", UNREFUSED), source="ours"),
    _fault("deleted_twice", "a tombstone can be deleted again", scoped.during("records.delete", UNREFUSED), source="ours"),
    _fault("extensions_lost", "deletion drops the extensions",
           _at_deletion(lambda _turn, record: {**record, "extensions": {}}), source="ours"),
    _fault(
        "provenance_of_deleter", "the deleter becomes the record's creator",
        _at_deletion(lambda turn, record: {**record, "provenance": {**record["provenance"], "created_by": turn.caller}}),
        source="ours",
    ),
    _fault("scope_lost", "a tombstone falls back to the shared placement",
           _at_deletion(lambda _turn, record: {**record, "scope": {"subject_id": record["scope"]["subject_id"]}}), source="ours"),
    _fault("candidate_emptied", "deleting a reviewed record empties its candidate",
           altered.step("records.delete", _emptied), source="ours"),
    _fault("candidate_reopened", "deleting a reviewed record brings its candidate back into review",
           altered.step("records.delete", _reopened), source="ours"),
    _fault("unmarked_at_restart", "a restart loses the mark of deletion",
           Patch(store, "load_space", _unmarked_at_restart), source="ours"),
)  # fmt: skip
