"""The same seed sends the same and says the same: whatever the workers, the order, the selection and ``PYTHONHASHSEED``.

``nox -s repeat`` shows it for the whole profile ``quick``.
"""

from __future__ import annotations

import pytest

from tests.repeating import Result, checks, differences, ran, same_bytes

FAULT = "python:tests.faults:r016_adds_two"
ALL = ("--profile", "smoke")
TWO = ("--rules", "R017,R023")


@pytest.fixture(scope="module")
def whole() -> Result:
    """Give the result of all rules, in one process."""
    return ran("oracle", *ALL, "-n", "0")


def test_two_workers_say_the_same_of_all_rules(whole: Result) -> None:
    other = ran("oracle", *ALL, "-n", "2", hash_seed=1)
    assert list(differences(whole, other)) == []
    assert same_bytes(whole, other)
    assert len(checks(whole)) >= 27
    assert all(len(check["sent"]) == 64 for check in checks(whole).values())


def test_rules_alone_and_in_the_other_order_say_the_same(whole: Result) -> None:
    turned = checks(ran("oracle", *ALL, *TWO, "-n", "0", hash_seed=2, backwards=True))
    wanted = {name: check for name, check in checks(whole).items() if check["rule_id"] in {"MEM-R017", "MEM-R023"}}
    assert list(turned) == list(wanted)
    assert list(differences(wanted, turned)) == []


def test_more_examples_in_the_other_order_say_the_same() -> None:
    quick = ("--profile", "quick", "--rules", "R007")
    one = ran("oracle", *quick, "-n", "1", hash_seed=3)
    turned = checks(ran("oracle", *quick, "-n", "0", hash_seed=4, backwards=True))
    assert list(turned) == list(reversed(checks(one)))
    assert list(differences(checks(one), dict(reversed(turned.items())))) == []


def test_a_failure_has_the_same_counterexample() -> None:
    one, other = (ran(FAULT, *ALL, "--rules", "R016", "-n", str(workers), hash_seed=workers) for workers in (0, 1))
    assert list(differences(one, other)) == []
    assert [check["counterexample"] is not None for check in checks(one).values()] == [True]


def test_another_seed_sends_something_else(whole: Result) -> None:
    other = ran("oracle", *ALL, *TWO, "-n", "0", "--seed", "1")
    assert (whole["facts"]["seed"], other["facts"]["seed"]) == (0, 1)
    assert all(check["sent"] != checks(whole)[name]["sent"] for name, check in checks(other).items())
