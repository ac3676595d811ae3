"""Where a schema stands: references followed, pointers known, recursion found.

A ``Located`` is a schema together with its absolute place, which serves as its identity, and with what resolves its references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urldefrag, urljoin

from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

from conformance.wire.formats import is_timestamp

Schema = bool | Mapping[str, Any]

_META = "http://json-schema.org/draft-07/schema"
ANONYMOUS = "urn:schema"
_SUBSCHEMAS = (
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
)  # fmt: skip
_LISTS = ("allOf", "anyOf", "items", "oneOf")
_MAPS = ("dependencies", "patternProperties", "properties")


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """A schema and its place: ``where`` is an absolute reference (``<base>#/<pointer>``) and its identity."""

    schema: Any = field(repr=False)
    where: str
    resolver: Any = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Located) and other.where == self.where

    def __hash__(self) -> int:
        return hash(self.where)

    def child(self, *path: str | int) -> Located:
        """Give the subschema that the keyword and member names of ``path`` lead to."""
        schema, where, resolver = self.schema, self.where, self.resolver
        for part in path:
            schema = schema[part]
            where = f"{where}/{quote(str(part).replace('~', '~0').replace('/', '~1'), safe='~')}"
        if isinstance(schema, Mapping) and "$ref" not in schema and not str(schema.get("$id", "#")).startswith("#"):
            where = urljoin(where, schema["$id"].rstrip("#")) + "#"
            resolver = resolver.in_subresource(DRAFT7.create_resource(schema))
        return Located(schema, where, resolver)

    def has(self, keyword: str) -> bool:
        """Say whether the schema has this keyword; beside a ``$ref`` draft-07 looks at no other."""
        return isinstance(self.schema, Mapping) and keyword in self.schema

    def subschemas(self) -> Iterator[Located]:
        """Go through the schemas that apply inside this one, definitions left out."""
        if not isinstance(self.schema, Mapping) or "$ref" in self.schema:
            return
        for keyword in _SUBSCHEMAS:
            if isinstance(self.schema.get(keyword), (dict, bool)):
                yield self.child(keyword)
        for keyword in _LISTS:
            if isinstance(self.schema.get(keyword), list):
                yield from (self.child(keyword, index) for index in range(len(self.schema[keyword])))
        for keyword in _MAPS:
            members = self.schema.get(keyword, {})
            yield from (self.child(keyword, name) for name, member in members.items() if isinstance(member, (dict, bool)))


class SchemaSource:
    """The documents that references lead into.

    Instances are judged here too, by the same documents.
    """

    def __init__(self, registry: Registry[Any]) -> None:
        self._registry = registry.with_resource(_META, DRAFT7.create_resource(Draft7Validator.META_SCHEMA))
        self._recursive: dict[str, bool] = {}
        self._validators: dict[str, Draft7Validator] = {}

    @classmethod
    def of(cls, schema: Schema, registry: Registry[Any] | None = None) -> tuple[SchemaSource, Located]:
        """Take a schema that is no document of a bundle; its own ``$id`` is kept, and it may refer to ``registry``."""
        identity = str(schema.get("$id", ANONYMOUS)) if isinstance(schema, Mapping) else ANONYMOUS
        empty: Registry[Any] = Registry()
        source = cls((registry or empty).with_resource(identity, DRAFT7.create_resource(schema)).crawl())
        return source, source.at(identity)

    def adopted(self, schema: Schema, name: str) -> Located:
        """Take one more schema in under an absolute name; it may refer to what is there already."""
        self._registry = self._registry.with_resource(name, DRAFT7.create_resource(schema))
        return self.at(name)

    def at(self, ref: str) -> Located:
        """Give the schema that an absolute reference names. Raises ``referencing.exceptions.Unresolvable``."""
        return self._lookup(self._registry.resolver(), ref, "")

    def follow(self, located: Located) -> Located:
        """Give the schema that the ``$ref`` of this one leads to."""
        base = urldefrag(located.where)[0]
        return self._lookup(located.resolver, located.schema["$ref"], base)

    def recursive(self, target: Located) -> bool:
        """Say whether the references inside ``target`` lead back to it."""
        found = self._recursive.get(target.where)
        if found is None:
            found = self._recursive[target.where] = self._leads_to(target, target.where, set())
        return found

    def accepts(self, located: Located, instance: Any) -> bool:
        """Judge an instance by a schema, formats included."""
        if isinstance(located.schema, bool):
            return located.schema
        validator = self._validators.get(located.where)
        if validator is None:
            # A schema without references is judged as it stands; it need not be a part of a document.
            schema = {"$ref": located.where} if "'$ref'" in repr(located.schema) else located.schema
            validator = Draft7Validator(schema, registry=self._registry, format_checker=Draft7Validator.FORMAT_CHECKER)
            self._validators[located.where] = validator
        return validator.is_valid(instance)

    def well_formed(self, name: str, text: str) -> bool:
        """Say whether a text has a format; any text has one that draft-07 does not know."""
        return is_timestamp(text) if name == "date-time" else Draft7Validator.FORMAT_CHECKER.conforms(text, name)

    def _lookup(self, resolver: Any, ref: str, base: str) -> Located:
        resolved = resolver.lookup(ref)
        where = urljoin(base, ref) if not ref.startswith("#") else base + ref
        return Located(resolved.contents, where if "#" in where else f"{where}#", resolved.resolver)

    def _leads_to(self, start: Located, goal: str, seen: set[str]) -> bool:
        for inner in (start, *start.subschemas()):
            if inner.where in seen:
                continue
            seen.add(inner.where)
            following = self.follow(inner) if inner.has("$ref") else inner
            if following.where == goal and inner.has("$ref"):
                return True
            if self._leads_to(following, goal, seen):
                return True
        return False
