"""Providers that are right in another way: the oracle with the choices that the contract leaves open made differently.

No rule may fail on any of them (the inverted control of the kill matrix). As targets they are ``python:tests.variants:<name>``.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from conformance.machine.model import MINTED
from conformance.oracle import Choices, Oracle
from conformance.oracle.choices import Limits
from conformance.oracle.policy import assembly
from conformance.wire.vocabulary import Code
from tests.other_answers import (
    Annotated,
    Backwards,
    CompletesInTime,
    FilterAsInput,
    FormFirst,
    LastReason,
    ManyDigits,
    OddCursors,
    PendingNamesSpace,
    RefusesAnotherBundle,
    RefusesLarge,
    SetsBackwards,
    ShortPages,
    WholeSeconds,
)


def digested(kind: str, number: int) -> str:
    """Name an object by digits that tell neither its kind nor its age."""
    return hashlib.sha256(f"{kind}/{number}".encode()).hexdigest()[:26]


def long_and_odd(kind: str, number: int) -> str:
    """Name an object with 128 characters, separators and letters beyond ASCII among them."""
    return f"{kind}|{number}/ü %_".ljust(128, "…")


def counted_by_kind() -> Callable[[str, int], str]:
    """Return what names the objects of each kind 1, 2, 3 …: two of different kinds may have one name."""
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
    return lambda kind, number: str(next(numbers[kind])) if kind in MINTED.values() else f"{kind}-{number}"


def cut_otherwise(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Cut items, the last first, into chunks that are now as large as may be, now of one item."""
    left, packs = list(items[::-1]), list[Sequence[Any]]()
    for most in itertools.cycle((1, size)):
        packs.append(left[:most])
        left = left[most:]
        if not left:
            return packs
    raise AssertionError


def latest_first(items: list[Any]) -> list[Any]:
    """Put items, oldest first, into the opposite order."""
    return items[::-1]


def scattered(items: list[Any]) -> list[Any]:
    """Put items into an order that says nothing, and is always the same."""
    names = ("record_id", "candidate_id", "grant_id", "space_id")
    return sorted(items, key=lambda item: digested(next(item[name] for name in names if name in item), 0))


def longest_first(record: Mapping[str, Any], _query: str | None) -> Any:
    """Rank records by the length of their text, the longest first."""
    return (-len(record["content"]["text"]), record["record_id"])


def sorted_out(content: Mapping[str, Any]) -> dict[str, Any]:
    """Classify by length, with signals of its own beside the one that the contract names."""
    size = "long" if len(content["text"]) > 20 else "short"
    return {"label": size, "signals": [f"text:{size}", *(["cognition"] if content.get("cognition") else [])]}


def counted(_subject_id: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Write a reflection that tells how many memories there are, and nothing of them."""
    return f"{len(records)} ✓"


def digest_of_digest(request: Mapping[str, Any], pinned: Mapping[str, Any]) -> str:
    """Digest the state in a form of its own."""
    return hashlib.sha256(f"v2/{assembly.state_digest(request, pinned)}".encode()).hexdigest()


CHOICES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "digest_ids": {"make_id": digested},
        "long_ids": {"make_id": long_and_odd},
        "newest_first": {"list_order": latest_first},
        "lists_without_pattern": {"list_order": scattered},
        "ids_count_by_kind": {"make_id": counted_by_kind()},
        "ranked_by_length": {"recall_order": longest_first},
        "skips_what_does_not_fit": {"recall_skips": True},
        "hides_lacking_coverage": {"lacking_on_name": Code.NOT_FOUND, "lacking_on_visible": Code.NOT_FOUND},
        "hides_on_names_only": {"lacking_on_name": Code.NOT_FOUND},
        "hides_on_objects_only": {"lacking_on_visible": Code.NOT_FOUND},
        "completes_late": {"pending_calls": 2},
        "revocation_cascades": {"revocation_cascades": True},
        "combined_issuance": {"combined_issuance": True},
        "no_expired_issuance": {"expired_issuance": False},
        "cursors_live_long": {"cursor_dies_at_any_change": False},
        "cursors_die_at_restart": {"cursor_survives_restart": False},
        "small_pages": {"default_limit": 1},
        "least_limits": {"limits": Limits(1024, max_page=3, max_fragments=2, max_chunk_items=2), "default_limit": 3},
        "refuses_defects_early": {"refuses_defects_early": True},
        "discard_needs_records_write": {"discard_needs_records_write": True},
        "tells_no_retry": {"tells_retry": False},
        "needs_no_profiles": {"required_profile_kinds": ()},
        "needs_two_profiles": {"required_profile_kinds": ("preferences", "voice")},
        "serves_two_dimensions": {"cognition_dimensions": ("belief", "emotion")},
        "classifies_by_length": {"classify": sorted_out},
        "exports_cut_otherwise": {"pack": cut_otherwise},
        "reflects_briefly": {"compose": counted, "state_digest": digest_of_digest},
        "own_namespaces": {"schema_version": 3, "own_namespaces": {"engine": {"shard": 7, "notes": ["kept", None]}}},
        "other_versions": {"protocol_version": "2026-11", "engine_policy_version": "π/7"},
    }
)  # fmt: skip


ALTERNATIVES = (
    "digest_ids",
    "ids_count_by_kind",
    "needs_two_profiles",
    "hides_on_names_only",
    "hides_on_objects_only",
    "lists_without_pattern",
)
"""Each has a counterpart that sets the same choice: the combination of all takes the counterpart."""


SHAPES: Mapping[str, Callable[[], Oracle]] = MappingProxyType(
    {
        "annotates_answers": Annotated,
        "refuses_filters_as_input": FilterAsInput,
        "members_backwards": Backwards,
        "sets_backwards": SetsBackwards,
        "tells_the_last_reason": LastReason,
        "odd_cursors": OddCursors,
        "judges_form_first": FormFirst,
        "pending_names_its_space": PendingNamesSpace,
        "tells_whole_seconds": lambda: Oracle(clock=WholeSeconds()),
        "tells_many_digits": lambda: Oracle(clock=ManyDigits()),
        "refuses_large_requests": RefusesLarge,
        "refuses_another_bundle": RefusesAnotherBundle,
        "completes_in_time": CompletesInTime,
        "short_pages": ShortPages,
    }
)
"""Variants in how an answer is put."""


def made(name: str) -> Callable[[], Oracle]:
    """Return a factory of the variant ``name``, or of all together for ``everything_else``."""
    if name in SHAPES:
        return SHAPES[name]
    if name == "everything_else":
        together = {key: value for one, choices in CHOICES.items() if one not in ALTERNATIVES for key, value in choices.items()}
        return lambda: FilterAsInput(Choices(**together))
    choices = CHOICES[name]
    return lambda: Oracle(choices=Choices(**choices))


NAMES = (*CHOICES, *SHAPES, "everything_else")


def __getattr__(name: str) -> Callable[[], Oracle]:
    if name in NAMES:
        return made(name)
    raise AttributeError(f"no permitted variant is named {name!r}")
