"""What the final chunk verifies: protocol.md section 7, Transfer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.wire import canonical
from conformance.wire.vocabulary import Code

from .oracle_house import Doc, House, everything
from .oracle_transfer import activate, change, exported, furnished, sealed, snapshot, stage


def _twice(kind: str) -> Callable[[Doc, list[Doc]], None]:
    def change(_bundle: Doc, chunks: list[Doc]) -> None:
        items = chunks[0]["items"]
        items.append(next(item for item in items if item["type"] == kind))

    return change


DEFECTS: dict[str, Callable[[Doc, list[Doc]], None]] = {
    "unknown type": change("subject", type="thing"),
    "no value": change("subject", value=None),
    "extra member": change("subject", more=1),
    "revision 0": change("record", value__revision=0),
    "long kind": change("record", value__kind="k" * 129),
    "30 February": change("record", value__created_at="2026-02-30T00:00:00Z"),
    "no view": change("record", value__content__cognition__0__view=None),
    "dimension hope": change("record", value__content__cognition__0__dimension="hope"),
    "tombstone with text": change("record", value__tombstone={"deleted_at": "2026-01-01T00:00:00Z", "deleted_by": "x"}),
    "pending with outcome": change("candidate", value__state="pending"),
    "false content digest": change("profile", value__content_digest="0" * 64),
    "pending receipt": change("receipt", value__state="pending", value__settled_at=None),
    "one subject twice": _twice("subject"),
    "one fence twice": _twice("context_fence"),
}
UNSEALED: dict[str, Callable[[Doc, list[Doc]], None]] = {
    "bundle digest": lambda bundle, _chunks: bundle.update(digest="0" * 64),
    "bundle member": lambda bundle, _chunks: bundle.update(protocol_version="other"),
    "chunk digest": lambda _bundle, chunks: chunks[0].update(chunk_digest="0" * 64),
    "chunk member": lambda _bundle, chunks: chunks[0]["items"].pop(),
    "export id": lambda _bundle, chunks: chunks[0].update(export_id="other"),
}
SEALED: dict[str, Callable[[Doc, list[Doc]], None]] = {
    "count too high": lambda bundle, _chunks: bundle["counts"].update(record=99),
    "another export": lambda _bundle, chunks: chunks[0].update(export_id="other"),
}


class TestVerification:
    @pytest.mark.parametrize("defect", sorted(DEFECTS))
    def test_a_defective_item_settles_the_stage_failed(self, defect: str) -> None:
        house = furnished()
        bundle, chunks = exported(house)
        DEFECTS[defect](bundle, chunks)
        self.fails(house, *sealed(bundle, chunks))

    @pytest.mark.parametrize("defect", sorted(UNSEALED))
    def test_so_does_a_wrong_digest(self, defect: str) -> None:
        house = furnished()
        bundle, chunks = exported(house)
        UNSEALED[defect](bundle, chunks)
        self.fails(house, bundle, chunks)

    @pytest.mark.parametrize("defect", sorted(SEALED))
    def test_and_a_wrong_figure_under_right_digests(self, defect: str) -> None:
        house = furnished()
        bundle, chunks = exported(house)
        SEALED[defect](bundle, chunks)
        self.fails(house, *sealed(bundle, chunks, count=False))

    def fails(self, house: House, bundle: Doc, chunks: list[Doc]) -> None:
        before = snapshot(house, house.space_id)
        import_id, receipt = stage(house, bundle, chunks)
        assert (receipt["state"], receipt["error"]) == ("failed", {"code": house.bundle.code(Code.IMPORT_INVALID)})
        assert receipt["affected"] == [{"type": "import", "id": import_id}]
        house.root.no("imports.discard", Code.WRONG_STATE, import_id=import_id)
        house.freeze()
        house.root.no("imports.activate", Code.WRONG_STATE, import_id=import_id, expected_authority_generation=1)
        assert snapshot(house, house.space_id) == before

    def test_sealing_alone_is_no_defect_nor_are_large_content_and_unknown_extensions(self) -> None:
        house = furnished()
        bundle, chunks = exported(house)
        change("record", value__content__text="a" * 20_000, value__extensions={"unknown-one": {"x": 1}})(bundle, chunks)
        import_id, receipt = stage(house, *sealed(bundle, chunks))
        assert receipt["state"] == "committed"
        activate(house, import_id)
        (record,) = [
            record
            for record in house.root.ok("records.list", selection=everything())["records"]
            if len(record["content"]["text"]) > 999
        ]
        assert record["extensions"] == {"unknown-one": {"x": 1}}

    def test_final_where_the_count_says_otherwise_is_a_defect_and_ends_the_import(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        chunks[0]["final"] = True
        bundle, chunks = sealed(bundle, chunks)
        receipt = house.root.receipt("imports.stage", bundle=bundle, chunk=chunks[0])
        assert receipt["state"] == "failed"
        last = [{**chunk, "final": False} for chunk in exported(house, max_items_per_chunk=4)[1]]
        _, receipt = stage(house, *sealed(bundle, last))
        assert receipt["state"] == "failed"

    def test_another_bundle_on_the_way_is_a_defect(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        import_id = house.root.made("imports.stage", bundle=bundle, chunk=chunks[0])
        other = {**bundle, "extensions": {"other": {}}}
        for number, chunk in enumerate(chunks[1:]):
            receipt = house.root.receipt("imports.stage", bundle=bundle if number else other, chunk=chunk, import_id=import_id)
        assert receipt["state"] == "failed"

    def test_swapped_chunk_digests_are_a_defect(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        digests = bundle["chunk_digests"]
        bundle["chunk_digests"] = [digests[1], digests[0], *digests[2:]]
        bundle["digest"] = canonical.digest(bundle, without="digest")
        assert stage(house, bundle, chunks)[1]["state"] == "failed"

    def test_an_early_defect_may_be_refused_at_once(self) -> None:
        house = _early()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        bad = {**chunks[1], "items": chunks[1]["items"][1:]}
        import_id = house.root.made("imports.stage", bundle=bundle, chunk=chunks[0])
        house.root.no("imports.stage", Code.IMPORT_INVALID, bundle=bundle, chunk=bad, import_id=import_id)
        other = {**bundle, "extensions": {"other": {}}}
        house.root.no("imports.stage", Code.IMPORT_INVALID, bundle=other, chunk=chunks[1], import_id=import_id)
        for chunk in chunks[1:]:
            receipt = house.root.receipt("imports.stage", bundle=bundle, chunk=chunk, import_id=import_id)
        assert receipt["state"] == "committed"

    @pytest.mark.parametrize("defect", ["more chunks counted", "fewer items counted", "twins"])
    def test_what_contradicts_itself_at_the_first_chunk_is_an_early_defect(self, defect: str) -> None:
        house = _early()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        if defect == "twins":
            chunks[0]["items"].append(chunks[0]["items"][0])
        bundle, chunks = sealed(bundle, chunks)
        if defect == "more chunks counted":
            bundle["chunk_count"] += 1
        if defect == "fewer items counted":
            bundle["counts"][chunks[0]["items"][0]["type"]] = 0
        bundle["digest"] = canonical.digest(bundle, without="digest")
        house.root.no("imports.stage", Code.IMPORT_INVALID, bundle=bundle, chunk=chunks[0])


def _early() -> House:
    """Furnish a provider that refuses defects where it meets them."""
    house = furnished()
    house.oracle.choices = type(house.oracle.choices)(refuses_defects_early=True)
    house.oracle.restart()
    return house
