"""Examples of a property: counted, put aside where the contract lacks what one asks for, and spread over the properties."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import budget
from conformance.catalogue import name_of
from conformance.check import Check
from conformance.collecting import collected
from conformance.errors import NotInContract, TargetFault
from conformance.examples import Examples, looked_at
from conformance.expect import CheckFailed
from conformance.profiles import PROFILES

LACKING = "the contract of this run has no operation memory.gone"


def drawn(test: Callable[..., None]) -> Any:
    """Make a property of a number from 0 to 9, under a fixed seed."""
    settings = hypothesis.settings(max_examples=50, database=None)
    return hypothesis.seed(0)(settings(given(number=st.integers(0, 9))(test)))


def ran(test: Callable[..., None]) -> Examples:
    """Run a property, whether it fails or not."""
    with looked_at(made := drawn(test)) as examples, suppress(CheckFailed, TargetFault):
        made()
    return examples


@pytest.fixture(scope="module")
def properties() -> list[Check]:
    return [check for check in collected() if check.drawn]


class TestCounting:
    def test_all_are_counted_where_none_fails(self) -> None:
        def test(number: int) -> None:
            seen.append(number)

        seen: list[int] = []
        assert ran(test).tried == len(seen) == 10

    @pytest.mark.parametrize("error", [CheckFailed, TargetFault])
    def test_counting_ends_with_the_first_that_fails(self, error: Any) -> None:
        def test(number: int) -> None:
            seen.append(number)
            if number > 6:
                raise error("too many")

        seen: list[int] = []
        examples = ran(test)
        assert examples.tried == 1 + next(place for place, number in enumerate(seen) if number > 6)
        assert len(seen) > examples.tried, "it was not shrunk"

    def test_a_check_that_draws_nothing_has_none(self) -> None:
        with looked_at(lambda: None) as examples:
            pass
        assert examples.tried == 0

    def test_the_property_is_left_as_it_was(self) -> None:
        def test(number: int) -> None:
            seen.append(number)

        seen: list[int] = []
        made = drawn(test)
        for _ in range(2):
            with looked_at(made):
                assert made.hypothesis.inner_test is not test
            assert made.hypothesis.inner_test is test


class TestLacking:
    def test_an_example_that_the_contract_has_nothing_for_is_put_aside(self) -> None:
        def test(number: int) -> None:
            if number % 2:
                raise NotInContract(LACKING)
            if number > 6:
                raise CheckFailed("the even one fails")

        with pytest.raises(CheckFailed), looked_at(made := drawn(test)):
            made()

    def test_where_each_asks_for_it_the_property_is_not_applicable(self) -> None:
        def test(number: int) -> None:
            raise NotInContract(LACKING if number >= 0 else "")

        with pytest.raises(NotInContract, match=LACKING):
            ran(test)

    def test_another_reason_stays_what_it_is(self) -> None:
        def test(number: int) -> None:
            hypothesis.assume(number < 0)

        with pytest.raises(hypothesis.errors.Unsatisfiable):
            ran(test)


class TestBudget:
    def test_what_fell_late_gets_the_halves_of_the_others(self) -> None:
        spread = budget.spread({"a": 15, "b": 15, "c": 15, "d": 1}, {"a": 1, "b": 9, "c": 3})
        assert spread == {"a": 8, "b": 8 + 21 * 8 // 10, "c": 8 + 21 * 2 // 10, "d": 1}

    def test_nothing_is_made_up_and_no_property_gets_it_all(self) -> None:
        by_mark = dict.fromkeys("abcdefgh", 15)
        assert budget.spread(by_mark, {"a": 9})["a"] == budget.MOST * 15
        for latest in ({}, {"a": 1}, {"a": 2, "b": 15}, dict.fromkeys(by_mark, 4)):
            assert sum(budget.spread(by_mark, latest).values()) <= sum(by_mark.values())

    def test_falls_are_the_latest_over_seeds_and_parameters(self) -> None:
        cells = [("R.x[a]", 2), ("R.x[b]", 5), ("R.y", 0)]
        matrix = {"cells": [{"check_id": name, "examples": number} for name, number in cells]}
        later = {"cells": [{"check_id": "R.x[a]", "examples": 3}]}
        assert budget.falls([matrix, later]) == {"R.x": 5}

    def test_every_property_that_is_frozen_is_there_and_is_spent(self, properties: list[Check]) -> None:
        names = {name_of(check.check_id) for check in properties}
        assert set(budget.frozen()) <= names, "run nox -s freeze"
        for check in properties:
            examples = budget.frozen().get(name_of(check.check_id), round(budget.QUICK.examples * check.factor))
            assert round(PROFILES["quick"].examples * budget.factor_of(check)) == max(1, examples)

    def test_what_is_not_frozen_goes_by_its_mark(self, properties: list[Check]) -> None:
        check = properties[0]
        new = Check("MEM-R001.never_heard_of", check.rule, "", (), (), 0.4, drawn=True)
        assert budget.factor_of(new) == 0.4
        assert budget.marked([new]) == {new.check_id: 6}
