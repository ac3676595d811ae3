"""The limits of a request: each length, count, number and instant of its schema at and just inside the limit.

``boundaries`` are the schema's, ``announced_limits`` those that a provider tells by ``memory.describe``: there the value just
outside is valid for the schema and refused by the operation (protocol.md section 7, Limits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.bundle import Bundle
from conformance.wire.validation import pointer
from strategies.content import content_of_bytes
from strategies.from_schema import from_schema
from strategies.places import places, replaced, value_at
from strategies.requests import NOTHING, settle
from strategies.routes import keeps_way, requests_on_way
from strategies.schema_walk import Site, sites
from strategies.timestamps import EDGES

SAFE_INTEGER = 2**53 - 1
"""The largest integer below which doubles have no gaps."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A limit of a request schema: ``pointer`` as in a negative target, ``limit`` the keyword's argument."""

    op: str
    pointer: str
    keyword: str
    limit: Any
    site: Site = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.op} {self.pointer or '/'} {self.keyword} {self.limit}"


Items = Callable[[int], list[Any]]
Values = Callable[[Any, Any, Items], Iterator[Any]]


def _lengths(limit: Any, value: Any, _items: Items) -> Iterator[Any]:
    size = int(limit)
    yield value[:size].ljust(size, "a")
    yield "\U0001f600" * size  # as many characters, but twice the UTF-16 units and four times the bytes
    yield "\u00e9" * size


def _max_length(limit: Any, value: Any, items: Items) -> Iterator[Any]:
    yield from _lengths(limit, value, items)
    yield from _lengths(limit - 1, value, items)


def _minimum(limit: Any, _value: Any, _items: Items) -> Iterator[Any]:
    yield from (limit, float(limit), limit + 1)  # 1.0 is an integer


def _maximum(limit: Any, _value: Any, _items: Items) -> Iterator[Any]:
    yield from (limit, float(limit), limit - 1)


def _exclusive_minimum(limit: Any, _value: Any, _items: Items) -> Iterator[Any]:
    yield from (limit + 1, limit + 0.5, limit + 1e-6)


def _exclusive_maximum(limit: Any, _value: Any, _items: Items) -> Iterator[Any]:
    yield from (limit - 1, limit - 0.5, limit - 1e-6)


def _counts(limit: Any, value: Any, items: Items) -> Iterator[Any]:
    size = int(limit)
    yield [*value[:size], *items(max(0, size - len(value)))]


def _max_items(limit: Any, value: Any, items: Items) -> Iterator[Any]:
    yield from _counts(limit, value, items)
    yield from _counts(limit - 1, value, items)


def _min_properties(limit: Any, value: Any, _items: Items) -> Iterator[Any]:
    names = list(value)
    for first in range(len(names)):
        chosen = (names[first:] + names[:first])[: int(limit)]
        yield {name: value[name] for name in chosen}


def _max_properties(limit: Any, value: Any, _items: Items) -> Iterator[Any]:
    yield {**{f"a{index}": None for index in range(int(limit) - len(value))}, **value}


def _largest(kind: Any, _value: Any, _items: Items) -> Iterator[Any]:
    if kind == "integer":
        yield SAFE_INTEGER


def _instants(name: Any, _value: Any, _items: Items) -> Iterator[Any]:
    if name == "date-time":
        yield from EDGES


AT_LIMIT: Mapping[str, Values] = {
    "minLength": _lengths,
    "maxLength": _max_length,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "minItems": _counts,
    "maxItems": _max_items,
    "minProperties": _min_properties,
    "maxProperties": _max_properties,
    "type": _largest,
    "format": _instants,
}
"""Keyword -> the values at and just inside its limit. ``type`` stands for the largest integer, ``format`` for the calendar."""


def _has_limit(site: Site) -> bool:
    if any(step.kind == "name" for step in site.spot.steps):
        return False  # a limit on names would be met by renaming; no schema of the family has one
    if site.keyword == "type":
        return bool(site.argument == "integer" and "maximum" not in site.beside)
    return site.keyword in AT_LIMIT and (site.keyword != "format" or site.argument == "date-time")


@lru_cache(maxsize=256)
def boundaries(bundle: Bundle, op: str) -> tuple[Boundary, ...]:
    """Return every limit of the request schema of ``op``. Raises KeyError for an unknown operation."""
    found = (site for site in sites(bundle, bundle.request_ref(op)) if _has_limit(site))
    return tuple(Boundary(op, site.pointer, site.keyword, site.argument, site) for site in found)


def at_limit(bundle: Bundle, boundary: Boundary, *, fixed: Mapping[str, Any] = NOTHING) -> SearchStrategy[dict[str, Any]]:
    """Return valid requests in which the value at the boundary is at its limit or just inside.

    Shrinks to the first value of ``AT_LIMIT`` in the plainest request. The members of ``fixed`` stand as given where they can.
    """
    return _at_limit(bundle, boundary, requests_on_way(bundle, boundary.op, boundary.site), fixed)


@st.composite
def _at_limit(
    draw: DrawFn, bundle: Bundle, boundary: Boundary, requests: SearchStrategy[Any], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    site, request = boundary.site, draw(requests)
    for name, value in settle(draw, fixed).items():
        candidate = {**request, name: value}
        request = candidate if keeps_way(bundle, boundary.op, site, candidate) else request
    place = draw(st.sampled_from(places(request, site.spot.place)))

    def items(count: int) -> list[Any]:
        return [draw(from_schema(bundle, site.spot.inside("items").ref)) for _ in range(count)]

    values = AT_LIMIT[boundary.keyword](boundary.limit, value_at(request, place), items)
    possible = [one for value in values if bundle.request(boundary.op).accepts(one := replaced(request, place, value))]
    assume(possible)
    chosen: dict[str, Any] = draw(st.sampled_from(possible))
    return chosen


# Announced limits ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnnouncedLimit:
    """A limit that ``memory.describe`` tells, at a place of a request: values at it and just inside, and one outside."""

    name: str
    op: str
    pointer: str
    limit: int
    inside: tuple[Any, ...]
    outside: tuple[Any, ...]


def _bytes_inside(limit: int) -> tuple[Any, ...]:
    return content_of_bytes(limit), content_of_bytes(limit, multibyte=True), content_of_bytes(limit - 1, multibyte=True)


def _bytes_outside(limit: int) -> tuple[Any, ...]:
    return content_of_bytes(limit + 1), content_of_bytes(limit + 1, multibyte=True)


def _number_inside(limit: int) -> tuple[Any, ...]:
    return limit, limit - 1


def _number_outside(limit: int) -> tuple[Any, ...]:
    return limit + 1, SAFE_INTEGER


def _fragments(count: int) -> list[Any]:
    return [{"kind": "note", "content": {"text": f"fragment {index}"}} for index in range(count)]


def _fragments_inside(limit: int) -> tuple[Any, ...]:
    return (_fragments(limit),)


def _fragments_outside(limit: int) -> tuple[Any, ...]:
    return (_fragments(limit + 1),)


Sizes = Callable[[int], tuple[Any, ...]]

ANNOUNCED: Mapping[str, tuple[Sequence[str], Sizes, Sizes]] = {
    "max_page": (("/page/limit",), _number_inside, _number_outside),
    "max_chunk_items": (("/max_items_per_chunk",), _number_inside, _number_outside),
    "max_fragments": (("/decision/fragments",), _fragments_inside, _fragments_outside),
}
"""Announced limit -> (where requests meet it, values inside, values outside). Contents are found by their schema."""

CONTENT_MODELS = ("ContentInput", "ProfileContent")
CONTENT_LIMIT = "max_content_bytes"


def content_pointers(bundle: Bundle, op: str) -> tuple[str, ...]:
    """Return the pointers at which a request of ``op`` carries content that is measured."""
    models = {bundle.model_ref(title) for title in CONTENT_MODELS}
    found = (pointer(site.spot.place) for site in sites(bundle, bundle.request_ref(op)) if site.spot.ref in models)
    return tuple(dict.fromkeys(found))


def announced_limits(bundle: Bundle, limits: Mapping[str, int]) -> tuple[AnnouncedLimit, ...]:
    """Return, for the ``limits`` of ``memory.describe``, every place of every request that one of them applies to."""
    return tuple(found for op in bundle.operations for found in _announced(bundle, op, limits))


def _announced(bundle: Bundle, op: str, limits: Mapping[str, int]) -> Iterator[AnnouncedLimit]:
    size = limits[CONTENT_LIMIT]
    for where in content_pointers(bundle, op):
        yield AnnouncedLimit(CONTENT_LIMIT, op, where, size, _bytes_inside(size), _bytes_outside(size))
    known = {pointer(site.spot.place) for site in sites(bundle, bundle.request_ref(op))}
    for name, (pointers, inside, outside) in ANNOUNCED.items():
        for where in pointers:
            if where in known:
                yield AnnouncedLimit(name, op, where, limits[name], inside(limits[name]), outside(limits[name]))
