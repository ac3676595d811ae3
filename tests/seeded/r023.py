"""Faults that MEM-R023 (recall budget) must catch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from conformance.oracle import Choices, authority, candidates, records, selection
from conformance.oracle.policy import ranking
from conformance.oracle.policy.ranking import Budget, Cut
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire import canonical
from tests.seeded import altered, scoped
from tests.seeded.fault import Fault, Patch, Patched, Provider, always, patched

RULE = "MEM-R023"
SKIPPING = Choices(recall_skips=True)
Ranked = Sequence[Doc]


def _characters(record: Doc) -> int:
    return len(canonical.canonical(record["content"]).decode())


def _text_bytes(record: Doc) -> int:
    return len(record["content"]["text"].encode())


def _escaped(record: Doc) -> int:
    return len(canonical.canonical(record["content"]).decode().encode("ascii", "backslashreplace"))


def _without_cognition(record: Doc) -> int:
    return canonical.content_bytes({name: value for name, value in record["content"].items() if name != "cognition"})


def _without_empty(record: Doc) -> int:
    return canonical.content_bytes({name: value for name, value in record["content"].items() if value != []})


def _whole_record(record: Doc) -> int:
    return len(canonical.canonical(record))


def _sized(size: Callable[[Doc], int]) -> Patch:
    return Patch(ranking, "size", lambda _original: size)


def _cut(change: Callable[[Cut, Ranked, Budget], Cut]) -> Patch:
    """Change what was cut; ``change`` gets the right cut, all eligible records in order and the budget."""

    def wrap(original: Any) -> Any:
        def cut(ranked: Ranked, budget: Budget, *, skips: bool) -> Cut:
            return change(original(ranked, budget, skips=skips), ranked, budget)

        return cut

    return Patch(ranking, "cut", wrap)


def _spent(found: Cut, ranked: Ranked, _budget: Budget) -> Cut:
    """Say truncated where a budget is spent to the last."""
    return found._replace(truncated=found.truncated or bool(ranked))


def _by_bytes_unsaid(found: Cut, _ranked: Ranked, budget: Budget) -> Cut:
    return found._replace(truncated=found.truncated and budget.bytes is None)


def _by_number_unsaid(found: Cut, _ranked: Ranked, budget: Budget) -> Cut:
    return found._replace(truncated=found.truncated and budget.records is None)


def _all_used(found: Cut, ranked: Ranked, _budget: Budget) -> Cut:
    return found._replace(used=sum(ranking.size(record) for record in ranked))


def _first_anyway(found: Cut, ranked: Ranked, _budget: Budget) -> Cut:
    """Return one record at least, however large."""
    if found.records or not ranked:
        return found
    return Cut([ranked[0]], ranking.size(ranked[0]), len(ranked) > 1)


def _twice(found: Cut, ranked: Ranked, budget: Budget) -> Cut:
    """Fill what is left of the budget with the best record again."""
    if len(found.records) != len(ranked) or not ranked or (budget.records or 2**31) <= len(ranked):
        return found
    cost = ranking.size(ranked[0])
    if budget.bytes is not None and found.used + cost > budget.bytes:
        return found
    return found._replace(records=[*found.records, ranked[0]], used=found.used + cost)


def _dead_pay(original: Any) -> Any:
    """Let tombstones take part in the cut and leave them out after it."""

    def cut(ranked: Ranked, budget: Budget, *, skips: bool) -> Cut:
        found = original(ranked, budget, skips=skips)
        living = [record for record in found.records if not records.is_tombstone(record)]
        eligible = [record for record in ranked if not records.is_tombstone(record)]
        used = sum(ranking.size(record) for record in living)
        return Cut(living, used, len(living) < len(eligible))

    return cut


def _listed_in_recall(original: Any) -> Any:
    return lambda record, request: original(record, request) or "budget" in request


def _turning() -> Provider:
    """Make a provider whose order turns by one with each call."""
    calls = iter(range(10**9))

    def wrap(original: Any) -> Any:
        def ordered(found: Ranked, query: Any, rank: Any) -> list[Doc]:
            ranked = original(found, query, rank)
            by = next(calls) % len(ranked) if ranked else 0
            return [*ranked[by:], *ranked[:by]]

        return ordered

    return Patched([Patch(ranking, "ordered", wrap)])


def _boosting() -> Provider:
    """Make a provider that ranks a record the higher the more often it was recalled."""
    hits: dict[str, int] = {}

    def wrap(original: Any) -> Any:
        def cut(ranked: Ranked, budget: Budget, *, skips: bool) -> Cut:
            ranked = sorted(ranked, key=lambda record: -hits.get(record["record_id"], 0))
            found: Cut = original(ranked, budget, skips=skips)
            for record in found.records[1:]:
                hits[record["record_id"]] = hits.get(record["record_id"], 0) + 1
            return found

        return cut

    return Patched([Patch(ranking, "cut", wrap)])


def _matching(original: Any) -> Any:
    """Take the query for a filter: what shares no word with it is not returned."""

    def ordered(found: Ranked, query: str | None, rank: Any) -> list[Doc]:
        ranked: list[Doc] = original(found, query, rank)
        return [one for one in ranked if not query or rank(one, query) < 0] if query else ranked

    return ordered


def _hidden_too(original: Any) -> Any:
    """Count what the caller may not recall as left out."""

    def recall(turn: Turn, space: Space, request: Doc) -> Any:
        outcome = original(turn, space, request)
        with Patch(authority, "holds", always(True)).applied():
            whole = original(turn, space, request)
        return outcome._replace(members={**outcome.members, "truncated": whole.members["truncated"]})

    return recall


def _hidden_pay(original: Any) -> Any:
    """Cut over all records of the subject, then leave out what the caller may not recall."""

    def recall(turn: Turn, space: Space, request: Doc) -> Any:
        outcome = original(turn, space, request)
        with Patch(authority, "holds", always(True)).applied():
            whole = original(turn, space, request).members["records"]
        wide = {**request, "budget": {"max_records": 2**31}}
        allowed = {record["record_id"] for record in original(turn, space, wide).members["records"]}
        kept = [record for record in whole if record["record_id"] in allowed]
        used = sum(ranking.size(record) for record in kept)
        members = {"records": kept, "used_bytes": used, "truncated": len(kept) < len(allowed)}
        return outcome._replace(members=members)

    return recall


def _pending_too(original: Any) -> Any:
    """Recall pending candidates as if they were records."""

    def eligible(turn: Turn, space: Space, request: Doc, needs: Any) -> list[Doc]:
        found: list[Doc] = original(turn, space, request, needs)
        if turn.op.name != "memory.recall":
            return found
        held = [one for one in space.candidates.of(request["selection"]["subject_id"]) if one["state"] == candidates.PENDING]
        chosen = selection.selected(turn, request["selection"], needs, held, candidates.placement)
        return [*found, *(_as_record(one) for one in chosen)]

    return eligible


def _as_record(candidate: Doc) -> Doc:
    names = ("schema_version", "space_id", "content", "revision", "created_at", "updated_at", "extensions")
    return {
        **{name: candidate[name] for name in names},
        "record_id": candidate["candidate_id"],
        "kind": candidate.get("kind", "note"),
        "scope": candidate["capture_scope"],
        "provenance": {"source": records.AUTHOR, "created_by": candidate["provenance"]["captured_by"]},
    }


def _stale_index() -> Provider:
    """Make a provider whose recall keeps each record as it first was and where it first lay."""
    index: dict[str, Doc] = {}

    def remember(original: Any) -> Any:
        def added(turn: Turn, space: Space, *members: Any) -> Any:
            space, record = original(turn, space, *members)
            index[f"{space.space_id} {record['record_id']}"] = record
            return space, record

        return added

    def recalled(original: Any) -> Any:
        def cut(ranked: Ranked, budget: Budget, *, skips: bool) -> Cut:
            old = [index.get(f"{one['space_id']} {one['record_id']}", one) for one in ranked]
            found: Cut = original(old, budget, skips=skips)
            return found

        return cut

    return Patched([Patch(records, "added", remember), Patch(ranking, "cut", recalled)])


def _as_it_is_written(_original: Any) -> Any:
    """Measure a content as the language's own JSON writes it."""
    return lambda record: len(json.dumps(record["content"], ensure_ascii=False, separators=(",", ":")).encode())


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md", **oracle: Any) -> Fault:
    return Fault(f"r023_{name}", RULE, sentence, patched(*patches, **oracle), source)


def _cached() -> Provider:
    """Make a provider that recalls what it recalled before, as long as there are as many records and grants."""
    kept: dict[bytes, Outcome] = {}

    def wrap(original: Any) -> Any:
        def recall(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            counts = [len(space.records.all()), len(space.grants.all())]
            return kept.setdefault(canonical.canonical([turn.caller, request, counts]), outcome)

        return recall

    return Patched([altered.step("recall", wrap)])


def _unfiltered(original: Any) -> Any:
    """Leave the filter out where there is a query."""

    def recall(turn: Turn, space: Space, request: Doc) -> Outcome:
        asked = {name: part for name, part in request.items() if name != "filter" or "query" not in request}
        outcome: Outcome = original(turn, space, asked)
        return outcome

    return recall


def _joined(original: Any) -> Any:
    """Recall a record once for each time that its context is named."""

    def recall(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        named = request["selection"].get("context_ids", [])
        times = {name: named.count(name) for name in named}
        found = [one for one in outcome.members["records"] for _ in range(times.get(one["scope"].get("context_id"), 1))]
        return outcome._replace(members={**outcome.members, "records": found})

    return recall


FAULTS: tuple[Fault, ...] = (
    _fault("counts_characters", "the byte budget counts characters", _sized(_characters)),
    _fault("one_over_budget", "the record that crosses the byte budget is returned too",
           Patch(ranking, "fits", lambda _original: lambda spent, _cost, budget: budget is None or spent < budget)),
    _fault("one_record_too_many", "one record more than max_records is returned",
           Patch(ranking, "cut", lambda original: lambda ranked, budget, *, skips: original(
               ranked, budget._replace(records=budget.records and budget.records + 1), skips=skips))),
    _fault("truncated_when_all_fit", "truncated although everything was returned", _cut(_spent)),
    _fault("tombstones_pay", "tombstones spend budget",
           Patch(records, "is_listed", _listed_in_recall), Patch(ranking, "cut", _dead_pay)),
    Fault("r023_order_turns", RULE, "the order changes from call to call", _turning),
    Fault("r023_recalled_rises", RULE, "what was recalled ranks higher the next time", _boosting, "ours"),
    _fault("counts_text_only", "the byte budget counts the text alone", _sized(_text_bytes), source="ours"),
    _fault("counts_escapes", "the byte budget counts characters beyond ASCII as escapes", _sized(_escaped), source="ours"),
    _fault("cognition_is_free", "cognition spends no budget", _sized(_without_cognition), source="ours"),
    _fault("empty_cognition_is_free", "an empty cognition array spends no budget", _sized(_without_empty), source="ours"),
    _fault("counts_whole_record", "the byte budget counts the whole record", _sized(_whole_record), source="ours"),
    _fault("edge_left_out", "a record that fills the byte budget exactly is left out",
           Patch(ranking, "fits", lambda _original: lambda spent, cost, budget: budget is None or spent + cost < budget),
           source="ours"),
    _fault("bytes_before_number", "max_records is ignored where max_bytes is given",
           Patch(ranking, "cut", lambda original: lambda ranked, budget, *, skips: original(
               ranked, budget if budget.bytes is None else budget._replace(records=None), skips=skips)), source="ours"),
    _fault("bytes_cut_unsaid", "what the byte budget cuts is not called truncated", _cut(_by_bytes_unsaid), source="ours"),
    _fault("number_cut_unsaid", "what max_records cuts is not called truncated", _cut(_by_number_unsaid), source="ours"),
    _fault("skipped_unsaid", "what is skipped for its size is not called truncated",
           _cut(lambda found, ranked, _budget: found._replace(truncated=ranked[-1:] != found.records[-1:])),
           source="ours", choices=SKIPPING),
    _fault("used_of_all", "used_bytes is of all eligible records", _cut(_all_used), source="ours"),
    _fault("first_anyway", "one record is returned however large", _cut(_first_anyway), source="ours"),
    _fault("filled_up", "what is left of the budget is filled with the best record again", _cut(_twice), source="ours"),
    _fault("query_filters", "records that share no word with the query are left out",
           Patch(ranking, "ordered", _matching), source="ours"),
    _fault("hidden_truncates", "truncated counts what the caller may not recall",
           altered.step("recall", _hidden_too), source="ours"),
    _fault("hidden_pays", "records that the caller may not recall spend budget",
           altered.step("recall", _hidden_pay), source="ours"),
    _fault("pending_recalled", "recall returns pending candidates", Patch(records, "eligible", _pending_too), source="ours"),
    _fault("selection_ignored", "recall goes over the whole subject",
           scoped.during("recall", Patch(selection, "is_named", lambda _original: lambda wanted, scope: (
               bool(scope["subject_id"] == wanted["subject_id"])))), source="ours"),
    _fault("numbers_as_they_are_written", "numbers are measured as the language writes them",
           Patch(ranking, "size", _as_it_is_written), source="ours"),
    Fault("r023_stale_index", RULE, "recall returns records as they first were", _stale_index, "ours"),
    Fault("r023_first_records_only", RULE, "only the first fifty eligible records are recalled",
          patched(scoped.during("recall", altered.cut(records, "eligible"))), source="ours"),
    Fault("r023_contexts_named_twice_count_twice", RULE, "a record in a context that is named twice is recalled twice",
          patched(altered.step("recall", _joined)), source="ours"),
    Fault("r023_cached_by_count", RULE, "what was recalled is recalled again while there are as many records and grants",
          _cached, "ours"),
    Fault("r023_query_lifts_the_filter", RULE, "with a query the filter is not looked at",
          patched(altered.step("recall", _unfiltered)), "ours"),
)  # fmt: skip
