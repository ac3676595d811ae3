"""Us beside schemathesis, over HTTP: which of the seeded faults does each find, and for how much; writes ``beside.md``.

    python -m tests.benchmarks.beside [--faults 40] [--budget 240] [-n 2] [--to FILE] [--rows FILE]

Each fault is served over HTTP by ``memory-conformance serve``, and three seekers get the same budget of processor seconds (their
own and the server's): ``run --profile quick``, ``fuzz``, and schemathesis with all its phases and checks on the derived OpenAPI
document. A seeker stops at its first find. What a seeker says of the right provider too counts for nothing, and is told. The
budget lets ``quick`` come to its end over HTTP. ``-n`` faults are looked for at a time, as what counts is processor time.
``--rows`` keeps each find as it comes, as a line of JSON: a later run goes on from there, and seeks again only where nothing was
found in a smaller budget.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from conformance.fuzz import crew
from conformance.fuzz.corpus import Corpus
from conformance.fuzz.order import Order
from conformance.fuzz.work import News
from conformance.wire.bundle import load
from tests.benchmarks.pages import ROOT, machine_and_commit
from tests.benchmarks.processes import spent_by_all
from tests.faults import FAULTS
from tests.ports import free_port

RESULTS = Path(__file__).with_name("beside.md")
TOKEN = "a token for tests"
SEEKERS = ("quick", "fuzz", "schemathesis")
RIGHT = "oracle"
POLL = 0.25
SEPARATED = " · "
WALL = 6
"""A seeker may take so many times its budget by the clock, then it has not found anything."""

SPENT = 0.98
"""Who used so much of a budget was stopped by it."""

Pairs = frozenset[tuple[str, str]]
Seen = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Find:
    """What a seeker found, "" for nothing, after how many processor seconds of how many."""

    what: str
    seconds: float
    budget: float

    def stands(self, budget: float) -> bool:
        """Say whether another budget changes nothing: something was found, or it is not the budget that ended the search."""
        return bool(self.what) or self.seconds < self.budget * SPENT or budget <= self.budget


# -- a provider over HTTP


@dataclass(frozen=True, slots=True)
class Served:
    """A provider that is served: its target file, and its process."""

    base: str
    file: Path
    process: subprocess.Popen[str]


@contextmanager
def served(provider: str, place: Path) -> Iterator[Served]:
    """Serve a provider."""
    port = free_port()
    base, file = f"http://127.0.0.1:{port}", place / "target.toml"
    file.write_text(f'target = "{base}"\ntoken = "{TOKEN}"\ndeadline = 30\n', "utf-8")
    command = [sys.executable, "-m", "conformance.cli", "serve", provider, "--http", str(port)]
    environment = {**os.environ, "MEMORY_HARNESS_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        while "serving on" not in (line := process.stderr.readline()):
            if not line:
                raise SystemExit(f"{provider} cannot be served")
        yield Served(base, file, process)
    finally:
        process.kill()
        process.wait()


# -- seekers


def seek(seeker: str, at: Served, place: Path, budget: float, usual: Pairs | None) -> Find:
    """Let a seeker look until it finds something or has used up its budget; ``usual`` None: whatever it finds, go on."""
    command, seen = _seekers(seeker, at, place, usual)
    before, began = spent_by_all(at.process.pid), time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = 0.0
    try:
        while not (what := seen()) and used < budget and time.monotonic() - began < WALL * budget and process.poll() is None:
            time.sleep(POLL)
            used = max(used, spent_by_all(process.pid) + spent_by_all(at.process.pid) - before)
        return Find(what or seen(), used, budget)
    finally:
        process.terminate()
        process.wait()


def _seekers(seeker: str, at: Served, place: Path, usual: Pairs | None) -> tuple[list[str], Seen]:
    told = place / f"{seeker}.told"
    told.write_text("", "utf-8")
    python = [sys.executable, "-m"]
    if seeker == "quick":
        return [*python, "conformance.cli", "run", str(at.file), "-n", "0", "-q", "--stream", str(told)], lambda: _failed(told)
    if seeker == "fuzz":
        known = json.dumps(sorted(usual or ()))
        return [*python, "tests.benchmarks.beside", "--fuzz", str(at.file), str(told), known], lambda: told.read_text("utf-8")
    if usual is None:
        return _schemathesis(at, place, told), str
    complaints = Complaints(told)
    return _schemathesis(at, place, told), lambda: " ".join(min(complaints.read() - usual, default=()))


def _failed(stream: Path) -> str:
    """Name the first check that failed."""
    for line in stream.read_text("ascii").splitlines():
        if '"FAIL"' in line and line.endswith("}"):
            found = json.loads(line)
            check = found.get("check", found)
            if check.get("verdict") == "FAIL":
                return str(check["check_id"])
    return ""


def _schemathesis(at: Served, place: Path, told: Path) -> list[str]:
    controlled = {"Authorization": f"Bearer {TOKEN}"}
    home = httpx.post(f"{at.base}/control.provision", json={}, headers=controlled).json()
    (place / "openapi.json").write_text(httpx.get(f"{at.base}/openapi.json").text, "utf-8")
    flags = ", ".join(sorted({load().flag(row.flag) for row in load().operations.values()}))
    headers = {"Authorization": f"Bearer {home['root']['credential']}", "Spoke-Capabilities": flags}
    settings = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in headers.items()]
    (place / "schemathesis.toml").write_text("\n".join(["[headers]", *settings]), "utf-8")
    config = ["--config-file", str(place / "schemathesis.toml")]
    phases = ["--phases", "examples,coverage,fuzzing,stateful", "--checks", "all", "--seed", "1", "--continue-on-failure"]
    report = ["--report", "ndjson", "--report-ndjson-path", str(told), "--warnings", "off"]
    return [
        sys.executable, "-m", "schemathesis.cli", *config, "run", str(place / "openapi.json"), "--url", at.base, *phases, *report,
    ]  # fmt: skip


class Complaints:
    """The (check, operation) pairs that schemathesis complains of in its report, which is read as it grows."""

    def __init__(self, report: Path) -> None:
        self._report = report
        self._at = 0
        self.found: set[tuple[str, str]] = set()

    def read(self) -> Pairs:
        """Read on, and return all pairs so far."""
        with self._report.open("rb") as file:
            file.seek(self._at)
            for line in file:
                if not line.endswith(b"}\n"):
                    break
                self._at += len(line)
                if line.startswith(b'{"ScenarioFinished"'):
                    self._take(json.loads(line)["ScenarioFinished"]["recorder"])
        return frozenset(self.found)

    def _take(self, recorder: dict[str, Any]) -> None:
        failed = (check for checks in recorder.get("checks", {}).values() for check in checks if check["status"] == "failure")
        self.found.update((str(check["name"]), str(recorder["label"])) for check in failed)


class _Found(Exception):
    """Ends a fuzz run."""


def fuzz(file: str, told: str, usual: str) -> None:
    """Fuzz until something is found that is not usual, and write down what."""
    known = [tuple(pair) for pair in json.loads(usual)]

    def look(_outcome: crew.Outcome, news: News) -> None:
        if news.finding is not None and (news.finding.reason, news.finding.op) not in known:
            Path(told).write_text(SEPARATED.join((news.finding.rule, news.finding.op, news.finding.reason)), "utf-8")
            raise _Found

    try:
        crew.run(Order(file, seconds=3600, workers=1, reduces=False), Corpus(), look)
    except _Found:
        return


# -- the page


def page(rows: dict[str, dict[str, Find]], budget: float, made: str) -> Iterator[str]:
    """Write the tables."""
    yield "# Beside schemathesis, over HTTP\n"
    yield f"Written by `nox -s beside` on {made}."
    yield f"{len(rows)} seeded faults, at most {budget:g} processor seconds each"
    yield "(the seeker's and the server's); a seeker stops at its first find.\n"
    yield "| seeker | found | missed | processor minutes | found a minute |"
    yield "|---|---:|---:|---:|---:|"
    for seeker in SEEKERS:
        finds = [row[seeker] for row in rows.values()]
        found, minutes = sum(bool(find.what) for find in finds), sum(find.seconds for find in finds) / 60
        yield f"| {seeker} | {found} | {len(finds) - found} | {minutes:.1f} | {found / minutes if minutes else 0:.1f} |"
    yield "\n| fault | " + " | ".join(f"{seeker} | s" for seeker in SEEKERS) + " |"
    yield "|---|" + "---|---:|" * len(SEEKERS)
    for name, row in rows.items():
        yield (
            f"| {name} | "
            + " | ".join(f"{row[s].what.replace('|', '/') or 'missed'} | {row[s].seconds:.1f}" for s in SEEKERS)
            + " |"
        )


def usual(place: Path, budget: float) -> dict[str, Pairs]:
    """Return what each seeker complains of with the right provider, as (what, operation)."""
    with served(RIGHT, place) as at:
        seek("schemathesis", at, place, 2 * budget, None)
        theirs = Complaints(place / "schemathesis.told").read()
    ours: set[tuple[str, str]] = set()
    found = "more"
    while found:
        with served(RIGHT, place) as at:
            found = seek("fuzz", at, place, budget, frozenset(ours)).what
        if found:
            _, op, reason = found.split(SEPARATED, 2)
            ours.add((reason, op))
    return {"quick": frozenset(), "fuzz": frozenset(ours), "schemathesis": theirs}


class Rows:
    """What each seeker found of each fault, kept in a file of JSON lines where there is one."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        lines = file.read_text("utf-8").splitlines() if file is not None and file.exists() else []
        self._kept = {
            (row["fault"], row["seeker"]): Find(row["what"], row["seconds"], row["budget"]) for row in map(json.loads, lines)
        }

    def find(self, fault: str, seeker: str, budget: float, look: Callable[[], Find]) -> Find:
        """Return what was found before, where it stands, else look for it and keep that."""
        kept = self._kept.get((fault, seeker))
        if kept is not None and kept.stands(budget):
            return kept
        found = look()
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"fault": fault, "seeker": seeker, **asdict(found)}) + "\n")
        return found


def looked_for(known: dict[str, Pairs], budget: float, rows: Rows, fault: str) -> dict[str, Find]:
    """Let each seeker look for a fault, each in a provider and a directory of its own."""
    row: dict[str, Find] = {}
    for seeker in SEEKERS:
        find = row[seeker] = rows.find(fault, seeker, budget, partial(_looked_for, fault, seeker, budget, known[seeker]))
        print(f"{fault:48}{seeker:14}{find.seconds:7.1f} s  {find.what or 'missed'}", flush=True)  # noqa: T201
    return row


def _looked_for(fault: str, seeker: str, budget: float, usual: Pairs) -> Find:
    with TemporaryDirectory() as made, served(f"python:tests.faults:{fault}", Path(made)) as at:
        return seek(seeker, at, Path(made), budget, usual)


def main() -> int:
    """Measure and write; exit with 1 where schemathesis finds what we do not."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--budget", type=float, default=240.0)
    parser.add_argument("-n", dest="at_once", type=int, default=2)
    parser.add_argument("--to", type=Path, default=RESULTS)
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args()
    chosen = [fault.name for fault in FAULTS[:: max(1, len(FAULTS) // options.faults)][: options.faults]]
    with TemporaryDirectory() as made:
        known = usual(Path(made), options.budget)
    for seeker, pairs in known.items():
        print(f"{seeker} says of the right provider: {sorted(pairs) or 'nothing'}", flush=True)  # noqa: T201
    rows: dict[str, dict[str, Find]] = {}
    made = machine_and_commit()
    with ThreadPoolExecutor(options.at_once) as pool:
        looked = pool.map(partial(looked_for, known, options.budget, Rows(options.rows)), chosen)
        for name, row in zip(chosen, looked, strict=True):
            rows[name] = row
            options.to.write_text("\n".join(page(rows, options.budget, made)) + "\n", "utf-8")
    ours = [name for name, row in rows.items() if row["schemathesis"].what and not (row["quick"].what or row["fuzz"].what)]
    print(f"found by schemathesis alone: {', '.join(ours) or 'none'}")  # noqa: T201
    return 1 if ours else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fuzz"]:
        fuzz(*sys.argv[2:5])
    else:
        sys.exit(main())
