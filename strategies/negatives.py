"""Requests that break exactly one keyword of their schema, and the complete list of what can be broken so.

``targets`` walks the request schemas: its length is the denominator of a coverage figure. ``breaking`` takes a valid request
that goes the target's way, edits one place, and proves with the validator what is wrong now: the named keyword at the named
place, and ``also`` whatever could not be avoided (a text where an enumeration wants one of its own breaks ``type`` and ``enum``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.bundle import Bundle
from conformance.wire.validation import pointer
from conformance.wire.vocabulary import Reason
from strategies.breakers import BREAKERS, Sample, Surroundings
from strategies.from_schema import from_schema
from strategies.places import Place, places, replaced, value_at
from strategies.proof import also_broken, cleanly_broken
from strategies.requests import NOTHING, settle
from strategies.routes import keeps_way, requests_on_way
from strategies.schema_walk import Site, sites

FILTER_MEMBER = "cognition_filter"

_TRIES = 4
"""How many valid requests to try for an edit that breaks one keyword alone: some requests drag a condition along."""


@dataclass(frozen=True, slots=True)
class Target:
    """A keyword of a request schema that an edit can break.

    ``pointer`` leads into the request, with ``*`` for any array item and any map value; ``schema_pointer`` through the
    evaluation, references left out. ``reason`` is what a refusal has to name, where the contract fixes that (section 6, check 4).
    """

    op: str
    pointer: str
    keyword: str
    schema_pointer: str
    reason: Reason | None
    site: Site = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.op} {self.pointer or '/'} {self.keyword}"


@dataclass(frozen=True, slots=True)
class Edit:
    """A broken request with the valid one that it was made of; ``also`` lists the other keywords that the edit breaks."""

    target: Target
    request: Any
    valid_base: dict[str, Any]
    also: tuple[str, ...]


@lru_cache(maxsize=8)
def targets(bundle: Bundle) -> tuple[Target, ...]:
    """Return every target of every operation's request schema, in the order of the operations and of their schemas."""
    return tuple(_target(bundle, op, site) for op in bundle.operations for site in sites(bundle, bundle.request_ref(op)))


def _target(bundle: Bundle, op: str, site: Site) -> Target:
    return Target(op, site.pointer, site.keyword, site.schema_pointer, _reason(bundle, op, site), site)


def _reason(bundle: Bundle, op: str, site: Site) -> Reason | None:
    """Name the reason of a refusal: an unknown member of a cognition filter, or a dimension (a text) that is not served."""
    if not bundle.operations[op].takes_cognition_filter:
        return None
    stranger = site.pointer == f"/{FILTER_MEMBER}" and site.keyword == "additionalProperties"
    unserved = site.pointer == f"/{FILTER_MEMBER}/dimension" and site.keyword == "enum"
    return Reason.UNSUPPORTED_COGNITION if stranger or unserved else None


def breaking(bundle: Bundle, target: Target, *, fixed: Mapping[str, Any] = NOTHING) -> SearchStrategy[Edit]:
    """Return edits that break ``target`` in valid requests; shrinks to the plainest request and the first way to break it.

    The members of ``fixed`` (strategies are drawn) stand in the request as given, but for the place that is broken and for
    those that the target's way excludes. Drawing raises CannotBuild where no valid request has the target's place.
    """
    return _edits(bundle, target, requests_on_way(bundle, target.op, target.site), fixed)


@st.composite
def _edits(draw: DrawFn, bundle: Bundle, target: Target, requests: SearchStrategy[Any], fixed: Mapping[str, Any]) -> Edit:
    settled = settle(draw, fixed)
    tried: list[_Attempt] = []
    for _ in range(_TRIES):
        base = _fixed(bundle, target, draw(requests), settled)
        tried.append(_attempt(draw, bundle, target, base))
        edit = _clean(bundle, target, tried[-1])
        if edit is not None:
            return edit
    edit = next((least for attempt in tried if (least := _least(bundle, target, attempt)) is not None), None)
    assume(edit is not None)
    assert edit is not None  # for the type checker: ``assume`` has raised
    return edit


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A valid request, a place of it, and broken values for that place in the order in which to try them."""

    base: dict[str, Any]
    place: Place
    values: Sequence[Any]


def _attempt(draw: DrawFn, bundle: Bundle, target: Target, base: dict[str, Any]) -> _Attempt:
    place = draw(st.sampled_from(places(base, target.site.spot.place)))
    broken = list(_broken(bundle, target, value_at(base, place), lambda ref: draw(from_schema(bundle, ref))))
    first = draw(st.integers(0, max(0, len(broken) - 1)))
    return _Attempt(base, place, [*broken[first:], *broken[:first]])


def _fixed(bundle: Bundle, target: Target, base: dict[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Put the members of ``fixed`` in place, one by one, as far as the request stays valid and on its way."""
    for name, value in fixed.items():
        candidate = {**base, name: value}
        if keeps_way(bundle, target.op, target.site, candidate):
            base = candidate
    return base


def edits_of(bundle: Bundle, target: Target, base: dict[str, Any], sample: Sample) -> Iterator[Edit]:
    """Give every clean edit of one valid request; none where it does not lead to the target or cannot be broken cleanly.

    ``sample`` gives a valid value for a reference of the bundle; a few keywords (a forbidden member) are broken with one.
    """
    for place in places(base, target.site.spot.place):
        for value in _broken(bundle, target, value_at(base, place), sample):
            edit = _clean(bundle, target, _Attempt(base, place, [value]))
            if edit is not None:
                yield edit


def _broken(bundle: Bundle, target: Target, value: Any, sample: Sample) -> Iterator[Any]:
    """Give broken values for the place where the target's keyword applies, which holds ``value``."""
    site = target.site
    around = Surroundings(site, _kin(bundle, target.op), sample)
    if site.spot.steps and site.spot.steps[-1].kind == "name":
        yield from _renamed(value, around)
    else:
        yield from BREAKERS[site.keyword](site.argument, value, around)


def _renamed(members: dict[str, Any], around: Surroundings) -> Iterator[Any]:
    """Give ``members`` with one name broken: what applies to names is broken by renaming a member."""
    for name in members:
        for broken in BREAKERS[around.site.keyword](around.site.argument, name, around):
            if broken not in members:
                yield {(broken if key == name else key): member for key, member in members.items()}


@lru_cache(maxsize=256)
def _kin(bundle: Bundle, op: str) -> Mapping[str, tuple[Site, ...]]:
    """Group the sites of a request by the place where they apply."""
    groups: dict[str, list[Site]] = {}
    for site in sites(bundle, bundle.request_ref(op)):
        groups.setdefault(pointer(site.spot.place), []).append(site)
    return {place: tuple(group) for place, group in groups.items()}


def _clean(bundle: Bundle, target: Target, attempt: _Attempt) -> Edit | None:
    """Return the first edit that breaks the target and nothing that could be avoided."""
    for value in attempt.values:
        request = replaced(attempt.base, attempt.place, value)
        also = cleanly_broken(bundle, target.op, target.site, request)
        if also is not None:
            return Edit(target, request, attempt.base, also)
    return None


def _least(bundle: Bundle, target: Target, attempt: _Attempt) -> Edit | None:
    """Return the edit that breaks the target and the fewest other keywords."""
    found: list[Edit] = []
    for value in attempt.values:
        request = replaced(attempt.base, attempt.place, value)
        also = also_broken(bundle, target.op, target.site, attempt.place, request)
        found += [] if also is None else [Edit(target, request, attempt.base, also)]
    return min(found, key=lambda edit: len(edit.also), default=None)
