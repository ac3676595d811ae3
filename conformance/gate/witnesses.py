"""The smallest instance that shows a demand, or the proof that there is none.

A witness is valid on the one side and refused by the other, as both validators say. That there is none is shown by the compiler
of strategies: it knows for certain when a schema has no instance. Anything else is unknown, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from conformance.gate.demands import Demand
from conformance.gate.drawing import drawn
from conformance.gate.forms import Schema
from conformance.gate.minimal import minimal
from conformance.gate.outcome import Witness
from conformance.gate.sides import Ground
from conformance.gate.steps import Step, Steps, leading
from strategies.reasons import CannotBuild, Impossible, TooDeep

_TRIES = 8


@dataclass(frozen=True)
class Search:
    """The end of a search: a witness, or ``none_exists``, or neither and why."""

    witness: Witness | None = None
    none_exists: bool = False
    why: str = ""


class Searcher:
    """Looks for what ``given`` accepts and ``judge`` refuses; both are references into the ground."""

    def __init__(self, ground: Ground, given: str, judge: str) -> None:
        self._ground = ground
        self._given, self._judge = given, judge
        self._accepts = ground.validator(given)
        self._refuses = ground.validator(judge)

    def search(self, demand: Demand, others: Sequence[Demand] = ()) -> Search:
        """Look for an instance that breaks the demand's rule, and if possible none of the ``others``.

        Where another rule makes up for the demand, any instance that breaks it and is refused will do.
        """
        try:
            steps, goal = self._named(demand)
        except Impossible:
            return Search(none_exists=True)
        except CannotBuild as error:
            return Search(why=error.why)
        broken = leading(steps, goal)
        alone: Schema = {"allOf": [broken, *({"not": leading(other.steps, {"not": other.rule})} for other in others)]}
        hinted = [] if demand.hint is None else [[leading(steps, {"const": demand.hint})]]
        for parts in (*hinted, [broken], [broken, {"not": {"$ref": self._judge}}]):
            found = self._among([{"$ref": self._given}, *parts], alone, broken)
            if found.witness is not None or (parts not in hinted and (found.none_exists or found.why)):
                break
        return found

    def _named(self, demand: Demand) -> tuple[Steps, Schema]:
        """Ask for a member by name where a rule is about names: one that the rule refuses. Raises ``CannotBuild``."""
        goal: Schema = {"not": demand.rule}
        if not demand.steps or demand.steps[-1].kind != "name":
            return demand.steps, goal
        if demand.hint is not None:
            return (*demand.steps[:-1], Step("member", demand.hint)), True
        names = self._ground.compile({"allOf": [{"type": "string"}, demand.steps[-1].schema, goal]})
        for name in drawn(names, 1):
            return (*demand.steps[:-1], Step("member", name)), True
        raise CannotBuild("", "propertyNames", "no name was found that it refuses")

    def shows(self, instance: Any) -> bool:
        """Say whether an instance is accepted by the one and refused by the other."""
        return self._accepts.accepts(instance) and not self._refuses.accepts(instance)

    def witness(self, instance: Any, beside: Schema = True) -> Witness:
        """Make the witness of an instance that shows a difference, as small as it can be while ``beside`` accepts it."""
        judge = self._ground.judge(beside)
        small = minimal(instance, lambda value: judge.is_valid(value) and self.shows(value))
        problem = self._refuses.problems(small)[0]
        return Witness(small, problem.keyword, problem.pointer, problem.message)

    def _among(self, parts: list[Schema], alone: Schema, broken: Schema) -> Search:
        try:
            strategy = self._ground.compile({"allOf": parts})
        except TooDeep as error:
            return Search(why=f"{error.keyword}: {error.why}")
        except Impossible:
            return Search(none_exists=True)
        except CannotBuild as error:
            return Search(why=f"{error.keyword}: {error.why}")
        judge, shown = self._ground.judge(alone), []
        for value in _drawn(strategy):
            if self.shows(value):
                shown.append(value)
                if judge.is_valid(value):
                    return Search(self.witness(value, alone))
        return Search(self.witness(shown[0], broken)) if shown else Search()


def _drawn(strategy: SearchStrategy[Any]) -> Iterator[Any]:
    """Give the plainest value, then some others."""
    yield from drawn(strategy, 1)
    yield from drawn(strategy, _TRIES, 1)
