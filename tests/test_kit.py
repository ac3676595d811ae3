"""What goes into other people's CI: the action's steps, run as GitHub would run them, and the image's recipe."""

from __future__ import annotations

import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from jsonschema.validators import validator_for

from conformance.cli import COMMANDS, Parser, main
from conformance.commands.completion import candidates
from conformance.verdict import EXIT_CODES
from reports.writers import FORMATS

ROOT = Path(__file__).resolve().parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step.get("name", step.get("uses")): step for step in ACTION["runs"]["steps"]}


def step(name: str, tmp_path: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as the runner does: inputs in variables, the command where the step before installs it."""
    bin_ = tmp_path / "memory-conformance" / "bin"
    bin_.mkdir(parents=True, exist_ok=True)
    command = bin_ / "memory-conformance"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m conformance.cli "$@"\n', "utf-8")
    command.chmod(0o755)
    inputs = {name: str(told.get("default", "")) for name, told in ACTION["inputs"].items()} | given
    variables = {name: _filled(text, inputs) for name, text in STEPS[name].get("env", {}).items()}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RUNNER_TEMP": str(tmp_path), **variables}
    environment |= {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
    return subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120)


def _filled(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def outputs(tmp_path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (tmp_path / "output").read_text("utf-8").splitlines())


def test_the_action_runs_reports_and_passes_the_exit_code_on(tmp_path: Path) -> None:
    given = {"target": "oracle", "profile": "smoke", "rules": "R023", "workers": "0", "arguments": "--seed '7'"}
    ended = step("Run the checks", tmp_path, **given)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert outputs(tmp_path) == {
        "exit-code": "0",
        "verdict": "PASS",
        "badge": "memory-conformance-report/badge.svg",
    }
    reports = tmp_path / "memory-conformance-report"
    assert sorted(file.name for file in reports.iterdir()) == [
        "badge.svg",
        "junit.xml",
        "report.html",
        "result.json",
        "stream.jsonl",
        "summary.md",
    ]
    assert json.loads((reports / "result.json").read_text("ascii"))["facts"]["seed"] == 7
    assert "memory-conformance: PASS" in (tmp_path / "summary").read_text("utf-8")


def test_the_action_tells_a_failure_and_a_mistake(tmp_path: Path) -> None:
    given = {"profile": "smoke", "rules": "R023", "workers": "0"}
    assert step("Run the checks", tmp_path, target="python:tests.controls:breaks_everything", **given).returncode == 0
    assert (outputs(tmp_path)["exit-code"], outputs(tmp_path)["verdict"]) == ("1", "FAIL")
    assert "FAIL" in (tmp_path / "summary").read_text("utf-8")
    second = tmp_path / "second"
    second.mkdir()
    ended = step("Run the checks", second, target="x; touch hacked", **given)
    assert outputs(second) == {"exit-code": "3", "verdict": "", "badge": "memory-conformance-report/badge.svg"}
    assert "there is no target kind 'x; touch hacked'" in ended.stderr
    assert not (second / "hacked").exists()


def test_the_last_step_fails_as_the_run_did(tmp_path: Path) -> None:
    script = STEPS["Pass the exit code on"]["run"]
    for code in sorted(set(EXIT_CODES.values())):
        ended = subprocess.run(["bash", "-c", script], env={"CODE": str(code)}, check=False)
        assert ended.returncode == code


README = (ROOT / "README.md").read_text("utf-8")
SNIPPETS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)]
PUBLISHED = resources.files("check_jsonschema").joinpath("builtin_schemas", "vendor")


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("github-actions", ACTION),
        ("github-workflows", {"on": "push", **SNIPPETS[0]}),
        ("gitlab-ci", SNIPPETS[1]),
    ],
)
def test_what_others_read_is_of_the_published_form(name: str, document: Any) -> None:
    schema = json.loads(PUBLISHED.joinpath(f"{name}.json").read_text("utf-8"))
    judge = validator_for(schema)(schema)
    assert [error.message for error in judge.iter_errors(document)] == []
    broken = {**document, "runs": {"using": "magic"}, "jobs": [], "memory": {"script": 1}}
    assert not judge.is_valid(broken), "this schema looks at something"


def _scripts() -> Iterator[str]:
    """Give all shell of the snippets and of the image's recipe that calls the command."""
    yield from SNIPPETS[1]["memory"]["script"]
    yield from re.findall(r"`(docker [^`]*)`", README)
    recipe = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    yield from re.findall(r"^#\s+(docker .*)$", recipe, re.MULTILINE)


def _commands() -> list[list[str]]:
    """Give the arguments of each call of the command in them."""
    found = []
    for script in _scripts():
        for part in re.split(r"&&|;", script):
            words = shlex.split(part)
            place = words.index("memory-conformance") if words[:2] == ["docker", "run"] else 0
            if words[place].rpartition("/")[2] == "memory-conformance":
                found.append(words[place + 1 :])
    return found


def test_each_shown_command_is_one_that_the_command_takes() -> None:
    shown = _commands()
    assert len(shown) >= 3
    for name, *arguments in shown:
        parser = Parser(prog=name)
        pkgutil.resolve_name(COMMANDS[name].options)(parser)
        given = parser.parse_args(arguments)
        assert given.target == "target.toml"
        reports = [text.partition(":")[0] for text in given.report]
        assert set(reports) <= set(FORMATS)


def test_no_input_gets_into_a_script_but_by_a_variable() -> None:
    for told in STEPS.values():
        assert "${{" not in told.get("run", "")
    used = re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8"))
    assert set(used) == set(ACTION["inputs"])


def test_the_image_is_built_from_what_there_is_and_runs_as_nobody() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            *sources, _ = line.split()[1:]
            assert all((ROOT / source).exists() for source in sources), line
    user = next(line.split()[1] for line in lines if line.startswith("USER "))
    assert int(user) > 0
    assert lines.index(f"USER {user}") < next(number for number, line in enumerate(lines) if line.startswith("ENTRYPOINT"))
    assert 'ENTRYPOINT ["memory-conformance"]' in lines


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ru"], ["run"]),
        (["run", "--prof"], ["--profile"]),
        (["run", "--profile", ""], ["smoke", "quick", "full"]),
        (["run", "--rules", "R02"], [f"R02{digit}" for digit in range(8)]),
        (["run", "--report", "ju"], ["junit:"]),
        (["explain", "MEM-R001"], ["MEM-R001"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["run", "tar"], []),
        (["nothing", "--x"], []),
        (["verify", "--k"], ["--key"]),
    ],
)
def test_the_shell_is_told_what_a_word_may_become(words: list[str], found: list[str]) -> None:
    assert list(candidates(words)) == found


def test_every_command_and_its_help_can_be_completed(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(COMMANDS) < set(candidates([""]))
    for command in COMMANDS:
        assert "--help" in candidates([command, "-"])
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "memory-conformance" in capsys.readouterr().out


def test_bash_completes_with_the_script() -> None:
    program = (
        f'memory-conformance() {{ {shlex.quote(sys.executable)} -m conformance.cli "$@"; }}\n'
        'eval "$(memory-conformance completion bash)"\n'
        'COMP_WORDS=(memory-conformance run --pro); COMP_CWORD=2; _memory_conformance; echo "${COMPREPLY[@]}"'
    )
    ended = subprocess.run(["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("--profile\n", "")
