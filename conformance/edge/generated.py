"""Requests that schemathesis makes from the OpenAPI document: its coverage and fuzzing phases.

It runs as a command in a process of its own, since it patches libraries that the suite uses. What it sent and got is read from
its report and judged here, by the same measure as every other request.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.edge.probe import Asked, Came, Edge
from conformance.errors import SuiteFault

FOUND, CLEAN = 1, 0
MOST_FAILURES = 3
FULL = 150
"""The thoroughness at which every operation is tried; below it a part of them is."""
SECONDS_AN_OPERATION = 60.0
JSON = "application/json"
LEFT_OUT = frozenset({b"content-length", b"connection", b"host", b"transfer-encoding"})
"""Headers that belong to a connection, and not to the request."""


def chosen(ops: Sequence[str], thoroughness: int, seed: int) -> list[str]:
    """Return the operations that are tried: the share of them that the profile's thoroughness is of the fullest, at least two."""
    most = min(len(ops), max(2, len(ops) * thoroughness // FULL))
    return [ops[(seed + number * len(ops) // most) % len(ops)] for number in range(most)]


def exchanges(
    edge: Edge, requests: Mapping[str, Any], headers: Sequence[tuple[bytes, bytes]], seed: int
) -> Iterator[tuple[Asked, Came]]:
    """Walk what was sent and what came; ``requests`` are the operations that are tried, each with a valid request.

    Raises ``SuiteFault`` where schemathesis itself fails.
    """
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.ndjson"
        _run(edge, Path(place), report, requests, headers, seed)
        with report.open("rb") as lines:
            for line in lines:
                for kind, event in json.loads(line).items():
                    if kind == "ScenarioFinished":
                        yield from _recorded(edge, event["recorder"].get("interactions", {}).values())


def _run(
    edge: Edge, place: Path, report: Path, requests: Mapping[str, Any], headers: Sequence[tuple[bytes, bytes]], seed: int
) -> None:
    (place / "openapi.json").write_text(json.dumps(_narrowed(edge.contract(), requests)), "utf-8")
    named = {**edge.headers, **{name.decode(): value.decode() for name, value in headers}}
    settings = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in named.items()]
    (place / "schemathesis.toml").write_text("\n".join(["[headers]", *settings]), "utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run", "openapi.json"]
    command += ["--url", edge.base, "--phases", "coverage,fuzzing", "--checks", "not_a_server_error", "--warnings", "off"]
    command += ["--seed", str(seed), "--max-examples", str(max(2, edge.thoroughness // 5)), "--max-failures", str(MOST_FAILURES)]
    command += ["--request-timeout", f"{edge.deadline:g}", "--output-sanitize", "false"]
    command += ["--report", "ndjson", "--report-ndjson-path", str(report)]
    if edge.ca is not None:
        command += ["--tls-verify", str(edge.ca.resolve())]
    ended = _ended(command, place, SECONDS_AN_OPERATION * len(requests))
    if ended.returncode not in (CLEAN, FOUND) or not report.exists():
        raise SuiteFault(f"schemathesis ended with {ended.returncode}: {ended.stderr[-400:] or ended.stdout[-400:]}")


def _ended(command: list[str], place: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    quiet = {**os.environ, "NO_COLOR": "1", "SCHEMATHESIS_HOOKS": ""}
    try:
        return subprocess.run(  # noqa: S603 - a command of ours
            command, cwd=place, env=quiet, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SuiteFault(f"schemathesis did not end within {seconds:g} s") from error


def _narrowed(document: dict[str, Any], requests: Mapping[str, Any]) -> dict[str, Any]:
    """Leave the paths that are tried, each with the given request as its example."""
    paths = {path: item for path, item in document["paths"].items() if path.removeprefix("/") in requests}
    for path, item in paths.items():
        item["post"]["requestBody"]["content"][JSON]["examples"] = {"plain": {"value": requests[path.removeprefix("/")]}}
    return {**document, "paths": paths}


def _recorded(edge: Edge, interactions: Any) -> Iterator[tuple[Asked, Came]]:
    for one in interactions:
        asked, came = one["request"], one.get("response")  # the report leaves out what is empty, here and in the recorder
        headers = [(name.encode(), value.encode()) for name, values in asked["headers"].items() for value in values]
        yield (
            Asked(
                "/" + asked["uri"].removeprefix(edge.base.rstrip("/")).lstrip("/"),
                asked["method"],
                [(name, value) for name, value in headers if name.lower() not in LEFT_OUT],
                _bytes(asked.get("body")),
            ),
            Came(None) if came is None else Came(came["status_code"], _bytes(came.get("content"))),
        )


def _bytes(content: Any) -> bytes:
    return base64.b64decode(content["$base64"]) if isinstance(content, Mapping) else b""
