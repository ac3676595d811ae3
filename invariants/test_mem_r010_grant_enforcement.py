"""MEM-R010: every operation needs a grant that covers capability, subject and placement; no less suffices, no more is demanded.

Driven by the ``needs`` column of the operation table, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.wire.bundle import Operation
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.vocabulary import capabilities

Members = dict[str, Any]
Scope = Mapping[str, str]

BELOW = {"write": "read", "read": "none"}
"""The next lower degree of shared access."""


def _level(operation: Operation) -> str:
    """Say what the operation's needs are about: nothing, the issuer, the space, a subject or a placement."""
    if not operation.needs:
        return "nothing"
    on = operation.needs[0].on
    return on if on in ("issuer", "space", "subject") else "placement"


def _needed(operation: Operation) -> list[str]:
    named = dict.fromkeys(need.capability for need in operation.needs)
    return [*named, "recall"] if _level(operation) == "issuer" else list(named)


def _rows(world: World, *levels: str) -> list[Operation]:
    return [operation for operation in scenes.served(world) if _level(operation) in levels]


LEVELS = ("issuer", "space", "subject", "placement")
"""Of what needs a grant: all of it."""


def _requests(bench: Bench, world: World) -> Iterator[list[tuple[Operation, Members]]]:
    """Give a plain request of every operation that needs a grant, in rounds."""
    return scenes.in_rounds(world, bench.rows(_rows(world, *LEVELS)))


# -- capabilities


def test_no_capability_implies_another(bench: Bench) -> None:
    """A grant of one capability, whichever, on everything lets through no operation that needs another one."""
    world = bench.world()
    holders = {name: world.principal(name, shared_access="write", name=name) for name in capabilities(bench.bundle)}
    for requests in _requests(bench, world):
        with world.unchanged():
            for (capability, holder), (row, members) in product(holders.items(), requests):
                if {need.capability for need in row.needs} != {capability}:
                    holder.denied(row.stem, **members)


def test_all_other_capabilities_together_do_not_suffice(bench: Bench) -> None:
    """A grant of every capability but a needed one, on everything, does not let the operation through."""
    world = bench.world()
    every = capabilities(bench.bundle)
    lacking = {name: [other for other in every if other != name] for name in every}
    callers = {name: world.principal(*rest, shared_access="write", name=f"no {name}") for name, rest in lacking.items()}
    for requests in _requests(bench, world):
        with world.unchanged():
            for (row, members), need in ((request, need) for request in requests for need in request[0].needs):
                callers[need.capability].denied(row.stem, **members)
                world.exercised(row, "capability", held=False, lacking=need.capability)


# -- what a grant must say of subject and placement for a row of the table


def _exact(operation: Operation, members: Mapping[str, Any], scope: Scope) -> Members:
    """Return the least grant that covers the request: nothing in it can be taken away."""
    level, grant = _level(operation), {"capabilities": _needed(operation), "shared_access": "none"}
    if level == "space":
        return grant
    if level == "subject":
        return {**grant, "subject_ids": [scope["subject_id"]], "context_ids": ["elsewhere"]}
    placements = [scope, *([members["to_scope"]] if "to_scope" in members else [])]
    contexts = [placement["context_id"] for placement in placements if "context_id" in placement]
    shared = any("context_id" not in placement for placement in placements)
    degree = operation.needs[0].access if shared else "none"
    return {**grant, "subject_ids": [scope["subject_id"]], "context_ids": contexts or ["elsewhere"], "shared_access": degree}


def _less(operation: Operation, exact: Members) -> Iterator[tuple[str, Members]]:
    """Give the grants that lack one thing that the least grant has, with the dimension that they lack it in."""
    if _level(operation) == "space":
        yield "space", {**exact, "subject_ids": ["u1"], "shared_access": "write"}
        yield "space", {**exact, "context_ids": ["c1"], "shared_access": "write"}
        return
    yield "subject", {**exact, "subject_ids": ["u2", "u10", "U1"], "shared_access": "write"}
    if _level(operation) == "subject":
        return
    for context_id in exact["context_ids"]:
        rest = [name for name in exact["context_ids"] if name != context_id]
        if context_id != "elsewhere":
            yield "context", {**exact, "context_ids": [*rest, "elsewhere"], "shared_access": "write"}
    if exact["shared_access"] != "none":
        without = {name: value for name, value in exact.items() if name != "context_ids"}
        yield "shared", {**without, "shared_access": BELOW[exact["shared_access"]]}


def _holder(world: World, name: str, *grants: Mapping[str, Any]) -> Caller:
    caller = world.stranger(name)
    for grant in grants:
        world.root.grant(caller, **grant)
    return caller


ALONE = ("spaces.freeze", "spaces.unfreeze", "imports.activate")
"""What changes the space so that no other request could be tried beside it."""


@dataclass(frozen=True)
class _Try:
    """An operation, the callers whose grants lack one thing, by its dimension, and the one whose grants are exactly enough."""

    operation: Operation
    poor: tuple[tuple[str, Caller], ...]
    rich: Caller


def _callers(world: World, operation: Operation, scope: Scope, split: bool) -> _Try:
    """Issue the grants for one operation; ``split`` gives each of its capabilities by a grant of its own."""
    sketch = {"to_scope": world.scope("u1", "c2")} if operation.stem == "records.promote" else {}
    exact = _exact(operation, sketch, scope)
    grants = [{**exact, "capabilities": [name]} for name in exact["capabilities"]] if split else [exact]
    lesser = enumerate(_less(operation, exact), start=1)
    poor = [(dimension, _holder(world, f"less {number}", grant)) for number, (dimension, grant) in lesser]
    return _Try(operation, tuple(poor), _holder(world, "exact", *grants))


def _try(world: World, rows: Sequence[Operation], context: str | None, *, split: bool = False) -> None:
    """Expect each request to be denied under every lesser grant and accepted under the exact one.

    Grants come first: while the space is frozen, as some requests need it, none could be issued.
    """
    scope = world.scope("u1", context)
    scenes.complete_profile(world, scope["subject_id"])
    tries = [_callers(world, row, scope, split) for row in rows]
    levels = [None if _level(row) == "space" else scope for row in rows]
    requests = [scenes.plain_request(world, row.stem, level) for row, level in zip(rows, levels, strict=True)]
    with world.unchanged():
        for one, members in zip(tries, requests, strict=True):
            for dimension, caller in one.poor:
                caller.denied(one.operation.stem, **members)
                world.exercised(one.operation, dimension, held=False)
    for one, members in zip(tries, requests, strict=True):
        one.rich.do(one.operation.stem, **members)
        for dimension in ("capability", *dict(one.poor)):
            world.exercised(one.operation, dimension, held=True)


def _splittable(operation: Operation) -> bool:
    return _level(operation) != "issuer" and len(_needed(operation)) > 1


def _try_all(bench: Bench, rows: Sequence[Operation], context: str | None, *, split: bool = False) -> None:
    rows = bench.rows(rows)
    # Where principals come from a pool, one world cannot have enough of them for all rows.
    together = [row for row in rows if row.stem not in ALONE and bench.levers.has("principal")]
    for batch in (together, *([row] for row in rows if row not in together)):
        _try(bench.world(), batch, context, split=split)


@pytest.mark.parametrize("context", ["c1", None], ids=["context", "shared"])
def test_the_least_grant_suffices_and_nothing_less(bench: Bench, context: str | None) -> None:
    """For every operation the grant of exactly its needs suffices, and none that lacks its subject, context or degree."""
    _try_all(bench, _rows(bench.world(), "placement", *(("space", "subject", "issuer") if context else ())), context)


def test_two_grants_are_as_good_as_one(bench: Bench) -> None:
    """Where an operation needs two capabilities, they may come from two grants."""
    rows = [row for row in _rows(bench.world(), "placement", "space") if _splittable(row)]
    _try_all(bench, rows, "c1", split=True)


def test_both_ends_of_a_move_may_be_covered_by_two_grants(bench: Bench) -> None:
    """A promotion needs records_write on both placements, whichever grants give it; each end alone does not do."""
    world = bench.world()
    ends = [{"capabilities": ["records_write"], "context_ids": [world.name(name)]} for name in ("c1", "c2")]
    members = scenes.plain_request(world, "records.promote")
    poor = [_holder(world, f"end {number}", end) for number, end in enumerate(ends, start=1)]
    with world.unchanged():
        for caller in poor:
            caller.denied("records.promote", **members)
    _holder(world, "both ends", *ends).do("records.promote", **members)


def test_a_discard_needs_review_alone_or_both(bench: Bench) -> None:
    """A discard needs review, and records_write does not stand in for it; whether that is demanded too is the provider's."""
    world = bench.world()
    members = {**scenes.plain_request(world, "candidates.review"), "decision": {"action": "discard"}}
    reviewer, writer = world.principal("review"), world.principal("records_write", "capture", "records_read")
    with world.unchanged():
        writer.denied("candidates.review", **members)
    reply = reviewer.send("candidates.review", **members)
    if not reply.ok:
        call = reviewer.call("candidates.review", **members)
        world.expect_refusal(call, reply, [Code.NOT_AUTHORIZED, Code.NOT_FOUND])
        world.principal("review", "records_write").do("candidates.review", **members)


# -- what needs no grant


def test_without_any_grant_a_space_is_not_there(bench: Bench) -> None:
    """A caller without an effective grant finds no space, whatever it asks; only what needs no grant answers, and empty."""
    world = bench.world()
    stranger = world.stranger()
    rows = bench.rows(_rows(world, *LEVELS))
    requests = [(row, scenes.request_in_peace(world, row.stem)) for row in rows]
    with world.unchanged():
        for row, members in requests:
            codes = (Code.NOT_FOUND, Code.NOT_AUTHORIZED) if _level(row) == "issuer" else (Code.NOT_FOUND,)
            stranger.refused(row.stem, *codes, **members)
        own = [grant for grant in stranger.all("grants.list", view="own") if grant["state"] == "active"]
        world.same([], own, "a caller without grants has grants of its own")
        listed = [space["space_id"] for space in stranger.all("spaces.list")]
        world.expect(world.space_id not in listed, "a caller without a grant is shown the space", seen=listed)
        stranger.do("describe")


@pytest.mark.parametrize("capability", ["recall", "subjects_write", "admin"])
def test_any_grant_shows_the_space(bench: Bench, capability: str) -> None:
    """Any effective grant, however small, shows its holder the space and the grant itself."""
    world = bench.world()
    holder = world.principal(capability, subject_ids=["nobody"], context_ids=["nowhere"])
    listed = [space["space_id"] for space in holder.all("spaces.list")]
    world.expect(world.space_id in listed, "the holder of a grant is not shown its space", seen=listed)
    own = [grant["capabilities"] for grant in holder.all("grants.list", view="own") if grant["state"] == "active"]
    world.same([[capability]], own, "the holder of a grant is not shown it")


def test_what_is_ones_own_needs_no_capability(bench: Bench) -> None:
    """A principal reads its own receipts and takes back the grants it issued without a capability for that."""
    world = bench.world()
    scope = world.scope()
    issuer = world.principal("grants_issue", "recall", "records_write", shared_access="read")
    other = world.principal("grants_issue", "recall", "records_write", shared_access="read")
    receipt = issuer.do("records.create", kind="note", content={"text": "a"}, scope=scope)
    grant_id = issuer.grant(world.stranger(), capabilities=["recall"])
    read = issuer.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
    world.same(receipt, read, "the receipt that was given is not the one that is kept")
    with world.unchanged():
        other.denied("receipts.get", receipt_id=receipt["receipt_id"])
        other.denied("grants.revoke", grant_id=grant_id)
    issuer.do("grants.revoke", grant_id=grant_id)


def test_material_gives_no_rights(bench: Bench) -> None:
    """Writing something gives no right to read it: not a capture, a record, a profile, nor a subject or a grant made."""
    world = bench.world()
    scope = world.scope()
    names = ("capture", "records_write", "profile_write", "subjects_write")
    author = world.principal(*names, shared_access="write")
    record_id, candidate_id = author.create(scope=scope), author.capture(scope=scope)
    profile = {"subject_id": scope["subject_id"], "kind": "preferences", "content": {"text": "a"}, "expected_revision": None}
    author.do("profile.update", **profile)
    author.ensure(world.name("u3"))
    selection = scenes.selection(scope)
    attempts: Sequence[tuple[str, Members]] = (
        ("records.get", {"record_id": record_id}),
        ("records.list", {"selection": selection}),
        ("recall", {"selection": selection, "budget": {"max_records": 1}}),
        ("candidates.get", {"candidate_id": candidate_id}),
        ("candidates.list", {"selection": selection}),
        ("profile.get", {"subject_id": scope["subject_id"]}),
        ("subjects.get", {"subject_id": world.name("u3")}),
    )
    for stem, members in attempts:
        author.denied(stem, **members)
    reader = world.principal("records_read", "recall", "review", "profile_read", "subjects_read")
    for stem, members in attempts:
        reader.do(stem, **members)
