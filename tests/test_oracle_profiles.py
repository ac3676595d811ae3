"""Profiles and reflections: protocol.md section 3 (Reflection) and section 7 (Profiles, Reflections)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.wire import canonical
from conformance.wire.vocabulary import Code

from .oracle_house import C1, C2, SHARED, Doc, House, Who, belief, contexts, everything

WRITE: Doc = {"subject_id": "u1", "kind": "personality", "content": {"text": "calm"}}


class TestProfiles:
    def test_is_created_and_changed_under_compare_and_set(self) -> None:
        house = House()
        ahead = house.root.no("profile.update", Code.REVISION_AHEAD, expected_revision=1, **WRITE)
        assert (ahead["expected_revision"], ahead["actual_revision"]) == (1, None)
        receipt = house.root.receipt("profile.update", expected_revision=None, extensions={"acme": {}}, **WRITE)
        assert receipt["affected"] == [{"type": "profile", "id": "u1/personality", "revision": 1}]
        stale = house.root.no("profile.update", Code.REVISION_STALE, expected_revision=None, **WRITE)
        assert (stale["expected_revision"], stale["actual_revision"]) == (None, 1)
        house.root.no("profile.update", Code.REVISION_AHEAD, expected_revision=2, **WRITE)
        editor = house.holder("profile_write")
        content = {"text": "b", "structured": None}
        editor.ok("profile.update", expected_revision=1, extensions={"b": {}}, **{**WRITE, "content": content})
        (document,) = house.root.ok("profile.get", subject_id="u1")["documents"]
        assert (document["revision"], document["updated_by"], document["extensions"]) == (2, editor.principal_id, {"acme": {}})
        assert (document["content"], document["content_digest"]) == (content, canonical.digest(content))

    def test_what_was_never_written_is_missing_and_no_error(self) -> None:
        house = House(required_profile_kinds=("personality", "voice"))
        assert house.root.ok("profile.get", subject_id="u1") == {"documents": [], "missing_kinds": ["personality", "voice"]}
        house.profile()
        house.profile("hobbies")
        found = house.root.ok("profile.get", subject_id="u1")
        assert [document["kind"] for document in found["documents"]] == ["personality", "hobbies"]
        assert found["missing_kinds"] == ["voice"]
        found = house.root.ok("profile.get", subject_id="u1", kinds=["x", "hobbies", "x", "Hobbies"])
        assert [document["kind"] for document in found["documents"]] == ["hobbies"]
        assert found["missing_kinds"] == ["x", "Hobbies"]

    def test_needs_the_subject_only(self) -> None:
        house = House()
        reader = house.holder("profile_read", subject_ids=["u1"], context_ids=["c9"])
        reader.ok("profile.get", subject_id="u1")
        reader.no("profile.get", Code.NOT_AUTHORIZED, subject_id="u2")
        reader.no("profile.update", Code.NOT_AUTHORIZED, expected_revision=None, **WRITE)

    def test_gives_no_right(self) -> None:
        house = House()
        writer = house.holder("profile_write")
        writer.ok("profile.update", expected_revision=None, **WRITE)
        writer.no("profile.get", Code.NOT_AUTHORIZED, subject_id="u1")


def generate(who: Who, selection: Doc | None = None, **members: Any) -> str:
    return who.made("reflections.generate", selection=selection or everything(), **members)


def listed(who: Who, selection: Doc | None = None, **members: Any) -> list[Doc]:
    found: list[Doc] = who.ok("reflections.list", selection=selection or everything(), **members)["reflections"]
    return found


def state(who: Who, selection: Doc | None = None, **members: Any) -> Doc:
    return who.ok("reflections.state", selection=selection or everything(), **members)


@pytest.fixture
def house() -> House:
    made = House()
    made.profile()
    made.root.create("one", C1)
    made.root.create("two", C2)
    return made


class TestGeneration:
    def test_needs_every_required_kind(self) -> None:
        house = House(required_profile_kinds=("personality", "voice"))
        house.root.create()
        house.profile()
        details = house.root.no("reflections.generate", Code.PROFILE_INCOMPLETE, selection=everything())
        assert details["missing_kinds"] == ["voice"]
        assert state(house.root)["missing_required_kinds"] == ["voice"]
        house.profile("voice")
        generate(house.root)

    def test_needs_an_eligible_record(self, house: House) -> None:
        for members in ({"selection": contexts("c9")}, {"selection": everything(), "filter": {"sources": ["review"]}}):
            house.root.no("reflections.generate", Code.INSUFFICIENT_DATA, **members)
            assert house.root.ok("reflections.state", **members)["sufficient"] is False
        assert state(house.root)["sufficient"] is True
        generate(house.root)

    def test_pins_its_basis(self, house: House) -> None:
        records = house.root.listed()
        said = state(house.root)
        generate(house.root, extensions={"acme": {}})
        (reflection,) = listed(house.root)
        assert reflection["basis"]["records"] == [{"record_id": record, "revision": 1} for record in records]
        assert reflection["basis"]["profiles"] == [{"kind": "personality", "revision": 1}]
        assert reflection["basis"]["state_digest"] == said["state_digest"]
        assert (reflection["stale"], reflection["extensions"]) == (False, {"acme": {}})
        assert "filter" not in reflection
        assert "calm" not in reflection["text"]

    def test_against_the_expected_state(self, house: House) -> None:
        said = state(house.root)["state_digest"]
        house.root.no("reflections.generate", Code.REVISION_STALE, selection=everything(), expected_state_digest="0" * 64)
        generate(house.root, expected_state_digest=said)
        house.root.create()
        house.root.no("reflections.generate", Code.REVISION_STALE, selection=everything(), expected_state_digest=said)

    def test_needs_both_capabilities_over_the_whole_selection(self, house: House) -> None:
        house.holder("reflections_generate").no("reflections.generate", Code.NOT_AUTHORIZED, selection=everything())
        house.holder("reflections_read").no("reflections.generate", Code.NOT_AUTHORIZED, selection=everything())
        both = house.holder("reflections_generate", context_ids=["c1"])
        house.grant(both, "reflections_read")
        both.no("reflections.generate", Code.NOT_AUTHORIZED, selection=contexts("c2"))
        generate(both)
        (reflection,) = listed(both)
        assert len(reflection["basis"]["records"]) == 1

    def test_over_coverages_that_do_not_meet_there_is_nothing(self, house: House) -> None:
        both = house.holder("reflections_generate", context_ids=["c1"])
        house.grant(both, "reflections_read", context_ids=["c2"])
        both.no("reflections.generate", Code.INSUFFICIENT_DATA, selection=everything())

    def test_a_replay_bills_once(self, house: House) -> None:
        op, request = house.root.request("reflections.generate", {"selection": everything()})
        answers = [house.oracle.call(house.root.credential, house.flags, op, request) for _ in range(2)]
        assert answers[0] == answers[1]
        assert len(listed(house.root)) == 1


class TestDigest:
    def test_covers_its_six_parts_and_no_other(self, house: House) -> None:
        before = state(house.root)["state_digest"]
        assert state(house.root)["state_digest"] == before
        others = [
            state(house.root, contexts("c1", "c2")),
            state(house.root, filter={"sources": ["author"]}),
            state(house.root, cognition_filter={"dimension": "belief"}),
        ]
        house.root.capture()
        house.root.ok("subjects.ensure", subject_id="u2")
        assert state(house.root)["state_digest"] == before
        house.root.ok("profile.update", expected_revision=1, **WRITE)
        others.append(state(house.root))
        house.root.ok("records.update", record_id=house.root.listed()[0], expected_revision=1, kind="x")
        others.append(state(house.root))
        digests = [before, *(said["state_digest"] for said in others)]
        assert len(set(digests)) == len(digests)

    def test_covers_the_engine_policy(self) -> None:
        digests = set()
        for version in ("1", "2"):
            house = House(engine_policy_version=version, make_id=lambda kind, number: f"{kind}{number}")
            house.profile()
            house.root.create()
            digests.add(state(house.root)["state_digest"])
        assert len(digests) == 2

    def test_and_profiles_whatever_the_caller_may_read_of_them(self, house: House) -> None:
        reader = house.holder("reflections_read", shared="read")
        before = state(reader)["state_digest"]
        house.profile("secret")
        assert state(reader)["state_digest"] != before

    def test_hidden_records_are_no_part_of_it(self, house: House) -> None:
        reader = house.holder("reflections_read", context_ids=["c1"])
        before = state(reader)
        house.root.create("hidden", C2)
        assert state(reader) == before
        house.root.create("seen", C1)
        assert state(reader)["state_digest"] != before["state_digest"]


class TestStaleness:
    def changes(self, house: House) -> dict[str, Any]:
        record = house.root.listed()[0]
        return {
            "update": lambda: house.root.ok("records.update", record_id=record, expected_revision=1, kind="note"),
            "delete": lambda: house.root.ok("records.delete", record_id=record, expected_revision=1),
            "promote": lambda: house.root.ok("records.promote", record_id=record, expected_revision=1, to_scope=SHARED),
            "create": lambda: house.root.create(),
            "profile": lambda: house.root.ok("profile.update", expected_revision=1, **WRITE),
            "new profile": lambda: house.profile("hobbies"),
        }

    @pytest.mark.parametrize("change", ["update", "delete", "promote", "create", "profile", "new profile"])
    def test_any_change_of_the_basis_is_seen_at_read(self, house: House, change: str) -> None:
        generate(house.root)
        assert (state(house.root)["stale"], listed(house.root)[0]["stale"]) == (False, False)
        self.changes(house)[change]()
        assert (state(house.root)["stale"], listed(house.root)[0]["stale"]) == (True, True)
        generate(house.root)
        assert state(house.root)["stale"] is False
        assert [reflection["stale"] for reflection in listed(house.root)] == [False, True]

    def test_other_things_are_not(self, house: House) -> None:
        generate(house.root, contexts("c1"))
        house.root.create("other", C2)
        house.root.capture()
        house.freeze()
        assert listed(house.root, contexts("c1"))[0]["stale"] is False

    def test_without_reflection_the_state_is_stale(self, house: House) -> None:
        assert state(house.root)["stale"] is True
        generate(house.root, contexts("c1"))
        assert state(house.root)["stale"] is True
        assert state(house.root, contexts("c1"))["stale"] is False

    def test_another_engine_policy_makes_it_stale(self, house: House) -> None:
        generate(house.root)
        house.oracle.choices = type(house.oracle.choices)(engine_policy_version="other")
        house.oracle.restart()
        assert listed(house.root)[0]["stale"] is True


class TestListing:
    def test_newest_first_and_pinned_exactly_alike(self, house: House) -> None:
        house.root.create(content={"text": "c", "cognition": [belief()]})
        first = generate(house.root)
        house.wait(1)
        second = generate(house.root)
        filtered = generate(house.root, filter={"sources": ["author"]})
        cognitive = generate(house.root, cognition_filter={"dimension": "belief"})
        ordered = generate(house.root, contexts("c1", "c2"))

        def ids(selection: Doc | None = None, **members: Any) -> list[str]:
            return [reflection["reflection_id"] for reflection in listed(house.root, selection, **members)]

        assert ids() == [second, first]
        assert ids(filter={"sources": ["author"]}) == [filtered]
        assert ids(cognition_filter={"dimension": "belief"}) == [cognitive]
        assert ids(contexts("c1", "c2")) == [ordered]
        assert ids(contexts("c2", "c1")) == ids(filter={"sources": ["author", "review"]}) == []
        (reflection,) = listed(house.root, cognition_filter={"dimension": "belief"})
        assert reflection["cognition_filter"] == {"dimension": "belief"}

    def test_needs_the_whole_selection(self, house: House) -> None:
        generate(house.root, contexts("c1", "c2"))
        narrow = house.holder("reflections_read", context_ids=["c1"])
        narrow.no("reflections.list", Code.NOT_AUTHORIZED, selection=contexts("c1", "c2"))
        assert len(listed(house.holder("reflections_read"), contexts("c1", "c2"))) == 1

    def test_of_all_authorized_ones_every_basis_record_must_be_covered(self, house: House) -> None:
        generate(house.root)
        narrow = house.holder("reflections_read", context_ids=["c1"])
        assert listed(narrow) == []
        assert state(narrow)["stale"] is True
        assert len(listed(house.holder("reflections_read", context_ids=["c1", "c2", "c3"]))) == 1
        moved = house.root.listed(contexts("c2"))[0]
        house.root.ok("records.promote", record_id=moved, expected_revision=1, to_scope=C1)
        assert len(listed(narrow)) == 1

    def test_stale_is_over_what_generator_and_reader_both_cover(self, house: House) -> None:
        generator = house.holder("reflections_read", "reflections_generate", context_ids=["c1", "c2"])
        generate(generator)
        wide = house.holder("reflections_read", shared="read")
        narrow = house.holder("reflections_read", context_ids=["c1", "c2"])
        house.root.create("elsewhere", {"subject_id": "u1", "context_id": "c3"})
        house.root.create("shared", SHARED)
        assert listed(wide)[0]["stale"] is False
        assert state(wide)["stale"] is True
        assert state(narrow)["stale"] is False
        house.grant(generator, "reflections_read", "reflections_generate")
        assert listed(generator)[0]["stale"] is False
        house.root.create("inside", C2)
        assert listed(wide)[0]["stale"] is True

    def test_a_shared_basis_needs_shared_access(self, house: House) -> None:
        house.root.create("shared", SHARED)
        generate(house.holder("reflections_read", "reflections_generate", shared="read"))
        assert listed(house.holder("reflections_read")) == []
        assert len(listed(house.holder("reflections_read", shared="read"))) == 1
