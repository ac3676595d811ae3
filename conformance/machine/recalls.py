"""What a recall answers (protocol.md section 7, Recall): the eligible set is the model's, rank and cut are the provider's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.exchange import Reply
from conformance.machine import freedom
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Actor, Duo
from conformance.machine.judging import member_differs
from conformance.machine.model import NO_LIMIT, Asked
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc
from conformance.wire.canonical import canonical, content_bytes

RECALL = "memory.recall"


class Recalls:
    """Judges recalls; the same request in the same state must get the same answer."""

    def __init__(self, duo: Duo) -> None:
        self._duo = duo
        self._answers: dict[bytes, tuple[bytes, bytes]] = {}

    def send(self, actor: Actor, request: Doc) -> Reply:
        """Recall, and judge the answer."""
        seen = self._duo.exchange(actor, RECALL, request)
        asked = Asked(actor.principal_id, RECALL, request)
        eligible = self._eligible(asked)
        if isinstance(eligible, Refusal) or seen.error is not None:
            self._duo.keep(self._duo.judge.judge(self._duo.model.state, asked, seen))
        else:
            self._judge(asked, eligible, seen.payload)
        if self._duo.watch is not None:
            self._duo.watch(asked, seen, self._duo.model.state)
        return seen

    def _eligible(self, asked: Asked) -> list[Doc] | Refusal:
        """Give all records that may be recalled."""
        request = {**asked.request, "budget": {"max_records": NO_LIMIT}}
        _, reply = self._duo.model.step(self._duo.model.state, Asked(asked.caller, asked.op, request))
        if isinstance(reply, Refusal):
            return reply
        records: list[Doc] = reply["records"]
        return records

    def _judge(self, asked: Asked, eligible: list[Doc], seen: Doc) -> None:
        whole = {record["record_id"]: record for record in eligible}
        names = [record["record_id"] for record in seen["records"]]
        for record in seen["records"]:
            mine = whole.get(record["record_id"])
            if mine is None:
                raise _wrong("a record that is not eligible", None, record, self._of_stranger(record))
            found = freedom.RECORD(self._duo.sight, mine, record, f"/{record['record_id']}")
            if found is not None:
                raise member_differs(RECALL, found, mine)
        if len(set(names)) != len(names):
            raise _wrong("a record twice", None, names)
        used = sum(content_bytes(whole[name]["content"]) for name in names)
        _same("used_bytes", used, seen["used_bytes"])
        _same("truncated", len(names) < len(whole), seen["truncated"])
        _cut(asked.request["budget"], whole, len(names), used)
        self._repeated(asked, whole, seen)

    def _of_stranger(self, record: Mapping[str, Any]) -> str:
        known = self._duo.model.space(record["space_id"]).records.get(record["record_id"])
        return "R021" if known is not None and "tombstone" in known else "R010" if known is not None else "R027"

    def _repeated(self, asked: Asked, whole: Mapping[str, Doc], seen: Doc) -> None:
        # An activation is another state even where it brings the same: what it brought may rank in another order.
        generation = self._duo.model.space(asked.request["space_id"]).facts["authority_generation"]
        asking, state = canonical([asked.caller, asked.request]), canonical([whole, generation])
        answer = canonical([record["record_id"] for record in seen["records"]])
        known, before = self._answers.get(asking, (b"", b""))
        self._answers[asking] = (state, answer)
        if known == state and before != answer:
            raise _wrong("another answer to the same", before.decode(), answer.decode())


def _same(member: str, expected: Any, seen: Any) -> None:
    if expected != seen or isinstance(seen, bool) != isinstance(expected, bool):
        raise Disagreement("R023", RECALL, Kind.MEMBER, reason=member, expected=expected, seen=seen, pointer=f"/{member}")


def _cut(budget: Mapping[str, Any], whole: Mapping[str, Doc], taken: int, used: int) -> None:
    most, size = budget.get("max_records"), budget.get("max_bytes")
    if most is not None and taken > most:
        raise _wrong("more than max_records", most, taken)
    if size is not None and used > size:
        raise _wrong("more than max_bytes", size, used)
    if size is None and most is not None and taken != min(most, len(whole)):
        raise _wrong("not exactly min(max_records, eligible)", min(most, len(whole)), taken)
    fits = size is None or sum(content_bytes(record["content"]) for record in whole.values()) <= size
    if fits and (most is None or most >= len(whole)) and taken != len(whole):
        raise _wrong("the whole set fits and is not whole", len(whole), taken)


def _wrong(reason: str, expected: Any, seen: Any, rule: str = "R023") -> Disagreement:
    return Disagreement(rule, RECALL, Kind.MEMBER, reason=reason, expected=expected, seen=seen)
