"""Whether all that one schema accepts is accepted by another: the rules that say otherwise, with witnesses, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.gate.demands import Demand, Proven, demands
from conformance.gate.drawing import drawn
from conformance.gate.outcome import Evidence, Witness
from conformance.gate.sides import Ground, place_of
from conformance.gate.witnesses import Searcher
from strategies.branches import all_branches, reached
from strategies.reasons import CannotBuild

_KEPT_APART = 6
"""Of so many rules a witness breaks one and keeps the others; more would take too long."""


@dataclass(frozen=True)
class Broken:
    """A rule of the judge that what is given can break. ``by_witness``: all that is known of it is what its witness shows."""

    keyword: str
    pointer: str
    given: Any
    wanted: Any
    given_at: str
    judge_at: str
    places: int
    documents: tuple[str, ...]
    witness: Witness
    by_witness: bool = False


@dataclass(frozen=True)
class Containment:
    """The rules that are broken, with witnesses; what could not be told; and what was shown besides."""

    broken: tuple[Broken, ...]
    unknown: tuple[str, ...]
    evidence: Evidence


def contained(ground: Ground, given: str, judge: str, examples: int, proven: Proven = frozenset()) -> Containment:
    """Find out whether ``judge`` accepts all that ``given`` does; both are references into the ground.

    ``proven`` are the pairs of keys of forms of which that is known already: nothing inside them is looked at again.
    """
    work = _Work(ground, given, judge, Searcher(ground, given, judge))
    suspected = list(_by_cause(demands(ground.form(given), ground.form(judge), proven)))
    broken: list[Broken] = []
    unknown: list[str] = []
    empty = 0
    for index, group in enumerate(suspected):
        others = [other[0] for number, other in enumerate(suspected) if number != index]
        found = work.settle(group, others[:_KEPT_APART])
        broken += [found] if isinstance(found, Broken) else []
        unknown += [found] if isinstance(found, str) else []
        empty += found is None
    tried = work.examples(examples)
    refused = [value for value in tried if not ground.validator(judge).accepts(value)]
    if refused and not broken:
        broken.append(work.by_witness(work.searcher.witness(refused[0])))
    shown = "refuted" if broken else "unknown" if unknown else "no instance" if empty else work.by_rules()
    return Containment(tuple(_once(broken)), tuple(unknown), work.evidence(shown, empty, tried, len(tried) - len(refused)))


def _by_cause(found: Iterator[Demand]) -> Iterator[list[Demand]]:
    """Put together the demands that one change makes in several places."""
    groups: dict[tuple[str, ...], list[Demand]] = {}
    for demand in found:
        last = demand.steps[-1].name if demand.keyword == "not allowed" and demand.steps else ""
        groups.setdefault((demand.keyword, demand.given_at, demand.judge_at, str(demand.rule), last), []).append(demand)
    yield from groups.values()


def _is_cause(demand: Demand, witness: Witness) -> bool:
    """Say whether a witness is refused where the demand is made: it may break the demand and be refused for something else.

    What speaks of a member is told of the object around it; what is made of other rules is told of any place inside.
    """
    asked, told = demand.pointer.split("/"), witness.pointer.split("/")
    related = all(wanted in ("*", given) for wanted, given in zip(asked, told, strict=False))
    return related and (len(told) <= len(asked) or demand.keyword in _COMPOUND)


_COMPOUND = frozenset({"anyOf", "oneOf", "if", "not", "enum", "contains", "dependencies", "unmerged", "patternProperties"})


def _once(found: list[Broken]) -> Iterator[Broken]:
    """Leave out what only its witness tells of, where another one tells of the same rule."""
    told = {(one.witness.pointer, one.witness.keyword) for one in found if not one.by_witness}
    for broken in found:
        seen = (broken.witness.pointer, broken.witness.keyword)
        if broken.by_witness and seen in told:
            continue
        told.add(seen)
        yield broken


@dataclass(frozen=True)
class _Work:
    ground: Ground
    given: str
    judge: str
    searcher: Searcher

    def settle(self, group: list[Demand], others: list[Demand]) -> Broken | str | None:
        """Find a witness for one cause, at the first place that has one. None: no instance breaks it; a text: why not known."""
        for demand in group:
            search = self.searcher.search(demand, others)
            if search.witness is not None:
                return self._broken(demand, len(group), search.witness)
            if not search.none_exists:
                why = search.why or "no instance was found that shows it, and none was ruled out"
                return f"{demand.pointer or '/'} {demand.keyword} ({place_of(demand.judge_at)}): {why}"
        return None

    def _broken(self, demand: Demand, places: int, witness: Witness) -> Broken:
        if not _is_cause(demand, witness):
            return self.by_witness(witness)
        return Broken(
            demand.keyword, demand.pointer, demand.given, demand.wanted, demand.given_at, demand.judge_at, places,
            demand.documents, witness,
        )  # fmt: skip

    def examples(self, count: int) -> list[Any]:
        """Give instances of what is given: its own examples, and drawn ones."""
        told = self.ground.documents.get(self.given, {}).get("examples", ())
        own = [value for value in told if self.ground.validator(self.given).accepts(value)]
        try:
            return [*own, *drawn(self.ground.strategy(self.given), count)]
        except CannotBuild:
            return own

    def by_witness(self, witness: Witness) -> Broken:
        """Tell of an instance that is refused for a reason that no suspected rule is."""
        return Broken(witness.keyword, witness.pointer, None, None, self.given, self.judge, 1, (), witness, by_witness=True)

    def by_rules(self) -> str:
        """Say how it is known where no rule was suspected."""
        return "same form" if self.ground.form(self.given).key == self.ground.form(self.judge).key else "every rule"

    def evidence(self, shown: str, empty: int, tried: list[Any], accepted: int) -> Evidence:
        """Count what was tried, and how many branches of what is given that reached."""
        every = all_branches(self.ground.source, self.given)
        there = reached(self.ground.source, self.given, tried)
        return Evidence(shown, empty, len(tried), accepted, len(there), len(every))
