"""Recorded calls judged by two bundles: one's own files, and the recording of a run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.errors import BadUsage
from conformance.gate.transcripts import recorded, transcripts_changed
from conformance.wire.bundle import Bundle, load
from tests.changed_bundles import changed_bundle, member

ENSURE = "memory.subjects.ensure"
REQUEST = {"space_id": "s", "idempotency_key": "k", "subject_id": "u"}
REFUSED = {"error": {"code": "NOT_FOUND", "message": "", "extensions": {}}}


def _call(payload: Any, answer: Any, op: str = ENSURE, **more: Any) -> dict[str, Any]:
    return {"op": op, "flags": ["spoke-memory"], "payload": payload, "answer": answer, **more}


@pytest.fixture
def new(tmp_path: Path) -> Bundle:
    def renamed(table: Any) -> None:
        next(row for row in table["codes"] if row["symbol"] == "not_authorized")["code"] = "FORBIDDEN"

    required = member("mood", {"type": "string"}, required=True)
    return load(changed_bundle(tmp_path / "new", {"ops/memory-subjects-ensure-request": required, "errors": renamed}))


def test_a_verdict_that_differs_is_told_with_its_call(tmp_path: Path, new: Bundle) -> None:
    forbidden = {"error": {**REFUSED["error"], "code": "NOT_AUTHORIZED"}}
    calls = [
        _call(REQUEST, REFUSED),
        _call({**REQUEST, "mood": "calm"}, REFUSED),
        _call({}, {"answer": 1}, "memory.describe"),
        _call({"selection": 1}, None, "memory.nothing"),
        _call({}, forbidden, "memory.describe"),
        _call({}, REFUSED, "control.reset"),
    ]
    (tmp_path / "calls.json").write_text(json.dumps(calls), "utf-8")
    judged, changed, unknown = transcripts_changed(tmp_path / "calls.json", load(), new)
    assert (judged, unknown) == (5, [])
    assert changed == [
        f"calls.json:1/0 {ENSURE}: well formed → request breaks required at /",
        f"calls.json:1/1 {ENSURE}: request breaks additionalProperties at / → well formed",
        "calls.json:1/4 memory.describe: well formed → answer with an unknown code",
    ]
    assert transcripts_changed(tmp_path / "calls.json", load(), load())[1] == []


def test_a_folder_and_lines_and_gzip(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(_call(REQUEST, REFUSED)) for _ in range(3))
    (tmp_path / "a.jsonl").write_text(lines, "utf-8")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "notes.txt").write_text("no calls", "utf-8")
    assert len(list(recorded(tmp_path))) == 6


def test_a_recording_of_a_run_is_read_check_by_check(tmp_path: Path, new: Bundle) -> None:
    recording = tmp_path / "run.gz"
    assert main(["run", "--rules", "R008", "--profile", "smoke", "-n", "0", "-q", "--record", str(recording)]) == 0
    calls = list(recorded(recording))
    assert len(calls) > 10
    assert all("MEM-R008." in call.where for call in calls)
    assert all(call.answer is None or isinstance(call.answer, dict) for call in calls)
    judged, changed, _ = transcripts_changed(recording, load(), new)
    assert judged == len(calls)
    assert any(f" {ENSURE}: well formed → request breaks required" in line for line in changed)
    assert transcripts_changed(recording, load(), load())[1] == []


def test_calls_of_other_flags_and_silence(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    silent = {"call": {"op": ENSURE, "payload": REQUEST, "flags": []}, "answer": {"fault": "no answer", "silent": True}}
    path.write_text(json.dumps({"calls": [silent]}), "utf-8")
    (call,) = recorded(path)
    assert (call.answer, call.flags) == (None, frozenset())


@pytest.mark.parametrize("text", ["not json", "", "{"])
def test_what_holds_no_calls_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calls.json"
    path.write_text(text, "utf-8")
    if text:
        with pytest.raises(BadUsage, match="holds no recorded calls"):
            list(recorded(path))
    else:
        assert transcripts_changed(path, load(), load()) == (0, [], [f"{path}: no recorded call was found"])


def test_no_calls_are_no_evidence(tmp_path: Path) -> None:
    """Nothing judged never reads as "no change"."""
    (tmp_path / "calls").mkdir()
    asked = ["schemas", "diff", "packaged", "packaged", "--no-suite", "-q", "--transcripts", str(tmp_path / "calls")]
    assert main(asked) == 2
