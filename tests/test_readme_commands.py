"""The README tells the truth: what it shows of judging and serving a provider is done here, command by command, as it stands."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
JUDGING, SERVING = "Judge your own provider", "Serve a provider"
TOKEN = "a token for tests"
PATIENCE = 60.0


def section(title: str) -> str:
    """Return a section's text."""
    found = re.search(rf"^## {title}\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def on_free_ports(text: str) -> str:
    """Return the text with a free port in the place of each that it names."""
    ports = {port: str(free_port()) for port in re.findall(r"\b87\d\d\b", text)}
    return re.sub(r"\b87\d\d\b", lambda found: ports[found[0]], text)


def commands(text: str) -> list[str]:
    """Return the shown commands, in order."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def files(text: str) -> Iterator[tuple[str, str]]:
    """Walk the files that are shown: the name stands before the block."""
    yield from re.findall(r"`([\w/.]+)`:\n\n```(?:python|toml)\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a directory with the files that the section on judging shows."""
    directory = tmp_path_factory.mktemp("readme")
    shown = dict(files(on_free_ports(section(JUDGING))))
    assert set(shown) == {"shop/memory.py", "http.toml"}
    for name, text in shown.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text, "utf-8")
    return directory


def surroundings() -> dict[str, str]:
    """Return an environment in which the command is found, and no token is set."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**{name: value for name, value in os.environ.items() if name != "MEMORY_HARNESS_TOKEN"}, "PATH": path}


def test_each_command_of_judging_does_what_is_said_of_it(ground: Path) -> None:
    shown = commands(section(JUDGING))
    assert {word for line in shown for word in shlex.split(line)[1:2]} == {"init", "doctor", "call", "run", "explain"}
    for line in shown:
        expected = re.search(r"# exit (\d)", line)
        ended = subprocess.run(
            shlex.split(line, comments=True),
            cwd=ground,
            env=surroundings(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == (int(expected[1]) if expected else 0), f"{line}\n{ended.stdout}\n{ended.stderr}"
        assert "SUITE_ERROR" not in ended.stdout
        assert "Traceback" not in ended.stderr
    assert (ground / "result.json").is_file()
    assert (ground / "result.xml").is_file()


SERVED = commands(section(SERVING))


def test_every_way_of_serving_is_shown() -> None:
    assert {option for line in SERVED for option in shlex.split(line) if option.startswith("--")} == {
        "--stdio",
        "--http",
        "--ws",
        "--db",
    }


@pytest.mark.parametrize("line", [line for line in SERVED if "--stdio" in line])
def test_each_command_that_serves_lines_does_so(line: str, ground: Path) -> None:
    hello = '{"id": 1, "control": "control.hello", "payload": {}}\n'
    ended = subprocess.run(
        shlex.split(line),
        cwd=ground,
        env=surroundings(),
        input=hello,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert ended.stdout.startswith('{"id": 1, "payload": {"harness": 1,')


@pytest.mark.parametrize("line", [line for line in SERVED if "--stdio" not in line])
def test_each_command_that_listens_is_judged_by_doctor(line: str, ground: Path) -> None:
    """And the HTTP ones show their document."""
    line = on_free_ports(line)
    found = re.search(r"--(http|ws) (\d+)", line)
    assert found is not None
    kind, port = found.groups()
    environment = {**surroundings(), "MEMORY_HARNESS_TOKEN": TOKEN}
    with subprocess.Popen(shlex.split(line), cwd=ground, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "serving on" in process.stderr.readline()
        if kind == "http":
            assert httpx.get(f"http://127.0.0.1:{port}/openapi.json", trust_env=False).json()["openapi"].startswith("3.1")
        asked = ["memory-conformance", "doctor", f"{kind}://127.0.0.1:{port}"]
        doctor = subprocess.run(asked, cwd=ground, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
