"""Parcels that are sealed again after an edit, and how a defect is looked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import moving, sealing
from conformance.cargo import Cargo, cargo
from conformance.expect import CheckFailed
from conformance.wire.bundle import load
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code
from tests import scripted

FENCES = [{"type": "context_fence", "value": {"context_id": f"c{number}"}} for number in range(5)]


def load_of_everything() -> Cargo:
    return cargo(scripted.world(lambda _op, _payload: {"payload": {}}))


def test_the_cargo_is_valid_in_every_part() -> None:
    bundle = load()
    judge = bundle.model("ExportItem")
    for item in load_of_everything().items():
        assert judge.accepts(item), (item["type"], judge.problems(item))
    parcel = load_of_everything().parcel()
    assert bundle.model("MemoryExportBundle").accepts(parcel[0])
    assert all(bundle.model("MemoryExportChunk").accepts(chunk) for chunk in parcel[1])


def test_an_item_takes_other_members_and_leaves_members_out() -> None:
    item = load_of_everything().item("record", revision=9, kind=...)
    assert item["value"]["revision"] == 9
    assert "kind" not in item["value"]
    assert load_of_everything().item("subject", kind="a:b")["value"]["kind"] == "a:b"


@given(count=st.integers(0, 5), size=st.integers(1, 6))
def test_packing_cuts_and_seals(count: int, size: int) -> None:
    bundle, chunks = sealing.forged("s1", FENCES[:count], size)
    assert sealing.items_of(chunks) == FENCES[:count]
    assert [chunk["ordinal"] for chunk in chunks] == list(range(max(1, -(-count // size))))
    assert [chunk["final"] for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert all(digest(chunk, without="chunk_digest") == chunk["chunk_digest"] for chunk in chunks)
    assert bundle["chunk_digests"] == [chunk["chunk_digest"] for chunk in chunks]
    assert bundle["counts"] == {**dict.fromkeys(sealing.NAMED_BY, 0), "context_fence": count}
    assert bundle["digest"] == digest(bundle, without="digest")


def test_sealing_makes_an_edited_parcel_right_again() -> None:
    bundle, chunks = sealing.forged("s1", FENCES, 2)
    edited = [{**chunks[0], "items": [FENCES[4], {"type": "note"}]}, *chunks[1:]]
    sealed, again = sealing.sealed(bundle, edited)
    assert sealed["digest"] != bundle["digest"]
    assert sealed["counts"]["context_fence"] == 4  # an item of no known type counts nowhere
    assert again[1:] == chunks[1:]
    assert sealing.sealed(sealed, again) == (sealed, again)
    assert sealing.sealed_bundle({**sealed, "chunk_count": 9})["counts"] == sealed["counts"]


def test_what_an_item_brings_along_is_not_the_spaces_own() -> None:
    items = load_of_everything().items("reflection", "profile", "context_fence")
    brought = sealing.carried(items)
    assert all(not set(sealing.OF_THE_SPACE) & set(value) for value in brought.values())
    assert 'profile ["moved", "voice"]' in brought
    assert sealing.name_of("context_fence", {"context_id": "c7"}) in brought


def receipt(**members: Any) -> scripted.Answer:
    made = scripted.receipt("memory.imports.stage", {"type": "import", "id": "i1"})
    return {"payload": {"receipt": {**made, **members}}}


INVALID, OTHER = load().code(Code.IMPORT_INVALID), load().code(Code.INVALID_VALUE)
FAILED = {"state": "failed", "error": {"code": INVALID}}
REFUSED: scripted.Answer = {"error": {"code": INVALID, "message": "no", "extensions": {}}}


def staged(*answers: scripted.Answer) -> Any:
    """Stage the five fences by twos at a provider that gives these answers in turn."""
    turn = iter(answers)
    world = scripted.world(lambda _op, _payload: next(turn))
    return moving.found_defective(world, sealing.forged("s1", FENCES, 2), "a defect")


def test_a_defect_is_found_early_or_at_the_end() -> None:
    assert staged(receipt(), receipt(), receipt(**FAILED))["state"] == "failed"
    assert staged(REFUSED) is None
    assert staged(receipt(), REFUSED) is None


@pytest.mark.parametrize(
    "answers",
    [
        (receipt(), receipt(), receipt()),
        (receipt(), receipt(), REFUSED),
        (receipt(), receipt(), receipt(**{**FAILED, "error": {"code": OTHER}})),
        ({"error": {"code": OTHER, "message": "no", "extensions": {}}},),
    ],
    ids=["committed", "refused_at_the_end", "failed_otherwise", "refused_otherwise"],
)
def test_a_defect_that_is_not_found_so_fails_the_check(answers: tuple[scripted.Answer, ...]) -> None:
    with pytest.raises(CheckFailed):
        staged(*answers)
