"""MEM-R004, dispatch validation: what breaks a request's schema stops at dispatch, what keeps it gets past (section 6, 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.exchange import Call
from conformance.wire.vocabulary import Code, Reason
from conformance.world import World
from strategies.boundaries import at_limit, boundaries
from strategies.negatives import Edit, Target, breaking, targets
from strategies.requests import requests
from strategies.timestamps import INVALID_TIMESTAMPS, LATEST

BODIES: tuple[Any, ...] = (None, True, 5, "{}", [{}])
"""Request bodies that are no JSON object."""


# -- broken requests


def spoilt(value: Any) -> Iterator[Any]:
    """Give a JSON value with one thing changed at one place, by what careless code takes for the same or does not look at."""
    yield from _SPOILERS[type(value)](value)
    if isinstance(value, dict):
        for name, member in sorted(value.items()):  # whatever order an answer that is sent on had
            others = {other: inner for other, inner in value.items() if other != name}
            yield from (others, {**others, f"{name}\n": member})
            yield from ({**value, name: changed} for changed in spoilt(member))
    elif isinstance(value, list):
        yield from ([changed, *value[1:]] for item in value[:1] for changed in spoilt(item))


_SPOILERS: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {
    dict: lambda value: ({**value, "unknown": 1}, [value]),
    list: lambda value: (value[0] if value else "", None),
    str: lambda value: (5, "", f" {value}", f"{value}\n", value.upper(), "x" * 129),
    bool: lambda value: (str(value).lower(), int(value)),
    int: lambda value: (str(value), value + 0.5, -1 - value, True),
    float: lambda value: (str(value),),
    type(None): lambda _: ("null", 0),
}


def _broken(world: World, call: Call) -> Iterator[Call]:
    """Give a call with its payload spoilt at each place in turn, as far as that breaks its schema, and with no object at all."""
    accepts = world.bundle.request(call.op).accepts
    nulls = ({**call.payload, name: None} for name in world.members_of(call.op) if name not in call.payload)
    named = ({**call.payload, "extensions": {name: {}}} for name in ("acme\n", "\nacme", "Acme", ""))
    for payload in (*BODIES, *nulls, *named, *spoilt(call.payload)):
        if not accepts(payload):
            yield replace(call, payload=payload)


def test_whatever_breaks_a_request_stops_it(bench: Bench) -> None:
    """A request that breaks its schema at any place is refused and leaves no trace: the whole request then has its effect."""
    for world, _, call in scenes.each(bench):
        scenes.stopped(world, call, _broken(world, call), Code.MALFORMED_REQUEST, meant_invalid=True)


def _of_served(world: World) -> list[Target]:
    names = {operation.name for operation in scenes.served(world)}
    return [target for target in targets(world.bundle) if target.op in names]


@pytest.mark.examples(0.6)
@given(data=st.data())
def test_every_keyword_of_every_request_is_kept(bench: Bench, data: st.DataObject) -> None:
    """A request that breaks its schema in any keyword is refused as malformed, and the unbroken one gets past dispatch."""
    world = bench.world()
    chosen = data.draw(st.lists(st.sampled_from(_of_served(world)), min_size=1, max_size=6, unique_by=str), "targets")
    edits = [data.draw(breaking(bench.bundle, target, fixed={"space_id": world.space_id}), str(target)) for target in chosen]
    with world.unchanged():
        for edit in edits:
            _refused(world, edit)
    for edit in edits:
        _gets_past_dispatch(bench, world, Call(edit.target.op, edit.valid_base, world.root.credential, world.root.flags, "root"))


def _refused(world: World, edit: Edit) -> None:
    call = Call(edit.target.op, edit.request, world.root.credential, world.root.flags, "root")
    # A dimension that is no text is malformed like anything else; only a text is a dimension that is not served.
    reason = None if "type" in edit.also else edit.target.reason
    world.root.must_refuse(call, Code.MALFORMED_REQUEST, reason=reason, meant_invalid=True)


def _gets_past_dispatch(bench: Bench, world: World, call: Call) -> None:
    """Expect success or an error of the operation's own; a filter on a dimension that is not served is the one exception."""
    reply = world.exchange(call)
    symbol = bench.bundle.symbol(reply.code or "")
    dispatched = symbol is None or bench.bundle.errors[symbol].layer == "operation"
    served = bench.described(world)["cognition_dimensions"]
    if not dispatched and call.payload.get("cognition_filter", {}).get("dimension") not in (None, *served):
        world.expect_refusal(call, reply, (Code.MALFORMED_REQUEST,), reason=Reason.UNSUPPORTED_COGNITION)
    else:
        world.expect(dispatched, f"{call.op}: a valid request was stopped at dispatch", seen=reply.error)


# -- valid requests


def _known(world: World) -> dict[str, Any]:
    """Make one of each plain thing and give the request members that name them, so that generated requests meet them."""
    known = {"space_id": world.space_id, "record_id": world.root.create(), "candidate_id": world.root.capture()}
    return {**known, "subject_id": world.scope()["subject_id"], "expected_revision": 1}


@given(data=st.data())
def test_every_valid_request_gets_past_dispatch(bench: Bench, data: st.DataObject) -> None:
    """Every valid request gets past dispatch: it succeeds, or an operation refuses it for a reason of its own."""
    world = bench.world()
    known = _known(world)
    for operation in data.draw(st.lists(st.sampled_from(scenes.served(world)), min_size=1, max_size=6), "operations"):
        taken = world.members_of(operation.name)
        fixed = {name: value for name, value in known.items() if name in taken}
        payload = data.draw(requests(bench.bundle, operation.name, fixed=fixed), operation.stem)
        _gets_past_dispatch(bench, world, replace(world.root.call(operation.stem), payload=payload))


@given(data=st.data())
def test_every_limit_of_a_request_is_inside(bench: Bench, data: st.DataObject) -> None:
    """A request at the very limit of a length, a count, a number or an instant of its schema gets past dispatch."""
    world = bench.world()
    limits = [limit for operation in scenes.served(world) for limit in boundaries(bench.bundle, operation.name)]
    for limit in data.draw(st.lists(st.sampled_from(limits), min_size=1, max_size=6), "limits"):
        payload = data.draw(at_limit(bench.bundle, limit, fixed={"space_id": world.space_id}), str(limit))
        _gets_past_dispatch(bench, world, Call(limit.op, payload, world.root.credential, world.root.flags, "root"))


def _as_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_doubles(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_as_doubles(item) for item in value]
    return float(value) if type(value) is int else value


def test_an_integer_may_be_written_with_a_fraction_of_zero(bench: Bench) -> None:
    """5.0 is an integer: each operation takes its plain request with every number written so."""
    for world, _, call in scenes.each(bench):
        world.root.accepted(replace(call, payload=_as_doubles(call.payload)))


TIMES = ("2096-02-29T23:59:59Z", "2099-12-31T23:59:59.999999999999Z", "2100-01-01T00:00:00.0Z", "2400-02-29T00:00:00.0Z", LATEST)
"""Instants to come, with more and fewer fraction digits than any clock has, and on leap days."""


def test_a_timestamp_is_a_real_instant(bench: Bench) -> None:
    """A timestamp that is no real day and time in UTC breaks its request; one with any number of fraction digits does not."""
    world = bench.world()
    call = world.root.call("grants.grant", **scenes.plain_request(world, "grants.grant"))
    broken = [replace(call, payload={**call.payload, "expires_at": text}) for text in INVALID_TIMESTAMPS]
    scenes.stopped(world, call, broken, Code.MALFORMED_REQUEST, meant_invalid=True)
    for text in TIMES:
        world.root.do("grants.grant", **{**scenes.plain_request(world, "grants.grant"), "expires_at": text})
