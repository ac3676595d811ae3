"""Recorded calls judged by two bundles: a request or an answer that only one of them finds well formed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.errors import BadUsage
from conformance.wire.bundle import Bundle

_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


@dataclass(frozen=True)
class Recorded:
    """One call: where it was recorded, the operation, the flags that were negotiated, the request and the answer's body."""

    where: str
    op: str
    flags: frozenset[str] | None
    payload: Any
    answer: Any


def transcripts_changed(place: Path, old: Bundle, new: Bundle) -> tuple[int, list[str], list[str]]:
    """Judge every recorded call under ``place`` by both bundles.

    Returns how many calls were judged, the calls of which the verdict differs, and why something could not be judged. Raises
    ``BadUsage`` for a file that holds no recorded calls.
    """
    judged, changed = 0, []
    for call in recorded(place):
        judged += 1
        before, after = _verdict(call, old), _verdict(call, new)
        if before != after:
            changed.append(f"{call.where} {call.op}: {before} → {after}")
    return judged, changed, [] if judged else [f"{place}: no recorded call was found"]


def _verdict(call: Recorded, bundle: Bundle) -> str:
    row = bundle.operations.get(call.op)
    if row is None:
        return "no such operation"
    if call.flags is not None and bundle.flag(row.flag) not in call.flags:
        return "its flag is not negotiated"
    said = _problem("request", bundle.request(call.op), call.payload)
    answer = "" if call.answer is None else _problem("answer", bundle.response(call.op), call.answer)
    refused = isinstance(call.answer, Mapping) and isinstance(call.answer.get("error"), Mapping)
    if not answer and refused and bundle.symbol(str(call.answer["error"].get("code"))) is None:
        answer = "answer with an unknown code"
    return "; ".join(filter(None, (said, answer))) or "well formed"


def _problem(what: str, validator: Any, value: Any) -> str:
    if validator.accepts(value):
        return ""
    problem = validator.problems(value)[0]
    return f"{what} breaks {problem.keyword} at {problem.pointer or '/'}"


def recorded(place: Path) -> Iterator[Recorded]:
    """Read the calls of a file, or of every file under a directory, in order. Raises ``BadUsage``."""
    paths = sorted(path for path in place.rglob("*") if path.name.endswith(_SUFFIXES)) if place.is_dir() else [place]
    for path in paths:
        for number, value in enumerate(_values(path), 1):
            yield from _calls(value, f"{path.name}:{number}")


def _values(path: Path) -> Iterator[Any]:
    """Give the JSON values of a file: one that fills it, or one a line."""
    try:
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode("utf-8")
        try:
            yield json.loads(text)
        except ValueError:
            yield from [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise BadUsage(f"{path}: it holds no recorded calls: {error}.") from error


def _calls(value: Any, where: str) -> Iterator[Recorded]:
    """Find the calls in a value: it is one, or lists some, in whatever it wraps them."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield from _calls(one, f"{where}/{index}")
    elif isinstance(value, Mapping) and isinstance(value.get("op"), str) and "payload" in value:
        if not value["op"].startswith("control."):
            flags = value.get("flags")
            known = frozenset(map(str, flags)) if isinstance(flags, list) else None
            yield Recorded(where, value["op"], known, value["payload"], value.get("answer"))
    elif isinstance(value, Mapping):
        for name, one in value.items():
            if isinstance(one, (list, Mapping)):
                yield from _calls(one, f"{where}/{name}")
