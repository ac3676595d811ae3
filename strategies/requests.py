"""Valid requests of an operation, with what a check knows put in place: the space, the ids, the content that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.bundle import Bundle, Validator
from strategies.from_schema import compiled

NOTHING: Mapping[str, Any] = MappingProxyType({})


def requests(bundle: Bundle, op: str, *, fixed: Mapping[str, Any] = NOTHING) -> SearchStrategy[dict[str, Any]]:
    """Return schema-valid requests of ``op`` in which the members of ``fixed`` stand as given.

    A value of ``fixed`` that is a strategy is drawn. Drawn members that contradict what is fixed are left out. Raises
    KeyError for an unknown operation. A ``fixed`` that no valid request can hold makes the strategy discard everything.
    """
    drawn: SearchStrategy[dict[str, Any]] = compiled(bundle, bundle.request_ref(op))
    return _with_fixed(bundle.request(op), drawn, fixed) if fixed else drawn


@st.composite
def _with_fixed(draw: DrawFn, validator: Validator, drawn: SearchStrategy[Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    request = {**draw(drawn), **settle(draw, fixed)}
    if not validator.accepts(request):
        request = _reconciled(validator, request, fixed)
    assume(validator.accepts(request))
    return request


def settle(draw: DrawFn, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the values of ``fixed`` that are strategies, and keep the others."""
    return {name: draw(value) if isinstance(value, SearchStrategy) else value for name, value in fixed.items()}


def _reconciled(validator: Validator, request: dict[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the one drawn member without which the request is valid; give it back as it is where there is none."""
    for name in request:
        without = {key: value for key, value in request.items() if key != name}
        if name not in fixed and validator.accepts(without):
            return without
    return request
