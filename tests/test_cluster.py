"""Fuzz on a cluster: a real scheduler, two real workers, one of which is killed in the midst of what it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.fuzz import cluster
from conformance.fuzz.cluster import Campaign, Shard
from conformance.fuzz.corpus import Corpus, Entry, open_corpus
from conformance.fuzz.crew import Outcome
from conformance.fuzz.findings import Finding
from conformance.fuzz.order import Order
from conformance.fuzz.work import News
from conformance.machine.walk import Leg
from tests.cluster_providers import PLACE
from tests.ports import free_port
from tests.test_fuzz import FINDING

ROOT = Path(__file__).parent.parent
TEMPLATE = "python:tests.cluster_providers:shard_{shard}"
Processes = list["subprocess.Popen[bytes]"]


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()
        process.wait()


def started(module: str, *arguments: str, place: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
    environment = {**os.environ, PLACE: str(place), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[str, Processes]]:
    """Start a scheduler and two workers; give its address and them."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    with ExitStack() as stack:
        scheduler = started("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), place=tmp_path)
        stack.enter_context(ended(scheduler))
        workers = [started("dask_worker", address, "--nthreads", "1", "--no-nanny", place=tmp_path) for _ in range(2)]
        for worker in workers:
            stack.enter_context(ended(worker))
        yield address, workers


@pytest.mark.filterwarnings("ignore")  # the library's own
def test_a_worker_that_is_killed_loses_nothing(
    machines: tuple[str, Processes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 90.0)  # a busy machine takes a while to start three processes
    address, workers = machines
    told: list[Finding] = []
    killed: list[int] = []

    def look(_outcome: Outcome, news: News) -> None:
        """Kill the worker of shard 1 as soon as it has found something."""
        if news.finding is None:
            return
        told.append(news.finding)
        if news.finding.rule == "MEM-R016" and not killed:
            killed.append(int((tmp_path / "1").read_text("ascii")))
            assert killed[0] in {worker.pid for worker in workers}
            os.kill(killed[0], signal.SIGKILL)

    corpus = open_corpus(tmp_path / "corpus")
    outcome = cluster.run(Order("", "cas", calls=300, workers=2), corpus, address, TEMPLATE, look)
    dead = next(worker for worker in workers if worker.pid in killed)
    assert dead.wait(10) == -signal.SIGKILL
    assert int((tmp_path / "1").read_text("ascii")) not in killed  # the other worker has taken the shard up
    assert (outcome.troubles, outcome.unusable) == ([], "")
    assert outcome.calls >= 300
    assert {finding.key for finding in told} == set(outcome.findings.found)
    assert {finding.rule for finding in told} == {"MEM-R016"}
    assert all(finding.counterexample is not None for finding in outcome.findings.found.values())
    assert open_corpus(tmp_path / "corpus").behaviours
    assert outcome.episodes == corpus.episodes > 0


def campaign(shards: int = 2) -> Campaign:
    return Campaign(None, Order("oracle", workers=shards, calls=100, first=40), Corpus(), None)


def test_news_that_comes_twice_counts_once_and_a_finding_is_reduced_once() -> None:
    leader, looked = campaign(), list[News]()
    one, other = Shard(0), Shard(1)
    news = News(calls=7, episodes=1, finding=FINDING)
    for shard, place in ((one, (0, 0, 0)), (one, (0, 0, 0)), (other, (1, 0, 0))):
        leader._take(shard, place, news, lambda _outcome, news: looked.append(news))
    assert len(looked) == 2
    assert (leader.outcome.calls, leader.outcome.episodes) == (14, 2)
    assert [(one.episodes, len(one.due)), (other.episodes, len(other.due))] == [(1, 1), (1, 0)]
    assert [finding.times for finding in leader.outcome.findings.found.values()] == [2]


def test_shards_have_their_own_episodes_and_targets() -> None:
    leader = campaign()
    assert [leader._order_of(Shard(number, episodes=3)).first for number in (0, 1)] == [46, 46]  # a worker adds its number
    apart = Campaign(None, Order("", workers=2, seconds=9, apart=True), Corpus(), "http://127.0.0.1:900{shard}")
    orders = [apart._order_of(Shard(number)) for number in (0, 1)]
    assert [order.target for order in orders] == ["http://127.0.0.1:9000", "http://127.0.0.1:9001"]
    assert all(order.alone(shared=True) and not order.reduces and order.seconds is not None for order in orders)
    assert not leader._order_of(Shard(0)).alone(shared=True)


def test_the_corpus_takes_what_a_round_brings() -> None:
    leader = campaign()
    leader._take(Shard(0), (0, 0, 0), News(entry=Entry((Leg(1, "cas", 3),), ("a",))), lambda _outcome, _news: None)
    assert list(leader.outcome.corpus.behaviours) == ["a"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster", "spark:x"], "dask:tcp://HOST:PORT"),
        (["--target-template", "x{shard}"], "goes with --cluster"),
        (["--cluster", "dask:tcp://127.0.0.1:1", "--target-template", "x"], "{shard} stands for the number"),
        (["--cluster", "dask:tcp://127.0.0.1:1"], "no Dask scheduler answers there"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(
    arguments: list[str], said: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    assert main(["fuzz", "oracle", "--calls", "5", *arguments]) == 3
    told = capfd.readouterr().err
    assert said in told
    assert "Traceback" not in told
