"""Lists, cursors, filters and recall: protocol.md section 3 (filters) and section 7 (Lists, Limits, Recall)."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from conformance.oracle import Limits
from conformance.oracle import selection as selections
from conformance.oracle.policy import ranking
from conformance.wire import canonical
from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, SHARED, Doc, House, Who, belief, contexts, everything, shared


class TestSelectionAndFilter:
    @pytest.mark.parametrize(
        ("selection", "found"),
        [
            (contexts("c1"), "a"),
            (contexts("c1", "c2"), "ab"),
            (contexts("c9"), ""),
            (shared(), "c"),
            ({"subject_id": "u1", "mode": "contexts_and_shared", "context_ids": ["c1"]}, "ac"),
            (everything(), "abc"),
        ],
        ids=str,
    )
    def test_each_mode_selects_placements(self, selection: Doc, found: str) -> None:
        house = House()
        house.root.ok("subjects.ensure", subject_id="u2")
        for text, scope in zip("abc", (C1, C2, SHARED), strict=True):
            house.root.create(text, scope)
        house.root.create("d", {"subject_id": "u2", "context_id": "c1"})
        answer = house.root.ok("records.list", selection=selection)
        assert "".join(record["content"]["text"] for record in answer["records"]) == found
        assert answer["total_authorized"] == len(found)

    def test_a_placement_of_another_subject_is_named_by_no_mode(self) -> None:
        both = {"subject_id": "u1", "mode": "contexts_and_shared", "context_ids": ["c1"]}
        assert [selections.is_named(both, scope) for scope in (C1, C2, SHARED)] == [True, False, True]
        assert not selections.is_named(both, {"subject_id": "u2", "context_id": "c1"})
        assert not selections.is_named(both, {"subject_id": "u2"})

    def test_provenance_is_independent_of_placement_and_combined_by_and(self) -> None:
        house = House()
        placed = house.root.create(scope=C1, source_context_id="c2")
        plain = house.root.create(scope=C2)
        candidate = house.root.capture(scope=C1, source_context_id="s")
        receipt = house.root.receipt(
            "candidates.review", candidate_id=candidate, expected_revision=1, decision={"action": "promote"}
        )
        reviewed = receipt["affected"][1]["id"]
        assert house.root.listed(filter={"source_context_ids": ["c2"]}) == [placed]
        assert house.root.listed(contexts("c2"), filter={"source_context_ids": ["c2"]}) == []
        assert house.root.listed(filter={"sources": ["review"]}) == [reviewed]
        assert house.root.listed(filter={"sources": ["author"]}) == [placed, plain]
        assert house.root.listed(filter={"sources": ["author"], "source_context_ids": ["s"]}) == []
        assert house.root.listed(filter={"sources": ["author", "review"], "source_context_ids": ["s", "c2"]}) == [
            placed,
            reviewed,
        ]

    def test_names_are_compared_whole(self) -> None:
        house = House()
        names = ["acme", "acme-corp", "acme_corp", "%", "a", "a:b", "Acme", "acme "]
        made = {name: house.root.create(scope={"subject_id": "u1", "context_id": name}, source_context_id=name) for name in names}
        for name in names:
            reader = house.holder("records_read", context_ids=[name])
            assert reader.listed() == [made[name]]
            assert house.root.listed(filter={"source_context_ids": [name]}) == [made[name]]


class TestCognitionFilter:
    def test_one_entry_meets_the_whole_conjunction(self) -> None:
        house = House()
        split = [belief(dimension="desire"), belief(attribution__holder_id="noa")]
        apart = house.root.create(content={"text": "a", "cognition": split})
        together = house.root.create(
            content={"text": "b", "cognition": [belief(dimension="desire", attribution__holder_id="noa")]}
        )
        house.root.create(content={"text": "c", "cognition": []})
        house.root.create("d")
        assert house.root.listed(cognition_filter={"dimension": "desire"}) == [apart, together]
        assert house.root.listed(cognition_filter={"dimension": "desire", "holder_id": "noa"}) == [together]
        answer = house.root.ok("records.list", selection=everything(), cognition_filter={"holder_id": "noa"}, page={"limit": 1})
        assert answer["total_authorized"] == 2

    def test_times_are_instants_after_inclusive_before_exclusive(self) -> None:
        house = House()
        times = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.0000001Z", "2026-01-01T00:00:01.0Z", "9999-12-31T23:59:59.9Z"]
        made = [house.root.create(content={"text": "a", "cognition": [belief(time__recorded_at=time)]}) for time in times]
        after, before = "recorded_after", "recorded_before"
        assert house.root.listed(cognition_filter={after: "2026-01-01T00:00:00.000Z"}) == made
        assert house.root.listed(cognition_filter={after: "2026-01-01T00:00:00.0000001Z"}) == made[1:]
        assert house.root.listed(cognition_filter={before: "2026-01-01T00:00:01Z"}) == made[:2]
        assert house.root.listed(cognition_filter={after: times[2], before: times[2]}) == []
        assert house.root.listed(cognition_filter={"basis_kind": "stated", after: times[3]}) == made[3:]
        assert house.root.listed(cognition_filter={"basis_kind": "observed"}) == []

    def test_acts_after_authorisation_in_recall_and_state_too(self) -> None:
        house = House()
        mine = house.root.create(content={"text": "a", "cognition": [belief()]})
        house.root.create(scope=C2, content={"text": "b", "cognition": [belief()]})
        reader = house.holder("records_read", "recall", "reflections_read", context_ids=["c1"])
        members: Doc = {"selection": everything(), "cognition_filter": {"dimension": "belief"}}
        assert reader.ok("records.list", **members)["total_authorized"] == 1
        recalled = reader.ok("recall", budget={"max_records": 1}, **members)
        assert ([record["record_id"] for record in recalled["records"]], recalled["truncated"]) == ([mine], False)
        assert reader.ok("reflections.state", **members)["record_count"] == 1
        reader.no("records.list", Code.NOT_AUTHORIZED, **{**members, "selection": contexts("c2")})


def _chain(who: Who, limits: list[int], stem: str = "records.list", lists: str = "records", **members: Any) -> list[Any]:
    """All items of a cursor chain, whose limit changes along the way."""
    found: list[Any] = []
    page: Doc = {"limit": limits[0]}
    while True:
        answer = who.ok(stem, page=page, **members)
        found += answer[lists]
        assert len(answer[lists]) <= page["limit"]
        if "next_cursor" not in answer:
            return found
        limits = limits[1:] or limits
        page = {"limit": limits[0], "cursor": answer["next_cursor"]}


class TestPages:
    @pytest.mark.parametrize("limits", [[1], [2], [3], [7], [1, 3, 2], [50]], ids=str)
    @pytest.mark.parametrize("newest_first", [False, True])
    def test_a_chain_gives_every_item_once(self, limits: list[int], newest_first: bool) -> None:
        house = House(list_order=(lambda items: items[::-1]) if newest_first else list)
        made = [house.root.create() for _ in range(7)]
        listed = [record["record_id"] for record in _chain(house.root, limits, selection=everything())]
        assert listed == (made[::-1] if newest_first else made)

    def test_the_total_is_the_same_on_every_page(self) -> None:
        house = House()
        for _ in range(3):
            house.root.create()
        first = house.root.ok("records.list", selection=everything(), page={"limit": 2})
        rest = house.root.ok("records.list", selection=everything(), page={"cursor": first["next_cursor"]})
        assert (first["total_authorized"], rest["total_authorized"]) == (3, 3)

    def test_limit_above_max_page_is_refused_and_at_it_taken(self) -> None:
        house = House(limits=Limits(max_page=4))
        cases: list[tuple[str, Doc]] = [
            ("records.list", {"selection": everything()}),
            ("candidates.list", {"selection": everything()}),
            ("reflections.list", {"selection": everything()}),
            ("grants.list", {"view": "admin"}),
            ("grants.list", {"view": "own"}),
            ("spaces.list", {}),
        ]
        for stem, members in cases:
            house.root.no(stem, Code.LIMIT_EXCEEDED, page={"limit": 5}, **members)
            house.root.ok(stem, page={"limit": 4}, **members)

    def test_without_limit_the_provider_says_how_many(self) -> None:
        house = House(default_limit=2)
        for _ in range(3):
            house.root.create()
        assert len(house.root.listed()) == 2


@pytest.fixture(params=[True, False], ids=["dies at any change", "dies only where it must"])
def house(request: pytest.FixtureRequest) -> House:
    made = House(cursor_dies_at_any_change=request.param)
    for _ in range(3):
        made.root.create()
    made.root.create(scope=C2)
    return made


class TestCursors:
    SELECTED: ClassVar[Doc] = {"selection": contexts("c1")}

    def cursor(self, who: Who, **members: Any) -> str:
        return str(who.ok("records.list", page={"limit": 1}, **{**self.SELECTED, **members})["next_cursor"])

    def alive(self, who: Who, cursor: str, **members: Any) -> bool:
        answer = who.send("records.list", page={"cursor": cursor}, **{**self.SELECTED, **members})
        if "error" in answer:
            assert answer["error"]["code"] == who.house.bundle.code(Code.CURSOR_INVALID)
        return "error" not in answer

    def test_is_bound_to_principal_operation_and_request(self, house: House) -> None:
        reader = house.holder("records_read", "review")
        for _ in range(2):
            house.root.capture()
        cursor = self.cursor(house.root)
        assert self.alive(house.root, cursor)
        assert not self.alive(reader, cursor)
        others: list[Doc] = [{"filter": {"sources": ["author"]}}, {"selection": everything()}, {"extensions": {"a": {}}}]
        for members in others:
            assert not self.alive(house.root, cursor, **members)
        house.root.no("candidates.list", Code.CURSOR_INVALID, page={"cursor": cursor}, **self.SELECTED)
        other = house.root.ok("candidates.list", page={"limit": 1}, **self.SELECTED)["next_cursor"]
        assert not self.alive(house.root, other)

    @pytest.mark.parametrize("cursor", ["x", "1", "1.", "-1.x", "\u0661.x", "9" * 40, "1." + "0" * 32])
    def test_a_made_up_one_is_invalid(self, house: House, cursor: str) -> None:
        assert not self.alive(house.root, cursor)

    def test_lives_through_reads_refusals_and_replays(self, house: House) -> None:
        op, request = house.root.request("subjects.ensure", {"subject_id": "u1"})
        house.oracle.call(house.root.credential, house.flags, op, request)
        cursor = self.cursor(house.root)
        house.root.listed()
        house.root.no("records.create", Code.NOT_FOUND, kind="note", content={"text": ""}, scope={"subject_id": "u9"})
        house.oracle.call(house.root.credential, house.flags, op, request)
        house.wait(100)
        assert self.alive(house.root, cursor)

    def test_dies_at_a_change_of_what_the_request_lists(self, house: House) -> None:
        for change in (
            lambda: house.root.create(),
            lambda: house.root.ok("records.update", record_id=house.root.listed()[0], expected_revision=1, kind="x"),
            lambda: house.root.ok("records.delete", record_id=house.root.listed()[1], expected_revision=1),
            lambda: house.root.ok(
                "records.promote", record_id=house.root.listed(contexts("c2"))[0], expected_revision=1, to_scope=C1
            ),
        ):
            filtered = {"filter": {"sources": ["author"]}}
            plain, narrowed = self.cursor(house.root), self.cursor(house.root, **filtered)
            change()
            assert not self.alive(house.root, plain)
            assert not self.alive(house.root, narrowed, **filtered)

    def test_dies_with_the_callers_grants_the_spaces_state_and_generation(self, house: House) -> None:
        reader = house.holder("records_read", expires_at="9000-05-01T12:01:00Z")
        second = house.grant(reader, "records_read")
        cursor = self.cursor(reader)
        house.grant(reader, "recall")
        assert not self.alive(reader, cursor)
        cursor = self.cursor(reader)
        house.root.ok("grants.revoke", grant_id=second)
        assert not self.alive(reader, cursor)
        house.grant(reader, "records_read")
        cursor = self.cursor(reader)
        house.wait(60)
        assert not self.alive(reader, cursor)
        cursor = self.cursor(reader)
        house.freeze()
        assert not self.alive(reader, cursor)

    def test_at_any_other_change_it_is_left_to_the_provider(self, house: House) -> None:
        cursor = self.cursor(house.root)
        house.root.ok("subjects.ensure", subject_id="u2")
        house.root.create(scope={"subject_id": "u2", "context_id": "c1"})
        house.root.capture()
        assert self.alive(house.root, cursor) is not house.oracle.choices.cursor_dies_at_any_change

    def test_what_had_to_die_does_not_come_back(self, house: House) -> None:
        reader = house.holder("records_read")
        first = self.cursor(reader)

        def come_and_gone() -> None:
            made = house.root.create()
            house.root.ok("records.promote", record_id=made, expected_revision=1, to_scope=C2)

        def frozen_and_not() -> None:
            house.freeze()
            house.unfreeze()

        def gained_and_lost() -> None:
            house.root.ok("grants.revoke", grant_id=house.grant(reader, "recall"))

        for change in (come_and_gone, frozen_and_not, gained_and_lost):
            cursor = self.cursor(reader)
            change()
            assert not self.alive(reader, cursor)
            assert not self.alive(reader, first)

    def test_every_list_makes_cursors_of_its_own(self, house: House) -> None:
        house.profile()
        for _ in range(3):
            house.root.capture()
            house.root.ok("reflections.generate", selection=everything())
            house.holder("recall")
        who = house.stranger()
        for _ in range(3):
            house.grant(who, "recall")
        cases: list[tuple[Who, str, str, Doc]] = [
            (house.root, "candidates.list", "candidates", {"selection": everything()}),
            (house.root, "reflections.list", "reflections", {"selection": everything()}),
            (house.root, "grants.list", "grants", {"view": "admin"}),
            (who, "grants.list", "grants", {"view": "own"}),
        ]
        for caller, stem, lists, members in cases:
            whole = caller.ok(stem, page={"limit": 50}, **members)[lists]
            assert len(whole) >= 3
            assert _chain(caller, [1], stem, lists, **members) == whole

    @pytest.mark.parametrize("survives", [True, False])
    def test_whether_it_outlives_a_restart_is_left_to_the_provider(self, survives: bool) -> None:
        house = House(cursor_survives_restart=survives)
        for _ in range(2):
            house.root.create()
        cursor = self.cursor(house.root)
        house.wait(1)
        house.control("restart", crash=True)
        assert self.alive(house.root, cursor) is survives

    def test_of_spaces_dies_with_a_space(self, house: House) -> None:
        home = house.space_id
        other, governor = house.provision()
        house.grant_in(other, governor, house.root)
        cursor = house.root.ok("spaces.list", page={"limit": 1})["next_cursor"]
        house.root.ok("spaces.list", page={"cursor": cursor})
        house.root.ok("spaces.freeze", space_id=home, expected_revision=1)
        house.root.no("spaces.list", Code.CURSOR_INVALID, page={"cursor": cursor})

    def test_of_spaces_dies_with_a_grant_that_has_come_and_gone(self, house: House) -> None:
        other, governor = house.provision()
        house.grant_in(other, governor, house.root)
        third, stranger = house.provision()
        cursor = house.root.ok("spaces.list", page={"limit": 1})["next_cursor"]
        house.grant_in(third, stranger, house.root)
        (own,) = house.root.ok("grants.list", view="own", space_id=third)["grants"]
        stranger.ok("grants.revoke", space_id=third, grant_id=own["grant_id"])
        house.root.no("spaces.list", Code.CURSOR_INVALID, page={"cursor": cursor})


class TestRecall:
    def filled(self, **choices: Any) -> House:
        house = House(**choices)
        for text in ("long " * 10, "tea", "tea time"):
            house.root.create(text)
        return house

    def texts(self, house: House, **members: Any) -> list[str]:
        answer = house.root.ok("recall", selection=everything(), **members)
        assert answer["used_bytes"] == sum(canonical.content_bytes(record["content"]) for record in answer["records"])
        assert answer["truncated"] == (len(answer["records"]) < 3)
        return [record["content"]["text"] for record in answer["records"]]

    def test_all_that_fits_comes_back_whole_whatever_the_query(self) -> None:
        house = self.filled()
        assert len(self.texts(house, budget={"max_records": 3}, query={"text": "nothing of it"})) == 3
        assert len(self.texts(house, budget={"max_bytes": 200})) == 3

    def test_max_records_alone_gives_exactly_as_many(self) -> None:
        house = self.filled()
        assert [len(self.texts(house, budget={"max_records": count})) for count in (1, 2, 3, 9)] == [1, 2, 3, 3]

    def test_a_query_orders(self) -> None:
        house = self.filled()
        assert self.texts(house, budget={"max_records": 1}, query={"text": "Time for tea"}) == ["tea time"]

    def test_the_byte_budget_is_never_exceeded_and_counts_bytes(self) -> None:
        house = House()
        house.root.create("\u20ac" * 10)
        size = canonical.content_bytes({"text": "\u20ac" * 10})
        assert house.root.ok("recall", selection=everything(), budget={"max_bytes": size - 1})["records"] == []
        answer = house.root.ok("recall", selection=everything(), budget={"max_bytes": size, "max_records": 1})
        assert (len(answer["records"]), answer["used_bytes"], answer["truncated"]) == (1, size, False)

    @pytest.mark.parametrize(("skips", "found"), [(False, []), (True, ["tea", "tea time"])])
    def test_by_prefix_or_by_skipping(self, skips: bool, found: list[str]) -> None:
        assert self.texts(self.filled(recall_skips=skips), budget={"max_bytes": 50}) == found

    def test_needs_recall_for_the_whole_selection(self) -> None:
        house = self.filled()
        request = {"budget": {"max_records": 1}}
        house.holder("recall", context_ids=["c1"]).ok("recall", selection=contexts("c1"), **request)
        house.holder("recall", context_ids=["c1"]).no("recall", Code.NOT_AUTHORIZED, selection=shared(), **request)
        house.holder("records_read").no("recall", Code.NOT_AUTHORIZED, selection=contexts("c1"), **request)

    def test_hidden_records_leave_no_trace_in_its_figures(self) -> None:
        house = House()
        house.root.create("mine", C1)
        reader = house.holder("recall", context_ids=["c1"])
        request = {"selection": everything(), "budget": {"max_records": 1}, "query": {"text": "tea"}}
        before = reader.ok("recall", **request)
        house.root.create("tea tea", C2)
        assert reader.ok("recall", **request) == before

    def test_the_policy_alone(self) -> None:
        docs = [{"content": {"text": text}} for text in ("a b", "b", "c")]
        assert ranking.ordered(docs, "B", ranking.by_shared_words) == docs
        assert ranking.ordered(docs, "b c", ranking.by_shared_words) == docs
        assert ranking.ordered(docs, "c", ranking.by_shared_words)[0] is docs[2]
        assert ranking.ordered(docs, None, ranking.by_shared_words) == docs
