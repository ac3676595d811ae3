"""Grants: protocol.md section 5, sentence by sentence."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.oracle import authority, issuance
from conformance.oracle.turn import Turn
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code, Reason

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


class TestIssuance:
    ISSUER: ClassVar[Doc] = {"subject_ids": ["u1", "u2"], "context_ids": ["c1", "c2"], "expires_at": LATER}
    WITHIN: ClassVar[Doc] = {"subject_ids": ["u1"], "context_ids": ["c1"], "expires_at": SOONER}

    def issuer(self, house: House) -> Who:
        return house.holder("grants_issue", "recall", "records_read", shared="read", **self.ISSUER)

    def test_within_one_grant_it_is_issued(self) -> None:
        house = House()
        who = self.issuer(house)
        assert "error" not in issue(who, "recall", reach="read", **self.WITHIN)
        assert "error" not in issue(who, "recall", "records_read", "grants_issue", reach="read", **self.ISSUER)

    @pytest.mark.parametrize(
        "wider",
        [
            {"capabilities": ["recall", "records_write"]},
            {"subject_ids": ["u1", "u3"]},
            {"subject_ids": None},
            {"context_ids": ["c3"]},
            {"context_ids": None},
            {"shared_access": "write"},
            {"expires_at": "9000-05-01T12:00:10.0000001Z"},
            {"expires_at": None},
        ],
        ids=str,
    )
    def test_beyond_it_in_any_one_dimension_it_is_refused(self, wider: Doc) -> None:
        house = House()
        who = self.issuer(house)
        request = {"grantee_id": "heir", "capabilities": ["recall"], "shared_access": "read", **self.WITHIN, **wider}
        request = {name: value for name, value in request.items() if value is not None}
        details = who.no("grants.grant", Code.NOT_AUTHORIZED, **request)
        assert details["reason"] == house.bundle.reason(Reason.GRANT_EXCEEDS_ISSUER)

    def test_ends_compare_as_instants(self) -> None:
        house = House()
        who = house.holder("grants_issue", "recall", expires_at="9000-05-01T12:00:10.5Z")
        issue_until = {"grantee_id": "heir", "capabilities": ["recall"], "shared_access": "none"}
        who.ok("grants.grant", expires_at="9000-05-01T12:00:10.50Z", **issue_until)
        who.no("grants.grant", Code.NOT_AUTHORIZED, expires_at="9000-05-01T12:00:10.5000001Z", **issue_until)

    def test_only_a_grant_that_lists_issuing_counts(self) -> None:
        house = House()
        who = house.holder("grants_issue", "recall", context_ids=["c1"])
        house.grant(who, "records_read", "recall", shared="read")
        assert "error" not in issue(who, "recall", context_ids=["c1"])
        for wider in ({"context_ids": ["c2"]}, {"context_ids": ["c1"], "reach": "read"}, {}):
            assert issue(who, "recall", **wider)["error"]["code"] == house.bundle.code(Code.NOT_AUTHORIZED)
        assert "error" in issue(who, "records_read", context_ids=["c1"])

    def test_without_issuing_grant_or_any_grant(self) -> None:
        house = House()
        request = {"grantee_id": "heir", "capabilities": ["recall"], "shared_access": "none"}
        house.holder("recall", "admin").no("grants.grant", Code.NOT_AUTHORIZED, **request)
        house.stranger().no("grants.grant", Code.NOT_FOUND, **request)

    def test_the_cross_product_of_two_grants_is_refused(self) -> None:
        for combined in (False, True):
            house = House(combined_issuance=combined)
            who = house.holder("grants_issue", "records_read", subject_ids=["u1"])
            house.grant(who, "grants_issue", "records_write", subject_ids=["u2"])
            assert "error" not in issue(who, "records_read", subject_ids=["u1"])
            assert "error" in issue(who, "records_read", "records_write", subject_ids=["u1", "u2"])

    def test_covered_point_by_point_is_left_to_the_provider(self) -> None:
        for combined in (False, True):
            house = House(combined_issuance=combined)
            who = house.holder("grants_issue", "recall", subject_ids=["u1"])
            house.grant(who, "grants_issue", "recall", subject_ids=["u2"])
            assert ("error" in issue(who, "recall", subject_ids=["u1", "u2"])) is not combined

    def test_expired_from_the_start_is_left_to_the_provider(self) -> None:
        past = "2026-01-01T00:00:00Z"
        assert "error" not in issue(House().root, "recall", expires_at=past)
        assert "error" in issue(House(expired_issuance=False).root, "recall", expires_at=past)
        assert "error" not in issue(House(expired_issuance=False).root, "recall", expires_at=LATER)

    def test_a_grant_comes_back_as_asked_for(self) -> None:
        house = House()
        heir = house.stranger()
        asked: Doc = {
            "capabilities": ["recall", "review"],
            "subject_ids": ["u9"],
            "context_ids": ["nowhere"],
            "expires_at": LATER,
        }
        grant_id = house.root.made(
            "grants.grant", grantee_id=heir.principal_id, shared_access="read", extensions={"acme": {}}, **asked
        )
        (own,) = heir.ok("grants.list", view="own")["grants"]
        assert asked.items() <= own.items()
        assert (own["grant_id"], own["issuer_id"]) == (grant_id, house.root.principal_id)
        assert (own["state"], own["revision"], own["extensions"]) == ("active", 1, {"acme": {}})


SUBJECTS, CONTEXTS = ("u1", "u2", "new"), ("c1", "c2", "new")
LEVELS = ("none", "read", "write")
GRANTS = st.fixed_dictionaries(
    {"capabilities": st.lists(st.sampled_from(["a", "b"]), min_size=1, unique=True), "shared_access": st.sampled_from(LEVELS)},
    optional={
        "subject_ids": st.lists(st.sampled_from(SUBJECTS[:2]), min_size=1, unique=True),
        "context_ids": st.lists(st.sampled_from(CONTEXTS[:2]), min_size=1, unique=True),
        "expires_at": st.sampled_from([SOONER, LATER]),
    },
)


def _authorised(grant: Doc) -> set[tuple[str, ...]]:
    """Everything that a grant authorises, over a universe with one subject, context and instant that nothing names."""
    ends = {SOONER: 1, LATER: 2}.get(grant.get("expires_at", ""), 3)
    places = [("context", context) for context in CONTEXTS if context in grant.get("context_ids", CONTEXTS)]
    places += [("shared", level) for level in LEVELS[1 : LEVELS.index(grant["shared_access"]) + 1]]
    subjects = [subject for subject in SUBJECTS if subject in grant.get("subject_ids", SUBJECTS)]
    return {(c, s, *p, str(t)) for c, s, p, t in product(grant["capabilities"], subjects, places, range(ends))}


class TestIssuanceExactly:
    @settings(max_examples=400, deadline=None, database=None)
    @given(st.lists(GRANTS, min_size=1, max_size=3), GRANTS)
    def test_against_the_sets_of_what_is_authorised(self, own: list[Doc], request: Doc) -> None:
        own = [{**grant, "grant_id": str(index)} for index, grant in enumerate(own)]
        wanted = _authorised(request)
        # With shared access "none" and the same contexts the sets agree with the dimensions; that is all there is to a product.
        assert any(issuance.within(grant, request) for grant in own) == any(wanted <= _authorised(grant) for grant in own)
        assert issuance.within_together(own, request) == (wanted <= set().union(*map(_authorised, own)))

    def test_covering_names_the_first_grant_alone_or_all_together(self) -> None:
        whole = {"capabilities": ["a"], "shared_access": "none"}
        own = [{**whole, "grant_id": name, "subject_ids": [name]} for name in ("u1", "u2")]
        turn = cast("Turn", SimpleNamespace(choices=SimpleNamespace(combined_issuance=True)))
        assert issuance.covering(turn, own, {**whole, "subject_ids": ["u2"]}) == ("u2",)
        assert issuance.covering(turn, own, {**whole, "subject_ids": ["u1", "u2"]}) == ("u1", "u2")
        assert issuance.covering(turn, own, whole) == ()


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
