"""Plain forms put together: what two forms say at once, what a form says of a member, whether two forms share an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import jsonschema_rs

from conformance.gate.forms import ANYTHING, NOTHING, Alternatives, Condition, Form
from conformance.gate.settling import settled
from conformance.wire.bundle import is_timestamp
from conformance.wire.canonical import same
from strategies.admission import kind_of
from strategies.patterns import searches

Keywords = Mapping[str, Any]


class Unreadable(Exception):
    """A schema has no plain form that can be judged alone, because it recurs; the text says where."""


@lru_cache(maxsize=4096)
def _validator(form: Form) -> jsonschema_rs.Draft7Validator:
    try:
        return jsonschema_rs.Draft7Validator(form.schema(), validate_formats=True, formats={"date-time": is_timestamp})
    except ValueError as error:
        raise Unreadable(f"{form.where}: it recurs, so it cannot be judged alone") from error


def accepts(form: Form, value: Any) -> bool:
    """Say whether a form accepts a value. Raises ``Unreadable``."""
    return _validator(form).is_valid(value)


def _union(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    return left + tuple(one for one in right if one not in left)


def _dependencies(left: Mapping[str, Form], right: Mapping[str, Form]) -> dict[str, Form]:
    return {**left, **right, **{name: meet(left[name], right[name]) for name in left if name in right}}


_MEET: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "kinds": lambda left, right: tuple(kind for kind in left if kind in right),
        "enum": lambda left, right: tuple(value for value in left if any(same(value, other) for other in right)),
        "minimum": max,
        "exclusiveMinimum": max,
        "minLength": max,
        "minItems": max,
        "minProperties": max,
        "maximum": min,
        "exclusiveMaximum": min,
        "maxLength": min,
        "maxItems": min,
        "maxProperties": min,
        "dependencies": _dependencies,
        "rest": lambda left, right: meet(left, right),
        **dict.fromkeys(
            ("pattern", "format", "multipleOf", "required", "propertyNames", "contains", "not", "alternatives", "conditions"),
            _union,
        ),
        "unmerged": _union,
    }
)
_SHAPE = ("properties", "patternProperties", "additionalProperties")


def meet(left: Form, right: Form) -> Form:
    """Give the form of what both accept; it stands where ``left`` does."""
    if left.nothing or right.nothing:
        return NOTHING.at(left.where)
    if left.key == right.key or right.anything:
        return left
    if not _mergeable(left, right):
        return Form(MappingProxyType({"unmerged": _union(_parts(left), _parts(right))}), left.where)
    merged = {**left.keywords, **right.keywords}
    for name in set(left.keywords) & set(right.keywords) - {*_SHAPE}:
        merged[name] = _MEET.get(name, lambda _left, right: right)(left.keywords[name], right.keywords[name])
    return plain({**merged, **_shape(left, right)}, left.where)


def _parts(form: Form) -> tuple[Form, ...]:
    return form["unmerged"] or (form,)


def _has_shape(form: Form) -> bool:
    return any(name in form.keywords for name in _SHAPE)


def _mergeable(left: Form, right: Form) -> bool:
    patterned = any("patternProperties" in form.keywords for form in (left, right))
    listed = any("items" in form.keywords for form in (left, right)) and all(
        "items" in form.keywords or "rest" in form.keywords for form in (left, right)
    )
    broken = any(name in form.keywords for form in (left, right) for name in ("recursive", "unmerged"))
    return not (broken or listed or (patterned and _has_shape(left) and _has_shape(right)))


def _shape(left: Form, right: Form) -> Keywords:
    if not (_has_shape(left) and _has_shape(right)):
        return {}
    names = [*left["properties"], *(name for name in right["properties"] if name not in left["properties"])]
    members = {name: meet(member(left, name), member(right, name)) for name in names}
    return {"properties": members, "additionalProperties": meet(left["additionalProperties"], right["additionalProperties"])}


def plain(keywords: Keywords, where: str) -> Form:
    """Make the form of some keywords held together: settle them, and choose where a choice is already made."""
    form = settled(keywords, where)
    form = _values_alone(form)
    return _chosen(form)


def _values_alone(form: Form) -> Form:
    """Where values are listed, keep those that everything else admits, and nothing else."""
    if "enum" not in form.keywords or len(form.keywords) == 1:
        return form
    others = Form({name: value for name, value in form.keywords.items() if name != "enum"}, form.where)
    return settled({"enum": tuple(value for value in form["enum"] if accepts(others, value))}, form.where)


def _chosen(form: Form) -> Form:
    """Merge what is no choice: an alternative that is alone, a condition that always holds or never."""
    single = [one for one in form["alternatives"] if len(one.forms) == 1]
    decided = [one for one in form["conditions"] if one.condition.anything or one.condition.nothing]
    if not (single or decided):
        return form
    alternatives = tuple(one for one in form["alternatives"] if one not in single)
    conditions = tuple(one for one in form["conditions"] if one not in decided)
    made = settled({**form.keywords, "alternatives": alternatives, "conditions": conditions}, form.where)
    for forced in (*(one.forms[0] for one in single), *(_outcome(one) for one in decided)):
        made = meet(made, forced)
    return made


def _outcome(condition: Condition) -> Form:
    return condition.then if condition.condition.anything else condition.otherwise


def alternatives(forms: tuple[Form, ...], *, exactly_one: bool) -> Form:
    """Make the form of ``anyOf`` or ``oneOf``: of one that is alone the form itself, of listed values the list."""
    living = [form for form in forms if not form.nothing]
    if not exactly_one and any(form.anything for form in living):
        return ANYTHING
    if not exactly_one:
        living = list({form.key: form for form in living}.values())
    apart = all(disjoint(one, other) for index, one in enumerate(living) for other in living[:index])
    if not living:
        return NOTHING
    if all("enum" in form.keywords for form in living) and (apart or not exactly_one):
        values = [value for form in living for value in form["enum"]]
        return plain({"enum": tuple(values)}, "")
    return plain({"alternatives": (Alternatives(tuple(living), apart, exactly_one and not apart),)}, "")


def member(form: Form, name: str) -> Form:
    """Give what a form demands of the member of this name."""
    found = [form["properties"][name]] if name in form["properties"] else []
    found += [inner for pattern, inner in form["patternProperties"].items() if searches(pattern, name)]
    if not found:
        found = [form["additionalProperties"]]
    result: Form = found[0]
    for other in found[1:]:
        result = meet(result, other)
    return result


def kinds(form: Form) -> frozenset[str]:
    """Give the kinds of values that a form may accept."""
    if form.nothing:
        return frozenset()
    if "enum" in form.keywords:
        return frozenset(kind_of(value) for value in form["enum"])
    return frozenset(form["kinds"])


def disjoint(left: Form, right: Form) -> bool:
    """Say whether no instance meets both forms; True only where that is certain."""
    shared = kinds(left) & kinds(right)
    if not shared:
        return True
    for one, other in ((left, right), (right, left)):
        if "enum" in one.keywords:
            return not any(accepts(other, value) for value in one["enum"])
    return shared == {"object"} and any(_apart(left, right, name) for name in (*left["required"], *right["required"]))


def _apart(left: Form, right: Form, name: str) -> bool:
    """Tell two objects apart by one member that is required of one of them."""
    ours, theirs = member(left, name), member(right, name)
    return ours.nothing or theirs.nothing or (name in left["required"] and name in right["required"] and disjoint(ours, theirs))
