"""Export, import and activation: protocol.md section 7, Transfer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.oracle import Limits
from conformance.oracle.policy import chunks as policy
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, SHARED, Doc, House, belief, contexts, everything
from .oracle_transfer import activate, activated, exported, sealed, stage


def furnished() -> House:
    """Make a house with every type of item and their optional members."""
    house = House()
    house.root.ok("subjects.ensure", subject_id="u2", kind="app:user", extensions={"acme": {"x": 1}})
    house.root.ok("subjects.ensure", subject_id="u3")
    house.profile()
    content = {"text": "full", "structured": None, "cognition": [belief()]}
    house.root.create(content=content, scope=SHARED, source_context_id="src", extensions={"acme": {}})
    gone = house.root.create("gone", content={"text": "gone", "cognition": []})
    house.root.create("kept", C2)
    candidates = [house.root.capture(str(number), extensions={"n": {}}) for number in range(5)]
    decisions: list[Doc] = [
        {"action": "promote"},
        {"action": "fragment", "fragments": [{"content": {"text": "p"}}] * 2},
        {"action": "discard"},
    ]
    for candidate, decision in zip(candidates, decisions, strict=False):
        house.root.ok("candidates.review", candidate_id=candidate, expected_revision=1, decision=decision)
    house.root.ok("candidates.dismiss", candidate_id=candidates[3], expected_revision=1)
    cognitive = {"cognition_filter": {"dimension": "belief"}, "filter": {"sources": ["author"]}}
    house.root.ok("reflections.generate", selection=everything(), **cognitive)
    house.root.ok("records.delete", record_id=gone, expected_revision=1)
    house.root.ok("reflections.generate", selection=contexts("c1", "c2"))
    house.fence(context="c3")
    house.fence(subject="u2")
    house.fence("archive", subject="u3")
    return house


def snapshot(house: House, space_id: str) -> Doc:
    """Read all that travels, without what is the space's own."""
    where = {"space_id": space_id}
    everything_of: dict[str, Any] = {}
    for subject in ("u1", "u2", "u3"):
        selection = {"selection": everything(subject), "page": {"limit": 50}}
        everything_of[subject] = [
            house.root.ok("subjects.get", subject_id=subject, **where),
            house.root.ok("records.list", include_tombstones=True, **selection, **where),
            house.root.ok("candidates.list", **selection, **where),
            house.root.ok("profile.get", subject_id=subject, **where),
            house.root.ok(
                "reflections.list", filter={"sources": ["author"]}, cognition_filter={"dimension": "belief"}, **selection, **where
            ),
            house.root.ok("reflections.list", selection=contexts("c1", "c2", subject=subject), **where),
        ]
    (space,) = [one for one in house.root.ok("spaces.list")["spaces"] if one["space_id"] == space_id]
    found: Doc = _nowhere({"of": everything_of, "fences": space["fenced_context_ids"]}, space_id)
    return found


def _nowhere(value: Any, space_id: str) -> Any:
    if isinstance(value, dict):
        return {name: _nowhere(member, space_id) for name, member in value.items()}
    if isinstance(value, list):
        return [_nowhere(item, space_id) for item in value]
    return "here" if value == space_id else value


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


def _change(kind: str, **members: Any) -> Callable[[Doc, list[Doc]], None]:
    """Change one item of a type; None takes a member away, a dotted name reaches inside."""

    def change(_bundle: Doc, chunks: list[Doc]) -> None:
        item = next(item for chunk in chunks for item in chunk["items"] if item["type"] == kind)
        for name, value in members.items():
            *path, last = name.split("__")
            place: Any = item
            for step in path:
                place = place[int(step)] if step.isdigit() else place[step]
            if value is None:
                del place[last]
            else:
                place[last] = value

    return change


def _twice(kind: str) -> Callable[[Doc, list[Doc]], None]:
    def change(_bundle: Doc, chunks: list[Doc]) -> None:
        items = chunks[0]["items"]
        items.append(next(item for item in items if item["type"] == kind))

    return change


DEFECTS: dict[str, Callable[[Doc, list[Doc]], None]] = {
    "unknown type": _change("subject", type="thing"),
    "no value": _change("subject", value=None),
    "extra member": _change("subject", more=1),
    "revision 0": _change("record", value__revision=0),
    "long kind": _change("record", value__kind="k" * 129),
    "30 February": _change("record", value__created_at="2026-02-30T00:00:00Z"),
    "no view": _change("record", value__content__cognition__0__view=None),
    "dimension hope": _change("record", value__content__cognition__0__dimension="hope"),
    "tombstone with text": _change("record", value__tombstone={"deleted_at": "2026-01-01T00:00:00Z", "deleted_by": "x"}),
    "pending with outcome": _change("candidate", value__state="pending"),
    "false content digest": _change("profile", value__content_digest="0" * 64),
    "pending receipt": _change("receipt", value__state="pending", value__settled_at=None),
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
        _change("record", value__content__text="a" * 20_000, value__extensions={"unknown-one": {"x": 1}})(bundle, chunks)
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
        house = furnished()
        house.oracle.choices = type(house.oracle.choices)(refuses_defects_early=True)
        house.oracle.restart()
        bundle, chunks = exported(house, max_items_per_chunk=4)
        bad = {**chunks[1], "items": chunks[1]["items"][1:]}
        import_id = house.root.made("imports.stage", bundle=bundle, chunk=chunks[0])
        house.root.no("imports.stage", Code.IMPORT_INVALID, bundle=bundle, chunk=bad, import_id=import_id)
        other = {**bundle, "extensions": {"other": {}}}
        house.root.no("imports.stage", Code.IMPORT_INVALID, bundle=other, chunk=chunks[1], import_id=import_id)
        for chunk in chunks[1:]:
            receipt = house.root.receipt("imports.stage", bundle=bundle, chunk=chunk, import_id=import_id)
        assert receipt["state"] == "committed"


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
        _change("receipt", value__idempotency_key="other", value__payload_digest="0" * 64)(bundle, chunks)
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
