"""MEM-R011, time: no grant gives its holder an instant more than its issuer had, compared as instants (field bug F24)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.bench import Bench
from conformance.caller import Caller
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Code, Reason
from conformance.world import World
from strategies.timestamps import just_after, shifted

END = "9000-01-31T12:00:00.5Z"
ISSUING = ["grants_issue", "recall"]


def _until(end: str | None) -> dict[str, str]:
    return {} if end is None else {"expires_at": end}


def _later(issuer: Caller, grantee: Caller, end: str | None) -> None:
    """Expect the refusal of a grant that ends later than its issuer's."""
    members: dict[str, Any] = {"grantee_id": grantee.principal_id, "capabilities": ["recall"], "shared_access": "none"}
    members |= _until(end)
    issuer.refused("grants.grant", Code.NOT_AUTHORIZED, reason=Reason.GRANT_EXCEEDS_ISSUER, **members)


def _chain(world: World, *ends: str | None) -> list[Caller]:
    """Return principals each of whom got an issuing grant, until its end, from the one before; the first from root."""
    callers = [world.root]
    for number, end in enumerate(ends):
        callers.append(world.stranger(f"p{number}"))
        callers[-2].grant(callers[-1], capabilities=ISSUING, **_until(end))
    return callers[1:]


LATER: Sequence[str | None] = (
    None,
    "9000-01-31T12:00:01.5Z",
    "9000-01-31T12:00:00.5000001Z",
    "9000-01-31T12:00:00.500000000001Z",
    "9000-01-31T12:00:00.500000000000000000000000000001Z",
    "9000-01-31T12:00:00.51Z",
    "9000-01-31T12:00:01Z",
    "9000-02-01T00:00:00Z",
    "9999-12-31T23:59:59.9Z",
)
NOT_LATER: Sequence[str] = (
    END,
    "9000-01-31T12:00:00.50Z",
    "9000-01-31T12:00:00.500000000Z",
    "9000-01-31T12:00:00.4999999Z",
    "9000-01-31T12:00:00.499999999999999999999999999999Z",
    "9000-01-31T12:00:00Z",
    "9000-01-31T11:59:59.9Z",
    "8999-12-31T23:59:59.9Z",
)


def test_no_grant_outlives_its_issuers(bench: Bench) -> None:
    """A grant without an end, or with a later one, is refused to an issuer whose own grant ends; the same or earlier is not."""
    world = bench.world()
    issuer = _chain(world, END)[0]
    grantee = world.stranger("grantee")
    with world.unchanged():
        for end in LATER:
            _later(issuer, grantee, end)
    for number, end in enumerate(NOT_LATER):
        issuer.grant(grantee, capabilities=["recall"], context_ids=[str(number)], **_until(end))
    held = [grant for grant in grantee.all("grants.list", view="own") if grant["state"] == "active"]
    ends = {grant["context_ids"][0]: grant["expires_at"] for grant in held}
    for number, end in enumerate(NOT_LATER):
        world.same(list(instant(end)), list(instant(ends[str(number)])), "a grant ends at another instant than was asked for")


FRACTIONS = st.text("0159", max_size=8)


def _end(seconds: int, fraction: str) -> str:
    return f"9000-01-31T12:00:0{seconds}{'.' if fraction else ''}{fraction}Z"


@given(issuers=st.builds(_end, st.integers(0, 2), FRACTIONS), asked=st.builds(_end, st.integers(0, 2), FRACTIONS))
def test_ends_are_compared_as_instants(bench: Bench, issuers: str, asked: str) -> None:
    """Whether a grant ends later than its issuer's is judged between instants, with every digit of their fractions."""
    world = bench.world()
    issuer = _chain(world, issuers)[0]
    grantee = world.stranger("grantee")
    _later(issuer, grantee, just_after(issuers))
    if instant(asked) <= instant(issuers):
        issuer.grant(grantee, capabilities=["recall"], expires_at=asked)
    else:
        _later(issuer, grantee, asked)


def test_the_earliest_end_of_a_chain_holds(bench: Bench) -> None:
    """In a chain of issuers the one that ends first bounds all after it, though others before it end later."""
    world = bench.world()
    middle = shifted(END, -1)
    *_, second, third = _chain(world, None, END, middle, middle)
    grantee = world.stranger("grantee")
    for issuer in (second, third):
        with world.unchanged():
            for end in (None, END, just_after(middle), "9000-01-31T12:00:00Z"):
                _later(issuer, grantee, end)
        issuer.grant(grantee, capabilities=["recall"], expires_at=middle)


def test_of_several_grants_each_bounds_what_is_issued_under_it(bench: Bench) -> None:
    """An end of one issuing grant is no end of what another one covers, and the later end of one does not lengthen another."""
    world = bench.world()
    issuer, grantee = world.stranger("issuer"), world.stranger("grantee")
    world.root.grant(issuer, capabilities=ISSUING, context_ids=["c1"], expires_at=END)
    world.root.grant(issuer, capabilities=ISSUING, context_ids=["c2"])
    world.root.grant(issuer, capabilities=["recall"])
    common: dict[str, Any] = {"grantee_id": grantee.principal_id, "capabilities": ["recall"], "shared_access": "none"}
    late: Sequence[dict[str, Any]] = ({"expires_at": just_after(END)}, {}, {"context_ids": ["c1", "c2"]})
    for members in ({"context_ids": ["c1"], **end} for end in late):
        call = issuer.call("grants.grant", **common, **members)
        with world.unchanged():
            issuer.must_refuse(call, Code.NOT_AUTHORIZED, reason=Reason.GRANT_EXCEEDS_ISSUER)
    issuer.grant(grantee, capabilities=["recall"], context_ids=["c1"], expires_at=END)
    issuer.grant(grantee, capabilities=["recall"], context_ids=["c2"])


def _now(world: World) -> str:
    """Return the provider's present: the time of a receipt that it makes now."""
    now: str = world.root.do("subjects.ensure", subject_id=world.name("u1"))["created_at"]
    return now


@pytest.mark.parametrize("beside", [True, False], ids=["beside a narrower one", "alone"])
def test_an_expired_grant_issues_nothing(bench: Bench, beside: bool) -> None:
    """From its end on an issuing grant is no coverage: its holder issues only what another effective one covers."""
    world = bench.world()
    issuer, grantee = world.stranger("issuer"), world.stranger("grantee")
    # Without a clock control the end must come soon, too soon to count on a call before it.
    seconds = 3600 if bench.levers.has("clock") else 2
    end = shifted(_now(world), seconds)
    world.root.grant(issuer, capabilities=ISSUING, expires_at=end)
    world.root.grant(issuer, capabilities=[*ISSUING] if beside else ["recall"], context_ids=["c1"])
    if bench.levers.has("clock"):
        issuer.grant(grantee, capabilities=["recall"], expires_at=end)
    bench.levers.advance(seconds + 1)
    members: dict[str, Any] = {"grantee_id": grantee.principal_id, "capabilities": ["recall"], "shared_access": "none"}
    for wide in ({"context_ids": ["c2"]}, {}, {"expires_at": shifted(end, 3600)}):
        with world.unchanged():
            issuer.must_refuse(issuer.call("grants.grant", **members, **wide), Code.NOT_AUTHORIZED)
    call = issuer.call("grants.grant", **members, context_ids=["c1"])
    if beside:
        issuer.accepted(call)
    else:
        issuer.must_refuse(call, Code.NOT_AUTHORIZED)
