"""The README's section on changes of the schemas, command by command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from conformance.cli import main
from tests.changed_bundles import changed_bundle, member

README = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8")
MOOD = member("mood", {"type": "string"})
REQUIRED = member("mood", {"type": "string"}, required=True)
PRINCIPAL = "data/memory-principal"


def _commands() -> list[str]:
    found = re.search(r"^## What a change of the schemas changes\n.*?```console\n(.*?)```", README, re.MULTILINE | re.DOTALL)
    assert found is not None
    return [line.removeprefix("$ ") for line in found[1].splitlines()]


def _git(where: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a repository whose last commit changes a schema, and a bundle beside it."""
    _git(tmp_path, "init", "-q")
    for name, edits in (("old", {}), ("schemas", {"ops/memory-capture-request": MOOD})):
        changed_bundle(tmp_path / name, edits)
    os.rename(tmp_path / "schemas", tmp_path / "later")
    os.rename(tmp_path / "old", tmp_path / "schemas")
    _git(tmp_path, "add", "schemas")
    _git(tmp_path, "commit", "-q", "-m", "old")
    os.rename(tmp_path / "schemas", tmp_path / "before")
    os.rename(tmp_path / "later", tmp_path / "schemas")
    _git(tmp_path, "add", "schemas")
    _git(tmp_path, "commit", "-q", "-m", "new")
    changed_bundle(tmp_path / "changed", {PRINCIPAL: REQUIRED})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_shown_command_does_what_is_said_of_it(ground: Path) -> None:
    shown = [line for line in _commands() if "schemas check" not in line]  # test_gate_check runs it
    assert len(shown) == 2
    for line in shown:
        expected = re.search(r"# exit (\d)", line)
        words = shlex.split(line, comments=True)
        assert words[0] == "memory-conformance"
        assert main([*words[1:], "--examples", "2"]) == (int(expected[1]) if expected else 0), line
    assert (ground / "comment.md").read_text("utf-8").startswith("### Schema gate: it may land")
    assert (ground / "diff.json").is_file()


def test_every_option_of_the_table_is_there() -> None:
    table = re.search(r"^## What a change of the schemas changes\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
    assert table is not None
    with pytest.raises(SystemExit):
        main(["schemas", "diff", "--help"])
    assert set(re.findall(r"\| `(--[a-z-]+)", table[1])) == {
        "--readers", "--version-step", "--run", "--kill-matrix", "--rules", "--transcripts", "--report",
    }  # fmt: skip
