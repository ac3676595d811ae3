"""Cognition records and the filters over them: hits, misses, split conjunctions, broken ones (protocol.md section 3).

``matches`` and ``record_matches`` are the contract's sentence as pure functions: a record matches when at least ONE of its
entries satisfies EVERY member given. The strategies that promise a hit or a miss are tested against them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.bundle import instant
from strategies.identifiers import LOOK_ALIKES, ids
from strategies.json_values import texts
from strategies.timestamps import INVALID_TIMESTAMPS, just_after, respelled, shifted, timestamps
from strategies.vocabulary import basis_kinds, dimensions

Entry = dict[str, Any]
Filter = dict[str, Any]
Fault = Literal["unsupported", "malformed"]

VIEW = "recorded_at"


@cache
def cognition_records() -> SearchStrategy[Entry]:
    """Return valid cognition records; shrinks to the first dimension, holder ``a``, no references, the plainest instant."""
    return st.fixed_dictionaries(
        {
            "view": st.just(VIEW),
            "dimension": st.sampled_from(dimensions()),
            "value": texts().map(lambda text: text or "a"),
            "attribution": st.fixed_dictionaries({"holder_id": ids()}, optional={"asserted_by": ids()}),
            "basis": st.fixed_dictionaries({"kind": st.sampled_from(basis_kinds()), "refs": st.lists(ids(), max_size=3)}),
            "time": st.fixed_dictionaries({"recorded_at": timestamps()}, optional={"occurred_at": timestamps()}),
        }
    )


_PREDICATES: Mapping[str, Callable[[Mapping[str, Any], Any], bool]] = {
    "dimension": lambda entry, wanted: bool(entry["dimension"] == wanted),
    "holder_id": lambda entry, wanted: bool(entry["attribution"]["holder_id"] == wanted),
    "basis_kind": lambda entry, wanted: bool(entry["basis"]["kind"] == wanted),
    "recorded_after": lambda entry, bound: instant(entry["time"]["recorded_at"]) >= instant(bound),
    "recorded_before": lambda entry, bound: instant(entry["time"]["recorded_at"]) < instant(bound),
}


def matches(entry: Mapping[str, Any], cognition_filter: Mapping[str, Any]) -> bool:
    """Tell whether one entry satisfies every member of the filter: after is inclusive, before exclusive."""
    return all(_PREDICATES[name](entry, wanted) for name, wanted in cognition_filter.items())


def record_matches(content: Mapping[str, Any], cognition_filter: Mapping[str, Any]) -> bool:
    """Tell whether at least one cognition entry of ``content`` satisfies the whole filter; absent and ``[]`` never do."""
    return any(matches(entry, cognition_filter) for entry in content.get("cognition", ()))


# Filters ------------------------------------------------------------------------------------------------------------------


@cache
def filters() -> SearchStrategy[Filter]:
    """Return valid cognition filters of one to five members; shrinks to the first dimension alone."""
    members: dict[str, SearchStrategy[Any]] = {
        "dimension": st.sampled_from(dimensions()),
        "holder_id": ids(),
        "basis_kind": st.sampled_from(basis_kinds()),
        "recorded_after": timestamps(),
        "recorded_before": timestamps(),
    }
    return _chosen(members)


@st.composite
def _chosen(draw: DrawFn, members: Mapping[str, SearchStrategy[Any]], *, always: str | None = None) -> Filter:
    """Draw one or more of ``members``, ``always`` among them, in the table's order."""
    sure = always or draw(st.sampled_from(sorted(members, key=list(members).index)))
    wanted = {sure} | {name for name in members if name != sure and draw(st.booleans())}
    return {name: draw(strategy) for name, strategy in members.items() if name in wanted}


def _hits(entry: Mapping[str, Any]) -> dict[str, SearchStrategy[Any]]:
    """Give for every predicate the values that ``entry`` satisfies, its own bounds among them."""
    recorded_at = str(entry["time"]["recorded_at"])
    return {
        "dimension": st.just(entry["dimension"]),
        "holder_id": st.just(entry["attribution"]["holder_id"]),
        "basis_kind": st.just(entry["basis"]["kind"]),
        "recorded_after": st.one_of(respelled(recorded_at), st.integers(1, 10**6).map(lambda s: shifted(recorded_at, -s))),
        "recorded_before": st.one_of(st.just(just_after(recorded_at)), _later(recorded_at)),
    }


def _later(timestamp: str) -> SearchStrategy[str]:
    """Return later instants; at the end of the calendar only the one that follows at once is left."""
    return st.integers(1, 10**6).map(lambda seconds: max(shifted(timestamp, seconds), just_after(timestamp), key=instant))


def _earlier(timestamp: str) -> SearchStrategy[str]:
    """Return instants that are not later: the very same one where the calendar has no earlier."""
    return st.integers(1, 10**6).map(lambda seconds: min(shifted(timestamp, -seconds), timestamp, key=instant))


def _others(name: str) -> tuple[str, ...]:
    """Give ids that careless code takes for ``name``, or any other id."""
    family = next((family for family in LOOK_ALIKES if name in family), ("a", "A", "b"))
    return tuple(other for other in family if other != name)


def _misses(entry: Mapping[str, Any]) -> dict[str, SearchStrategy[Any]]:
    """Give for every predicate the values that ``entry`` does not satisfy, close ones first."""
    recorded_at = str(entry["time"]["recorded_at"])
    return {
        "dimension": st.sampled_from([one for one in dimensions() if one != entry["dimension"]]),
        "holder_id": st.sampled_from(_others(entry["attribution"]["holder_id"])),
        "basis_kind": st.sampled_from([one for one in basis_kinds() if one != entry["basis"]["kind"]]),
        "recorded_after": st.one_of(st.just(just_after(recorded_at)), _later(recorded_at)),
        "recorded_before": st.one_of(respelled(recorded_at), _earlier(recorded_at)),
    }


def filter_hitting(entry: Mapping[str, Any]) -> SearchStrategy[Filter]:
    """Return filters that ``entry`` satisfies in every member; the bounds of time come as close as the contract allows."""
    return _chosen(_hits(entry))


@st.composite
def filter_missing(draw: DrawFn, entry: Mapping[str, Any]) -> Filter:
    """Return filters that ``entry`` fails in exactly one member and satisfies in all others."""
    hits, misses = _hits(entry), _misses(entry)
    missed = draw(st.sampled_from(list(misses)))
    return draw(_chosen({**hits, missed: misses[missed]}, always=missed))


def _joined(entry: Entry, other: Entry) -> list[tuple[str, Any]]:
    """List the predicates, as (name, value), that ``entry`` satisfies and ``other`` does not."""
    candidates = {
        "dimension": entry["dimension"],
        "holder_id": entry["attribution"]["holder_id"],
        "basis_kind": entry["basis"]["kind"],
        "recorded_after": entry["time"]["recorded_at"],
        "recorded_before": just_after(entry["time"]["recorded_at"]),
    }
    return [(name, value) for name, value in candidates.items() if not _PREDICATES[name](other, value)]


@st.composite
def split_conjunction(draw: DrawFn) -> tuple[list[Entry], Filter]:
    """Return (entries, filter): each member of the filter is satisfied by some entry, the whole of it by none."""
    first = draw(cognition_records())
    dimension = draw(st.sampled_from([one for one in dimensions() if one != first["dimension"]]))
    holder = draw(st.sampled_from(_others(first["attribution"]["holder_id"])))
    second = {**draw(cognition_records()), "dimension": dimension}
    second["attribution"] = {**second["attribution"], "holder_id": holder}
    left, right = draw(st.permutations([first, second]))
    name, value = draw(st.sampled_from(_joined(left, right)))
    rest = [pair for pair in _joined(right, left) if pair[0] != name]
    other, other_value = draw(st.sampled_from(rest))
    return [first, second], {name: value, other: other_value}


# Broken filters -----------------------------------------------------------------------------------------------------------

_UNKNOWN_MEMBERS = ("holder", "Dimension", "dimensions", "value", "view", "text", "or", "__proto__", "", "dimension ")
_UNSERVED: tuple[str, ...] = ("hope", "Belief", "belief ", "beliefs", "", "*", "belief|desire")

_MALFORMED: tuple[tuple[str, Any], ...] = (
    ("no_member", {}),
    ("null", None),
    ("array", []),
    ("text", "belief"),
    ("boolean", True),
    ("number_for_dimension", {"dimension": 5}),
    ("null_for_dimension", {"dimension": None}),
    ("array_for_dimension", {"dimension": ["belief"]}),
    ("empty_holder", {"holder_id": ""}),
    ("long_holder", {"holder_id": "a" * 129}),
    ("number_for_holder", {"holder_id": 1}),
    ("unknown_basis", {"basis_kind": "guessed"}),
    ("number_for_basis", {"basis_kind": 0}),
    ("number_for_bound", {"recorded_after": 1735689600}),
    ("null_for_bound", {"recorded_before": None}),
)


def _unsupported() -> SearchStrategy[tuple[str, Any, Fault]]:
    unknown = st.builds(
        lambda base, name, value: ("unknown_member", {**base, name: value}, "unsupported"),
        filters(),
        st.sampled_from(_UNKNOWN_MEMBERS),
        st.sampled_from(("belief", 1, None, [])),
    )
    alone = st.sampled_from(_UNKNOWN_MEMBERS).map(lambda name: ("unknown_member_alone", {name: "belief"}, "unsupported"))
    unserved = st.builds(
        lambda base, dimension: ("unserved_dimension", {**base, "dimension": dimension}, "unsupported"),
        filters(),
        st.sampled_from(_UNSERVED),
    )
    return st.one_of(alone, unknown, unserved)


def _malformed() -> SearchStrategy[tuple[str, Any, Fault]]:
    bounds = st.builds(
        lambda name, text: ("bad_bound", {name: text}, "malformed"),
        st.sampled_from(("recorded_after", "recorded_before")),
        st.sampled_from(INVALID_TIMESTAMPS),
    )
    return st.one_of(st.sampled_from([(label, bad, "malformed") for label, bad in _MALFORMED]), bounds)


@cache
def broken_filters() -> SearchStrategy[tuple[str, Any, Fault]]:
    """Return (label, value of the cognition filter member, fault), broken in exactly one way (protocol.md section 6, check 4).

    ``unsupported``: an unknown member or a dimension, given as text, that is not served; the refusal names the reason.
    ``malformed``: anything else that the schema refuses; what the filter is made of is right otherwise.
    """
    return st.one_of(_unsupported(), _malformed())
