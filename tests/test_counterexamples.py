"""From a failed check to a counterexample: short, confirmed on the target, met on the oracle, of the file's form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import named
from conformance.cli import main
from conformance.counterexample import DIGEST, Counterexample, Expectation, Kind, Party
from conformance.counterexamples import About, Maker, started
from conformance.disagreement import Comparison
from conformance.exchange import Call, Reply
from conformance.histories import MOST_WORLDS, Event, History
from conformance.listening import Listening
from conformance.rehearsal import Heard, Stage
from conformance.replay import Status, read_counterexample, replayed
from conformance.runner import Order, run
from conformance.symbols import Unbound, is_own_digest, member, resolved, since, symbolic, symbols_in
from conformance.target import Opened, open_target
from conformance.verdict import CheckResult, Failure, Verdict
from tests.travelling import CONTRACT, ENSURED, FAULT, MOVED, PROMOTED, READ, WRITTEN, example, said

ORACLE = "oracle"
ABOUT = About("MEM-R008", "it moved", "MEM-R008.x", "It stays.", "0", 7, "quick")


@pytest.fixture
def opened() -> Iterator[dict[str, Opened]]:
    """Give the faulty provider and the oracle."""
    found = {name: open_target(name, bundle=CONTRACT).open() for name in (FAULT, ORACLE)}
    yield found
    for each in found.values():
        each.shim.close()


@pytest.fixture
def stages(opened: dict[str, Opened]) -> dict[str, Stage]:
    return {name: Stage(each, CONTRACT) for name, each in opened.items()}


def padded() -> Counterexample:
    """Return the calls of the seeded fault among calls that have nothing to do with it."""
    noise = [said("subjects.ensure", f"n{number}", subject_id=f"s{number}") for number in range(6)]
    more = replace(WRITTEN, payload={**WRITTEN.payload, "idempotency_key": "m"}, names={"$other": "/receipt/affected/0/id"})
    calls = (*noise[:3], ENSURED, *noise[3:5], WRITTEN, more, READ, noise[5], MOVED, READ)
    return replace(example(*calls, expectation=Expectation(Kind.CHECK)), what="it moved")


# -- from calls


def test_calls_are_reduced_to_those_that_show_it(stages: dict[str, Stage]) -> None:
    found = Maker(CONTRACT, stages[FAULT], stages[ORACLE], seconds=60).of_calls(padded(), Failure("it moved"))
    assert found is not None
    assert [call.op for call in found.calls] == [call.op for call in PROMOTED.calls]
    assert found.expectation == PROMOTED.expectation
    assert found.calls[1].payload["content"] == {"text": "a"}
    assert (found.runs, found.failed, found.flaky) == (3, 3, False)
    assert found.oracle.startswith("oracle ")
    assert replayed(found, stages[FAULT]).status is Status.FAILED
    assert replayed(found, stages[ORACLE]).status is Status.FIXED


def test_what_was_answered_is_told_in_symbols(stages: dict[str, Stage]) -> None:
    found = Maker(CONTRACT, stages[FAULT], stages[ORACLE], seconds=60).of_calls(padded(), Failure("it moved"))
    assert found is not None
    moved = found.calls[-1]
    assert moved.answer["receipt"]["affected"] == [{"type": "record", "id": moved.payload["record_id"], "revision": 2}]
    assert moved.also == PROMOTED.expectation.codes[0]
    assert found.seen["receipt"]["space_id"] == "$space"
    assert "credential-" not in json.dumps(found.to_json())


def test_what_is_right_has_none(stages: dict[str, Stage]) -> None:
    maker = Maker(CONTRACT, Stage(open_target(ORACLE, bundle=CONTRACT).open(), CONTRACT), stages[ORACLE])
    assert maker.of_calls(padded(), Failure("it moved")) is None


class Wavering:
    """A stage that is the faulty provider in some of its performances only."""

    def __init__(self, faulty: Stage, right: Stage, turns: str) -> None:
        self.levers = faulty.levers
        self._stages = {"f": faulty, "r": right}
        self._turns = iter(turns)
        self.started = faulty.started

    def perform(self, found: Counterexample, *, partly: bool = False) -> Any:
        return self._stages[next(self._turns, "f")].perform(found)


@pytest.mark.parametrize(("last", "failed"), [("fff", 3), ("frf", 2), ("rrr", None)])
def test_it_is_repeated_to_confirm_it(last: str, failed: int | None, stages: dict[str, Stage]) -> None:
    # The calls are sent to look at them, to see that cutting them keeps it, and to name the difference; then they are repeated.
    wavering: Any = Wavering(stages[FAULT], stages[ORACLE], f"fff{last}")
    found = Maker(CONTRACT, wavering, stages[ORACLE], tries=0).of_calls(PROMOTED, Failure("it moved"))
    assert (None if found is None else found.failed) == failed
    assert found is None or found.flaky == (failed != 3)


class Breaking:
    """A stage that breaks at some of its performances, counted from 1."""

    def __init__(self, stage: Stage, breaks: range) -> None:
        self.levers = stage.levers
        self.started = stage.started
        self.times = 0
        self._stage = stage
        self._breaks = breaks

    def perform(self, found: Counterexample, *, partly: bool = False) -> Any:
        self.times += 1
        if self.times in self._breaks:
            raise KeyError("x")
        return self._stage.perform(found)


def test_what_breaks_in_the_reduction_is_told_and_what_was_reached_is_kept(stages: dict[str, Stage]) -> None:
    """The third performance is the first of the reduction; then some shorter lists were seen to show it."""
    for first in (3, 6):
        breaking: Any = Breaking(stages[FAULT], range(first, first + 1))
        found = Maker(CONTRACT, breaking, stages[ORACLE], seconds=60).of_calls(padded(), Failure("it moved"))
        assert found is not None
        assert found.unreduced == "KeyError: 'x'"
        assert len(PROMOTED.calls) < len(found.calls) <= len(padded().calls) - (first > 3)
        assert (found.runs, found.failed) == (3, 3)
        assert replayed(found, stages[FAULT]).status is Status.FAILED
        assert replayed(found, stages[ORACLE]).status is Status.FIXED
        assert Counterexample.of_json(json.loads(json.dumps(found.to_json()))) == found


# -- from what was heard


def heard(opened: Opened) -> History:
    """Do what shows the fault by hand, with noise, and return what was heard of it."""
    way = Listening(opened.shim)
    Stage(replace(opened, shim=way), CONTRACT).perform(padded())
    return way.history


def test_a_history_is_turned_into_symbols_and_reduced(opened: dict[str, Opened], stages: dict[str, Stage]) -> None:
    maker = Maker(CONTRACT, stages[FAULT], stages[ORACLE], seconds=60)
    found = maker.of_history(heard(opened[FAULT]), Failure("it moved"), ABOUT)
    assert found is not None
    assert [call.op for call in found.calls] == [call.op for call in PROMOTED.calls]
    assert (found.rule, found.check, found.seed, found.profile) == ("MEM-R008", "MEM-R008.x", 7, "quick")
    assert found.callers == (Party("root", "$root", "$space", "${root}"),)
    assert replayed(found, stages[FAULT]).status is Status.FAILED


def test_calls_in_a_space_of_which_the_making_is_not_known_make_none(opened: dict[str, Opened], stages: dict[str, Stage]) -> None:
    """They would name the space as this provider alone does, and so run nowhere else."""
    whole, lost = heard(opened[FAULT]).last(1), History()
    lost.add(whole[0].calls, whole[0].replies)
    for _ in range(MOST_WORLDS):
        way = Listening(opened[FAULT].shim)
        Stage(replace(opened[FAULT], shim=way), CONTRACT).perform(example(ENSURED, expectation=Expectation(Kind.CHECK)))
        for event in way.history.last(1):
            lost.add(event.calls, event.replies)
    for event in whole[1:]:
        lost.add(event.calls, event.replies)
    maker = Maker(CONTRACT, stages[FAULT], stages[ORACLE], seconds=60)
    assert maker.of_history(lost, Failure("it moved"), ABOUT) is None


def test_what_no_calls_show_is_left_to_the_check(opened: dict[str, Opened], stages: dict[str, Stage]) -> None:
    maker = Maker(CONTRACT, stages[ORACLE], stages[ORACLE])
    history = heard(opened[ORACLE])
    assert maker.of_history(history, Failure("it moved"), ABOUT) is None
    found = maker.of_check(history, Failure("it moved", seen=5), ABOUT)
    assert (found.expectation.kind, found.expectation.call) == (Kind.CHECK, len(padded().calls) - 1)
    assert (found.check, found.seen) == ("MEM-R008.x", 5)


def test_when_the_first_space_was_made_is_heard_where_it_was_told(stages: dict[str, Stage]) -> None:
    """A provider that has lost everything in a restart tells it no more."""
    login = {"principal_id": "p", "credential": "c"}
    made = Event((Call("control.provision", {}),), (Reply(payload={"space_id": "s", "root": login}),))
    listed = Event(
        (Call("memory.spaces.list", {}),), (Reply(payload={"spaces": [{"space_id": "s", "created_at": "2026-01-01T00:00:00Z"}]}),)
    )
    assert started(stages[ORACLE], [made, listed]) == "2026-01-01T00:00:00Z"
    assert started(stages[ORACLE], [made]) == ""
    assert started(stages[ORACLE], [listed]) == ""


# -- of a run


FAULTS = {
    "r003_empty_credential_is_root": ("R003", 1),
    "r001_read_drops_extensions": ("R001", 6),
}


@pytest.fixture(scope="module", params=FAULTS)
def failed(request: pytest.FixtureRequest) -> tuple[str, CheckResult]:
    target = f"python:tests.faults:{request.param}"
    result = run(Order(target, "quick", stop_early=True), [named(FAULTS[request.param][0])])
    return request.param, next(check for check in result.checks if check.verdict is Verdict.FAIL)


def test_a_failed_check_brings_a_short_one(failed: tuple[str, CheckResult], tmp_path: Path) -> None:
    name, check = failed
    found = check.counterexample
    assert found is not None
    assert found.expectation.kind is not Kind.CHECK
    assert len(found.calls) - found.setting <= FAULTS[name][1]
    assert (found.rule, found.check) == (check.rule_id, check.check_id)
    file = tmp_path / "x.mem.json"
    file.write_text(json.dumps(found.to_json()), "utf-8")
    assert read_counterexample(file) == found
    assert main(["replay", "-q", str(file), "--target", f"python:tests.faults:{name}"]) == 1
    assert main(["replay", "-q", str(file)]) == 0


def test_a_run_saves_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, folder = "python:tests.faults:r003_empty_credential_is_root", tmp_path / "a" / "b"
    assert main(["run", target, "--rules", "R003", "--profile", "smoke", "-n", "0", "-q", "--counterexamples", str(folder)]) == 1
    (file,) = folder.iterdir()
    assert file.name == "MEM-R003.unauthenticated_call_leaves_no_trace.mem.json"
    assert main(["replay", "-q", str(file), "--target", target]) == 1
    capsys.readouterr()
    (tmp_path / "file").touch()
    wrong = str(tmp_path / "file" / "c")
    assert main(["run", target, "--rules", "R003", "--profile", "smoke", "-n", "0", "-q", "--counterexamples", wrong]) == 3
    assert "a counterexample cannot be written" in capsys.readouterr().err


def test_a_failure_counts_whatever_becomes_of_its_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr(Maker, "of_history", broken)
    result = run(Order("python:tests.faults:r003_empty_credential_is_root", "smoke", stop_early=True), [named("R003")])
    check = next(check for check in result.checks if check.verdict is Verdict.FAIL)
    assert check.counterexample is not None
    assert (check.counterexample.expectation.kind, check.counterexample.check) == (Kind.CHECK, check.check_id)
    assert check.counterexample.unreduced == "KeyError: 'x'"


# -- symbols


def test_symbols_stand_for_what_they_are_bound_to() -> None:
    bound = {"$a": "id-1", "$b": {"c": ["x", "id-2"]}, "$start": "2026-01-01T00:00:00.5Z"}
    value = {"one": "$a", "text": "$$5", "part": "$b/c/1", "at": "$start+61.25", "none": ["plain", 5, None]}
    assert resolved(value, bound) == {
        "one": "id-1",
        "text": "$5",
        "part": "id-2",
        "at": "2026-01-01T00:01:01.25Z",
        "none": ["plain", 5, None],
    }
    assert symbols_in(value) == {"$a", "$b", "$start"}
    with pytest.raises(Unbound, match=r"^\$c$"):
        resolved(["$c"], bound)


def test_what_becomes_symbolic_comes_back() -> None:
    value = {"a": ["id-1", "$x", "$$y", "plain"], "b": {"id-1": 5}}
    told = symbolic(value, {"id-1": "$record1"})
    assert told == {"a": ["$record1", "$$x", "$$$y", "plain"], "b": {"id-1": 5}}
    assert resolved(told, {"$record1": "id-1"}) == value


def test_digests_are_computed_from_the_inside_out() -> None:
    made = resolved({"digest": DIGEST, "of": {"chunk_digest": DIGEST, "id": "$a"}}, {"$a": "x"})
    assert is_own_digest(made["of"], "chunk_digest")
    assert is_own_digest(made, "digest")
    assert not is_own_digest({**made, "more": 1}, "digest")


def test_an_instant_far_away_is_a_constant() -> None:
    assert since("2026-01-01T00:00:00Z", "2026-01-01T00:01:00.125Z", 100) == "$start+60.125"
    assert since("2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z", 100) == "$start-1"
    assert since("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 100) is None
    assert since("2026-01-01T00:00:00Z", "no time", 100) is None


def test_a_pointer_selects_an_item_by_a_member() -> None:
    answer = {"records": [{"record_id": "r1", "revision": 1}, {"record_id": "r2", "revision": 5}]}
    assert member(answer, "/records/[record_id=$r]/revision", {"$r": "r2"}) == 5
    with pytest.raises(LookupError):
        member(answer, "/records/[record_id=$r]/revision", {"$r": "r3"})


def test_which_flags_a_target_declares_is_no_difference(stages: dict[str, Stage]) -> None:
    """Else each failure of a provider that declares fewer would end up with that."""
    limited = open_target("python:tests.faults:r002_serves_an_undeclared_flag", bundle=CONTRACT).open()
    told = example(said("describe", ""), expectation=Expectation(Kind.CHECK))
    told = replace(told, calls=(replace(told.calls[0], payload={}),))
    target = Stage(limited, CONTRACT)
    (here,), (there,) = (stage.perform(told).answers for stage in (target, stages[ORACLE]))
    assert here.body["capabilities"] != there.body["capabilities"]
    assert Maker(CONTRACT, target, stages[ORACLE]).of_calls(told, Failure("it differs")) is None
    limited.shim.close()


def granting(key: str, **members: Any) -> Any:
    return said("grants.grant", key, grantee_id="x", capabilities=["recall"], shared_access="read", **members)


FREE = (
    granting("g", expires_at="2099-01-01T00:00:00Z"),
    said("grants.list", "", view="admin"),
    replace(WRITTEN, payload={**WRITTEN.payload, "extensions": {"asked": {"a": 1}}}),
    READ,
    said("profile.update", "p", subject_id="u1", kind="personality", content={"text": "a"}, expected_revision=None),
    said("reflections.generate", "r", selection={"subject_id": "u1", "mode": "shared"}),
    said("exports.create", "e", names={"$export1": "/receipt/affected/0/id"}),
    said("exports.get", "", export_id="$export1", ordinal=0),
    said("spaces.list", ""),
    said("records.get", "", record_id="none"),
)
"""Calls whose answers leave much to a provider."""


@pytest.mark.parametrize(
    "target",
    [
        "python:tests.foreign:Foreign",
        *(f"python:tests.variants:{name}" for name in ("annotates_answers", "own_namespaces", "sets_backwards", "long_ids")),
    ],
)
def test_what_the_contract_leaves_to_the_provider_is_no_difference(target: str, stages: dict[str, Stage]) -> None:
    calls = tuple(replace(one, payload={}) if one.op == "memory.spaces.list" else one for one in (ENSURED, *FREE))
    opened = open_target(target, bundle=CONTRACT).open()
    told, stage = example(*calls, expectation=Expectation(Kind.CHECK)), Stage(opened, CONTRACT)
    assert [answer.outcome for answer in stage.perform(told).answers[:-1]] == [""] * (len(calls) - 1)
    assert Maker(CONTRACT, stage, stages[ORACLE]).of_calls(told, Failure("it differs")) is None
    opened.shim.close()


def test_what_a_request_brought_stands_nowhere_else(stages: dict[str, Stage]) -> None:
    """Namespaces of the provider's own are no difference, those of requests are."""
    told = example(ENSURED, FREE[2], expectation=Expectation(Kind.CHECK))
    right = stages[ORACLE].perform(told)
    for namespace, pointers in (("own", []), ("asked", [("receipt", "extensions", "asked")])):
        receipt = {**right.answers[1].body["receipt"], "extensions": {namespace: {}}}
        wrong = replace(right.answers[1], reply=Reply(payload={"receipt": receipt, "extensions": {namespace: {}}}))
        found = Comparison(CONTRACT, Heard((right.answers[0], wrong), right.bound), right).differences()
        assert [difference.pointer for difference in found] == pointers


def test_a_failure_keeps_its_reason(stages: dict[str, Stage]) -> None:
    """What a dropped call no longer brings about is refused too, but for another reason."""
    found = Maker(CONTRACT, stages[FAULT], stages[ORACLE], seconds=60).of_calls(
        padded(), Failure("it moved"), lambda said, difference: said.op == MOVED.op and difference.expected == "INVALID_INPUT"
    )
    assert found is not None
    assert found.expectation.codes == ("INVALID_INPUT",)
    nothing = Maker(CONTRACT, stages[FAULT], stages[ORACLE]).of_calls(padded(), Failure("it moved"), lambda _said, _found: False)
    assert nothing is None


# -- lists


@pytest.mark.parametrize(
    ("fault", "rule", "kind"),
    [("r022_empty_last_page", "R022", Kind.ABSENT), ("r023_order_turns", "R023", Kind.SAME)],
)
def test_what_a_list_says_too_much_or_in_another_order_is_shown_by_calls(fault: str, rule: str, kind: Kind) -> None:
    """The right provider gives no cursor to go on with: the calls are compared as far as they can be sent."""
    target = f"python:tests.faults:{fault}"
    result = run(Order(target, "quick", stop_early=True), [named(rule)])
    found = next(check for check in result.checks if check.verdict is Verdict.FAIL).counterexample
    assert found is not None
    assert (found.expectation.kind, len(found.calls) <= 6) == (kind, True)
    statuses = []
    for text in (target, ORACLE):
        opened = open_target(text, bundle=CONTRACT).open()
        statuses.append(replayed(found, Stage(opened, CONTRACT)).status)
        opened.shim.close()
    assert statuses == [Status.FAILED, Status.FIXED]
