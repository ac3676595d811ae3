"""Reading the schema files of a bundle, and refusing the ones that cannot be used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from conformance.errors import BadBundle
from conformance.wire.formats import compiled
from conformance.wire.validation import pointer

SCHEMA_FILES = "*.schema.json"
# The patterns in a schema are checked below, where they are made ready for Python too.
_META = jsonschema_rs.Draft7Validator(Draft7Validator.META_SCHEMA, validate_formats=False)
_ONE = ("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LISTED = ("allOf", "anyOf", "items", "oneOf")
_NAMED = ("definitions", "dependencies", "patternProperties", "properties")


def broken(file: str, where: str, what: str) -> BadBundle:
    """Make the one sentence of a broken bundle: the file, the JSON pointer in it (``/`` for the whole), and what is wrong."""
    return BadBundle(f"{file}: {where or '/'}: {what[:300]}.")


def read_json(path: Path, name: str) -> Any:
    """Parse a file of the bundle. Raises ``BadBundle`` for what is no JSON, and for a member that is named twice."""
    try:
        return json.loads(path.read_text("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except OSError as error:
        raise broken(name, "", f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise broken(name, "", f"not JSON: {error}") from error


def read_documents(directory: Path) -> dict[str, tuple[str, Any]]:
    """Read every schema file under ``directory``: ``$id`` -> (file name, document). Raises ``BadBundle``."""
    found: dict[str, tuple[str, Any]] = {}
    for path in sorted(directory.rglob(SCHEMA_FILES)):
        name = path.relative_to(directory).as_posix()
        document = read_json(path, name)
        identity = _identity(document, name)
        if identity in found:
            raise broken(name, "/$id", f"{identity} is the $id of {found[identity][0]} too")
        found[identity] = (name, document)
    if not found:
        raise broken(str(directory), "", f"no {SCHEMA_FILES} file in this directory")
    return found


def check_documents(documents: Mapping[str, tuple[str, Any]], registry: Registry[Any]) -> None:
    """Check every document against the meta-schema, its title, its patterns and its references. Raises ``BadBundle``."""
    titles: dict[str, str] = {}
    for name, document in documents.values():
        _check_meta(document, name)
        title = document.get("title", document["$id"])
        if title in titles:
            raise broken(name, "/title", f"{title} is the title of {titles[title]} too")
        titles[title] = name
    for identity, (name, document) in documents.items():
        resolver = registry.resolver(identity)
        for where, schema in subschemas(document):
            if isinstance(schema, dict):
                _check_patterns(schema, name, where)
                _check_reference(schema, resolver, name, where)


def subschemas(schema: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Walk a draft-07 schema: every schema in it with its JSON pointer, itself first. An example or a constant is no schema."""
    yield where, schema
    for path, inner in _children(schema) if isinstance(schema, dict) else ():
        yield from subschemas(inner, where + pointer(path))


def _children(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    for keyword, value in schema.items():
        if keyword in _NAMED:
            yield from (((keyword, name), inner) for name, inner in value.items() if not isinstance(inner, list))
        elif keyword in _ONE and not isinstance(value, list):
            yield (keyword,), value
        elif keyword in _LISTED:
            yield from (((keyword, index), inner) for index, inner in enumerate(value))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the member {next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return made


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _identity(document: Any, name: str) -> str:
    if not isinstance(document, dict):
        raise broken(name, "", "a schema file holds an object")
    identity = document.get("$id")
    if not isinstance(identity, str) or not identity:
        raise broken(name, "/$id", "the document has no $id")
    return identity.removesuffix("#")


def _check_meta(document: Any, name: str) -> None:
    if _META.is_valid(document):
        return
    error = best_match(Draft7Validator(Draft7Validator.META_SCHEMA).iter_errors(document))
    where, what = (pointer(error.absolute_path), error.message) if error is not None else ("", "not a draft-07 schema")
    raise broken(name, where, what)


def _check_patterns(schema: Mapping[str, Any], name: str, where: str) -> None:
    for pattern in (*schema.get("patternProperties", {}), *([schema["pattern"]] if "pattern" in schema else [])):
        try:
            compiled(pattern)
        except re.error as error:
            raise broken(name, where, f"the pattern {pattern!r} cannot be used: {error}") from error


def _check_reference(schema: Mapping[str, Any], resolver: Any, name: str, where: str) -> None:
    reference = schema.get("$ref")
    if reference is None:
        return
    try:
        target = resolver.lookup(reference).contents
    except Unresolvable as error:
        raise broken(name, f"{where}/$ref", f"nothing in the bundle is named {reference}") from error
    if not isinstance(target, (dict, bool)):
        raise broken(name, f"{where}/$ref", f"{reference} is no schema")
