"""The same seed sends the same and says the same of ``quick``, whatever the workers, the order, the selection and the hash seed.

``nox -s repeat`` shows it for each rule alone, and for all checks backwards.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.repeating import Result, checks, differences, ran, same_bytes

FAULT = "python:tests.faults:r016_adds_two"
ALL = ("--profile", "quick")
TWO = ("--rules", "R017,R023")


@pytest.fixture(scope="module")
def whole() -> Result:
    """Give the result of all rules, in one process."""
    return ran("oracle", *ALL, "-n", "0")


def test_two_workers_say_the_same_of_all_rules(whole: Result) -> None:
    other = ran("oracle", *ALL, "-n", "2", hash_seed=1)
    assert list(differences(whole, other)) == []
    assert same_bytes(whole, other)
    assert len({check["rule_id"] for check in checks(whole).values()}) == 27
    assert all(len(check["sent"]) == 64 for check in checks(whole).values())


def test_rules_alone_and_in_the_other_order_say_the_same(whole: Result) -> None:
    turned = checks(ran("oracle", *ALL, *TWO, "-n", "0", hash_seed=2, backwards=True))
    wanted = {name: check for name, check in checks(whole).items() if check["rule_id"] in {"MEM-R017", "MEM-R023"}}
    assert list(turned) != list(wanted)
    assert list(differences(dict(sorted(wanted.items())), dict(sorted(turned.items())))) == []


def test_failures_have_the_same_counterexamples() -> None:
    """Workers begin with the longest checks, so that one provider counts its ids in another order; what is told is the same."""
    one, other = (_told(ran(FAULT, *ALL, "--rules", "R016", "-n", str(workers), hash_seed=workers)) for workers in (0, 1))
    assert list(differences(one, other)) == []
    assert sum(counterexample is not None for _, _, counterexample in one.values()) > 20


def _told(result: Result) -> dict[str, tuple[str, int, Any]]:
    return {name: (check["verdict"], check["examples"], check["counterexample"]) for name, check in checks(result).items()}


def test_another_seed_sends_something_else() -> None:
    one, other = (ran("oracle", "--profile", "smoke", *TWO, "-n", "0", "--seed", seed) for seed in ("0", "1"))
    assert (one["facts"]["seed"], other["facts"]["seed"]) == (0, 1)
    assert all(check["sent"] != checks(one)[name]["sent"] for name, check in checks(other).items())
