"""Members of objects whose names no schema gives: names by pattern, by ``propertyNames``, or of any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from referencing import Registry

from strategies.admission import member
from strategies.cases import Case, Conjunction, Sub, case_label
from strategies.compile_strings import free_text
from strategies.pieces import Piece, Switch, switch
from strategies.reasons import Impossible
from strategies.schema_source import Located, SchemaSource

Build = Callable[[Conjunction], Piece]

_ATTEMPTS = 12
_FEW = (0, 0, 0, 1, 1, 2)
_ANY_NAME = free_text(1, 24)


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of names (``names`` draws one), and the value that goes with most of them. ``free``: any name will do."""

    names: Piece
    value: Piece
    demands: Conjunction
    free: bool = False


@dataclass(frozen=True, slots=True)
class Extras:
    """What draws members beyond the named ones. ``most`` is how many there can be, or None."""

    families: tuple[Family, ...]
    known: frozenset[str]
    demanded: Callable[[str], Conjunction]
    build: Build
    most: int | None
    count: Switch
    which: Switch
    picks: tuple[SearchStrategy[int], ...]
    values: dict[Conjunction, Piece | None] = field(default_factory=dict)

    def add(self, draw: DrawFn, result: dict[str, Any], least: int, most: int) -> bool:
        """Add members until there are between ``least`` and ``most``; say whether that went well."""
        wanted = min(max(_FEW[draw(self.count.strategy) - self.count.base], least - len(result)), most - len(result))
        for _ in range(max(0, wanted)):
            family = self.families[draw(self.which.strategy) - self.which.base] if len(self.families) > 1 else self.families[0]
            name = self._name(draw, family, result, _ATTEMPTS if len(result) < least else 1)
            value = None if name is None else self._value(family, name)
            if name is not None and value is not None:
                drawn = draw(value.part)
                result[name] = drawn if value.finish is None else value.finish(drawn)
        return len(result) >= least

    def _name(self, draw: DrawFn, family: Family, result: dict[str, Any], attempts: int) -> str | None:
        """Draw a name that is not taken yet, or None."""
        if family.names.domain is not None:
            left = [name for name in family.names.domain if name not in result and name not in self.known]
            return left[draw(self.picks[len(left) - 1])] if left else None
        for _ in range(attempts):
            name = draw(family.names.part)
            name = name if family.names.finish is None else family.names.finish(name)
            while family.free and (name in result or name in self.known):
                name += "a"
            if name not in result and name not in self.known:
                return str(name)
        return None

    def _value(self, family: Family, name: str) -> Piece | None:
        """Give the piece for a name: it may meet more patterns than the one that it was drawn for."""
        demands = self.demanded(name)
        if demands == family.demands:
            return family.value
        if demands not in self.values:
            self.values[demands] = _possible(self.build, demands)
        return self.values[demands]


def _possible(build: Build, demands: Conjunction) -> Piece | None:
    try:
        return build(demands)
    except Impossible:
        return None


def text_of(pattern: str | None) -> Sub:
    """Give the demand to be a string, of a pattern if there is one."""
    schema = {"type": "string"} if pattern is None else {"type": "string", "pattern": pattern}
    return Sub(Located(schema, f"urn:names#{pattern or ''}", Registry().resolver()))


def extras_of(source: SchemaSource, case: Case, build: Build, known: tuple[str, ...]) -> Extras | None:
    """Give what draws the unnamed members of a case, or None where there can be none."""
    patterns = dict.fromkeys(pattern for shape in case.shapes for pattern, _ in shape.patterned)
    families = [family for pattern in (None, *patterns) if (family := _family(case, build, pattern)) is not None]
    if not families:
        return None
    domains = [family.names.domain for family in families]
    finite = None if None in domains else {name for domain in domains for name in domain or () if name not in known}
    longest = max((len(domain) for domain in domains if domain is not None), default=0)
    return Extras(
        tuple(families),
        frozenset(known),
        lambda name: member(source, case, name),
        build,
        None if finite is None else len(finite),
        switch(f"extras {case_label(case)}", len(_FEW)),
        switch(f"families {case_label(case)}", len(families)),
        tuple(st.integers(0, last) for last in range(longest)),
    )


def _family(case: Case, build: Build, pattern: str | None) -> Family | None:
    demands = [
        sub
        for shape in case.shapes
        for sub in [of for by, of in shape.patterned if by == pattern] or ([] if shape.other is None else [shape.other])
    ]
    conjunction = tuple(dict.fromkeys(demands))
    value = _possible(build, conjunction)
    free = pattern is None and not case.names
    names = _ANY_NAME if free else _possible(build, (text_of(pattern), *case.names))
    return None if value is None or names is None else Family(names, value, conjunction, free)
