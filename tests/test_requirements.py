"""What certificates stand on besides a run: the frozen requirements, and the kill matrix that is shipped."""

from __future__ import annotations

import pytest

from conformance import requirements
from conformance.collecting import collected
from conformance.ledger import ledger_of, unproven
from conformance.requirements import CORE, claimed, frozen, required, sets_of
from conformance.wire.bundle import load
from tests.freeze import SUITE


def test_the_frozen_checks_are_there_in_their_sets() -> None:
    """A check that was added since is frozen with the next version (``nox -s freeze``)."""
    here = sets_of(collected())
    for name, checks in frozen()[SUITE].items():
        assert set(checks) <= set(here[name]), f"{name}: run python -m tests.freeze"


def test_a_provider_must_pass_the_sets_of_which_it_claims_every_part() -> None:
    sets = {CORE: ["a"], "+cognition": ["b"], "+cognition+transfer": ["c"], "+transfer": ["d"]}
    assert required(sets, [CORE]) == ["a"]
    assert required(sets, [CORE, "+transfer"]) == ["a", "d"]
    assert required(sets, [CORE, "+cognition", "+transfer"]) == ["a", "b", "c", "d"]
    assert claimed(["spoke-memory", "spoke-cognition"], load()) == [CORE, "+cognition"]
    assert requirements.sets_digest(sets) != requirements.sets_digest({**sets, CORE: []})


def test_the_kill_matrix_proves_that_every_rule_bites() -> None:
    rules = {f"MEM-R{number:03}": None for number in range(1, 28)}
    assert unproven(SUITE, rules) == ""
    assert unproven("9", rules) == f"the kill matrix is of suite {SUITE}, not of 9"
    assert "knows no fault that MEM-R099 kills" in unproven(SUITE, {"MEM-R099": None})
    cell = {"name": "a", "rule": "MEM-R001", "outcome": "killed", "check_id": "MEM-R001.x"}
    matrix = {"misses": [], "cells": [cell], "expected": {"a": "MEM-R001"}, "profile": "quick", "seed": 0}
    assert ledger_of(matrix, "1")["killed"] == {"a": "MEM-R001.x"}
    with pytest.raises(ValueError, match="a was not killed by its rule"):
        ledger_of({**matrix, "misses": [cell]}, "1")
