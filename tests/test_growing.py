"""A result while it grows: the stream says all that the result says, and where it is cut it still reads, as incomplete."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from conformance.growing import Growing, Stream, read_result
from conformance.verdict import RunResult, Verdict
from reports import json_file
from tests.result_samples import MIXED
from tests.signals import hears_ctrl_c

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "reports" / "schema"


@cache
def schema(name: str) -> Draft202012Validator:
    registry: Registry[Any] = Registry()
    for file in SCHEMAS.glob("*.schema.json"):
        resource = Resource.from_contents(json.loads(file.read_text("utf-8")))
        registry = registry.with_resource(f"https://memory-conformance.invalid/{file.name}", resource)
    return Draft202012Validator({"$ref": f"https://memory-conformance.invalid/{name}.schema.json"}, registry=registry)


def streamed(result: RunResult, *, over: bool = True) -> str:
    file = io.StringIO()
    stream = Stream(file)
    empty = [rule.to_json() | {"checks": []} for rule in result.rules]
    began = RunResult.of_json({**result.to_json(), "rules": empty, "seconds": 0, "trouble": [], "complaints": [], "coverage": {}})
    stream.began(began)
    stream.collected(len(result.checks))
    for check in reversed(result.checks):
        stream.ended(check)
    if over:
        stream.over(result)
    return file.getvalue()


def test_a_stream_reads_as_the_result(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text(streamed(MIXED), "ascii")
    assert read_result(file) == MIXED


def test_a_result_file_reads_as_the_result(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json_file.render(MIXED), "ascii")
    assert read_result(file) == MIXED


def test_a_stream_that_was_cut_anywhere_is_incomplete(tmp_path: Path) -> None:
    text, file = streamed(MIXED), tmp_path / "run.jsonl"
    first = text.index("\n") + 1
    for length in (*range(first, len(text) - 1, 997), len(text) - 1):
        file.write_text(text[:length], "ascii")
        found = read_result(file)
        assert (found.complete, found.verdict, found.exit_code()) == (False, Verdict.SUITE_ERROR, 3)
        assert found.trouble[0].startswith(f"the run did not reach its end: {len(found.checks)} of ")
        assert all(check in MIXED.checks for check in found.checks)


def test_a_later_result_of_a_check_takes_the_place_of_the_earlier() -> None:
    growing = Growing()
    growing.began(RunResult(MIXED.facts, tuple(rule for rule in MIXED.rules if not rule.checks)))
    growing.collected(3)
    growing.ended(MIXED.checks[0])
    growing.ended(MIXED.checks[0])
    assert growing.result().trouble == ("the run did not reach its end: 1 of 3 checks have a result",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("{}", "format None"),
        ('{"event": "collected", "checks": 1}\n', "how the run began"),
        ('{"event": "began"}\n', "no event of a run"),
        ('{"event": "x"}\n', "no event of a run"),
        ('{"format": 1}', "KeyError"),
        ("[1]", "AttributeError"),
    ],
)
def test_what_is_no_result_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=said):
        read_result(file)


def test_results_and_streams_are_of_their_schemas() -> None:
    value = json.loads(json_file.render(MIXED))
    assert [error.message for error in schema("result").iter_errors(value)] == []
    for line in streamed(MIXED).splitlines():
        assert [error.message for error in schema("stream").iter_errors(json.loads(line))] == []


def test_the_schemas_refuse_what_is_no_result() -> None:
    value = json.loads(json_file.render(MIXED))
    for wrong in (value | {"format": 2}, value | {"more": 1}, value | {"verdict": "GOOD"}, value | {"complete": None}):
        assert not schema("result").is_valid(wrong)
    value["rules"][0]["checks"][0].pop("sent")
    assert not schema("result").is_valid(value)
    assert not schema("stream").is_valid({"event": "over"})


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_files_that_say_so(number: signal.Signals, tmp_path: Path) -> None:
    stream, report = tmp_path / "run.jsonl", tmp_path / "run.json"
    arguments = ("run", "python:tests.providers:oracle", "--rules", "R013", "-n", "0", "--stream", str(stream))
    command = [sys.executable, "-m", "conformance.cli", *arguments, "--report", f"json:{report}"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hears_ctrl_c
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and not (stream.exists() and '"check"' in stream.read_text("ascii")):
        time.sleep(0.05)
    process.send_signal(number)
    said = process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 3), said
    for file in (stream, report):
        found = read_result(file)
        assert (found.complete, found.exit_code()) == (False, 3)
        assert any("did not reach its end" in line or "interrupted" in line for line in found.trouble)
    assert len(read_result(stream).checks) >= 1
