"""The README tells the truth: its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.catalogue import rules
from conformance.profiles import PROFILES
from conformance.target_file import TargetFile, read_target_file
from conformance.transport.openers import SCHEMES
from conformance.verdict import EXIT_CODES, Verdict

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def rows(first_header: str) -> list[list[str]]:
    """Return the cells of the table whose first column is headed so."""
    found = re.search(rf"^\| {first_header} \|.*\n\|[-|]+\n((?:\|.*\n)+)", README, re.MULTILINE)
    assert found is not None
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]


def test_the_rules_are_those_of_the_catalogue() -> None:
    assert rows("rule") == [[rule.rule_id, rule.title, rule.statement] for rule in rules().values()]


def test_the_verdicts_and_exit_codes_are_those_of_the_code() -> None:
    assert [row[0] for row in rows("verdict")] == [f"`{verdict}`" for verdict in Verdict]
    assert [int(row[0]) for row in rows("exit code")] == sorted(set(EXIT_CODES.values()))


def test_the_profiles_are_those_of_the_code() -> None:
    assert [row[:2] for row in rows("profile")] == [[f"`{name}`", str(profile.examples)] for name, profile in PROFILES.items()]


def test_every_target_kind_is_told() -> None:
    assert {row[0] for row in rows("target")} == {*(f"`{scheme.form}`" for scheme in SCHEMES.values()), "`target.toml`"}


def test_the_target_file_is_one(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", README, re.DOTALL)
    assert found is not None
    file = tmp_path / "target.toml"
    file.write_text(found[1], "utf-8")
    told = read_target_file(file)
    assert told != TargetFile(told.target)
    assert (len(told.homes), len(told.logins)) == (1, 1)


def test_ci_calls_the_test_command_of_the_readme() -> None:
    found = re.search(r"\.venv/bin/(python -m pytest .*)$", README, re.MULTILINE)
    assert found is not None
    assert found[1] in (ROOT / ".ci" / "run").read_text("utf-8")
