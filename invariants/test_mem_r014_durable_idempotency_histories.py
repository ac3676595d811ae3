"""MEM-R014, idempotency: requests under one key that are in flight together are answered as some order of them would be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import racing
from conformance.bench import Bench
from conformance.racing import Plan

PLANS = st.tuples(st.sampled_from(["second", "third", "read"]), st.integers(1, 2), st.just("k-one"))


@pytest.mark.examples(0.5)
@given(rounds=st.lists(st.lists(PLANS, min_size=2, max_size=6), min_size=1, max_size=2))
def test_a_history_of_one_key_has_an_order(bench: Bench, rounds: list[list[Plan]]) -> None:
    """Requests under one key, equal and unequal ones at once, have one effect and are answered as if in turn."""
    racing.run(racing.record(bench.world()), rounds)
