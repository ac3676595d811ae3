"""Export and staging: protocol.md section 7, Transfer."""

from __future__ import annotations

from conformance.oracle import Limits
from conformance.oracle.policy import chunks as policy
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

from .oracle_house import House, everything
from .oracle_transfer import activate, activated, exported, furnished, snapshot, stage


class TestExports:
    def test_holds_everything_but_grants_in_order(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=4, extensions={"acme": {"x": 1}})
        items = [item for chunk in chunks for item in chunk["items"]]
        assert bundle["counts"] == policy.counts(items)
        assert min(bundle["counts"].values()) >= 1
        assert set(bundle["counts"]) == set(policy.NAMES)
        assert [chunk["ordinal"] for chunk in chunks] == list(range(bundle["chunk_count"]))
        assert [chunk["final"] for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
        assert bundle["chunk_digests"] == [canonical.digest(chunk, without="chunk_digest") for chunk in chunks]
        assert bundle["digest"] == canonical.digest(bundle, without="digest")
        assert (bundle["extensions"], bundle["space_id"]) == ({"acme": {"x": 1}}, house.space_id)
        assert max(len(chunk["items"]) for chunk in chunks) == 4
        assert "gone" not in str([item for item in items if item["type"] == "record"])

    def test_an_empty_space_is_one_empty_chunk(self) -> None:
        house = House(subject=False)
        bundle, chunks = exported(house)
        assert (bundle["chunk_count"], chunks[0]["items"], chunks[0]["final"]) == (1, [], True)
        assert set(bundle["counts"].values()) == {0}

    def test_keeps_what_it_held_and_ends_with_its_last_chunk(self) -> None:
        house = House()
        house.root.create("before")
        export_id = house.root.made("exports.create")
        before = house.root.ok("exports.get", export_id=export_id, ordinal=0)
        house.root.ok("records.delete", record_id=house.root.listed()[0], expected_revision=1)
        assert house.root.ok("exports.get", export_id=export_id, ordinal=0.0) == before
        past = house.root.no("exports.get", Code.NOT_FOUND, export_id=export_id, ordinal=1)
        assert house.root.no("exports.get", Code.NOT_FOUND, export_id="none", ordinal=0) == past

    def test_chunks_are_limited_and_transfer_needed(self) -> None:
        house = House(limits=Limits(max_chunk_items=2))
        house.root.no("exports.create", Code.LIMIT_EXCEEDED, max_items_per_chunk=3)
        house.root.ok("exports.create", max_items_per_chunk=2)
        house.holder("admin").no("exports.create", Code.NOT_AUTHORIZED)
        house.holder("transfer", subject_ids=["u1"]).no("exports.create", Code.NOT_AUTHORIZED)
        house.holder("transfer").ok("exports.create")


class TestRoundTrip:
    def test_into_an_empty_space_everything_is_as_it_was(self) -> None:
        house = furnished()
        before = snapshot(house, house.space_id)
        target, _ = activated(house, *exported(house, max_items_per_chunk=3))
        assert snapshot(house, target) == before

    def test_into_the_same_space_everything_is_as_it_was(self) -> None:
        house = furnished()
        before = snapshot(house, house.space_id)
        import_id, _ = stage(house, *exported(house))
        house.root.create("not in the bundle")
        activate(house, import_id)
        assert snapshot(house, house.space_id) == before

    def test_ids_made_afterwards_are_new_ones(self) -> None:
        house, other = House(), House()
        for _ in range(30):
            house.root.create()
        import_id, _ = stage(other, *exported(house))
        activate(other, import_id)
        brought = other.root.listed(page={"limit": 50})
        # Both houses name their spaces and principals alike, so a key that travelled would replay.
        assert other.root.create(idempotency_key="fresh") not in brought
        assert len(other.root.listed(page={"limit": 50})) == len(brought) + 1

    def test_a_moved_pending_candidate_can_be_reviewed(self) -> None:
        house = House()
        candidate = house.root.capture()
        target, _ = activated(house, *exported(house))
        request = {"space_id": target, "candidate_id": candidate, "expected_revision": 1}
        house.root.ok("candidates.review", decision={"action": "promote"}, **request)


class TestStaging:
    def test_is_in_order_and_says_so(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        import_id = house.root.made("imports.stage", bundle=bundle, chunk=chunks[0])
        for wrong in (chunks[2], chunks[-1]):
            house.root.no("imports.stage", Code.IMPORT_SEQUENCE, bundle=bundle, chunk=wrong, import_id=import_id)
        house.root.no("imports.activate", Code.SPACE_NOT_FROZEN, import_id=import_id, expected_authority_generation=1)
        for chunk in chunks[1:]:
            house.root.ok("imports.stage", bundle=bundle, chunk=chunk, import_id=import_id)
        house.root.no("imports.stage", Code.IMPORT_SEQUENCE, bundle=bundle, chunk=chunks[-1], import_id=import_id)
        house.root.no("imports.stage", Code.NOT_FOUND, bundle=bundle, chunk=chunks[-1], import_id="none")

    def test_shows_nothing_before_activation(self) -> None:
        house = furnished()
        target, governor = house.provision()
        house.grant_in(target, governor, house.root)
        bundle, chunks = exported(house)
        stage(house, bundle, chunks, space_id=target)
        where = {"space_id": target}
        assert house.root.ok("records.list", selection=everything(), include_tombstones=True, **where)["total_authorized"] == 0
        house.root.no("subjects.get", Code.NOT_FOUND, subject_id="u1", **where)
        assert house.root.ok("recall", selection=everything(), budget={"max_records": 9}, **where)["records"] == []

    def test_chunks_are_limited(self) -> None:
        house = furnished()
        bundle, chunks = exported(house)
        house.oracle.choices = type(house.oracle.choices)(limits=Limits(max_chunk_items=len(chunks[0]["items"]) - 1))
        house.oracle.restart()
        house.root.no("imports.stage", Code.LIMIT_EXCEEDED, bundle=bundle, chunk=chunks[0])

    def test_discard_leaves_nothing_to_use(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        half = house.root.made("imports.stage", bundle=bundle, chunk=chunks[0])
        whole, _ = stage(house, bundle, chunks)
        for import_id in (half, whole):
            receipt = house.root.receipt("imports.discard", import_id=import_id)
            assert receipt["affected"] == [{"type": "import", "id": import_id}]
            house.root.no("imports.discard", Code.WRONG_STATE, import_id=import_id)
            house.root.no("imports.stage", Code.WRONG_STATE, bundle=bundle, chunk=chunks[1], import_id=import_id)
        house.freeze()
        house.root.no("imports.activate", Code.WRONG_STATE, import_id=whole, expected_authority_generation=1)
        house.root.no("imports.discard", Code.NOT_FOUND, import_id="none")
