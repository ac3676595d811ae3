"""How fast the transports are with a provider that does nothing, and how long a run on the oracle takes over each. Two tables.

    python -m tests.benchmarks.bench_transports [--seconds 1] [--profile quick] [-n 2]

``bare`` is a round trip without any code of ours: a direct call, lines through pipes, ``http.client`` on one connection.
``shim`` is the same call through our transport, ``client`` that with both sides validated and the exchange recorded, as a check
does it: its difference to ``bare`` is the suite's own overhead. ``at once`` are calls sent 50 at a time. Wall time, the best of
three, since other work on the machine is no fault of ours. Exits with 1 where a run on the oracle does not pass.
"""

from __future__ import annotations

import argparse
import http.client
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.client import Client
from conformance.exchange import Call, Trace
from conformance.runner import Order, run
from conformance.target import open_target
from conformance.transport.shim import Shim
from conformance.verdict import Verdict
from conformance.wire.bundle import Bundle, load
from tests.benchmarks.null_provider import FLAG, Null
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
OP = "memory.describe"
CALL = Call(OP, {}, "c", frozenset({FLAG}))
LINE = b'{"id": 1, "credential": "c", "flags": ["%s"], "op": "memory.describe", "payload": {}}\n' % FLAG.encode()
TOGETHER = 50
NULL = "python:tests.benchmarks.null_provider:Null"
NODE = """\
const described = {protocol_version: "1.0", capabilities: ["FLAG"], limits: {max_content_bytes: 65536, max_page: 50,
  max_fragments: 16, max_chunk_items: 100}, required_profile_kinds: [], engine_policy_version: "1", cognition_dimensions: []};
const hello = {harness: 1, provider: {name: "null", version: "1"}, instance: "i", flags: ["FLAG"], controls: ["hello"]};
let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    process.stdout.write(JSON.stringify({id: message.id, payload: message.control ? hello : described}) + "\\n");
  }
});
"""

Trip = Callable[[], object]


@dataclass(frozen=True)
class Way:
    """A transport: the target that we open, and a bare round trip to the same kind of provider."""

    name: str
    target: str
    bare: Trip


def rate(trip: Trip, seconds: float, *, each: int = 1) -> float:
    """Measure round trips a second, the best of three."""
    return max(_rate(trip, seconds / 3) for _ in range(3)) * each


def _rate(trip: Trip, seconds: float) -> float:
    trip()
    count, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        trip()
        count += 1
    return count / spent


# -- bare round trips


@contextmanager
def piped(command: Sequence[str]) -> Iterator[Trip]:
    """Start a process of lines, and write one and read one each time."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    source, sink = process.stdin, process.stdout
    assert source is not None
    assert sink is not None

    def trip() -> object:
        source.write(LINE)
        source.flush()
        return json.loads(sink.readline())

    with process:
        yield trip
        source.close()


@contextmanager
def posted(port: int) -> Iterator[Trip]:
    """Keep one connection, and post on it each time."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": "Bearer c", "Spoke-Capabilities": FLAG, "Content-Type": "application/json"}

    def trip() -> object:
        connection.request("POST", f"/{OP}", b"{}", headers)
        return json.loads(connection.getresponse().read())

    yield trip
    connection.close()


@contextmanager
def served(provider: str, directory: Path, *more: str) -> Iterator[tuple[int, str]]:
    """Serve a provider over HTTP; give the port and a target file for it."""
    port, file = free_port(), directory / f"{time.monotonic_ns()}.toml"
    command = [PYTHON, "-m", "conformance.cli", "serve", provider, "--http", str(port), *more]
    file.write_text(f'target = "http://127.0.0.1:{port}"\ntoken = "t"\ndeadline = 60\n', "utf-8")
    environment = {"MEMORY_HARNESS_TOKEN": "t", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process:
        while "serving on" not in process.stderr.readline():
            pass
        yield port, str(file)
        process.terminate()


# -- tables


def trips(seconds: float) -> None:
    """Print the table of round trips."""
    print(f"{'':14}{'bare/s':>10}{'shim/s':>10}{'client/s':>10}{'at once/s':>11}{'overhead':>12}")  # noqa: T201
    with TemporaryDirectory() as place:
        for way in _ways(Path(place)):
            _row(way, load(), seconds)


def _ways(place: Path) -> Iterator[Way]:
    script = place / "null.mjs"
    script.write_text(NODE.replace("FLAG", FLAG), "utf-8")
    null = Null()
    yield Way("in process", NULL, lambda: null.call("c", [FLAG], OP, {}))
    for name, command in (
        ("stdio, Python", [PYTHON, "-m", "tests.benchmarks.null_provider"]),
        ("stdio, Node", ["node", str(script)]),
    ):
        with piped(command) as trip:
            yield Way(name, f"stdio:{' '.join(command)}", trip)
    with served(NULL, place) as (port, target), posted(port) as trip:
        yield Way("HTTP", target, trip)


def _row(way: Way, bundle: Bundle, seconds: float) -> None:
    bare = rate(way.bare, seconds)
    target = open_target(way.target, bundle=bundle)
    shim = target.open().shim
    sent, judged, together = (rate(trip, seconds, each=each) for trip, each in _ours(shim, bundle))
    target.close()
    overhead = (1 / judged - 1 / bare) * 1e6
    print(f"{way.name:14}{bare:10,.0f}{sent:10,.0f}{judged:10,.0f}{together:11,.0f}{overhead:9,.0f} µs")  # noqa: T201


def _ours(shim: Shim, bundle: Bundle) -> Iterator[tuple[Trip, int]]:
    client = Client(shim, bundle)
    yield lambda: shim.send(CALL), 1
    yield lambda: client.send(CALL, Trace()), 1
    yield lambda: shim.send_all([CALL] * TOGETHER), TOGETHER


def runs(profile: str, workers: int) -> bool:
    """Print how long a run on the oracle takes over each transport; say whether all of them passed."""
    print(f"\n{profile} on the oracle, -n {workers}{'':8}{'calls':>10}{'seconds':>10}")  # noqa: T201
    with TemporaryDirectory() as place, served("oracle", Path(place)) as (_, over_http):
        database = Path(place) / "memory.db"
        targets = {
            "in process": "oracle",
            "stdio": f"stdio:{PYTHON} -m conformance.cli serve --stdio --db {database}",
            "HTTP": over_http,
        }
        passed = [_timed(name, Order(target, profile, workers=workers)) for name, target in targets.items()]
    return all(passed)


def _timed(name: str, order: Order) -> bool:
    result = run(order)
    calls = sum(check.calls for check in result.checks)
    print(f"{name:34}{calls:10,}{result.seconds:10.1f}  {result.verdict}")  # noqa: T201
    return result.verdict is Verdict.PASS


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("-n", dest="workers", type=int, default=2)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}\n")  # noqa: T201
    trips(options.seconds)
    return 0 if runs(options.profile, options.workers) else 1


if __name__ == "__main__":
    sys.exit(main())
