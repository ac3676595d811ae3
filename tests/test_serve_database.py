"""``serve --db``: what was acknowledged is in the file, and the file is nobody else's."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.catalogue import named
from conformance.cli import main
from conformance.errors import BadUsage, TargetFault
from conformance.exchange import Call, Reply
from conformance.levers import Levers, control, hello
from conformance.oracle.state import State
from conformance.runner import Order, run
from conformance.serving.database import APPLICATION, FORMAT, Database
from conformance.serving.durable import Durable
from conformance.target import open_target
from conformance.transport.http import Http
from conformance.transport.in_process import InProcess
from conformance.transport.started import Server, running
from conformance.transport.stdio import Stdio
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from tests.ports import free_port
from tests.served import ROOT

CONTRACT = bundle.load()
FLAGS = frozenset(CONTRACT.flag(flag) for flag in Flag)
COMMAND = (sys.executable, "-m", "conformance.cli", "serve")
TOKEN = "a token of this test"
CALLS = 30
"""So many are in flight at a restart; which of them a crash meets is nobody's to say, so it is sent at each place in turn."""


def bench_on(shim: Any) -> Bench:
    return Bench(shim, CONTRACT, hello(shim))


def plain(state: State) -> State:
    """Give a state with every space read."""
    return state._replace(spaces=dict(state.spaces.items()))  # type: ignore[arg-type]


def reopened(path: Path) -> State:
    file = Database(path)
    state = plain(file.read()[0])
    file.close()
    return state


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def test_the_file_holds_all_that_every_operation_changed(path: Path) -> None:
    durable = Durable(path, CONTRACT)
    worlds = [(world, world.root.accepted(call)) for world, _, call in scenes.each(bench_on(InProcess(durable)))]
    durable.control("control.hold", {"hold": True})
    for world, _ in worlds:
        world.root.send("exports.create")
    live = plain(durable.state)
    durable.close()
    assert len(live.spaces) == 34
    assert len(live.waiting) == 33
    assert live == reopened(path)


def test_an_activation_takes_out_of_the_file_what_it_took_out_of_the_space(path: Path) -> None:
    durable = Durable(path, CONTRACT)
    world = bench_on(InProcess(durable)).world()
    import_id = scenes.staged(world)
    record_id = world.root.create()
    scenes.freeze(world)
    world.root.do("imports.activate", import_id=import_id, expected_authority_generation=1)
    world.root.refused("records.get", Code.NOT_FOUND, record_id=record_id)
    live = plain(durable.state)
    durable.close()
    assert live == reopened(path)


def test_a_read_and_a_refusal_write_nothing(path: Path) -> None:
    durable = Durable(path, CONTRACT)
    world = bench_on(InProcess(durable)).world()
    record_id = world.root.create()
    wal = path.with_name(f"{path.name}-wal")
    size = wal.stat().st_size
    world.root.read(record_id)
    world.root.refused("records.delete", Code.NOT_FOUND, record_id="x", expected_revision=1)
    assert wal.stat().st_size == size
    world.root.do("records.delete", record_id=record_id, expected_revision=1)
    assert wal.stat().st_size > size
    durable.close()


def test_what_cannot_be_written_was_not_done(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    durable = Durable(path, CONTRACT)
    world = bench_on(InProcess(durable)).world()
    world.scope()
    call = world.root.call("records.create", kind="n", content={"text": "a"}, scope=world.scope())
    state, clock = durable.state, durable.clock.save()["stopped"]

    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_write", full)
        with pytest.raises(sqlite3.OperationalError):
            durable.call(call.credential, call.flags, call.op, call.payload)
        for lever, payload in (
            ("provision", {}),
            ("clock", {"set": "2999-01-01T00:00:00Z", "frozen": True}),
            ("hold", {"hold": True}),
        ):
            with pytest.raises(sqlite3.OperationalError):
                durable.control(f"control.{lever}", payload)
    assert durable.state is state
    assert (durable.clock.save()["stopped"], durable.holds) == (clock, False)
    assert world.root.do("records.list", selection=world.everything())["total_authorized"] == 0
    world.root.accepted(call)
    durable.close()


def _text(path: Path) -> None:
    path.write_text("no database at all, but long enough to look like one" * 20, "utf-8")


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE t (x)")
    file.close()


def _newer(path: Path) -> None:
    Durable(path, CONTRACT).close()
    file = sqlite3.connect(path)
    file.execute(f"PRAGMA user_version = {FORMAT + 1}")
    file.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Path.mkdir, "cannot be opened"),
        (_text, "is no database"),
        (_foreign, "holds something else"),
        (_newer, f"has format {FORMAT + 1}"),
        (lambda path: path.joinpath("x"), "cannot be opened"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_sentence(
    path: Path, make: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = make(path) or path
    for way in (["--stdio"], ["--http", "0"]):
        assert main(["serve", "--db", str(named), *way]) == 3
        assert re.fullmatch(rf"memory-conformance: --db {named}: [^\n]*{said}[^\n]*\.\n", capsys.readouterr().err)


def test_a_file_is_one_process_s(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.serving.database.WAIT_SECONDS", 0.1)
    durable = Durable(path, CONTRACT)
    with pytest.raises(BadUsage, match="another process has the file"):
        Durable(path, CONTRACT)
    durable.close()
    Durable(path, CONTRACT).close()


def test_an_empty_file_is_taken_and_marked(path: Path) -> None:
    path.touch()
    Durable(path, CONTRACT).close()
    assert int.from_bytes(path.read_bytes()[68:72], "big") == APPLICATION


def test_another_provider_keeps_its_own_file(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "python:tests.served:ticking", "--db", str(path), "--stdio"]) == 3
    assert "--db is the file of the bundled provider" in capsys.readouterr().err


# -- over a transport: killed, and there again


@pytest.fixture
def stdio(path: Path) -> Iterator[Stdio]:
    made = Stdio([*COMMAND, "--stdio", "--db", str(path)], deadline=20, cwd=ROOT)
    yield made
    made.close()


@pytest.fixture
def http(path: Path) -> Iterator[Http]:
    port = free_port()
    server = Server(
        (*COMMAND, "--http", str(port), "--db", str(path)), (), re.compile("serving on"), {"MEMORY_HARNESS_TOKEN": TOKEN}, ROOT
    )
    with running(server):
        made = Http(f"http://127.0.0.1:{port}", deadline=20, token=TOKEN)
        yield made
        made.close()


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_state_clock_and_hold_outlive_a_kill(way: str, request: pytest.FixtureRequest) -> None:
    shim = request.getfixturevalue(way)
    levers = Levers(shim, hello(shim))
    world = bench_on(shim).world()
    world.scope()
    before = world.snapshot()
    levers.set_clock("2999-01-01T00:00:00.5Z")
    levers.hold(True)
    for _ in range(2):  # the clock stands still: an instance must not be named by the time alone
        levers.restart()
    assert world.snapshot() == before
    assert control(shim, "clock", {})["now"] == "2999-01-01T00:00:00.5Z"
    assert world.root.send("exports.create").payload["receipt"]["state"] == "pending"
    levers.restart()
    levers.hold(False)
    assert scenes.space(world)["pending_receipts"] == 0


def test_a_restart_over_http_leaves_calls_in_flight_without_an_answer(http: Http) -> None:
    world = bench_on(http).world()
    assert any(unanswered_at_a_restart(http, world, place) for place in range(CALLS))


def unanswered_at_a_restart(http: Http, world: World, place: int) -> int:
    scope, before = world.scope(), world.root.do("records.list", selection=world.everything())["total_authorized"]
    calls = [world.root.call("records.create", kind="n", content={"text": f"{n}"}, scope=scope) for n in range(CALLS)]
    outcomes = http.send_all([*calls[:place], Call("control.restart", {"crash": True}), *calls[place:]])
    crash = outcomes.pop(place)
    assert isinstance(crash, Reply)
    assert crash.ok
    answered = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    assert {outcome.code for outcome in answered} <= {None}
    known = {outcome.payload["receipt"]["receipt_id"] for outcome in answered}
    receipts = {world.root.accepted(call)["receipt_id"] for call in calls}
    assert known <= receipts
    assert world.root.do("records.list", selection=world.everything())["total_authorized"] == before + len(calls)
    return sum(isinstance(outcome, TargetFault) for outcome in outcomes)


def test_a_restart_that_asks_for_something_unknown_is_refused(http: Http) -> None:
    before = hello(http).instance
    for payload in ({"x": 1}, {"crash": 1}, {"crash": True, "x": 1}):
        assert http.send(Call("control.restart", payload)).code == CONTRACT.code(Code.MALFORMED_REQUEST)
    assert hello(http).instance == before


def test_a_durable_provider_is_a_target(path: Path) -> None:
    target = open_target(f"stdio:{' '.join(COMMAND)} --stdio --db {path}", bundle=CONTRACT)
    first = target.open().facts.instance
    target.close()
    assert target.open().facts.instance != first
    target.close()


def test_two_workers_on_one_file_are_told_what_to_do(path: Path) -> None:
    result = run(Order(f"stdio:{' '.join(COMMAND)} --stdio --db {path}", "smoke", workers=2), [named("R007")])
    assert result.exit_code() == 3
    [told] = [said for said in result.trouble if said.startswith("a worker could not begin")]
    assert "-n 1" in told
    assert "another process has the file" in told
