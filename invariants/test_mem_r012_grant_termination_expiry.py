"""MEM-R012, expiry: at and after its end a grant authorises nothing, judged between instants, in every operation, for ever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.wire.bundle import Operation, instant
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.timestamps import just_after, respelled, shifted
from strategies.vocabulary import capabilities

Members = dict[str, Any]


def _now(world: World) -> str:
    """Return the provider's present: the time of a receipt that it makes now."""
    now: str = world.root.do("subjects.ensure", subject_id=world.name("u1"))["created_at"]
    return now


def _at(base: str, seconds: int, millis: int = 0) -> str:
    """Return the instant so many whole seconds after ``base``, with the fraction ``millis``."""
    return f"{shifted(base, seconds)[:19]}.{millis:03d}Z"


@contextmanager
def _standing_clock(bench: Bench, world: World) -> Iterator[str]:
    """Stop the provider's clock for the block at a whole second, and give that instant.

    It stops an hour ahead, so that nothing depends on how long the calls of a check take.
    """
    base = f"{shifted(_now(world), 3600)[:19]}Z"
    try:
        bench.levers.set_clock(base)
        yield base
    finally:
        bench.levers.run_clock()


def _reader(world: World, end: str) -> Caller:
    reader = world.stranger("reader")
    world.root.grant(reader, capabilities=["records_read"], expires_at=end)
    return reader


def _works(reader: Caller, record_id: str, alive: bool) -> None:
    if alive:
        reader.do("records.get", record_id=record_id)
    else:
        reader.refused("records.get", Code.NOT_FOUND, record_id=record_id)


def test_a_grant_ends_by_itself(bench: Bench) -> None:
    """After its end a grant authorises nothing, while one without an end and one that ends later go on."""
    world = bench.world()
    record_id = world.root.create()
    now = _now(world)
    ended, lasting = _reader(world, shifted(now, 2)), _reader(world, shifted(now, 86_400))
    endless = world.principal("records_read")
    bench.levers.advance(3)
    _works(ended, record_id, alive=False)
    for reader in (lasting, endless):
        _works(reader, record_id, alive=True)
    world.root.grant(ended, capabilities=["records_read"])
    _works(ended, record_id, alive=True)


ENDS: Sequence[tuple[int, int]] = ((1, 0), (1, 500), (2, 999), (60, 1), (3600, 50), (43_200, 0), (86_400, 250), (90_061, 7))
"""Ends as (seconds, milliseconds) from now: within a second, over minutes, hours and days."""


@given(data=st.data(), end=st.sampled_from(ENDS))
@pytest.mark.needs(controls=["clock"])
def test_the_end_is_an_instant(bench: Bench, data: st.DataObject, end: tuple[int, int]) -> None:
    """A grant works until just before its end and no longer from the end on, however the end is spelt."""
    world = bench.world()
    record_id = world.root.create()
    with _standing_clock(bench, world) as base:
        last = _at(base, *end)
        reader = _reader(world, data.draw(respelled(last)))
        beyond = _reader(world, just_after(last))
        bench.levers.set_clock(_before(last, data.draw(st.integers(1, 900))))
        _works(reader, record_id, alive=True)
        _works(beyond, record_id, alive=True)
        bench.levers.set_clock(last)
        _works(reader, record_id, alive=False)
        _works(beyond, record_id, alive=True)
        bench.levers.set_clock(shifted(last, 1))
        _works(reader, record_id, alive=False)
        _works(beyond, record_id, alive=False)


def _before(instant: str, millis: int) -> str:
    """Return the instant so many milliseconds (under a second) earlier."""
    whole = int(instant[20:23]) - millis
    return f"{shifted(instant, 0 if whole >= 0 else -1)[:19]}.{whole % 1000:03d}Z"


@pytest.mark.needs(controls=["clock"])
def test_each_end_counts_for_itself(bench: Bench) -> None:
    """Of grants with many ends each ends at its own instant, in the order of instants and of nothing else."""
    world = bench.world()
    record_id = world.root.create()
    fractions = ("", ".0000001", ".1", ".25", ".3", ".30000001", ".5", ".75", ".9", ".999")
    with _standing_clock(bench, world) as base:
        second = shifted(base, 1)[:19]
        readers = [(fraction, _reader(world, f"{second}{fraction}Z")) for fraction in fractions]
        for millis in (0, 100, 250, 300, 301, 500, 749, 999):
            bench.levers.set_clock(f"{second}.{millis:03d}Z")
            for fraction, reader in readers:
                _works(reader, record_id, alive=float(f"0{fraction}") > millis / 1000)


FINE = (
    *(".0001", ".00015", ".0009", ".2501", ".499999", ".9995", ".999999"),
    *(".0000001", ".2500000000005", ".999999999999", ".299999999999999999999999999999"),
)
"""Fractions finer than a millisecond: whole microseconds, and such as clocks and doubles cut or round."""


@pytest.mark.needs(controls=["clock"])
@pytest.mark.parametrize("fraction", FINE)
def test_an_end_finer_than_a_millisecond_counts_whole(bench: Bench, fraction: str) -> None:
    """An end is neither cut nor rounded: the grant is over from that very instant on, and not at the millisecond before it.

    A provider may keep its time as coarsely as it likes: when the end has come is told by the time that it gives itself.
    """
    world = bench.world()
    record_id = world.root.create()
    with _standing_clock(bench, world) as base:
        second = shifted(base, 1)[:19]
        end, millisecond = f"{second}{fraction}Z", f"{second}{fraction.ljust(4, '0')[:4]}Z"
        reader, beyond = _reader(world, end), _reader(world, just_after(end))
        bench.levers.set_clock(millisecond)
        for caller in (reader, beyond):
            _works(caller, record_id, alive=True)
        bench.levers.set_clock(end)
        told = instant(_now(world))
        if told < instant(just_after(end)):
            _works(beyond, record_id, alive=True)
        if told >= instant(end):
            _works(reader, record_id, alive=False)
        bench.levers.set_clock(shifted(millisecond, 1))
        for caller in (reader, beyond):
            _works(caller, record_id, alive=False)


def _rounds(bench: Bench, world: World, sees: bool) -> Iterator[list[tuple[Operation, Members]]]:
    """Give a plain request of every operation that needs a grant; in rounds for a caller who goes on to see the space."""
    rows = bench.rows([row for row in scenes.served(world) if row.needs])
    return scenes.in_rounds(world, rows) if sees else iter([[(row, scenes.request_in_peace(world, row.stem)) for row in rows]])


@pytest.mark.needs(controls=["clock"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another grant"])
def test_expiry_ends_every_operation(bench: Bench, beside: bool) -> None:
    """At the end of its only grant a caller finds no space whatever it asks; beside another grant, nothing of the old one."""
    world = bench.world()
    holder = world.stranger("holder")
    everything = list(capabilities(bench.bundle))
    with _standing_clock(bench, world) as base:
        end = _at(base, 3600)
        grant_id = world.root.grant(holder, capabilities=everything, shared_access="write", expires_at=end)
        if beside:
            world.root.grant(holder, capabilities=["recall"], subject_ids=["nobody"], context_ids=["nowhere"])
        rounds = _rounds(bench, world, beside)
        in_peace = next(rounds)
        receipt = holder.do("records.create", **scenes.plain_request(world, "records.create"))
        for row, members in in_peace:
            if not row.mutation:
                holder.do(row.stem, **members)
        bench.levers.set_clock(end)
        for requests in chain([in_peace], rounds):
            with world.unchanged():
                _gone(world, holder, requests, beside)
        read = holder.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
        world.same(receipt, read, "a caller lost its own receipt")
        own = [grant["grant_id"] for grant in holder.all("grants.list", view="own")]
        world.expect(grant_id in own, "a caller lost sight of its own expired grant", seen=own)


def _gone(world: World, holder: Caller, requests: Sequence[tuple[Operation, Members]], beside: bool) -> None:
    for row, members in requests:
        alone = row.needs[0].on != "issuer" and not beside
        holder.refused(row.stem, *((Code.NOT_FOUND,) if alone else (Code.NOT_FOUND, Code.NOT_AUTHORIZED)), **members)
    listed = [space["space_id"] for space in holder.all("spaces.list")]
    world.same(beside, world.space_id in listed, "the space is listed otherwise than the caller's effective grants say")


@pytest.mark.needs(controls=["clock"])
def test_an_expired_grant_comes_back_by_nothing(bench: Bench) -> None:
    """After its end no replay of its issuance, no new grant beside it and no time brings a grant back; it is revoked once."""
    world = bench.world()
    here, there = world.scope("u1", "c1"), world.scope("u1", "c2")
    first, second = world.root.create(scope=here), world.root.create(scope=there)
    caller = world.stranger("caller")
    end = shifted(_now(world), 60)
    members = {"capabilities": ["records_read"], "shared_access": "none", "expires_at": end}
    call = world.root.call("grants.grant", grantee_id=caller.principal_id, **members)
    receipt = world.root.accepted(call)
    bench.levers.advance(61)
    _works(caller, first, alive=False)
    world.same(receipt, world.root.accepted(call), "a replayed issuance is not its old receipt")
    _works(caller, first, alive=False)
    world.root.grant(caller, capabilities=["records_read"], context_ids=[here["context_id"]])
    _works(caller, first, alive=True)
    _works(caller, second, alive=False)
    bench.levers.advance(365 * 86_400)
    _works(caller, second, alive=False)
    world.root.do("grants.revoke", grant_id=made(receipt, "grant"))
    world.root.refused("grants.revoke", Code.WRONG_STATE, grant_id=made(receipt, "grant"))
    own = {grant["grant_id"]: grant["state"] for grant in caller.all("grants.list", view="own")}
    world.same("revoked", own.get(made(receipt, "grant")), "the state of a caller's own grant that has expired and was revoked")


@pytest.mark.needs(controls=["clock", "restart"])
def test_an_expiry_outlives_a_restart(bench: Bench) -> None:
    """After a restart an expired grant is still expired, and one that ends later ends at its instant."""
    world = bench.world()
    record_id = world.root.create()
    now = _now(world)
    ended, lasting = _reader(world, shifted(now, 60)), _reader(world, shifted(now, 7200))
    bench.levers.advance(61)
    bench.levers.restart()
    _works(ended, record_id, alive=False)
    _works(lasting, record_id, alive=True)
    bench.levers.advance(7200)
    _works(lasting, record_id, alive=False)


@pytest.mark.needs(controls=["clock"])
def test_an_end_falls_with_its_issuers(bench: Bench) -> None:
    """A grant handed on ends at the latest where its issuer's did: at that instant the whole chain is without it."""
    world = bench.world()
    record_id = world.root.create()
    issuer, child, grandchild = (world.stranger(name) for name in ("issuer", "child", "grandchild"))
    with _standing_clock(bench, world) as base:
        end = _at(base, 120)
        members: Members = {"capabilities": ["grants_issue", "records_read"], "expires_at": end}
        world.root.grant(issuer, **members)
        issuer.grant(child, **members)
        child.grant(grandchild, **members)
        for instant, alive in ((_before(end, 1), True), (end, False)):
            bench.levers.set_clock(instant)
            for caller in (issuer, child, grandchild):
                _works(caller, record_id, alive=alive)
