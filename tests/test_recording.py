"""A run that was recorded is judged again without its provider; what does not fit the recording is told."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue import named
from conformance.exchange import Call, Reply
from conformance.levers import Home, Login
from conformance.playback import Departed, Playback
from conformance.recording import Aliases, BadRecording, Header, Recording, assemble, facts_to_json, section_file
from conformance.runner import Order, run
from conformance.target import Opened, open_target
from conformance.verdict import RunResult, Verdict
from conformance.wire.bundle import load

RULES = [named("R003"), named("R014")]
CHECK = "MEM-R001.x"
ORDERS = ("forwards", "backwards")


def recorded(path: Path, *, workers: int = 0, target: str = "oracle") -> RunResult:
    return run(Order(target, "smoke", workers=workers, record=str(path)), RULES)


def played(path: Path, **others: int) -> RunResult:
    return run(replace(Order("oracle", "smoke", playback=str(path)), **others), RULES)  # type: ignore[arg-type]


def shape(result: RunResult) -> list[tuple[str, Verdict, int, int]]:
    return [(check.check_id, check.verdict, check.calls, check.assertions) for check in result.checks]


def test_a_recording_is_judged_as_the_run_was_whatever_the_workers(tmp_path: Path) -> None:
    first = recorded(tmp_path / "a", workers=1)
    assert first.verdict is Verdict.PASS
    again = played(tmp_path / "a")
    assert shape(again) == shape(first)
    assert again.facts.provider == first.facts.provider
    recorded(tmp_path / "b")
    assert sections(tmp_path / "a") == sections(tmp_path / "b")


def test_no_request_and_no_judgement_depends_on_the_order_of_an_answers_members(tmp_path: Path) -> None:
    ahead, round_ = (run(Order(f"python:tests.orders:{name}", "smoke", record=str(tmp_path / name)), ()) for name in ORDERS)
    assert ahead.verdict is round_.verdict is Verdict.PASS
    assert [(check.check_id, check.sent) for check in ahead.checks] == [(check.check_id, check.sent) for check in round_.checks]
    assert shape(run(Order("x", "smoke", playback=str(tmp_path / "backwards")), ())) == shape(round_)


def sections(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode("ascii").splitlines()[1:]


def test_another_seed_is_no_playback_of_it(tmp_path: Path) -> None:
    recorded(tmp_path / "a")
    result = played(tmp_path / "a", seed=1)
    assert result.verdict is Verdict.SUITE_ERROR
    assert any("another request than the recorded" in check.reason or "recording" in check.reason for check in result.checks)


def test_the_failures_of_a_faulty_provider_are_played_too(tmp_path: Path) -> None:
    first = recorded(tmp_path / "a", target="python:tests.controls:breaks_everything")
    assert first.verdict is Verdict.FAIL
    again = run(Order("x", "smoke", playback=str(tmp_path / "a")), RULES)
    assert [check.verdict for check in again.checks] == [check.verdict for check in first.checks]


def test_no_credential_is_in_a_recording(tmp_path: Path) -> None:
    recorded(tmp_path / "a")
    text = gzip.decompress((tmp_path / "a").read_bytes()).decode()
    opened = open_target("oracle", bundle=load()).open()
    given = opened.shim.send(Call("control.principal", {}))
    assert given.payload["credential"] not in text
    assert '"as": "credential-0001"' in text
    assert '"as": null' in text
    assert '"as": "(no credential)"' in text


class Scripted:
    """Answers as told; gives out credentials."""

    shared = False

    def __init__(self, *answers: Reply) -> None:
        self._answers = list(answers)

    def send(self, call: Call) -> Reply:
        return self._answers.pop(0)

    def send_all(self, calls: list[Call]) -> list[Reply]:
        return [self.send(call) for call in calls]

    def restart(self) -> bool:
        return True

    def close(self) -> None:
        return None


def script(tmp_path: Path) -> Playback:
    """Record a provision, a call, two calls at once and a restart, and open the file."""
    facts = open_target("oracle", bundle=load()).open().facts
    answers = [
        Reply({"space_id": "s", "root": {"principal_id": "p", "credential": "hush-hush"}}),
        *[Reply({"n": n}) for n in range(3)],
    ]
    opened = Opened(Scripted(*answers), facts, (Home("h", Login("q", "home-secret"), shared=True),))  # type: ignore[arg-type]
    recording = Recording(opened.shim, opened, CHECK, section_file(tmp_path, "node"))
    for call in CALLS[:2]:
        recording.send(call)
    recording.send_all(CALLS[2:])
    recording.restart()
    recording.close()
    assemble(tmp_path / "file", Header({}, facts_to_json(facts), (), "", ""), tmp_path, [(CHECK, "node"), ("lost", "lost")])
    return Playback(tmp_path / "file")


CALLS = [
    Call("control.provision", {}),
    Call("memory.describe", {"who": "hush-hush", "deep": ["Bearer hush-hush!"]}, "hush-hush"),
    Call("memory.a", {}, "hush-hush", frozenset({"f"})),
    Call("memory.b", {}, None),
]


def as_played(call: Call) -> Call:
    text = json.dumps(call.payload).replace("hush-hush", "credential-0002")
    return replace(call, payload=json.loads(text), credential=call.credential and "credential-0002")


def test_calls_are_answered_in_their_order(tmp_path: Path) -> None:
    opened = script(tmp_path).open(CHECK)
    assert opened.homes == (Home("h", Login("q", "credential-0001"), shared=True),)
    provision, call, *both = map(as_played, CALLS)
    assert opened.shim.send(provision).payload["root"]["credential"] == "credential-0002"
    assert opened.shim.send(call).payload == {"n": 0}
    assert [reply.payload for reply in opened.shim.send_all(both) if isinstance(reply, Reply)] == [{"n": 1}, {"n": 2}]
    assert opened.shim.restart()
    text = gzip.decompress((tmp_path / "file").read_bytes()).decode()
    assert "hush" not in text
    assert "home-secret" not in text


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (Call("control.hello", {}), "line 2: control.hello with another request than the recorded control.provision"),
        (Call("control.provision", {"a": 1}), "line 2: control.provision with another request"),
        (Call("control.provision", {}, "x"), "line 2: control.provision with another request"),
        (Call("control.provision", {}, None, frozenset({"f"})), "line 2: control.provision with another request"),
    ],
)
def test_another_request_is_refused_with_its_place(call: Call, said: str, tmp_path: Path) -> None:
    opened = script(tmp_path).open(CHECK)
    with pytest.raises(Departed, match=said):
        opened.shim.send(call)


def test_more_or_less_than_was_recorded_is_refused(tmp_path: Path) -> None:
    playback = script(tmp_path)
    with pytest.raises(Departed, match="knows no check y"):
        playback.open("y")
    shim = playback.open(CHECK).shim
    with pytest.raises(Departed, match="the recording goes on"):
        shim.over()  # type: ignore[attr-defined]
    shim = playback.open(CHECK).shim
    with pytest.raises(Departed, match="a restart, and the recording has"):
        shim.restart()
    shim = playback.open(CHECK).shim
    for call in map(as_played, CALLS[:2]):
        shim.send(call)
    with pytest.raises(Departed, match="1 calls at the same time, 2 are recorded"):
        shim.send_all([as_played(CALLS[2])])


def test_a_broken_file_is_told_in_one_sentence(tmp_path: Path) -> None:
    playback, file = script(tmp_path), tmp_path / "file"
    whole = file.read_bytes()
    for broken in (
        b"",
        b"text",
        whole[:40],
        gzip.compress(b"[1]\n"),
        gzip.compress(b'{"recording": 0}\n'),
        gzip.compress(b"{}\n"),
    ):
        file.write_bytes(broken)
        with pytest.raises(BadRecording, match=r"^\S+: .*\.$"):
            Playback(file)
    start = playback.sections[0].start
    file.write_bytes(whole[: start + 30] + bytes(40) + whole[start + 70 :])
    with pytest.raises(Departed, match="is broken"):
        Playback(file).open(CHECK)


def test_credentials_are_called_by_names() -> None:
    aliases = Aliases()
    for number in range(40):
        aliases.learn(f"secret-{number}")
    aliases.learn("x")
    assert aliases.written({"a": "secret-1 and x", "b": "x", "c": ["secret-39y"]}) == (
        '{"a": "credential-0002 and x", "b": "credential-0041", "c": ["credential-0040y"]}'
    )
    assert (aliases.shown("secret-0"), aliases.shown("nothing"), aliases.shown(None)) == (
        "credential-0001",
        "(no credential)",
        None,
    )
