"""Schemas compiled into strategies: what is drawn is valid by construction.

A schema is first turned into alternatives of plain demands (``normalise``), and each of them is then built: an object from its
members, an array from its items, a string from its pattern or format. Nothing is drawn and thrown away on the common path. What
the compiler cannot build goes to hypothesis-jsonschema (``fallback``); what that cannot either is ``CannotBuild``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from hypothesis.strategies import SearchStrategy

from conformance.wire.bundle import Bundle
from strategies import fallback
from strategies.admission import admits
from strategies.branches import Branch, all_branches
from strategies.cases import Case, Conjunction, Gap, Sub
from strategies.compile_arrays import arrays
from strategies.compile_objects import objects
from strategies.compile_strings import strings
from strategies.normalise import Normaliser
from strategies.numbers import fractions, integers, numbers
from strategies.open_json import any_value
from strategies.pieces import Piece, choice, one_of_values
from strategies.reasons import CannotBuild, Impossible, TooDeep, Unbuilt
from strategies.schema_source import Located, Schema, SchemaSource

__all__ = ["Branch", "CannotBuild", "branches", "compiled", "from_schema"]

RECURSION = (3, 8)
"""How often recursion is followed; the second one where no value is as flat as the first one asks."""

_BUNDLES = 8


def from_schema(bundle: Bundle | None, schema: Schema | str) -> SearchStrategy[Any]:
    """Compile a schema that stands alone, or an absolute reference into the bundle. Raises ``CannotBuild``."""
    if isinstance(schema, str):
        if bundle is None:
            raise CannotBuild(schema, "$ref", "a reference needs a bundle to lead into")
        return compiled(bundle, schema)
    source, root = SchemaSource.of(schema, None if bundle is None else bundle.registry)
    return Compiler(source).compile(root)


def branches(bundle: Bundle, ref: str) -> tuple[Branch, ...]:
    """List what the values of a schema differ in; the compiled strategy has to reach all of it (``strategies.branches``)."""
    return all_branches(SchemaSource(bundle.registry), ref)


def compiled(bundle: Bundle, ref: str) -> SearchStrategy[Any]:
    """Compile what an absolute reference names; the same strategy each time. Raises ``CannotBuild``."""
    return _compiler(bundle).named(ref)


@lru_cache(maxsize=_BUNDLES)
def _compiler(bundle: Bundle) -> Compiler:
    return Compiler(SchemaSource(bundle.registry))


class Compiler:
    """Builds the pieces of one source and keeps them. ``alone``: without the library that builds what it does not."""

    def __init__(self, source: SchemaSource, *, alone: bool = False) -> None:
        self._source = source
        self._alone = alone
        self._normal = Normaliser(source)
        self._pieces: dict[Conjunction, Piece | CannotBuild] = {}
        self._named: dict[str, SearchStrategy[Any]] = {}

    def named(self, ref: str) -> SearchStrategy[Any]:
        """Give the strategy of a reference."""
        if ref not in self._named:
            self._named[ref] = self.compile(self._source.at(ref))
        return self._named[ref]

    def compile(self, root: Located) -> SearchStrategy[Any]:
        """Build a schema; where no value is flat enough, once more with deeper recursion."""
        try:
            return self.build((Sub(root, left=RECURSION[0]),)).alone()
        except TooDeep:
            return self.build((Sub(root, left=RECURSION[1]),)).alone()

    def build(self, demands: Conjunction) -> Piece:
        """Give the piece of a conjunction. Raises ``Impossible`` or ``Unbuilt``, the same ones each time."""
        found = self._pieces.get(demands)
        if found is None:
            try:
                found = self._built(demands)
            except CannotBuild as error:
                found = error
            self._pieces[demands] = found
        if isinstance(found, CannotBuild):
            raise found
        return found

    def _built(self, demands: Conjunction) -> Piece:
        try:
            return self._alternatives(demands)
        except Unbuilt as reason:
            if self._alone:
                raise
            return fallback.piece(self._source, demands, reason)

    def _alternatives(self, demands: Conjunction) -> Piece:
        cases = self._normal.cases(demands)
        failures: list[CannotBuild] = [_gap(case.gap) for case in cases if case.gap is not None]
        pieces: list[Piece] = []
        for case in _without_repetition(cases):
            for make in _makers(case):
                try:
                    pieces.append(make(self._source, case, self.build))
                except CannotBuild as error:
                    failures.append(error)
        if not pieces:
            raise _gravest(failures, demands)
        return choice(f"choice {demands!r}", [*pieces, *self._rest(demands, failures)])

    def _rest(self, demands: Conjunction, failures: list[CannotBuild]) -> list[Piece]:
        """Cover the alternatives that are not built while others are: they must not drop out unsaid. Raises ``Unbuilt``."""
        unbuilt = next((failure for failure in failures if isinstance(failure, Unbuilt)), None)
        return [] if unbuilt is None or self._alone else [fallback.piece(self._source, demands, unbuilt)]


Build = Callable[[Conjunction], Piece]
Make = Callable[[SchemaSource, Case, Build], Piece]


def _enumerated(source: SchemaSource, case: Case, _build: Build) -> Piece:
    fitting = [value for value in case.values or () if admits(source, case, value)]
    if not fitting:
        raise Impossible(case.where, "enum", "no listed value meets the other keywords")
    return one_of_values(fitting)


def _booleans(source: SchemaSource, case: Case, build: Build) -> Piece:
    return _enumerated(source, replace(case, values=(False, True)), build)


def _null(source: SchemaSource, case: Case, build: Build) -> Piece:
    return _enumerated(source, replace(case, values=(None,)), build)


def _numbers(source: SchemaSource, case: Case, _build: Build) -> Piece:
    if "fraction" not in case.kinds:
        return integers(case)
    return numbers(source, case) if "integer" in case.kinds else fractions(source, case)


MAKERS: Mapping[str, Make] = MappingProxyType(
    {
        "null": _null,
        "boolean": _booleans,
        "integer": _numbers,
        "fraction": _numbers,
        "string": lambda source, case, _build: strings(source, case),
        "array": arrays,
        "object": objects,
    }
)
"""What builds the values of each kind, plain kinds first."""


def _makers(case: Case) -> list[Make]:
    if case.values is not None:
        return [_enumerated]
    if replace(case, where="") == Case():
        return [lambda _source, _case, _build: any_value()]
    return list(dict.fromkeys(make for kind, make in MAKERS.items() if kind in case.kinds))


def _without_repetition(cases: list[Case]) -> list[Case]:
    """Leave out gaps, and cases that say the same as one before."""
    kept: list[Case] = []
    for case in cases:
        if case.gap is None and not any(replace(case, where="") == replace(other, where="") for other in kept):
            kept.append(case)
    return kept


def _gap(gap: Gap) -> CannotBuild:
    if gap.keyword == "$ref":
        return TooDeep(gap.where, "$ref", "each value goes on without end")
    return Unbuilt(gap.where, gap.keyword, gap.why)


def _gravest(failures: list[CannotBuild], demands: Conjunction) -> CannotBuild:
    """Choose the reason to give: what is not known weighs more than what is impossible."""
    for kind in (Unbuilt, TooDeep, CannotBuild):
        for failure in failures:
            if isinstance(failure, kind):
                return failure
    forbidden = [sub.located for sub in demands if sub.located.schema is (not sub.holds)]
    if forbidden:
        return Impossible(forbidden[0].where, "false", "nothing is allowed here")
    located = demands[0].located
    keyword = next((word for word in _CONTRADICTING if located.has(word)), "type")
    return Impossible(located.where, keyword, "the keywords contradict each other")


_CONTRADICTING = ("allOf", "oneOf", "anyOf", "not", "if", "$ref", "enum", "const", "required", "type")
