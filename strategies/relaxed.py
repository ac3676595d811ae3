"""A request schema without one of its keywords: what it accepts and the whole schema refuses breaks that keyword and no other.

This is the proof of an edit in two quick looks. The keyword is taken out at its one place in the evaluation: the schemas on the
way there are written out, all others stay references into the bundle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

import jsonschema_rs

from conformance.wire.bundle import Bundle, is_timestamp
from strategies.schema_walk import FORBIDDEN, Site

Schema = Any


def accepts_without(bundle: Bundle, op: str, site: Site, instance: Any, *, dropped: tuple[str, ...] = ()) -> bool:
    """Tell whether ``instance`` is a valid request of ``op`` but for ``site``'s keyword, and those ``dropped`` beside it."""
    return _validator(bundle, bundle.request_ref(op), _Place(site), dropped).is_valid(instance)


class _Place:
    """A site as a key: two sites are the same when they stand at the same place of the same evaluation."""

    __slots__ = ("key", "site")

    def __init__(self, site: Site) -> None:
        self.site = site
        self.key = (site.spot.path, site.keyword, site.member)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Place) and self.key == other.key


@lru_cache(maxsize=4096)
def _validator(bundle: Bundle, ref: str, place: _Place, dropped: tuple[str, ...]) -> jsonschema_rs.Draft7Validator:
    schema = _written_out(bundle, {"$ref": ref}, "", place.site.spot.path, place.site, dropped)
    return jsonschema_rs.Draft7Validator(
        schema, registry=_registry(bundle), validate_formats=True, formats={"date-time": is_timestamp}
    )


@lru_cache(maxsize=8)
def _registry(bundle: Bundle) -> jsonschema_rs.Registry:
    return jsonschema_rs.Registry(list(bundle.documents.items()), draft=jsonschema_rs.Draft7)


def _written_out(bundle: Bundle, node: Schema, base: str, path: Sequence[str], site: Site, dropped: tuple[str, ...]) -> Schema:
    """Copy the schemas along ``path``, following references, and take the keyword out at its end."""
    while isinstance(node, Mapping) and isinstance(node.get("$ref"), str):
        base = urljoin(base, node["$ref"])
        node = bundle.schema(base)
    if not path:
        return _without(_absolute(node, base), site, dropped)
    if isinstance(node, list):
        index = int(path[0])
        inner = _written_out(bundle, node[index], base, path[1:], site, dropped)
        return [*(_absolute(one, base) for one in node[:index]), inner, *(_absolute(one, base) for one in node[index + 1 :])]
    rest = {key: _absolute(value, base) for key, value in node.items() if key not in (path[0], "$id")}
    return {**rest, path[0]: _written_out(bundle, node[path[0]], base, path[1:], site, dropped)}


def _absolute(node: Any, base: str) -> Any:
    """Copy a schema with every reference made absolute, so that it can stand elsewhere."""
    if isinstance(node, list):
        return [_absolute(one, base) for one in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: urljoin(base, value) if key == "$ref" and isinstance(value, str) else _absolute(value, base)
        for key, value in node.items()
        if not (key == "$id" and isinstance(value, str))
    }


def _without(schema: Schema, site: Site, dropped: tuple[str, ...]) -> Schema:
    if site.keyword == FORBIDDEN:
        return True
    kept = {key: value for key, value in schema.items() if key not in dropped and key != site.keyword}
    if site.keyword == "required":
        kept["required"] = [name for name in schema["required"] if name != site.argument]
    return kept
