"""Concrete places of a JSON value: found by a pointer with ``*``, read, and replaced without touching the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strategies.schema_walk import ANY

Place = tuple[str | int, ...]


def places(request: Any, pointer: Sequence[str]) -> list[Place]:
    """Return the concrete places that a pointer with ``*`` means in ``request``; none where the way is not there."""
    found: list[tuple[Place, Any]] = [((), request)]
    for part in pointer:
        found = [((*place, key), value) for place, node in found for key, value in _steps(node, part)]
    return [place for place, _ in found]


def _steps(node: Any, part: str) -> list[tuple[str | int, Any]]:
    if isinstance(node, list):
        wanted = range(len(node)) if part == ANY else [int(part)] if part.isdigit() and int(part) < len(node) else []
        return [(index, node[index]) for index in wanted]
    if isinstance(node, Mapping):
        return list(node.items()) if part == ANY else [(part, node[part])] if part in node else []
    return []


def value_at(request: Any, place: Place) -> Any:
    """Return what stands at a place of ``request``."""
    for part in place:
        request = request[part]
    return request


def replaced(request: Any, place: Place, value: Any) -> Any:
    """Return ``request`` with ``value`` at a place; what is not on the way is shared with the original."""
    if not place:
        return value
    head, rest = place[0], place[1:]
    if isinstance(request, list):
        index = int(head)
        return [*request[:index], replaced(request[index], rest, value), *request[index + 1 :]]
    return {**request, head: replaced(request[head], rest, value)}
