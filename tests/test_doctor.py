"""What people do with a target before they certify it: ``doctor`` and ``call``."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Flag
from tests.served import ROOT

CONTRACT = bundle.load()
CORE = CONTRACT.flag(Flag.CORE)


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(arguments)
    output = capsys.readouterr()
    return code, output.out, output.err


def test_the_doctor_finds_the_oracle_well(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(["doctor"], capsys)
    assert code == 0
    assert "memory.recall" in out
    assert "max_page" in out
    assert "lacking" not in out
    assert "The basic operations succeed." in out


def test_the_doctor_tells_what_is_lacking_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(["doctor", "python:tests.providers:PortWithLevers"], capsys)
    assert code == 1
    assert "control.provision is lacking: nearly everything is INCONCLUSIVE" in out
    assert "or name spaces in target.toml" in out
    assert "control.principal is lacking" not in out
    assert f"{CONTRACT.flag(Flag.TRANSFER)} is lacking" in out


def test_the_doctor_blames_a_provider_that_dies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.toml"
    space = 'spaces = [{ space_id = "s", root = { principal_id = "p", credential = "c" } }]'
    file.write_text(f'target = "stdio:{sys.executable} -m tests.hostile exits {CORE}"\ndeadline = 5\n{space}\n', "utf-8")
    code, out, _ = said(["doctor", str(file)], capsys)
    assert code == 1
    assert "the process ended" in out
    assert "put these right first" in out


def test_a_call_is_answered_and_found_right(capsys: pytest.CaptureFixture[str]) -> None:
    payload = {"space_id": "$space", "subject_id": "ada", "idempotency_key": "k"}
    code, out, err = said(["call", "oracle", "memory.subjects.ensure", json.dumps(payload)], capsys)
    answer = json.loads(out)
    assert code == 0
    assert CONTRACT.response("memory.subjects.ensure").accepts(answer)
    assert "error" not in answer
    assert "the answer is of the contract's form" in err


def test_a_call_that_breaks_its_schema_is_sent_all_the_same_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(["call", "oracle", "memory.capture", "{}"], capsys)
    assert code == 0
    assert json.loads(out)["error"]["code"] == CONTRACT.code(Code.MALFORMED_REQUEST)
    assert "the request breaks its schema at /: " in err


@pytest.mark.parametrize(
    ("options", "symbol"),
    [
        (["--as", ""], Code.NOT_AUTHENTICATED),
        (["--as", "x"], Code.NOT_AUTHENTICATED),
        (["--flags", ""], Code.FLAG_NOT_NEGOTIATED),
    ],
)
def test_who_calls_with_which_flags_can_be_said(options: list[str], symbol: Code, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(["call", "oracle", "memory.describe", *options], capsys)
    assert (code, json.loads(out)["error"]["code"]) == (0, CONTRACT.code(symbol))


def test_a_control_can_be_called_and_a_payload_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"advance_seconds": 5}'))
    code, out, _ = said(["call", "oracle", "control.clock", "-"], capsys)
    assert (code, list(json.loads(out))) == (0, ["now"])


def test_an_answer_that_breaks_the_contract_is_shown_and_is_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    target = f"stdio:{sys.executable} -m tests.hostile schema_invalid_success {CORE}"
    code, out, err = said(["call", target, "memory.describe", "--as", "c"], capsys)
    assert (code, json.loads(out)) == (1, {"nonsense": 1})
    assert "memory.describe: the answer breaks its response schema" in err


def test_a_payload_that_is_no_json_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(["call", "oracle", "memory.describe", "{"], capsys)
    assert (code, out) == (3, "")
    assert "the payload is not JSON" in err
