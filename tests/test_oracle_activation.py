"""Activation, what it keeps and what it moves: protocol.md section 7, Transfer."""

from __future__ import annotations

from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, Doc, House, everything
from .oracle_transfer import activate, activated, change, exported, sealed, stage


class TestActivation:
    def test_needs_freeze_generation_and_both_capabilities(self) -> None:
        house = House()
        import_id, _ = stage(house, *exported(house))
        request = {"import_id": import_id}
        house.root.no("imports.activate", Code.SPACE_NOT_FROZEN, expected_authority_generation=1, **request)
        house.freeze()
        ahead = house.root.no("imports.activate", Code.REVISION_AHEAD, expected_authority_generation=2, **request)
        assert (ahead["expected_revision"], ahead["actual_revision"]) == (2, 1)
        house.root.no("imports.activate", Code.NOT_FOUND, expected_authority_generation=1, import_id="none")

    def test_each_of_both_capabilities_is_needed(self) -> None:
        house = House()
        import_id, _ = stage(house, *exported(house))
        movers = [house.holder("transfer"), house.holder("admin")]
        both = house.holder("transfer")
        house.grant(both, "admin")
        house.freeze()
        request = {"import_id": import_id, "expected_authority_generation": 1}
        for mover in movers:
            mover.no("imports.activate", Code.NOT_AUTHORIZED, **request)
        both.ok("imports.activate", **request)

    def test_is_one_generation_and_one_revision_on(self) -> None:
        house = House()
        import_id, _ = stage(house, *exported(house))
        receipt = activate(house, import_id)
        space = house.space()
        assert (space["authority_generation"], space["revision"]) == (2, 4)
        assert receipt["affected"] == [
            {"type": "import", "id": import_id},
            {"type": "space", "id": house.space_id, "revision": 3},
        ]
        house.freeze()
        house.root.no("imports.activate", Code.WRONG_STATE, import_id=import_id, expected_authority_generation=2)
        other, _ = stage(house, *exported(house))
        house.root.no("imports.activate", Code.REVISION_STALE, import_id=other, expected_authority_generation=1)

    def test_replaces_and_does_not_add(self) -> None:
        house = House()
        kept = house.root.create("kept")
        import_id, _ = stage(house, *exported(house))
        house.root.create("later")
        house.root.capture()
        house.profile()
        house.root.ok("subjects.ensure", subject_id="u2")
        house.fence(context="c9")
        house.root.ok("records.update", record_id=kept, expected_revision=1, content={"text": "changed"})
        activate(house, import_id)
        assert house.root.listed() == [kept]
        assert house.root.read(kept)["content"] == {"text": "kept"}
        assert house.root.ok("candidates.list", selection=everything())["candidates"] == []
        assert house.root.ok("profile.get", subject_id="u1")["documents"] == []
        house.root.no("subjects.get", Code.NOT_FOUND, subject_id="u2")
        assert house.space()["fenced_context_ids"] == []

    def test_keeps_grants_and_brings_none(self) -> None:
        house = House()
        reader = house.holder("records_read")
        revoked = house.holder("records_read")
        bundle, chunks = exported(house)
        house.root.ok("grants.revoke", grant_id=revoked.grant_id)
        later = house.holder("records_read")
        before = house.root.ok("grants.list", view="admin")
        import_id, _ = stage(house, bundle, chunks)
        activate(house, import_id)
        assert house.root.ok("grants.list", view="admin") == before
        for who in (reader, later):
            who.ok("records.list", selection=everything())
        revoked.no("records.list", Code.NOT_FOUND, selection=everything())

    def test_makes_every_older_cursor_invalid(self) -> None:
        for dies in (True, False):
            house = House(cursor_dies_at_any_change=dies)
            for _ in range(2):
                house.root.create()
            import_id, _ = stage(house, *exported(house))
            cursor = house.root.ok("records.list", selection=everything(), page={"limit": 1})["next_cursor"]
            activate(house, import_id)
            house.root.no("records.list", Code.CURSOR_INVALID, selection=everything(), page={"cursor": cursor})

    def test_keys_replay_where_they_were_made_and_conflict_elsewhere(self) -> None:
        house = House()
        op, payload = house.root.request("records.create", {"kind": "note", "content": {"text": "a"}, "scope": C1})
        first = house.oracle.call(house.root.credential, house.flags, op, payload)
        bundle, chunks = exported(house)
        import_id, _ = stage(house, bundle, chunks)
        activate(house, import_id)
        assert house.oracle.call(house.root.credential, house.flags, op, payload) == first
        target, _ = activated(house, bundle, chunks)
        house.root.no("records.create", Code.KEY_REUSED, **{**payload, "space_id": target})
        moved = house.root.ok("receipts.get", space_id=target, receipt_id=first["payload"]["receipt"]["receipt_id"])["receipt"]
        assert moved == {**first["payload"]["receipt"], "space_id": target}

    def test_the_spaces_own_receipts_are_there_once(self) -> None:
        house = House()
        house.root.create()
        import_id, _ = stage(house, *exported(house))
        activate(house, import_id)
        items = [item for chunk in exported(house)[1] for item in chunk["items"]]
        found = [item["value"]["receipt_id"] for item in items if item["type"] == "receipt"]
        assert len(found) == len(set(found))

    def test_the_spaces_own_receipts_stay_and_win(self) -> None:
        house = House()
        old = house.root.receipt("records.create", kind="note", content={"text": "a"}, scope=C1, idempotency_key="K")
        bundle, chunks = exported(house)
        change("receipt", value__idempotency_key="other", value__payload_digest="0" * 64)(bundle, chunks)
        import_id, _ = stage(house, *sealed(bundle, chunks))
        activate(house, import_id)
        get = house.root.ok("receipts.get", receipt_id=old["receipt_id"])["receipt"]
        assert get == old
        again = house.root.receipt("records.create", kind="note", content={"text": "a"}, scope=C1, idempotency_key="K")
        assert again == old
        first = chunks[0]["items"]
        forged = next(item["value"] for item in first if item["type"] == "receipt")
        house.root.no(forged["op"].removeprefix("memory."), Code.KEY_REUSED, subject_id="u1", idempotency_key="other")


class TestSurvivors:
    def test_a_tombstone_stays_one_with_its_subject(self) -> None:
        house = House()
        house.root.ok("subjects.ensure", subject_id="u2")
        old = house.root.create("in the bundle", C1)
        bundle, chunks = exported(house)
        new = house.root.create("not in the bundle", {"subject_id": "u2", "context_id": "c1"})
        for record in (old, new):
            house.root.ok("records.delete", record_id=record, expected_revision=1)
        before = [house.root.read(record) for record in (old, new)]
        _drop(chunks, "subject", "u2")
        import_id, _ = stage(house, *sealed(bundle, chunks))
        activate(house, import_id)
        assert [house.root.read(record) for record in (old, new)] == before
        assert house.root.ok("subjects.get", subject_id="u2")["subject"]["state"] == "active"
        assert house.root.listed() == []
        house.root.no("records.update", Code.RECORD_TOMBSTONED, record_id=old, expected_revision=2, kind="x")

    def test_an_archived_subject_stays_so(self) -> None:
        house = House()
        house.root.ok("subjects.ensure", subject_id="u2")
        bundle, chunks = exported(house)
        house.fence("archive")
        house.fence("archive", subject="u2")
        _drop(chunks, "subject", "u2")
        before = [house.root.ok("subjects.get", subject_id=subject) for subject in ("u1", "u2")]
        import_id, _ = stage(house, *sealed(bundle, chunks))
        activate(house, import_id)
        assert [house.root.ok("subjects.get", subject_id=subject) for subject in ("u1", "u2")] == before

    def test_a_fence_does_not_survive(self) -> None:
        house = House()
        import_id, _ = stage(house, *exported(house))
        house.fence()
        activate(house, import_id)
        assert house.root.ok("subjects.get", subject_id="u1")["subject"]["state"] == "active"

    def test_a_consumed_candidate_stays_so_with_its_subject(self) -> None:
        house = House()
        house.root.ok("subjects.ensure", subject_id="u2")
        old = house.root.capture()
        bundle, chunks = exported(house)
        new = house.root.capture(scope={"subject_id": "u2", "context_id": "c1"})
        pending = house.root.capture()
        for candidate in (old, new):
            house.root.ok("candidates.dismiss", candidate_id=candidate, expected_revision=1)
        before = [house.root.candidate(candidate) for candidate in (old, new)]
        _drop(chunks, "subject", "u2")
        import_id, _ = stage(house, *sealed(bundle, chunks))
        activate(house, import_id)
        assert [house.root.candidate(candidate) for candidate in (old, new)] == before
        house.root.ok("subjects.get", subject_id="u2")
        house.root.no("candidates.get", Code.NOT_FOUND, candidate_id=pending)

    def test_a_deletion_travels_too(self) -> None:
        house = House()
        record = house.root.create()
        other, governor = house.provision()
        house.grant_in(other, governor, house.root)
        import_id, _ = stage(house, *exported(house), space_id=other)
        activate(house, import_id, space_id=other)
        house.root.ok("records.delete", record_id=record, expected_revision=1)
        import_id, _ = stage(house, *exported(house), space_id=other)
        activate(house, import_id, space_id=other)
        moved = house.root.ok("records.get", space_id=other, record_id=record)["record"]
        assert (moved["content"], moved["revision"]) == ({"text": ""}, 2)


def _drop(chunks: list[Doc], kind: str, subject: str) -> None:
    """Take a subject's own item out of the chunks."""
    for chunk in chunks:
        chunk["items"] = [item for item in chunk["items"] if item["type"] != kind or item["value"].get("subject_id") != subject]


class TestMovedReflections:
    def test_placements_of_the_basis_stand_in_for_the_generators(self) -> None:
        house = House()
        house.profile()
        house.root.create("one", C1)
        house.root.ok("reflections.generate", selection=everything())
        target, _ = activated(house, *exported(house))
        where = {"space_id": target}

        def stale() -> bool:
            (reflection,) = house.root.ok("reflections.list", selection=everything(), **where)["reflections"]
            return bool(reflection["stale"])

        assert stale() is False
        house.root.ok("records.create", kind="note", content={"text": "b"}, scope=C2, **where)
        assert stale() is False
        house.root.ok("records.create", kind="note", content={"text": "b"}, scope=C1, **where)
        assert stale() is True

    def test_a_basis_record_that_did_not_travel_hides_the_reflection(self) -> None:
        house = House()
        house.profile()
        house.root.create("one", C1)
        house.root.ok("reflections.generate", selection=everything())
        bundle, chunks = exported(house)
        for chunk in chunks:
            chunk["items"] = [item for item in chunk["items"] if item["type"] != "record"]
        target, _ = activated(house, bundle, chunks)
        assert house.root.ok("reflections.list", selection=everything(), space_id=target)["reflections"] == []
