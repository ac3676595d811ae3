"""The command: what it says, where, and its exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.catalogue import named, rules
from conformance.cli import COMMANDS, main
from conformance.runner import Order, run
from conformance.verdict import RunResult, Verdict

ROOT = Path(__file__).resolve().parent.parent
DISMISSED = "MEM-R016.a_change_commits_against_the_exact_revision_alone[dismiss]"
COMMAND = (sys.executable, "-m", "conformance.cli")


def command(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **environment}
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=120)


def test_help_and_version_load_nothing_heavy() -> None:
    program = (
        "import sys; from conformance.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(sorted({'pytest', 'hypothesis', 'jsonschema', 'rich', 'jinja2', 'cryptography'} & set(sys.modules)))"
    )
    for arguments in (["--version"], ["--help"], ["run", "--help"], ["explain", "--help"], ["verify", "--help"]):
        said = subprocess.run([sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
        assert said.stdout.splitlines()[-1] == "[]"


def test_start_up_is_below_three_tenths_of_a_second() -> None:
    """In CPU time, and the best of five, since other work on the machine is no fault of ours."""

    def start_up() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command("--version")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(start_up() for _ in range(5)) < 0.3


@pytest.mark.parametrize(
    ("arguments", "workers"),
    [
        ([], os.cpu_count()),
        (["--profile", "smoke"], 0),
        (["--profile", "smoke", "-n", "2"], 2),
        (["http://h"], 1),
        (["http://h", "--profile", "smoke"], 1),
        (["http://h", "-n", "0"], 0),
    ],
)
def test_how_many_workers_there_are(arguments: list[str], workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[Order] = []

    def ordered(order: Order, *_: object) -> RunResult:
        orders.append(order)
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.commands.run.run", ordered)
    main(["run", *arguments])
    assert [order.workers for order in orders] == [workers]


def test_help_tells_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert all(name in said and row.summary in said for name, row in COMMANDS.items())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["walk"], "there is no command 'walk'"),
        (["run", "--what"], "unrecognized arguments: --what"),
        (["run", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
        (["run", "nowhere"], "there is no target kind 'nowhere'"),
        (["run", "python:nowhere:make"], "ModuleNotFoundError: No module named 'nowhere'"),
        (["run", "python:tests.providers:raises"], "the factory raised RuntimeError: no database here."),
        (["run", "nowhere.toml"], "nowhere.toml: the target file cannot be read"),
        (["run", "--schemas", "nowhere"], "nowhere: /: no such directory"),
        (["run", "--rules", "R011,R028"], "there is no rule 'R028'"),
        (["run", "--profile", "huge"], "there is no profile 'huge'"),
        (["run", "--report", "papyrus:x"], "the formats are"),
        (["run", "--report", "json"], "FORMAT:FILE"),
        (["run", "--report", "json:/nowhere/x.json"], "no such directory"),
        (["run", "--report", "json:/"], "it is a directory"),
        (["run", "-n", "-1"], "the number of workers is 0 or more"),
        (["explain", "MEM-R1"], "there is no rule 'MEM-R1'"),
        (["run", "--stream", "/nowhere/x"], "/nowhere/x: the stream cannot be written"),
        (["run", "--record", "/nowhere/x"], "/nowhere/x: the file cannot be written there"),
        (["run", "--shard", "3/2"], "a shard is named I/N"),
        (["run", "--check", "R016"], "there is no check 'R016': memory-conformance explain MEM-R016 lists those of a rule."),
        (["run", "--check", DISMISSED[:-2]], f"the nearest is {DISMISSED}."),
        (["run", "--check", DISMISSED, "--shard", "1/2"], "--check runs single checks, and --shard is about whole rules"),
        (["run", "--check", DISMISSED, "--rules", "R016"], "--check runs single checks, and --rules is about whole rules"),
        (["run", "--waivers", "nowhere"], "nowhere: the waivers cannot be read"),
        (["run", "--baseline", "nowhere"], "nowhere: the result cannot be read"),
        (["report", "nowhere"], "nowhere: the result cannot be read"),
        (["report", "pyproject.toml"], "pyproject.toml: no result of a run"),
        (["diff", "nowhere", "nowhere"], "nowhere: the result cannot be read"),
        (["merge", "nowhere"], "nowhere: the result cannot be read"),
        (["verify", "x", "--key", "nowhere"], "nowhere: the key cannot be read"),
        (["keygen", "/nowhere/key"], "/nowhere/key: the key cannot be written"),
        (["explain"], "explain needs a rule"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_3(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("memory-conformance: ")
    assert said in output.err
    assert output.err.count("\n") == 1
    assert output.err.endswith((".\n", ").\n"))


def test_a_broken_bundle_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.schema.json").write_text('{"$id": "https://x.invalid/x", "type": 5}', "utf-8")
    assert main(["run", "--schemas", str(tmp_path)]) == 3
    assert re.fullmatch(r"memory-conformance: x\.schema\.json: /type: .*\n", capsys.readouterr().err)


def test_a_run_reports_and_ends_with_its_exit_code(tmp_path: Path) -> None:
    json_file, junit_file = tmp_path / "r.json", tmp_path / "r.xml"
    reports = ("--report", f"json:{json_file}", "--report", f"junit:{junit_file}")
    ended = command("run", "--profile", "smoke", "--rules", "R023,mem-r008", *reports, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.search(r"^MEM-R008 +Subject identity +PASS +(\d+)/\1 ", ended.stdout, re.MULTILINE)
    assert "25 rules were not chosen" in ended.stdout
    assert "PASS  the target conforms" in ended.stdout
    result = RunResult.of_json(json.loads(json_file.read_text("utf-8")))
    assert result.verdict is Verdict.PASS
    assert f"{len(result.checks)} of {len(result.checks)} checks passed" in ended.stdout
    assert junit_file.read_text("utf-8").count("<testcase") == len(result.checks) + 25
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "r.xml"]


def test_a_failure_is_told_by_the_lines_that_matter() -> None:
    ended = command("run", "python:tests.providers:Undeclared", "--profile", "smoke", "--rules", "R025", "-n", "1")
    assert ended.returncode == 1
    for line in ("FAIL  MEM-R025.", "  rule ", "  check ", "  what ", "  expected ", "  seen ", "again: memory-conformance run"):
        assert line in ended.stdout
    assert "\x1b" not in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80


def test_a_check_is_run_alone_and_as_in_a_whole_run(tmp_path: Path) -> None:
    """Also one that the profile smoke would leave out; the command that is told for a failure runs it again."""
    told = tmp_path / "r.json"
    ended = command("run", "--check", DISMISSED, "--profile", "smoke", "-n", "0", "--report", f"json:{told}")
    assert (ended.returncode, ended.stderr) == (0, "")
    whole = {check.check_id: check.sent for check in run(Order(), [named("R016")]).checks}
    (alone,) = RunResult.of_json(json.loads(told.read_text("utf-8"))).checks
    assert alone.check_id == DISMISSED
    assert alone.sent == whole[DISMISSED]
    failed = command("run", "python:tests.faults:r016_accepts_ahead", "--check", DISMISSED)
    assert failed.returncode == 1
    again = " ".join(failed.stdout.partition("again: ")[2].partition("\n\n")[0].split())
    chosen = ["--check", DISMISSED, "--profile", "quick", "--seed", "0"]
    assert shlex.split(again) == ["memory-conformance", "run", "python:tests.faults:r016_accepts_ahead", *chosen]
    assert "0 of 1 checks passed" in failed.stdout


def test_a_check_without_its_parameter_is_all_of_them() -> None:
    ended = command("run", "--check", DISMISSED.partition("[")[0], "--profile", "smoke", "-n", "0", "-v")
    assert ended.returncode == 0
    assert "26 rules were not chosen" in ended.stdout
    parameters = ended.stdout.count("alone[")
    assert parameters > 5
    assert f"{parameters}/{parameters}" in ended.stdout


def test_quiet_says_the_verdict_alone_and_verbose_every_check() -> None:
    quiet = command("run", "--profile", "smoke", "--rules", "R023", "-n", "0", "-q")
    assert len(quiet.stdout.splitlines()) == 3
    verbose = command("run", "--profile", "quick", "--rules", "R023", "-n", "0", "-v")
    assert verbose.stdout.count("PASS") > 5


def test_an_adapter_without_memory_ends_with_2() -> None:
    ended = command("run", "python:tests.providers:adapter_without_memory")
    assert ended.returncode == 2
    assert "NOT_APPLICABLE  nothing is applicable to this target" in ended.stdout


def test_a_terminal_shows_progress_and_colour_unless_told_not_to() -> None:
    arguments = ("run", "--profile", "smoke", "--rules", "R023", "-n", "0")
    coloured = _in_a_terminal(arguments, {})
    assert "\x1b[32mPASS" in coloured
    assert "collecting" in coloured
    assert "\x1b[32m" not in _in_a_terminal(arguments, {"NO_COLOR": "1"})


def _in_a_terminal(arguments: tuple[str, ...], environment: dict[str, str]) -> str:
    """Run the command with a pseudo terminal as its three streams and return all that it wrote."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    env.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
    process = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while piece := _read(ours):
        said += piece
    os.close(ours)
    assert process.wait(60) == 0
    return said.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


@pytest.mark.parametrize("name", ["MEM-R014", "r014"])
def test_explain_tells_the_rule_and_its_checks(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert rules()["MEM-R014"].statement in said
    assert "the reference page" in said
    assert "MEM-R014.every_mutation_has_one_effect_under_one_key" in said


def test_explain_names_the_flag_of_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "R025"]) == 0
    assert "spoke-cognition" in capsys.readouterr().out


def test_every_check_says_a_sentence_of_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    for rule_id in rules():
        assert main(["explain", rule_id]) == 0
        lines = capsys.readouterr().out.splitlines()
        checks = [number for number, line in enumerate(lines) if line.startswith(f"  {rule_id}.")]
        assert all(lines[number + 1].startswith("    ") for number in checks)
