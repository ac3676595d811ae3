"""MEM-R010, grants as things of their own: who may take one back, and which ones are a caller's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.bench import Bench
from conformance.caller import Caller
from conformance.world import World
from strategies.timestamps import shifted
from strategies.vocabulary import capabilities


def _others(world: World) -> list[str]:
    return [name for name in capabilities(world.bundle) if name != "admin"]


def test_a_grant_is_revoked_by_its_issuer_or_admin_alone(bench: Bench) -> None:
    """Neither the grantee of a grant, nor its issuer's issuer, nor an admin of a part takes it back; its issuer and admin do."""
    world = bench.world()
    upper, issuer, grantee = (world.stranger(name) for name in ("upper", "issuer", "grantee"))
    everything: Mapping[str, Any] = {"capabilities": _others(world), "shared_access": "write"}
    world.root.grant(upper, **everything)
    upper.grant(issuer, **everything)
    grant_ids = [issuer.grant(grantee, **everything) for _ in range(2)]
    peer = world.principal(*_others(world), shared_access="write", name="peer")
    narrow = [world.principal("admin", name=f"admin of a {part}", **{f"{part}_ids": ["u1"]}) for part in ("subject", "context")]
    admin = world.principal("admin", name="admin")
    with world.unchanged():
        for caller in (grantee, upper, peer, *narrow):
            for grant_id in grant_ids:
                caller.denied("grants.revoke", grant_id=grant_id)
    for caller, grant_id in zip((issuer, admin), grant_ids, strict=True):
        caller.do("grants.revoke", grant_id=grant_id)


def test_the_holder_of_its_only_grant_does_not_revoke_it(bench: Bench) -> None:
    """Holding a grant, whatever single capability but admin it gives, is no right to end it."""
    world = bench.world()
    held = [(name, world.stranger(name)) for name in bench.rows(_others(world))]
    granted = [(caller, world.root.grant(caller, capabilities=[name], shared_access="write")) for name, caller in held]
    with world.unchanged():
        for caller, grant_id in granted:
            caller.denied("grants.revoke", grant_id=grant_id)
    for _, grant_id in granted:
        world.root.do("grants.revoke", grant_id=grant_id)


def _own(caller: Caller) -> list[str]:
    """Return the ids of the grants that a caller is shown as its own; all of them must name it as their grantee."""
    listed = caller.all("grants.list", view="own")
    others = [grant for grant in listed if grant["grantee_id"] != caller.principal_id]
    caller.world.expect(not others, "memory.grants.list: a grant of another grantee is shown as the caller's own", seen=others)
    return [grant["grant_id"] for grant in listed]


def test_ones_own_grants_are_those_one_is_the_grantee_of(bench: Bench) -> None:
    """What a caller issued to others is not its own, nor what an admin can see; a grant to itself is, whoever issued it."""
    world = bench.world()
    issuer, other = world.stranger("issuer"), world.stranger("other")
    given = [world.root.grant(issuer, capabilities=["grants_issue", "recall", "admin"])]
    handed = issuer.grant(other, capabilities=["recall"])
    given.append(issuer.grant(issuer, capabilities=["recall"]))
    by_issuer, by_other, by_root = _own(issuer), _own(other), _own(world.root)
    missing = [grant_id for grant_id in given if grant_id not in by_issuer]
    world.same([], missing, "memory.grants.list: a grant is not shown to its grantee")
    world.expect(handed in by_other, "memory.grants.list: a grant is not shown to its grantee", seen=by_other)
    shown = [grant_id for grant_id in (*given, handed) if grant_id in by_root]
    world.same([], shown, "memory.grants.list: what root issued to others is shown as its own")


def test_ones_own_grants_are_shown_in_every_state(bench: Bench) -> None:
    """Active, expired and revoked grants are all one's own, beside others and when no effective one is left."""
    world = bench.world()
    holder = world.stranger("holder")
    now = world.root.do("subjects.ensure", subject_id=world.name("u1"))["created_at"]
    expired = world.root.grant(holder, capabilities=["recall"], expires_at=shifted(now, 2))
    revoked, lasting = (world.root.grant(holder, capabilities=["recall"]) for _ in range(2))
    world.root.do("grants.revoke", grant_id=revoked)
    bench.levers.advance(3)
    _shows_all(holder, expired, revoked, lasting)
    world.root.do("grants.revoke", grant_id=lasting)
    _shows_all(holder, expired, revoked, lasting)


def _shows_all(holder: Caller, *grant_ids: str) -> None:
    shown = _own(holder)
    missing = [grant_id for grant_id in grant_ids if grant_id not in shown]
    holder.world.expect(not missing, "memory.grants.list: a grant is not shown to its grantee in every state", seen=missing)
