"""Recorded calls judged by two bundles: a request or an answer that only one of them finds well formed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.errors import BadUsage
from conformance.exchange import CONTROL_PREFIX
from conformance.wire.bundle import Bundle

_SUFFIXES = (".json", ".jsonl", ".gz")
_GZIP = b"\x1f\x8b"


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
    if not answer and refused and not bundle.knows_code(str(call.answer["error"].get("code"))):
        answer = "answer with an unknown code"
    return "; ".join(filter(None, (said, answer))) or "well formed"


def _problem(what: str, validator: Any, value: Any) -> str:
    if validator.accepts(value):
        return ""
    problem = validator.problems(value)[0]
    return f"{what} breaks {problem.keyword} at {problem.pointer or '/'}"


def recorded(place: Path) -> Iterator[Recorded]:
    """Read the calls of a file, or of every file under a directory, in order. Raises ``BadUsage``.

    A file is a recording of a run (``run --record``), or JSON values, one or one a line, that hold ``{"op", "flags", "payload",
    "answer"}`` objects.
    """
    paths = sorted(path for path in place.rglob("*") if path.name.endswith(_SUFFIXES)) if place.is_dir() else [place]
    for path in paths:
        check = ""
        for number, value in enumerate(_values(path), 1):
            if isinstance(value, Mapping) and isinstance(value.get("check"), str):
                check = f" {value['check']}"
            yield from _calls(value, f"{path.name}:{number}{check}")


def _values(path: Path) -> Iterator[Any]:
    """Give the JSON values of a file: one that fills it, or one a line."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data.startswith(_GZIP) else data).decode("utf-8")
        try:
            yield json.loads(text)
        except ValueError:
            yield from [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise BadUsage(f"{path}: it holds no recorded calls: {error}.") from error


def _calls(value: Any, where: str) -> Iterator[Recorded]:
    """Find the calls in a value: it is one, or calls beside their answers, or holds some."""
    if isinstance(value, Mapping) and isinstance(value.get("op"), str) and "payload" in value:
        yield from _call(value, value.get("answer"), where)
        return
    beside = list(_beside(value)) if isinstance(value, Mapping) else []
    for call, answer in beside:
        yield from _call(call, answer, where)
    if not beside and isinstance(value, (list, Mapping)):
        for name, one in enumerate(value) if isinstance(value, list) else value.items():
            yield from _calls(one, f"{where}/{name}")


def _beside(value: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Give calls with the answers that a recording of a run puts beside them."""
    if isinstance(value.get("call"), Mapping):
        yield value["call"], value.get("answer")
    elif isinstance(value.get("calls"), list) and isinstance(value.get("answers"), list):
        yield from zip(value["calls"], value["answers"], strict=False)


def _call(call: Mapping[str, Any], answer: Any, where: str) -> Iterator[Recorded]:
    if not str(call.get("op")).startswith(CONTROL_PREFIX):
        flags = call.get("flags")
        known = frozenset(map(str, flags)) if isinstance(flags, list) else None
        yield Recorded(where, str(call.get("op")), known, call.get("payload"), _body(answer))


def _body(answer: Any) -> Any:
    """Give the body of an answer: a transport wraps a success in ``payload``, and no answer came where it tells a ``fault``."""
    if isinstance(answer, Mapping) and set(answer) == {"payload"}:
        return answer["payload"]
    return None if isinstance(answer, Mapping) and "fault" in answer else answer
