"""What a walk has seen, for guidance: which operation was answered how, to whom, over what, in which state of its space.

A behaviour is a short text. That one is new says that the walk got somewhere; how often it came says how rare it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.exchange import Reply
from conformance.machine.model import Asked
from conformance.oracle.state import Doc, Space, State

GENERATIONS = 3


class Behaviours:
    """Counts behaviours; ``fresh`` are those that came for the first time since it was last emptied."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(known, 1))
        self.fresh: list[str] = []
        self.here: dict[str, None] = {}

    def watch(self, asked: Asked, seen: Reply, state: State) -> None:
        """Take note of a right answer; ``state`` is the model's after it."""
        behaviour = of(asked, seen, state)
        self.here[behaviour] = None
        if behaviour not in self.counts:
            self.fresh.append(behaviour)
        self.counts[behaviour] += 1

    def begin(self) -> None:
        """Begin an episode."""
        self.fresh, self.here = [], {}

    def rarity(self, behaviours: Iterable[str]) -> float:
        """Say how rare the rarest of some behaviours is: 1 where it came once."""
        return max((1.0 / self.counts[one] for one in behaviours if self.counts[one]), default=0.0)


def of(asked: Asked, seen: Reply, state: State) -> str:
    """Name the behaviour of an answer."""
    space = state.spaces.get(asked.request.get("space_id", ""))
    parts = [asked.op.removeprefix("memory."), _told(seen)]
    if space is not None:
        parts += [_caller(space, asked.caller), _space(space), _object(space, asked.request)]
    return " ".join(parts)


def _told(seen: Reply) -> str:
    if seen.error is None:
        receipt = seen.payload.get("receipt")
        return str(receipt["state"]) if isinstance(receipt, dict) else "ok"
    details = seen.error.get("details") or {}
    return "/".join(str(part) for part in (seen.code, details.get("reason") or details.get("field")) if part)


def _caller(space: Space, caller: str) -> str:
    grants = space.grants.of(caller)
    if not grants:
        return "none"
    issuers = [grant["issuer_id"] for grant in grants if grant["state"] == "active"]
    if caller in issuers:
        return "root"
    return f"{min(len(issuers), 2)}g" if issuers else "ended"


def _space(space: Space) -> str:
    facts = space.facts
    marks = [
        str(min(facts["authority_generation"], GENERATIONS)),
        facts["state"][0],
        "c" if facts["fenced_context_ids"] else "",
        "p" if space.jobs else "",
    ]
    return "".join(marks)


def _object(space: Space, request: Doc) -> str:
    record = space.records.get(request.get("record_id", ""))
    if record is not None:
        born = "reviewed" if record["provenance"]["source"] == "review" else "written"
        return "tombstone" if "tombstone" in record else f"{born}{min(record['revision'], 3)}"
    for member, table in (("candidate_id", space.candidates), ("grant_id", space.grants), ("import_id", space.imports)):
        if member in request and (found := table.get(request[member])) is not None:
            return str(found["state"])
    subject = space.subjects.get(_subject(request))
    return "-" if subject is None else str(subject["state"])


def _subject(request: Doc) -> str:
    for place in (request, request.get("scope"), request.get("selection"), request.get("target")):
        if place and "subject_id" in place:
            return str(place["subject_id"])
    return ""
