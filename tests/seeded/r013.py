"""Faults of MEM-R013: a code, a count, an order, a page, a time or a number that depends on what the caller may not see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from conformance.oracle import (
    authority,
    candidates,
    cursors,
    fences,
    pages,
    receipts,
    records,
    reflections,
    revisions,
    steps,
)
from conformance.oracle.policy import ranking
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire import canonical
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, always, patched
from tests.seeded.scoped import during

RULE = "MEM-R013"


def _whole(space: Space, request: Doc) -> list[Doc]:
    """List all living records of the request's subject that meet its filters, whoever asks."""
    held = space.records.of(request["selection"]["subject_id"])
    return records.filtered([record for record in held if records.is_listed(record, request)], request)


def _also(tell: Callable[[Turn, Space, Doc, Doc], Doc]) -> Any:
    """Change the members that a read answers; ``tell`` gets the turn, the space, the request and the right members."""

    def wrap(original: Any) -> Any:
        def step(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            return outcome._replace(members=tell(turn, space, request, outcome.members))

        return step

    return wrap


# -- codes and details


def _not_authorized(_original: Any) -> Any:
    return lambda _turn, **_visible: Refusal(Code.NOT_AUTHORIZED)


def _revision_first(table: str, name: str) -> Any:
    """Check the revision of an object before anyone has asked whether the caller may see it."""

    def wrap(original: Any) -> Any:
        def found(turn: Turn, space: Space, request: Doc, needs: Sequence[Need]) -> Doc:
            document = getattr(space, table).get(request[name])
            if document is not None and "expected_revision" in request:
                revisions.check(request["expected_revision"], document["revision"])
            right: Doc = original(turn, space, request, needs)
            return right

        return found

    return wrap


def _tombstone_first(_turn: Turn, space: Space, request: Doc) -> None:
    record = space.records.get(request["record_id"])
    if record is not None:
        records.refuse_tombstone(record)


def _context_fence_first(_turn: Turn, space: Space, request: Doc) -> None:
    record = space.records.get(request["record_id"])
    if record is not None:
        fences.refuse_context(space, record["scope"])


def _subject_fence_first(_turn: Turn, space: Space, request: Doc) -> None:
    fences.refuse_subject(space, request["scope"]["subject_id"])


def _missing_subject_first(_turn: Turn, space: Space, request: Doc) -> None:
    if request["subject_id"] not in space.subjects:
        raise Refusal(Code.NOT_FOUND)


def _missing_import_first(_turn: Turn, space: Space, request: Doc) -> None:
    if request["import_id"] not in space.imports:
        raise Refusal(Code.NOT_FOUND)


def _others_receipts_first(turn: Turn, space: Space, request: Doc) -> None:
    receipt = space.receipts.by_id(request["receipt_id"])
    if receipt is not None and not receipts.is_own(turn, receipt) and not authority.holds_space(turn, turn.need()):
        raise Refusal(Code.NOT_AUTHORIZED)


def _place_in_the_details(original: Any) -> Any:
    def require_object(turn: Turn, found: Doc | None, scope: str, needs: Sequence[Need], reading: Need) -> Doc:
        try:
            document: Doc = original(turn, found, scope, needs, reading)
        except Refusal as refusal:
            raise (refusal if found is None else Refusal(refusal.symbol, scope=found[scope])) from None
        return document

    return require_object


def _spaces_admitted(original: Any) -> Any:
    def take(turn: Turn, space: Space, request: Doc) -> Outcome:
        if space.facts and turn.op.name not in steps.OPEN and not authority.effective(turn, space):
            raise Refusal(Code.NOT_AUTHORIZED)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return take


# -- counts, budgets, order and pages


def _total_of_all(_turn: Turn, space: Space, request: Doc, members: Doc) -> Doc:
    everything = request["selection"]["mode"] == "all_authorized"
    return {**members, "total_authorized": len(_whole(space, request))} if everything else members


def _truncated_by_all(_turn: Turn, space: Space, request: Doc, members: Doc) -> Doc:
    return {**members, "truncated": members["truncated"] or len(members["records"]) < len(_whole(space, request))}


def _bytes_of_all(_turn: Turn, space: Space, request: Doc, members: Doc) -> Doc:
    hidden = [record for record in _whole(space, request) if record not in members["records"]]
    return members if members["truncated"] else {**members, "used_bytes": members["used_bytes"] + sum(map(ranking.size, hidden))}


def _budget_spent_by_all(turn: Turn, space: Space, request: Doc, members: Doc) -> Doc:
    """Cut the whole set by number first, and take out what the caller may not see after it."""
    most = request["budget"].get("max_records")
    rank = turn.choices.recall_order
    first = ranking.ordered(_whole(space, request), request.get("query", {}).get("text"), rank)[:most]
    kept = [record for record in members["records"] if record in first]
    return {**members, "records": kept, "used_bytes": sum(map(ranking.size, kept))}


def _by_rarity(_turn: Turn, space: Space, request: Doc, members: Doc) -> Doc:
    """Weigh the words of the query by how rare they are in all records of the space."""
    words = set(request.get("query", {}).get("text", "").split())
    seen = Counter(word for record in space.records.all() for word in set(record["content"]["text"].split()) & words)

    def weight(record: Doc) -> float:
        return -sum(1 / seen[word] for word in set(record["content"]["text"].split()) & words)

    return {**members, "records": sorted(members["records"], key=weight)}


def _offset_of_all(original: Any) -> Any:
    """State in the cursor where the page ends among all records, hidden ones too."""

    def token(turn: Turn, request: Doc, mark: Any, position: int) -> str:
        digits, _, tag = original(turn, request, mark, position).partition(".")
        return f"{int(digits) + _hidden(turn, request)}.{tag}"

    return token


def _from_offset_of_all(original: Any) -> Any:
    def position(turn: Turn, request: Doc, mark: Any, cursor: str) -> int:
        for offset in range(pages.limit(turn, {}) * 10):
            if cursors.token(turn, request, mark, offset) == cursor:
                return offset
        found: int = original(turn, request, mark, cursor)
        return found

    return position


def _hidden(turn: Turn, request: Doc) -> int:
    space = turn.state.spaces.get(request.get("space_id", ""))
    held = [] if space is None else space.records.all()
    return sum(1 for record in held if not authority.holds(turn, turn.need(), record["scope"]))


def _cut_before_authority(original: Any) -> Any:
    """Cut pages from all records of the subject and leave out of each what the caller may not see."""

    def reply(turn: Turn, request: Doc, items: Sequence[Doc], mark: Any) -> Doc:
        whole = _whole(turn.state.spaces[request["space_id"]], request)
        page: dict[str, Any] = original(turn, request, whole, mark)
        return {**page, "records": [record for record in page["records"] if record in items]}

    return reply


# -- what is computed over more than the caller sees


def _digest_of_all(_turn: Turn, space: Space, request: Doc, members: Doc) -> Doc:
    whole = [[record["record_id"], record["revision"]] for record in _whole(space, request)]
    return {**members, "state_digest": canonical.digest([members["state_digest"], whole])}


def _touched(turn: Turn, _before: Space, after: Space) -> Space:
    """Move the subject's time with every record that is written for it."""
    latest = after.records.ordered()[-1].doc
    subject = after.subjects.get(latest["scope"]["subject_id"])
    if subject is None:
        return after
    return after.having(subjects=after.subjects.change(subject["subject_id"], {**subject, "updated_at": turn.now}))


def _all_candidates(turn: Turn, space: Space, request: Doc, members: Doc) -> Doc:
    """Say that more follows as long as there are more candidates of the subject, whoever may review them."""
    whole = len(space.candidates.of(request["selection"]["subject_id"]))
    more = whole > len(members["candidates"]) and not request.get("page", {}).get("cursor")
    cursor = cursors.token(turn, request, cursors.mark(turn, space, lambda: members["candidates"]), len(members["candidates"]))
    return {**members, "next_cursor": cursor} if more else members


FAULTS = (
    Fault("r013_hidden_is_not_authorized", RULE, "a hidden object is NOT_AUTHORIZED, a missing one NOT_FOUND",
          patched(Patch(authority, "refuse_object", _not_authorized))),
    Fault("r013_total_counts_hidden", RULE, "total_authorized counts what the caller may not see",
          patched(altered.step("records.list", _also(_total_of_all)))),
    Fault("r013_truncated_by_hidden", RULE, "recall is truncated by what the caller may not see",
          patched(altered.step("recall", _also(_truncated_by_all)))),
    Fault("r013_cursor_states_an_offset", RULE, "a cursor states an offset over hidden records",
          patched(Patch(cursors, "token", _offset_of_all), Patch(cursors, "position", _from_offset_of_all))),
    Fault("r013_receipts_of_others", RULE, "a receipt is read by whoever knows its id",
          patched(Patch(receipts, "is_own", always(True)))),
    Fault("r013_revision_before_visibility", RULE, "the revision of a hidden object is checked before its visibility",
          patched(Patch(records, "found", _revision_first("records", "record_id")),
                  Patch(candidates, "found", _revision_first("candidates", "candidate_id"))), source="F17"),
    Fault("r013_tombstone_before_visibility", RULE, "an update of a hidden tombstone says that it was deleted",
          patched(altered.step("records.update", altered.first(_tombstone_first))), source="F17"),
    Fault("r013_kind_before_visibility", RULE, "a review of a hidden candidate says that it has no kind",
          patched(altered.step("candidates.review", altered.first(altered.kind_first))), source="ours"),
    Fault("r013_fence_before_visibility", RULE, "a deletion of a hidden record says that its context is fenced",
          patched(altered.step("records.delete", altered.first(_context_fence_first))), source="F17"),
    Fault("r013_archive_before_authority", RULE, "a write for a hidden subject says that it is archived",
          patched(altered.step("records.create", altered.first(_subject_fence_first))), source="ours"),
    Fault("r013_missing_subject_before_authority", RULE, "a missing subject is NOT_FOUND, a hidden one NOT_AUTHORIZED",
          patched(altered.step("subjects.get", altered.first(_missing_subject_first))), source="ours"),
    Fault("r013_missing_import_before_authority", RULE, "a missing import is NOT_FOUND, a hidden one NOT_AUTHORIZED",
          patched(altered.step("imports.discard", altered.first(_missing_import_first))), source="ours"),
    Fault("r013_others_receipts_exist", RULE, "another's receipt is NOT_AUTHORIZED, a missing one NOT_FOUND",
          patched(altered.step("receipts.get", altered.first(_others_receipts_first))), source="ours"),
    Fault("r013_details_tell_the_place", RULE, "the refusal of a hidden object says where it lies",
          patched(Patch(authority, "require_object", _place_in_the_details)), source="ours"),
    Fault("r013_spaces_exist", RULE, "a space without a grant is NOT_AUTHORIZED, a missing one NOT_FOUND",
          patched(Patch(steps, "take", _spaces_admitted)), source="ours"),
    Fault("r013_used_bytes_of_hidden", RULE, "used_bytes counts hidden records",
          patched(altered.step("recall", _also(_bytes_of_all))), source="ours"),
    Fault("r013_budget_spent_by_hidden", RULE, "hidden records spend the budget of a recall",
          patched(altered.step("recall", _also(_budget_spent_by_all))), source="ours"),
    Fault("r013_order_by_rarity", RULE, "recall weighs words by how rare they are among all records, hidden ones too",
          patched(altered.step("recall", _also(_by_rarity))), source="ours"),
    Fault("r013_pages_cut_before_authority", RULE, "pages are cut before hidden records are left out of them",
          patched(during("records.list", Patch(pages, "reply", _cut_before_authority))), source="ours"),
    Fault("r013_candidates_go_on", RULE, "a list of candidates goes on as long as there are hidden ones",
          patched(altered.step("candidates.list", _also(_all_candidates))), source="ours"),
    Fault("r013_digest_of_hidden", RULE, "state_digest covers hidden records",
          patched(altered.step("reflections.state", _also(_digest_of_all))), source="ours"),
    Fault("r013_stale_by_hidden", RULE, "a hidden record makes a reflection over others stale",
          patched(Patch(reflections, "_is_selected", always(lambda _scope: True))), source="ours"),
    Fault("r013_subject_is_touched", RULE, "the time of a subject moves with every record written for it, hidden ones too",
          patched(altered.effect("records.create", _touched)), source="ours"),
)  # fmt: skip
"""The faults that this rule must catch."""
