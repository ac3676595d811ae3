"""Capture and review: protocol.md section 7, Capture and review."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle import Limits
from conformance.wire.vocabulary import Code, Field, Reason

from .oracle_house import C1, C2, SHARED, Doc, House, belief, contexts, everything
from .oracle_transfer import activated, exported


def promote(**members: Any) -> Doc:
    return {"action": "promote", **members}


def fragment(*fragments: Doc) -> Doc:
    return {"action": "fragment", "fragments": list(fragments)}


class TestCapture:
    def test_makes_one_pending_candidate_and_no_record(self) -> None:
        house = House()
        content = {"text": "a", "structured": None, "cognition": [belief()]}
        candidate_id = house.root.capture(content=content, source_context_id="src", extensions={"acme": {"x": 1}})
        candidate = house.root.candidate(candidate_id)
        assert (candidate["state"], candidate["revision"], candidate["kind"]) == ("pending", 1, "note")
        assert (candidate["content"], candidate["capture_scope"]) == (content, C1)
        assert candidate["provenance"] == {"captured_by": house.root.principal_id, "source_context_id": "src"}
        assert candidate["extensions"] == {"acme": {"x": 1}}
        assert house.root.listed() == []

    @pytest.mark.parametrize(
        ("content", "signalled"),
        [({"text": "a"}, False), ({"text": "a", "cognition": []}, False), ({"text": "a", "cognition": [belief()]}, True)],
    )
    def test_signals_cognition_exactly_when_there_is_some(self, content: Doc, signalled: bool) -> None:
        house = House()
        candidate = house.root.candidate(house.root.capture(content=content))
        assert ("cognition" in candidate["classification"]["signals"]) is signalled
        assert candidate["content"] == content

    def test_needs_capture_and_nothing_else(self) -> None:
        house = House()
        writer = house.holder("capture", context_ids=["c1"])
        candidate = writer.capture()
        writer.no("capture", Code.NOT_AUTHORIZED, scope=C2, content={"text": "a"})
        writer.no("candidates.get", Code.NOT_FOUND, candidate_id=candidate)
        house.holder("records_write").no("capture", Code.NOT_AUTHORIZED, scope=C1, content={"text": "a"})


class TestListing:
    def test_lists_by_capture_scope_and_state(self) -> None:
        house = House()
        pending, dismissed, other = house.root.capture(), house.root.capture(), house.root.capture(scope=C2)
        house.root.ok("candidates.dismiss", candidate_id=dismissed, expected_revision=1)

        def listed(**members: Any) -> list[str]:
            found = house.root.ok("candidates.list", **members)["candidates"]
            return [candidate["candidate_id"] for candidate in found]

        assert listed(selection=everything()) == [pending, dismissed, other]
        assert listed(selection=contexts("c1")) == [pending, dismissed]
        assert listed(selection=everything(), states=["dismissed"]) == [dismissed]
        assert listed(selection=everything(), states=["pending", "promoted"]) == [pending, other]

    def test_needs_review_there(self) -> None:
        house = House()
        candidate = house.root.capture()
        reviewer = house.holder("review", context_ids=["c1"])
        assert reviewer.candidate(candidate)["candidate_id"] == candidate
        reviewer.no("candidates.list", Code.NOT_AUTHORIZED, selection=contexts("c2"))
        house.holder("records_read", "capture").no("candidates.get", Code.NOT_FOUND, candidate_id=candidate)


class TestDismiss:
    def test_consumes_without_records(self) -> None:
        house = House()
        candidate = house.root.capture()
        house.root.no("candidates.dismiss", Code.REVISION_AHEAD, candidate_id=candidate, expected_revision=2)
        receipt = house.root.receipt("candidates.dismiss", candidate_id=candidate, expected_revision=1)
        assert receipt["affected"] == [{"type": "candidate", "id": candidate, "revision": 2}]
        after = house.root.candidate(candidate)
        assert (after["state"], after["content"]) == ("dismissed", {"text": "a"})
        assert after["outcome"]["decision"] == "dismiss"
        assert after["outcome"]["record_ids"] == []


class TestReview:
    def test_promote_makes_one_record_that_inherits_the_scope(self) -> None:
        house = House()
        author, reviewer = house.holder("capture", shared="write"), house.holder("review", "records_write", shared="write")
        candidate = author.capture("hello", scope=SHARED, source_context_id="src", extensions={"acme": {}})
        receipt = reviewer.receipt(
            "candidates.review", candidate_id=candidate, expected_revision=1, decision=promote(), extensions={"b": {"y": 2}}
        )
        first, second = receipt["affected"]
        assert first == {"type": "candidate", "id": candidate, "revision": 2}
        record = house.root.read(second["id"])
        assert (record["scope"], record["kind"], record["content"]) == (SHARED, "note", {"text": "hello"})
        assert record["provenance"] == {
            "source": "review",
            "created_by": reviewer.principal_id,
            "source_context_id": "src",
            "candidate_id": candidate,
        }
        assert record["extensions"] == {"b": {"y": 2}}
        after = house.root.candidate(candidate)
        assert (after["state"], after["extensions"], after["outcome"]["record_ids"]) == ("promoted", {"acme": {}}, [second["id"]])
        assert after["outcome"]["decided_by"] == reviewer.principal_id
        author.no("records.get", Code.NOT_FOUND, record_id=second["id"])

    def test_override_and_fragments_win_over_what_was_captured(self) -> None:
        house = House()
        one, two = house.root.capture("old"), house.root.capture("old")
        decision = promote(content_override={"text": "new", "cognition": []}, kind="fact")
        house.root.ok("candidates.review", candidate_id=one, expected_revision=1, decision=decision)
        pieces = fragment({"content": {"text": "p1"}}, {"kind": "x", "content": {"text": "p2"}})
        receipt = house.root.receipt("candidates.review", candidate_id=two, expected_revision=1, decision=pieces)
        made = [house.root.read(entry["id"]) for entry in receipt["affected"][1:]]
        assert [(record["kind"], record["content"]["text"]) for record in made] == [("note", "p1"), ("x", "p2")]
        assert house.root.candidate(one)["content"] == house.root.candidate(two)["content"] == {"text": "old"}
        assert house.root.candidate(two)["state"] == "fragmented"
        (record,) = [
            record for record in house.root.ok("records.list", selection=everything())["records"] if record["kind"] == "fact"
        ]
        assert record["content"] == {"text": "new", "cognition": []}

    def test_discard_makes_nothing(self) -> None:
        house = House()
        candidate = house.root.capture()
        receipt = house.root.receipt(
            "candidates.review", candidate_id=candidate, expected_revision=1, decision={"action": "discard"}
        )
        assert len(receipt["affected"]) == 1
        assert house.root.candidate(candidate)["state"] == "discarded"
        assert house.root.listed() == []

    @pytest.mark.parametrize("decision", [promote(), {"action": "discard"}, fragment(*[{"content": {"text": "a"}}] * 2)], ids=str)
    def test_once(self, decision: Doc) -> None:
        house = House()
        candidate = house.root.capture()
        request = {"candidate_id": candidate, "decision": decision}
        house.root.ok("candidates.review", expected_revision=1, **request)
        house.root.no("candidates.review", Code.CANDIDATE_CONSUMED, expected_revision=2, **request)
        house.root.no("candidates.dismiss", Code.CANDIDATE_CONSUMED, candidate_id=candidate, expected_revision=2)

    def test_against_the_revision(self) -> None:
        house = House()
        candidate = house.root.capture()
        details = house.root.no(
            "candidates.review", Code.REVISION_AHEAD, candidate_id=candidate, expected_revision=3, decision=promote()
        )
        assert (details["expected_revision"], details["actual_revision"]) == (3, 1)

    def test_needs_both_capabilities_from_one_grant_or_two(self) -> None:
        house = House()
        candidate = house.root.capture()
        request = {"candidate_id": candidate, "expected_revision": 1, "decision": promote()}
        house.holder("records_write").no("candidates.review", Code.NOT_FOUND, **request)
        reviewer = house.holder("review")
        reviewer.no("candidates.review", Code.NOT_AUTHORIZED, **request)
        house.grant(reviewer, "records_write", context_ids=["c1"])
        reviewer.ok("candidates.review", **request)

    def test_discard_needs_review_and_perhaps_more(self) -> None:
        for demanding in (False, True):
            house = House(discard_needs_records_write=demanding)
            request = {"candidate_id": house.root.capture(), "expected_revision": 1, "decision": {"action": "discard"}}
            assert ("error" in house.holder("review").send("candidates.review", **request)) is demanding

    def test_a_record_needs_a_kind_from_somewhere(self) -> None:
        house = House()
        candidate = house.root.made("capture", scope=C1, content={"text": "a"})
        for decision in (promote(), fragment({"kind": "x", "content": {"text": "a"}}, {"content": {"text": "b"}})):
            details = house.root.no(
                "candidates.review", Code.INVALID_VALUE, candidate_id=candidate, expected_revision=1, decision=decision
            )
            assert details["field"] == house.bundle.field(Field.DECISION_KIND)
        assert "kind" not in house.root.candidate(candidate)
        house.root.ok("candidates.review", candidate_id=candidate, expected_revision=1, decision=promote(kind="x"))

    def test_a_missing_subject_gets_no_record(self) -> None:
        house = House()
        candidate = house.root.capture()
        bundle, chunks = exported(house)
        for chunk in chunks:
            chunk["items"] = [item for item in chunk["items"] if item["type"] != "subject"]
        target, _ = activated(house, bundle, chunks)
        request = {"space_id": target, "candidate_id": candidate, "expected_revision": 1}
        house.root.no("candidates.review", Code.NOT_FOUND, decision=promote(), **request)
        house.root.ok("candidates.review", decision={"action": "discard"}, **request)


class TestReviewedContent:
    """Overrides and fragments are validated before anything changes (section 7; section 6, order)."""

    @pytest.mark.parametrize(
        "decide",
        [lambda bad: promote(content_override=bad), lambda bad: fragment({"content": {"text": "ok"}}, {"content": bad})],
        ids=["override", "second fragment"],
    )
    def test_is_refused_whole(self, decide: Any) -> None:
        house = House(limits=Limits(max_content_bytes=1024))
        request = {"candidate_id": house.root.capture(), "expected_revision": 1}
        details = house.root.no(
            "candidates.review", Code.INVALID_VALUE, decision=decide({"text": "a", "cognition": [{"view": "x"}]}), **request
        )
        assert details["field"] == house.bundle.field(Field.COGNITION)
        assert details["reason"] == house.bundle.reason(Reason.BAD_COGNITION_RECORD)
        house.root.no("candidates.review", Code.LIMIT_EXCEEDED, decision=decide({"text": "a" * 1100}), **request)
        house.root.no("candidates.review", Code.INVALID_VALUE, decision=decide({"text": "\ud800"}), **request)
        house.root.ok("candidates.review", decision=decide({"text": "a", "cognition": [belief()]}), **request)

    def test_of_at_most_max_fragments(self) -> None:
        house = House(limits=Limits(max_fragments=2))
        request = {"candidate_id": house.root.capture(), "expected_revision": 1}
        piece = {"content": {"text": "a"}}
        house.root.no("candidates.review", Code.LIMIT_EXCEEDED, decision=fragment(*[piece] * 3), **request)
        house.root.ok("candidates.review", decision=fragment(*[piece] * 2), **request)

    def test_captured_content_was_admitted_when_it_was_captured(self) -> None:
        house = House()
        candidate = house.root.capture("a" * 5000)
        house.oracle.choices = replace(house.oracle.choices, limits=Limits(max_content_bytes=1024))
        house.oracle.restart()
        house.root.ok("candidates.review", candidate_id=candidate, expected_revision=1, decision=promote())
