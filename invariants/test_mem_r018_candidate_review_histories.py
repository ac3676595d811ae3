"""MEM-R018, candidate review: decisions in flight together are answered as some order of them would be (F14)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import racing
from conformance.bench import Bench
from conformance.racing import Plan

PLANS = st.tuples(
    st.sampled_from(["promote", "discard", "dismiss", "read"]), st.integers(1, 2), st.sampled_from(["k-a", "k-b", "k-c"])
)


@pytest.mark.examples(0.5)
@given(rounds=st.lists(st.lists(PLANS, min_size=2, max_size=5), min_size=1, max_size=2))
def test_a_history_of_a_candidate_has_an_order(bench: Bench, rounds: list[list[Plan]]) -> None:
    """Decisions, dismissals and readings of one candidate, many at once, are answered as if one came after the other."""
    racing.run(racing.candidate(bench.world()), rounds)
