"""Whether an answer is one that the contract allows: the model's, or one of those that it leaves open.

A judge looks at one answer in one state and changes nothing: it gives the state after the call, or the disagreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from conformance.exchange import Reply
from conformance.machine import blames, freedom, overdue, reasons
from conformance.machine.comparison import Comparator, Difference, Sight
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.model import Asked, Model
from conformance.oracle import imports, issuance
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, State
from conformance.oracle.turn import Env
from conformance.wire.canonical import same
from conformance.wire.vocabulary import Code

# What a provider may choose at an operation (``freedom``): other surroundings, in which the model's answer is right as well.
ALTERNATIVES: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "memory.grants.grant": ({"combined_issuance": True}, {"expired_issuance": False}),
    "memory.candidates.review": ({"discard_needs_records_write": True},),
    "memory.imports.stage": ({"refuses_defects_early": True},),
}

STAGE = "memory.imports.stage"
OTHER_BUNDLE = frozenset(
    {Code.IMPORT_INVALID, Code.INVALID_VALUE, Code.MALFORMED_REQUEST, Code.IMPORT_SEQUENCE, Code.WRONG_STATE}
)
"""How a stage may be refused whose bundle is not the one before (section 4 asks for the same, and names no code)."""

GRANT = overdue.GRANT
NOTHING = object()


class Judged(NamedTuple):
    """What a judge gives: the state after the call and the model's reply there, or a disagreement."""

    state: State
    reply: Doc | Refusal
    disagreement: Disagreement | None = None


class Judge:
    """Judges answers by a model; ``sight`` is what comparing remembers of this target and episode."""

    def __init__(self, model: Model, sight: Sight) -> None:
        self.model = model
        self.sight = sight
        self.bundle = model.bundle
        self._shapes: dict[tuple[str, str], frozenset[str]] = {}

    def judge(self, state: State, asked: Asked, seen: Reply) -> Judged:
        """Judge one answer; ``asked`` says what was called, ``state`` is the model's before the call."""
        after, reply = self.model.step(state, asked)
        if isinstance(reply, Refusal):
            return self._of_refusal(state, asked, seen, reply)
        if seen.error is None:
            return Judged(after, reply, self.compared(asked, reply, seen.payload))
        return self._refused(state, asked, seen, reply)

    # -- the target accepted

    def compared(self, asked: Asked, reply: Doc, seen: Doc, comparator: Comparator | None = None) -> Disagreement | None:
        """Compare success members."""
        found = (comparator or freedom.answer(asked.op))(self.sight, reply, seen, "")
        return None if found is None else member_differs(asked.op, found, reply.get("record", {}))

    def _of_refusal(self, state: State, asked: Asked, seen: Reply, refusal: Refusal) -> Judged:
        if seen.error is not None:
            return self._of_both(state, asked, seen, refusal)
        for after, reply in self._otherwise(state, asked):
            if not isinstance(reply, Refusal):
                return Judged(after, reply, self.compared(asked, reply, seen.payload))
        return Judged(state, refusal, accepted(self.bundle, asked, refusal, seen))

    def _otherwise(self, state: State, asked: Asked) -> Iterator[tuple[State, Doc | Refusal]]:
        """Answer as other providers may."""
        yield from (self.model.step(state, asked, env) for env in self._alternatives(asked.op))
        issued = overdue.issued(self.model, state, asked)
        if issued is not None:
            yield issued

    def _of_both(self, state: State, asked: Asked, seen: Reply, refusal: Refusal) -> Judged:
        """Judge a refusal where the model refuses too: its reason may be one that another choice of the provider brings."""
        found = self.refusal(state, asked, seen, refusal)
        for env in self._alternatives(asked.op) if found is not None else ():
            _, other = self.model.step(state, asked, env)
            if isinstance(other, Refusal) and self.refusal(state, asked, seen, other, env) is None:
                return Judged(state, other)
        return Judged(state, refusal, found)

    def _alternatives(self, op: str) -> Iterator[Env]:
        return (self.model.having(**choices) for choices in ALTERNATIVES.get(op, ()))

    # -- the target refused

    def _refused(self, state: State, asked: Asked, seen: Reply, reply: Doc) -> Judged:
        if self.bundle.symbol(str(seen.code)) in self._of_another_bundle(state, asked):
            return Judged(state, reply)
        for env in self._alternatives(asked.op):
            _, other = self.model.step(state, asked, env)
            if isinstance(other, Refusal) and self.refusal(state, asked, seen, other, env) is None:
                return Judged(state, other)
        code = self.bundle.symbol(str(seen.code))
        rule = "R014" if self._is_replay(state, asked) else blames.of_code(asked.op, code)
        return Judged(state, reply, Disagreement(rule, asked.op, Kind.REFUSED, reason=str(seen.code), seen=seen.error))

    def _is_replay(self, state: State, asked: Asked) -> bool:
        space = state.spaces.get(asked.request.get("space_id", ""))
        key = asked.request.get("idempotency_key")
        return space is not None and key is not None and space.receipts.by_key((asked.caller, asked.op, key)) is not None

    def refusal(self, state: State, asked: Asked, seen: Reply, refusal: Refusal, env: Env | None = None) -> Disagreement | None:
        """Judge a refusal where the model refuses as ``refusal`` says; None where it is right."""
        code = self.bundle.symbol(str(seen.code))
        if refusal.symbol not in self.bundle.errors:
            return None
        first = self._details(state, asked, seen, refusal) if code is refusal.symbol else None
        if (code is refusal.symbol and first is None) or code in self._stands_for(state, asked, refusal):
            return None
        if refusal.symbol not in reasons.LACKING and code in self._of_another_bundle(state, asked):
            return None
        right = reasons.reasons(self.model, state, asked, refusal, env)
        details = [self._details(state, asked, seen, one) for one in right if one.symbol is code]
        if details:
            return None if None in details else details[0]
        if any(freedom.EITHER.get(one.symbol) is code or code in self._stands_for(state, asked, one) for one in right):
            return None
        told = list(dict.fromkeys(self.bundle.answered(one.symbol).code for one in right))
        rule = self._of_other(asked.op, refusal.symbol, code)
        return Disagreement(rule, asked.op, Kind.CODE, reason=f"{told[0]}/{seen.code}", expected=told, seen=seen.error)

    def _of_other(self, op: str, right: Code, told: Code | None) -> str:
        """Name the rule where a refusal is told as another: by what was told of the space, else by what was right."""
        if told is Code.SPACE_FROZEN and self.bundle.operations[op].while_frozen:
            return "R006"
        return "R013" if right is Code.NOT_FOUND else blames.of_code(op, right)

    def _stands_for(self, state: State, asked: Asked, refusal: Refusal) -> frozenset[Code]:
        """Give the code that may stand for the model's own (section 5)."""
        if refusal.symbol is Code.NOT_AUTHORIZED and not (asked.op == GRANT and self._may_see(state, asked)):
            return frozenset({Code.NOT_FOUND})
        if refusal.symbol is Code.NOT_FOUND and asked.op == GRANT and not self._may_see(state, asked):
            return frozenset({Code.NOT_AUTHORIZED})
        return frozenset()

    def _of_another_bundle(self, state: State, asked: Asked) -> frozenset[Code]:
        """Give the codes that a stage under another bundle may carry, where this is one."""
        space = state.spaces.get(asked.request.get("space_id", ""))
        held = None if asked.op != STAGE or space is None else space.imports.get(asked.request.get("import_id", ""))
        other = held is not None and held["state"] == imports.STAGING and imports.differs(held, asked.request)
        return OTHER_BUNDLE if other else frozenset()

    def _may_see(self, state: State, asked: Asked) -> bool:
        space = state.spaces.get(asked.request["space_id"])
        return space is not None and bool(self.model.turn(asked.caller, asked.op, space, state).grants)

    def _details(self, state: State, asked: Asked, seen: Reply, refusal: Refusal) -> Disagreement | None:
        """Compare the details that the contract fixes, and those of hidden objects with those of missing ones."""
        given = (seen.error or {}).get("details") or {}
        for name, expected in self._fixed(state, asked, refusal).items():
            value = given.get(name, NOTHING)
            if not _same_detail(name, expected, value):
                told = None if value is NOTHING else value
                return self._other_details(asked, seen, name, expected, told)
        return self._shape(asked, seen, refusal, frozenset(given))

    def _fixed(self, state: State, asked: Asked, refusal: Refusal) -> Doc:
        if refusal.symbol is Code.NOT_AUTHORIZED and asked.op == GRANT and not self._issues(state, asked):
            return {}
        if "expected_state_digest" in asked.request and refusal.symbol is Code.REVISION_STALE:
            return {}
        return refusal.details

    def _issues(self, state: State, asked: Asked) -> bool:
        space = state.spaces.get(asked.request["space_id"])
        return space is not None and bool(issuance.issuing(self.model.turn(asked.caller, asked.op, space, state)))

    def _other_details(self, asked: Asked, seen: Reply, name: str, expected: Any, told: Any) -> Disagreement:
        rule = blames.of_code(asked.op, self.bundle.symbol(str(seen.code)))
        reason = f"{seen.code} {name}"
        return Disagreement(
            rule, asked.op, Kind.DETAILS, reason=reason, expected=expected, seen=told, pointer=f"/error/details/{name}"
        )

    def _shape(self, asked: Asked, seen: Reply, refusal: Refusal, names: frozenset[str]) -> Disagreement | None:
        """Hold the details of what is hidden against those of what is missing (section 5): each operation tells one shape."""
        if refusal.symbol is not Code.NOT_FOUND or seen.error is None:
            return None
        first = self._shapes.setdefault((asked.op, str(seen.code)), names)
        if first == names:
            return None
        return Disagreement(
            "R013", asked.op, Kind.DETAILS, reason=f"{seen.code} shape", expected=sorted(first), seen=sorted(names),
            pointer="/error/details",
        )  # fmt: skip


def _same_detail(name: str, expected: Any, value: Any) -> bool:
    if name == "missing_kinds" and isinstance(value, list):
        return sorted(expected) == sorted(map(str, value))
    return value is not NOTHING and same(expected, value)


def member_differs(op: str, found: Difference, document: Doc) -> Disagreement:
    """Make the disagreement of a member; ``document`` is what the model has, whose state may say whose rule it is."""
    where = "/".join(part for part in found.pointer.split("/") if part.isidentifier())
    rule = "R021" if "tombstone" in document else blames.of_member(op, found.pointer)
    return Disagreement(
        rule, op, Kind.MEMBER, reason=where, expected=found.expected, seen=found.seen,
        pointer=found.pointer,
    )  # fmt: skip


def accepted(bundle: Any, asked: Asked, refusal: Refusal, seen: Reply) -> Disagreement:
    """Make the disagreement of an answer that should have been a refusal."""
    told = bundle.answered(refusal.symbol).code
    rule = "R011" if asked.op == GRANT and refusal.symbol is Code.NOT_AUTHORIZED else blames.of_code(asked.op, refusal.symbol)
    return Disagreement(rule, asked.op, Kind.ACCEPTED, reason=told, expected=told, seen=seen.payload)
