"""Records: protocol.md section 7, Update, Promote and Delete; section 3, Content; section 6, items 5 and 8."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle import Limits
from conformance.wire import canonical
from conformance.wire.vocabulary import Code, Field, Reason

from .oracle_house import C1, C2, NOON, SHARED, Doc, House, belief, everything

VALUES: list[Any] = [{"a": {"b": [{"c": 1}]}}, [], {}, None, True, "s", [[1], [{"k": None}]], {"a.b": 1, "": 2, "__proto__": {}}]


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


class TestCreate:
    def test_keeps_what_was_given(self) -> None:
        house = House()
        content = {"text": "h\u00e9 \u0000 \U0001f600", "structured": {"x": 1}, "cognition": [belief(time__occurred_at=NOON)]}
        record_id = house.root.create(content=content, scope=SHARED, source_context_id="src", extensions={"acme": {"x": [1]}})
        record = house.root.read(record_id)
        assert (record["content"], record["scope"], record["kind"]) == (content, SHARED, "note")
        assert record["provenance"] == {"source": "author", "created_by": house.root.principal_id, "source_context_id": "src"}
        assert (record["revision"], record["extensions"]) == (1, {"acme": {"x": [1]}})
        assert record["created_at"] == record["updated_at"]
        assert "tombstone" not in record

    @pytest.mark.parametrize("value", VALUES, ids=str)
    def test_any_structured_value_comes_back_by_every_path(self, value: Any) -> None:
        house = House()
        content = {"text": "a", "structured": value}
        record_id = house.root.create(content=content)
        seen = [house.root.read(record_id), *house.root.ok("records.list", selection=everything())["records"]]
        seen += house.root.ok("recall", selection=everything(), budget={"max_records": 5})["records"]
        assert [canonical.same(record["content"], content) for record in seen] == [True] * 3

    def test_nesting_of_64_levels_is_taken_and_travels(self) -> None:
        house = House()
        deep = nested(62)
        record_id = house.root.create(content={"text": "a", "structured": deep})
        assert house.root.read(record_id)["content"]["structured"] == deep
        request = {"kind": "note", "scope": C1, "content": {"text": "a", "structured": nested(63)}}
        house.root.no("records.create", Code.MALFORMED_REQUEST, **request)
        house.root.no(
            "records.create", Code.MALFORMED_REQUEST, **{**request, "content": {"text": "a", "structured": nested(5000)}}
        )

    def test_needs_records_write_there_and_nothing_else(self) -> None:
        house = House()
        writer = house.holder("records_write", context_ids=["c1"], subject_ids=["u1"])
        record = writer.create()
        writer.no("records.get", Code.NOT_FOUND, record_id=record)
        new = {"kind": "note", "content": {"text": "a"}}
        writer.no("records.create", Code.NOT_AUTHORIZED, scope=C2, **new)
        writer.no("records.create", Code.NOT_AUTHORIZED, scope={"subject_id": "u9", "context_id": "c1"}, **new)
        house.holder("admin", "records_read").no("records.create", Code.NOT_AUTHORIZED, scope=C1, **new)


class TestUpdate:
    def test_changes_content_and_kind_only(self) -> None:
        house = House()
        content = {"text": "a", "structured": 1, "cognition": []}
        record_id = house.root.create(content=content, source_context_id="src", extensions={"acme": {}})
        before = house.root.read(record_id)
        editor = house.holder("records_write", "records_read")
        house.wait(1)
        editor.ok("records.update", record_id=record_id, expected_revision=1, content={"text": "b"}, extensions={"other": {}})
        after = house.root.read(record_id)
        assert after == {**before, "content": {"text": "b"}, "revision": 2, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]
        editor.ok("records.update", record_id=record_id, expected_revision=2, kind="fact")
        assert house.root.read(record_id) == {**after, "kind": "fact", "revision": 3}

    def test_to_equal_values_counts_too(self) -> None:
        house = House()
        record_id = house.root.create()
        receipt = house.root.receipt(
            "records.update", record_id=record_id, expected_revision=1, kind="note", content={"text": "a"}
        )
        assert receipt["affected"] == [{"type": "record", "id": record_id, "revision": 2}]

    def test_only_against_the_exact_revision(self) -> None:
        house = House()
        record_id = house.root.create()
        change = {"record_id": record_id, "kind": "x"}
        house.root.ok("records.update", expected_revision=1.0, **change)
        assert house.root.read(record_id)["revision"] == 2
        stale = house.root.no("records.update", Code.REVISION_STALE, expected_revision=1, **change)
        ahead = house.root.no("records.update", Code.REVISION_AHEAD, expected_revision=3, **change)
        assert (stale["expected_revision"], stale["actual_revision"]) == (1, 2)
        assert (ahead["expected_revision"], ahead["actual_revision"]) == (3, 2)


class TestPromote:
    def test_changes_the_placement_and_nothing_else(self) -> None:
        house = House()
        record_id = house.root.create(source_context_id="src", extensions={"acme": {}}, content={"text": "a", "cognition": []})
        before = house.root.read(record_id)
        house.wait(1)
        house.root.ok("records.promote", record_id=record_id, expected_revision=1, to_scope=SHARED)
        after = house.root.read(record_id)
        assert after == {**before, "scope": SHARED, "revision": 2, "updated_at": after["updated_at"]}
        house.root.ok("records.promote", record_id=record_id, expected_revision=2, to_scope=C2)
        assert house.root.read(record_id)["scope"] == C2

    def test_not_to_where_it_is_nor_to_another_subject(self) -> None:
        house = House()
        house.root.ok("subjects.ensure", subject_id="u2")
        record_id = house.root.create()
        move = {"record_id": record_id, "expected_revision": 1}
        house.root.no("records.promote", Code.WRONG_STATE, to_scope=C1, **move)
        details = house.root.no("records.promote", Code.INVALID_VALUE, to_scope={"subject_id": "u2", "context_id": "c2"}, **move)
        assert details["field"] == house.bundle.field(Field.TO_SUBJECT)
        house.root.no("records.promote", Code.REVISION_AHEAD, to_scope=C2, record_id=record_id, expected_revision=9)

    def test_needs_authority_at_both_ends(self) -> None:
        house = House()
        record_id = house.root.create()
        move = {"record_id": record_id, "expected_revision": 1, "to_scope": C2}
        house.holder("records_write", context_ids=["c1"]).no("records.promote", Code.NOT_AUTHORIZED, **move)
        house.holder("records_write", context_ids=["c2"]).no("records.promote", Code.NOT_FOUND, **move)
        both = house.holder("records_write", context_ids=["c1"])
        house.grant(both, "records_write", context_ids=["c2"])
        both.ok("records.promote", **move)


class TestDelete:
    def test_leaves_a_tombstone(self) -> None:
        house = House()
        content = {"text": "secret", "structured": {"a": "secret"}, "cognition": [belief(value="secret")]}
        record_id = house.root.create(content=content, source_context_id="src", extensions={"acme": {}})
        before = house.root.read(record_id)
        house.wait(1)
        receipt = house.root.receipt("records.delete", record_id=record_id, expected_revision=1)
        after = house.root.read(record_id)
        tombstone = {"deleted_at": receipt["created_at"], "deleted_by": house.root.principal_id}
        assert after == {
            **before,
            "content": {"text": ""},
            "revision": 2,
            "updated_at": receipt["created_at"],
            "tombstone": tombstone,
        }

    def test_is_final(self) -> None:
        house = House()
        record_id = house.root.create()
        house.root.no("records.delete", Code.REVISION_AHEAD, record_id=record_id, expected_revision=2)
        house.root.ok("records.delete", record_id=record_id, expected_revision=1)
        for stem, members in (("update", {"kind": "x"}), ("promote", {"to_scope": C2}), ("delete", {})):
            house.root.no(f"records.{stem}", Code.RECORD_TOMBSTONED, record_id=record_id, expected_revision=2, **members)

    def test_shows_in_a_list_that_asks_for_it_and_nowhere_else(self) -> None:
        house = House()
        house.profile()
        gone = house.root.create(content={"text": "a", "cognition": [belief()]})
        kept = house.root.create(content={"text": "b", "cognition": [belief()]})
        house.root.ok("records.delete", record_id=gone, expected_revision=1)
        assert house.root.listed() == [kept]
        assert house.root.listed(include_tombstones=False) == [kept]
        assert house.root.listed(include_tombstones=True) == [gone, kept]
        assert house.root.listed(include_tombstones=True, cognition_filter={"dimension": "belief"}) == [kept]
        assert house.root.listed(include_tombstones=True, filter={"sources": ["author"]}) == [gone, kept]
        recalled = house.root.ok("recall", selection=everything(), budget={"max_records": 9})
        assert [record["record_id"] for record in recalled["records"]] == [kept]
        assert house.root.ok("reflections.state", selection=everything())["record_count"] == 1


MALFORMED: list[Any] = [
    None,
    {},
    "x",
    [1],
    [{}],
    [belief(view="now")],
    [belief(dimension="hope")],
    [belief(value="")],
    [belief(attribution={})],
    [belief(basis__kind="guessed")],
    [belief(time__recorded_at="2026-02-30T00:00:00Z")],
    [belief(extra=1)],
    [belief(basis__more=1)],
    [{name: value for name, value in belief().items() if name != "view"}],
    [belief(), belief(view="now")],
]


class TestCognitionRecords:
    @pytest.mark.parametrize("cognition", MALFORMED, ids=str)
    def test_a_malformed_one_is_refused_on_every_carrier(self, cognition: Any) -> None:
        house = House()
        record, candidate = house.root.create(), house.root.capture()
        bad = {"text": "a", "cognition": cognition}
        review = {"candidate_id": candidate, "expected_revision": 1}
        carriers: list[tuple[str, Doc]] = [
            ("records.create", {"kind": "note", "scope": C1, "content": bad}),
            ("records.update", {"record_id": record, "expected_revision": 1, "content": bad}),
            ("capture", {"scope": C1, "content": bad}),
            ("candidates.review", {**review, "decision": {"action": "promote", "content_override": bad}}),
            (
                "candidates.review",
                {**review, "decision": {"action": "fragment", "fragments": [{"content": {"text": ""}}, {"content": bad}]}},
            ),
        ]
        for stem, members in carriers:
            details = house.root.no(stem, Code.INVALID_VALUE, **members)
            assert details["field"] == house.bundle.field(Field.COGNITION)
            assert details["reason"] == house.bundle.reason(Reason.BAD_COGNITION_RECORD)

    def test_is_reported_before_bytes_replay_and_authorisation(self) -> None:
        house = House()
        bad = {"text": "a" * 20_000, "cognition": [{}]}
        house.root.no("records.create", Code.INVALID_VALUE, kind="note", scope=C1, content=bad)
        house.stranger().no("records.create", Code.INVALID_VALUE, kind="note", scope=C1, content=bad)

    def test_absent_stays_absent_and_empty_stays_empty(self) -> None:
        house = House()
        for content in ({"text": "a"}, {"text": "a", "cognition": []}, {"text": "a", "structured": {"cognition": [belief()]}}):
            assert house.root.read(house.root.create(content=content))["content"] == content


class TestContentBytes:
    @pytest.mark.parametrize("members", [{}, {"cognition": []}, {"structured": None}, {"structured": "\u20ac"}], ids=str)
    def test_every_present_member_counts_to_the_byte(self, members: Doc) -> None:
        house = House(limits=Limits(max_content_bytes=1024))
        record, candidate = house.root.create(), house.root.capture()
        room = 1024 - canonical.content_bytes({"text": "", **members})
        fits, over = ({"text": "a" * (room + more), **members} for more in (0, 1))
        promote = {"candidate_id": candidate, "expected_revision": 1}
        carriers: list[tuple[str, Any]] = [
            ("records.create", lambda content: {"kind": "note", "scope": C1, "content": content}),
            ("capture", lambda content: {"scope": C1, "content": content}),
            ("records.update", lambda content: {"record_id": record, "expected_revision": 1, "content": content}),
            ("candidates.review", lambda content: {**promote, "decision": {"action": "promote", "content_override": content}}),
        ]
        if "cognition" not in members:
            written = {"subject_id": "u1", "kind": "voice", "expected_revision": None}
            carriers.append(("profile.update", lambda content: {**written, "content": content}))
        for stem, request in carriers:
            house.root.no(stem, Code.LIMIT_EXCEEDED, **request(over))
            house.root.ok(stem, **request(fits))

    def test_an_update_of_the_kind_alone_measures_nothing(self) -> None:
        house = House()
        record = house.root.create()
        house.root.ok("records.update", record_id=record, expected_revision=1, kind="x")


class TestNoCanonicalForm:
    @pytest.mark.parametrize("bad", ["\ud800", "\udc00\ud800", {"\ud800": 1}, [float("nan")], float("inf")], ids=repr)
    def test_is_refused_in_reads_and_mutations(self, bad: Any) -> None:
        house = House()
        house.root.no("records.create", Code.INVALID_VALUE, kind="note", scope=C1, content={"text": "a", "structured": bad})
        house.root.no("subjects.ensure", Code.INVALID_VALUE, subject_id="u2", extensions={"acme": {"x": bad}})
        house.root.no("subjects.get", Code.INVALID_VALUE, subject_id="u1", extensions={"acme": {"x": bad}})

    def test_is_refused_in_a_name(self) -> None:
        house = House()
        house.root.no("subjects.ensure", Code.INVALID_VALUE, subject_id="\ud800")
        house.root.no("recall", Code.INVALID_VALUE, selection=everything(), budget={"max_records": 1}, query={"text": "\ud800"})
