"""Two bundles in one registry: each document under a name of its side, so that a schema can speak of both.

A combined schema, "valid by the old one and not by the new one", is what finds a witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urldefrag, urljoin, urlparse

import jsonschema_rs
from hypothesis.strategies import SearchStrategy
from referencing import Registry

from conformance.gate.forms import Form
from conformance.gate.normal import Reader
from conformance.wire.bundle import is_timestamp
from conformance.wire.validation import Engines, Validator, registry_of
from strategies.from_schema import Compiler
from strategies.schema_source import SchemaSource

OLD = "old"
NEW = "new"


@dataclass(frozen=True, slots=True)
class Side:
    """One bundle's documents under this side's names; ``refs`` leads from the names of the bundle to them."""

    name: str
    documents: Mapping[str, Any]
    refs: Mapping[str, str]

    @classmethod
    def of(cls, name: str, documents: Mapping[str, Any], *, tolerant: bool = False) -> Side:
        """Rename the documents of a bundle; ``tolerant`` also lets their objects have unknown members."""
        refs = {identity: f"https://{name}.invalid/{_path(identity)}" for identity in documents}
        renamed = {refs[one]: _renamed(document, one, refs, tolerant=tolerant) for one, document in documents.items()}
        return cls(name, renamed, refs)

    def ref(self, ref: str) -> str:
        """Give this side's name of a reference of the bundle."""
        base, fragment = urldefrag(ref)
        return f"{self.refs[base]}#{fragment}" if fragment else self.refs[base]


def _path(identity: str) -> str:
    parsed = urlparse(identity)
    return f"{parsed.netloc or parsed.scheme or '-'}/{parsed.path.lstrip('/')}"


def _renamed(node: Any, base: str, refs: Mapping[str, str], *, tolerant: bool) -> Any:
    if isinstance(node, list):
        return [_renamed(one, base, refs, tolerant=tolerant) for one in node]
    if not isinstance(node, Mapping):
        return node
    return dict(_members(node, base, refs, tolerant=tolerant))


def _members(node: Mapping[str, Any], base: str, refs: Mapping[str, str], *, tolerant: bool) -> Iterator[tuple[str, Any]]:
    for keyword, value in node.items():
        if keyword in ("$ref", "$id") and isinstance(value, str):
            target, fragment = urldefrag(urljoin(base, value))
            name = refs.get(target, target)
            yield keyword, f"{name}#{fragment}" if fragment else name
        elif keyword in ("enum", "const", "examples", "default", "required"):
            yield keyword, value
        elif not (tolerant and keyword == "additionalProperties" and value is False):
            # Open objects may meet several branches; whoever skips what is unknown takes the first that fits.
            name = "anyOf" if tolerant and keyword == "oneOf" and "anyOf" not in node else keyword
            yield name, _renamed(value, base, refs, tolerant=tolerant)


class Ground:
    """What both sides stand on: the registry, the validators, the strategies and the plain forms of all their schemas."""

    def __init__(self, *sides: Side) -> None:
        self.documents: Mapping[str, Any] = {name: one for side in sides for name, one in side.documents.items()}
        self.source = SchemaSource(self._registry)
        self._compiler = Compiler(self.source, alone=True)
        self._searched = 0
        self.reader = Reader(self.source)
        self._validators: dict[str, Validator] = {}

    def form(self, ref: str) -> Form:
        """Give the plain form of a schema of either side."""
        return self.reader.form(ref)

    def validator(self, ref: str) -> Validator:
        """Give the validator of a schema of either side; the same one each time."""
        if ref not in self._validators:
            self._validators[ref] = Validator(ref, self._engines)
        return self._validators[ref]

    def judge(self, schema: Any) -> jsonschema_rs.Draft7Validator:
        """Give a validator of a schema that may refer to both sides."""
        return jsonschema_rs.Draft7Validator(
            schema, registry=self._engines.fast, validate_formats=True, formats={"date-time": is_timestamp}
        )

    def strategy(self, ref: str) -> SearchStrategy[Any]:
        """Give the strategy of a schema of either side. Raises ``CannotBuild``."""
        return self._compiler.named(ref)

    def compile(self, schema: Any) -> SearchStrategy[Any]:
        """Compile a schema that may refer to both sides. Raises ``CannotBuild``."""
        self._searched += 1
        return self._compiler.compile(self.source.adopted(schema, f"https://search.invalid/{self._searched}"))

    @cached_property
    def _registry(self) -> Registry[Any]:
        return registry_of(self.documents)

    @cached_property
    def _engines(self) -> Engines:
        return Engines.of(self.documents)


def place_of(where: str) -> str:
    """Write a place of either side as a person finds it: the file, and the pointer in it."""
    base, fragment = urldefrag(where)
    return f"{'/'.join(urlparse(base).path.split('/')[-2:])}#{fragment}"
