"""The closed vocabularies of the contract, read from the schema bundle: another bundle brings its own values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from conformance.wire.bundle import Bundle, load


def member_schema(bundle: Bundle, title: str, *members: str) -> Any:
    """Return the schema of a member of the model ``title``, down ``members``, with every reference followed.

    ``*`` steps to the items of an array. Raises KeyError where the bundle has no such member.
    """
    schema = _followed(bundle, bundle.schema(bundle.model_ref(title)))
    for member in members:
        schema = _followed(bundle, schema["items"] if member == "*" else schema["properties"][member])
    return schema


def _followed(bundle: Bundle, schema: Any) -> Any:
    while isinstance(schema, Mapping) and "$ref" in schema:
        schema = bundle.schema(schema["$ref"])
    return schema


@lru_cache(maxsize=64)
def values(title: str, *members: str, bundle: Bundle | None = None) -> tuple[str, ...]:
    """Return what the enumeration at a member of the model ``title`` allows, in the bundle's order."""
    return tuple(member_schema(bundle or load(), title, *members)["enum"])


def capabilities(bundle: Bundle | None = None) -> tuple[str, ...]:
    """Return the capabilities that a grant can list (protocol.md section 5)."""
    return values("MemoryGrant", "capabilities", "*", bundle=bundle)


def shared_accesses(bundle: Bundle | None = None) -> tuple[str, ...]:
    """Return the degrees of shared access, lowest first (protocol.md section 3, MemoryGrant)."""
    return values("MemoryGrant", "shared_access", bundle=bundle)


def dimensions(bundle: Bundle | None = None) -> tuple[str, ...]:
    """Return the dimensions that a cognition record can have (protocol.md section 3, CognitionRecord)."""
    return values("CognitionRecord", "dimension", bundle=bundle)


def basis_kinds(bundle: Bundle | None = None) -> tuple[str, ...]:
    """Return the kinds of basis of a cognition record (protocol.md section 3, CognitionRecord)."""
    return values("CognitionRecord", "basis", "kind", bundle=bundle)


def record_sources(bundle: Bundle | None = None) -> tuple[str, ...]:
    """Return the ways in which a record came to be (protocol.md section 3, RetainedRecord)."""
    return values("RetainedRecord", "provenance", "source", bundle=bundle)


def selection_modes(bundle: Bundle | None = None) -> tuple[str, ...]:
    """Return the modes of a read selection (protocol.md section 3, ReadSelection)."""
    return values("ReadSelection", "mode", bundle=bundle)
