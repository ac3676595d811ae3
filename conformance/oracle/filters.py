"""The two filters of a read (protocol.md section 3): provenance, independent of placement, and recorded cognition.

Both are hard conditions over what was authorised and selected, before anything is counted, ordered, cut or metered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from conformance.oracle.state import Doc
from conformance.wire.bundle import instant


def by_provenance(records: Iterable[Doc], wanted: Doc | None) -> list[Doc]:
    """Keep the records whose provenance meets a ProvenanceFilter; without one, all."""
    return [record for record in records if wanted is None or meets_provenance(record["provenance"], wanted)]


def meets_provenance(provenance: Doc, wanted: Doc) -> bool:
    """Say whether a provenance meets every member of a filter."""
    return from_source(provenance, wanted) and from_context(provenance, wanted)


def from_source(provenance: Doc, wanted: Doc) -> bool:
    """Say whether the source is one of those asked for."""
    return "sources" not in wanted or provenance["source"] in wanted["sources"]


def from_context(provenance: Doc, wanted: Doc) -> bool:
    """Say whether the source context is one of those asked for; a record without one has none."""
    return "source_context_ids" not in wanted or provenance.get("source_context_id") in wanted["source_context_ids"]


def by_cognition(records: Iterable[Doc], wanted: Doc | None) -> list[Doc]:
    """Keep the records that match a CognitionFilter; without one, all."""
    return [record for record in records if wanted is None or meets_cognition(record["content"], wanted)]


def meets_cognition(content: Doc, wanted: Doc) -> bool:
    """Say whether at least ONE cognition entry satisfies EVERY member of the filter. A tombstone has no entry."""
    return any(entry_meets(entry, wanted) for entry in content.get("cognition", ()))


def entry_meets(entry: Doc, wanted: Doc) -> bool:
    """Say whether one entry satisfies the whole conjunction."""
    return all(PREDICATES[name](entry, value) for name, value in wanted.items())


def _recorded(entry: Doc) -> tuple[str, str]:
    return instant(entry["time"]["recorded_at"])


PREDICATES: dict[str, Callable[[Doc, Any], bool]] = {
    "dimension": lambda entry, value: bool(entry["dimension"] == value),
    "holder_id": lambda entry, value: bool(entry["attribution"]["holder_id"] == value),
    "basis_kind": lambda entry, value: bool(entry["basis"]["kind"] == value),
    "recorded_after": lambda entry, value: _recorded(entry) >= instant(value),
    "recorded_before": lambda entry, value: _recorded(entry) < instant(value),
}
