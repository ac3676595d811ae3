"""Grants: protocol.md section 5, sentence by sentence."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from conformance.oracle import authority
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, SHARED, Doc, House, Who, contexts, everything, shared

LATER, SOONER = "9000-05-01T12:00:10Z", "9000-05-01T12:00:05Z"


def issue(who: Who, *capabilities: str, to: str = "heir", reach: str = "none", **members: Any) -> Doc:
    return who.send("grants.grant", grantee_id=to, capabilities=list(capabilities), shared_access=reach, **members)


class TestCovers:
    """The function that everything hangs on, dimension by dimension."""

    GRANT: ClassVar[Doc] = {"capabilities": ["recall"], "subject_ids": ["u1"], "context_ids": ["c1"], "shared_access": "read"}

    def covers(self, scope: Doc, access: str = "read", capability: str = "recall", **members: Any) -> bool:
        return authority.covers({**self.GRANT, **members}, Need(capability, "scope", access), scope)

    def test_the_capability_is_listed_and_none_implies_another(self) -> None:
        assert self.covers(C1)
        assert not self.covers(C1, capability="records_read")
        assert not self.covers(C1, capabilities=["admin"])

    def test_the_subject_is_listed_or_all_are(self) -> None:
        other = {"subject_id": "u10", "context_id": "c1"}
        assert not self.covers(other)
        grant = {name: value for name, value in self.GRANT.items() if name != "subject_ids"}
        assert authority.covers(grant, Need("recall", "scope", "read"), other)

    def test_the_context_is_listed_or_all_are(self) -> None:
        assert not self.covers(C2)
        grant = {name: value for name, value in self.GRANT.items() if name != "context_ids"}
        assert authority.covers(grant, Need("recall", "scope", "read"), C2)
        assert not authority.covers({**grant, "shared_access": "none"}, Need("recall", "scope", "read"), SHARED)

    @pytest.mark.parametrize(
        ("level", "access", "covered"),
        [
            ("none", "read", False),
            ("none", "write", False),
            ("read", "read", True),
            ("read", "write", False),
            ("write", "read", True),
            ("write", "write", True),
        ],
    )
    def test_the_shared_placement_is_reached_by_level(self, level: str, access: str, covered: bool) -> None:
        assert self.covers(SHARED, access, shared_access=level) is covered
        assert self.covers(C1, access, shared_access=level)

    def test_space_level_needs_a_grant_of_the_whole_space(self) -> None:
        need = Need("admin", "space", "")
        whole = {"capabilities": ["admin"], "shared_access": "none"}
        assert authority.covers_space(whole, need)
        assert not authority.covers_space({**whole, "subject_ids": ["u1"]}, need)
        assert not authority.covers_space({**whole, "context_ids": ["c1"]}, need)


class TestSharedAccess:
    def test_writing_there_needs_write_and_reading_read(self) -> None:
        house = House()
        record = house.root.create(scope=SHARED)
        reader = house.holder("records_read", "records_write", shared="read")
        reader.read(record)
        new = {"kind": "note", "content": {"text": "a"}, "scope": SHARED}
        reader.no("records.create", Code.NOT_AUTHORIZED, **new)
        reader.no("records.update", Code.NOT_AUTHORIZED, record_id=record, expected_revision=1, kind="fact")
        house.holder("records_write", shared="write").ok("records.create", **new)

    def test_reviewing_there_needs_write_and_listing_read(self) -> None:
        house = House()
        candidate = house.root.capture(scope=SHARED)
        reader = house.holder("review", shared="read")
        assert reader.candidate(candidate)
        reader.no("candidates.dismiss", Code.NOT_AUTHORIZED, candidate_id=candidate, expected_revision=1)
        house.holder("review", shared="write").ok("candidates.dismiss", candidate_id=candidate, expected_revision=1)

    def test_generation_there_needs_read_only(self) -> None:
        house = House()
        house.profile()
        house.root.create(scope=SHARED)
        house.holder("reflections_generate", "reflections_read", shared="read").ok("reflections.generate", selection=shared())


class TestVisibility:
    def test_a_space_without_effective_grant_is_as_missing(self) -> None:
        house = House()
        stranger = house.stranger()
        for stem, members in (
            ("subjects.get", {"subject_id": "u1"}),
            ("records.list", {"selection": everything()}),
            ("exports.create", {}),
            ("grants.list", {"view": "admin"}),
            ("receipts.get", {"receipt_id": "r"}),
            ("grants.revoke", {"grant_id": "g"}),
        ):
            assert stranger.no(stem, Code.NOT_FOUND, **members) == stranger.no(
                stem, Code.NOT_FOUND, space_id="no space", **members
            )

    def test_an_object_that_is_not_covered_is_as_missing_whatever_its_state(self) -> None:
        house = House()
        record, gone, candidate = house.root.create(), house.root.create(), house.root.capture()
        house.root.ok("records.update", record_id=record, expected_revision=1, kind="x")
        house.root.ok("records.delete", record_id=gone, expected_revision=1)
        narrow = house.holder("records_write", "review", "records_read", context_ids=["c2"])
        large = {"text": "a" * 20_000}
        for fenced in (False, True):
            if fenced:
                house.fence(context="c1")
            for revision in (1, 2, 99):
                change = {"expected_revision": revision}
                for stem, members in (
                    ("records.update", {"content": large, **change}),
                    ("records.delete", change),
                    ("records.promote", {"to_scope": C2, **change}),
                ):
                    missing = narrow.no(stem, Code.NOT_FOUND, record_id="none", **members)
                    assert narrow.no(stem, Code.NOT_FOUND, record_id=record, **members) == missing
                    assert narrow.no(stem, Code.NOT_FOUND, record_id=gone, **members) == missing
                missing = narrow.no("candidates.dismiss", Code.NOT_FOUND, candidate_id="none", **change)
                assert narrow.no("candidates.dismiss", Code.NOT_FOUND, candidate_id=candidate, **change) == missing

    def test_what_the_caller_can_otherwise_see_it_is_not_authorised_for(self) -> None:
        house = House()
        record, candidate = house.root.create(), house.root.capture()
        reader = house.holder("records_read", "review")
        reader.no("records.delete", Code.NOT_AUTHORIZED, record_id=record, expected_revision=1)
        reader.no("records.delete", Code.NOT_FOUND, record_id="none", expected_revision=1)
        promote = {"candidate_id": candidate, "expected_revision": 1, "decision": {"action": "promote"}}
        reader.no("candidates.review", Code.NOT_AUTHORIZED, **promote)
        house.holder("recall").no("records.get", Code.NOT_FOUND, record_id=record)

    def test_or_the_provider_hides_it(self) -> None:
        house = House(lacking_on_visible=Code.NOT_FOUND)
        record = house.root.create()
        house.holder("records_read").no("records.delete", Code.NOT_FOUND, record_id=record, expected_revision=1)

    def test_space_level_capabilities_are_decided_before_ids(self) -> None:
        house = House()
        export = house.root.made("exports.create")
        narrow = house.holder("records_read")
        for export_id in (export, "none"):
            narrow.no("exports.get", Code.NOT_AUTHORIZED, export_id=export_id, ordinal=0)
        house.holder("transfer").ok("exports.get", export_id=export, ordinal=0)

    def test_two_grants_each_for_itself_and_never_mixed(self) -> None:
        house = House()
        both = house.holder("records_read", context_ids=["c1"])
        house.grant(both, "records_write", context_ids=["c2"])
        new = {"kind": "note", "content": {"text": "a"}}
        both.no("records.create", Code.NOT_AUTHORIZED, scope=C1, **new)
        both.ok("records.create", scope=C2, **new)
        both.no("records.list", Code.NOT_AUTHORIZED, selection=contexts("c2"))
        both.ok("records.list", selection=contexts("c1"))


class TestSelections:
    def test_naming_what_is_not_covered_rejects_the_whole_request(self) -> None:
        house = House()
        narrow = house.holder("records_read", context_ids=["c1"])
        narrow.ok("records.list", selection=contexts("c1"))
        narrow.no("records.list", Code.NOT_AUTHORIZED, selection=contexts("c1", "c2"))
        narrow.no("records.list", Code.NOT_AUTHORIZED, selection=shared())
        both = {"subject_id": "u1", "mode": "contexts_and_shared", "context_ids": ["c1"]}
        narrow.no("records.list", Code.NOT_AUTHORIZED, selection=both)
        house.holder("records_read", shared="read").ok("records.list", selection=both)

    def test_all_authorized_narrows_silently_but_not_to_nothing_at_all(self) -> None:
        house = House()
        mine, _ = house.root.create(scope=C1), house.root.create(scope=C2)
        narrow = house.holder("records_read", context_ids=["c1"])
        assert narrow.listed() == [mine]
        house.holder("records_read", context_ids=["c9"]).ok("records.list", selection=everything())
        other = house.holder("records_read", subject_ids=["u2"])
        other.no("records.list", Code.NOT_AUTHORIZED, selection=everything())
        house.holder("recall").no("records.list", Code.NOT_AUTHORIZED, selection=everything())


class TestTermination:
    def test_revocation_acts_at_once_and_for_ever(self) -> None:
        house = House()
        who = house.holder("recall", "grants_issue")
        who.ok("recall", selection=everything(), budget={"max_records": 1})
        receipt = house.root.receipt("grants.revoke", grant_id=who.grant_id)
        assert receipt["affected"] == [{"type": "grant", "id": who.grant_id, "revision": 2}]
        who.no("recall", Code.NOT_FOUND, selection=everything(), budget={"max_records": 1})
        assert "error" in issue(who, "recall")
        house.root.no("grants.revoke", Code.WRONG_STATE, grant_id=who.grant_id)
        (own,) = who.ok("grants.list", view="own")["grants"]
        assert (own["state"], own["revision"], own["revoked_at"]) == ("revoked", 2, receipt["created_at"])

    def test_the_same_grant_again_is_another_one(self) -> None:
        house = House()
        who = house.holder("recall")
        house.root.ok("grants.revoke", grant_id=who.grant_id)
        assert house.grant(who, "recall") != who.grant_id
        who.ok("recall", selection=everything(), budget={"max_records": 1})

    def test_at_or_after_its_end_a_grant_authorises_nothing(self) -> None:
        house = House()
        who = house.holder("recall", "grants_issue", expires_at=SOONER)
        house.control("clock", set="9000-05-01T12:00:04.999999999Z")
        who.ok("recall", selection=everything(), budget={"max_records": 1})
        house.control("clock", set="9000-05-01T12:00:05.000Z")
        who.no("recall", Code.NOT_FOUND, selection=everything(), budget={"max_records": 1})
        assert "error" in issue(who, "recall", expires_at=SOONER)
        assert who.ok("grants.list", view="own")["grants"][0]["state"] == "active"

    def test_revoking_is_for_the_issuer_or_admin(self) -> None:
        house = House()
        issuer = house.holder("grants_issue", "recall")
        heir = house.stranger()
        grant_id = issuer.made("grants.grant", grantee_id=heir.principal_id, capabilities=["recall"], shared_access="none")
        house.root.ok("grants.revoke", grant_id=issuer.grant_id)
        heir.no("grants.revoke", Code.NOT_AUTHORIZED, grant_id=grant_id)
        house.holder("grants_issue").no("grants.revoke", Code.NOT_FOUND, grant_id=grant_id)
        house.holder("admin").no("grants.revoke", Code.NOT_FOUND, grant_id="none")
        issuer.ok("grants.revoke", grant_id=grant_id)
        issuer.no("grants.revoke", Code.WRONG_STATE, grant_id=grant_id)
        issuer.no("grants.revoke", Code.NOT_FOUND, grant_id="none")

    @pytest.mark.parametrize("cascades", [False, True])
    def test_whether_what_was_issued_under_it_falls_is_left_to_the_provider(self, cascades: bool) -> None:
        house = House(revocation_cascades=cascades)
        first = house.holder("grants_issue", "recall")
        second, third = house.stranger(), house.stranger()
        for issuer, heir in ((first, second), (second, third)):
            issuer.ok(
                "grants.grant",
                grantee_id=heir.principal_id,
                capabilities=["recall", "grants_issue"],
                shared_access="none",
            )
        house.root.ok("grants.revoke", grant_id=first.grant_id)
        for heir in (second, third):
            (own,) = heir.ok("grants.list", view="own")["grants"]
            assert (own["state"] == "revoked") is cascades
            assert own["revision"] == (2 if cascades else 1)


class TestGrantsList:
    def test_own_needs_no_effective_grant_and_is_empty_elsewhere(self) -> None:
        house = House()
        assert house.stranger().ok("grants.list", view="own")["grants"] == []
        assert house.root.ok("grants.list", view="own", space_id="no space")["grants"] == []
        who = house.holder("recall")
        assert [grant["grant_id"] for grant in who.ok("grants.list", view="own")["grants"]] == [who.grant_id]

    def test_all_of_them_need_admin(self) -> None:
        house = House()
        who = house.holder("recall")
        who.no("grants.list", Code.NOT_AUTHORIZED, view="admin")
        assert len(house.holder("admin").ok("grants.list", view="admin")["grants"]) == 3
