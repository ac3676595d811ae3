"""Conditions and alternatives of the bundle written otherwise: whatever the way, nothing has changed, and a change shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from conformance.gate.containment import Containment, contained
from conformance.gate.sides import NEW, OLD, Ground, Side
from conformance.wire.bundle import load
from tests.rewriting import WAYS, rewritten

BUNDLE = load()
_BY_CONDITIONS = (BUNDLE.model_ref("MemoryCandidate"), BUNDLE.request_ref("memory.subjects.fence"))
_BY_ALTERNATIVES = (BUNDLE.request_ref("memory.candidates.review"), BUNDLE.response_ref("memory.describe"))
TYPES = {way: _BY_CONDITIONS if way.startswith("conditions") else _BY_ALTERNATIVES for way in WAYS}
PAIRS = [(way, ref) for way, refs in TYPES.items() for ref in refs]


@cache
def _side(way: str) -> Side:
    return Side.of(NEW, {ref: rewritten(WAYS[way], document) for ref, document in BUNDLE.documents.items()})


def both_ways(new: Side, ref: str) -> tuple[Containment, Containment]:
    """Compare a type of the packaged bundle with its new form in both directions."""
    old = Side.of(OLD, BUNDLE.documents)
    ground = Ground(old, new)
    return contained(ground, old.ref(ref), new.ref(ref), 2), contained(ground, new.ref(ref), old.ref(ref), 2)


@pytest.mark.parametrize(("way", "ref"), PAIRS, ids=lambda value: value.rpartition("/")[2])
def test_written_otherwise_it_says_the_same(way: str, ref: str) -> None:
    assert rewritten(WAYS[way], BUNDLE.documents[ref]) != BUNDLE.documents[ref]
    for found in both_ways(_side(way), ref):
        assert (found.broken, found.unknown) == ((), ())
        assert found.evidence.shown in ("same form", "every rule", "no instance")
        assert found.evidence.accepted == found.evidence.tried > 0


def _hidden(way: str, ref: str, edit: Callable[[Any], None]) -> Side:
    documents = {**BUNDLE.documents, ref: rewritten(lambda schema: schema, BUNDLE.documents[ref])}
    edit(documents[ref])
    return Side.of(NEW, {name: rewritten(WAYS[way], document) for name, document in documents.items()})


CONDITIONS = [way for way in WAYS if way.startswith("conditions")]


@pytest.mark.parametrize("way", CONDITIONS)
def test_a_change_behind_another_writing_shows(way: str) -> None:
    ref = BUNDLE.model_ref("MemoryCandidate")

    def tightened(document: Any) -> None:
        document["else"]["properties"] = {"outcome": {"properties": {"record_ids": {"maxItems": 1}}}}

    narrowed, widened = both_ways(_hidden(way, ref, tightened), ref)
    assert not narrowed.unknown
    (broken,) = narrowed.broken
    assert len(broken.witness.instance["outcome"]["record_ids"]) == 2
    assert (widened.broken, widened.unknown) == ((), ())


@pytest.mark.parametrize("way", CONDITIONS)
def test_a_condition_that_fell_shows(way: str) -> None:
    ref = BUNDLE.model_ref("MemoryCandidate")

    def loosened(document: Any) -> None:
        del document["else"]

    narrowed, widened = both_ways(_hidden(way, ref, loosened), ref)
    assert (narrowed.broken, narrowed.unknown) == ((), ())
    (broken,) = widened.broken
    assert broken.witness.instance["state"] != "pending"
    assert "outcome" not in broken.witness.instance
