"""Whether a value is an instance of a case, and what a case demands of a member or an item.

This is how the values of ``enum`` and ``const`` are sorted out when several schemas hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from conformance.wire.canonical import same
from strategies.cases import Case, Conjunction, Items, Outside, Shape
from strategies.patterns import searches
from strategies.schema_source import SchemaSource


def kind_of(value: Any) -> str:
    """Give the kind of a JSON value (``cases.KINDS``)."""
    if isinstance(value, float):
        return "integer" if value.is_integer() else "fraction"
    return _KINDS[type(value)]


_KINDS: Mapping[type, str] = MappingProxyType(
    {type(None): "null", bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
)


def matching(shape: Shape, name: str) -> Conjunction:
    """Give what one shape demands of a member of this name."""
    found = [shape.named[name]] if name in shape.named else []
    found += [sub for pattern, sub in shape.patterned if searches(pattern, name)]
    return tuple(found) if found or shape.other is None else (shape.other,)


def names_allow(source: SchemaSource, case: Case, name: str) -> bool:
    """Say whether a member may have this name (``propertyNames``)."""
    return all(source.accepts(sub.located, name) is sub.holds for sub in case.names)


def member(source: SchemaSource, case: Case, name: str) -> Conjunction:
    """Give what a case demands of the member of this name. Without repetition."""
    demands = [sub for shape in case.shapes for sub in matching(shape, name)]
    if not names_allow(source, case, name):
        demands += [sub.forbidding() for sub in case.names if source.accepts(sub.located, name) is not sub.holds]
    return tuple(dict.fromkeys(demands))


def item(rules: tuple[Items, ...], index: int) -> Conjunction:
    """Give what a case demands of the item at ``index``. Without repetition."""
    demands = (rule.first[index] if index < len(rule.first) else rule.rest for rule in rules)
    return tuple(dict.fromkeys(sub for sub in demands if sub is not None))


def _meets(source: SchemaSource, demands: Conjunction, value: Any) -> bool:
    return all(source.accepts(sub.located, value) is sub.holds for sub in demands)


def _number(_source: SchemaSource, case: Case, value: float) -> bool:
    return (
        (case.minimum is None or value >= case.minimum)
        and (case.maximum is None or value <= case.maximum)
        and (case.above is None or value > case.above)
        and (case.below is None or value < case.below)
        and all(is_multiple(value, step) for step in case.multiples)
        and not any(is_multiple(value, step) for step in case.unmultiples)
    )


def is_multiple(value: float, step: Any) -> bool:
    """Say whether a number is a multiple of another one, as jsonschema reckons it: by doubles where the step is one."""
    if isinstance(step, float):
        with suppress(OverflowError):
            quotient = value / step
            return int(quotient) == quotient
    return (Fraction(value) / Fraction(step)).denominator == 1


def _string(source: SchemaSource, case: Case, value: str) -> bool:
    return (
        case.min_length <= len(value) <= (len(value) if case.max_length is None else case.max_length)
        and all(searches(pattern, value) for pattern in case.patterns)
        and not any(searches(pattern, value) for pattern in case.unpatterns)
        and all(source.well_formed(name, value) for name in case.formats)
        and not any(source.well_formed(name, value) for name in case.unformats)
    )


def distinct(values: list[Any]) -> bool:
    """Say whether no two values of a list are equal."""
    return not any(same(value, other) for index, value in enumerate(values) for other in values[:index])


def _array(source: SchemaSource, case: Case, value: list[Any]) -> bool:
    return (
        case.min_items <= len(value) <= (len(value) if case.max_items is None else case.max_items)
        and (not case.unique or distinct(value))
        and (not case.repeated or not distinct(value))
        and all(_meets(source, item(case.items, index), one) for index, one in enumerate(value))
        and all(any(_meets(source, (sub,), one) for one in value) for sub in case.contains)
    )


def _object(source: SchemaSource, case: Case, value: Mapping[str, Any]) -> bool:
    return (
        case.min_properties <= len(value) <= (len(value) if case.max_properties is None else case.max_properties)
        and all(name in value for name in case.required)
        and all(names_allow(source, case, name) for name in value)
        and all(_meets(source, member(source, case, name), one) for name, one in value.items())
        and all(any(source.accepts(sub.located, name) is sub.holds for name in value) for sub in case.strange)
        and all(_goes_outside(source, wanted, value) for wanted in case.outside)
    )


def _goes_outside(source: SchemaSource, wanted: Outside, value: Mapping[str, Any]) -> bool:
    return any(is_other(wanted.shape, name) and _meets(source, (wanted.broken,), one) for name, one in value.items())


def is_other(shape: Shape, name: str) -> bool:
    """Say whether a shape neither names nor has a pattern for a member."""
    return name not in shape.named and not any(searches(pattern, name) for pattern, _ in shape.patterned)


_JUDGES: Mapping[str, Callable[[SchemaSource, Case, Any], bool]] = MappingProxyType(
    {"integer": _number, "fraction": _number, "string": _string, "array": _array, "object": _object}
)


def admits(source: SchemaSource, case: Case, value: Any) -> bool:
    """Say whether a value is an instance of this case."""
    kind = kind_of(value)
    return (
        kind in case.kinds
        and not any(same(value, other) for other in case.excluded)
        and (kind not in _JUDGES or _JUDGES[kind](source, case, value))
    )
