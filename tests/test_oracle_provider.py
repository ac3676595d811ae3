"""The provider around the steps: controls, clock, restart and credentials (harness.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.oracle import Choices, Clock, Oracle, store
from conformance.oracle.shelf import Shelf
from conformance.oracle.state import Space, State
from conformance.port import MemoryPort, MemoryRejected, Principal
from conformance.wire.bundle import instant, load
from conformance.wire.vocabulary import Code

from .oracle_house import C1, House, everything
from .oracle_transfer import exported, furnished, stage


class TestControls:
    def test_hello(self) -> None:
        said = House().control("control.hello")
        assert (said["harness"], said["provider"]["name"]) == (1, "oracle")
        assert said["provider"]["version"]
        assert said["controls"] == ["clock", "hello", "hold", "principal", "provision", "restart"]

    def test_provision_gives_root_one_grant_of_everything(self) -> None:
        house = House(subject=False)
        (grant,) = house.root.ok("grants.list", view="own")["grants"]
        needed = {need.capability for row in house.bundle.operations.values() for need in row.needs}
        assert set(grant["capabilities"]) == needed
        assert grant["shared_access"] == "write"
        assert not {"subject_ids", "context_ids", "expires_at"} & set(grant)

    def test_principals_are_new_and_credentials_are_not_their_ids(self) -> None:
        house = House()
        one, two = house.stranger(), house.stranger()
        assert len({one.principal_id, two.principal_id, one.credential, two.credential}) == 4

    @pytest.mark.parametrize(
        ("name", "payload"),
        [
            ("hello", {"x": 1}),
            ("hello", []),
            ("hold", {}),
            ("hold", {"hold": 1}),
            ("provision", {"x": 1}),
            ("restart", {"crash": "yes"}),
            ("clock", {"advance_seconds": "5"}),
            ("clock", {"advance_seconds": True}),
            ("clock", {"advance_seconds": -1}),
            ("clock", {"advance_seconds": float("inf")}),
            ("clock", {"advance_seconds": 1e300}),
            ("clock", {"set": 5}),
            ("clock", {"set": "yesterday"}),
            ("clock", {"set": "2000-01-01T00:00:00Z"}),
            ("clock", {"frozen": "no"}),
            ("clock", {"more": 1}),
        ],
        ids=str,
    )
    def test_a_payload_that_cannot_be_taken_is_malformed(self, name: str, payload: Any) -> None:
        house = House()
        before, now = house.oracle.state, house.oracle.clock.now()
        answer = house.oracle.control(name, payload)
        assert answer["error"]["code"] == house.bundle.code(Code.MALFORMED_REQUEST)
        assert (house.oracle.state, house.oracle.clock.now()) == (before, now)

    @pytest.mark.parametrize("name", ["control.nothing", "nothing", "", "control.control.hello"])
    def test_an_unknown_control_is_an_unknown_operation(self, name: str) -> None:
        assert House().oracle.control(name, {})["error"]["code"] == load().code(Code.UNKNOWN_OPERATION)


class TestClock:
    def test_stands_at_exactly_what_it_was_set_to(self) -> None:
        clock = Clock()
        for text in ("9000-01-01T00:00:00Z", "9000-01-01T00:00:00.0000000001Z", "9000-01-01T00:00:00.5Z"):
            clock.set(text, frozen=True)
            assert clock.now() == clock.now() == text
        clock.advance(1.25)
        assert clock.now() == "9000-01-01T00:00:01.75Z"
        clock.set("9000-01-01T00:00:02.000Z")
        assert instant(clock.now()) == instant("9000-01-01T00:00:02Z")

    def test_runs_and_never_goes_back(self) -> None:
        moments = iter([10**9, 3 * 10**9, 2 * 10**9, 2 * 10**9 + 1500, 5 * 10**9])
        clock = Clock(lambda: next(moments))
        seen = [clock.now() for _ in range(5)]
        assert seen == ["1970-01-01T00:00:01.000000Z", *["1970-01-01T00:00:03.000000Z"] * 3, "1970-01-01T00:00:05.000000Z"]

    def test_can_be_stopped_and_started_where_it_is(self) -> None:
        ticks = iter(range(0, 10**12, 10**6))
        clock = Clock(lambda: next(ticks))
        clock.freeze(True)
        stopped = clock.now()
        assert clock.now() == stopped
        clock.freeze(False)
        assert instant(clock.now()) >= instant(stopped)
        assert clock.now() != clock.now()
        clock.advance(60)
        assert instant(clock.now()) > instant("1970-01-01T00:01:00Z")
        clock.set("1980-01-01T00:00:00.0000000001Z", frozen=False)
        assert "1980-01-01T00:00:01Z" > clock.now() > "1980-01-01T00:00:00.000000000Z"

    def test_ends_with_the_year_9999(self) -> None:
        clock = Clock(lambda: 0)
        clock.set("9999-12-31T23:59:59.9Z", frozen=False)
        assert clock.now() == "9999-12-31T23:59:59.900000Z"
        with pytest.raises(ValueError, match="9999"):
            clock.advance(1)
        late = Clock(lambda: 10**21)
        assert late.now() == "9999-12-31T23:59:59.999999Z"

    @pytest.mark.parametrize("frozen", [True, False])
    def test_survives_a_restart(self, frozen: bool) -> None:
        house = House()
        house.control("clock", set="9500-01-01T00:00:00.25Z", frozen=frozen)
        house.control("restart")
        now = house.control("clock")["now"]
        assert now == "9500-01-01T00:00:00.25Z" if frozen else now.startswith("9500-01-01T00:0")

    def test_one_call_sets_and_advances(self) -> None:
        assert House().control("clock", set="9500-01-01T00:00:00Z", advance_seconds=1)["now"] == "9500-01-01T00:00:01Z"
        assert House().control("clock", frozen=True, advance_seconds=2)["now"] == "9000-05-01T12:00:02Z"


class TestRestart:
    def test_everything_comes_back_equal_in_a_new_instance(self) -> None:
        house = furnished()
        bundle, chunks = exported(house, max_items_per_chunk=3)
        house.root.ok("imports.stage", bundle=bundle, chunk=chunks[0])
        stage(house, bundle, chunks)
        reader = house.holder("records_read")
        house.root.ok("grants.revoke", grant_id=reader.grant_id)
        house.control("hold", hold=True)
        house.root.ok("exports.create")
        before, instance = house.oracle.state, house.control("hello")["instance"]
        answer = house.control("restart", crash=True)
        assert answer["instance"] == house.control("hello")["instance"] != instance
        assert house.oracle.state == before
        assert house.oracle.state is not before
        assert house.oracle.state.waiting == {house.space_id}

    def test_dump_is_json_and_load_its_inverse(self) -> None:
        state = furnished().oracle.state
        text = json.dumps(store.dump(state), allow_nan=False)
        assert store.load(json.loads(text)) == state
        assert json.dumps(store.dump(store.load(json.loads(text)))) == text
        assert store.load(store.dump(State())) == State()

    def test_another_oracle_goes_on_from_what_was_saved(self) -> None:
        house = House()
        record = house.root.create()
        saved = json.loads(json.dumps(house.oracle.save()))
        house.oracle = Oracle()
        house.oracle.restore(saved)
        assert house.root.read(record)["content"] == {"text": "a"}
        house.root.create()


class TestShelf:
    def test_reads_a_value_once_and_when_it_is_asked_for(self) -> None:
        reads: list[str] = []

        def read(text: str) -> list[int]:
            reads.append(text)
            return [int(text)]

        shelf = Shelf.sealed({"a": "1", "b": "2"}, read)
        assert (len(shelf), sorted(shelf), "a" in shelf, "c" in shelf) == (2, ["a", "b"], True, False)
        assert shelf["a"] is shelf["a"]
        other = shelf.set("b", [3])
        assert (shelf["b"], other["b"], other.get("c")) == ([2], [3], None)
        assert other.texts(str) == {"a": "1", "b": "[3]"}
        assert reads == ["1", "2"]
        assert shelf == {"a": [1], "b": [2]} != other

    def test_a_restart_leaves_what_nobody_asks_for_as_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        house = House()
        home, root = house.space_id, house.root
        house.space_id, house.root = house.provision()
        house.control("restart")
        read: list[str] = []
        load_space = store.load_space

        def noted(saved: dict[str, Any]) -> Space:
            read.append(saved["space_id"])
            return load_space(saved)

        monkeypatch.setattr(store, "load_space", noted)
        house.control("restart")
        root.ok("subjects.get", space_id=home, subject_id="u1")
        assert read == [home]


NAMES = st.text(st.sampled_from("abc"), min_size=1, max_size=2)


class TestIsAPort:
    def test_each_operation_is_a_method(self) -> None:
        oracle = Oracle()
        port: MemoryPort = oracle
        for row in oracle.bundle.operations.values():
            assert callable(getattr(port, row.method))

    def test_refuses_by_exception(self) -> None:
        house = House()
        with pytest.raises(MemoryRejected) as refused:
            house.oracle.subjects_get(Principal(house.root.principal_id), {"space_id": house.space_id, "subject_id": "u9"})
        assert refused.value.code == house.bundle.code(Code.NOT_FOUND)
        assert dict(refused.value.details) == {"retry": "never"}

    @settings(max_examples=30, deadline=None, database=None)
    @given(st.lists(NAMES, min_size=1, max_size=6))
    def test_the_same_calls_give_the_same_answers(self, names: list[str]) -> None:
        def run() -> list[Any]:
            house = House(subject=False)
            for name in names:
                house.root.ok("subjects.ensure", subject_id=name)
                house.root.create(name, {"subject_id": name, "context_id": names[0]})
            return [house.root.ok("records.list", selection=everything(name)) for name in names]

        assert run() == run()


class TestIdShapes:
    def test_any_shape_will_do(self) -> None:
        house = House(make_id=lambda kind, number: f"\u00e9/{number}|{kind}")
        record = house.root.create(scope=C1)
        assert record.startswith("\u00e9/")
        assert house.root.listed() == [record]

    def test_choices_are_values(self) -> None:
        assert Choices() == Choices()
        assert Choices().make_id("rec", 7) == "rec-000007"
