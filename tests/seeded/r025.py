"""Faults that MEM-R025 (the cognition filter) must catch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from conformance import dispatch
from conformance.oracle import Choices, authority, cursors, filters, records, reflections
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.port import MemoryRejected
from conformance.wire.bundle import Bundle, Operation, instant, load
from conformance.wire.vocabulary import Code, Flag
from tests.seeded import altered, scoped
from tests.seeded.fault import Fault, Patch, Wrapper, always, patched

RULE = "MEM-R025"
FILTER = "cognition_filter"
DIMENSIONS = dispatch.served_dimensions(load())
Predicate = Callable[[Doc, Any], bool]
UNFILTERED = Patch(filters, "by_cognition", lambda _original: lambda found, _wanted: list(found))


# -- what matches


def _each_by_another(_original: Any) -> Any:
    def meets(content: Doc, wanted: Doc) -> bool:
        entries = content.get("cognition", ())
        return all(any(filters.entry_meets(one, {name: value}) for one in entries) for name, value in wanted.items())

    return meets


def _any_predicate(_original: Any) -> Any:
    return lambda entry, wanted: any(filters.PREDICATES[name](entry, value) for name, value in wanted.items())


def _first_entry(original: Any) -> Any:
    return lambda content, wanted: original({**content, "cognition": content.get("cognition", [])[:1]}, wanted)


def _absent_matches(original: Any) -> Any:
    return lambda content, wanted: "cognition" not in content or original(content, wanted)


def _predicate(name: str, holds: Predicate) -> Patch:
    return Patch(filters.PREDICATES, name, lambda _original: holds)


def _recorded(entry: Doc) -> str:
    return str(entry["time"]["recorded_at"])


def _cut(text: str) -> tuple[str, str]:
    """Cut an instant to the millisecond."""
    seconds, digits = instant(text)
    return seconds, digits[:3].rstrip("0")


def _micros(text: str) -> tuple[str, str]:
    seconds, digits = instant(text)
    return seconds, digits[:6].rstrip("0")


def _nanos(text: str) -> tuple[str, str]:
    seconds, digits = instant(text)
    return seconds, digits[:9].rstrip("0")


def _by_claimant(entry: Doc, value: str) -> bool:
    return value in (entry["attribution"]["holder_id"], entry["attribution"].get("asserted_by"))


# -- when it is applied


def _after_the_cut(original: Any) -> Any:
    """Cut the page first, then filter what is on it; the total is right."""

    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        if FILTER not in request:
            return outcome
        with UNFILTERED.applied():
            whole: Outcome = original(turn, space, request)
        kept = filters.by_cognition(whole.members["records"], request[FILTER])
        total = outcome.members["total_authorized"]
        return outcome._replace(members={**whole.members, "records": kept, "total_authorized": total})

    return list_


def _counted_before(original: Any) -> Any:
    """Count before the filter is applied."""

    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        with UNFILTERED.applied():
            total = original(turn, space, request).members["total_authorized"]
        return outcome._replace(members={**outcome.members, "total_authorized": total})

    return list_


def _counted_hidden(original: Any) -> Any:
    """Apply a filter before authorisation: what matches elsewhere is counted."""

    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        if FILTER not in request:
            return outcome
        with Patch(authority, "holds", always(True)).applied():
            total = original(turn, space, request).members["total_authorized"]
        return outcome._replace(members={**outcome.members, "total_authorized": total})

    return list_


def _empty_for_the_denied(original: Any) -> Any:
    """Look for matches before rights: where nothing matches, nobody is refused."""

    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        if FILTER in request:
            with Patch(authority, "holds", always(True)).applied():
                free: Outcome = original(turn, space, request)
            if not free.members["total_authorized"]:
                return free
        outcome: Outcome = original(turn, space, request)
        return outcome

    return list_


def _budget_before(original: Any) -> Any:
    """Spend the budget on all records, then leave out what does not match."""

    def recall(turn: Turn, space: Space, request: Doc) -> Outcome:
        if FILTER not in request:
            outcome: Outcome = original(turn, space, request)
            return outcome
        with UNFILTERED.applied():
            whole: Outcome = original(turn, space, request)
        kept = filters.by_cognition(whole.members["records"], request[FILTER])
        with Patch(records, "filtered", lambda _original: lambda _found, _request: kept).applied():
            bounded = original(turn, space, request)
        return bounded._replace(members={**bounded.members, "truncated": whole.members["truncated"]})  # type: ignore[no-any-return]

    return recall


def _either_filter(_original: Any) -> Any:
    """Keep what meets the provenance filter or the cognition filter."""

    def filtered(found: Iterable[Doc], request: Doc) -> list[Doc]:
        found = list(found)
        sourced = filters.by_provenance(found, request.get("filter"))
        recorded = filters.by_cognition(found, request.get(FILTER))
        if "filter" not in request or FILTER not in request:
            return [one for one in sourced if one in recorded]
        return [one for one in found if one in sourced or one in recorded]

    return filtered


# -- what dispatch lets through


def _repairing(repair: Callable[[Operation, Doc], None]) -> Patch:
    """Let dispatch repair a request with a cognition filter before it looks at it; ``repair`` changes the payload in place."""

    def wrap(original: Any) -> Any:
        def refuse(bundle: Bundle, operation: Operation, payload: Any, *rest: Any) -> None:
            if isinstance(payload, dict) and isinstance(payload.get(FILTER), dict):
                repair(operation, payload)
            original(bundle, operation, payload, *rest)

        return refuse

    return Patch(dispatch, "refuse_unserved_filter", wrap)


def _drop_unknown(operation: Operation, payload: Doc) -> None:
    if operation.takes_cognition_filter:
        known = {name: value for name, value in payload[FILTER].items() if name in filters.PREDICATES}
        payload[FILTER] = known
        if not known:
            del payload[FILTER]


def _drop_unserved(operation: Operation, payload: Doc) -> None:
    dimension = payload[FILTER].get("dimension")
    if operation.takes_cognition_filter and isinstance(dimension, str) and dimension not in DIMENSIONS:
        del payload[FILTER]


def _drop_where_it_is_not_taken(stem: str) -> Callable[[Operation, Doc], None]:
    def drop(operation: Operation, payload: Doc) -> None:
        if operation.stem == stem:
            payload.pop(FILTER, None)

    return drop


def _drop_bad_bounds(_operation: Operation, payload: Doc) -> None:
    for name in ("recorded_after", "recorded_before"):
        try:
            instant(payload[FILTER].get(name, "2025-01-01T00:00:00Z"))
        except (ValueError, TypeError, AttributeError):
            del payload[FILTER][name]
    if not payload[FILTER]:
        del payload[FILTER]


def _drop_empty(_operation: Operation, payload: Doc) -> None:
    if not payload[FILTER]:
        del payload[FILTER]


def _lower_dimension(_operation: Operation, payload: Doc) -> None:
    if isinstance(payload[FILTER].get("dimension"), str):
        payload[FILTER]["dimension"] = payload[FILTER]["dimension"].strip().lower()


def _lenient_state(original: Any) -> Any:
    """Take whatever filter comes to reflections.state, and apply none that is malformed."""

    def refuse(bundle: Bundle, operation: Operation, payload: Any, *rest: Any) -> None:
        is_state = operation.stem == "reflections.state" and isinstance(payload, dict)
        if is_state and not bundle.request(operation.name).accepts(payload):
            payload.pop(FILTER, None)
        original(bundle, operation, payload, *rest)

    return refuse


def _unknown_filter_members(original: Any) -> Any:
    """Leave unknown members of a provenance filter and of a selection out of account."""
    known = {"filter": ("sources", "source_context_ids"), "selection": ("subject_id", "mode", "context_ids")}

    def refuse(bundle: Bundle, operation: Operation, payload: Any) -> None:
        if operation.takes_cognition_filter and isinstance(payload, dict):
            for member, names in known.items():
                if isinstance(payload.get(member), dict):
                    payload[member] = {name: value for name, value in payload[member].items() if name in names}
            if payload.get("filter") == {}:
                del payload["filter"]
        original(bundle, operation, payload)

    return refuse


def _unreasoned(original: Any) -> Any:
    def refuse(bundle: Bundle, operation: Operation, payload: Any, *rest: Any) -> None:
        try:
            original(bundle, operation, payload, *rest)
        except MemoryRejected as refusal:
            raise dispatch.rejection(bundle, Code.MALFORMED_REQUEST) from refusal

    return refuse


def _unknown_operation(_original: Any) -> Any:
    def gate(bundle: Bundle, operation: Operation, flags: frozenset[str], payload: Any) -> None:
        if dispatch.has_filter(operation, payload) and bundle.flag(Flag.COGNITION) not in flags:
            raise dispatch.rejection(bundle, Code.UNKNOWN_OPERATION)

    return gate


def _without_filter_everywhere(stem: str) -> Patch:
    return scoped.during(stem, UNFILTERED)


def _unpinned(original: Any) -> Any:
    """Make reflections that do not say under which cognition filter they were made."""

    def make(*given: Any) -> Doc:
        made: Mapping[str, Any] = original(*given)
        return {name: value for name, value in made.items() if name != FILTER}

    return make


def _unbound(_original: Any) -> Any:
    def bound_to(turn: Turn, request: Doc) -> list[Any]:
        return [turn.caller, turn.op.name, {name: value for name, value in request.items() if name not in ("page", FILTER)}]

    return bound_to


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md", **oracle: Any) -> Fault:
    return Fault(f"r025_{name}", RULE, sentence, patched(*patches, **oracle), source)


def _matching(name: str, sentence: str, wrap: Wrapper, *, source: str = "ours") -> Fault:
    return _fault(name, sentence, Patch(filters, "meets_cognition", wrap), source=source)


def _few_entries(original: Any) -> Any:
    def meets(content: Doc, wanted: Doc) -> bool:
        few = {**content, "cognition": content["cognition"][:3]} if "cognition" in content else content
        return bool(original(few, wanted))

    return meets


FAULTS: tuple[Fault, ...] = (
    _matching("each_by_another", "each predicate may be met by another entry", _each_by_another, source="rules.md"),
    _fault("after_page_cut", "the filter is applied to the page", altered.step("records.list", _after_the_cut)),
    _fault("counted_hidden", "matches that the caller does not cover are counted", altered.step("records.list", _counted_hidden)),
    _fault("unknown_predicate_ignored", "an unknown predicate is ignored", _repairing(_drop_unknown)),
    _fault("on_candidates_list", "candidates.list takes a cognition filter",
           _repairing(_drop_where_it_is_not_taken("candidates.list"))),
    _fault("without_flag", "the filter is served without its flag", Patch(dispatch, "gate_cognition", always(None))),
    _fault("f16_unserved_dimension_ignored", "a filter on a dimension that is not served lets all through",
           _repairing(_drop_unserved), source="F16"),
    _fault("f16_state_ignores", "reflections.state ignores a filter that it cannot read",
           Patch(dispatch, "refuse_unserved_filter", _lenient_state), source="F16"),
    _fault("f16_misspelt_filter_ignored", "unknown members of filter and selection are ignored",
           Patch(dispatch, "refuse_malformed", _unknown_filter_members), source="F16"),
    _fault("f16_empty_filter_taken", "an empty filter lets all through", _repairing(_drop_empty), source="F16"),
    _fault("f16_bad_bound_ignored", "a bound that is no instant is ignored", _repairing(_drop_bad_bounds), source="F16"),
    _fault("f28_milliseconds", "instants are compared by the millisecond",
           _predicate("recorded_after", lambda entry, value: _cut(_recorded(entry)) >= _cut(value)),
           _predicate("recorded_before", lambda entry, value: _cut(_recorded(entry)) < _cut(value)), source="F28"),
    _fault("f28_cut_on_one_side", "the entry's instant is cut to the millisecond, the bound is not",
           _predicate("recorded_after", lambda entry, value: _cut(_recorded(entry)) >= instant(value)), source="F28"),
    _fault("microseconds", "instants are compared by the microsecond",
           _predicate("recorded_before", lambda entry, value: _micros(_recorded(entry)) < _micros(value)), source="ours"),
    _fault("nanoseconds", "instants are compared by the nanosecond",
           _predicate("recorded_after", lambda entry, value: _nanos(_recorded(entry)) >= _nanos(value)),
           _predicate("recorded_before", lambda entry, value: _nanos(_recorded(entry)) < _nanos(value)), source="ours"),
    _fault("times_as_text", "instants are compared as texts",
           _predicate("recorded_after", lambda entry, value: _recorded(entry) >= value),
           _predicate("recorded_before", lambda entry, value: _recorded(entry) < value), source="ours"),
    _fault("after_exclusive", "recorded_after leaves out its own instant",
           _predicate("recorded_after", lambda entry, value: instant(_recorded(entry)) > instant(value)), source="ours"),
    _fault("before_inclusive", "recorded_before takes in its own instant",
           _predicate("recorded_before", lambda entry, value: instant(_recorded(entry)) <= instant(value)), source="ours"),
    _fault("occurred_counts", "the bounds look at when it occurred",
           _predicate("recorded_after", lambda entry, value: (
               instant(entry["time"].get("occurred_at", _recorded(entry))) >= instant(value))), source="ours"),
    _fault("claimant_is_holder", "who asserted counts as holder", _predicate("holder_id", _by_claimant), source="ours"),
    _fault("holder_folded", "holders are compared without case",
           _predicate("holder_id", lambda entry, value: entry["attribution"]["holder_id"].casefold() == value.casefold()),
           source="ours"),
    _fault("holder_prefix", "a holder that begins alike matches",
           _predicate("holder_id", lambda entry, value: entry["attribution"]["holder_id"].startswith(value)), source="ours"),
    _fault("any_predicate", "one predicate suffices", Patch(filters, "entry_meets", _any_predicate), source="ours"),
    _matching("first_entry", "only the first entry is looked at", _first_entry),
    _matching("absent_matches", "a record without cognition matches every filter", _absent_matches),
    _fault("counted_before", "total_authorized is counted before the filter",
           altered.step("records.list", _counted_before), source="ours"),
    _fault("denied_by_matches", "who has no right is refused only where something matches",
           altered.step("records.list", _empty_for_the_denied), source="ours"),
    _fault("budget_before", "recall spends its budget before the filter", altered.step("recall", _budget_before), source="ours"),
    _fault("either_filter", "provenance and cognition filter are combined by OR",
           Patch(records, "filtered", _either_filter), source="ours"),
    _fault("case_of_dimension", "a dimension is taken in any case", _repairing(_lower_dimension), source="ours"),
    _fault("on_profile_get", "profile.get takes a cognition filter",
           _repairing(_drop_where_it_is_not_taken("profile.get")), source="ours"),
    _fault("no_reason", "an unsupported filter is refused without its reason",
           Patch(dispatch, "refuse_unserved_filter", _unreasoned), source="ours"),
    _fault("unknown_without_flag", "without its flag the filter makes the operation an unknown one",
           Patch(dispatch, "gate_cognition", _unknown_operation), source="ours"),
    _fault("not_in_recall", "recall does not apply the filter", _without_filter_everywhere("recall"), source="ours"),
    _fault("not_in_state", "reflections.state does not apply the filter",
           _without_filter_everywhere("reflections.state"), source="ours"),
    _fault("not_in_generation", "generation does not apply the filter",
           _without_filter_everywhere("reflections.generate"), source="ours"),
    _fault("not_pinned", "a reflection does not say its cognition filter", Patch(reflections, "make", _unpinned), source="ours"),
    _fault("cursor_unbound", "a cursor works under another cognition filter",
           Patch(cursors, "bound_to", _unbound), source="ours"),
    _fault("announces_more", "a dimension is announced and not served",
           altered.answer("describe", lambda _turn, _space, members: {
               **members, "cognition_dimensions": ["belief", "desire", "emotion"]}),
           source="ours", choices=Choices(cognition_dimensions=("belief", "emotion"))),
    _fault("first_entries_only", "only the first three entries of a record are looked at",
           Patch(filters, "meets_cognition", _few_entries), source="ours"),
)  # fmt: skip
