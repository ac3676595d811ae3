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
from conformance.gate.steps import leading
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
        broken = leading(demand.steps, {"not": demand.rule})
        alone: Schema = {"allOf": [broken, *({"not": leading(other.steps, {"not": other.rule})} for other in others)]}
        found = self._among([{"$ref": self._given}, broken], alone, broken)
        if found.witness is not None or found.none_exists or found.why:
            return found
        return self._among([{"$ref": self._given}, broken, {"not": {"$ref": self._judge}}], alone, broken)

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
            return Search(why=str(error))
        except Impossible:
            return Search(none_exists=True)
        except CannotBuild as error:
            return Search(why=str(error))
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
