"""Receipts, idempotency and compare-and-set: protocol.md section 7; and the order of checks, section 6."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle import steps
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, Doc, House, Who, everything
from .oracle_transfer import exported, stage

MARKER = "zebra-7431"


def requests(house: House) -> dict[str, Doc]:
    """Give one acceptable request for each operation, in a house that is made ready for them."""
    house.profile()
    heir = house.stranger()
    records = [house.root.create() for _ in range(4)]
    candidates = [house.root.capture() for _ in range(3)]
    bundle, chunks = exported(house)
    import_id, _ = stage(house, bundle, chunks)
    receipt = house.root.receipt("subjects.ensure", subject_id="u1")
    return {
        "describe": {},
        "spaces.list": {},
        "spaces.freeze": {"expected_revision": 1},
        "spaces.unfreeze": {"expected_revision": 1},
        "subjects.ensure": {"subject_id": "u2"},
        "subjects.get": {"subject_id": "u1"},
        "subjects.fence": {"target": {"type": "context", "context_id": "c9"}, "action": "fence"},
        "grants.list": {"view": "admin"},
        "grants.grant": {"grantee_id": heir.principal_id, "capabilities": ["recall"], "shared_access": "none"},
        "grants.revoke": {"grant_id": house.grant(heir, "recall")},
        "capture": {"scope": C1, "content": {"text": "a"}},
        "candidates.list": {"selection": everything()},
        "candidates.get": {"candidate_id": candidates[0]},
        "candidates.dismiss": {"candidate_id": candidates[1], "expected_revision": 1},
        "candidates.review": {"candidate_id": candidates[2], "expected_revision": 1, "decision": {"action": "promote"}},
        "records.create": {"kind": "note", "content": {"text": "a"}, "scope": C1},
        "records.get": {"record_id": records[0]},
        "records.update": {"record_id": records[1], "expected_revision": 1, "kind": "x"},
        "records.delete": {"record_id": records[2], "expected_revision": 1},
        "records.list": {"selection": everything()},
        "records.promote": {"record_id": records[3], "expected_revision": 1, "to_scope": C2},
        "recall": {"selection": everything(), "budget": {"max_records": 1}},
        "profile.get": {"subject_id": "u1"},
        "profile.update": {"subject_id": "u1", "kind": "voice", "content": {"text": "a"}, "expected_revision": None},
        "receipts.get": {"receipt_id": receipt["receipt_id"]},
        "reflections.state": {"selection": everything()},
        "reflections.list": {"selection": everything()},
        "reflections.generate": {"selection": everything()},
        "exports.create": {},
        "exports.get": {"export_id": bundle["export_id"], "ordinal": 0},
        "imports.stage": {"bundle": bundle, "chunk": chunks[0]},
        "imports.activate": {"import_id": import_id, "expected_authority_generation": 1},
        "imports.discard": {"import_id": import_id},
    }


FROZEN_FIRST = frozenset({"spaces.unfreeze", "imports.activate"})
MUTATIONS = sorted(row.stem for row in House(subject=False).bundle.operations.values() if row.mutation)


def ready(stem: str) -> tuple[House, Doc]:
    """Give a house in which ``stem`` is accepted, with its request; the space is frozen where that must come first."""
    house = House()
    members = requests(house)[stem]
    if stem in FROZEN_FIRST:
        house.freeze()
        members = {**members, "expected_revision": 2} if "expected_revision" in members else members
    return house, members


class TestEveryOperation:
    def test_is_in_the_table(self) -> None:
        house = House()
        assert list(steps.STEPS) == list(house.bundle.operations)
        assert set(requests(house)) == {row.stem for row in house.bundle.operations.values()}

    @pytest.mark.parametrize("stem", sorted(steps.STEPS))
    def test_refused_leaves_the_very_same_state(self, stem: str) -> None:
        stem = stem.removeprefix("memory.")
        house, members = ready(stem)
        house.root.ok(stem, **members)
        op, payload = house.root.request(stem, members)
        before = house.oracle.state
        for credential, flags, body in (
            (None, house.flags, payload),
            (house.root.credential, frozenset[str](), payload),
            (house.root.credential, house.flags, {**payload, "more": 1}),
            (house.root.credential, house.flags, []),
        ):
            assert "error" in house.oracle.call(credential, flags, op, body)
            assert house.oracle.state is before
        if "space_id" in payload:
            stranger = house.stranger()
            before = house.oracle.state
            answer = house.oracle.call(stranger.credential, house.flags, op, {**payload, "space_id": "none"})
            assert "error" in answer or answer["payload"] == {"grants": []} or stem == "grants.list"
            assert house.oracle.state is before

    @pytest.mark.parametrize("stem", sorted(set(steps.STEPS) - {f"memory.{stem}" for stem in MUTATIONS}))
    def test_a_read_leaves_the_very_same_state(self, stem: str) -> None:
        stem = stem.removeprefix("memory.")
        house, members = ready(stem)
        before = house.oracle.state
        house.root.ok(stem, **members)
        assert house.oracle.state is before


def again(who: Who, op: str, payload: Doc) -> Doc:
    return dict(who.house.oracle.call(who.credential, who.house.flags, op, payload))


class TestReplay:
    @pytest.mark.parametrize("stem", MUTATIONS)
    def test_gives_the_same_receipt_and_no_second_effect(self, stem: str) -> None:
        house, members = ready(stem)
        op, payload = house.root.request(stem, members)
        first = again(house.root, op, payload)
        assert first["payload"]["receipt"]["state"] == "committed", first
        before = house.oracle.state
        assert again(house.root, op, payload) == first
        reordered = dict(reversed(payload.items()))
        assert again(house.root, op, reordered) == first
        assert house.oracle.state is before
        house.control("restart", crash=True)
        assert again(house.root, op, payload) == first

    @pytest.mark.parametrize("stem", MUTATIONS)
    def test_another_payload_under_the_key_is_refused(self, stem: str) -> None:
        house, members = ready(stem)
        key = {"idempotency_key": "the key"}
        house.root.ok(stem, **members, **key)
        house.root.no(stem, Code.KEY_REUSED, **members, **key, extensions={"acme": {}})

    def test_whatever_has_happened_since(self) -> None:
        house = House()
        writer = house.holder("records_write")
        op, payload = writer.request("records.create", {"kind": "note", "content": {"text": "a"}, "scope": C1})
        first = again(writer, op, payload)
        record = first["payload"]["receipt"]["affected"][0]["id"]
        update, change = writer.request("records.update", {"record_id": record, "expected_revision": 1, "kind": "x"})
        second = again(writer, update, change)
        house.root.ok("records.update", record_id=record, expected_revision=2, kind="y")
        house.root.ok("records.delete", record_id=record, expected_revision=3)
        house.fence(context="c1")
        house.fence("archive")
        house.root.ok("grants.revoke", grant_id=writer.grant_id)
        house.freeze()
        assert (again(writer, op, payload), again(writer, update, change)) == (first, second)
        writer.no("records.create", Code.NOT_FOUND, kind="note", content={"text": "a"}, scope=C1)

    def test_a_key_is_of_space_principal_and_operation(self) -> None:
        house = House()
        other, governor = house.provision()
        house.grant_in(other, governor, house.root)
        house.root.ok("subjects.ensure", space_id=other, subject_id="u1")
        key = {"idempotency_key": "K"}
        same = {"scope": C1, "content": {"text": "a"}, "kind": "note"}
        second = house.holder("records_write", "capture")
        receipts = [
            house.root.receipt("records.create", **same, **key),
            house.root.receipt("capture", **same, **key),
            second.receipt("records.create", **same, **key),
            house.root.receipt("records.create", space_id=other, **same, **key),
            house.root.receipt("records.create", **same, idempotency_key="k"),
            house.root.receipt("records.create", **same, idempotency_key="K "),
        ]
        assert len({receipt["receipt_id"] for receipt in receipts}) == 6

    def test_a_rejected_request_uses_no_key(self) -> None:
        house = House()
        key = {"idempotency_key": "K", "kind": "note", "content": {"text": "a"}, "scope": {"subject_id": "u2"}}
        house.root.no("records.create", Code.NOT_FOUND, **key)
        house.freeze()
        house.root.no("records.create", Code.SPACE_FROZEN, **key)
        house.unfreeze()
        house.root.ok("subjects.ensure", subject_id="u2")
        house.root.ok("records.create", **{**key, "content": {"text": "b"}})


class TestReceipts:
    def test_is_bound_to_the_digest_of_the_whole_request(self) -> None:
        house = House()
        op, payload = house.root.request(
            "capture", {"scope": C1, "content": {"text": "\u20ac", "structured": 1.0}, "extensions": {"a": {}}}
        )
        receipt = again(house.root, op, payload)["payload"]["receipt"]
        assert receipt["payload_digest"] == canonical.digest(payload)
        assert (receipt["op"], receipt["principal_id"], receipt["space_id"]) == (op, house.root.principal_id, house.space_id)
        assert (receipt["authority_generation"], receipt["extensions"]) == (1, {})
        assert receipt["created_at"] == receipt["settled_at"]

    @pytest.mark.parametrize("stem", MUTATIONS)
    def test_has_no_content(self, stem: str) -> None:
        house, members = ready(stem)
        content = {"text": MARKER, "structured": {MARKER: MARKER}}
        for name in ("content", "decision"):
            if name in members:
                members[name] = {**content} if name == "content" else {"action": "promote", "content_override": content}
        receipt = house.root.receipt(stem, **members, extensions={"acme": {MARKER: MARKER}})
        assert MARKER not in str(receipt)

    def test_is_readable_by_its_principal_and_admin_alone(self) -> None:
        house = House()
        writer, reader, admin = house.holder("capture"), house.holder("capture", "records_read"), house.holder("admin")
        receipt = writer.receipt("capture", scope=C1, content={"text": "a"})
        get = {"receipt_id": receipt["receipt_id"]}
        assert admin.ok("receipts.get", **get)["receipt"] == receipt
        assert reader.no("receipts.get", Code.NOT_FOUND, **get) == reader.no("receipts.get", Code.NOT_FOUND, receipt_id="none")
        house.root.ok("grants.revoke", grant_id=writer.grant_id)
        assert writer.ok("receipts.get", **get)["receipt"] == receipt
        house.root.ok("grants.revoke", grant_id=admin.grant_id)
        admin.no("receipts.get", Code.NOT_FOUND, **get)
        narrow = house.holder("admin", context_ids=["c1"])
        narrow.no("receipts.get", Code.NOT_FOUND, **get)


class TestOrderOfChecks:
    """The pairs whose order section 6 fixes, and the rest of the list as the oracle keeps it."""

    def test_cognition_before_replay_before_authorisation_before_bytes(self) -> None:
        house = House()
        writer = house.holder("records_write")
        large: dict[str, Any] = {"kind": "note", "scope": C1, "content": {"text": "a" * 20_000}}
        writer.no("records.create", Code.LIMIT_EXCEEDED, **large)
        house.holder("recall").no("records.create", Code.NOT_AUTHORIZED, **large)
        writer.ok("records.create", kind="note", scope=C1, content={"text": "a"}, idempotency_key="K")
        writer.no("records.create", Code.KEY_REUSED, **large, idempotency_key="K")
        house.root.ok("grants.revoke", grant_id=writer.grant_id)
        writer.no("records.create", Code.KEY_REUSED, **large, idempotency_key="K")
        malformed = {**large, "content": {"text": "a", "cognition": 1}}
        writer.no("records.create", Code.INVALID_VALUE, **malformed, idempotency_key="K")

    def test_bytes_before_freeze_before_fences_before_state_before_revision(self) -> None:
        house = House()
        record = house.root.create()
        change: dict[str, Any] = {"record_id": record, "expected_revision": 99}
        house.root.no("records.update", Code.REVISION_AHEAD, kind="x", **change)
        house.root.ok("records.delete", record_id=record, expected_revision=1)
        house.root.no("records.update", Code.RECORD_TOMBSTONED, kind="x", **change)
        house.fence(context="c1")
        house.root.no("records.update", Code.CONTEXT_FENCED, kind="x", **change)
        house.fence()
        house.root.no("records.update", Code.SUBJECT_FENCED, kind="x", **change)
        house.freeze()
        house.root.no("records.update", Code.SPACE_FROZEN, kind="x", **change)
        house.root.no("records.update", Code.LIMIT_EXCEEDED, content={"text": "a" * 20_000}, **change)

    def test_authorisation_before_the_cognition_filter_is_evaluated(self) -> None:
        house = House()
        house.holder("recall").no(
            "records.list", Code.NOT_AUTHORIZED, selection=everything(), cognition_filter={"dimension": "belief"}
        )


class TestRetry:
    def test_a_provider_need_not_tell_it(self) -> None:
        house = House(tells_retry=False)
        assert house.root.no("subjects.get", Code.NOT_FOUND, subject_id="u9") == {}
