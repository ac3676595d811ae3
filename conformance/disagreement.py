"""Where the answers of two providers to the same calls differ, beyond what the contract leaves open (``machine.freedom``).

Ids, digests and cursors are paired as they come: what is new on both sides is the same thing, what is known must be the same
again. Times are compared only with themselves: what stays on one side stays on the other. Lists without order are sets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from conformance.client import unannotated
from conformance.counterexample import Kind
from conformance.exchange import Call
from conformance.machine import freedom
from conformance.machine.comparison import COGNITION, Sight, affected, as_instant, as_set, free, moment, own_namespaces, signal
from conformance.rehearsal import Answered, Heard
from conformance.symbols import OWN_DIGESTS, START, escaped, is_own_digest, since
from conformance.wire.bundle import Bundle, Operation, instant
from conformance.wire.canonical import NotCanonical, digest, same
from conformance.wire.vocabulary import Code

KEYED: Mapping[str, str] = MappingProxyType(
    {**{name: key for name, (key, _) in freedom.ITEMS.items()}, "documents": "kind", "profiles": "kind"}
)
"""The members of answers that list objects, with what names an object there."""
SETS = freedom.members(as_set) - KEYED.keys()
"""Lists of texts whose order says nothing."""
CLOCKED = freedom.members(moment)
"""Timestamps that say when something happened: two providers never say the same."""
ENDS = freedom.members(as_instant)
"""Timestamps that a request says: any spelling of the same instant is the same."""
SHARED = freedom.members(own_namespaces)
"""Members in which the provider may have something of its own beside what a request brought."""
AFFECTED = freedom.members(affected)
OWN = frozenset({"message", "next_cursor"})
"""Members that are the provider's own in every answer (protocol.md sections 1 and 7, Lists)."""
OF_EVERY = freedom.members_of(freedom.EVERY, free)
"""Members of every object that are left open."""
IN_CHUNKS = freedom.members_of("travelling reflection", free)
"""Members of a reflection that are left open where it travels."""
TELLING: Mapping[str, str] = MappingProxyType({"describe": "protocol_version", "reflection": "reflection_id"})
"""Objects of which whole members are left open (``freedom.FREEDOM``), with a member that tells such an object."""
LEFT_OPEN: Mapping[str, frozenset[str]] = MappingProxyType(
    {"describe": freedom.members_of("describe"), "reflection": freedom.members_of("reflection", free)}
)
DETAILS = ("reason", "field", "expected_revision", "actual_revision", "missing_kinds")
"""The details of an error that the contract determines."""
_MADE = re.compile(r"(?:^|_)(?:ids?|by|digests?)$")
_IDS = ("record_id", "candidate_id", "grant_id", "reflection_id", "receipt_id", "export_id", "subject_id", "space_id")
_VERBATIM = frozenset({"content", "extensions", "selection", "filter", "cognition_filter"})


@dataclass(frozen=True, slots=True)
class Difference:
    """One place: ``call`` is the number of the call, ``expected`` what the model says there, ``seen`` what the target says.

    A part of ``pointer`` that selects an item of a list has the model's value in it; ``by`` names the items of a list. ``other``
    is the number of the call whose answer this one should repeat.
    """

    call: int
    kind: Kind
    pointer: tuple[str | tuple[str, str], ...] = ()
    expected: Any = None
    seen: Any = None
    by: str = ""
    other: int = 0

    @property
    def shape(self) -> tuple[Kind, tuple[str, ...], str]:
        """What it has in common with the same difference in another list of calls."""
        names = tuple("*" if isinstance(part, tuple) or part.isdigit() else part for part in self.pointer)
        return self.kind, names, str(self.seen) if self.kind in (Kind.ACCEPTED, Kind.REFUSED) else type(self.seen).__name__


Place = tuple[str | tuple[str, str], ...]


class Comparison:
    """Compares what a target and a model said to the same calls."""

    def __init__(self, bundle: Bundle, target: Heard, model: Heard, wanted: Sequence[str] = ()) -> None:
        self._bundle = bundle
        self._target = target
        self._model = model
        self._wanted = frozenset(wanted)
        self._pairs: dict[str, str] = {}
        self._back: dict[str, str] = {}
        self._sight = Sight()
        self._times: dict[tuple[str, str], tuple[str, str]] = {}
        self._reads: dict[tuple[str, str, str], tuple[int, Any, Any]] = {}
        self._sent: tuple[dict[str, int], dict[str, int]] = ({}, {})
        for symbol, value in model.bound.items():
            if symbol in target.bound and isinstance(value, str) and symbol.startswith(("$space", "$root", "$p")):
                self._pair(target.bound[symbol], value)

    def differences(self) -> Iterator[Difference]:
        """Give the differences in the order of the calls."""
        for number, (target, model) in enumerate(zip(self._target.answers, self._model.answers, strict=False)):
            self._note(number, target, model)
            yield from self._answers(number, target, model)

    def _note(self, number: int, target: Answered, model: Answered) -> None:
        self._hear(target)
        for sent, answered in zip(self._sent, (target, model), strict=True):
            try:
                sent[digest(answered.call.payload)] = number
            except NotCanonical:
                continue

    def _hear(self, target: Answered) -> None:
        """Take note of what an accepted request brought, which must not turn up elsewhere."""
        call = target.call
        known = call.op in self._bundle.operations and target.reply is not None and target.reply.ok
        if known and self._bundle.request(call.op).accepts(call.payload):
            self._sight.hear(call.payload)

    # -- one call

    def _answers(self, number: int, target: Answered, model: Answered) -> Iterator[Difference]:
        if target.call.is_control or model.reply is None or model.broken:
            return
        if target.broken or target.reply is None:
            yield Difference(number, Kind.FORM, seen=target.broken)
        elif target.outcome != model.outcome:
            yield from self._outcomes(number, target, model)
        elif target.reply.error is not None and model.reply.error is not None:
            yield from self._details(number, target.reply.error, model.reply.error)
        else:
            yield from self._bodies(number, target, model)

    def _outcomes(self, number: int, target: Answered, model: Answered) -> Iterator[Difference]:
        if self._conforms(target, model):
            return
        if not model.outcome:
            yield Difference(number, Kind.ACCEPTED, seen=target.outcome)
        else:
            yield Difference(number, Kind.REFUSED, expected=model.outcome, seen=target.outcome)

    def _conforms(self, target: Answered, model: Answered) -> bool:
        """Say whether both outcomes conform, as far as the check did not want one of them."""
        if self._wanted and model.outcome in self._wanted and target.outcome not in self._wanted:
            return False

        def code(symbol: Code) -> str:
            return self._bundle.answered(symbol).code

        both = {target.outcome, model.outcome}
        if any(both <= {code(symbol), code(other)} for symbol, other in freedom.EITHER.items()):
            return True
        if "cognition_filter" in target.call.payload and both <= {code(Code.FLAG_NOT_NEGOTIATED), code(Code.MALFORMED_REQUEST)}:
            return True
        return model.outcome == code(Code.CURSOR_INVALID) and not target.outcome

    def _details(self, number: int, target: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Difference]:
        seen, expected = target.get("details") or {}, model.get("details") or {}
        for name in DETAILS:
            if name in expected and not self._tells(name, expected[name], seen.get(name)):
                yield Difference(number, Kind.MEMBER, ("error", "details", name), expected[name], seen.get(name))

    def _tells(self, name: str, expected: Any, seen: Any) -> bool:
        """Say whether a detail is told; of a set the order says nothing."""
        if name in SETS and isinstance(seen, list):
            return sorted(map(str, expected)) == sorted(map(str, seen))
        return same(expected, seen)

    def _bodies(self, number: int, target: Answered, model: Answered) -> Iterator[Difference]:
        operation = self._bundle.operations.get(target.call.op)
        if operation is None or target.reply is None or model.reply is None:
            return
        left, right = unannotated(target.reply).payload, unannotated(model.reply).payload
        repeated = list(self._repeated(number, operation, target.call, left, right))
        # Where a member differs, that says more than that it was another one before.
        yield from list(self._contents(number, operation, target.call.payload, dict(left), dict(right))) or repeated

    def _contents(
        self, number: int, operation: Operation, request: Mapping[str, Any], left: dict[str, Any], right: dict[str, Any]
    ) -> Iterator[Difference]:
        page = request.get("page") or {}
        if operation.lists and "cursor" not in page:
            yield from self._ends_of_pages(number, operation.lists, left, right)
        if operation.lists and ("cursor" in page or "next_cursor" in left or "next_cursor" in right):
            left.pop(operation.lists, None)
            right.pop(operation.lists, None)
        if operation.stem == "recall" and right["truncated"]:
            yield from self._budgets(number, request["budget"], left)
            for name in ("records", "used_bytes"):
                left.pop(name), right.pop(name)
        if "chunk" in right and right["bundle"]["chunk_count"] != 1:
            left["chunk"], right["chunk"] = ({**side["chunk"], "items": []} for side in (left, right))
        yield from self._objects(number, (), left, right)

    def _repeated(
        self, number: int, operation: Operation, call: Call, target: Mapping[str, Any], model: Mapping[str, Any]
    ) -> Iterator[Difference]:
        """Compare a list with the answer to the same request before: where the model repeats itself, so does the target."""
        listed = operation.lists or ("records" if operation.stem == "recall" else "")
        if not listed:
            return
        key = (call.caller, operation.name, json.dumps(call.payload, sort_keys=True))
        seen, expected = target[listed], model[listed]
        before, seen_then, expected_then = self._reads.get(key, (number, seen, expected))
        self._reads[key] = (number, seen, expected)
        if same(expected_then, expected) and not same(seen_then, seen):
            yield Difference(number, Kind.SAME, (listed,), None, seen, other=before)

    def _ends_of_pages(
        self, number: int, listed: str, target: Mapping[str, Any], model: Mapping[str, Any]
    ) -> Iterator[Difference]:
        """See that nothing is announced after a page that holds everything."""
        whole = "next_cursor" not in model and len(target[listed]) == len(model[listed])
        if whole and "next_cursor" in target:
            yield Difference(number, Kind.ABSENT, ("next_cursor",), None, target["next_cursor"])

    def _budgets(self, number: int, budget: Mapping[str, int], answer: Mapping[str, Any]) -> Iterator[Difference]:
        if answer["used_bytes"] > budget.get("max_bytes", answer["used_bytes"]):
            yield Difference(number, Kind.AT_MOST, ("used_bytes",), budget["max_bytes"], answer["used_bytes"])
        if len(answer["records"]) > budget.get("max_records", len(answer["records"])):
            yield Difference(number, Kind.AT_MOST, ("records",), budget["max_records"], len(answer["records"]))

    # -- values

    def _values(self, number: int, place: Place, target: Any, model: Any) -> Iterator[Difference]:
        name = str(place[-1]) if place and isinstance(place[-1], str) else ""
        if isinstance(target, Mapping) and isinstance(model, Mapping):
            yield from self._objects(number, place, target, model)
        elif isinstance(target, list) and isinstance(model, list):
            yield from self._lists(number, place, target, model)
        elif isinstance(target, str) and isinstance(model, str):
            yield from self._texts(number, place, name, target, model)
        elif not same(target, model):
            yield Difference(number, Kind.MEMBER, place, model, target)

    def _objects(self, number: int, place: Place, target: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Difference]:
        yield from self._times_of(number, place, target, model)
        yield from self._seals(number, place, target, model)
        for name in sorted(set(target) | set(model)):
            if self._is_free(name, place, model):
                continue
            where = (*place, escaped(name))
            if name in SHARED and not _VERBATIM & set(place) and isinstance(target.get(name), Mapping):
                yield from self._shared(number, where, target[name], model.get(name) or {})
            elif name not in model:
                yield Difference(number, Kind.ABSENT, where, None, target[name])
            elif name not in target:
                yield Difference(number, Kind.MEMBER, where, model[name], None)
            elif name in ENDS and not _VERBATIM & set(place) and instant(target[name]) == instant(model[name]):
                continue
            elif name == "classification":
                yield from self._signals(number, where, target[name], model[name])
            else:
                yield from self._values(number, where, target[name], model[name])

    def _shared(self, number: int, place: Place, target: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Difference]:
        """Compare the extensions of requests; what is there beside them is the provider's own, where no request brought it."""
        further = {name: value for name, value in target.items() if name not in model}
        if (leaked := own_namespaces(self._sight, {}, further, "")) is not None:
            yield Difference(number, Kind.ABSENT, (*place, escaped(leaked.pointer[1:])), None, leaked.seen)
        yield from self._objects(number, place, {name: value for name, value in target.items() if name in model}, model)

    def _is_free(self, name: str, place: Place, model: Mapping[str, Any]) -> bool:
        inside = _VERBATIM & {part for part in place if isinstance(part, str)}
        return not inside and (
            name in OWN
            or name in CLOCKED
            or name in OF_EVERY
            or any(name in LEFT_OPEN[of] for of, telling in TELLING.items() if telling in model)
            or (name in IN_CHUNKS and "chunk" in place and "reflection_id" in model)
            or (name in ENDS and START in self._model.bound)
        )

    def _signals(self, number: int, place: Place, target: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Difference]:
        if signal(target) != signal(model):
            kind = Kind.HOLDS if signal(model) else Kind.LACKS
            yield Difference(number, kind, (*place, "signals"), COGNITION, target["signals"])

    def _seals(self, number: int, place: Place, target: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Difference]:
        for name in OWN_DIGESTS:
            if name in model and name in target and is_own_digest(model, name) and not is_own_digest(target, name):
                yield Difference(number, Kind.SEALED, (*place, name), None, target[name])

    def _times_of(self, number: int, place: Place, target: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Difference]:
        """Compare the times of an object with the same times of the same object in an earlier answer."""
        owner = next((f"{name} {model[name]}" for name in _IDS if name in model), "")
        if not owner or _VERBATIM & {part for part in place if isinstance(part, str)}:
            return
        owner += f" {model.get('kind')}" if "content_digest" in model else ""
        for name in sorted(set(model) & set(target)):
            if name not in CLOCKED | ENDS:
                continue
            before = self._times.get((owner, name))
            if name in ENDS:
                yield from self._ends(number, (*place, name), target[name], model[name])
            elif before is not None and before[1] == model[name] and before[0] != target[name]:
                yield Difference(number, Kind.MEMBER, (*place, name), model[name], target[name])
            self._times[owner, name] = (target[name], model[name])

    def _ends(self, number: int, place: Place, target: str, model: str) -> Iterator[Difference]:
        if START in self._model.bound:
            far = 10**9
            ends = since(self._target.bound[START], _plain(target), far), since(self._model.bound[START], _plain(model), far)
            if ends[0] != ends[1] and instant(target) != instant(model):
                yield Difference(number, Kind.MEMBER, place, model, target)

    def _texts(self, number: int, place: Place, name: str, target: str, model: str) -> Iterator[Difference]:
        inside = _VERBATIM & {part for part in place if isinstance(part, str)}
        if name == "payload_digest":
            if self._sent[0].get(target) != self._sent[1].get(model):
                yield Difference(number, Kind.MEMBER, place, model, target)
        elif inside or not self._is_made(place) or name == "content_digest":
            if target != model and self._pairs.get(target) != model:
                yield Difference(number, Kind.MEMBER, place, model, target)
        elif target in self._pairs or model in self._back:
            if self._pairs.get(target) != model:
                yield Difference(number, Kind.MEMBER if model in self._back else Kind.FRESH, place, model, target)
        else:
            self._pair(target, model)

    def _is_made(self, place: Place) -> bool:
        names = [part for part in place if isinstance(part, str) and not part.isdigit()]
        return bool(names) and _MADE.search(names[-1]) is not None

    def _pair(self, target: str, model: str) -> None:
        self._pairs[target] = model
        self._back[model] = target

    # -- lists

    def _lists(self, number: int, place: Place, target: list[Any], model: list[Any]) -> Iterator[Difference]:
        name = str(place[-1])
        if name in AFFECTED and not _VERBATIM & set(place):
            target = _affected(target, model)
        if name in SETS:
            if sorted(map(self._told, target)) != sorted(map(str, model)):
                yield Difference(number, Kind.ITEMS, place, model, target)
        elif name in KEYED and all(isinstance(item, Mapping) and KEYED[name] in item for item in (*target, *model)):
            yield from self._items(number, place, KEYED[name], target, model)
        elif name == "items":
            yield from self._parcels(number, place, target, model)
        elif len(target) != len(model):
            yield Difference(number, Kind.MEMBER, place, model, target)
        else:
            for index, (left, right) in enumerate(zip(target, model, strict=True)):
                yield from self._values(number, (*place, str(index)), left, right)

    def _told(self, text: Any) -> str:
        return self._pairs.get(text, str(text))

    def _items(self, number: int, place: Place, by: str, target: list[Any], model: list[Any]) -> Iterator[Difference]:
        left = {self._told(item[by]): item for item in target}
        new = [key for key in left if key not in self._back and key not in {item[by] for item in model}]
        unknown = [item[by] for item in model if item[by] not in left and item[by] not in self._back]
        if by != "kind":
            for mine, theirs in zip(new, unknown, strict=False):
                self._pair(mine, theirs)
                left[theirs] = left.pop(mine)
        if set(left) != {item[by] for item in model} or len(target) != len(model):
            yield Difference(number, Kind.ITEMS, place, [item[by] for item in model], [item[by] for item in target], by)
            return
        for item in model:
            yield from self._values(number, (*place, (by, item[by])), left[item[by]], item)

    def _parcels(self, number: int, place: Place, target: list[Any], model: list[Any]) -> Iterator[Difference]:
        """Compare the items of a chunk: they come in any order."""
        left, right = ({self._key(item, mapped): item for item in side} for side, mapped in ((target, True), (model, False)))
        if set(left) != set(right) or len(target) != len(model):
            there, here = (sorted(item["type"] for item in side) for side in (model, target))
            if there != here:
                yield Difference(number, Kind.ITEMS, place, there, here, "type")
            return
        for index, item in enumerate(model):
            yield from self._values(number, (*place, str(index), "value"), left[self._key(item, False)]["value"], item["value"])

    def _key(self, item: Mapping[str, Any], mapped: bool) -> tuple[str, ...]:
        value = item["value"]
        found = next((value[name] for name in (*_IDS, "context_id") if name in value), "")
        kind = str(value.get("kind")) if "content_digest" in value else ""
        return str(item["type"]), self._told(found) if mapped else str(found), kind


def _plain(timestamp: str) -> str:
    """Return a Timestamp without the zeros that say nothing."""
    second, digits = instant(timestamp)
    return f"{second}.{digits}Z" if digits else f"{second}Z"


def _affected(target: list[Any], model: list[Any]) -> list[Any]:
    """Return what the target names, without the space where it may name that or not; ids are each provider's own."""
    seen, expected = ([{**item, "id": ""} for item in side] for side in (target, model))
    return target[: len(model)] if affected(Sight(), expected, seen, "") is None else target
