"""The search for an order of concurrent calls, against trying all orders; the model of one object; races that are caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import racing
from conformance.bench import Bench
from conformance.expect import CheckFailed, Inconclusive
from conformance.linearizability import NEVER, Ending, Entry, linearized, partitioned
from conformance.races import Change, Look, Seen, Thing, step
from conformance.racing import Built, Plan
from conformance.target import open_target
from conformance.wire.bundle import load
from conformance.wire.vocabulary import Code
from conformance.world import World
from tests.seeded.fault import Provider
from tests.seeded.races import racing as racing_oracle

Register = Entry[tuple[str, int], int]


def _register(value: int, asked: tuple[str, int], told: int | None) -> Iterator[int]:
    """Take a step of a plain register: ``("write", n)`` is told n, ``("read", _)`` is told what stands there."""
    verb, number = asked
    if verb == "write":
        yield number
    elif told is None or told == value:
        yield value


def _write(number: int, called: float, answered: float) -> Register:
    return Entry(("write", number), None if answered == NEVER else number, called, answered)


def _read(told: int, called: float, answered: float) -> Register:
    return Entry(("read", 0), told, called, answered)


def _ending(*entries: Register) -> Ending:
    return linearized(entries, 0, _register).ending


def test_a_reading_beside_a_writing_sees_the_old_or_the_new() -> None:
    assert _ending(_write(1, 0, 3), _read(0, 1, 2)) is Ending.LINEARIZABLE
    assert _ending(_write(1, 0, 3), _read(1, 1, 2)) is Ending.LINEARIZABLE
    assert _ending(_write(1, 0, 3), _read(2, 1, 2)) is Ending.IMPOSSIBLE


def test_a_reading_after_an_answered_writing_sees_it() -> None:
    assert _ending(_write(1, 0, 1), _read(0, 2, 3)) is Ending.IMPOSSIBLE


def test_what_was_seen_once_is_not_unseen_by_a_later_reading() -> None:
    assert _ending(_write(1, 0, 9), _read(1, 1, 2), _read(0, 3, 4)) is Ending.IMPOSSIBLE


def test_an_unanswered_writing_took_effect_late_or_never() -> None:
    lost = _write(1, 0, NEVER)
    assert _ending(lost, _read(0, 1, 2)) is Ending.LINEARIZABLE
    assert _ending(lost, _read(0, 1, 2), _read(1, 3, 4)) is Ending.LINEARIZABLE
    assert _ending(lost, _read(1, 1, 2), _read(0, 3, 4)) is Ending.IMPOSSIBLE


def test_more_orders_than_the_budget_is_no_pass() -> None:
    crowd = [_write(number, 0, 1) for number in range(12)]
    assert linearized([*crowd, _read(99, 0, 1)], 0, _register, budget=500).ending is Ending.UNDECIDED


def test_the_longest_prefix_that_was_possible_is_told() -> None:
    assert linearized([_write(1, 0, 1), _read(5, 2, 3)], 0, _register).order == (0,)


def test_objects_are_judged_each_for_itself() -> None:
    parts = partitioned([("a", _write(1, 0, 1)), ("b", _read(0, 2, 3)), ("a", _read(1, 2, 3))])
    assert {name: len(part) for name, part in parts.items()} == {"a": 2, "b": 1}
    assert all(linearized(part, 0, _register).ending is Ending.LINEARIZABLE for part in parts.values())


def _by_all_orders(entries: Sequence[Register]) -> bool:
    """Say the same by brute force: every order of every choice of the unanswered ones."""
    must = {number for number, entry in enumerate(entries) if entry.answered != NEVER}
    return any(
        must <= set(order[:size]) and _keeps_time(entries, order[:size]) and _explains(entries, order[:size])
        for order in permutations(range(len(entries)))
        for size in range(len(must), len(entries) + 1)
    )


def _keeps_time(entries: Sequence[Register], order: Sequence[int]) -> bool:
    return not any(
        entries[later].answered < entries[earlier].called for i, earlier in enumerate(order) for later in order[i + 1 :]
    )


def _explains(entries: Sequence[Register], order: Sequence[int]) -> bool:
    value = 0
    for number in order:
        after = list(_register(value, entries[number].asked, entries[number].told))
        if not after:
            return False
        value = after[0]
    return True


@st.composite
def _histories(draw: st.DrawFn) -> list[Register]:
    entries: list[Register] = []
    for _ in range(draw(st.integers(1, 5))):
        called = draw(st.integers(0, 6))
        answered = draw(st.sampled_from([called + 1, called + 3, called + 5, NEVER]))
        number = draw(st.integers(0, 2))
        entries.append(_write(number, called, answered) if draw(st.booleans()) else _read(number, called, called + 2))
    return entries


@settings(max_examples=150, deadline=None)
@given(entries=_histories())
def test_the_search_finds_what_trying_all_orders_finds(entries: list[Register]) -> None:
    assert (_ending(*entries) is Ending.LINEARIZABLE) == _by_all_orders(entries)


# -- the model of an object


NEW = Thing(1, "first")
UPDATE = Change("k", "digest", 1, "second", frozenset({"dead"}), Code.RECORD_TOMBSTONED)


@pytest.mark.parametrize(
    ("thing", "seen", "right"),
    [
        (NEW, Seen(revision=2, receipt="r"), True),
        (NEW, Seen(revision=3, receipt="r"), False),
        (NEW, Seen(code=Code.REVISION_STALE), False),
        (Thing(2, "x"), Seen(code=Code.REVISION_STALE), True),
        (Thing(2, "x"), Seen(code=Code.REVISION_AHEAD), False),
        (Thing(2, "x"), Seen(revision=3, receipt="r"), False),
        (Thing(2, "dead"), Seen(code=Code.RECORD_TOMBSTONED), True),
        (Thing(2, "dead"), Seen(code=Code.REVISION_STALE), True),
        (Thing(1, "dead"), Seen(code=Code.REVISION_STALE), False),
        (Thing(2, "second", frozenset({("k", "digest", "r")})), Seen(revision=2, receipt="r"), True),
        (Thing(2, "second", frozenset({("k", "digest", "r")})), Seen(revision=2, receipt="other"), False),
        (Thing(2, "x", frozenset({("k", "other", "r")})), Seen(code=Code.KEY_REUSED), True),
        (Thing(2, "x", frozenset({("k", "other", "r")})), Seen(revision=3, receipt="q"), False),
    ],
)
def test_an_answer_to_a_change_is_right_in_a_state_or_not(thing: Thing, seen: Seen, right: bool) -> None:
    assert bool(list(step(thing, UPDATE, seen))) is right


def test_a_receipt_that_nobody_saw_is_the_one_that_the_first_replay_tells() -> None:
    (unseen,) = step(NEW, UPDATE, None)
    (told,) = step(unseen, UPDATE, Seen(revision=2, receipt="r"))
    assert list(step(told, UPDATE, Seen(revision=2, receipt="q"))) == []


def test_a_reading_tells_the_revision_with_its_value() -> None:
    assert list(step(NEW, Look(), Seen(revision=1, value="first"))) == [NEW]
    assert list(step(NEW, Look(), Seen(revision=2, value="first"))) == []


# -- on providers


ROUNDS: list[list[Plan]] = [
    [("second", 1, "k-a"), ("third", 1, "k-b"), ("read", 1, "")],
    [("second", 2, "k-c"), ("delete", 2, "k-d"), ("third", 2, "k-a")],
]


@pytest.fixture
def world() -> Iterator[Callable[[str], World]]:
    """Give a way to a fresh world on a target; what was opened is closed."""
    with ExitStack() as stack:

        def fresh(target: str) -> World:
            opened = open_target(target, bundle=load()).open()
            stack.callback(opened.shim.close)
            return Bench(opened.shim, load(), opened.facts).world()

        yield fresh


Fresh = Callable[[str], World]


@pytest.mark.parametrize("target", ["oracle", "python:tests.test_linearizability:at_once"])
def test_a_right_provider_passes_whether_calls_meet_or_not(world: Fresh, target: str) -> None:
    racing.run(racing.record(world(target)), ROUNDS)
    racing.run(racing.candidate(world(target)), [[("promote", 1, "k-a"), ("discard", 1, "k-b"), ("read", 1, "")]])
    racing.run(racing.space(world(target)), [[("freeze", 1, "k-a"), ("freeze", 1, "k-b"), ("unfreeze", 2, "k-c")]])


@pytest.mark.parametrize("fault", ["r016_check_then_act", "r016_f07_store_written_back"])
def test_a_race_over_a_record_is_caught(world: Fresh, fault: str) -> None:
    with pytest.raises(CheckFailed, match="no order of the calls"):
        racing.run(racing.record(world(f"python:tests.faults:{fault}")), ROUNDS)


@pytest.mark.parametrize(
    ("fault", "build", "plans"),
    [
        ("r016_check_then_act", racing.candidate, [("promote", 1, "k-a"), ("discard", 1, "k-b")]),
        ("r014_f04_key_taken_when_done", racing.record, [("second", 1, "k-one"), ("second", 1, "k-one")]),
        ("r016_f07_store_written_back", racing.space, [("freeze", 1, "k-a"), ("freeze", 1, "k-b")]),
    ],
)
def test_two_at_once_that_both_win_are_caught(
    world: Fresh, fault: str, build: Callable[[World], Built], plans: list[Plan]
) -> None:
    with pytest.raises(CheckFailed, match="no order of the calls"):
        racing.run(build(world(f"python:tests.faults:{fault}")), [plans])


def test_a_search_beyond_the_budget_is_inconclusive(world: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.races.BUDGET", 3)
    with pytest.raises(Inconclusive, match="too many"):
        racing.run(racing.record(world("oracle")), ROUNDS)


def test_a_call_that_was_never_answered_is_left_open(world: Fresh) -> None:
    place = world("oracle")
    race, build = racing.record(place)
    call, asked = build(("second", 1, "k-a"))
    place.exchange(call)
    race.lost(asked)
    race.together([build(("read", 1, ""))])
    race.judge()


def at_once() -> Provider:
    """Make the right oracle behind an async face: calls meet, and each is whole."""
    return racing_oracle(lambda _arrived: ())()
