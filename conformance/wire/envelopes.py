"""Whether the schemas and the table of errors list the same codes, where the error envelope's schema lists them at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from referencing import Registry

from conformance.wire.documents import broken
from conformance.wire.tables import ERRORS_FILE

ENVELOPE = "ErrorEnvelope"


def check_codes(documents: Mapping[str, tuple[str, Any]], registry: Registry[Any], codes: Sequence[str]) -> None:
    """See that an enumeration of codes in the error envelope is that of the table. Raises ``BadBundle``."""
    for identity, (name, document) in documents.items():
        schema = document.get("properties", {}).get("code") if document.get("title") == ENVELOPE else None
        listed = _listed(schema, registry.resolver(identity), ())
        if listed is None:
            continue
        if missing := sorted(listed - {*codes}):
            raise broken(name, "/properties/code", f"{ERRORS_FILE} has no row for {', '.join(missing)}")
        if surplus := [code for code in codes if code not in listed]:
            raise broken(ERRORS_FILE, "/codes", f"the schema {ENVELOPE} admits no code {', '.join(surplus)}")


def _listed(schema: Any, resolver: Any, been: tuple[str, ...]) -> set[str] | None:
    """Give the texts that a schema lists, None where it lists none; ``been`` are the references on the way."""
    if not isinstance(schema, Mapping):
        return None
    if "$ref" in schema:
        reference = str(schema["$ref"])
        found = resolver.lookup(reference)
        return None if reference in been else _listed(found.contents, found.resolver, (*been, reference))
    parts = [_listed(part, resolver, been) for part in schema.get("allOf", ())]
    parts += [_texts([schema["const"]])] if "const" in schema else []
    parts += [_texts(schema["enum"])] if "enum" in schema else []
    for keyword in ("anyOf", "oneOf"):
        branches = [_listed(part, resolver, been) for part in schema.get(keyword, ())]
        known = [part for part in branches if part is not None]
        parts += [set[str]().union(*known)] if branches and len(known) == len(branches) else []
    closed = [part for part in parts if part is not None]
    return set.intersection(*closed) if closed else None


def _texts(values: Sequence[Any]) -> set[str]:
    return {value for value in values if isinstance(value, str)}
