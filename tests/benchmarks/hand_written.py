"""Strategies for sixteen documents of the bundle as a person would write them, to measure ours against.

They use what the documentation of Hypothesis shows first (``fixed_dictionaries``, ``lists``, ``one_of``, ``text``,
``datetimes``), without tricks, and draw about as much: any text, any instant, open values with a few levels, options there or
not.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Drawn = SearchStrategy[Any]

CAPABILITIES = (
    "admin", "subjects_read", "subjects_write", "grants_issue", "capture", "review", "records_read", "records_write",
    "recall", "profile_read", "profile_write", "reflections_read", "reflections_generate", "transfer",
)  # fmt: skip
ITEM_TYPES = ("subject", "record", "candidate", "profile", "reflection", "receipt", "context_fence")
AFFECTED = ("space", "subject", "grant", "candidate", "record", "profile", "reflection", "export", "import")
DIMENSIONS = ("belief", "desire", "intention", "emotion", "attitude", "knowledge")
BASIS_KINDS = ("stated", "observed", "inferred")


def _instant(moment: datetime) -> str:
    return f"{moment.isoformat()}Z"


def thing(always: dict[Any, Drawn], maybe: dict[Any, Drawn] | None = None) -> Drawn:
    """Draw an object of required members and options."""
    return st.fixed_dictionaries(always, optional=maybe or {})


ids = st.text(min_size=1, max_size=128)
counts = st.integers(0, 2**53 - 1)
numbers = st.integers(1, 2**53 - 1)
instants = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(_instant)
digests = st.text("0123456789abcdef", min_size=64, max_size=64)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
extensions = st.dictionaries(
    st.from_regex(r"[a-z][a-z0-9_-]*", fullmatch=True), st.dictionaries(st.text(), json_values, max_size=2), max_size=2
)

versioned = {"schema_version": numbers, "extensions": extensions}
scope = thing({"subject_id": ids}, {"context_id": ids})
cognition_record = thing(
    {
        "view": st.just("recorded_at"),
        "dimension": st.sampled_from(DIMENSIONS),
        "value": st.text(min_size=1),
        "attribution": thing({"holder_id": ids}, {"asserted_by": ids}),
        "basis": thing({"kind": st.sampled_from(BASIS_KINDS), "refs": st.lists(ids)}),
        "time": thing({"recorded_at": instants}, {"occurred_at": instants}),
    }
)
content = thing({"text": st.text()}, {"structured": json_values, "cognition": st.lists(cognition_record)})
content_input = thing({"text": st.text()}, {"structured": json_values, "cognition": json_values})
cognition_filter = st.one_of(
    *(
        thing({name: chosen[name]}, {other: chosen[other] for other in chosen if other != name})
        for chosen in [
            {
                "dimension": st.sampled_from(DIMENSIONS),
                "holder_id": ids,
                "basis_kind": st.sampled_from(BASIS_KINDS),
                "recorded_after": instants,
                "recorded_before": instants,
            }
        ]
        for name in chosen
    )
)
sources = st.lists(st.sampled_from(("author", "review")), min_size=1)
provenance_filter = st.one_of(
    thing({"source_context_ids": st.lists(ids, min_size=1)}, {"sources": sources}),
    thing({"sources": sources}, {"source_context_ids": st.lists(ids, min_size=1)}),
)
read_selection = st.one_of(
    thing({"subject_id": ids, "mode": st.sampled_from(("shared", "all_authorized"))}),
    thing(
        {
            "subject_id": ids,
            "mode": st.sampled_from(("contexts", "contexts_and_shared")),
            "context_ids": st.lists(ids, min_size=1),
        }
    ),
)
space = thing(
    {
        **versioned,
        "space_id": ids,
        "state": st.sampled_from(("active", "frozen")),
        "revision": numbers,
        "authority_generation": numbers,
        "pending_receipts": counts,
        "fenced_context_ids": st.lists(ids, unique=True),
        "created_at": instants,
        "updated_at": instants,
    }
)
_record = {
    **versioned,
    "record_id": ids,
    "space_id": ids,
    "kind": ids,
    "scope": scope,
    "provenance": thing(
        {"source": st.sampled_from(("author", "review")), "created_by": ids}, {"source_context_id": ids, "candidate_id": ids}
    ),
    "revision": numbers,
    "created_at": instants,
    "updated_at": instants,
}
record = st.one_of(
    thing({**_record, "content": content}),
    thing({**_record, "content": st.just({"text": ""}), "tombstone": thing({"deleted_at": instants, "deleted_by": ids})}),
)
_candidate = {
    **versioned,
    "candidate_id": ids,
    "space_id": ids,
    "capture_scope": scope,
    "content": content,
    "classification": thing({"label": st.text(), "signals": st.lists(st.text(), unique=True)}),
    "provenance": thing({"captured_by": ids}, {"source_context_id": ids}),
    "revision": numbers,
    "created_at": instants,
    "updated_at": instants,
}
_outcome = thing(
    {
        "decision": st.sampled_from(("promote", "fragment", "discard", "dismiss")),
        "record_ids": st.lists(ids),
        "decided_by": ids,
        "decided_at": instants,
    }
)
candidate = st.one_of(
    thing({**_candidate, "state": st.just("pending")}, {"kind": ids}),
    thing(
        {**_candidate, "state": st.sampled_from(("promoted", "fragmented", "discarded", "dismissed")), "outcome": _outcome},
        {"kind": ids},
    ),
)
_grant = {
    **versioned,
    "grant_id": ids,
    "space_id": ids,
    "grantee_id": ids,
    "issuer_id": ids,
    "capabilities": st.lists(st.sampled_from(CAPABILITIES), min_size=1, unique=True),
    "shared_access": st.sampled_from(("none", "read", "write")),
    "revision": numbers,
    "created_at": instants,
}
_narrowing = {
    "subject_ids": st.lists(ids, min_size=1),
    "context_ids": st.lists(ids, min_size=1),
    "expires_at": instants,
}
grant = st.one_of(
    thing({**_grant, "state": st.just("active")}, _narrowing),
    thing({**_grant, "state": st.just("revoked"), "revoked_at": instants}, _narrowing),
)
_receipt = {
    **versioned,
    "receipt_id": ids,
    "space_id": ids,
    "op": st.text(min_size=1),
    "principal_id": ids,
    "idempotency_key": ids,
    "payload_digest": digests,
    "affected": st.lists(thing({"type": st.sampled_from(AFFECTED), "id": st.text(min_size=1)}, {"revision": numbers})),
    "authority_generation": numbers,
    "created_at": instants,
}
receipt = st.one_of(
    thing({**_receipt, "state": st.just("pending")}),
    thing({**_receipt, "state": st.just("committed"), "settled_at": instants}),
    thing({**_receipt, "state": st.just("failed"), "settled_at": instants, "error": thing({"code": st.text()})}),
)
profile_document = thing(
    {
        **versioned,
        "space_id": ids,
        "subject_id": ids,
        "kind": ids,
        "content": thing({"text": st.text()}, {"structured": json_values}),
        "content_digest": digests,
        "revision": numbers,
        "updated_by": ids,
        "created_at": instants,
        "updated_at": instants,
    }
)
export_bundle = thing(
    {
        **versioned,
        "export_id": ids,
        "space_id": ids,
        "authority_generation": numbers,
        "protocol_version": st.text(),
        "created_at": instants,
        "chunk_count": numbers,
        "counts": thing(dict.fromkeys(ITEM_TYPES, counts)),
        "chunk_digests": st.lists(digests),
        "digest": digests,
    }
)
_mutation = {"space_id": ids, "idempotency_key": ids}
capture_request = thing(
    {**_mutation, "scope": scope, "content": content_input}, {"kind": ids, "source_context_id": ids, "extensions": extensions}
)
grant_request = thing(
    {
        **_mutation,
        "grantee_id": ids,
        "capabilities": _grant["capabilities"],
        "shared_access": _grant["shared_access"],
    },
    {**_narrowing, "extensions": extensions},
)
review_request = thing(
    {
        **_mutation,
        "expected_revision": numbers,
        "candidate_id": ids,
        "decision": st.one_of(
            thing({"action": st.just("discard")}),
            thing({"action": st.just("promote")}, {"kind": ids, "content_override": content_input}),
            thing(
                {
                    "action": st.just("fragment"),
                    "fragments": st.lists(thing({"content": content_input}, {"kind": ids}), min_size=2),
                }
            ),
        ),
    },
    {"extensions": extensions},
)
records_list_request = thing(
    {"space_id": ids, "selection": read_selection},
    {
        "filter": provenance_filter,
        "cognition_filter": cognition_filter,
        "include_tombstones": st.booleans(),
        "page": thing({}, {"limit": numbers, "cursor": st.text()}),
        "extensions": extensions,
    },
)
_target = {
    "subject": thing({"type": st.just("subject"), "subject_id": ids}),
    "context": thing({"type": st.just("context"), "context_id": ids}),
}
fence_request = st.one_of(
    thing(
        {
            **_mutation,
            "target": _target["subject"],
            "action": st.sampled_from(("fence", "unfence", "archive")),
            "expected_revision": numbers,
        },
        {"extensions": extensions},
    ),
    thing(
        {**_mutation, "target": _target["context"], "action": st.sampled_from(("fence", "unfence"))}, {"extensions": extensions}
    ),
)

HAND_WRITTEN: dict[str, Drawn] = {
    "CognitionRecord": cognition_record,
    "CognitionFilter": cognition_filter,
    "ReadSelection": read_selection,
    "MemorySpace": space,
    "RetainedRecord": record,
    "MemoryCandidate": candidate,
    "MemoryGrant": grant,
    "MemoryReceipt": receipt,
    "ProfileDocument": profile_document,
    "MemoryExportBundle": export_bundle,
    "MemoryCaptureRequest": capture_request,
    "MemoryGrantsGrantRequest": grant_request,
    "MemoryCandidatesReviewRequest": review_request,
    "MemoryRecordsListRequest": records_list_request,
    "MemorySubjectsFenceRequest": fence_request,
    "MemoryRecordsGetResponse": st.one_of(
        thing({"record": record}, {"extensions": extensions}),
        thing(
            {
                "error": thing(
                    {"code": st.text(), "message": st.text(), "extensions": extensions},
                    {"details": st.dictionaries(st.text(), json_values, max_size=3)},
                )
            },
            {"extensions": extensions},
        ),
    ),
}
"""Title of the document -> strategy."""
