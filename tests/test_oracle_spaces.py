"""Spaces, describe and freeze: protocol.md sections 2 to 4 and 7, Freeze."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle import Limits, Oracle
from conformance.wire.vocabulary import Code, Flag

from .oracle_house import C1, House, everything


class TestDescribe:
    def test_tells_the_declared_set_whatever_was_negotiated(self) -> None:
        house = House()
        house.flags = frozenset({house.bundle.flag(Flag.CORE)})
        assert house.root.ok("describe")["capabilities"] == sorted(map(house.bundle.flag, Flag))

    def test_tells_limits_kinds_policy_and_dimensions(self) -> None:
        limits = Limits(max_content_bytes=2000, max_page=3, max_fragments=2, max_chunk_items=4)
        house = House(
            limits=limits, required_profile_kinds=("voice",), engine_policy_version="e9", cognition_dimensions=("belief",)
        )
        said = house.stranger().ok("describe")
        assert said["limits"] == {"max_content_bytes": 2000, "max_page": 3, "max_fragments": 2, "max_chunk_items": 4}
        assert (said["required_profile_kinds"], said["engine_policy_version"]) == (["voice"], "e9")
        assert said["cognition_dimensions"] == ["belief"]

    def test_declares_what_it_was_given(self) -> None:
        oracle = Oracle(flags=["spoke-memory"])
        assert oracle.control("hello", {})["payload"]["flags"] == ["spoke-memory"]


class TestSpacesList:
    def test_lists_the_spaces_of_an_effective_grant(self) -> None:
        house = House()
        mine, other = house.space_id, house.provision()[0]
        reader = house.holder("recall")
        assert [space["space_id"] for space in reader.ok("spaces.list")["spaces"]] == [mine]
        assert other not in str(reader.ok("spaces.list"))
        assert house.stranger().ok("spaces.list")["spaces"] == []

    def test_a_revoked_and_an_expired_grant_list_nothing(self) -> None:
        house = House()
        revoked, expiring = house.holder("recall"), house.holder("recall", expires_at="9000-05-01T12:00:05Z")
        assert revoked.ok("spaces.list")["spaces"]
        house.root.ok("grants.revoke", grant_id=revoked.grant_id)
        assert revoked.ok("spaces.list")["spaces"] == []
        assert expiring.ok("spaces.list")["spaces"]
        house.wait(5)
        assert expiring.ok("spaces.list")["spaces"] == []

    def test_a_new_space_is_active_at_revision_and_generation_1(self) -> None:
        space = House(subject=False).space()
        assert {"state": "active", "revision": 1, "authority_generation": 1, "pending_receipts": 0}.items() <= space.items()
        assert (space["fenced_context_ids"], space["created_at"]) == ([], space["updated_at"])

    def test_pages_over_spaces(self) -> None:
        house = House()
        who = house.stranger()
        for _ in range(3):
            house.space_id, house.root = house.provision()
            house.grant(who, "recall")
        first = who.ok("spaces.list", page={"limit": 2})
        rest = who.ok("spaces.list", page={"limit": 2, "cursor": first["next_cursor"]})
        assert len({space["space_id"] for space in first["spaces"] + rest["spaces"]}) == 3
        assert "next_cursor" not in rest


class TestFreeze:
    def test_freezes_and_unfreezes_against_the_space_revision(self) -> None:
        house = House()
        house.root.no("spaces.freeze", Code.REVISION_AHEAD, expected_revision=2)
        receipt = house.root.receipt("spaces.freeze", expected_revision=1)
        assert receipt["affected"] == [{"type": "space", "id": house.space_id, "revision": 2}]
        assert house.space()["state"] == "frozen"
        house.root.no("spaces.unfreeze", Code.REVISION_STALE, expected_revision=1)
        house.root.ok("spaces.unfreeze", expected_revision=2)
        assert (house.space()["state"], house.space()["revision"]) == ("active", 3)

    def test_freezing_the_frozen_and_unfreezing_the_active_is_the_wrong_state(self) -> None:
        house = House()
        house.root.no("spaces.unfreeze", Code.WRONG_STATE, expected_revision=1)
        house.freeze()
        house.root.no("spaces.freeze", Code.WRONG_STATE, expected_revision=2)

    def test_needs_admin_over_the_whole_space(self) -> None:
        house = House()
        for narrow in ({"subject_ids": ["u1"]}, {"context_ids": ["c1"]}):
            house.holder("admin", shared="write", **narrow).no("spaces.freeze", Code.NOT_AUTHORIZED, expected_revision=1)
        house.holder("records_read").no("spaces.freeze", Code.NOT_AUTHORIZED, expected_revision=1)
        house.stranger().no("spaces.freeze", Code.NOT_FOUND, expected_revision=1)
        house.holder("admin").ok("spaces.freeze", expected_revision=1)

    def test_updated_at_is_of_space_level_changes(self) -> None:
        house = House()
        house.wait(1)
        house.root.create()
        assert house.space()["updated_at"] == house.space()["created_at"]
        house.freeze()
        assert house.space()["updated_at"] > house.space()["created_at"]


# Every mutation that a freeze stops, with a request that is right but for the freeze.
def _stopped(house: House) -> dict[str, dict[str, Any]]:
    record, candidate = house.root.create(), house.root.capture()
    return {
        "subjects.ensure": {"subject_id": "u1"},
        "subjects.fence": {"target": {"type": "context", "context_id": "c9"}, "action": "fence"},
        "grants.grant": {"grantee_id": "p", "capabilities": ["recall"], "shared_access": "none"},
        "capture": {"scope": C1, "content": {"text": "a"}},
        "candidates.dismiss": {"candidate_id": candidate, "expected_revision": 1},
        "candidates.review": {"candidate_id": candidate, "expected_revision": 1, "decision": {"action": "discard"}},
        "records.create": {"kind": "note", "content": {"text": "a"}, "scope": C1},
        "records.update": {"record_id": record, "expected_revision": 1, "kind": "fact"},
        "records.promote": {"record_id": record, "expected_revision": 1, "to_scope": {"subject_id": "u1"}},
        "records.delete": {"record_id": record, "expected_revision": 1},
        "profile.update": {"subject_id": "u1", "kind": "preferences", "content": {"text": "a"}, "expected_revision": None},
        "reflections.generate": {"selection": everything()},
    }


class TestWhileFrozen:
    @pytest.mark.parametrize("stem", sorted(_stopped(House())))
    def test_stops_every_other_mutation_and_no_longer(self, stem: str) -> None:
        house = House()
        house.profile()
        members = _stopped(house)[stem]
        house.freeze()
        house.root.no(stem, Code.SPACE_FROZEN, **members)
        house.unfreeze()
        house.root.ok(stem, **members)

    def test_the_table_of_stopped_operations_is_whole(self) -> None:
        house = House()
        table = {row.stem for row in house.bundle.operations.values() if row.mutation and not row.while_frozen}
        assert table - {"spaces.freeze"} == set(_stopped(house))

    def test_lets_reads_revocation_transfer_and_replays_through(self) -> None:
        house = House()
        reader = house.holder("recall")
        op, request = house.root.request("records.create", {"kind": "note", "content": {"text": "a"}, "scope": C1})
        before = house.oracle.call(house.root.credential, house.flags, op, request)
        house.freeze()
        assert house.oracle.call(house.root.credential, house.flags, op, request) == before
        house.root.ok("grants.revoke", grant_id=reader.grant_id)
        house.root.ok("exports.create")
        house.root.ok("records.list", selection=everything())
        house.root.ok("subjects.get", subject_id="u1")
