"""A bundle's conditions and alternatives written otherwise, all at once: each way says exactly the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Schema = Any
_VALUES = ("enum", "const", "examples", "default", "required")


def rewritten(way: Callable[[dict[str, Any]], dict[str, Any]], node: Schema) -> Schema:
    """Write every schema inside a document by one of the ways, the innermost first."""
    if isinstance(node, list):
        return [rewritten(way, one) for one in node]
    if not isinstance(node, dict):
        return node
    return way({name: value if name in _VALUES else rewritten(way, value) for name, value in node.items()})


def _beside(schema: dict[str, Any], *said: Schema) -> dict[str, Any]:
    return {**schema, "allOf": [*schema.get("allOf", ()), *said]}


def _condition(schema: dict[str, Any]) -> tuple[dict[str, Any], Schema, Schema, Schema]:
    rest = {name: value for name, value in schema.items() if name not in ("if", "then", "else")}
    return rest, schema["if"], schema.get("then", True), schema.get("else", True)


def conditions_as_one_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Write ``if`` as two alternatives that exclude each other."""
    if "if" not in schema:
        return schema
    rest, when, then, otherwise = _condition(schema)
    return _beside(rest, {"oneOf": [{"allOf": [when, then]}, {"allOf": [{"not": when}, otherwise]}]})


def conditions_as_implications(schema: dict[str, Any]) -> dict[str, Any]:
    """Write ``if`` as two alternatives each: it is not so, or this follows."""
    if "if" not in schema:
        return schema
    rest, when, then, otherwise = _condition(schema)
    return _beside(rest, {"anyOf": [{"not": when}, then]}, {"anyOf": [when, otherwise]})


def conditions_as_prohibitions(schema: dict[str, Any]) -> dict[str, Any]:
    """Write ``if`` as what must not be: it is so, and what should follow does not."""
    if "if" not in schema:
        return schema
    rest, when, then, otherwise = _condition(schema)
    return _beside(rest, {"not": {"allOf": [when, {"not": then}]}}, {"not": {"allOf": [{"not": when}, {"not": otherwise}]}})


def conditions_turned_round(schema: dict[str, Any]) -> dict[str, Any]:
    """Ask the opposite, and let ``then`` and ``else`` change places."""
    if "if" not in schema:
        return schema
    rest, when, then, otherwise = _condition(schema)
    return {**rest, "if": {"not": when}, "then": otherwise, "else": then}


def alternatives_as_any_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Write ``oneOf``, whose alternatives exclude each other in this bundle, as ``anyOf``."""
    rest = {name: value for name, value in schema.items() if name != "oneOf"}
    return {**rest, "anyOf": schema["oneOf"]} if "oneOf" in schema and "anyOf" not in schema else schema


def alternatives_as_prohibition(schema: dict[str, Any]) -> dict[str, Any]:
    """Write alternatives as what must not be: none of them."""
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema:
            rest = {name: value for name, value in schema.items() if name != keyword}
            schema = _beside(rest, {"not": {"allOf": [{"not": one} for one in schema[keyword]]}})
    return schema


def alternatives_as_conditions(schema: dict[str, Any]) -> dict[str, Any]:
    """Write alternatives as a chain: this one, else that one, else the last."""
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema:
            *first, chain = schema[keyword]
            for one in reversed(first):
                chain = {"if": one, "else": chain}
            schema = _beside({name: value for name, value in schema.items() if name != keyword}, chain)
    return schema


WAYS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    way.__name__: way
    for way in (
        conditions_as_one_of, conditions_as_implications, conditions_as_prohibitions, conditions_turned_round,
        alternatives_as_any_of, alternatives_as_prohibition, alternatives_as_conditions,
    )
}  # fmt: skip
