"""What a check is generated with: nothing but its seed decides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from conformance.errors import BadUsage
from conformance.generation import modules, settle
from conformance.profiles import PROFILES, Profile, profile_named
from conformance.settings import check_seed, settings_of

RUN: dict[str, Any] = {"cwd": Path(__file__).parent.parent, "check": True, "capture_output": True, "text": True}


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
    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_after_settling_nothing_of_ours_is_left_to_import() -> None:
    settle()
    before = drawn(3)
    missing = [name for name in modules() if name not in sys.modules]
    assert missing == []
    settle()
    assert drawn(3) == before


ALONE = """
import sys
from conformance.generation import settle
{first}
settle()
from tests.test_settings import drawn
print(drawn(3))
"""


def test_what_was_imported_before_decides_nothing() -> None:
    firsts = ("", "import strategies.negatives", "import conformance.kill_matrix, reports.junit")
    said = {subprocess.run([sys.executable, "-c", ALONE.format(first=first)], **RUN).stdout for first in firsts}
    assert len(said) == 1
    assert said.pop().startswith("[")


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
