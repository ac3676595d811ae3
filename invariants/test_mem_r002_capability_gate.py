"""MEM-R002, capability gate: what is declared is served, and what is not negotiated never reaches a handler (section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.exchange import Call
from conformance.wire.bundle import Operation
from conformance.wire.vocabulary import Code, Flag, Reason
from conformance.world import World

SUB_FLAGS = (Flag.REFLECTION, Flag.TRANSFER, Flag.COGNITION)

# A name is made of what every transport carries as it is; the known ones are filtered out where they are drawn.
NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,12}(\.[a-zA-Z0-9_-]{1,12}){0,3}", fullmatch=True)
NEAR_NAMES = ("memory", "memory.record", "memory.records", "memory.records.created", "memory.records.erase", "records.create",
              "Memory.Records.Create", "memory.records.CREATE", "memory.spaces", "memory.principal.get", "memory_describe",
              "memory.spaces.create", "memory.grants.get", "memory.imports.get", "memory.describe.get", "describe")  # fmt: skip

# A predicate that every provider serves; which dimensions one serves is its own to say.
FILTER = {"holder_id": "h"}
BELIEF = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "a",
    "attribution": FILTER,
    "basis": {"kind": "stated", "refs": []},
    "time": {"recorded_at": "2026-01-01T00:00:00Z"},
}


def _names_like(flag: str) -> frozenset[str]:
    """Return names that resemble a flag: no session that negotiated them negotiated the flag."""
    return frozenset((f"{flag}-x", f"x-{flag}", flag[:-1], flag.partition("-")[0]))


def _declared(bench: Bench, world: World) -> frozenset[Flag]:
    """Return the flags of this family that ``memory.describe`` tells; those of other families are none of our business."""
    told = set(bench.described(world)["capabilities"])
    return frozenset(flag for flag in Flag if bench.bundle.flag(flag) in told)


def _session(caller: Caller, *flags: Flag, call: Call) -> Call:
    return replace(call, flags=caller.with_flags(*flags).flags)


def _shapes(world: World) -> Mapping[str, Mapping[str, Any]]:
    """Give requests of the gated operations that are valid in form; where nothing serves them there is nothing to make first."""
    selection = {"selection": scenes.selection(world.scope())}
    bundle, chunk = (_example(world, title) for title in ("MemoryExportBundle", "MemoryExportChunk"))
    return {
        "reflections.state": selection,
        "reflections.list": selection,
        "reflections.generate": selection,
        "exports.create": {},
        "exports.get": {"export_id": "e", "ordinal": 0},
        "imports.stage": {"bundle": bundle, "chunk": {**chunk, "ordinal": 0}},
        "imports.activate": {"import_id": "i", "expected_authority_generation": 1},
        "imports.discard": {"import_id": "i"},
    }


def _example(world: World, title: str) -> Mapping[str, Any]:
    example: Mapping[str, Any] = world.bundle.schema(world.bundle.model_ref(title))["examples"][0]
    return example


def test_describe_tells_the_declared_flags(bench: Bench) -> None:
    """memory.describe tells the declared set, the one that the provider says hello with, and a sub-flag implies spoke-memory."""
    world = bench.world()
    declared = _declared(bench, world)
    greeted = frozenset(flag for flag in Flag if bench.declares(flag))
    world.same_set([*declared], [*greeted], "memory.describe and control.hello declare different flags")
    world.expect(
        Flag.CORE in declared or not declared, "a sub-flag is declared without the flag of the core", seen=sorted(declared)
    )


@given(flags=st.sets(st.sampled_from(Flag)))
def test_describe_looks_at_no_session(bench: Bench, flags: set[Flag]) -> None:
    """memory.describe tells the declared set, whatever was negotiated."""
    world = bench.world()
    whole = world.root.do("describe")
    narrow = world.root.with_flags(*flags | {Flag.CORE}).do("describe")
    world.same_set(whole["capabilities"], narrow["capabilities"], "memory.describe tells another set in a narrower session")


def test_declared_operations_are_served_by_their_own_flag(bench: Bench) -> None:
    """The gate looks at the operation's own flag only, and a declared flag is served."""
    for world, operation, call in scenes.each(bench):
        _is_served(world, _session(world.root, operation.flag, call=call))


def _is_served(world: World, call: Call) -> None:
    """Expect a call to succeed; root's own session polls what is pending, since a narrower one may not reach receipts."""
    reply = world.exchange(call)
    world.expect(reply.ok, f"{call.op}: refused although its flag is declared and negotiated", seen=reply.error)
    if world.bundle.operations[call.op].mutation:
        state = world.root.settled(reply.payload["receipt"])["state"]
        world.same("committed", state, f"{call.op}: the state of the receipt")


def test_undeclared_flags_are_not_served(bench: Bench) -> None:
    """Declared flags are what is served: a flag that was asked for but is not declared counts as not negotiated."""
    world = bench.world()
    asking = world.root.with_flags(*Flag)
    missing = [operation for operation in bench.bundle.operations.values() if operation.flag not in _declared(bench, world)]
    shapes = _shapes(world)
    with world.unchanged():
        for operation in missing:
            asking.refused(operation.stem, Code.FLAG_NOT_NEGOTIATED, **shapes.get(operation.stem, {}))
    world.expect(asking.send("describe").ok, "memory.describe is not served in a session that asked for every flag")


def test_gate_stands_before_every_handler(bench: Bench) -> None:
    """An operation whose flag is not negotiated is refused before any handler: no state change, no receipt, no key used."""
    for world, operation, call in scenes.each(bench):
        others = [flag for flag in Flag if flag is not operation.flag]
        alike = replace(call, flags=_names_like(bench.bundle.flag(operation.flag)))
        attempts = [_session(world.root, *others, call=call), _session(world.root, call=call), alike]
        scenes.stopped(world, call, attempts, Code.FLAG_NOT_NEGOTIATED)
        if operation.mutation:
            _replays_are_gated(world, scenes.other_payload(call), attempts)


def _replays_are_gated(world: World, answered: Call, attempts: list[Call]) -> None:
    """Expect the repeat of a request that was accepted to meet the gate too: it stands before replays (section 6)."""
    with world.unchanged():
        for attempt in attempts:
            world.root.must_refuse(replace(attempt, payload=answered.payload), Code.FLAG_NOT_NEGOTIATED)


@given(data=st.data(), flags=st.sets(st.sampled_from(Flag)))
def test_gate_is_the_negotiated_set(bench: Bench, data: st.DataObject, flags: set[Flag]) -> None:
    """Flags are negotiated one by one per session; the gate looks only at the negotiated set."""
    world = bench.world()
    operation = data.draw(st.sampled_from(scenes.served(world)), "operation")
    call = world.root.call(operation.stem, **scenes.plain_request(world, operation.stem))
    if operation.flag in flags:
        _is_served(world, _session(world.root, *flags, call=call))
    else:
        scenes.stopped(world, call, [_session(world.root, *flags, call=call)], Code.FLAG_NOT_NEGOTIATED)


@given(op=NAMES)
def test_unknown_operation_is_unsupported(bench: Bench, op: str) -> None:
    """An unknown operation name is refused as such and leaves no trace."""
    assume(op not in bench.bundle.operations)
    _unknown(bench.world(), op)


def test_names_near_to_an_operation_are_unsupported(bench: Bench) -> None:
    """An operation is known by its whole name, letter by letter."""
    _unknown(bench.world(), *NEAR_NAMES)


def _unknown(world: World, *names: str) -> None:
    """Expect a request that is right but for the name of its operation to be refused as unknown, whatever the name is."""
    call = world.root.call("records.create", **scenes.plain_request(world, "records.create"))
    scenes.stopped(world, call, [replace(call, op=name) for name in names], Code.UNKNOWN_OPERATION, meant_invalid=True)


def test_cognition_filter_wants_its_flag(bench: Bench) -> None:
    """A cognition filter without the negotiated flag refuses the whole request; with it, or without the filter, it is served."""
    for world, operation, call in scenes.each(bench, lambda operation: operation.takes_cognition_filter):
        _filter_is_gated(world, operation, call)


def _filter_is_gated(world: World, operation: Operation, call: Call) -> None:
    world.root.create(content={"text": "a", "cognition": [BELIEF]})
    filtered = replace(call, payload={**call.payload, "cognition_filter": FILTER})
    with world.unchanged():
        error = world.root.must_refuse(
            _session(world.root, operation.flag, call=filtered), Code.FLAG_NOT_NEGOTIATED, Code.MALFORMED_REQUEST
        )
    if error["code"] == world.bundle.code(Code.MALFORMED_REQUEST):
        reason = (error.get("details") or {}).get("reason")
        world.same(world.bundle.reason(Reason.UNSUPPORTED_COGNITION), reason, "the refusal does not say what is not supported")
    _is_served(world, _session(world.root, operation.flag, call=call))
    if world.bundle.flag(Flag.COGNITION) in world.root.flags:
        unused = {"idempotency_key": world.fresh_key()} if operation.mutation else {}
        allowed = replace(filtered, payload={**filtered.payload, **unused})
        _is_served(world, _session(world.root, operation.flag, Flag.COGNITION, call=allowed))


def test_no_other_request_takes_a_cognition_filter(bench: Bench) -> None:
    """On any other request a cognition filter is an unknown member, flag or not."""
    for world, operation, call in scenes.each(bench, lambda operation: not operation.takes_cognition_filter):
        filtered = replace(call, payload={**call.payload, "cognition_filter": FILTER})
        attempts = [filtered, _session(world.root, operation.flag, call=filtered)]
        scenes.stopped(world, call, attempts, Code.MALFORMED_REQUEST, meant_invalid=True)
