"""The keywords of a plain form, settled: nothing that says nothing, nothing said twice, everything in one order.

Each step is a function from keywords to keywords; ``settled`` takes them in turn.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from conformance.gate.forms import ABSENT, NOTHING, OF_KINDS, Form
from conformance.wire.canonical import same
from strategies.cases import KINDS

Keywords = dict[str, Any]
_NUMBERS = frozenset({"integer", "fraction"})
_LISTED_KINDS: Mapping[str, tuple[Any, ...]] = MappingProxyType({"boolean": (False, True), "null": (None,)})


def settled(keywords: Mapping[str, Any], where: str) -> Form:
    """Make the form that the keywords say together."""
    said = dict(keywords)
    for step in _STEPS:
        said = step(said)
        if "never" in said:
            return NOTHING.at(where)
    return Form(MappingProxyType(said), where)


def _opposites(said: Keywords) -> Keywords:
    """Say plainly what a ``not`` says: other kinds, no such member."""
    kept: list[Form] = []
    for form in said.get("not", ()):
        said, done = _turned(said, form)
        if not done:
            kept.append(form)
    return {**said, "not": tuple(kept)}


def _turned(said: Keywords, form: Form) -> tuple[Keywords, bool]:
    names = set(form.keywords)
    kinds = said.get("kinds", KINDS)
    if form.nothing:
        return said, True
    if names <= {"kinds"}:
        return {**said, "kinds": tuple(kind for kind in kinds if kind not in form["kinds"])}, True
    if names in ({"required"}, {"kinds", "required"}) and len(form["required"]) == 1 and "object" in form["kinds"]:
        without = _without_member(said, form["required"][0])
        # Without a type in the ``not``, what is no object meets the inner schema and so breaks this one.
        return {**without, "kinds": tuple(kind for kind in kinds if kind == "object" or kind not in form["kinds"])}, True
    return said, False


def _without_member(said: Keywords, name: str) -> Keywords:
    return {**said, "properties": {**said.get("properties", {}), name: NOTHING}}


def _bounds(said: Keywords) -> Keywords:
    """Where the only numbers are integers, bounds are integers too and stand in ``minimum`` and ``maximum``."""
    if "fraction" in said.get("kinds", KINDS):
        return said
    bounds: list[tuple[str, str, Callable[[Any], int], Callable[[int, int], int]]] = [
        ("minimum", "exclusiveMinimum", lambda value: math.floor(value) + 1, max),
        ("maximum", "exclusiveMaximum", lambda value: math.ceil(value) - 1, min),
    ]
    for inclusive, exclusive, inside, narrower in bounds:
        given = [(math.ceil if narrower is max else math.floor)(said[inclusive])] if inclusive in said else []
        given += [inside(said[exclusive])] if exclusive in said else []
        said = {name: value for name, value in said.items() if name != exclusive}
        if given:
            said[inclusive] = given[0] if len(given) == 1 else narrower(*given)
    steps = tuple(step for step in said.get("multipleOf", ()) if (1 / step) % 1 != 0)
    return {**said, "multipleOf": steps}


def _relevant(said: Keywords) -> Keywords:
    """Leave out what speaks of kinds of values that are not accepted anyway."""
    kinds = {"number" if kind in _NUMBERS else kind for kind in said.get("kinds", KINDS)}
    idle = {name for kind, names in OF_KINDS.items() if kind not in kinds for name in names}
    return {name: value for name, value in said.items() if name not in idle}


def _members(said: Keywords) -> Keywords:
    """Name no member of which nothing is said that is not said of every other; count no members that are required anyway."""
    other = said.get("additionalProperties", ABSENT["additionalProperties"])
    if "patternProperties" not in said:
        said = {**said, "properties": {n: form for n, form in said.get("properties", {}).items() if form.key != other.key}}
    if said.get("minProperties", 0) <= len(said.get("required", ())):
        said = {**said, "minProperties": 0}
    closed = other.nothing and not said.get("patternProperties")
    if closed and said.get("maxProperties", 0) >= len(said.get("properties", {})):
        said = {name: value for name, value in said.items() if name != "maxProperties"}
    return said


def _impossible_objects(said: Keywords) -> Keywords:
    """Where a required member is not allowed, or more members than are allowed, there is no object."""
    members, other = said.get("properties", {}), said.get("additionalProperties", ABSENT["additionalProperties"])
    patterned = bool(said.get("patternProperties"))
    lacking = any(members.get(name, other if not patterned else ABSENT["rest"]).nothing for name in said.get("required", ()))
    if lacking or said.get("minProperties", 0) > said.get("maxProperties", math.inf):
        return {**said, "kinds": tuple(kind for kind in said.get("kinds", KINDS) if kind != "object")}
    return said


def _crossed(said: Keywords) -> Keywords:
    """Where bounds cross there is no value of their kind."""
    kinds = said.get("kinds", KINDS)
    for least, most, gone in (
        ("minLength", "maxLength", {"string"}),
        ("minItems", "maxItems", {"array"}),
        ("minimum", "maximum", _NUMBERS),
    ):
        if least in said and most in said and said[least] > said[most]:
            kinds = tuple(kind for kind in kinds if kind not in gone)
    return {**said, "kinds": kinds}


def _listed(said: Keywords) -> Keywords:
    """Sort and thin out listed values; a kind with few values is a list of them."""
    if "enum" in said:
        values = [
            value for index, value in enumerate(said["enum"]) if not any(same(value, other) for other in said["enum"][:index])
        ]
        return {**said, "enum": tuple(sorted(values, key=_order))} if values else {"never": True}
    kinds = said.get("kinds", KINDS)
    if kinds and set(kinds) <= set(_LISTED_KINDS):
        return _listed({**said, "enum": tuple(value for kind in kinds for value in _LISTED_KINDS[kind])})
    return said


def _order(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _sorted(said: Keywords) -> Keywords:
    said = dict(said)
    for name in ("required", "pattern", "format", "multipleOf"):
        if name in said:
            said[name] = tuple(sorted(said[name], key=str))
    for name in ("not", "contains", "propertyNames"):
        if name in said:
            by_key = {form.key: form for form in sorted(said[name], key=lambda form: form.key)}
            said[name] = tuple(by_key.values())
    return said


def _contradiction(said: Keywords) -> Keywords:
    impossible = said.get("kinds") == () or any(form.anything for form in said.get("not", ()))
    return {"never": True} if impossible else said


def _idle(said: Keywords) -> Keywords:
    """Leave out what says nothing."""
    said = {
        **said,
        "conditions": tuple(one for one in said.get("conditions", ()) if not (one.then.anything and one.otherwise.anything)),
    }
    for name in ("propertyNames", "dependencies"):
        if name in said:
            said[name] = _telling(said[name])
    return {name: value for name, value in said.items() if not _says_nothing(name, value)}


def _telling(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: form for name, form in value.items() if not form.anything}
    return tuple(form for form in value if not form.anything)


def _says_nothing(name: str, value: Any) -> bool:
    if isinstance(value, Form):
        return value.anything
    if name == "kinds":
        return set(value) == set(KINDS)
    return value is False or (value == 0 and name.startswith("min") and name != "minimum") or value in ((), {})


_STEPS: tuple[Callable[[Keywords], Keywords], ...] = (
    _opposites, _crossed, _impossible_objects, _bounds, _relevant, _members, _listed, _sorted, _contradiction, _idle,
)  # fmt: skip
