"""A counterexample is sent again: FIXED, FAILED or ERROR, on any target, from a file that was made by anybody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.counterexample import DIGEST, Counterexample, Expectation, Kind, Party
from conformance.replay import BadCounterexample, Replayed, Status, read_counterexample
from conformance.transport.started import Server, running
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code
from reports.shell import curl_lines, json_lines
from reports.words import expected
from tests.ports import free_port
from tests.served import ROOT
from tests.test_http import READY, TOKEN
from tests.travelling import (
    CONTRACT,
    CREATED,
    ENSURED,
    FAULT,
    MOVED,
    PROMOTED,
    READ,
    WRITTEN,
    example,
    refused,
    said,
)

SIZE = Expectation(Kind.AT_MOST, 2, pointer="/record/revision", value=1)
TEXT = Expectation(Kind.MEMBER, 2, pointer="/record/content/text", value="it's $5, \\(a)")


def saved(path: Path, found: Counterexample) -> str:
    path.write_text(json.dumps(found.to_json()), "utf-8")
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return saved(tmp_path / "promoted.mem.json", PROMOTED)


# -- the command


@pytest.mark.parametrize(("target", "code", "status"), [("oracle", 0, "FIXED"), (FAULT, 1, "FAILED")])
def test_it_tells_calls_answers_and_what_came_of_it(
    file: str, target: str, code: int, status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", file, "--target", target]) == code
    told = capsys.readouterr().out.splitlines()
    assert told[-1].split() == [status, file]
    assert [line.split(":")[1].split()[0] for line in told if ": memory." in line] == [each.op for each in PROMOTED.calls]
    assert "     -> committed record $record1 at 1" in told
    assert sum(line.startswith("     -> ") for line in told) == 3
    assert f"  expected: call 3 is refused with {CONTRACT.code(Code.INVALID_VALUE)}" in told
    assert any(line.startswith("  seen: ") for line in told) == (status == "FAILED")


def test_the_worst_of_several_files_decides(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = said("records.get", "", {"record": {}}, record_id="nobody")
    stuck = saved(tmp_path / "stuck.mem.json", example(ENSURED, lost, READ, WRITTEN, expectation=Expectation(Kind.ACCEPTED, 3)))
    assert main(["replay", "-q", file, stuck]) == 3
    fixed, error = capsys.readouterr().out.splitlines()
    assert fixed.startswith("FIXED")
    assert error.startswith("ERROR")
    assert main(["replay", "-q", file, file, "--target", FAULT]) == 1


@pytest.mark.parametrize("loudness", ["-v", "-q"])
def test_it_tells_more_or_less(file: str, loudness: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", loudness, file]) == 0
    told = capsys.readouterr().out
    assert ("idempotency_key" in told) == (loudness == "-v")
    assert (len(told.splitlines()) == 1) == (loudness == "-q")


# -- what comes of it


def outcome(found: Counterexample, target: str, directory: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the status line's first word, and the reason."""
    main(["replay", "-q", saved(directory / "x.mem.json", found), "--target", target])
    line = capsys.readouterr().out.strip()
    return f"{line.split()[0]}{line.partition('.mem.json')[2]}"


CASES: Mapping[str, tuple[Counterexample, str]] = {
    "accepted": (example(ENSURED, WRITTEN, expectation=Expectation(Kind.ACCEPTED, 1)), "FIXED"),
    "not accepted": (replace(PROMOTED, expectation=Expectation(Kind.ACCEPTED, 2)), "FAILED"),
    "another code": (replace(PROMOTED, expectation=Expectation(Kind.REFUSED, 2, (CONTRACT.code(Code.NOT_FOUND),))), "FAILED"),
    "one of some codes": (
        replace(
            PROMOTED,
            expectation=Expectation(Kind.REFUSED, 2, (CONTRACT.code(Code.NOT_FOUND), CONTRACT.code(Code.INVALID_VALUE))),
        ),
        "FIXED",
    ),
    "a text": (example(ENSURED, WRITTEN, READ, expectation=TEXT), "FIXED"),
    "another text": (example(ENSURED, WRITTEN, READ, expectation=replace(TEXT, value="b")), "FAILED"),
    "its own id": (
        example(ENSURED, WRITTEN, READ, expectation=replace(TEXT, pointer="/record/record_id", value="$record1")),
        "FIXED",
    ),
    "another's id": (
        example(ENSURED, WRITTEN, READ, expectation=replace(TEXT, pointer="/record/record_id", value="$space")),
        "FAILED",
    ),
    "there is none": (example(ENSURED, WRITTEN, READ, expectation=Expectation(Kind.ABSENT, 2, pointer="/record/odd")), "FIXED"),
    "there is one": (example(ENSURED, WRITTEN, READ, expectation=Expectation(Kind.ABSENT, 2, pointer="/record")), "FAILED"),
    "fresh": (example(ENSURED, WRITTEN, expectation=Expectation(Kind.FRESH, 1, pointer="/receipt/receipt_id")), "FIXED"),
    "not fresh": (example(ENSURED, ENSURED, expectation=Expectation(Kind.FRESH, 1, pointer="/receipt/receipt_id")), "FAILED"),
    "the same": (example(ENSURED, ENSURED, expectation=Expectation(Kind.SAME, 1, pointer="/receipt", other=0)), "FIXED"),
    "not the same": (example(ENSURED, WRITTEN, expectation=Expectation(Kind.SAME, 1, pointer="/receipt", other=0)), "FAILED"),
    "of the form": (example(ENSURED, expectation=Expectation(Kind.FORM, 0)), "FIXED"),
    "at most": (
        example(ENSURED, WRITTEN, READ, expectation=SIZE),
        "FIXED",
    ),
    "more": (
        example(ENSURED, WRITTEN, READ, expectation=replace(SIZE, value=0)),
        "FAILED",
    ),
    "one of one": (example(ENSURED, WRITTEN, expectation=Expectation(Kind.ONE_COMMITS, 1, calls=(1,))), "FIXED"),
    "two of two": (example(ENSURED, WRITTEN, expectation=Expectation(Kind.ONE_COMMITS, 1, calls=(0, 1))), "FAILED"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_expected_decides(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, status = CASES[name]
    assert outcome(found, "oracle", tmp_path, capsys) == status


def test_every_kind_is_said_in_words() -> None:
    said_so = [expected(Expectation(kind, 0, ("a",), pointer="/b", calls=(0, 1))) for kind in Kind]
    assert len(set(said_so)) == len(Kind)


STRAYED: Mapping[str, tuple[Counterexample, str]] = {
    "a symbol of nothing": (
        example(ENSURED, MOVED, expectation=Expectation(Kind.ACCEPTED, 1)),
        "nothing on this target is $record1",
    ),
    "a way that only the fault goes": (
        example(ENSURED, WRITTEN, MOVED, READ, expectation=Expectation(Kind.ACCEPTED, 3)),
        f"call 3 was refused with {CONTRACT.code(Code.INVALID_VALUE)}, otherwise than when this was found",
    ),
    "a refusal that is none here": (
        example(ENSURED, replace(WRITTEN, answer=refused(Code.NOT_FOUND)), READ, expectation=Expectation(Kind.ACCEPTED, 2)),
        "call 2 succeeded, otherwise than when this was found",
    ),
    "a control that is not offered": (
        replace(PROMOTED, controls=("teleport",)),
        "the target does not offer control.teleport",
    ),
    "a flag that is not declared": (replace(PROMOTED, flags=("flying",)), "the target does not offer the flag flying"),
}


@pytest.mark.parametrize("name", STRAYED)
def test_what_does_not_get_as_far_is_an_error(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, why = STRAYED[name]
    assert outcome(found, "oracle", tmp_path, capsys) == f"ERROR: {why}"


def test_a_right_provider_may_go_the_way_that_was_seen_on_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    also = replace(MOVED, also=CONTRACT.code(Code.INVALID_VALUE))
    found = example(ENSURED, WRITTEN, also, READ, expectation=Expectation(Kind.MEMBER, 3, pointer="/record/revision", value=1))
    assert outcome(found, "oracle", tmp_path, capsys) == "FIXED"
    assert outcome(found, FAULT, tmp_path, capsys) == "FAILED"


ADMITS_ALL = "python:tests.faults:r003_empty_credential_is_root"


@pytest.mark.parametrize(("target", "status"), [("oracle", "FIXED"), (ADMITS_ALL, "FAILED")])
def test_what_only_its_check_can_tell_is_told_by_it(
    target: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = "MEM-R003.unauthenticated_call_leaves_no_trace"
    found = replace(PROMOTED, rule="MEM-R003", calls=(), expectation=Expectation(Kind.CHECK), check=check, profile="smoke")
    assert outcome(found, target, tmp_path, capsys).startswith(status)
    gone = outcome(replace(found, check="MEM-R003.gone"), target, tmp_path, capsys)
    assert gone == "ERROR: this suite has no check MEM-R003.gone"


# -- files


def changed(change: Callable[[dict[str, Any]], Any]) -> str:
    value = json.loads(json.dumps(PROMOTED.to_json()))
    change(value)
    return json.dumps(value)


BROKEN: Mapping[str, tuple[str, str]] = {
    "no JSON": ("{", "it is no JSON"),
    "a list": ("[]", "at /: "),
    "another format": (changed(lambda value: value.update(format=2)), "at /format: "),
    "no calls": (changed(lambda value: value.pop("calls")), "'calls' is a required"),
    "a member too many": (changed(lambda value: value.update(odd=1)), "'odd' was unexpected"),
    "no such rule": (changed(lambda value: value.update(rule="MEM-R999")), "at /rule: there is no rule MEM-R999"),
    "no such kind": (changed(lambda value: value["expectation"].update(kind="odd")), "at /expectation/kind: "),
    "no such call": (changed(lambda value: value["expectation"].update(call=3)), "at /expectation/call: there are only 3 calls"),
    "no such calls": (
        changed(lambda value: value["expectation"].update(kind="one_commits", calls=[0, 7])),
        "at /expectation/calls: there are only 3 calls",
    ),
    "no such caller": (changed(lambda value: value["calls"][1].update(caller="x")), "at /calls/1/caller: there is no caller 'x'"),
    "no such space": (changed(lambda value: value["callers"][0].update(space="$x")), "at /callers/0/space: there is no space $x"),
    "a pointer that is none": (changed(lambda value: value["expectation"].update(pointer="x")), "at /expectation/pointer: "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence_and_exit_3(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, why = BROKEN[name]
    (tmp_path / "x.mem.json").write_text(text, "utf-8")
    assert main(["replay", str(tmp_path / "x.mem.json")]) == 3
    told = capsys.readouterr().err
    assert why in told
    assert len(told.splitlines()) == 1
    assert "Traceback" not in told


def test_a_file_that_is_not_there_and_a_wrong_target_are_told(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(tmp_path / "none")]) == 3
    assert "cannot be read: No such file" in capsys.readouterr().err
    assert main(["replay", file, "--target", "nothing:x"]) == 3
    assert "there is no target kind" in capsys.readouterr().err
    assert main(["replay"]) == 3


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    rich = replace(PROMOTED, materials={"$chunk1": {"digest": DIGEST}}, seen=["a"], runs=3, failed=2, seed=7)
    assert read_counterexample(Path(saved(tmp_path / "x.mem.json", rich))) == rich
    assert rich.flaky
    with pytest.raises(BadCounterexample, match=r"^.*\.$"):
        read_counterexample(tmp_path)


def test_what_comes_of_it_has_a_default() -> None:
    assert Replayed(Status.FIXED) == Replayed(Status.FIXED, "", (), None)


# -- lines for a shell


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """Give the addresses of the right provider and the faulty one, served over HTTP."""
    ports = {"oracle": free_port(), FAULT: free_port()}
    commands = {
        name: (sys.executable, "-m", "conformance.cli", "serve", name, "--http", str(port)) for name, port in ports.items()
    }
    right, faulty = (Server(command, (), READY, {"MEMORY_HARNESS_TOKEN": TOKEN}, ROOT) for command in commands.values())
    with running(right), running(faulty):
        yield {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}


def bash(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MEMORY_HARNESS_TOKEN": TOKEN}
    return subprocess.run(["bash", *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False)


def sent(found: Counterexample, base: str, directory: Path) -> list[Any]:
    """Run the script and return the answers that it printed."""
    script = directory / "script"
    script.write_text("\n".join(curl_lines(found)), "utf-8")
    ran = bash("-eu", script, base)
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize(("target", "refusal"), [("oracle", CONTRACT.code(Code.INVALID_VALUE)), (FAULT, None)])
def test_the_script_shows_what_the_replay_shows(
    addresses: dict[str, str], target: str, refusal: str | None, tmp_path: Path
) -> None:
    ensured, written, moved = sent(PROMOTED, addresses[target], tmp_path)
    assert ensured["receipt"]["state"] == written["receipt"]["state"] == "committed"
    assert moved.get("error", {}).get("code") == refusal


def test_the_script_sends_texts_as_they_are_and_calls_together(addresses: dict[str, str], tmp_path: Path) -> None:
    twins = [
        replace(said("subjects.ensure", key, CREATED, subject_id=name), together=1) for key, name in (("a", "x"), ("b", "y"))
    ]
    found = example(ENSURED, WRITTEN, READ, *twins, expectation=TEXT)
    answers = sent(found, addresses["oracle"], tmp_path)
    assert answers[2]["record"]["content"]["text"] == TEXT.value
    assert [answer["receipt"]["affected"][0]["id"] for answer in answers[3:]] == ["x", "y"]


def test_the_script_knows_other_callers_instants_and_who_shows_nothing(addresses: dict[str, str], tmp_path: Path) -> None:
    ada, nobody = Party("p1", "$p1", "", "${p1}"), Party("stranger", "", "", None)
    granted = said(
        "grants.grant",
        "k2",
        CREATED,
        grantee_id="$p1",
        shared_access="none",
        capabilities=["recall"],
        expires_at="$start+60.25",
        names={"$grant1": "/receipt/affected/0/id"},
    )
    mine = said("subjects.get", "", subject_id="u1", by="p1")
    every = said("grants.list", "", view="admin")
    unknown = said("grants.list", "", view="own", by="stranger")
    found = example(
        granted, mine, every, unknown, expectation=Expectation(Kind.ACCEPTED, 1), callers=(PROMOTED.callers[0], ada, nobody)
    )
    receipt, refusal, grants, error = sent(found, addresses["oracle"], tmp_path)
    (grant,) = [one for one in grants["grants"] if one["grant_id"] == receipt["receipt"]["affected"][0]["id"]]
    assert refusal["error"]["code"] != error["error"]["code"]
    assert grant["expires_at"].endswith(".25Z")
    assert error["error"]["code"] == CONTRACT.code(Code.NOT_AUTHENTICATED)


def test_the_script_seals_materials_anew(addresses: dict[str, str], tmp_path: Path) -> None:
    sealed = {"$bundle1": {"digest": DIGEST, "of": "$space"}}
    call = replace(said("imports.stage", "k1", bundle="$bundle1"), malformed=True)
    found = example(call, expectation=Expectation(Kind.ACCEPTED), materials=sealed)
    lines = list(curl_lines(found))
    at = next(number for number, line in enumerate(lines) if line.startswith("bundle1=$(sealed digest"))
    (tmp_path / "script").write_text("\n".join([*lines[: at + 1], 'echo "$bundle1"; echo "$space"']), "utf-8")
    ran = bash(tmp_path / "script", addresses["oracle"])
    made, space = map(json.loads, ran.stdout.splitlines())
    assert made["of"] == space
    assert made == {"of": space, "digest": digest(made, without="digest")}


def test_json_lines_are_what_is_sent_over_stdio() -> None:
    lines = list(json_lines(PROMOTED))
    told = [json.loads(line) for line in lines if not line.startswith("#")]
    assert [each.get("op", each.get("control")) for each in told] == ["control.provision", *(each.op for each in PROMOTED.calls)]
    assert [each["id"] for each in told] == [1, 2, 3, 4]
    assert told[3]["payload"]["record_id"] == "$record1"
    assert "# of answer 3: $record1 is /payload/receipt/affected/0/id" in lines
    assert any(line.startswith("# of answer 1: $space is /payload/space_id, $root is") for line in lines)


@pytest.mark.parametrize("form", ["curl", "stdio"])
def test_the_command_prints_lines_and_sends_nothing(file: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", file, "--print", form, "--target", "nothing:x"]) == 0
    assert "memory.records.promote" in capsys.readouterr().out
