"""Faults that MEM-R001 (the durable envelope) must catch: values that a store takes for others."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from tests.seeded import altered
from tests.seeded.fault import Fault, patched

RULE = "MEM-R001"


def _kept(member: str, change: Callable[[Any], Any]) -> Any:
    """Keep a member of what a request for a record brings as ``change`` gives its values."""

    def wrap(original: Any) -> Any:
        def create(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, {**request, member: _changed(change, request.get(member, {}))})
            return outcome

        return create

    return wrap


def _changed(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, dict):
        return {name: part if name in ("text", "cognition") else _changed(change, part) for name, part in value.items()}
    return [_changed(change, part) for part in value] if isinstance(value, list) else change(value)


def _of_32_bits(value: Any) -> Any:
    wide = isinstance(value, int) and not isinstance(value, bool)
    return (value + 2**31) % 2**32 - 2**31 if wide else value


def _single(value: Any) -> Any:
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) and abs(value) < 1e38 else value


def _typed(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdigit() and str(int(value)) == value else value


def _dated(value: Any) -> Any:
    return f"{value}T00:00:00Z" if isinstance(value, str) and len(value) == 10 and value[4:5] == value[7:8] == "-" else value


FAULTS: tuple[Fault, ...] = tuple(
    Fault(f"r001_{name}", RULE, sentence, patched(altered.step("records.create", _kept(member, change))), "ours")
    for name, sentence, member, change in (
        ("integers_of_32_bits", "integers in structured content are kept in 32 bits", "content", _of_32_bits),
        ("doubles_of_32_bits", "numbers in extensions are kept in single precision", "extensions", _single),
        ("digits_become_numbers", "a text of digits in structured content becomes a number", "content", _typed),
        ("dates_get_a_time", "a text that reads as a date in structured content gets a time", "content", _dated),
    )
)
