"""The README tells the truth: its tables are those of the code."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from conformance.catalogue import rules
from conformance.commands.completion import candidates
from conformance.profiles import PROFILES
from conformance.target_file import _READERS
from conformance.transport.openers import SCHEMES
from conformance.verdict import EXIT_CODES, Verdict
from conformance.waivers import read_waivers
from reports.writers import FORMATS

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


def test_every_key_of_a_target_file_is_told() -> None:
    assert sorted(row[0] for row in rows("key of `target.toml`")) == sorted(f"`{key}`" for key in _READERS)


def test_ci_calls_the_test_command_of_the_readme() -> None:
    found = re.search(r"\.venv/bin/(python -m pytest .*)$", README, re.MULTILINE)
    assert found is not None
    assert found[1] in (ROOT / ".ci" / "run").read_text("utf-8")


def test_the_formats_are_those_of_the_code() -> None:
    assert [row[0] for row in rows("format")] == [f"`{name}`" for name in FORMATS]


def test_the_waivers_are_of_checks_that_there_are(tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(blocks("toml")[1], "utf-8")
    assert len(read_waivers(file, today=date(2026, 12, 1)).entries) == 2


def test_the_snippets_for_ci_are_yaml_and_give_the_action_what_it_takes() -> None:
    github, gitlab = (yaml.safe_load(block) for block in blocks("yaml"))
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    given = github["jobs"]["memory"]["steps"][1]["with"]
    assert set(given) <= set(action["inputs"])
    assert "memory-conformance run" in gitlab["memory"]["script"][1]


def test_every_shown_option_is_one() -> None:
    """Each line of the README that calls the command is made of its commands and options."""
    shown = re.findall(r"^\$ (?:\.venv/bin/)?memory-conformance ([a-z]+)(.*)$", README, re.MULTILINE)
    assert shown
    for command, rest in shown:
        known = set(candidates([command, "-"]))
        assert {word for word in rest.split() if word.startswith("-")} <= known, command


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
