"""Issuance of grants, and what it may not exceed: protocol.md section 5, Non-amplification."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.oracle import issuance
from conformance.oracle.turn import Turn
from conformance.wire.vocabulary import Code, Reason

from .oracle_house import Doc, House, Who

LATER, SOONER = "9000-05-01T12:00:10Z", "9000-05-01T12:00:05Z"


def issue(who: Who, *capabilities: str, to: str = "heir", reach: str = "none", **members: Any) -> Doc:
    return who.send("grants.grant", grantee_id=to, capabilities=list(capabilities), shared_access=reach, **members)


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
