"""A schema as a list of alternatives (``cases.Case``), and its opposite as another.

What a keyword says by itself stands in the tables of ``keywords``. ``allOf``, ``anyOf``, ``oneOf``, ``not``, ``if`` and
``dependencies`` are multiplied out here. Where something cannot be said, the case carries a ``Gap``: it is never built, and never
taken for impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce

from strategies.admission import admits, member
from strategies.cases import KINDS, Case, Conjunction, Gap, Sub, both, contradicts_itself, product
from strategies.keywords import ASSERTIONS, OPPOSITES, lacking, only, rows
from strategies.schema_source import Located, SchemaSource

CASE_LIMIT = 400
"""More alternatives than this in one schema are not multiplied out."""

_TOO_MANY = "anyOf"
_ALIVE_DEPTH = 4


class Normaliser:
    """Turns conjunctions of schemas into cases; answers are kept."""

    def __init__(self, source: SchemaSource) -> None:
        self.source = source
        self._cases: dict[Sub, list[Case]] = {}
        self._alive: dict[tuple[Conjunction, int], bool] = {}

    def cases(self, demands: Conjunction) -> list[Case]:
        """Give the alternatives under which an instance meets all demands."""
        found = self._all(self._sub(sub) for sub in demands)
        if any(case.gap is not None and case.gap.keyword == _TOO_MANY for case in found):
            parts = tuple(part for sub in demands for part in _parts(sub))
            held = self._all(self._sub(sub) for sub in parts if sub.holds)
            found = reduce(self._outside, (sub for sub in parts if not sub.holds), held)
        return found

    def _outside(self, given: list[Case], sub: Sub) -> list[Case]:
        """Give what of some cases breaks a schema. A case that shares nothing with it stays whole, which keeps them few."""
        meant = self._sub(replace(sub, holds=True))
        apart = [not self._multiply([case], meant) for case in given]
        whole = [case for case, is_apart in zip(given, apart, strict=True) if is_apart]
        rest = [case for case, is_apart in zip(given, apart, strict=True) if not is_apart]
        return [*whole, *(self._breaking(sub.located, sub.left, rest) if rest else ())]

    def _all(self, lists: Iterable[list[Case]]) -> list[Case]:
        return reduce(self._multiply, lists, [Case()])

    def _multiply(self, left: list[Case], right: list[Case]) -> list[Case]:
        if len(left) * len(right) > CASE_LIMIT:
            where = (left[0].where or right[0].where) if left and right else ""
            return [Case(gap=Gap(where, _TOO_MANY, f"there are more than {CASE_LIMIT} alternatives"))]
        return [case for case in product(left, right) if self.alive(case, _ALIVE_DEPTH)]

    def _sub(self, sub: Sub) -> list[Case]:
        found = self._cases.get(sub)
        if found is None:
            found = self._holding(sub.located, sub.left) if sub.holds else self._breaking(sub.located, sub.left)
            self._cases[sub] = found
        return found

    def _followed(self, at: Located, left: int) -> tuple[Located, int]:
        target = self.source.follow(at)
        return target, left - self.source.recursive(target)

    def _holding(self, at: Located, left: int) -> list[Case]:
        if isinstance(at.schema, bool):
            return [Case(where=at.where)] if at.schema else []
        if "$ref" in at.schema:
            target, rest = self._followed(at, left)
            return [Case(gap=Gap(at.where, "$ref"))] if rest < 0 else self._sub(Sub(target, True, rest))
        plain = reduce(both, (Case(**fields) for fields in rows(ASSERTIONS, at, left)), Case(at.where))
        return self._all([product([plain], [Case()]), *self._applied(at, left)])

    def _applied(self, at: Located, left: int) -> Iterable[list[Case]]:
        """Give the alternatives of each keyword that applies other schemas to the same instance."""
        for index in range(len(at.schema.get("allOf", ()))):
            yield self._sub(Sub(at.child("allOf", index), True, left))
        if at.has("anyOf"):
            yield [case for branch in self._branches(at, "anyOf", left) for case in self._sub(branch)]
        if at.has("oneOf"):
            yield self._exactly_one(self._branches(at, "oneOf", left))
        if at.has("not"):
            yield self._sub(Sub(at.child("not"), False, left))
        if at.has("if"):
            yield self._conditional(at, left, ("then", "else"))
        for name in at.schema.get("dependencies", ()):
            yield self._depending(at, name, left)

    def _branches(self, at: Located, keyword: str, left: int) -> list[Sub]:
        return [Sub(at.child(keyword, index), True, left) for index in range(len(at.schema[keyword]))]

    def _exactly_one(self, branches: list[Sub]) -> list[Case]:
        return [case for branch in branches for case in self._alone(branch, [b for b in branches if b is not branch])]

    def _alone(self, branch: Sub, others: list[Sub]) -> list[Case]:
        """Give the cases of one branch, without what any other branch takes as well."""
        result = []
        for case in self._sub(branch):
            overlapping = (other for other in others if self._multiply([case], self._sub(other)))
            result += self._all([[case], *(self._sub(replace(other, holds=False)) for other in overlapping)])
        return result

    def _conditional(self, at: Located, left: int, words: tuple[str, str], holds: bool = True) -> list[Case]:
        """``if`` with ``then``, or not ``if`` with ``else``; with ``holds`` false the same with what follows broken."""
        result = []
        for word, condition in zip(words, (True, False), strict=True):
            given = self._sub(Sub(at.child("if"), condition, left))
            if at.has(word):
                given = self._multiply(given, self._sub(Sub(at.child(word), holds, left)))
            result += given if holds or at.has(word) else []
        return result

    def _depending(self, at: Located, name: str, left: int, holds: bool = True) -> list[Case]:
        needed = at.schema["dependencies"][name]
        present = only("object", required=(name,))
        if isinstance(needed, list):
            then = only("object", required=tuple(needed)) if holds else [c for n in needed for c in lacking(at, n)]
        else:
            then = self._sub(Sub(at.child("dependencies", name), holds, left))
        absent = [replace(case, kinds=frozenset(KINDS)) for case in lacking(at, name)]
        return (absent if holds else []) + self._multiply(present, then)

    def _breaking(self, at: Located, left: int, given: list[Case] | None = None) -> list[Case]:
        """Give the cases that break a schema; those among ``given``, found step by step, where these are named."""
        if isinstance(at.schema, bool):
            return [] if at.schema else [Case(where=at.where)] if given is None else given
        if "$ref" in at.schema:
            target, rest = self._followed(at, left)
            if rest < 0:
                return [Case(gap=Gap(at.where, "$ref"))]
            return self._sub(Sub(target, False, rest)) if given is None else self._breaking(target, rest, given)
        broken = [case for cases in rows(OPPOSITES, at, left) for case in self._within(given, cases)]
        broken += [case for cases in self._applied_broken(at, left, given) for case in cases]
        return [replace(case, where=case.where or at.where) for case in broken if self.alive(case, _ALIVE_DEPTH)]

    def _within(self, given: list[Case] | None, cases: list[Case]) -> list[Case]:
        return cases if given is None else self._multiply(given, cases)

    def _none_of(self, branches: list[Sub], given: list[Case] | None) -> list[Case]:
        broken = [replace(branch, holds=False) for branch in branches]
        return self._all(map(self._sub, broken)) if given is None else reduce(self._outside, broken, given)

    def _applied_broken(self, at: Located, left: int, given: list[Case] | None) -> Iterable[list[Case]]:
        for index in range(len(at.schema.get("allOf", ()))):
            part = Sub(at.child("allOf", index), False, left)
            yield self._sub(part) if given is None else self._outside(given, part)
        for keyword in ("anyOf", "oneOf"):
            if at.has(keyword):
                yield self._none_of(self._branches(at, keyword, left), given)
        if at.has("oneOf"):
            yield self._within(given, self._at_least_two(self._branches(at, "oneOf", left)))
        if at.has("not"):
            yield self._within(given, self._sub(Sub(at.child("not"), True, left)))
        if at.has("if"):
            yield self._within(given, self._conditional(at, left, ("then", "else"), holds=False))
        for name in at.schema.get("dependencies", ()):
            yield self._within(given, self._depending(at, name, left, holds=False))

    def _at_least_two(self, branches: list[Sub]) -> list[Case]:
        pairs = ((a, b) for index, a in enumerate(branches) for b in branches[index + 1 :])
        return [case for a, b in pairs for case in self._multiply(self._sub(a), self._sub(b))]

    def alive(self, case: Case, depth: int) -> bool:
        """Say whether an instance of this case may exist; False only where that is certain."""
        if not case.kinds or case.values == () or (case.kinds == {"string"} and contradicts_itself(case)):
            return False
        if case.gap is not None or depth == 0:
            return True
        if case.values is not None:
            return any(admits(self.source, case, value) for value in case.values)
        return case.kinds != {"object"} or all(self._member_alive(case, name, depth) for name in case.required)

    def _member_alive(self, case: Case, name: str, depth: int) -> bool:
        demands = member(self.source, case, name)
        key = (demands, depth)
        if key not in self._alive:
            self._alive[key] = True  # what recursion asks for again while it is being answered is taken for possible
            self._alive[key] = any(self.alive(inner, depth - 1) for inner in self.cases(demands))
        return self._alive[key]


def _parts(sub: Sub) -> Iterator[Sub]:
    """Take apart what only holds schemas together, or turns one round."""
    at, schema = sub.located, sub.located.schema
    words = set(schema) if isinstance(schema, Mapping) else set()
    if words == {"not"}:
        yield from _parts(Sub(at.child("not"), not sub.holds, sub.left))
    elif words == {"allOf"} and sub.holds:
        for index in range(len(schema["allOf"])):
            yield from _parts(Sub(at.child("allOf", index), True, sub.left))
    else:
        yield sub
