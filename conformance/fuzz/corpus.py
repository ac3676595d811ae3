"""The corpus: a folder of what reached something new, so that a later run goes on from there.

An entry is the legs of an episode (``conformance.machine.walk``) with the behaviours that they reached first. It holds no answers
of a target: played on another one, it is a way to begin. ``state.json`` says how far the runs have come. A file that cannot be
read is told in one sentence and stops the run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.errors import BadInput
from conformance.machine.walk import Leg

FORMAT = 1
ENTRIES, STATE, FINDINGS = "entries", "state.json", "findings"


@dataclass(frozen=True, slots=True)
class Entry:
    """The legs of an episode and the behaviours that it reached before any other."""

    legs: tuple[Leg, ...]
    behaviours: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"format": FORMAT, "legs": [leg.to_json() for leg in self.legs], "behaviours": list(self.behaviours)}

    @classmethod
    def of_json(cls, value: Any) -> Entry:
        """Build it from ``to_json``'s object. Raises ``ValueError``, ``TypeError`` or ``KeyError`` for anything else."""
        if value["format"] != FORMAT:
            raise ValueError("another format")
        return cls(tuple(Leg.of_json(leg) for leg in value["legs"]), tuple(map(str, value["behaviours"])))


@dataclass(slots=True)
class Corpus:
    """What is known: entries, and how many ``episodes`` and ``calls`` there were. ``folder`` None keeps it in memory alone."""

    folder: Path | None = None
    entries: list[Entry] = field(default_factory=list)
    episodes: int = 0
    calls: int = 0
    behaviours: dict[str, None] = field(init=False)
    """All behaviours that entries reached."""

    def __post_init__(self) -> None:
        self.behaviours = dict.fromkeys(behaviour for entry in self.entries for behaviour in entry.behaviours)

    def add(self, entry: Entry) -> None:
        """Keep an entry, on disk too; only behaviours that no other entry has make it worth keeping."""
        fresh = tuple(behaviour for behaviour in dict.fromkeys(entry.behaviours) if behaviour not in self.behaviours)
        if not fresh:
            return
        self.behaviours.update(dict.fromkeys(fresh))
        entry = Entry(entry.legs, fresh)
        self.entries.append(entry)
        if self.folder is not None:
            text = json.dumps(entry.to_json(), indent=1)
            name = hashlib.sha256(json.dumps([leg.to_json() for leg in entry.legs]).encode()).hexdigest()[:16]
            _write(self.folder / ENTRIES / f"{name}.json", text)

    def count(self, episodes: int, calls: int) -> None:
        """Add what a run did."""
        self.episodes += episodes
        self.calls += calls
        if self.folder is not None:
            _write(self.folder / STATE, json.dumps({"format": FORMAT, "episodes": self.episodes, "calls": self.calls}))

    @property
    def findings(self) -> Path | None:
        """Where findings are kept."""
        return None if self.folder is None else self.folder / FINDINGS


def open_corpus(folder: Path | None) -> Corpus:
    """Read a corpus, or begin one. Raises ``BadInput`` for a folder that cannot be used."""
    if folder is None:
        return Corpus()
    try:
        (folder / ENTRIES).mkdir(parents=True, exist_ok=True)
        (folder / FINDINGS).mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: the corpus folder cannot be made: {error.strerror}.") from error
    corpus = Corpus(folder, _entries(sorted((folder / ENTRIES).glob("*.json"))))
    if (folder / STATE).exists():
        state = _read(folder / STATE)
        try:
            corpus.episodes, corpus.calls = int(state["episodes"]), int(state["calls"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{folder / STATE}: this is not the state of a corpus.") from error
    return corpus


def _entries(paths: Iterable[Path]) -> list[Entry]:
    found = []
    for path in paths:
        try:
            found.append(Entry.of_json(_read(path)))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{path}: this is no entry of a corpus.") from error
    return found


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: it cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadInput(f"{path}: this is no JSON.") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"{path}: it cannot be written: {error.strerror}.") from error
