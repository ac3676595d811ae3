"""Faults that MEM-R022 (selection and paging) must catch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance import dispatch
from conformance.oracle import Choices, authority, candidates, cursors, filters, grants, pages, records, selection, spaces
from conformance.oracle.refusals import Refusal
from conformance.oracle.selection import Mode
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.bundle import Bundle, Operation
from conformance.wire.vocabulary import Code
from tests.seeded import altered, scoped
from tests.seeded.fault import Fault, Patch, Patched, Provider, Wrapper, always, patched

RULE = "MEM-R022"
LASTING = Choices(cursor_dies_at_any_change=False)
"""Cursors that die where they must and nowhere else: what such a fault forgets is not made good by another change."""


# -- selection and filters


def _either(_original: Any) -> Any:
    """Take a record that meets one member of a provenance filter."""

    def meets(provenance: Doc, wanted: Doc) -> bool:
        by_source = "sources" in wanted and filters.from_source(provenance, wanted)
        return by_source or ("source_context_ids" in wanted and filters.from_context(provenance, wanted))

    return meets


def _selected_or_filtered(original: Any) -> Any:
    """List what is selected and, where there is a filter, what meets it elsewhere of the subject."""

    def in_selection(turn: Turn, space: Space, request: Doc, needs: Any) -> list[Doc]:
        found: list[Doc] = original(turn, space, request, needs)
        if "filter" not in request:
            return found
        everything = {"subject_id": request["selection"]["subject_id"], "mode": "all_authorized"}
        return list(original(turn, space, {**request, "selection": everything}, needs))

    return in_selection


def _by_placement(_original: Any) -> Any:
    """Look for the source context where a record lies."""

    def by_provenance(found: Sequence[Doc], wanted: Doc | None) -> list[Doc]:
        placed = [{**one["provenance"], "source_context_id": one["scope"].get("context_id")} for one in found]
        return [one for one, at in zip(found, placed, strict=True) if wanted is None or filters.meets_provenance(at, wanted)]

    return by_provenance


def _prefix(_original: Any) -> Any:
    """Take a source context that begins alike."""

    def from_context(provenance: Doc, wanted: Doc) -> bool:
        source = provenance.get("source_context_id", "")
        named = wanted.get("source_context_ids")
        return named is None or any(source.startswith(one) for one in named)

    return from_context


def _none_is_any(original: Any) -> Any:
    """Take a record without source context for one of every."""
    return lambda provenance, wanted: "source_context_id" not in provenance or original(provenance, wanted)


def _folded(original: Any) -> Any:
    """Compare selected contexts without case."""

    def is_named(wanted: Doc, scope: Doc) -> bool:
        named = [name.casefold() for name in wanted.get("context_ids", ())]
        folded = {**scope, "context_id": scope["context_id"].casefold()} if "context_id" in scope else scope
        return bool(original({**wanted, "context_ids": named}, folded))

    return is_named


def _every_subject(original: Any) -> Any:
    """Select over all subjects where the mode names no placement."""

    def in_selection(turn: Turn, space: Space, request: Doc, needs: Any) -> list[Doc]:
        wanted = request["selection"]
        subjects = [one["subject_id"] for one in space.subjects.all()] if wanted["mode"] == "all_authorized" else []
        found: list[Doc] = []
        for subject_id in subjects or [wanted["subject_id"]]:
            found += original(turn, space, {**request, "selection": {**wanted, "subject_id": subject_id}}, needs)
        return found

    return in_selection


def _narrowing(original: Any) -> Any:
    """Leave out the named placements that the caller does not cover instead of refusing the request."""

    def authorise(turn: Turn, wanted: Doc, needs: Any) -> None:
        original(turn, {"subject_id": wanted["subject_id"], "mode": "all_authorized"}, needs)

    return authorise


def _unstated(original: Any) -> Any:
    """List only pending candidates where no states are named."""
    return lambda candidate, request: original(candidate, {"states": ["pending"], **request})


def _unrepeated(listed: Callable[[Any], Sequence[Any]]) -> Any:
    """Take a list in a request, which may name a thing twice, for a set that may not."""

    def wrap(original: Any) -> Any:
        def refuse_malformed(bundle: Bundle, operation: Operation, payload: Any) -> None:
            original(bundle, operation, payload)
            if len(set(listed(payload))) < len(listed(payload)):
                raise dispatch.rejection(bundle, Code.MALFORMED_REQUEST)

        return refuse_malformed

    return Patch(dispatch, "refuse_malformed", wrap)


# -- counts and pages


def _page_total(_turn: Turn, _space: Space, members: Doc) -> Doc:
    return {**members, "total_authorized": len(members["records"])}


def _unfiltered_total(original: Any) -> Any:
    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        bare = {name: value for name, value in request.items() if name not in ("filter", "page")}
        total = original(turn, space, bare).members["total_authorized"]
        return outcome._replace(members={**outcome.members, "total_authorized": total})

    return list_


def _shifted(by: int) -> Patch:
    """Go on after a page that many items too far, or too near."""

    def wrap(original: Any) -> Any:
        def start(turn: Turn, request: Doc, mark: Any, page: Doc) -> int:
            first: int = original(turn, request, mark, page)
            return max(0, first + by) if "cursor" in page else first

        return start

    return Patch(pages, "start", wrap)


def _paged(cut: Callable[[Sequence[Doc], int, int], tuple[int, bool]]) -> Patch:
    """Page in another way: ``cut`` gives where the page begins and whether more follows."""

    def wrap(_original: Any) -> Any:
        def reply(turn: Turn, request: Doc, items: Sequence[Doc], mark: Any) -> dict[str, Any]:
            page = request.get("page", {})
            size = pages.limit(turn, page)
            first, more = cut(items, pages.start(turn, request, mark, page), size)
            members: dict[str, Any] = {str(turn.op.lists): list(items[first : first + size])}
            if more:
                members["next_cursor"] = cursors.token(turn, request, mark, first + size)
            return members

        return reply

    return Patch(pages, "reply", wrap)


def _by_instant(items: Sequence[Doc], first: int, size: int) -> tuple[int, bool]:
    """Go on after the instant of the last item."""
    while 0 < first < len(items) and items[first].get("created_at") == items[first - 1].get("created_at"):
        first += 1
    return first, first + size < len(items)


def _announced(items: Sequence[Doc], first: int, size: int) -> tuple[int, bool]:
    """Name a further page whenever this one is full."""
    return first, bool(items) and first + size <= len(items)


def _never_ending(items: Sequence[Doc], first: int, size: int) -> tuple[int, bool]:
    """Give the last page again and again, each time with a cursor for a further one."""
    return min(first, max(0, len(items) - size)), bool(items)


def _clamped(original: Any) -> Any:
    """Take the largest page for one that is larger."""

    def limit(turn: Turn, page: Doc) -> int:
        most = turn.choices.limits.max_page
        return int(original(turn, {**page, "limit": min(page["limit"], most)} if "limit" in page else page))

    return limit


def _fixed_limit() -> Provider:
    """Make a provider that refuses another limit along a chain."""
    limits: dict[str, int] = {}

    def wrap(original: Any) -> Any:
        def reply(turn: Turn, request: Doc, items: Sequence[Doc], mark: Any) -> dict[str, Any]:
            page = request.get("page", {})
            size = pages.limit(turn, page)
            if limits.get(page.get("cursor", ""), size) != size:
                raise Refusal(Code.CURSOR_INVALID)
            members: dict[str, Any] = original(turn, request, items, mark)
            limits[members.get("next_cursor", "")] = size
            limits.pop("", None)
            return members

        return reply

    return Patched([Patch(pages, "reply", wrap)])


# -- cursors


def _unbound(*names: str) -> Wrapper:
    """Bind a cursor to less: ``caller``, ``op``, or members of the request."""

    def wrap(_original: Any) -> Any:
        def bound_to(turn: Turn, request: Doc) -> list[Any]:
            kept = {name: value for name, value in request.items() if name not in ("page", *names)}
            return ["" if "caller" in names else turn.caller, "" if "op" in names else turn.op.name, kept]

        return bound_to

    return wrap


def _spaces_unmarked(_original: Any) -> Any:
    """List spaces with cursors that see the caller's grants alone."""

    def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
        seen = spaces.visible(turn)
        items = pages.arranged(turn, [spaces.document(one) for one in seen])
        mark = [cursors.own_grants(cursors.own_of(turn, one)) for one in seen]
        return Outcome(space, pages.reply(turn, request, items, mark))

    return list_


def _single_use() -> Provider:
    """Make a provider whose cursors are good for one page each."""
    used: set[str] = set()

    def wrap(original: Any) -> Any:
        def position(turn: Turn, request: Doc, mark: Any, cursor: str) -> int:
            if cursor in used:
                raise Refusal(Code.CURSOR_INVALID)
            found: int = original(turn, request, mark, cursor)
            used.add(cursor)
            return found

        return position

    return Patched([Patch(cursors, "position", wrap)])


def _readable(_original: Any) -> Any:
    """Take any number for a cursor."""

    def position(_turn: Turn, _request: Doc, _mark: Any, cursor: str) -> int:
        digits = cursor.partition(".")[0]
        if not digits.isdigit():
            raise Refusal(Code.CURSOR_INVALID)
        return int(digits)

    return position


def _less_marked(see: Callable[[list[Doc]], Any]) -> Wrapper:
    """Let a cursor see less of what it lists."""
    return lambda original: lambda turn, space, listed, *rest: [
        *original(turn, space, list, *rest), see(list(listed()))
    ]  # fmt: skip


def _filtered_mark(original: Any) -> Any:
    """Bind a cursor to the items that its request's filter lets through."""

    def passing(listed: Any) -> list[Doc]:
        return [one for one in listed() if one.get("provenance", {}).get("source_context_id") == "here"]

    def mark(turn: Turn, space: Space, listed: Any, *rest: Any) -> Any:
        return original(turn, space, lambda: passing(listed), *rest)

    return mark


def _unexpired_mark(original: Any) -> Any:
    """See a caller's active grants, expired or not."""

    def mark(turn: Turn, space: Space, listed: Any, *rest: Any) -> Any:
        active = [grant for grant in space.grants.of(turn.caller) if authority.is_active(grant)]
        return original(turn, space, listed, *(rest or [active]))

    return mark


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md", **oracle: Any) -> Fault:
    return Fault(f"r022_{name}", RULE, sentence, patched(*patches, **oracle), source)


def _lasting(name: str, sentence: str, *patches: Patch, source: str = "ours") -> Fault:
    return _fault(name, sentence, *patches, source=source, choices=LASTING)


FAULTS: tuple[Fault, ...] = (
    _fault("or_within_filter", "one member of a provenance filter suffices", Patch(filters, "meets_provenance", _either)),
    _fault("selected_or_filtered", "a filter finds records outside the selection",
           Patch(records, "in_selection", _selected_or_filtered)),
    _fault("filter_by_placement", "the provenance filter looks at placement", Patch(filters, "by_provenance", _by_placement)),
    _fault("total_of_page", "total_authorized is the page's", altered.answer("records.list", _page_total)),
    _fault("item_lost_at_edge", "a page begins one item too late", _shifted(1)),
    _fault("item_doubled_at_edge", "a page begins one item too early", _shifted(-1)),
    _fault("cursor_of_another_caller", "a cursor works for another caller", Patch(cursors, "bound_to", _unbound("caller")),
           Patch(cursors, "own_grants", always([]))),
    _lasting("cursor_survives_revocation", "a cursor survives a revocation",
             Patch(cursors, "own_grants", always([])), source="rules.md"),
    _fault("f08_paged_by_instant", "pages are cut by creation time alone", _paged(_by_instant), source="F08"),
    _fault("prefix_source", "a source context that begins alike passes the filter",
           Patch(filters, "from_context", _prefix), source="ours"),
    _fault("no_source_is_any", "a record without source context passes every filter",
           Patch(filters, "from_context", _none_is_any), source="ours"),
    _fault("contexts_folded", "selected contexts match without case", Patch(selection, "is_named", _folded), source="ours"),
    _fault("shared_left_out", "contexts_and_shared leaves out the shared placement",
           Patch(selection.MODES, "contexts_and_shared", lambda _original: Mode(True, False)), source="ours"),
    _fault("contexts_with_shared", "contexts selects the shared placement too",
           Patch(selection.MODES, "contexts", lambda _original: Mode(True, True)), source="ours"),
    _fault("every_subject", "all_authorized is of every subject", Patch(records, "in_selection", _every_subject), source="ours"),
    _fault("named_narrows", "a named placement that is not covered is left out silently",
           scoped.during("records.list", Patch(selection, "authorise", _narrowing)), source="ours"),
    _fault("total_before_filter", "total_authorized is counted before the filter",
           altered.step("records.list", _unfiltered_total), source="ours"),
    _fault("chain_never_ends", "the last page names a next one, which is the last page", _paged(_never_ending), source="ours"),
    _fault("empty_last_page", "a full last page names a next one", _paged(_announced), source="ours"),
    _fault("limit_clamped", "a limit above max_page is taken for max_page", Patch(pages, "limit", _clamped), source="ours"),
    Fault("r022_fixed_limit", RULE, "the limit may not change along a chain", _fixed_limit, "ours"),
    _fault("cursor_of_another_request", "a cursor works under another filter",
           Patch(cursors, "bound_to", _unbound("filter", "states")), source="ours"),
    _fault("cursor_of_other_extensions", "a cursor works under other extensions",
           Patch(cursors, "bound_to", _unbound("extensions")), source="ours"),
    _fault("cursor_of_another_operation", "a cursor works in another operation",
           Patch(cursors, "bound_to", _unbound("op")), source="ours"),
    _fault("any_number_is_a_cursor", "a cursor is a number that anybody can make up",
           Patch(cursors, "position", _readable), source="ours"),
    Fault("r022_single_use_cursor", RULE, "reading a page ends the cursor", _single_use, "ours"),
    _lasting("cursor_survives_freeze", "a cursor survives a freeze",
             Patch(cursors, "space_mark", lambda _original: lambda space: space.facts.get("authority_generation"))),
    Fault("r022_cursor_of_spaces_survives_freeze", RULE, "a cursor of spaces survives a freeze of one",
          patched(altered.step("spaces.list", _spaces_unmarked), choices=LASTING), "ours"),
    _lasting("cursor_survives_activation", "a cursor survives an activation of the same items",
             Patch(cursors, "space_mark", lambda _original: lambda space: space.facts.get("state"))),
    _lasting("cursor_survives_update", "a cursor survives an update of what it lists",
             Patch(cursors, "mark", _less_marked(lambda items: [one.get("record_id") for one in items]))),
    _lasting("cursor_survives_deletion", "a cursor survives a change of how many it lists",
             Patch(cursors, "mark", _less_marked(lambda items: [one.get("revision") for one in items][:1]))),
    _lasting("cursor_sees_filtered_only", "a cursor survives a change of what its filter leaves out",
             Patch(cursors, "mark", _filtered_mark)),
    _lasting("cursor_survives_gain", "a cursor survives a grant that its caller gains",
             Patch(cursors, "own_grants", lambda original: lambda grants: original(grants)[:1])),
    _lasting("cursor_survives_expiry", "a cursor sees grants by their revision alone",
             Patch(cursors, "mark", _unexpired_mark)),
    _fault("pending_by_default", "candidates.list without states lists pending ones",
           Patch(candidates, "in_states", _unstated), source="ours"),
    _fault("revoked_left_out", "grants.list leaves revoked grants out",
           altered.answer("grants.list", lambda _turn, _space, members: {
               **members, "grants": [one for one in members["grants"] if one["state"] == grants.ACTIVE]}), source="ours"),
    _fault("context_named_twice_refused", "a selection that names a context twice is refused",
           _unrepeated(lambda payload: payload.get("selection", {}).get("context_ids", ())), source="ours"),
    _fault("source_named_twice_refused", "a filter that names a source or a source context twice is refused",
           _unrepeated(lambda payload: [
               name for names in payload.get("filter", {}).values() for name in names]), source="ours"),
    _fault("state_named_twice_refused", "candidates.list with a state named twice is refused",
           _unrepeated(lambda payload: payload.get("states", ())), source="ours"),
)  # fmt: skip
