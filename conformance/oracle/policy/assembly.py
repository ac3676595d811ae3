"""Reflection assembly and staleness (protocol.md section 3, Reflection, and section 7, Reflections)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.wire import canonical

Doc = Mapping[str, Any]

EXCERPTS = 8
EXCERPT_LENGTH = 60


def basis(records: Sequence[Doc], profiles: Sequence[Doc], engine_policy_version: str) -> dict[str, Any]:
    """Pin what a reflection rests on: records and profile documents by revision, and the engine policy."""
    return {
        "records": [{"record_id": record["record_id"], "revision": record["revision"]} for record in records],
        "profiles": [{"kind": profile["kind"], "revision": profile["revision"]} for profile in profiles],
        "engine_policy_version": engine_policy_version,
    }


def state_digest(request: Doc, pinned: Doc) -> str:
    """Digest exactly six parts: selection, filter, cognition filter, records, profiles and engine policy."""
    return canonical.digest({**digested_request(request), **digested_basis(pinned)})


def digested_request(request: Doc) -> dict[str, Any]:
    """Give the parts of the digest that the request brings; an absent filter is absent."""
    return {name: request[name] for name in ("selection", "filter", "cognition_filter") if name in request}


def digested_basis(pinned: Doc) -> dict[str, Any]:
    """Give the parts of the digest that the state brings; records and profiles are sets."""
    return {
        "records": sorted(record_set(pinned)),
        "profiles": sorted(profile_set(pinned)),
        "engine_policy_version": pinned["engine_policy_version"],
    }


def record_set(pinned: Doc) -> set[tuple[str, int]]:
    """Give the records of a basis with their revisions."""
    return {(entry["record_id"], entry["revision"]) for entry in pinned["records"]}


def profile_set(pinned: Doc) -> set[tuple[str, int]]:
    """Give the profile documents of a basis with their revisions."""
    return {(entry["kind"], entry["revision"]) for entry in pinned["profiles"]}


def same_basis(one: Doc, other: Doc) -> bool:
    """Say whether two bases are the same state: any change of a record, of the set, of a profile or of the policy tells."""
    return (
        record_set(one) == record_set(other)
        and profile_set(one) == profile_set(other)
        and one["engine_policy_version"] == other["engine_policy_version"]
    )


def text(subject_id: str, records: Sequence[Doc]) -> str:
    """Write the synthesis: of records only, because a reader of reflections need not be one of profiles."""
    excerpts = [record["content"]["text"][:EXCERPT_LENGTH] for record in records[:EXCERPTS]]
    return "\n".join([f"{len(records)} memories of {subject_id}", *excerpts])
