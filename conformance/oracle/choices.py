"""What the contract leaves to a provider, as values: a permitted variant of the oracle is the oracle with other choices.

Every member names the sentence of protocol.md that leaves it open. The defaults are what the bundled oracle does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.policy import assembly, classification, ranking
from conformance.oracle.policy.chunks import SCHEMA_VERSION, packed
from conformance.wire.vocabulary import Code

Doc = Mapping[str, Any]


def numbered(kind: str, number: int) -> str:
    """Name an object by what it is and its number: ``rec-000001``. Ids are opaque (section 1)."""
    return f"{kind}-{number:06d}"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that ``memory.describe`` announces (section 7, Limits, with their floors)."""

    max_content_bytes: int = 16_384
    max_page: int = 50
    max_fragments: int = 8
    max_chunk_items: int = 50


@dataclass(frozen=True, slots=True)
class Choices:
    """The oracle's answers where the contract leaves one.

    - ``limits``, ``required_profile_kinds``, ``protocol_version``, ``engine_policy_version``: a provider's own (section 4).
    - ``cognition_dimensions``: the dimensions that a filter is served for; None is all of the schema (section 7, Limits).
    - ``schema_version``: of the shape of the objects that are made (section 3; its schema takes any from 1 on).
    - ``own_namespaces``: extensions of the provider's own on those objects, beside those of requests (section 4 forbids none).
    - ``lacking_on_name``: ``NOT_AUTHORIZED`` or ``NOT_FOUND`` where a subject, context, scope or the space is not covered.
    - ``lacking_on_visible``: the same for an object that the caller can otherwise see (section 5, Visibility).
    - ``list_order``: the order of a list, from its items, oldest first (section 7, Lists); reflections are newest first always.
    - ``make_id``: the shape of ids, from a kind and a number.
    - ``default_limit``: the page size without ``limit`` (section 4).
    - ``cursor_dies_at_any_change``: at any committed change, or only where it must (section 7, Lists).
    - ``cursor_survives_restart``: whether a cursor outlives a restart (section 7, Lists).
    - ``revocation_cascades``: whether grants issued under a revoked one fall too (section 5).
    - ``combined_issuance``: whether issuing grants together may cover what none covers alone (section 5).
    - ``expired_issuance``: whether a grant that is expired from the start is issued (section 5).
    - ``recall_skips``: whether recall fills a byte budget by skipping what does not fit, or ends there (section 7, Recall).
    - ``recall_order``: the rank of a record for a query, best first by the sorted key.
    - ``classify``: the label and the further signals of a candidate (section 3, MemoryCandidate).
    - ``compose``: the text of a reflection, from its subject and the records of its basis (section 3, Reflection).
    - ``state_digest``: the form of that digest, from the request and the pinned basis (section 3, Reflection).
    - ``pack``: the order of an export's items and their cut into chunks of at most a size (section 3, MemoryExportChunk).
    - ``pending_calls``: how many later calls a pending receipt waits; 0 answers ``committed`` at once (section 4).
    - ``refuses_defects_early``: whether a defective chunk before the final one is refused at once (section 7, Transfer).
    - ``discard_needs_records_write``: whether a review's discard demands ``records_write`` (section 4).
    - ``tells_retry``: whether errors carry ``details.retry`` (section 8).
    """

    limits: Limits = field(default_factory=Limits)
    required_profile_kinds: tuple[str, ...] = ("personality",)
    cognition_dimensions: tuple[str, ...] | None = None
    protocol_version: str = "1.0"
    engine_policy_version: str = "oracle-1"
    schema_version: int = SCHEMA_VERSION
    own_namespaces: Doc = field(default_factory=dict)
    lacking_on_name: Code = Code.NOT_AUTHORIZED
    lacking_on_visible: Code = Code.NOT_AUTHORIZED
    list_order: Callable[[list[Any]], list[Any]] = list
    make_id: Callable[[str, int], str] = numbered
    default_limit: int = 20
    cursor_dies_at_any_change: bool = True
    cursor_survives_restart: bool = True
    revocation_cascades: bool = False
    combined_issuance: bool = False
    expired_issuance: bool = True
    recall_skips: bool = False
    recall_order: Callable[[Doc, str | None], Any] = ranking.by_shared_words
    classify: Callable[[Doc], dict[str, Any]] = classification.classify
    compose: Callable[[str, Sequence[Doc]], str] = assembly.text
    state_digest: Callable[[Doc, Doc], str] = assembly.state_digest
    pack: Callable[[Sequence[Doc], int], Sequence[Sequence[Doc]]] = packed
    pending_calls: int = 0
    refuses_defects_early: bool = False
    discard_needs_records_write: bool = False
    tells_retry: bool = True
