"""Whether everything that the schemas of a bundle allow can ever be: each type, option, alternative, condition and listed value.

Instances are drawn first; what none of them reaches is looked for by a schema that asks for just that. Where the compiler knows
for certain that no instance exists, the branch is dead, and the reason is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from conformance.gate.drawing import drawn
from conformance.gate.forms import Schema
from conformance.gate.kinship import says_something
from conformance.gate.points import Point
from conformance.gate.sides import Ground, Side, place_of
from conformance.gate.steps import Step, Steps, leading
from conformance.wire.bundle import Bundle
from strategies.branches import Branch, all_branches, reached
from strategies.reasons import CannotBuild, Impossible, TooDeep
from strategies.schema_walk import Step as Walked
from strategies.schema_walk import sites

ROUND = 8
DRAWN = 24
MORE = 96
_TARGETED = 6


@dataclass
class Reach:
    """What was found: dead branches, what could not be told, and the figures."""

    points: list[Point] = field(default_factory=list)
    unknown: tuple[str, ...] = ()
    branches: int = 0
    reached: int = 0


def reachability(bundle: Bundle) -> Reach:
    """Look at every type of a bundle. A branch that several types share is alive where one of them reaches it."""
    side = Side("here", bundle.documents, {identity: identity for identity in bundle.documents})
    ground = Ground(side)
    work = _Work(bundle, ground)
    for identity, document in bundle.documents.items():
        if says_something(document):
            work.draw(identity)
    work.look_for_the_rest()
    return Reach(work.points, tuple(work.unknown), len(work.owners), len(work.alive))


Key = tuple[str, str, str]


def _key(branch: Branch) -> Key:
    return branch.where, branch.kind, branch.label


class _Work:
    def __init__(self, bundle: Bundle, ground: Ground) -> None:
        self._bundle, self._ground = bundle, ground
        self.owners: dict[Key, tuple[str, Branch]] = {}
        self.alive: set[Key] = set()
        self.points: list[Point] = []
        self.unknown: list[str] = []

    def draw(self, ref: str) -> None:
        """Draw instances of a type until all of it is reached, here or by types before it, and note what they reach."""
        wanted = {_key(branch): branch for branch in all_branches(self._ground.source, ref)}
        for key, branch in wanted.items():
            self.owners.setdefault(key, (ref, branch))
        try:
            strategy = self._ground.strategy(ref)
        except CannotBuild as error:
            self._not_built(ref, error)
            return
        for start in range(0, DRAWN, ROUND):
            if start == 0 or not self.alive.issuperset(wanted):
                values = drawn(strategy, ROUND, start)
                self.alive |= {_key(branch) for branch in reached(self._ground.source, ref, values)}

    def _not_built(self, ref: str, error: CannotBuild) -> None:
        if isinstance(error, Impossible) and not isinstance(error, TooDeep):
            self.points.append(Point("unsatisfiable", place_of(ref), f"no instance exists: {error.keyword}: {error.why}"))
        else:
            self.points.append(
                Point("unbuilt", place_of(error.where), f"the strategies cannot build it: {error.keyword}: {error.why}")
            )

    def look_for_the_rest(self) -> None:
        """Look for each branch that no drawn instance reached."""
        broken = {point.where for point in self.points}
        for ref in {ref for key, (ref, _) in self.owners.items() if key not in self.alive and place_of(ref) not in broken}:
            self._draw_more(ref)
        for key, (ref, branch) in self.owners.items():
            if key not in self.alive and place_of(ref) not in broken:
                self._look_for(key, ref, branch)

    def _draw_more(self, ref: str) -> None:
        values = drawn(self._ground.strategy(ref), MORE, DRAWN)
        self.alive |= {_key(branch) for branch in reached(self._ground.source, ref, values)}

    def _look_for(self, key: Key, ref: str, branch: Branch) -> None:
        place = place_of(branch.where)
        ways = _ways(self._bundle, ref)
        steps = ways.get(_node_of(branch).removesuffix("#"))
        if steps is None:
            self.unknown.append(f"{place}: {branch.kind} {branch.label}: no way to it is known")
            return
        try:
            strategy = self._ground.compile({"allOf": [{"$ref": ref}, leading(steps, _GOALS[branch.kind](branch))]})
        except TooDeep as error:
            self.unknown.append(f"{place}: {branch.kind} {branch.label}: {error.why}")
        except Impossible as error:
            self.points.append(
                Point("unreachable", place, f"{_SAID[branch.kind].format(branch.label)}: {error.keyword}: {error.why}")
            )
        except CannotBuild as error:
            self.unknown.append(f"{place}: {branch.kind} {branch.label}: {error.keyword}: {error.why}")
        else:
            self._seen(key, ref, drawn(strategy, _TARGETED), place)

    def _seen(self, key: Key, ref: str, values: list[Any], place: str) -> None:
        if key in {_key(branch) for branch in reached(self._ground.source, ref, values)}:
            self.alive.add(key)
        else:
            self.unknown.append(f"{place}: {key[1]} {key[2]}: no instance was found, and none was ruled out")


def _node_of(branch: Branch) -> str:
    """Give the schema that holds the keyword of a branch; an alternative is a schema of its own."""
    return branch.where.rsplit("/", 2)[0] if branch.kind == "alternative" else branch.where


def _ways(bundle: Bundle, ref: str) -> Mapping[str, Steps]:
    """Tell how each schema under a type is come to; the first way of several."""
    found: dict[str, Steps] = {ref: ()}
    for site in sites(bundle, ref):
        found.setdefault(site.spot.ref.removesuffix("#"), tuple(_step(one) for one in site.spot.steps))
    return found


def _step(walked: Walked) -> Step:
    return _STEPS[walked.kind](walked)


def _branch(walked: Walked) -> Step:
    apart: list[Schema] = [{"not": {"$ref": other}} for other in walked.others]
    return Step("holds", schema={"allOf": [{"$ref": walked.ref}, *apart]})


_STEPS: Mapping[str, Callable[[Walked], Step]] = MappingProxyType(
    {
        "member": lambda one: Step("member", one.name),
        "present": lambda one: Step("there", one.name),
        "item": lambda one: Step("item", one.name) if one.name else Step("any"),
        "value": lambda one: Step("pattern", one.name) if one.name else Step("other"),
        "name": lambda _one: Step("name"),
        "branch": _branch,
        "then": lambda one: Step("holds", schema={"$ref": one.ref}),
        "else": lambda one: Step("breaks", schema={"$ref": one.ref}),
    }
)


def _size(branch: Branch) -> Schema:
    least, most = {"none": (0, 0), "one": (1, 1), "several": (2, None)}[branch.label]
    return {"type": "array", "minItems": least, **({} if most is None else {"maxItems": most})}


def _condition(branch: Branch) -> Schema:
    test: Schema = {"$ref": f"{branch.where}/if" if "#/" in branch.where else f"{branch.where.removesuffix('#')}#/if"}
    return test if branch.label == "then" else {"not": test}


def _present(branch: Branch) -> Schema:
    return {"type": "object", "minProperties": 1} if branch.label == "*" else {"type": "object", "required": [branch.label]}


def _absent(branch: Branch) -> Schema:
    return (
        {"type": "object", "maxProperties": 0} if branch.label == "*" else {"type": "object", "properties": {branch.label: False}}
    )


_GOALS: Mapping[str, Callable[[Branch], Schema]] = MappingProxyType(
    {
        "present": _present,
        "absent": _absent,
        "value": lambda branch: {"const": json.loads(branch.label)},
        "kind": lambda branch: {"type": branch.label},
        "alternative": lambda branch: {"$ref": branch.where},
        "condition": _condition,
        "size": _size,
    }
)
_SAID: Mapping[str, str] = MappingProxyType(
    {
        "present": "no instance has the member {}",
        "absent": "no instance is without the member {}",
        "value": "no instance has the listed value {}",
        "kind": "no instance is of type {}",
        "alternative": "no instance takes the alternative {}",
        "condition": "no instance comes to {}",
        "size": "no instance has an array of this size: {}",
    }
)
