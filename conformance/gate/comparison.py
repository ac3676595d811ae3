"""The comparison of two bundles, type by type and direction by direction."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urldefrag, urljoin

from conformance.errors import blame
from conformance.gate.annotations import notes
from conformance.gate.containment import Containment, contained
from conformance.gate.drawing import drawn
from conformance.gate.kinship import Kin, durable, roles, says_something, types
from conformance.gate.outcome import Comparison, Direction, Evidence, Finding, Policy, Role, Severity, TypeChange, Witness, worst
from conformance.gate.sides import NEW, OLD, Ground, Side, place_of
from conformance.gate.table_changes import table_changes
from conformance.gate.versions import stepped
from conformance.release import version
from conformance.wire.bundle import Bundle

READER = "reader"

_AFFECTED: Mapping[tuple[Direction, Role], tuple[Severity, str]] = {
    (Direction.NARROWED, Role.SENT): (Severity.BREAKING, "what old clients send is refused"),
    (Direction.NARROWED, Role.READ): (Severity.ADDITIVE, "providers promise more: some old answers are refused by new readers"),
    (Direction.NARROWED, Role.STORED): (Severity.BREAKING, "what is stored or exported is no longer valid"),
    (Direction.WIDENED, Role.SENT): (Severity.ADDITIVE, "new clients may send what old providers refuse"),
    (Direction.WIDENED, Role.READ): (Severity.BREAKING, "old readers refuse what new providers answer"),
    (Direction.WIDENED, Role.STORED): (Severity.ADDITIVE, "new stores and exports may hold what is new"),
}
"""What a change in a direction is for who relies on the type, and in words."""

_NO_ROLE = (Role.READ, Role.STORED)
"""What is assumed of a type that no operation reaches: the worst."""


def compare(old: Bundle, new: Bundle, policy: Policy) -> Comparison:
    """Compare two bundles. A type whose comparison fails is unknown, with the reason, and never "no change"."""
    started = time.perf_counter()
    work = _Work.of(old, new, policy)
    kin = list(types(old, new))
    changed = [change for one in kin if (change := work.change(one)) is not None]
    return Comparison(
        old={"origin": old.origin, "digest": old.digest},
        new={"origin": new.origin, "digest": new.digest},
        policy=policy,
        suite=version(),
        types=(*changed, *_shelves(old, new)),
        unchanged=len(kin) - len(changed),
        tables=tuple(table_changes(old, new, tolerant=policy.tolerant)),
        stepped=tuple(sorted(work.titles[ref] for ref in work.stepped if ref in work.titles)),
        seconds=round(time.perf_counter() - started, 3),
    )


@dataclass(frozen=True)
class _Work:
    """What the comparison of each type needs. ``stepped`` are the models, under the names of both sides, of a later version."""

    old: Side
    new: Side
    reader: Side | None
    ground: Ground
    policy: Policy
    bundles: tuple[Bundle, Bundle]
    roles: Mapping[str, tuple[Role, ...]]
    models: frozenset[str]
    stepped: frozenset[str]
    titles: Mapping[str, str]
    untouched: frozenset[str]
    proven: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, old: Bundle, new: Bundle, policy: Policy) -> _Work:
        ours, theirs = Side.of(OLD, old.documents), Side.of(NEW, new.documents)
        reader = Side.of(READER, old.documents, tolerant=True) if policy.tolerant else None
        ground = Ground(*(side for side in (ours, theirs, reader) if side is not None))
        models = {side.ref(ref) for bundle, side in ((old, ours), (new, theirs)) for ref in durable(bundle)}
        untouched = _untouched(old, new)
        steps = frozenset(_stepped(old, new, ours, theirs, ground, untouched))
        titles = {theirs.ref(ref): str(document.get("title", ref)) for ref, document in new.documents.items()}
        played = {**roles(old, ours, ground), **roles(new, theirs, ground)}
        return cls(ours, theirs, reader, ground, policy, (old, new), played, frozenset(models), steps, titles, untouched)

    def change(self, kin: Kin) -> TypeChange | None:
        """Compare one type; None where nothing about it changed."""
        started = time.perf_counter()
        try:
            change = self._change(kin)
        except Exception as error:  # whatever goes wrong, the type is not "unchanged"
            change = self._described(kin, unknown=(f"the comparison failed: {blame(error)}",))
        return None if change is None else replace(change, seconds=round(time.perf_counter() - started, 3))

    def _change(self, kin: Kin) -> TypeChange | None:
        if kin.old is None or kin.new is None:
            return self._alone(kin)
        if kin.old == kin.new and kin.old in self.untouched:
            return None
        ours, theirs = self.old.ref(kin.old), self.new.ref(kin.new)
        documents = self.bundles[0].documents[kin.old], self.bundles[1].documents[kin.new]
        if self.ground.form(ours).key == self.ground.form(theirs).key and json.dumps(documents[0]) == json.dumps(documents[1]):
            return None
        narrowed, widened = (self._contained(x, y) for x, y in ((ours, theirs), (theirs, ours)))
        findings = [*self._findings(kin, Direction.NARROWED, narrowed), *self._findings(kin, Direction.WIDENED, widened)]
        evidence = {"old_by_new": narrowed.evidence, "new_by_old": widened.evidence}
        unknown = (*narrowed.unknown, *widened.unknown)
        return self._described(kin, tuple(findings), unknown, tuple(notes(*documents)), evidence)

    def _contained(self, given: str, judge: str) -> Containment:
        """Compare in one direction; what is proven of a model holds wherever a later type has it."""
        found = contained(self.ground, given, judge, self.policy.examples, self.proven)
        if not (found.broken or found.unknown):
            self.proven.add((self.ground.form(given).key, self.ground.form(judge).key))
        return found

    def _findings(self, kin: Kin, direction: Direction, found: Containment) -> Iterator[Finding]:
        for broken in found.broken:
            told = [self._affected(kin, direction, role, broken.witness) for role in self._roles(kin)]
            severity = worst(grade for grade, _ in told)
            sides = [(broken.given, place_of(broken.given_at)), (broken.wanted, place_of(broken.judge_at))]
            (before, old_at), (after, new_at) = sides if direction is Direction.NARROWED else reversed(sides)
            yield Finding(
                severity, direction, broken.keyword, broken.pointer, before, after, old_at, new_at,
                tuple(words for grade, words in told if grade is severity), broken.places, broken.witness,
                self._has_step(kin, broken.documents),
            )  # fmt: skip

    def _affected(self, kin: Kin, direction: Direction, role: Role, witness: Witness) -> tuple[Severity, str]:
        """Tell what a change is for a role: readers who skip what they do not know may understand the witness all the same."""
        if self.reader is not None and (direction, role) == (Direction.WIDENED, Role.READ):
            judge = self.ground.validator(self.reader.ref(kin.old or ""))
            if judge.accepts(witness.instance):
                return Severity.ADDITIVE, "old readers skip what they do not know"
        return _AFFECTED[direction, role]

    def _roles(self, kin: Kin) -> tuple[Role, ...]:
        refs = [side.ref(ref) for side, ref in ((self.old, kin.old), (self.new, kin.new)) if ref is not None]
        played = {role for ref in refs for role in self.roles.get(ref, ())}
        return tuple(role for role in Role if role in played) or _NO_ROLE

    def _has_step(self, kin: Kin, documents: Iterable[str]) -> bool:
        """Say whether the innermost durable model around a change took a step of its version."""
        way = [*((self.new.ref(kin.new),) if kin.new else ()), *documents]
        around = [ref for ref in way if ref in self.models]
        return bool(around) and around[-1] in self.stepped

    def _alone(self, kin: Kin) -> TypeChange:
        """Describe a type that only one bundle has; one that has another title now is the same type."""
        side, ref = (self.old, kin.old) if kin.old is not None else (self.new, kin.new)
        form = self.ground.form(side.ref(ref or ""))
        twin = next((name for name in self._others(side) if self.ground.form(name).key == form.key), None)
        if twin is not None:
            return self._described(kin, notes=(f"renamed, in {place_of(twin)} the same",))
        gone = kin.new is None
        plainest = drawn(self.ground.strategy(side.ref(ref or "")), 1)
        told = Finding(
            Severity.BREAKING if gone else Severity.ADDITIVE,
            Direction.NARROWED if gone else Direction.WIDENED,
            "type gone" if gone else "new type",
            affects=("nothing describes it any longer",) if gone else ("a type more",),
            witness=Witness(plainest[0], message="no type of this title") if plainest else None,
        )
        return self._described(kin, (told,))

    def _others(self, side: Side) -> Iterator[str]:
        """List the types that the other side has and this one has not."""
        here, there = (self.bundles, (self.bundles[1], self.bundles[0]))[side is self.new]
        other = self.new if side is self.old else self.old
        titles = {document.get("title") for document in here.documents.values()}
        for identity, document in there.documents.items():
            if says_something(document) and document.get("title") not in titles:
                yield other.ref(identity)

    def _described(
        self,
        kin: Kin,
        findings: tuple[Finding, ...] = (),
        unknown: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        evidence: Mapping[str, Evidence] | None = None,
    ) -> TypeChange:
        return TypeChange(kin.title, _file(kin.new or kin.old or ""), self._roles(kin), findings, unknown, notes, evidence or {})


def _untouched(old: Bundle, new: Bundle) -> frozenset[str]:
    """List the documents that are the same text in both bundles, with all that they lead to."""
    texts = [{ref: json.dumps(document) for ref, document in one.documents.items()} for one in (old, new)]
    same = {ref for ref, text in texts[0].items() if texts[1].get(ref) == text}
    leads = {ref: set(_leads(new.documents[ref], ref)) for ref in same}
    while touched := {ref for ref in same if not leads[ref] <= same}:
        same -= touched
    return frozenset(same)


def _leads(document: Any, identity: str) -> Iterator[str]:
    """Give the documents that the references of one lead to, also where they stand among examples."""
    if isinstance(document, Mapping):
        if isinstance(document.get("$ref"), str):
            yield urldefrag(urljoin(identity, document["$ref"]))[0]
        document = list(document.values())
    if isinstance(document, list):
        for inner in document:
            yield from _leads(inner, identity)


def _stepped(old: Bundle, new: Bundle, ours: Side, theirs: Side, ground: Ground, untouched: frozenset[str]) -> Iterator[str]:
    by_title = {old.documents[ref].get("title"): ref for ref in durable(old)}
    for ref in durable(new):
        before = by_title.get(new.documents[ref].get("title"))
        if before is None or (before == ref and ref in untouched):
            continue
        forms = ground.form(ours.ref(before)), ground.form(theirs.ref(ref))
        if stepped(*forms, old.documents[before], new.documents[ref]):
            yield from (ours.ref(before), theirs.ref(ref))


def _shelves(old: Bundle, new: Bundle) -> Iterator[TypeChange]:
    """Tell what changed on shelves of definitions; what that does to types is told with them."""
    ours, theirs = (
        {document.get("title", ref): (ref, document) for ref, document in one.documents.items()} for one in (old, new)
    )
    for title in ours.keys() & theirs.keys():
        (ref, before), (_, after) = ours[title], theirs[title]
        if not says_something(before) and not says_something(after) and json.dumps(before) != json.dumps(after):
            yield TypeChange(str(title), _file(ref), (), notes=tuple(notes(before, after)))


def _file(ref: str) -> str:
    return place_of(ref).removesuffix("#")
