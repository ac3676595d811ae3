"""The observable state of a world's space, through read operations alone (rules.md, Nothing changed).

Two snapshots are equal exactly when no read of the space, its grants, its known subjects with their records, candidates and
profiles, or the known receipts tells a difference. Lists are sorted by id: their order is the provider's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from conformance.caller import Caller
from conformance.wire.vocabulary import Flag


@dataclass(frozen=True, slots=True)
class Known:
    """What to look at: a space, its subjects, (subject, kind) of its profiles, its receipts."""

    space_id: str
    subjects: tuple[str, ...]
    profiles: tuple[tuple[str, str], ...]
    receipts: tuple[str, ...]


def take(reader: Caller, known: Known) -> dict[str, Any]:
    """Read everything known that ``reader`` (as a rule root) can see."""
    return {
        "space": space(reader, known.space_id),
        "grants": _by("grant_id", reader.all("grants.list", view="admin")),
        "subjects": {subject_id: _subject(reader, subject_id) for subject_id in sorted(known.subjects)},
        "profiles": _profiles(reader, known.profiles),
        "receipts": {receipt_id: _read(reader, "receipts.get", receipt_id=receipt_id) for receipt_id in sorted(known.receipts)},
    }


def holding(found: Any, member: str, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Walk the objects of a snapshot that have a member, each with the names that lead to it, and none inside another."""
    if isinstance(found, Mapping) and member in found:
        yield path, found
    elif isinstance(found, Mapping):
        for name, inner in found.items():
            yield from holding(inner, member, (*path, name))


def space(reader: Caller, space_id: str) -> Any:
    """Return a MemorySpace as ``reader`` lists it, None where it is not listed."""
    listed = [found for found in reader.all("spaces.list") if found["space_id"] == space_id]
    return {**listed[0], "fenced_context_ids": sorted(listed[0]["fenced_context_ids"])} if listed else None


def _subject(reader: Caller, subject_id: str) -> dict[str, Any]:
    everything = {"subject_id": subject_id, "mode": "all_authorized"}
    return {
        "subject": _read(reader, "subjects.get", subject_id=subject_id),
        "records": _by("record_id", reader.all("records.list", selection=everything, include_tombstones=True)),
        "candidates": _by("candidate_id", reader.all("candidates.list", selection=everything)),
        "reflections": _reflections(reader, everything),
    }


def _reflections(reader: Caller, selection: Mapping[str, Any]) -> dict[str, Any]:
    if reader.world.bundle.flag(Flag.REFLECTION) not in reader.flags:
        return {}
    return _by("reflection_id", reader.all("reflections.list", selection=selection))


def _profiles(reader: Caller, known: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    kinds: dict[str, list[str]] = {}
    for subject_id, kind in known:
        kinds.setdefault(subject_id, []).append(kind)
    return {
        subject_id: _by("kind", reader.do("profile.get", subject_id=subject_id, kinds=sorted(of))["documents"])
        for subject_id, of in sorted(kinds.items())
    }


def _read(reader: Caller, stem: str, **members: Any) -> Any:
    reply = reader.send(stem, **members)
    return reply.code if reply.error is not None else reply.payload


def _by(member: str, items: list[Any]) -> dict[str, Any]:
    return dict(sorted(((str(item[member]), item) for item in items), key=itemgetter(0)))
