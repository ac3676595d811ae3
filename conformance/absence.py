"""What is checked instead of a rule whose flag the target does not declare: its refusal (protocol.md sections 2 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from conformance.bench import Bench
from conformance.caller import Caller
from conformance.exchange import Call
from conformance.wire.bundle import Bundle, Operation
from conformance.wire.vocabulary import Code, Flag, Reason

Members = dict[str, Any]
_EVERYTHING = {"subject_id": "u1", "mode": "all_authorized"}


def refused_operations(bench: Bench, flag: Flag) -> None:
    """See that every operation behind ``flag`` is refused, whether negotiated or only asked for. Raises ``CheckFailed``."""
    world = bench.world()
    for operation in world.bundle.operations.values():
        if operation.flag is flag:
            for caller in _sessions(world.root, bench.bundle.flag(flag)):
                call = caller.call(operation.stem, **_members(bench.bundle, operation))
                caller.must_refuse(call, Code.FLAG_NOT_NEGOTIATED, meant_invalid=True)


def refused_filter(bench: Bench, flag: Flag) -> None:
    """See that the requests that take a cognition filter refuse it. Raises ``CheckFailed``."""
    world = bench.world()
    for operation in world.bundle.operations.values():
        if operation.takes_cognition_filter and bench.bundle.flag(operation.flag) in bench.facts.flags:
            members = {**_members(bench.bundle, operation), "cognition_filter": {"dimension": "belief"}}
            for caller in _sessions(world.root, bench.bundle.flag(flag)):
                _refused_filter(caller, caller.call(operation.stem, **members))


def _refused_filter(caller: Caller, call: Call) -> None:
    """Either answer of section 2 conforms: the flag is missing, or the requirement is not supported."""
    error = caller.must_refuse(call, Code.FLAG_NOT_NEGOTIATED, Code.MALFORMED_REQUEST)
    bundle = caller.world.bundle
    if error["code"] == bundle.code(Code.MALFORMED_REQUEST):
        reason = (error.get("details") or {}).get("reason")
        unsupported = bundle.reason(Reason.UNSUPPORTED_COGNITION)
        caller.world.expect(reason == unsupported, f"{call.op}: the refused filter is not told as unsupported", seen=error)


def _sessions(root: Caller, flag: str) -> tuple[Caller, Caller]:
    return root, replace(root, flags=root.flags | {flag})


def _members(bundle: Bundle, operation: Operation) -> Members:
    return _MEMBERS[operation.stem](bundle)


def _selection(_bundle: Bundle) -> Members:
    return {"selection": _EVERYTHING}


def _recall(_bundle: Bundle) -> Members:
    return {"selection": _EVERYTHING, "budget": {"max_records": 1}}


def _nothing(_bundle: Bundle) -> Members:
    return {}


def _export(_bundle: Bundle) -> Members:
    return {"export_id": "e1", "ordinal": 0}


def _chunk(bundle: Bundle) -> Members:
    return {"bundle": _example(bundle, "MemoryExportBundle"), "chunk": {**_example(bundle, "MemoryExportChunk"), "ordinal": 0}}


def _activate(_bundle: Bundle) -> Members:
    return {"import_id": "i1", "expected_authority_generation": 1}


def _discard(_bundle: Bundle) -> Members:
    return {"import_id": "i1"}


def _example(bundle: Bundle, title: str) -> Any:
    """Return a bundle's own example of a model: it names no object of the provider, which must not look at it anyway."""
    return next(iter(bundle.schema(bundle.model_ref(title)).get("examples", ())), {})


# A request of each operation that another flag than the core gates, or that takes a filter. None needs an object to exist.
_MEMBERS: Mapping[str, Callable[[Bundle], Members]] = MappingProxyType(
    {
        "recall": _recall,
        "records.list": _selection,
        "reflections.state": _selection,
        "reflections.list": _selection,
        "reflections.generate": _selection,
        "exports.create": _nothing,
        "exports.get": _export,
        "imports.stage": _chunk,
        "imports.activate": _activate,
        "imports.discard": _discard,
    }
)

# flag -> what shows that it is refused
REFUSALS: Mapping[Flag, Callable[[Bench, Flag], None]] = MappingProxyType(
    {Flag.REFLECTION: refused_operations, Flag.TRANSFER: refused_operations, Flag.COGNITION: refused_filter}
)
