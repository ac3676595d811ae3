"""MEM-R016, revisions: what calls in flight together are answered is what some order of them would be (F04, F07)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import racing
from conformance.bench import Bench
from conformance.racing import Plan


def _rounds(*deeds: str) -> st.SearchStrategy[list[list[Plan]]]:
    """Draw two or three rounds of two to four calls: revisions near the true one, keys of which some meet again."""
    plan = st.tuples(st.sampled_from(deeds), st.integers(1, 4), st.sampled_from(["k-a", "k-b", "k-c", "k-d"]))
    return st.lists(st.lists(plan, min_size=2, max_size=4), min_size=2, max_size=3)


@pytest.mark.examples(0.5)
@given(rounds=_rounds("second", "third", "delete", "read"))
def test_a_history_of_a_record_has_an_order(bench: Bench, rounds: list[list[Plan]]) -> None:
    """Updates, deletions and readings of one record, many at once, are answered as if one came after the other."""
    racing.run(racing.record(bench.world()), rounds)


@pytest.mark.examples(0.5)
@given(rounds=_rounds("freeze", "unfreeze", "read"))
def test_a_history_of_a_space_has_an_order(bench: Bench, rounds: list[list[Plan]]) -> None:
    """Freezing, unfreezing and reading one space, many at once, are answered as if one came after the other."""
    racing.run(racing.space(bench.world()), rounds)
