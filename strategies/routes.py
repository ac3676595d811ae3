"""From a way through a schema to the requests that take it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.bundle import Bundle
from conformance.wire.validation import pointer
from strategies.from_schema import compiled, from_schema
from strategies.places import places, value_at
from strategies.schema_walk import ANY, Site, Step

Overlay = dict[str, Any]


def overlay(steps: Sequence[Step]) -> Overlay:
    """Return a schema that admits only values in which every step of the way is taken; to be held beside the walked schema."""
    if not steps:
        return {}
    return _OVERLAYS[steps[0].kind](steps[0], overlay(steps[1:]))


def _member(step: Step, inner: Overlay) -> Overlay:
    return {"required": [step.name], "properties": {step.name: inner}}


def _present(step: Step, inner: Overlay) -> Overlay:
    return {"allOf": [{"required": [step.name]}, inner]}


def _item(step: Step, inner: Overlay) -> Overlay:
    if not step.name:
        return {"minItems": 1, "items": inner}
    index = int(step.name)
    return {"minItems": index + 1, "items": [*({} for _ in range(index)), inner]}


def _value(step: Step, inner: Overlay) -> Overlay:
    if step.name:
        return {"minProperties": 1, "patternProperties": {step.name: inner}}
    return {"minProperties": 1, "additionalProperties": inner}


def _name(_step: Step, _inner: Overlay) -> Overlay:
    return {"minProperties": 1}


def _branch(step: Step, inner: Overlay) -> Overlay:
    untaken = [{"not": {"$ref": other}} for other in step.others]
    return {"allOf": [{"$ref": step.ref}, *untaken, inner]}


def _then(step: Step, inner: Overlay) -> Overlay:
    return {"allOf": [{"$ref": step.ref}, inner]}


def _else(step: Step, inner: Overlay) -> Overlay:
    return {"allOf": [{"not": {"$ref": step.ref}}, inner]}


_OVERLAYS: Mapping[str, Callable[[Step, Overlay], Overlay]] = {
    "member": _member,
    "present": _present,
    "item": _item,
    "value": _value,
    "name": _name,
    "branch": _branch,
    "then": _then,
    "else": _else,
}


def _way(site: Site) -> tuple[Step, ...]:
    """Return the steps to a site; to see an item doubled, there has to be one."""
    return (*site.spot.steps, Step("item")) if site.keyword == "uniqueItems" else site.spot.steps


def requests_on_way(bundle: Bundle, op: str, site: Site) -> SearchStrategy[dict[str, Any]]:
    """Return valid requests of ``op`` that lead to ``site``; shrinks to the plainest one."""
    steps = _way(site)
    if not steps or steps[0].kind != "member":
        return _whole(bundle, bundle.request_ref(op), steps)
    return _grafted(bundle, op, site, steps)


@lru_cache(maxsize=1024)
def _whole(bundle: Bundle, ref: str, steps: tuple[Step, ...]) -> SearchStrategy[Any]:
    """Build values of a schema of the bundle in which every step is taken."""
    return from_schema(bundle, {"allOf": [{"$ref": ref}, overlay(steps)]}) if steps else compiled(bundle, ref)


@st.composite
def _grafted(draw: DrawFn, bundle: Bundle, op: str, site: Site, steps: tuple[Step, ...]) -> dict[str, Any]:
    """Draw any request and, where it does not lead to the site, give it one member that does.

    Members are alike all over the family, so this compiles a few dozen members instead of some hundred requests. Where the
    member contradicts the rest of the request, a request is drawn that was built for the whole way.
    """
    request: dict[str, Any] = draw(compiled(bundle, bundle.request_ref(op)))
    if _leads(bundle, op, site, request):
        return request
    name, member = steps[0].name, _named(bundle, f"{bundle.request_ref(op)}#{pointer(('properties', steps[0].name))}")
    request = {**request, name: draw(_whole(bundle, member, steps[1:]))}
    if _leads(bundle, op, site, request):
        return request
    whole: dict[str, Any] = draw(_whole(bundle, bundle.request_ref(op), steps))
    return whole


def _leads(bundle: Bundle, op: str, site: Site, request: dict[str, Any]) -> bool:
    """Tell whether ``request`` takes the whole way; a name or a doubled item is to be seen only where there is one."""
    if not keeps_way(bundle, op, site, request):
        return False
    wants_some = site.keyword == "uniqueItems" or any(step.kind == "name" for step in site.spot.steps)
    return not wants_some or all(value_at(request, place) for place in places(request, site.spot.place))


def _named(bundle: Bundle, ref: str) -> str:
    """Return what a reference leads to in the end, so that equal members have one name."""
    schema = bundle.schema(ref)
    while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        ref = urljoin(ref, schema["$ref"])
        schema = bundle.schema(ref)
    return ref


def _conditions(steps: Sequence[Step]) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """List what has to hold on the way, as (pointer, schema, whether its value has to satisfy it)."""
    place: tuple[str, ...] = ()
    for step in steps:
        if step.kind in ("member", "item", "value"):
            place = (*place, step.name if step.kind == "member" else step.name or ANY)
        elif step.ref:
            yield place, step.ref, step.kind != "else"
            yield from ((place, other, False) for other in step.others)


def keeps_way(bundle: Bundle, op: str, site: Site, request: Any) -> bool:
    """Tell whether ``request`` is valid and still leads to ``site``."""
    if not bundle.request(op).accepts(request) or not places(request, site.spot.place):
        return False
    return all(
        bundle.validator(ref).accepts(value_at(request, place)) is wanted
        for where, ref, wanted in _conditions(site.spot.steps)
        for place in places(request, where)
    )
