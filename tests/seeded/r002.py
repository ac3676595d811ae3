"""Faults of MEM-R002: the gate looks at the wrong set, at the wrong time, or at the wrong name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from conformance import dispatch
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire.bundle import Bundle, Operation, load
from conformance.wire.vocabulary import Code, Flag
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, patched

RULE = "MEM-R002"

_BUNDLE = load()
_WITHOUT_TRANSFER = [_BUNDLE.flag(flag) for flag in Flag if flag is not Flag.TRANSFER]


def _all_that_was_asked_for(_original: Any) -> Any:
    return lambda flags, _declared: frozenset(flags)


def _refusing_reflection(original: Any) -> Any:
    def gate(bundle: Bundle, operation: Operation, flags: frozenset[str]) -> None:
        if operation.flag is Flag.REFLECTION:
            raise dispatch.rejection(bundle, Code.FLAG_NOT_NEGOTIATED)
        original(bundle, operation, flags)

    return gate


def _gate_after_the_handler(original: Any) -> Any:
    def call(self: Any, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Any:
        answer = original(self, credential, [_BUNDLE.flag(flag) for flag in Flag], op, payload)
        operation = _BUNDLE.operations.get(op)
        if operation is not None and _BUNDLE.flag(operation.flag) not in set(flags):
            return {"error": dispatch.envelope(dispatch.rejection(_BUNDLE, Code.FLAG_NOT_NEGOTIATED))}
        return answer

    return call


def _by_prefix(_original: Any) -> Any:
    def negotiated(flags: Iterable[str], declared: frozenset[str]) -> frozenset[str]:
        asked = list(flags)
        return frozenset(flag for flag in declared if any(one.startswith(flag) for one in asked))

    return negotiated


def _core_as_well(original: Any) -> Any:
    def gate(bundle: Bundle, operation: Operation, flags: frozenset[str]) -> None:
        original(bundle, operation, flags)
        if bundle.flag(Flag.CORE) not in flags:
            raise dispatch.rejection(bundle, Code.FLAG_NOT_NEGOTIATED)

    return gate


def _one_forgotten(original: Any) -> Any:
    def gate(bundle: Bundle, operation: Operation, flags: frozenset[str]) -> None:
        if operation.stem != "imports.discard":
            original(bundle, operation, flags)

    return gate


def _in_any_case(original: Any) -> Any:
    return lambda bundle, op: original(bundle, op.lower())


def _filter_of_one_forgotten(original: Any) -> Any:
    def gate_cognition(bundle: Bundle, operation: Operation, flags: frozenset[str], payload: Any) -> None:
        if operation.stem != "reflections.generate":
            original(bundle, operation, flags, payload)

    return gate_cognition


def _one_too_few(_turn: Turn, _space: Space, members: Doc) -> Doc:
    return {**members, "capabilities": [flag for flag in members["capabilities"] if flag != _BUNDLE.flag(Flag.TRANSFER)]}


_EXPORTED: WeakKeyDictionary[dispatch.Dispatcher, set[str]] = WeakKeyDictionary()


def _replays_first(original: Any) -> Any:
    """Answer an export that was accepted once before anyone asks what was negotiated."""

    def call(self: dispatch.Dispatcher, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Any:
        known, asked = _EXPORTED.setdefault(self, set()), json.dumps([credential, op, payload])
        answer = original(self, credential, [*flags, _BUNDLE.flag(Flag.TRANSFER)] if asked in known else flags, op, payload)
        if op == "memory.exports.create" and "payload" in answer:
            known.add(asked)
        return answer

    return call


FAULTS: tuple[Fault, ...] = (
    Fault(
        "r002_serves_an_undeclared_flag",
        RULE,
        "the transfer operations are served although their flag is not declared",
        patched(Patch(dispatch, "negotiated", _all_that_was_asked_for), flags=_WITHOUT_TRANSFER),
    ),
    Fault(
        "r002_declares_what_it_refuses",
        RULE,
        "the flag of reflections is declared and its operations are refused as not negotiated",
        patched(Patch(dispatch, "gate", _refusing_reflection)),
    ),
    Fault(
        "r002_handler_before_the_gate",
        RULE,
        "the handler runs before the gate refuses",
        patched(Patch(dispatch.Dispatcher, "call", _gate_after_the_handler)),
    ),
    Fault(
        "r002_flags_compared_by_prefix",
        RULE,
        "a flag counts as negotiated when a negotiated name begins with it",
        patched(Patch(dispatch, "negotiated", _by_prefix)),
        source="ours",
    ),
    Fault(
        "r002_gate_wants_the_core_as_well",
        RULE,
        "an operation of a sub-flag wants the flag of the core negotiated too",
        patched(Patch(dispatch, "gate", _core_as_well)),
        source="ours",
    ),
    Fault(
        "r002_one_operation_without_a_gate",
        RULE,
        "imports.discard is served whatever was negotiated",
        patched(Patch(dispatch, "gate", _one_forgotten)),
        source="ours",
    ),
    Fault(
        "r002_operation_names_in_any_case",
        RULE,
        "an operation is found by its name in any case of letters",
        patched(Patch(dispatch, "known", _in_any_case)),
        source="ours",
    ),
    Fault(
        "r002_one_filter_without_a_gate",
        RULE,
        "reflections.generate takes a cognition filter that was not negotiated",
        patched(Patch(dispatch, "gate_cognition", _filter_of_one_forgotten)),
        source="ours",
    ),
    Fault(
        "r002_describe_tells_less_than_is_served",
        RULE,
        "memory.describe does not tell a flag that is served",
        patched(altered.answer("describe", _one_too_few)),
        source="ours",
    ),
    Fault(
        "r002_replay_before_the_gate",
        RULE,
        "the repeat of an accepted export is answered whatever was negotiated",
        patched(Patch(dispatch.Dispatcher, "call", _replays_first)),
        source="ours",
    ),
)
