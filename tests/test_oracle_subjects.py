"""Subjects and fences: protocol.md section 7, Subjects and Fences."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, SHARED, House, contexts, everything


class TestEnsure:
    def test_makes_a_subject_once(self) -> None:
        house = House(subject=False)
        first = house.root.receipt("subjects.ensure", subject_id="u1", kind="app:user", extensions={"acme": {"x": 1}})
        again = house.root.receipt("subjects.ensure", subject_id="u1", extensions={"acme": {"x": 2}})
        assert first["affected"] == again["affected"] == [{"type": "subject", "id": "u1", "revision": 1}]
        assert first["receipt_id"] != again["receipt_id"]
        subject = house.root.ok("subjects.get", subject_id="u1")["subject"]
        assert (subject["kind"], subject["state"], subject["extensions"]) == ("app:user", "active", {"acme": {"x": 1}})

    def test_takes_no_kind_or_the_same_and_no_other(self) -> None:
        house = House()
        house.root.ok("subjects.ensure", subject_id="u2", kind="app:user")
        house.root.ok("subjects.ensure", subject_id="u2", kind="app:user")
        house.root.no("subjects.ensure", Code.WRONG_STATE, subject_id="u2", kind="app:bot")
        house.root.no("subjects.ensure", Code.WRONG_STATE, subject_id="u1", kind="app:user")

    @pytest.mark.parametrize("action", ["fence", "archive"])
    def test_commits_on_a_fenced_subject_and_changes_nothing(self, action: str) -> None:
        house = House()
        house.fence(action)
        before = house.root.ok("subjects.get", subject_id="u1")
        house.root.ok("subjects.ensure", subject_id="u1")
        assert house.root.ok("subjects.get", subject_id="u1") == before

    def test_keeps_look_alike_ids_apart(self) -> None:
        house = House(subject=False)
        names = ["ann", "Ann", "\u00e1nn", "a\u0301nn", "ann ", "ann\u200b", "1", "01", "__proto__", "\x00"]
        for name in names:
            house.root.ok("subjects.ensure", subject_id=name)
        for name in names:
            assert house.root.ok("subjects.get", subject_id=name)["subject"]["subject_id"] == name

    def test_needs_the_subject_only(self) -> None:
        house = House()
        house.holder("subjects_write", subject_ids=["u2"], context_ids=["c1"]).ok("subjects.ensure", subject_id="u2")
        house.holder("subjects_write", subject_ids=["u2"]).no("subjects.ensure", Code.NOT_AUTHORIZED, subject_id="u1")
        house.holder("subjects_read").no("subjects.ensure", Code.NOT_AUTHORIZED, subject_id="u2")


class TestGet:
    def test_authorisation_is_decided_on_the_name_alone(self) -> None:
        house = House()
        narrow = house.holder("subjects_read", subject_ids=["u1", "u3"])
        narrow.ok("subjects.get", subject_id="u1")
        narrow.no("subjects.get", Code.NOT_FOUND, subject_id="u3")
        assert narrow.no("subjects.get", Code.NOT_AUTHORIZED, subject_id="u2") == narrow.no(
            "subjects.get", Code.NOT_AUTHORIZED, subject_id="missing"
        )

    def test_the_provider_may_say_not_found_to_a_lacking_name(self) -> None:
        house = House(lacking_on_name=Code.NOT_FOUND)
        house.holder("recall").no("subjects.get", Code.NOT_FOUND, subject_id="u1")


def _target(subject: str = "u1") -> dict[str, Any]:
    return {"type": "subject", "subject_id": subject}


class TestFenceActions:
    def test_goes_through_its_states_under_compare_and_set(self) -> None:
        house = House()
        house.root.no("subjects.fence", Code.WRONG_STATE, target=_target(), action="unfence", expected_revision=1)
        house.root.no("subjects.fence", Code.REVISION_AHEAD, target=_target(), action="fence", expected_revision=2)
        receipt = house.root.receipt("subjects.fence", target=_target(), action="fence", expected_revision=1)
        assert receipt["affected"] == [{"type": "subject", "id": "u1", "revision": 2}]
        house.root.no("subjects.fence", Code.WRONG_STATE, target=_target(), action="fence", expected_revision=2)
        house.root.no("subjects.fence", Code.REVISION_STALE, target=_target(), action="unfence", expected_revision=1)
        house.root.ok("subjects.fence", target=_target(), action="unfence", expected_revision=2)
        house.root.ok("subjects.fence", target=_target(), action="archive", expected_revision=3)
        for action in ("fence", "unfence", "archive"):
            house.root.no("subjects.fence", Code.SUBJECT_ARCHIVED, target=_target(), action=action, expected_revision=4)

    def test_a_fenced_subject_can_be_archived(self) -> None:
        house = House()
        house.fence()
        house.fence("archive")
        assert house.root.ok("subjects.get", subject_id="u1")["subject"]["state"] == "archived"

    def test_a_missing_subject_is_not_found(self) -> None:
        house = House()
        house.root.no("subjects.fence", Code.NOT_FOUND, target=_target("u9"), action="fence", expected_revision=1)

    def test_a_context_is_a_space_level_fact(self) -> None:
        house = House()
        receipt = house.root.receipt("subjects.fence", target={"type": "context", "context_id": "c1"}, action="fence")
        assert receipt["affected"] == [{"type": "space", "id": house.space_id, "revision": 2}]
        assert house.space()["fenced_context_ids"] == ["c1"]
        house.root.no("subjects.fence", Code.WRONG_STATE, target={"type": "context", "context_id": "c1"}, action="fence")
        house.root.no("subjects.fence", Code.WRONG_STATE, target={"type": "context", "context_id": "c2"}, action="unfence")
        house.fence("unfence", context="c1")
        assert house.space()["fenced_context_ids"] == []

    def test_needs_admin(self) -> None:
        house = House()
        house.holder("subjects_write").no(
            "subjects.fence", Code.NOT_AUTHORIZED, target=_target(), action="fence", expected_revision=1
        )
        house.holder("admin").ok("subjects.fence", target=_target(), action="fence", expected_revision=1)


def _writes(house: House) -> dict[str, dict[str, Any]]:
    """Give every write that touches u1/c1."""
    record, candidate = house.root.create(), house.root.capture()
    consume = {"candidate_id": candidate, "expected_revision": 1}
    return {
        "capture": {"scope": C1, "content": {"text": "a"}},
        "candidates.dismiss": consume,
        "candidates.review": {**consume, "decision": {"action": "promote"}},
        "records.create": {"kind": "note", "content": {"text": "a"}, "scope": C1},
        "records.update": {"record_id": record, "expected_revision": 1, "kind": "fact"},
        "records.delete": {"record_id": record, "expected_revision": 1},
        "records.promote": {"record_id": record, "expected_revision": 1, "to_scope": C2},
    }


def _subject_writes(house: House) -> dict[str, dict[str, Any]]:
    """Give what else a fenced subject refuses."""
    house.profile()
    return {
        "profile.update": {"subject_id": "u1", "kind": "personality", "content": {"text": "b"}, "expected_revision": 1},
        "reflections.generate": {"selection": contexts("c1")},
    }


WRITES = sorted({**_writes(House()), **_subject_writes(House())})


class TestFencedWrites:
    @pytest.mark.parametrize("stem", WRITES)
    def test_a_fenced_subject_refuses_and_takes_them_again(self, stem: str) -> None:
        house = House()
        members = {**_writes(house), **_subject_writes(house)}[stem]
        house.fence()
        house.root.no(stem, Code.SUBJECT_FENCED, **members)
        house.fence("unfence")
        house.root.ok(stem, **members)

    @pytest.mark.parametrize("stem", WRITES)
    def test_an_archived_subject_refuses_for_ever(self, stem: str) -> None:
        house = House()
        members = {**_writes(house), **_subject_writes(house)}[stem]
        house.fence("archive")
        house.root.no(stem, Code.SUBJECT_ARCHIVED, **members)

    @pytest.mark.parametrize("stem", sorted(_writes(House())))
    def test_a_fenced_context_refuses_for_every_subject(self, stem: str) -> None:
        house = House()
        members = _writes(house)[stem]
        house.fence(context="c1")
        house.root.no(stem, Code.CONTEXT_FENCED, **members)
        house.root.ok("subjects.ensure", subject_id="u2")
        elsewhere = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": "u2", "context_id": "c1"}}
        house.root.no("records.create", Code.CONTEXT_FENCED, **elsewhere)
        house.fence("unfence", context="c1")
        house.root.ok(stem, **members)

    def test_nothing_moves_into_or_out_of_a_fenced_context(self) -> None:
        house = House()
        inside, outside = house.root.create(scope=C1), house.root.create(scope=C2)
        house.fence(context="c1")
        house.root.no("records.promote", Code.CONTEXT_FENCED, record_id=inside, expected_revision=1, to_scope=C2)
        house.root.no("records.promote", Code.CONTEXT_FENCED, record_id=outside, expected_revision=1, to_scope=C1)
        house.root.ok("records.promote", record_id=outside, expected_revision=1, to_scope=SHARED)

    def test_generation_over_a_fenced_context_goes_on_and_so_does_its_name_as_source(self) -> None:
        house = House()
        house.profile()
        house.root.create()
        house.fence(context="c1")
        house.root.ok("reflections.generate", selection=contexts("c1"))
        house.root.create(scope=C2, source_context_id="c1")

    def test_reads_go_on_and_other_subjects_are_not_touched(self) -> None:
        house = House()
        record = house.root.create()
        house.root.ok("subjects.ensure", subject_id="u2")
        house.fence("archive")
        assert house.root.listed() == [record]
        assert house.root.ok("recall", selection=everything(), budget={"max_records": 1})["records"]
        house.root.create(scope={"subject_id": "u2", "context_id": "c1"})


class TestMissingSubjects:
    def test_nothing_is_made_for_a_subject_that_does_not_exist(self) -> None:
        house = House()
        scope = {"subject_id": "u9", "context_id": "c1"}
        house.root.no("records.create", Code.NOT_FOUND, kind="note", content={"text": "a"}, scope=scope)
        house.root.no("capture", Code.NOT_FOUND, content={"text": "a"}, scope=scope)
        house.root.no("profile.update", Code.NOT_FOUND, subject_id="u9", kind="x", content={"text": "a"}, expected_revision=None)
        house.root.no("reflections.generate", Code.NOT_FOUND, selection=everything("u9"))
        house.root.ok("subjects.ensure", subject_id="u9")
        house.root.create(scope=scope)

    def test_reads_over_it_are_empty(self) -> None:
        house = House()
        assert house.root.ok("records.list", selection=everything("u9"))["total_authorized"] == 0
        assert house.root.ok("candidates.list", selection=contexts("c1", subject="u9"))["candidates"] == []
        assert house.root.ok("profile.get", subject_id="u9") == {"documents": [], "missing_kinds": ["personality"]}
        assert house.root.ok("reflections.state", selection=everything("u9"))["record_count"] == 0
