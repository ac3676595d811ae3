"""Faults that MEM-R024 (recorded cognition) must catch: cognition that depends on what a session has negotiated."""

from __future__ import annotations

from typing import Any

from conformance.oracle import contents
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire.vocabulary import Flag
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, always
from tests.seeded.scoped import without

RULE = "MEM-R024"


def _bare(_turn: Turn, _space: Space, members: Doc) -> Doc:
    record = members["record"]
    content: dict[str, Any] = {name: part for name, part in record["content"].items() if name != "cognition"}
    return {"record": {**record, "content": content}}


FAULTS: tuple[Fault, ...] = (
    Fault(
        "r024_unchecked_without_the_flag",
        RULE,
        "a malformed cognition record is taken where the flag is not negotiated",
        without(Flag.COGNITION, Patch(contents, "refuse_malformed_cognition", always(None))),
        source="ours",
    ),
    Fault(
        "r024_unseen_without_the_flag",
        RULE,
        "records.get leaves cognition out where the flag is not negotiated",
        without(Flag.COGNITION, altered.answer("records.get", _bare)),
        source="ours",
    ),
)
