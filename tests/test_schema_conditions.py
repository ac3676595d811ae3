"""Each condition that the contract puts into the schemas, from both sides (protocol.md sections 1, 3 and 4)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from conformance.wire.bundle import load

BUNDLE = load()
DELETE = object()  # stands for "this member is left out"
SCOPE = {"subject_id": "sub"}
COMMON = {"space_id": "space", "idempotency_key": "key"}
SELECTION = {"subject_id": "sub", "mode": "all_authorized"}
CHUNK = BUNDLE.schema(BUNDLE.model_ref("MemoryExportChunk"))["examples"][0]
SHEET = BUNDLE.schema(BUNDLE.model_ref("MemoryExportBundle"))["examples"][0]
BASES: dict[str, Any] = {
    "fence a subject": COMMON | {"target": {"type": "subject", "subject_id": "s"}, "action": "archive", "expected_revision": 1},
    "fence a context": COMMON | {"target": {"type": "context", "context_id": "c"}, "action": "fence"},
    "review": COMMON | {"candidate_id": "c", "expected_revision": 1, "decision": {"action": "promote"}},
    "update": COMMON | {"record_id": "r", "expected_revision": 1, "kind": "k"},
    "write profile": COMMON | {"subject_id": "s", "kind": "k", "content": {"text": ""}, "expected_revision": None},
    "read profile": {"space_id": "space", "subject_id": "s"},
    "stage first": COMMON | {"bundle": SHEET, "chunk": CHUNK},
    "stage next": COMMON | {"bundle": SHEET, "chunk": CHUNK | {"ordinal": 1}, "import_id": "i"},
    "grant": COMMON | {"grantee_id": "g", "capabilities": ["recall"], "shared_access": "none"},
    "candidates": {"space_id": "space", "selection": SELECTION},
    "records": {"space_id": "space", "selection": SELECTION},
    "recall": {"space_id": "space", "selection": SELECTION, "budget": {"max_records": 1}},
    "capture": COMMON | {"scope": SCOPE, "content": {"text": ""}},
    "create": COMMON | {"scope": SCOPE, "content": {"text": ""}, "kind": "k"},
    "ensure": COMMON | {"subject_id": "s"},
    "generate": COMMON | {"selection": SELECTION},
    "get export": {"space_id": "space", "export_id": "e", "ordinal": 0},
    "export": COMMON,
    "activate": COMMON | {"import_id": "i", "expected_authority_generation": 1},
}
OPS = {
    "fence a subject": "subjects.fence",
    "fence a context": "subjects.fence",
    "review": "candidates.review",
    "update": "records.update",
    "write profile": "profile.update",
    "read profile": "profile.get",
    "stage first": "imports.stage",
    "stage next": "imports.stage",
    "grant": "grants.grant",
    "candidates": "candidates.list",
    "records": "records.list",
    "recall": "recall",
    "capture": "capture",
    "create": "records.create",
    "ensure": "subjects.ensure",
    "generate": "reflections.generate",
    "get export": "exports.get",
    "export": "exports.create",
    "activate": "imports.activate",
}


def edited(base: Any, edits: dict[str, Any]) -> Any:
    """Copy ``base`` with members set or left out; a name with dots goes into the object."""
    made = copy.deepcopy(base)
    for path, value in edits.items():
        *inner, last = path.split(".")
        owner = made
        for part in inner:
            owner = owner[int(part)] if isinstance(owner, list) else owner.setdefault(part, {})
        if value is DELETE:
            del owner[last]
        else:
            owner[last] = value
    return made


FRAGMENT = {"action": "fragment", "fragments": [{"content": {"text": "a"}}, {"content": {"text": "b"}, "kind": "k"}]}
REQUESTS: list[tuple[str, dict[str, Any], bool]] = [
    ("fence a subject", {"action": "fence"}, True),
    ("fence a subject", {"expected_revision": DELETE}, False),
    ("fence a subject", {"target.context_id": "c"}, False),
    ("fence a subject", {"target.type": "space"}, False),
    ("fence a context", {"action": "unfence"}, True),
    ("fence a context", {"action": "archive"}, False),
    ("fence a context", {"expected_revision": 1}, False),
    ("fence a context", {"target.subject_id": "c"}, False),
    ("fence a context", {"target": {"type": "context"}}, False),
    ("review", {"decision.kind": "k", "decision.content_override": {"text": "", "cognition": 7}}, True),
    ("review", {"decision.content_override": {"text": 1}}, False),
    ("review", {"decision.fragments": []}, False),
    ("review", {"decision": FRAGMENT}, True),
    ("review", {"decision": FRAGMENT | {"fragments": FRAGMENT["fragments"][:1]}}, False),
    ("review", {"decision": FRAGMENT | {"kind": "k"}}, False),
    ("review", {"decision": {"action": "fragment"}}, False),
    ("review", {"decision": {"action": "discard"}}, True),
    ("review", {"decision": {"action": "discard", "kind": "k"}}, False),
    ("review", {"decision": {"action": "dismiss"}}, False),
    ("review", {"decision": {}}, False),
    ("review", {"expected_revision": DELETE}, False),
    ("update", {"content": {"text": ""}}, True),
    ("update", {"content": {"text": ""}, "kind": DELETE}, True),
    ("update", {"kind": DELETE}, False),
    ("update", {"scope": SCOPE}, False),
    ("write profile", {"expected_revision": 1}, True),
    ("write profile", {"expected_revision": 2.0}, True),
    ("write profile", {"expected_revision": 0}, False),
    ("write profile", {"expected_revision": DELETE}, False),
    ("write profile", {"expected_revision": "1"}, False),
    ("write profile", {"content.structured": [1]}, True),
    ("write profile", {"content.cognition": []}, False),
    ("read profile", {"kinds": ["k", "k"]}, True),
    ("read profile", {"kinds": []}, False),
    ("read profile", {"kinds": [""]}, False),
    ("stage first", {"import_id": "i"}, False),
    ("stage first", {"chunk.ordinal": 0.0}, True),
    ("stage first", {"chunk.ordinal": 1}, False),
    ("stage first", {"chunk.items": [{}, {"type": "record"}, {"type": "x", "value": None, "more": []}]}, True),
    ("stage first", {"chunk.items": [1]}, False),
    ("stage first", {"chunk.chunk_digest": "0"}, False),
    ("stage first", {"chunk.more": 1}, False),
    ("stage first", {"chunk.final": DELETE}, False),
    ("stage first", {"bundle.counts.record": DELETE}, False),
    ("stage first", {"bundle.counts.grant": 0}, False),
    ("stage first", {"bundle.chunk_digests": []}, True),
    ("stage first", {"bundle.chunk_count": 0}, False),
    ("stage next", {}, True),
    ("stage next", {"import_id": DELETE}, False),
    ("stage next", {"chunk.ordinal": 0}, False),
    ("stage next", {"chunk.ordinal": -1}, False),
    ("grant", {"capabilities": ["recall", "recall"]}, False),
    ("grant", {"capabilities": []}, False),
    ("grant", {"capabilities": ["fly"]}, False),
    ("grant", {"subject_ids": ["a", "a"], "context_ids": ["c"], "expires_at": "2020-01-01T00:00:00Z"}, True),
    ("grant", {"subject_ids": []}, False),
    ("grant", {"context_ids": []}, False),
    ("grant", {"expires_at": "2020-01-01T00:00:00"}, False),
    ("grant", {"expires_at": "2021-02-29T00:00:00Z"}, False),
    ("grant", {"shared_access": DELETE}, False),
    ("candidates", {"states": ["pending", "pending"]}, True),
    ("candidates", {"states": []}, False),
    ("candidates", {"states": ["consumed"]}, False),
    ("candidates", {"page": {}}, True),
    ("candidates", {"page": {"limit": 1, "cursor": ""}}, True),
    ("candidates", {"page.limit": 0}, False),
    ("candidates", {"cognition_filter": {"dimension": "belief"}}, False),
    ("records", {"include_tombstones": True, "filter": {"sources": ["review"]}}, True),
    ("records", {"filter": {}}, False),
    ("records", {"filter": {"sources": []}}, False),
    ("records", {"filter": {"source_context_ids": []}}, False),
    ("records", {"filter": {"sources": ["import"]}}, False),
    ("records", {"filter": {"subject_id": "s"}}, False),
    ("records", {"cognition_filter": {"basis_kind": "observed", "recorded_after": "2026-01-01T00:00:00.5Z"}}, True),
    ("records", {"cognition_filter": {}}, False),
    ("records", {"cognition_filter": {"basis_kind": "guessed"}}, False),
    ("records", {"cognition_filter": {"dimension": "hope"}}, False),
    ("records", {"cognition_filter": {"text": "like"}}, False),
    ("records", {"cognition_filter": {"holder_id": ""}}, False),
    ("records", {"selection.mode": "shared"}, True),
    ("records", {"selection.mode": "contexts"}, False),
    ("records", {"selection.mode": "contexts_and_shared"}, False),
    ("records", {"selection.mode": "contexts", "selection.context_ids": []}, False),
    ("records", {"selection.mode": "contexts", "selection.context_ids": ["c", "c"]}, True),
    ("records", {"selection.mode": "contexts_and_shared", "selection.context_ids": ["c"]}, True),
    ("records", {"selection.context_ids": ["c"]}, False),
    ("records", {"selection.mode": "shared", "selection.context_ids": ["c"]}, False),
    ("recall", {"budget": {"max_bytes": 1}, "query": {"text": ""}}, True),
    ("recall", {"budget": {}}, False),
    ("recall", {"budget.max_records": 0}, False),
    ("recall", {"budget.max_bytes": 0}, False),
    ("recall", {"query": {}}, False),
    ("recall", {"page": {}}, False),
    ("capture", {"content.cognition": [{"view": "now"}], "kind": "k" * 128}, True),
    ("capture", {"kind": "k" * 129}, False),
    ("capture", {"kind": ""}, False),
    ("capture", {"content.text": DELETE}, False),
    ("capture", {"content.summary": ""}, False),
    ("capture", {"scope.context_id": "", "source_context_id": "c"}, False),
    ("capture", {"idempotency_key": "k" * 129}, False),
    ("capture", {"idempotency_key": ""}, False),
    ("capture", {"extensions": {"Upper": {}}}, False),
    ("capture", {"extensions": {"a-b_c1": {"any": [None]}}}, True),
    ("capture", {"extensions": {"a": 1}}, False),
    ("capture", {"principal_id": "p"}, False),
    ("create", {"kind": DELETE}, False),
    ("ensure", {"kind": "world:place.x-y_z"}, True),
    ("ensure", {"kind": "world"}, False),
    ("ensure", {"kind": "World:place"}, False),
    ("ensure", {"kind": "world:"}, False),
    ("ensure", {"subject_id": "s" * 129}, False),
    ("generate", {"expected_state_digest": "a" * 64}, True),
    ("generate", {"expected_state_digest": "A" * 64}, False),
    ("get export", {"ordinal": -1}, False),
    ("get export", {"ordinal": DELETE}, False),
    ("export", {"max_items_per_chunk": 1}, True),
    ("export", {"max_items_per_chunk": 0}, False),
    ("activate", {"expected_authority_generation": 0}, False),
]
MODEL_CASES: list[tuple[str, int, dict[str, Any], bool]] = [
    ("MemoryGrant", 0, {"state": "revoked"}, False),
    ("MemoryGrant", 0, {"revoked_at": "2026-01-01T00:00:00Z"}, False),
    ("MemoryGrant", 0, {"state": "revoked", "revoked_at": "2026-01-01T00:00:00Z"}, True),
    ("MemoryGrant", 1, {"revoked_at": DELETE}, False),
    ("MemoryCandidate", 0, {"state": "discarded"}, False),
    ("MemoryCandidate", 1, {"state": "pending"}, False),
    ("MemoryCandidate", 1, {"outcome": DELETE}, False),
    ("MemoryCandidate", 1, {"outcome.decided_at": DELETE}, False),
    ("MemoryCandidate", 0, {"classification.signals": ["a", "a"]}, False),
    ("MemoryReceipt", 0, {"settled_at": DELETE}, False),
    ("MemoryReceipt", 0, {"error": {"code": "X"}}, False),
    ("MemoryReceipt", 0, {"state": "pending", "settled_at": DELETE}, True),
    ("MemoryReceipt", 0, {"state": "pending"}, False),
    ("MemoryReceipt", 0, {"affected.0.id": "s" * 128 + "/" + "k" * 128}, True),
    ("MemoryReceipt", 0, {"affected.0.type": "import"}, True),
    ("MemoryReceipt", 0, {"affected.0.type": "memory"}, False),
    ("MemoryReceipt", 0, {"content": {"text": ""}}, False),
    ("MemoryReceipt", 1, {"error": {"code": "X"}}, False),
    ("MemoryReceipt", 2, {"error": DELETE}, False),
    ("MemoryReceipt", 2, {"error": {"code": "X", "message": ""}}, False),
    ("MemoryReceipt", 2, {"settled_at": DELETE}, False),
    ("RetainedRecord", 0, {"content": {"text": ""}}, True),
    ("RetainedRecord", 2, {"content": {"text": "left"}}, False),
    ("RetainedRecord", 2, {"content": {"text": "", "cognition": []}}, False),
    ("RetainedRecord", 2, {"content": {}}, False),
    ("RetainedRecord", 2, {"tombstone.deleted_by": DELETE}, False),
    ("RetainedRecord", 1, {"content.cognition": [{"view": "now"}]}, False),
    ("RetainedRecord", 1, {"content.cognition": []}, True),
    ("RetainedRecord", 1, {"provenance.source": "import"}, False),
    ("CognitionRecord", 0, {"view": "occurred_at"}, False),
    ("CognitionRecord", 0, {"value": ""}, False),
    ("CognitionRecord", 0, {"basis.refs": []}, True),
    ("CognitionRecord", 0, {"basis.refs": [""]}, False),
    ("CognitionRecord", 0, {"basis.refs": DELETE}, False),
    ("CognitionRecord", 0, {"attribution.asserted_by": "a" * 129}, False),
    ("CognitionRecord", 0, {"time.recorded_at": DELETE}, False),
    ("CognitionRecord", 0, {"confidence": 1}, False),
    ("MemorySpace", 0, {"pending_receipts": -1}, False),
    ("MemorySpace", 0, {"authority_generation": 0}, False),
    ("MemorySpace", 0, {"fenced_context_ids": ["a", "a"]}, False),
    ("Reflection", 0, {"basis.records": []}, True),
    ("Reflection", 0, {"selection.context_ids": ["c"]}, False),
    ("Reflection", 1, {"cognition_filter": {}}, False),
    ("ProfileDocument", 0, {"content.cognition": []}, False),
    ("ProfileDocument", 0, {"content_digest": "x"}, False),
    ("MemoryExportBundle", 0, {"counts.context_fence": DELETE}, False),
    ("MemoryExportChunk", 0, {"items.0.type": "record"}, False),
    ("MemoryExportChunk", 0, {"items.1.value": {"context_id": "c", "more": 1}}, False),
    ("MemoryExportChunk", 0, {"items": [{"type": "grant", "value": {}}]}, False),
    ("MemoryExportChunk", 0, {"items": []}, True),
    ("MemoryExportChunk", 0, {"ordinal": -1}, False),
    ("Principal", 0, {"kind": ""}, False),
    ("Subject", 0, {"state": "deleted"}, False),
    ("Subject", 0, {"parent_id": "s"}, False),
    ("ErrorEnvelope", 0, {"details": {"any": {"thing": 1}}}, True),
    ("ErrorEnvelope", 0, {"retry": "never"}, False),
]


class TestConditions:
    @pytest.mark.parametrize("base", BASES)
    def test_each_base_is_valid(self, base: str) -> None:
        assert BUNDLE.request(f"memory.{OPS[base]}").problems(BASES[base]) == []

    @pytest.mark.parametrize(("base", "edits", "valid"), REQUESTS)
    def test_requests(self, base: str, edits: dict[str, Any], valid: bool) -> None:
        validator = BUNDLE.request(f"memory.{OPS[base]}")
        instance = edited(BASES[base], edits)
        assert (validator.problems(instance) == []) is valid
        assert validator.accepts(instance) is valid

    @pytest.mark.parametrize(("title", "example", "edits", "valid"), MODEL_CASES)
    def test_models(self, title: str, example: int, edits: dict[str, Any], valid: bool) -> None:
        validator = BUNDLE.model(title)
        instance = edited(BUNDLE.schema(validator.ref)["examples"][example], edits)
        assert (validator.problems(instance) == []) is valid
        assert validator.accepts(instance) is valid

    def test_every_capability_of_the_contract_can_be_granted(self) -> None:
        every = BUNDLE.schema(BUNDLE.model_ref("GrantCapability"))["enum"]
        assert len(every) == 14
        assert BUNDLE.request("memory.grants.grant").accepts(BASES["grant"] | {"capabilities": every})

    def test_a_request_that_breaks_one_thing_has_one_problem(self) -> None:
        for base, member in [("stage next", "import_id"), ("update", "kind"), ("fence a subject", "expected_revision")]:
            (problem,) = BUNDLE.request(f"memory.{OPS[base]}").problems(edited(BASES[base], {member: DELETE}))
            assert problem.keyword in {"required", "anyOf"}
