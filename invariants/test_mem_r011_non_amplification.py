"""MEM-R011: no chain of grants gives a principal anything that the first issuer did not have.

Issuance is judged by the exact set of (capability, subject, placement, instant) that a grant authorises (``strategies.grants``):
inside one issuing grant it must be accepted, outside all of them refused, covered only by several together it may go either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.scenes import MANY
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Code, Reason
from conformance.world import World
from strategies.grants import GrantShape, grant_shapes, issuance, narrowings, widenings
from strategies.vocabulary import capabilities

ISSUE = "grants_issue"
SUBJECTS = ("u1", "U1", "u10")
CONTEXTS = ("c1", "C1", "c10")
CAPABILITIES = ("records_read", "recall", "records_write", "admin")
EXPIRIES = (
    "9000-01-31T12:00:00.5Z",
    "9000-01-31T12:00:00.50Z",
    "9000-01-31T12:00:00.5000001Z",
    "9000-01-31T12:00:00.4999999Z",
    "9000-01-31T12:00:00Z",
    "9000-01-31T02:00:00Z",
    "9000-02-01T01:00:00Z",
    "8999-12-31T23:59:59Z",
)
"""Ends far ahead, so close together or so spelt that texts, milliseconds or a local time put them in another order."""


def _issuing(shape: GrantShape) -> GrantShape:
    return replace(shape, capabilities=(*shape.capabilities, ISSUE))


def _issue(issuer: Caller, grantee: Caller, shape: GrantShape) -> str:
    """Issue a grant that must be accepted and return its id."""
    return made(issuer.do("grants.grant", grantee_id=grantee.principal_id, **shape.members()), "grant")


def _exceeds(issuer: Caller, grantee: Caller, shape: GrantShape) -> None:
    """Expect the refusal of a grant that goes beyond its issuer's own coverage."""
    members = {"grantee_id": grantee.principal_id, **shape.members()}
    issuer.refused("grants.grant", Code.NOT_AUTHORIZED, reason=Reason.GRANT_EXCEEDS_ISSUER, **members)


def _as_judged(issuer: Caller, grantee: Caller, shape: GrantShape, holds: Sequence[GrantShape]) -> bool:
    """Issue a grant, expect the answer that the effective issuing grants ``holds`` demand; say whether it was accepted."""
    answer = issuance(shape, holds)
    if answer == "accept":
        _issue(issuer, grantee, shape)
    elif answer == "refuse" and holds:
        _exceeds(issuer, grantee, shape)
    elif answer == "refuse":
        issuer.refused("grants.grant", Code.NOT_AUTHORIZED, grantee_id=grantee.principal_id, **shape.members())
    else:
        return _either(issuer, grantee, shape)
    return answer == "accept"


def _either(issuer: Caller, grantee: Caller, shape: GrantShape) -> bool:
    call = issuer.call("grants.grant", grantee_id=grantee.principal_id, **shape.members())
    reply = issuer.world.exchange(call)
    if not reply.ok:
        issuer.world.expect_refusal(call, reply, [Code.NOT_AUTHORIZED], reason=Reason.GRANT_EXCEEDS_ISSUER)
    return reply.ok


def _shape(grant: Mapping[str, Any]) -> GrantShape:
    """Return the shape that a MemoryGrant says."""
    names = [tuple(grant[member]) if member in grant else None for member in ("subject_ids", "context_ids")]
    return GrantShape(tuple(grant["capabilities"]), names[0], names[1], grant["shared_access"], grant.get("expires_at"))


def _meaning(shape: GrantShape) -> dict[str, Any]:
    """Return what a shape says as JSON, without order, repetition and spelling."""
    named = {name: sorted(set(value)) for name, value in shape.members().items() if isinstance(value, list)}
    end = None if shape.expires_at is None else list(instant(shape.expires_at))
    return {**named, "shared_access": shape.shared_access, "expires_at": end}


def _held(caller: Caller) -> list[GrantShape]:
    return [_shape(grant) for grant in caller.all("grants.list", view="own") if grant["state"] == "active"]


# -- one issuer


@st.composite
def _cases(draw: DrawFn) -> tuple[list[GrantShape], GrantShape]:
    """Draw an issuer's grants and a grant to issue: any, or one of them, or one of them narrower or wider in one dimension."""
    drawn = draw(st.lists(grant_shapes(SUBJECTS, CONTEXTS, capabilities=CAPABILITIES, expiries=EXPIRIES), min_size=1, max_size=3))
    own = [_issuing(shape) if draw(st.integers(0, 3)) else shape for shape in drawn]
    near = draw(st.sampled_from(own))
    child = draw(
        st.one_of(
            st.just(near),
            narrowings(near, subjects=SUBJECTS, contexts=CONTEXTS).map(lambda found: found[1]),
            widenings(near, subjects=SUBJECTS, contexts=CONTEXTS, capabilities=CAPABILITIES).map(lambda found: found[1]),
            grant_shapes(SUBJECTS, CONTEXTS, capabilities=(*CAPABILITIES, ISSUE), expiries=EXPIRIES),
        )
    )
    return own, child


@given(case=_cases())
def test_issuance_is_judged_point_by_point(bench: Bench, case: tuple[list[GrantShape], GrantShape]) -> None:
    """A grant inside one issuing grant is accepted; one that authorises a point that no issuing grant covers is refused."""
    own, child = case
    world = bench.world()
    issuer, grantee = world.stranger("issuer"), world.stranger("grantee")
    for shape in own:
        _issue(world.root, issuer, shape)
    before = world.snapshot()["grants"]
    accepted = _as_judged(issuer, grantee, child, [shape for shape in own if ISSUE in shape.capabilities])
    if accepted:
        held = [_meaning(shape) for shape in _held(grantee)]
        world.same([_meaning(child)], held, "another grant was issued than was asked for")
    else:
        world.same([], [_meaning(shape) for shape in _held(grantee)], "a refused grant is held all the same")
        world.same(before, world.snapshot()["grants"], "a refused grant changed the grants of the space")


EVERYTHING = GrantShape(("records_read", "recall", ISSUE), ("u1", "u2"), ("c1", "c2"), "read", EXPIRIES[0])
WIDER: Sequence[tuple[str, GrantShape]] = (
    ("a capability more", replace(EVERYTHING, capabilities=(*EVERYTHING.capabilities, "records_write"))),
    ("another capability", replace(EVERYTHING, capabilities=("admin",))),
    ("a subject more", replace(EVERYTHING, subject_ids=("u1", "u2", "u3"))),
    ("a look-alike subject", replace(EVERYTHING, subject_ids=("U1",))),
    ("the other list's name as a subject", replace(EVERYTHING, subject_ids=("c1",))),
    ("every subject", replace(EVERYTHING, subject_ids=None)),
    ("a context more", replace(EVERYTHING, context_ids=("c1", "c2", "c3"))),
    ("a look-alike context", replace(EVERYTHING, context_ids=("c1 ",))),
    ("the other list's name as a context", replace(EVERYTHING, context_ids=("u1",))),
    ("every context", replace(EVERYTHING, context_ids=None)),
    ("writing to the shared placement", replace(EVERYTHING, shared_access="write")),
    ("no end", replace(EVERYTHING, expires_at=None)),
    ("an end a second later", replace(EVERYTHING, expires_at="9000-01-31T12:00:01.5Z")),
    ("an end a tenth of a microsecond later", replace(EVERYTHING, expires_at=EXPIRIES[2])),
    ("a later end that sorts first as text", replace(EVERYTHING, expires_at="9000-01-31T12:00:00.500000000000001Z")),
)
NARROWER: Sequence[tuple[str, GrantShape]] = (
    ("the very same", EVERYTHING),
    ("the same in another order", replace(EVERYTHING, subject_ids=("u2", "u1"), context_ids=("c2", "c1", "c2"))),
    ("the same end spelt longer", replace(EVERYTHING, expires_at=EXPIRIES[1])),
    ("one capability", replace(EVERYTHING, capabilities=("recall",))),
    ("the right to issue alone", replace(EVERYTHING, capabilities=(ISSUE,))),
    ("one subject", replace(EVERYTHING, subject_ids=("u2",))),
    ("one context", replace(EVERYTHING, context_ids=("c2",))),
    ("no shared placement", replace(EVERYTHING, shared_access="none")),
    ("an earlier end", replace(EVERYTHING, expires_at=EXPIRIES[3])),
    ("an earlier end that sorts last as text", replace(EVERYTHING, expires_at="9000-01-31T12:00:00Z")),
)


def test_each_dimension_bounds_alone(bench: Bench) -> None:
    """A grant wider than its issuer's in a single dimension is refused, one narrower in it is accepted."""
    world = bench.world()
    issuer, grantee = world.stranger("issuer"), world.stranger("grantee")
    _issue(world.root, issuer, EVERYTHING)
    with world.unchanged():
        for _, wider in WIDER:
            _exceeds(issuer, grantee, wider)
            _exceeds(issuer, issuer, wider)
    for _, narrower in NARROWER:
        _issue(issuer, grantee, narrower)
    asked, seen = ([str(_meaning(shape)) for shape in shapes] for shapes in ([shape for _, shape in NARROWER], _held(grantee)))
    world.same_set(asked, seen, "other grants were issued than were asked for")


BOUNDED = GrantShape((ISSUE,), ("u1",), ("c1",), "read", EXPIRIES[0])
UNBOUNDED: Mapping[str, Any] = {"subject_ids": None, "context_ids": None, "shared_access": "write", "expires_at": None}
"""What is wider than ``BOUNDED`` in one dimension each."""


def test_every_capability_counts_in_every_dimension(bench: Bench) -> None:
    """Each capability is bounded by each dimension of its issuer's grant, whether or not it could take effect there."""
    world = bench.world()
    grantee = world.stranger("grantee")
    for capability in capabilities(world.bundle):
        issuer = world.stranger("issuer")
        _issue(world.root, issuer, replace(BOUNDED, capabilities=tuple({ISSUE: None, capability: None})))
        asked = replace(BOUNDED, capabilities=(capability,))
        with world.unchanged():
            for member, wider in UNBOUNDED.items():
                _exceeds(issuer, grantee, replace(asked, **{member: wider}))
        _issue(issuer, grantee, asked)


def test_an_unbounded_issuer_may_issue_everything(bench: Bench) -> None:
    """An issuer whose grant names no subject, context or end may issue any and none of them, and its every capability."""
    world = bench.world()
    grantee = world.stranger("grantee")
    every = GrantShape(("records_read", ISSUE, "admin"), shared_access="write")
    issuer = world.stranger("issuer")
    _issue(world.root, issuer, every)
    narrow = replace(every, context_ids=("nowhere",), expires_at=EXPIRIES[0])
    for shape in (every, replace(every, subject_ids=("nobody",)), narrow):
        _issue(issuer, grantee, shape)
    with world.unchanged():
        _exceeds(issuer, grantee, replace(every, capabilities=("recall",)))


# -- several grants of one issuer


def test_a_grant_that_does_not_issue_is_no_coverage(bench: Bench) -> None:
    """Only a grant that itself lists grants_issue is coverage for issuing, whatever else its holder may do (F09)."""
    world = bench.world()
    issuer, grantee = world.stranger("issuer"), world.stranger("grantee")
    narrow = GrantShape((ISSUE, "recall"), context_ids=("c1",))
    _issue(world.root, issuer, narrow)
    _issue(world.root, issuer, GrantShape(("records_read", "recall", "admin"), shared_access="read"))
    beyond = (
        GrantShape(("recall",), context_ids=("c2",)),
        GrantShape(("records_read",), context_ids=("c1",)),
        GrantShape(("recall",), context_ids=("c1",), shared_access="read"),
        GrantShape(("recall", ISSUE)),
        GrantShape(("admin",), context_ids=("c1",)),
    )
    with world.unchanged():
        for shape in beyond:
            _exceeds(issuer, grantee, shape)
    scope = world.scope("u1", "c2")
    selection = {"subject_id": scope["subject_id"], "mode": "contexts", "context_ids": [scope["context_id"]]}
    _issue(issuer, grantee, GrantShape(("recall",), context_ids=("c1",)))
    grantee.denied("recall", selection=selection, budget={"max_records": 1})
    issuer.do("recall", selection=selection, budget={"max_records": 1})


def test_dimensions_of_several_grants_do_not_multiply(bench: Bench) -> None:
    """What each issuing grant has in one dimension does not combine with what another has in another (F10)."""
    world = bench.world()
    issuer, grantee = world.stranger("issuer"), world.stranger("grantee")
    _issue(world.root, issuer, GrantShape((ISSUE, "records_read"), subject_ids=("u1",), context_ids=("c1",)))
    _issue(world.root, issuer, GrantShape((ISSUE, "records_write"), subject_ids=("u2",), shared_access="write"))
    crossed = (
        GrantShape(("records_read", "records_write"), subject_ids=("u1", "u2"), context_ids=("c1",)),
        GrantShape(("records_read",), subject_ids=("u2",), context_ids=("c1",)),
        GrantShape(("records_write",), subject_ids=("u1",), context_ids=("c1",)),
        GrantShape(("records_read",), subject_ids=("u1",), context_ids=("c2",)),
        GrantShape(("records_read",), subject_ids=("u1",), context_ids=("c1",), shared_access="read"),
    )
    with world.unchanged():
        for shape in crossed:
            _exceeds(issuer, grantee, shape)
    _issue(issuer, grantee, GrantShape(("records_read",), subject_ids=("u1",), context_ids=("c1",)))
    _issue(issuer, grantee, GrantShape(("records_write",), subject_ids=("u2",), shared_access="write"))


def test_who_may_not_issue_issues_nothing(bench: Bench) -> None:
    """A caller without an effective grant of grants_issue issues nothing, to nobody, whatever it has."""
    world = bench.world()
    holder, grantee = world.principal("recall", "admin", "records_read", shared_access="write"), world.stranger("grantee")
    for listed in (["recall"], ["admin"], [ISSUE]):
        for other in (grantee, holder):
            members: dict[str, Any] = {"grantee_id": other.principal_id, "capabilities": listed, "shared_access": "none"}
            with world.unchanged():
                holder.refused("grants.grant", Code.NOT_AUTHORIZED, **members)
    world.root.grant(holder, capabilities=[ISSUE, "recall"])
    holder.grant(grantee, capabilities=["recall"])


# -- chains


@dataclass(frozen=True)
class _Step:
    """One principal (by number) grants a shape to another."""

    issuer: int
    grantee: int
    shape: GrantShape


@st.composite
def _chains(draw: DrawFn) -> tuple[GrantShape, list[_Step]]:
    """Draw the first issuer's one grant and steps of delegation among four principals, each near that grant."""
    first = _issuing(draw(grant_shapes(SUBJECTS, CONTEXTS, capabilities=CAPABILITIES[:3], expiries=EXPIRIES)))
    near = st.one_of(
        st.just(first),
        narrowings(first, subjects=SUBJECTS, contexts=CONTEXTS).map(lambda found: found[1]),
        widenings(first, subjects=SUBJECTS, contexts=CONTEXTS, capabilities=CAPABILITIES).map(lambda found: found[1]),
    )
    steps = draw(st.lists(st.builds(_Step, st.integers(0, 2), st.integers(0, 3), near), min_size=2, max_size=7))
    return first, [*_opening(first), *steps]


def _opening(first: GrantShape) -> list[_Step]:
    """Begin with a narrower issuer, so that the chain is seldom empty."""
    return [_Step(0, 1, replace(first, shared_access="none"))]


def _delegate(callers: Sequence[Caller], steps: Sequence[_Step], held: list[list[GrantShape]]) -> None:
    for step in steps:
        own = held[step.issuer]
        issuer, grantee = callers[step.issuer], callers[step.grantee]
        if not own:
            members = {"grantee_id": grantee.principal_id, **step.shape.members()}
            issuer.refused("grants.grant", Code.NOT_AUTHORIZED, Code.NOT_FOUND, **members)
        elif _as_judged(issuer, grantee, step.shape, [shape for shape in own if ISSUE in shape.capabilities]):
            held[step.grantee].append(step.shape)


def _readable(world: World, caller: Caller) -> set[tuple[str, str | None]]:
    """Return every placement (subject, context) whose record the caller reads, however it asks for it."""
    found: set[tuple[str, str | None]] = set()
    for subject in SUBJECTS:
        selection = world.everything(subject)
        if caller.send("records.list", selection=selection).ok:
            scopes = [record["scope"] for record in caller.all("records.list", selection=selection)]
            found |= {(scope["subject_id"], scope.get("context_id")) for scope in scopes}
    return found


@given(chain=_chains())
def test_no_chain_amplifies(bench: Bench, chain: tuple[GrantShape, list[_Step]]) -> None:
    """However grants are passed on, by whom and in whatever order, nobody holds or reads more than the first issuer did."""
    first, steps = chain
    world = bench.world()
    callers = [world.stranger(f"p{number}") for number in range(4)]
    _issue(world.root, callers[0], first)
    held = [[first], [], [], []]
    for subject in SUBJECTS:
        for context in (*CONTEXTS, None):
            world.root.create(scope=world.scope(subject, context))
    _delegate(callers, steps, held)
    readable = _readable(world, callers[0])
    for caller, shapes in zip(callers[1:], held[1:], strict=True):
        beyond = [_meaning(shape) for shape in _held(caller) if issuance(shape, [first]) != "accept"]
        world.same([], beyond, "a chain of grants gave more than its first issuer had")
        issued, kept = ([str(_meaning(shape)) for shape in listed] for listed in (shapes, _held(caller)))
        world.same_set(issued, kept, "other grants are held than were issued")
        more = _readable(world, caller) - readable
        world.expect(not more, "a chain of grants reads what its first issuer does not", seen=sorted(map(str, more)))


def test_each_of_many_names_is_compared(bench: Bench) -> None:
    """However many names a grant has, one too many exceeds its issuer wherever it stands, and exactly the issuer's do not."""
    world = bench.world()
    names = tuple(world.name(f"n{number}") for number in range(MANY))
    others = (*names[:-1], world.name("other"))
    issuer, grantee = world.stranger("issuer"), world.stranger("grantee")
    own = GrantShape(("recall", ISSUE), names, names, "none")
    world.root.grant(issuer, **own.members())
    too_many = replace(own, subject_ids=(*names, others[-1]))
    first, last = others[::-1], others
    for wide in (*(replace(own, subject_ids=wide, context_ids=names) for wide in (first, last)), too_many):
        _exceeds(issuer, grantee, wide)
    for wide in (replace(own, context_ids=wide) for wide in (first, last)):
        _exceeds(issuer, grantee, wide)
    few = replace(own, subject_ids=names[-1:] * 2, context_ids=names[-1:])
    for within in (own, replace(own, subject_ids=names[::-1]), few):
        _issue(issuer, grantee, within)
