"""Boundaries: every limit of every request schema is met by valid requests, and the announced limits on both sides."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.wire.bundle import Bundle, is_timestamp, load
from conformance.wire.canonical import content_bytes
from strategies.boundaries import (
    AT_LIMIT,
    SAFE_INTEGER,
    Boundary,
    announced_limits,
    at_limit,
    boundaries,
    content_pointers,
)
from strategies.places import places, value_at
from tests.other_bundle import OTHER_OP, other_bundle_in
from tests.sampling import plainest, some

BUNDLE = load()
LIMITS = {"max_content_bytes": 1024, "max_page": 3, "max_fragments": 2, "max_chunk_items": 2}


def sizes(value: Any, keyword: str) -> Any:
    """Say what the limit of a keyword is about: a number, a length in code points, a count."""
    return len(value) if keyword.endswith(("Length", "Items", "Properties")) else value


@pytest.mark.parametrize("op", BUNDLE.operations)
def test_every_limit_is_met_by_valid_requests(op: str) -> None:
    for boundary in boundaries(BUNDLE, op):
        requests = some(at_limit(BUNDLE, boundary), 3)
        assert requests, boundary
        assert all(BUNDLE.request(op).accepts(request) for request in requests)
        assert any(_near(boundary, request) for request in requests), (boundary, requests)


def _near(boundary: Boundary, request: Any) -> bool:
    found = [sizes(value_at(request, place), boundary.keyword) for place in places(request, boundary.site.spot.place)]
    if boundary.keyword == "format":
        return any(is_timestamp(value) for value in found)
    if boundary.keyword == "type":
        return SAFE_INTEGER in found
    return any(abs(value - boundary.limit) <= 1 for value in found)


def test_every_limiting_keyword_of_the_requests_has_boundaries() -> None:
    kinds = {boundary.keyword for op in BUNDLE.operations for boundary in boundaries(BUNDLE, op)}
    assert {"minLength", "maxLength", "minimum", "minItems", "minProperties", "type", "format"} <= kinds <= set(AT_LIMIT)


@pytest.fixture(scope="module")
def other_bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return other_bundle_in(tmp_path_factory.mktemp("bundle"))


def test_every_limit_of_draft_07_is_met(other_bundle: Bundle) -> None:
    found = boundaries(other_bundle, OTHER_OP)
    assert {boundary.keyword for boundary in found} == set(AT_LIMIT)
    for boundary in found:
        requests = some(at_limit(other_bundle, boundary), 4)
        assert requests, str(boundary)
        assert all(other_bundle.request(OTHER_OP).accepts(request) for request in requests)
        assert any(_near(boundary, request) for request in requests), (str(boundary), requests)


def boundary_of(op: str, pointer: str, keyword: str) -> Boundary:
    return next(one for one in boundaries(BUNDLE, op) if (one.pointer, one.keyword) == (pointer, keyword))


def test_a_length_is_met_in_characters_of_one_and_of_four_bytes() -> None:
    limit = at_limit(BUNDLE, boundary_of("memory.subjects.get", "/subject_id", "maxLength"))
    drawn = {request["subject_id"] for request in some(limit, 60)}
    assert {len(one) for one in drawn} == {127, 128}
    assert {len(one.encode()) for one in drawn} >= {127, 128, 4 * 128}
    assert len(plainest(limit)["subject_id"]) == 128


def test_an_integer_is_met_as_a_double_too() -> None:
    limit = at_limit(BUNDLE, boundary_of("memory.records.delete", "/expected_revision", "minimum"))
    drawn = [request["expected_revision"] for request in some(limit, 40)]
    assert {type(one) for one in drawn} == {int, float}
    assert set(drawn) == {1, 2}


def test_fixed_members_stand_as_given() -> None:
    limit = at_limit(BUNDLE, boundary_of("memory.records.delete", "/record_id", "maxLength"), fixed={"space_id": "the space"})
    assert {request["space_id"] for request in some(limit, 10)} == {"the space"}


# Announced limits ---------------------------------------------------------------------------------------------------------


def test_content_is_found_wherever_a_request_carries_it() -> None:
    carriers = {op: content_pointers(BUNDLE, op) for op in BUNDLE.operations if content_pointers(BUNDLE, op)}
    assert carriers == {
        "memory.capture": ("/content",),
        "memory.candidates.review": ("/decision/content_override", "/decision/fragments/*/content"),
        "memory.records.create": ("/content",),
        "memory.records.update": ("/content",),
        "memory.profile.update": ("/content",),
    }


def test_every_paged_request_meets_the_largest_page() -> None:
    paged = {limit.op for limit in announced_limits(BUNDLE, LIMITS) if limit.name == "max_page"}
    assert paged == {op for op, row in BUNDLE.operations.items() if row.lists is not None}


def test_announced_limits_are_met_to_the_byte_and_overstepped_by_one() -> None:
    limits = announced_limits(BUNDLE, LIMITS)
    assert {limit.name for limit in limits} == set(LIMITS)
    for limit in limits:
        inside = [_measure(limit.name, value) for value in limit.inside]
        outside = [_measure(limit.name, value) for value in limit.outside]
        assert max(inside) == limit.limit
        assert min(inside) >= limit.limit - 1
        assert min(outside) == limit.limit + 1


def _measure(name: str, value: Any) -> int:
    if name == "max_content_bytes":
        return content_bytes(value)
    return len(value) if isinstance(value, list) else int(value)
