"""What a check is generated with: nothing but its seed decides."""

from __future__ import annotations

import sys
from functools import cached_property
from types import ModuleType

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import HypothesisProvider

from conformance.errors import BadUsage
from conformance.generation import ATTRIBUTE, repeatable
from conformance.profiles import PROFILES, Profile, profile_named
from conformance.settings import check_seed, settings_of

ODD = 8_391_117_053


def drawn(seed: int) -> list[int]:
    """Return the integers that a property of 200 examples draws."""
    found: list[int] = []

    @hypothesis.seed(seed)
    @settings_of(Profile("many", 200))
    @hypothesis.given(st.integers(10**9, 10**12))
    def draw(number: int) -> None:
        found.append(number)

    draw()
    return found


def test_the_same_seed_draws_the_same_and_another_one_another() -> None:
    with repeatable():
        assert drawn(1) == drawn(1)
        assert drawn(1) != drawn(2)


def test_a_module_that_happens_to_be_imported_changes_nothing(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ``repeatable`` hypothesis draws constants of such a module; with it they never show."""
    module = ModuleType("surroundings")
    module.__file__ = f"{tmp_path}/surroundings.py"
    with repeatable():
        before = drawn(3)
    with open(module.__file__, "w", encoding="utf-8") as file:
        file.write(f"ODD = {ODD}\n")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with repeatable():
        assert drawn(3) == before
    assert ODD in drawn(3)


def test_what_is_replaced_is_still_there_in_this_version_of_hypothesis() -> None:
    assert isinstance(HypothesisProvider.__dict__[ATTRIBUTE], cached_property)
    with repeatable():
        assert not HypothesisProvider.__dict__[ATTRIBUTE].set_for_type("integer")
    assert isinstance(HypothesisProvider.__dict__[ATTRIBUTE], cached_property)


def test_the_number_of_examples_is_scaled_and_at_least_one() -> None:
    profile = Profile("x", 10)
    assert [settings_of(profile, factor).max_examples for factor in (1, 0.3, 2.5, 0.01)] == [10, 3, 25, 1]


def test_nothing_is_kept_between_runs_and_nothing_is_timed() -> None:
    made = settings_of(PROFILES["quick"])
    assert (made.database, made.deadline, made.print_blob, made.report_multiple_bugs) == (None, None, False, False)
    assert set(made.suppress_health_check) == set(HealthCheck)
    assert Phase.shrink in made.phases
    assert Phase.shrink not in settings_of(PROFILES["quick"], shrink=False).phases


def test_a_seed_belongs_to_a_run_and_a_check() -> None:
    seeds = {check_seed(seed, check) for seed in (0, 1) for check in ("a", "b", "a[1]")}
    assert len(seeds) == 6
    assert check_seed(0, "a") == check_seed(0, "a")


def test_an_unknown_profile_is_told() -> None:
    assert profile_named("full") is PROFILES["full"]
    with pytest.raises(BadUsage, match="smoke, quick, full"):
        profile_named("fast")
