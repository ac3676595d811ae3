"""Pending receipts: protocol.md section 7, Pending and Receipts; the hold of harness.md."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, Doc, House, everything
from .oracle_transfer import exported, sealed, stage


def polled(house: House, receipt: Doc) -> Doc:
    found: Doc = house.root.ok("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
    return found


def furnished(**choices: Any) -> House:
    house = House(**choices)
    house.profile()
    house.root.create("one", C1)
    return house


class TestHold:
    def test_keeps_the_four_operations_pending_and_only_them(self) -> None:
        house = furnished()
        bundle, chunks = exported(house)
        staged, _ = stage(house, bundle, chunks)
        house.control("hold", hold=True)
        receipts = [
            house.root.receipt("reflections.generate", selection=everything()),
            house.root.receipt("exports.create"),
            stage(house, bundle, chunks)[1],
        ]
        house.freeze()
        receipts.append(house.root.receipt("imports.activate", import_id=staged, expected_authority_generation=1))
        assert [receipt["state"] for receipt in receipts] == ["pending"] * 4
        assert all("settled_at" not in receipt and receipt["affected"] for receipt in receipts)
        assert house.space()["pending_receipts"] == 4
        house.wait(5)
        house.control("hold", hold=False)
        assert house.space()["pending_receipts"] == 0
        settled = [polled(house, receipt) for receipt in receipts]
        assert [receipt["state"] for receipt in settled] == ["committed"] * 4
        assert all(receipt["settled_at"] > receipt["created_at"] for receipt in settled)
        assert settled == [polled(house, receipt) for receipt in receipts]

    def test_an_early_chunk_commits_at_once(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=1)
        house.control("hold", hold=True)
        assert house.root.receipt("imports.stage", bundle=bundle, chunk=chunks[0])["state"] == "committed"
        assert house.root.receipt("subjects.ensure", subject_id="u2")["state"] == "committed"

    def test_what_is_pending_does_not_exist_for_reads(self) -> None:
        house = furnished()
        house.control("hold", hold=True)
        reflection = house.root.receipt("reflections.generate", selection=everything())
        export = house.root.receipt("exports.create")["affected"][0]["id"]
        assert house.root.ok("reflections.list", selection=everything())["reflections"] == []
        assert house.root.ok("reflections.state", selection=everything())["stale"] is True
        house.root.no("exports.get", Code.NOT_FOUND, export_id=export, ordinal=0)
        house.control("hold", hold=False)
        (made,) = house.root.ok("reflections.list", selection=everything())["reflections"]
        assert made["reflection_id"] == reflection["affected"][0]["id"]
        house.root.ok("exports.get", export_id=export, ordinal=0)

    def test_a_replay_gives_the_receipt_as_it_stands(self) -> None:
        house = furnished()
        house.control("hold", hold=True)
        key = {"idempotency_key": "K"}
        first = house.root.receipt("exports.create", **key)
        assert house.root.receipt("exports.create", **key) == first
        house.control("hold", hold=False)
        again = house.root.receipt("exports.create", **key)
        assert (again["receipt_id"], again["state"]) == (first["receipt_id"], "committed")

    def test_survives_a_restart(self) -> None:
        house = furnished()
        house.control("hold", hold=True)
        receipt = house.root.receipt("exports.create")
        house.control("restart", crash=True)
        assert polled(house, receipt) == receipt
        assert house.root.receipt("exports.create")["state"] == "pending"
        house.control("hold", hold=False)
        assert polled(house, receipt)["state"] == "committed"

    def test_is_of_all_spaces(self) -> None:
        house = furnished()
        other, governor = house.provision()
        house.grant_in(other, governor, house.root)
        house.control("hold", hold=True)
        house.root.ok("exports.create")
        house.root.ok("exports.create", space_id=other)
        assert [space["pending_receipts"] for space in house.root.ok("spaces.list")["spaces"]] == [1, 1]
        house.control("hold", hold=False)
        assert [space["pending_receipts"] for space in house.root.ok("spaces.list")["spaces"]] == [0, 0]


class TestPinned:
    def test_generation_and_export_commit_whatever_comes_between(self) -> None:
        house = furnished()
        house.control("hold", hold=True)
        reflection = house.root.receipt("reflections.generate", selection=everything())
        export = house.root.receipt("exports.create")
        record = house.root.listed()[0]
        house.root.ok("records.update", record_id=record, expected_revision=1, content={"text": "changed"})
        house.root.create("more", C2)
        house.fence("archive")
        house.freeze()
        house.control("hold", hold=False)
        assert polled(house, reflection)["state"] == polled(house, export)["state"] == "committed"
        (made,) = house.root.ok("reflections.list", selection=everything())["reflections"]
        assert (made["basis"]["records"], made["stale"]) == ([{"record_id": record, "revision": 1}], True)
        answer = house.root.ok("exports.get", export_id=export["affected"][0]["id"], ordinal=0)
        assert answer["bundle"]["counts"]["record"] == 1
        assert "changed" not in str(answer)

    def test_an_export_holds_only_settled_receipts(self) -> None:
        house = furnished()
        house.control("hold", hold=True)
        pending = house.root.receipt("reflections.generate", selection=everything())
        export = house.root.receipt("exports.create")["affected"][0]["id"]
        house.control("hold", hold=False)
        chunk = house.root.ok("exports.get", export_id=export, ordinal=0)["chunk"]
        receipts = [item["value"]["receipt_id"] for item in chunk["items"] if item["type"] == "receipt"]
        assert receipts
        assert pending["receipt_id"] not in receipts

    def test_what_settles_before_an_activation_is_replaced_by_it(self) -> None:
        house = furnished()
        import_id, _ = stage(house, *exported(house))
        house.control("hold", hold=True)
        reflection = house.root.receipt("reflections.generate", selection=everything())
        house.freeze()
        house.root.ok("imports.activate", import_id=import_id, expected_authority_generation=1)
        house.control("hold", hold=False)
        assert house.space()["authority_generation"] == 2
        assert polled(house, reflection)["state"] == "committed"
        assert house.root.ok("reflections.list", selection=everything())["reflections"] == []


class TestActivationSettles:
    def held(self) -> tuple[House, str, Doc]:
        house = furnished()
        import_id, _ = stage(house, *exported(house))
        house.freeze()
        house.control("hold", hold=True)
        receipt = house.root.receipt("imports.activate", import_id=import_id, expected_authority_generation=1)
        assert receipt["affected"] == [{"type": "import", "id": import_id}]
        return house, import_id, receipt

    def fails(self, house: House, receipt: Doc, code: Code) -> None:
        house.control("hold", hold=False)
        settled = polled(house, receipt)
        assert (settled["state"], settled["error"], settled["affected"]) == ("failed", {"code": house.bundle.code(code)}, [])

    def test_failed_when_the_space_was_unfrozen_and_leaves_the_import_usable(self) -> None:
        house, import_id, receipt = self.held()
        house.unfreeze()
        self.fails(house, receipt, Code.SPACE_NOT_FROZEN)
        assert house.space()["authority_generation"] == 1
        house.freeze()
        key = {"idempotency_key": receipt["idempotency_key"], "import_id": import_id, "expected_authority_generation": 1}
        assert house.root.receipt("imports.activate", **key) == polled(house, receipt)
        assert (
            house.root.receipt("imports.activate", import_id=import_id, expected_authority_generation=1)["state"] == "committed"
        )

    def test_failed_when_the_generation_moved_on(self) -> None:
        house = furnished()
        first, second = (stage(house, *exported(house))[0] for _ in range(2))
        house.freeze()
        house.control("hold", hold=True)
        receipts = [
            house.root.receipt("imports.activate", import_id=import_id, expected_authority_generation=1)
            for import_id in (first, second)
        ]
        self.fails(house, receipts[1], Code.REVISION_STALE)
        assert polled(house, receipts[0])["state"] == "committed"

    def test_failed_when_the_import_was_discarded(self) -> None:
        house, import_id, receipt = self.held()
        house.root.ok("imports.discard", import_id=import_id)
        self.fails(house, receipt, Code.WRONG_STATE)


class TestStageSettles:
    @pytest.mark.parametrize("sound", [True, False])
    def test_by_what_was_staged_even_when_it_was_discarded_meanwhile(self, sound: bool) -> None:
        house = furnished()
        bundle, chunks = exported(house)
        if not sound:
            chunks[0]["items"].pop()
        house.control("hold", hold=True)
        import_id, receipt = stage(house, bundle, chunks)
        house.root.no(
            "imports.stage", Code.IMPORT_SEQUENCE, bundle=bundle, chunk={**chunks[0], "ordinal": 1}, import_id=import_id
        )
        house.root.ok("imports.discard", import_id=import_id)
        house.control("hold", hold=False)
        assert polled(house, receipt)["state"] == ("committed" if sound else "failed")
        house.freeze()
        house.root.no("imports.activate", Code.WRONG_STATE, import_id=import_id, expected_authority_generation=1)

    def test_an_import_under_verification_is_not_staged_yet(self) -> None:
        house = furnished()
        house.freeze()
        bundle, chunks = sealed(*exported(house))
        house.control("hold", hold=True)
        import_id, receipt = stage(house, bundle, chunks)
        house.root.no("imports.activate", Code.WRONG_STATE, import_id=import_id, expected_authority_generation=1)
        house.control("hold", hold=False)
        assert polled(house, receipt)["state"] == "committed"
        assert (
            house.root.receipt("imports.activate", import_id=import_id, expected_authority_generation=1)["state"] == "committed"
        )


class TestLateCompletion:
    """A provider that answers pending by itself (``Choices.pending_calls``)."""

    def test_settles_after_as_many_later_calls(self) -> None:
        house = furnished(pending_calls=2)
        receipt = house.root.receipt("exports.create")
        assert [polled(house, receipt)["state"] for _ in range(3)] == ["pending", "pending", "committed"]

    def test_settles_whatever_is_called(self) -> None:
        house = furnished(pending_calls=1)
        house.root.receipt("exports.create")
        assert [house.space()["pending_receipts"] for _ in range(3)] == [1, 0, 0]

    def test_waits_while_held_and_settles_after_a_restart(self) -> None:
        house = furnished(pending_calls=1)
        house.control("hold", hold=True)
        receipt = house.root.receipt("exports.create")
        assert [polled(house, receipt)["state"] for _ in range(3)] == ["pending"] * 3
        house.control("restart", crash=True)
        house.control("hold", hold=False)
        assert polled(house, receipt)["state"] == "committed"
