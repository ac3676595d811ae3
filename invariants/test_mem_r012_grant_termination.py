"""MEM-R012: revocation acts at once and for ever, in every operation, issuance included; nothing brings the old grant back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.exchange import Call
from conformance.wire.bundle import Operation
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.vocabulary import capabilities

Members = dict[str, Any]


def _rows(bench: Bench, world: World) -> Sequence[Operation]:
    """Return the operations that need a grant."""
    return bench.rows([row for row in scenes.served(world) if row.needs])


def _requests(bench: Bench, world: World) -> list[tuple[Operation, Members]]:
    """Return a plain request of every operation that needs a grant."""
    return [(row, scenes.request_in_peace(world, row.stem)) for row in _rows(bench, world)]


def _own(caller: Caller) -> dict[str, Mapping[str, Any]]:
    return {grant["grant_id"]: grant for grant in caller.all("grants.list", view="own")}


def _gone(world: World, caller: Caller, requests: Sequence[tuple[Operation, Members]]) -> None:
    """Expect a caller whose grants have all ended to find no space, in any operation."""
    for row, members in requests:
        codes = (Code.NOT_FOUND, Code.NOT_AUTHORIZED) if row.needs[0].on == "issuer" else (Code.NOT_FOUND,)
        caller.refused(row.stem, *codes, **members)
    listed = [space["space_id"] for space in caller.all("spaces.list")]
    world.expect(world.space_id not in listed, "a space is listed to a caller whose grants have ended", seen=listed)


def _warm(caller: Caller, requests: Sequence[tuple[Operation, Members]]) -> None:
    """Let a caller do every read three times, so that what a provider keeps of its decisions is kept (F11)."""
    for row, members in requests:
        for _ in range(0 if row.mutation else 3):
            caller.do(row.stem, **members)


def _holder(world: World, bench: Bench, **members: Any) -> tuple[Caller, str]:
    """Return a principal with one grant of everything, and the grant's id."""
    holder = world.stranger("holder")
    grant_id = world.root.grant(holder, capabilities=list(capabilities(bench.bundle)), **{"shared_access": "write", **members})
    return holder, grant_id


def test_revocation_ends_every_operation_at_once(bench: Bench) -> None:
    """From the revocation of its only grant on, a caller finds no space whatever it asks; its own things still answer."""
    world = bench.world()
    holder, grant_id = _holder(world, bench)
    requests = _requests(bench, world)
    call = holder.call("records.create", **scenes.plain_request(world, "records.create"))
    receipt = holder.accepted(call)
    _warm(holder, requests)
    world.root.do("grants.revoke", grant_id=grant_id)
    with world.unchanged():
        _gone(world, holder, requests)
        _gone(world, holder, requests)
    holder.do("describe")
    world.same(receipt, holder.accepted(call), "a replay after the revocation is not the old receipt")
    world.same(receipt, holder.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"], "a caller lost its own receipt")
    seen = [_own(holder)[grant_id][member] for member in ("state", "revision")]
    world.same(["revoked", 2], seen, "a revoked grant is not shown as revoked to its grantee")


def test_revocation_ends_every_operation_beside_another_grant(bench: Bench) -> None:
    """What only the revoked grant gave is gone in every operation, though its holder still sees the space by another one."""
    world = bench.world()
    holder, grant_id = _holder(world, bench)
    world.root.grant(holder, capabilities=["recall"], subject_ids=["nobody"], context_ids=["nowhere"])
    rounds = scenes.in_rounds(world, _rows(bench, world))
    in_peace = next(rounds)
    _warm(holder, in_peace)
    world.root.do("grants.revoke", grant_id=grant_id)
    for requests in chain([in_peace], rounds):
        with world.unchanged():
            for row, members in requests:
                holder.denied(row.stem, **members)
    listed = [space["space_id"] for space in holder.all("spaces.list")]
    world.expect(world.space_id in listed, "a revocation hides the space though another grant is effective", seen=listed)


@pytest.mark.needs(controls=["clock"])
def test_a_revoked_grant_stays_dead_as_time_goes_on(bench: Bench) -> None:
    """A revocation is not for a while: a second, a minute and a year later the grant still authorises nothing."""
    world = bench.world()
    holder, grant_id = _holder(world, bench)
    requests = _requests(bench, world)
    _warm(holder, requests[:3])
    world.root.do("grants.revoke", grant_id=grant_id)
    for seconds in (1, 60, 365 * 86_400):
        bench.levers.advance(seconds)
        _gone(world, holder, requests)


def test_a_grant_acts_at_once_where_nothing_was_before(bench: Bench) -> None:
    """A caller that was refused reads at once when it is granted, as often as that is given and taken back (F11)."""
    world = bench.world()
    record_id = world.root.create()
    caller = world.stranger("caller")
    for _ in range(3):
        for _ in range(3):
            caller.refused("records.get", Code.NOT_FOUND, record_id=record_id)
        grant_id = world.root.grant(caller, capabilities=["records_read"])
        caller.do("records.get", record_id=record_id)
        world.root.do("grants.revoke", grant_id=grant_id)


def test_revoking_one_grant_takes_only_what_it_alone_gave(bench: Bench) -> None:
    """What only the revoked grant covered is gone at once; what other grants cover stays, the same or the caller's other ones."""
    world = bench.world()
    here, there = world.scope("u1", "c1"), world.scope("u1", "c2")
    first, second = world.root.create(scope=here), world.root.create(scope=there)
    caller, bystander = world.stranger("caller"), world.principal("records_read", "recall")
    both = world.root.grant(caller, capabilities=["records_read", "subjects_read"])
    one = world.root.grant(caller, capabilities=["records_read"], context_ids=[here["context_id"]])
    caller.do("records.get", record_id=first)
    caller.do("records.get", record_id=second)
    world.root.do("grants.revoke", grant_id=both)
    caller.do("records.get", record_id=first)
    caller.refused("records.get", Code.NOT_FOUND, record_id=second)
    caller.denied("subjects.get", subject_id=here["subject_id"])
    world.same("active", _own(caller)[one]["state"], "revoking a grant ended another one of its grantee")
    bystander.do("records.get", record_id=second)
    twin = world.root.grant(caller, capabilities=["records_read"])
    world.root.do("grants.revoke", grant_id=one)
    caller.do("records.get", record_id=first)
    world.root.do("grants.revoke", grant_id=twin)
    caller.refused("records.get", Code.NOT_FOUND, record_id=first)


# -- issuance


def test_a_revoked_grant_issues_nothing(bench: Bench) -> None:
    """A revoked grant is no coverage for issuing, though its holder has other grants; what was issued can still be taken back."""
    world = bench.world()
    record_id = world.root.create()
    issuer, child, other = (world.stranger(name) for name in ("issuer", "child", "other"))
    members: Members = {"capabilities": ["grants_issue", "records_read"]}
    issuing = world.root.grant(issuer, **members)
    world.root.grant(issuer, capabilities=["records_read", "recall"])
    handed, kept = issuer.grant(child, **members), issuer.grant(child, capabilities=["records_read"])
    world.root.do("grants.revoke", grant_id=issuing)
    for wanted in (["records_read"], ["grants_issue"], ["grants_issue", "records_read"]):
        call = issuer.call("grants.grant", grantee_id=other.principal_id, capabilities=wanted, shared_access="none")
        with world.unchanged():
            issuer.must_refuse(call, Code.NOT_AUTHORIZED)
    _as_its_state_says(world, child, handed, other, record_id)
    if _own(child)[kept]["state"] == "active":
        issuer.do("grants.revoke", grant_id=kept)
        world.same("revoked", _own(child)[kept]["state"], "a grant that was taken back is not revoked")


def _as_its_state_says(world: World, child: Caller, grant_id: str, other: Caller, record_id: str) -> None:
    """Whether grants fall with the one they were issued under is the provider's; each must act as its state says."""
    if _own(child)[grant_id]["state"] == "active":
        child.do("records.get", record_id=record_id)
        child.grant(other, capabilities=["records_read"])
    else:
        child.refused("records.get", Code.NOT_FOUND, record_id=record_id)
        call = child.call("grants.grant", grantee_id=other.principal_id, capabilities=["records_read"], shared_access="none")
        world.expect_refusal(call, world.exchange(call), [Code.NOT_AUTHORIZED, Code.NOT_FOUND])


# -- for ever


def test_a_grant_is_revoked_once_whoever_revokes_it(bench: Bench) -> None:
    """What its issuer or an admin revoked is revoked: neither of them, nor another admin, can revoke it again."""
    world = bench.world()
    issuer = world.principal("grants_issue", "recall")
    revokers = (issuer, world.root, world.principal("admin"))
    for first in revokers:
        grant_id = issuer.grant(world.stranger("grantee"), capabilities=["recall"])
        first.do("grants.revoke", grant_id=grant_id)
        for second in revokers:
            with world.unchanged():
                second.refused("grants.revoke", Code.WRONG_STATE, grant_id=grant_id)


@dataclass
class _Life:
    """The grants of one caller as they should be: ids, the calls that made and revoked them, and which are revoked."""

    issued: list[tuple[str, Call, Mapping[str, Any]]] = field(default_factory=list)
    revoked: dict[int, tuple[Call, Mapping[str, Any]]] = field(default_factory=dict)

    def states(self) -> dict[str, str]:
        return {entry[0]: "revoked" if number in self.revoked else "active" for number, entry in enumerate(self.issued)}

    def lives(self) -> bool:
        return len(self.issued) > len(self.revoked)


def _issue(world: World, caller: Caller, life: _Life, _: int) -> None:
    """Grant the same tuple again: it is a new grant."""
    call = world.root.call("grants.grant", grantee_id=caller.principal_id, capabilities=["records_read"], shared_access="none")
    receipt = world.root.accepted(call)
    life.issued.append((made(receipt, "grant"), call, receipt))


def _revoke(world: World, _caller: Caller, life: _Life, number: int) -> None:
    """Revoke a grant; one that is revoked cannot be revoked again."""
    if not life.issued:
        return
    number %= len(life.issued)
    call = world.root.call("grants.revoke", grant_id=life.issued[number][0])
    if number in life.revoked:
        with world.unchanged():
            world.root.must_refuse(call, Code.WRONG_STATE)
    else:
        life.revoked[number] = (call, world.root.accepted(call))


def _replay_issue(world: World, _caller: Caller, life: _Life, number: int) -> None:
    if life.issued:
        _, call, receipt = life.issued[number % len(life.issued)]
        world.same(receipt, world.root.accepted(call), "a replayed issuance is not its old receipt")


def _replay_revoke(world: World, _caller: Caller, life: _Life, number: int) -> None:
    if life.revoked:
        call, receipt = sorted(life.revoked.items())[number % len(life.revoked)][1]
        world.same(receipt, world.root.accepted(call), "a replayed revocation is not its old receipt")


DEEDS = {"issue": _issue, "revoke": _revoke, "replay the issue": _replay_issue, "replay the revocation": _replay_revoke}


@given(deeds=st.lists(st.tuples(st.sampled_from(sorted(DEEDS)), st.integers(0, 3)), min_size=2, max_size=8))
def test_nothing_revives_a_revoked_grant(bench: Bench, deeds: list[tuple[str, int]]) -> None:
    """However often the same is granted, revoked and replayed, each grant is its own and a revoked one stays as it was."""
    world = bench.world()
    record_id = world.root.create()
    caller, life = world.stranger("caller"), _Life()
    final: dict[str, Mapping[str, Any]] = {}
    for deed, number in [("issue", 0), *deeds]:
        DEEDS[deed](world, caller, life, number)
        own = _own(caller)
        states = life.states()
        seen = {grant_id: grant["state"] for grant_id, grant in own.items() if grant_id in states}
        world.same(states, seen, f"after the deed '{deed}' a grant is in another state")
        world.same(final, {grant_id: own[grant_id] for grant_id in final}, "a revoked grant changed")
        final = {grant_id: own[grant_id] for grant_id, state in states.items() if state == "revoked"}
        if life.lives():
            caller.do("records.get", record_id=record_id)
        else:
            caller.refused("records.get", Code.NOT_FOUND, record_id=record_id)


def test_a_new_grant_does_not_widen_to_the_old(bench: Bench) -> None:
    """A narrower grant after a revoked wide one gives what it says and nothing of the old."""
    world = bench.world()
    here, there = world.scope("u1", "c1"), world.scope("u1", "c2")
    ids = [world.root.create(scope=scope) for scope in (here, there)]
    caller, grant_id = _holder(world, bench)
    world.root.do("grants.revoke", grant_id=grant_id)
    world.root.grant(caller, capabilities=["records_read"], context_ids=[here["context_id"]])
    caller.do("records.get", record_id=ids[0])
    caller.refused("records.get", Code.NOT_FOUND, record_id=ids[1])
    material = {"kind": "note", "content": {"text": "a"}, "scope": here}
    caller.denied("records.create", **material)
    caller.denied("grants.list", view="admin")


@pytest.mark.needs(controls=["restart"])
def test_a_revocation_outlives_a_restart(bench: Bench) -> None:
    """After a restart a revoked grant is still revoked, in every operation, and an effective one still acts."""
    world = bench.world()
    holder, grant_id = _holder(world, bench)
    kept = world.principal("records_read")
    requests = _requests(bench, world)
    record_id = world.root.create()
    world.root.do("grants.revoke", grant_id=grant_id)
    before = _own(holder)
    bench.levers.restart()
    _gone(world, holder, requests)
    world.same(before, _own(holder), "a restart changed a revoked grant")
    kept.do("records.get", record_id=record_id)


@pytest.mark.needs(flags=[Flag.TRANSFER])
def test_an_import_revives_no_grant(bench: Bench) -> None:
    """Activating a bundle from before the revocation brings the grant back no more than anything else does."""
    world = bench.world()
    record_id = world.root.create()
    caller, kept = world.stranger("caller"), world.principal("records_read")
    grant_id = world.root.grant(caller, capabilities=["records_read"])
    caller.do("records.get", record_id=record_id)
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    world.root.do("grants.revoke", grant_id=grant_id)
    before = _own(caller)[grant_id]
    import_id = scenes.stage(world, bundle, chunks)
    scenes.freeze(world)
    generation = scenes.generation(world)
    world.root.do("imports.activate", import_id=import_id, expected_authority_generation=generation)
    scenes.unfreeze(world)
    caller.refused("records.get", Code.NOT_FOUND, record_id=record_id)
    world.same(before, _own(caller)[grant_id], "an import changed a revoked grant")
    kept.do("records.get", record_id=record_id)
