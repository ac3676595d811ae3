"""Call-wise reduction: the shortest list of calls that still fails, and requests without what nothing needs."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.counterexample import Said
from conformance.reduction import PLAIN, Budget, Calls, reduce


def call(name: str, *needs: str, **payload: Any) -> Said:
    """Return a call that makes ``$name`` and names what it needs."""
    return Said("root", name, {"needs": [f"${need}" for need in needs], **payload}, names={f"${name}": "/id"})


def names(calls: Calls) -> list[str]:
    return [said.op for said in calls]


def reduced(calls: list[Said], *needed: str, tries: int = 10_000, given: frozenset[str] = frozenset()) -> Calls:
    """Reduce for a failure that needs these calls, and the last one."""

    def fails(attempt: Calls) -> bool:
        return {*needed, calls[-1].op} <= set(names(attempt)) and attempt[-1].op == calls[-1].op

    return reduce(calls, fails, Budget(tries, 60), given)


def test_what_nothing_needs_goes() -> None:
    calls = [call(f"c{number}") for number in range(40)]
    assert names(reduced(calls, "c3", "c17")) == ["c3", "c17", "c39"]


@given(st.sets(st.integers(0, 22)))
def test_exactly_what_is_needed_stays(needed: set[int]) -> None:
    calls = [call(f"c{number}") for number in range(24)]
    assert names(reduced(calls, *(f"c{number}" for number in needed))) == [f"c{number}" for number in sorted(needed)] + ["c23"]


def test_a_call_goes_with_the_one_that_made_what_it_names() -> None:
    tried: list[list[str]] = []

    def fails(attempt: Calls) -> bool:
        tried.append(names(attempt))
        return attempt[-1].op == "end"

    assert names(reduce([call("a"), call("b", "a"), call("c", "b"), call("end")], fails, Budget(1000, 60))) == ["end"]
    orphans = [each for each in tried if ("b" in each and "a" not in each) or ("c" in each and "b" not in each)]
    assert orphans == []


def test_what_the_last_call_names_stays_with_its_maker() -> None:
    def fails(attempt: Calls) -> bool:
        return attempt[-1].op == "end" and attempt[-1].payload.get("needs") == ["$b"]

    calls = [call("x"), call("a"), call("b", "a"), call("y"), call("end", "b")]
    found = reduce(calls, fails, Budget(1000, 60))
    assert names(found) == ["b", "end"]
    assert found[0].payload == {}


def test_what_is_given_needs_no_maker() -> None:
    def fails(attempt: Calls) -> bool:
        return attempt[-1].op == "end" and "$space" in attempt[-1].payload.get("needs", ())

    assert names(reduce([call("a"), call("end", "space")], fails, Budget(100, 60), frozenset({"$space"}))) == ["end"]


def test_requests_lose_what_nothing_needs() -> None:
    long = call("end", content={"text": "long " * 40, "cognition": [1, 2]}, odd={"deep": [1, 2, 3], "kept": 5})

    def fails(attempt: Calls) -> bool:
        payload = attempt[-1].payload
        return "text" in payload.get("content", ()) and payload.get("odd", {}).get("kept") == 5

    (found,) = reduce([long], fails, Budget(1000, 60))
    assert found.payload == {"content": PLAIN, "odd": {"kept": 5}}


def test_no_request_is_simplified_in_a_circle() -> None:
    budget = Budget(1000, 60)
    (found,) = reduce([call("end", content={"text": "long"})], lambda calls: "content" in calls[-1].payload, budget)
    assert found.payload == {"content": {}}
    assert budget.tries > 900


def test_space_and_key_are_never_taken_away() -> None:
    (found,) = reduce(
        [call("end", space_id="$s", idempotency_key="k", other=1)], lambda _: True, Budget(100, 60), frozenset({"$s"})
    )
    assert found.payload == {"space_id": "$s", "idempotency_key": "k"}


def test_the_budget_ends_it_with_what_was_reached() -> None:
    asked = 0

    def fails(attempt: Calls) -> bool:
        nonlocal asked
        asked += 1
        return {"c3", "c39"} <= set(names(attempt))

    calls = [call(f"c{number}") for number in range(40)]
    found = reduce(calls, fails, Budget(2, 60))
    assert asked == 2
    assert {"c3", "c39"} <= set(names(found))
    assert len(found) < 40
    assert reduce(calls, fails, Budget(0, 60)) == tuple(calls)
    assert reduce(calls, fails, Budget(1000, 60, lambda: True)) == tuple(calls)
    assert reduce(calls, fails, Budget(100, -1.0)) == tuple(calls)
    assert asked == 2


def test_a_list_of_one_call_stays() -> None:
    only = replace(call("end"), payload={})
    assert reduce([only], lambda _: True, Budget(10, 1)) == (only,)


def test_long_lists_are_reduced_in_few_tries() -> None:
    calls = [call(f"c{number}") for number in range(500)]
    budget, started = Budget(400, 60), time.perf_counter()
    found = reduce(calls, lambda attempt: {"c77", "c499"} <= set(names(attempt)), budget)
    assert names(found) == ["c77", "c499"]
    assert time.perf_counter() - started < 10


def test_a_number_that_asks_for_many_calls_gets_small() -> None:
    """The last request names the n-th of what the calls before it made: with a smaller number fewer of them are needed."""

    def fails(attempt: Calls) -> bool:
        return bool(len(attempt) > attempt[-1].payload.get("ordinal", 99))

    calls = [*(call(f"c{number}") for number in range(30)), call("get", ordinal=28)]
    budget = Budget(1000, 60)
    found = reduce(calls, fails, budget)
    assert names(found) == ["get"]
    assert found[-1].payload["ordinal"] == 0
    assert budget.tries > 800
