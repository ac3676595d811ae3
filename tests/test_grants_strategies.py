"""Grant shapes against a brute-force reading of protocol.md section 5 over small worlds."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.wire.bundle import instant, load
from strategies import grants, vocabulary
from strategies.grants import GrantShape
from tests.sampling import CALM, plainest, reached

BUNDLE = load()
SUBJECTS = ("a", "A", "b")
CONTEXTS = ("c", "C")
EXPIRIES = ("2000-01-01T00:00:00.5Z", "2000-01-01T00:00:00.50Z", "2000-01-01T00:00:00.5000001Z", "2001-01-01T00:00:00Z")
CAPABILITIES = ("records_read", "records_write", "grants_issue")
UNNAMED = "nobody listed me"


def shapes() -> SearchStrategy[GrantShape]:
    return grants.grant_shapes(SUBJECTS, CONTEXTS, capabilities=CAPABILITIES, expiries=EXPIRIES)


def points(shape: GrantShape) -> set[tuple[str, str, tuple[str, str], str]]:
    """List every (capability, subject, placement, instant) of the small world that ``shape`` authorises, one name unlisted."""
    placements = [("context", name) for name in (*CONTEXTS, UNNAMED)] + [("shared", degree) for degree in ("read", "write")]
    instants = ("1999-01-01T00:00:00Z", "2000-01-01T00:00:00.5Z", "2000-06-01T00:00:00Z", "2002-01-01T00:00:00Z")
    return {
        (capability, subject, (where, name), at)
        for capability, subject, (where, name), at in product(CAPABILITIES, (*SUBJECTS, UNNAMED), placements, instants)
        if grants.covers(
            shape,
            capability,
            subject,
            name if where == "context" else None,
            access=("write" if name == "write" else "read"),
            at=at,
        )
    }


def test_the_vocabulary_is_the_bundle_s() -> None:
    assert vocabulary.shared_accesses() == grants.DEGREES
    assert set(CAPABILITIES) <= set(vocabulary.capabilities())


@CALM
@given(grants.grant_shapes(SUBJECTS, CONTEXTS, expiries=EXPIRIES))
def test_a_shape_s_members_make_a_valid_request(shape: GrantShape) -> None:
    request = {"space_id": "s", "idempotency_key": "k", "grantee_id": "p", **shape.members()}
    assert BUNDLE.request("memory.grants.grant").accepts(request)


def test_the_plainest_shape_is_one_capability_on_everything() -> None:
    assert plainest(shapes()) == GrantShape(("records_read",))


@CALM
@given(shapes(), shapes())
def test_within_is_inclusion_in_every_dimension(child: GrantShape, parent: GrantShape) -> None:
    # every listed capability counts with the shared access, and every shape here has some context, so points show all dimensions
    if grants.within(child, parent):
        assert points(child) <= points(parent)
    elif _same_expiry_class(child, parent):
        assert not points(child) <= points(parent)


def _same_expiry_class(child: GrantShape, parent: GrantShape) -> bool:
    """Leave out pairs that differ within the instants that ``points`` looks at."""
    return child.expires_at is None or (parent.expires_at is not None and instant(child.expires_at) == instant(parent.expires_at))


@CALM
@given(shapes(), st.lists(shapes(), max_size=3))
def test_issuance_is_refused_exactly_where_a_point_is_uncovered(child: GrantShape, issuers: list[GrantShape]) -> None:
    answer = grants.issuance(child, issuers)
    single = any(grants.within(child, issuer) for issuer in issuers)
    assert (answer == "accept") == single
    if answer != "refuse":
        assert points(child) <= set().union(*(points(issuer) for issuer in issuers))


def test_issuance_across_two_grants_is_refused_point_by_point_or_left_open() -> None:
    reads_a = GrantShape(("records_read",), ("a",), ("c",))
    writes_b = GrantShape(("records_write",), ("b",), ("c",))
    reads_b = GrantShape(("records_read",), ("b",), ("c",))
    cross = GrantShape(("records_read", "records_write"), ("a", "b"), ("c",))
    both = GrantShape(("records_read",), ("a", "b"), ("c",))
    assert grants.issuance(cross, [reads_a, writes_b]) == "refuse"
    assert grants.issuance(both, [reads_a, reads_b]) == "either"
    assert grants.issuance(reads_a, [reads_a, writes_b]) == "accept"
    assert grants.issuance(reads_a, []) == "refuse"


def test_a_list_left_out_is_more_than_all_names_that_issuers_list() -> None:
    child = GrantShape(("records_read",), None, ("c",))
    named = GrantShape(("records_read",), SUBJECTS, ("c",))
    assert grants.issuance(child, [named]) == "refuse"


def test_an_issuer_that_ends_earlier_covers_nothing_of_a_later_child() -> None:
    ends = GrantShape(("records_read",), None, ("c",), expires_at=EXPIRIES[0])
    longer = GrantShape(("records_read",), ("a",), ("c",), expires_at=EXPIRIES[2])
    equal = GrantShape(("records_read",), ("a",), ("c",), expires_at=EXPIRIES[1])
    unlimited = GrantShape(("records_read",), ("a",), ("c",))
    assert [grants.issuance(child, [ends]) for child in (longer, equal, unlimited)] == ["refuse", "accept", "refuse"]


@CALM
@given(st.data(), shapes())
def test_a_narrowing_lies_within_and_changes_one_dimension(data: st.DataObject, shape: GrantShape) -> None:
    dimension, narrower = data.draw(grants.narrowings(shape, subjects=SUBJECTS, contexts=CONTEXTS))
    assert grants.within(narrower, shape)
    assert not grants.within(shape, narrower)
    assert _changed(shape, narrower) == {_MEMBER[dimension]}


@CALM
@given(st.data(), shapes())
def test_a_widening_lies_outside_and_changes_one_dimension(data: st.DataObject, shape: GrantShape) -> None:
    dimension, wider = data.draw(grants.widenings(shape, subjects=SUBJECTS, contexts=CONTEXTS))
    assert not grants.within(wider, shape)
    assert grants.within(shape, wider)
    assert grants.issuance(wider, [shape]) == "refuse"
    assert _changed(shape, wider) == {_MEMBER[dimension]}


_MEMBER = {
    "capabilities": "capabilities",
    "subjects": "subject_ids",
    "absent_subjects": "subject_ids",
    "contexts": "context_ids",
    "absent_contexts": "context_ids",
    "shared_access": "shared_access",
    "expiry": "expires_at",
}


def _changed(before: GrantShape, after: GrantShape) -> set[str]:
    return {name for name in _MEMBER.values() if getattr(before, name) != getattr(after, name)}


@pytest.mark.parametrize("dimension", _MEMBER)
def test_every_dimension_of_widening_is_reached(dimension: str) -> None:
    narrow = GrantShape(("records_read",), ("a",), ("c",), "none", EXPIRIES[0])
    name, _ = reached(grants.widenings(narrow), lambda drawn: drawn[0] == dimension)
    assert name == dimension


def test_look_alikes_of_listed_names_are_among_the_widenings() -> None:
    narrow = GrantShape(("records_read",), ("ann",), None)
    _, wider = reached(grants.widenings(narrow), lambda drawn: drawn[1].subject_ids == ("ann", "Ann"))
    assert not grants.covers(narrow, "records_read", "Ann", "c", access="read")
    assert grants.covers(wider, "records_read", "Ann", "c", access="read")


def test_shared_access_has_degrees_and_says_nothing_of_contexts() -> None:
    reads = GrantShape(("records_read",), None, ("c",), "read")
    assert grants.covers(reads, "records_read", "a", None, access="read")
    assert not grants.covers(reads, "records_read", "a", None, access="write")
    assert grants.covers(reads, "records_read", "a", "c", access="write")
    assert not grants.covers(reads, "records_read", "a", "C", access="read")


def test_space_level_needs_take_a_grant_without_names() -> None:
    assert grants.covers(GrantShape(("admin",)), "admin", None, None, access="")
    assert not grants.covers(GrantShape(("admin",), ("a",)), "admin", None, None, access="")
    assert not grants.covers(GrantShape(("admin",), None, ("c",)), "admin", None, None, access="")
    assert grants.covers(GrantShape(("profile_read",), ("a",), ("c",)), "profile_read", "a", None, access="")


def test_at_its_expiry_a_grant_authorises_nothing() -> None:
    ends = GrantShape(("recall",), expires_at=EXPIRIES[0])
    assert not grants.covers(ends, "recall", "a", "c", access="read", at=EXPIRIES[1])
    assert grants.covers(ends, "recall", "a", "c", access="read", at="2000-01-01T00:00:00.4999999Z")
