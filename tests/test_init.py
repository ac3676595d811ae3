"""What ``init`` writes: a provider that speaks the harness contract at once and is honest of what it lacks, in each language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.catalogue import named
from conformance.cli import main
from conformance.client import Client
from conformance.commands.init_options import LANGUAGES as OFFERED
from conformance.errors import TargetFault
from conformance.exchange import Call, Trace
from conformance.levers import control
from conformance.runner import Order, run
from conformance.skeleton import LANGUAGES, TARGET_FILE, skeleton
from conformance.target import Opened, open_target
from conformance.target_file import _READERS, TargetFile, read_target_file
from conformance.verdict import Verdict
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Flag
from strategies.json_values import LONE_SURROGATES
from strategies.negatives import breaking, targets
from strategies.requests import requests

CONTRACT = bundle.load()
DESCRIBE = "memory.describe"
CORE = CONTRACT.flag(Flag.CORE)
BROKEN = [target for target in targets(CONTRACT) if target.op == DESCRIBE]


@pytest.fixture(scope="module", params=LANGUAGES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let ``init`` write its files, and give the target file."""
    directory = tmp_path_factory.mktemp("made") / str(request.param)
    assert main(["init", str(directory), "--language", str(request.param)]) == 0
    return directory / TARGET_FILE


class Asking:
    """Sends calls to a provider that ``init`` wrote, as a principal of its own, and judges the form of each answer."""

    def __init__(self, opened: Opened) -> None:
        self._client = Client(opened.shim, CONTRACT)
        self.credential: str = control(opened.shim, "principal", {})["credential"]

    def code(
        self, op: str, payload: Any, *, credential: str | None = "own", flags: frozenset[str] = frozenset({CORE})
    ) -> str | None:
        shown = self.credential if credential == "own" else credential
        return self._client.send(Call(op, payload, shown, flags), Trace(), meant_invalid=True).code


@pytest.fixture(scope="module")
def ask(made: Path) -> Iterator[Asking]:
    target = open_target(str(made), bundle=CONTRACT)
    yield Asking(target.open())
    target.close()


def test_the_languages_offered_are_those_that_are_written() -> None:
    assert tuple(LANGUAGES) == OFFERED


def test_the_doctor_tells_what_works_and_what_comes_next(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(made)]) == 1
    said = capsys.readouterr().out
    assert re.search(r"memory\.describe +│ success", said)
    assert re.search(rf"memory\.spaces\.list +│ {CONTRACT.code(Code.UNKNOWN_OPERATION)}", said)
    assert "control.hold is lacking" in said
    assert "control.restart is lacking" not in said, "the suite restarts a stdio target itself"
    assert "put these right first" in said


def test_a_run_ends_with_honest_verdicts(made: Path) -> None:
    result = run(Order(str(made), "smoke", counterexamples=False))
    assert (result.trouble, result.verdict) == ((), Verdict.FAIL)
    verdicts = {rule.rule_id: rule.verdict for rule in result.rules}
    assert Verdict.SUITE_ERROR not in verdicts.values()
    assert verdicts[named("R002").rule_id] is Verdict.PASS
    assert verdicts[named("R027").rule_id] is Verdict.NOT_APPLICABLE
    failed = [check for check in result.checks if check.verdict is Verdict.FAIL]
    unserved = CONTRACT.code(Code.UNKNOWN_OPERATION)
    assert [check.check_id for check in failed if unserved not in {pair.code for pair in check.seen}] == []


def test_every_other_operation_is_refused_in_the_contracts_order(ask: Asking) -> None:
    for operation in CONTRACT.operations.values():
        if operation.name != DESCRIBE:
            served = operation.flag is Flag.CORE
            expected = Code.UNKNOWN_OPERATION if served else Code.FLAG_NOT_NEGOTIATED
            asked_for = frozenset({CORE, CONTRACT.flag(operation.flag)})
            assert ask.code(operation.name, {}, flags=asked_for) == CONTRACT.code(expected)
        assert ask.code(operation.name, {}, flags=frozenset()) == CONTRACT.code(Code.FLAG_NOT_NEGOTIATED)
        for credential in (None, "", "x", ask.credential + " "):
            assert ask.code(operation.name, {}, credential=credential) == CONTRACT.code(Code.NOT_AUTHENTICATED)
    for op in ("memory.nothing", "describe", "constructor", "__proto__", ""):
        assert ask.code(op, {}) == CONTRACT.code(Code.UNKNOWN_OPERATION)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_it_describes_itself_exactly_where_the_request_is_right(ask: Asking, data: st.DataObject) -> None:
    assert ask.code(DESCRIBE, data.draw(requests(CONTRACT, DESCRIBE))) is None
    edit = data.draw(st.sampled_from(BROKEN).flatmap(lambda target: breaking(CONTRACT, target)))
    assert ask.code(DESCRIBE, edit.request) == CONTRACT.code(Code.MALFORMED_REQUEST)


@pytest.mark.parametrize("body", [None, [], "", 0, True, {"extensions": None}, {"extensions": {"a": []}}, {"__proto__": {}}])
def test_a_body_of_another_shape_is_malformed(ask: Asking, body: Any) -> None:
    assert ask.code(DESCRIBE, body) == CONTRACT.code(Code.MALFORMED_REQUEST)


@pytest.mark.parametrize("text", LONE_SURROGATES)
def test_half_a_surrogate_pair_is_an_invalid_value(ask: Asking, text: str) -> None:
    for value in (text, [text], {text: 1}):
        assert ask.code(DESCRIBE, {"extensions": {"a": {"b": value}}}) == CONTRACT.code(Code.INVALID_VALUE)
    assert ask.code(DESCRIBE, {"extensions": {"a": {"b": "\U0001f600"}}}) is None


@pytest.mark.parametrize("levels", [60, 2_000, 20_000, 90_000])
def test_depth_does_it_no_harm(ask: Asking, levels: int) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    allowed = [None] if levels < 62 else [None, CONTRACT.code(Code.MALFORMED_REQUEST)]
    assert ask.code(DESCRIBE, {"extensions": {"a": {"b": value}}}) in allowed
    assert ask.code(DESCRIBE, {}) is None


def test_unknown_controls_are_refused_and_spaces_are_new(made: Path) -> None:
    target = open_target(str(made), bundle=CONTRACT)
    shim = target.open().shim
    homes = [control(shim, "provision", {}) for _ in range(2)]
    assert homes[0]["space_id"] != homes[1]["space_id"]
    assert homes[0]["root"] != homes[1]["root"]
    for name in ("clock", "constructor", "nothing"):
        with pytest.raises(TargetFault, match=CONTRACT.code(Code.UNKNOWN_OPERATION)):
            control(shim, name, {})
    target.close()


def test_nothing_is_overwritten(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {file.name: file.read_bytes() for file in made.parent.iterdir()}
    made.unlink()
    assert main(["init", str(made.parent), "--language", made.parent.name]) == 3
    assert re.fullmatch(r"memory-conformance: \S+: already there, and nothing was written: .*\.\n", capsys.readouterr().err)
    assert not made.exists()
    made.write_bytes(before[made.name])
    assert {file.name: file.read_bytes() for file in made.parent.iterdir() if file.is_file()} == before


@pytest.mark.parametrize("place", ["file", "file/inside", "/proc/nowhere"])
def test_where_nothing_can_be_written_is_told_in_one_sentence(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["init", str(tmp_path / place)]) == 3
    assert re.fullmatch(r"memory-conformance: \S+: it cannot be written: .*\.\n", capsys.readouterr().err)


def test_every_key_of_a_target_file_is_explained_by_an_example_that_is_right(tmp_path: Path) -> None:
    text = skeleton(LANGUAGES["python"], CONTRACT)[TARGET_FILE]
    file = tmp_path / TARGET_FILE
    file.write_text(text, "utf-8")
    plain = read_target_file(file)
    assert plain == TargetFile("stdio:python3 provider.py", cwd=tmp_path)
    told = re.sub(r"^# ((?:[a-z]+ = |  \{|\]).*)$", r"\1", text, flags=re.MULTILINE)
    assert set(tomllib.loads(told)) == set(_READERS)
    file.write_text(re.sub(r"^ca = .*$", "", told, flags=re.MULTILINE), "utf-8")
    assert read_target_file(file) != plain
