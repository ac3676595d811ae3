"""What a check is generated with: nothing but its seed decides."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from conformance.errors import BadUsage
from conformance.generation import settle
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


MODULE = "NUMBERS = [" + ", ".join(str(10**9 + number) for number in range(300)) + "]"
"""What hypothesis would find and draw."""

ALONE = """
import sys
{first}
from conformance.generation import settle
settle()
from tests.test_settings import drawn
print(drawn(3))
"""


def test_a_module_that_is_imported_later_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = settle()
    before = drawn(3)
    for name in ("imported_first", "imported_then"):
        (tmp_path / f"{name}.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    first = importlib.import_module("imported_first")
    assert settle(known) != known
    assert drawn(3) == before
    assert first.__file__ == str(tmp_path / "imported_first.py")
    importlib.import_module("imported_then")
    assert drawn(3) != before  # as it is without: what is seen is no accident


def test_it_is_settled_within_an_example_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_amid.py").write_text(MODULE.replace("10**9", "10**10"), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def numbers(amid: Callable[[], None]) -> list[int]:
        found: list[int] = []

        @hypothesis.seed(5)
        @settings_of(Profile("many", 150))
        @hypothesis.given(st.integers(10**9, 10**12), st.data())
        def draw(number: int, data: st.DataObject) -> None:
            amid()
            found.extend([number, data.draw(st.integers(10**9, 10**12))])

        draw()
        return found

    def amid() -> None:
        importlib.import_module("imported_amid")
        settle()

    settle()
    assert numbers(lambda: None) == numbers(amid)


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
