"""A provider with ids and credentials of any characters that marks all it answers; ``Foreign`` is right, the others are not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.oracle import Choices
from conformance.oracle.provider import Answer
from conformance.wire import bundle
from conformance.wire.vocabulary import Code
from tests.other_answers import ERROR, Annotated

_CONTRACT = bundle.load()
MARK = "Schlüssel"
"""Begins each credential."""


def odd(kind: str, number: int) -> str:
    """Name an object with outer spaces, control and bidi characters, quotes and signs that mean something elsewhere."""
    if kind == "credential":
        return f"{MARK}\t\"{number}\" 'ñ'\\"
    return f" $\u202e{kind}~1/[{number}]\x01😀={{ "


class Foreign(Annotated):
    """Tells in each error who called, and has something of its own in each object and answer."""

    def __init__(self) -> None:
        super().__init__(Choices(make_id=odd, own_namespaces={"engine": {"shard": 7}}))

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        answer = super().call(credential, flags, op, payload)
        if ERROR in answer:
            answer[ERROR]["message"] = f"no, {credential}"
            answer[ERROR]["details"]["who"] = [repr(credential)]
        for grant in answer.get("payload", {}).get("grants", ()):
            if "expires_at" in grant:
                second, _, digits = grant["expires_at"].removesuffix("Z").partition(".")
                grant["expires_at"] = f"{second}.{digits}000Z"
        return answer


class Wrong(Foreign):
    """Says of a stale revision that the state is wrong."""

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        answer = super().call(credential, flags, op, payload)
        if answer.get(ERROR, {}).get("code") == _CONTRACT.code(Code.REVISION_STALE):
            row = _CONTRACT.errors[Code.WRONG_STATE]
            details = {**answer[ERROR]["details"], "retry": row.retry}
            return {ERROR: {**answer[ERROR], "code": row.code, "details": details}}
        return answer


class Misspelt(Foreign):
    """Says of a moved record that it has another kind, beside all that is its own."""

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Answer:
        answer = super().call(credential, flags, op, payload)
        record = answer.get("payload", {}).get("record")
        if op == "memory.records.get" and record is not None and record["revision"] > 1:
            return {"payload": {**answer["payload"], "record": {**record, "kind": f"{record['kind']}!"}}}
        return answer
