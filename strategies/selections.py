"""What a read is about: selections, provenance filters, budgets, placements (protocol.md sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from strategies.identifiers import ids
from strategies.vocabulary import record_sources

NAMING_MODES = ("contexts", "contexts_and_shared")
"""The modes of a selection that name contexts."""

BARE_MODES = ("all_authorized", "shared")
"""The modes of a selection that name none; the first asks for no placement in particular."""


def scopes(subject: str, contexts: Sequence[str] = ()) -> SearchStrategy[dict[str, Any]]:
    """Return placements of ``subject``: the shared one first, then one in each context."""
    shared: dict[str, Any] = {"subject_id": subject}
    return st.sampled_from([shared, *({**shared, "context_id": context} for context in contexts)]).map(dict)


def _names(pool: Sequence[str]) -> SearchStrategy[list[str]]:
    """Return non-empty lists of the pool's names, without a name twice."""
    return st.lists(st.sampled_from(pool), min_size=1, max_size=min(len(pool), 4), unique=True)


def selections(subject: str, contexts: Sequence[str] = ()) -> SearchStrategy[dict[str, Any]]:
    """Return selections over ``subject`` in every mode; shrinks to ``all_authorized``. Without contexts no mode names any."""
    bare = st.fixed_dictionaries({"subject_id": st.just(subject), "mode": st.sampled_from(BARE_MODES)})
    if not contexts:
        return bare
    members = {"subject_id": st.just(subject), "mode": st.sampled_from(NAMING_MODES), "context_ids": _names(contexts)}
    return bare | st.fixed_dictionaries(members)


def selects(selection: dict[str, Any], scope: dict[str, Any]) -> bool:
    """Tell whether ``selection`` means the placement ``scope``, authorisation apart (protocol.md section 3, ReadSelection)."""
    if scope["subject_id"] != selection["subject_id"]:
        return False
    mode, context = selection["mode"], scope.get("context_id")
    if mode == "all_authorized":
        return True
    if context is None:
        return mode in ("shared", "contexts_and_shared")
    return context in selection.get("context_ids", ())


def provenance_filters(contexts: Sequence[str] = ()) -> SearchStrategy[dict[str, Any]]:
    """Return provenance filters; with ``contexts`` they name those as sources, else any id. One member at least."""
    sources = st.lists(st.sampled_from(record_sources()), min_size=1, max_size=2, unique=True)
    named = _names(contexts) if contexts else st.lists(ids(), min_size=1, max_size=3, unique=True)
    return st.one_of(
        st.fixed_dictionaries({"sources": sources}),
        st.fixed_dictionaries({"source_context_ids": named}),
        st.fixed_dictionaries({"sources": sources, "source_context_ids": named}),
    )


def passes(provenance: dict[str, Any], provenance_filter: dict[str, Any]) -> bool:
    """Tell whether a record's ``provenance`` satisfies every member of the filter; a missing source context satisfies none."""
    wanted_sources = provenance_filter.get("sources")
    wanted_contexts = provenance_filter.get("source_context_ids")
    if wanted_sources is not None and provenance["source"] not in wanted_sources:
        return False
    return wanted_contexts is None or provenance.get("source_context_id") in wanted_contexts


def byte_edges(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the byte budgets at which something changes for records of these sizes: each size and partial sum, and one off."""
    ordered = (sizes, sorted(sizes), sorted(sizes, reverse=True))
    sums = {*sizes, *(total for order in ordered for total in accumulate(order))}
    return tuple(sorted({max(1, total + off) for total in sums for off in (-1, 0, 1)} | {1}))


def budgets(sizes: Sequence[int]) -> SearchStrategy[dict[str, int]]:
    """Return recall budgets for eligible records of these content bytes: near their count and sums; one member at least."""
    counts = st.sampled_from(sorted({1, *(max(1, len(sizes) + off) for off in (-1, 0, 1))}))
    edges = st.sampled_from(byte_edges(sizes))
    return st.one_of(
        st.fixed_dictionaries({"max_records": counts}),
        st.fixed_dictionaries({"max_bytes": edges}),
        st.fixed_dictionaries({"max_records": counts, "max_bytes": edges}),
    )
