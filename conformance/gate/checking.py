"""One bundle looked at alone: is it one, does it keep the conventions, can all that it says ever hold."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.errors import BadBundle
from conformance.gate.conventions import conventions
from conformance.gate.points import Point
from conformance.gate.reachability import Reach, reachability
from conformance.gate.revisions import located
from conformance.release import version
from conformance.wire import bundle as wire
from conformance.wire.bundle import Bundle, load
from conformance.wire.documents import SCHEMA_FILES, check_documents, read_json
from conformance.wire.validation import registry_of

FORMAT = 1


@dataclass(frozen=True)
class Checked:
    """What was found, what could not be told, and how much was looked at."""

    origin: str
    digest: str
    points: tuple[Point, ...]
    unknown: tuple[str, ...] = ()
    documents: int = 0
    operations: int = 0
    branches: int = 0
    reached: int = 0
    seconds: float = 0.0

    def exit_code(self) -> int:
        """Return what the command ends with: 0 nothing to say, 1 findings, 2 something could not be told."""
        return 1 if self.points else 2 if self.unknown else 0

    def to_json(self) -> dict[str, Any]:
        """Return everything as a JSON object (``reports/schema/schema-check.schema.json``)."""
        return {
            "format": FORMAT,
            "suite": version(),
            "origin": self.origin,
            "digest": self.digest,
            "exit_code": self.exit_code(),
            "points": [point.to_json() for point in self.points],
            "unknown": list(self.unknown),
            "documents": self.documents,
            "operations": self.operations,
            "branches": self.branches,
            "reached": self.reached,
            "seconds": self.seconds,
        }


def check(text: str, within: str | None = None) -> Checked:
    """Look at the bundle that ``text`` names. A broken bundle is a finding; a place that is none raises ``BadUsage``."""
    started = time.perf_counter()
    with located(text, within) as directory:
        found = _checked(text, Path(wire.__file__).parent if directory is None else Path(directory), directory)
    return Checked(**{**found, "seconds": round(time.perf_counter() - started, 3)})


def _checked(text: str, place: Path, directory: str | None) -> dict[str, Any]:
    broken = [Point("broken", *_placed(str(error))) for error in _breakages(place)]
    bundle = None if broken else _loaded(directory, broken)
    if bundle is None:
        return {"origin": text, "digest": "", "points": tuple(broken)}
    reach: Reach = reachability(bundle)
    return {
        "origin": text,
        "digest": bundle.digest,
        "points": (*conventions(bundle, _files(place)), *reach.points),
        "unknown": reach.unknown,
        "documents": len(bundle.documents),
        "operations": len(bundle.operations),
        "branches": reach.branches,
        "reached": reach.reached,
    }


def _loaded(directory: str | None, broken: list[Point]) -> Bundle | None:
    try:
        return load(directory)
    except BadBundle as error:
        broken.append(Point("broken", *_placed(str(error))))
        return None


def _placed(sentence: str) -> tuple[str, str]:
    """Take the place out of the sentence of a broken bundle."""
    file, _, rest = sentence.partition(": ")
    where, _, what = rest.partition(": ")
    return f"{file}#{where.removeprefix('/') and where}", what


def _breakages(place: Path) -> Iterator[BadBundle]:
    """Give what is broken, file by file: not only the first."""
    documents: dict[str, tuple[str, Any]] = {}
    for name, path in _files(place).items():
        try:
            document = read_json(path, name)
        except BadBundle as error:
            yield error
            continue
        if isinstance(document, dict) and isinstance(document.get("$id"), str):
            documents.setdefault(document["$id"].removesuffix("#"), (name, document))
    registry = registry_of({identity: document for identity, (_, document) in documents.items()})
    for identity, named in documents.items():
        try:
            check_documents({identity: named}, registry)
        except BadBundle as error:
            yield error


def _files(place: Path) -> dict[str, Path]:
    return {path.relative_to(place).as_posix(): path for path in sorted(place.rglob(SCHEMA_FILES))}
