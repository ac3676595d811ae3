"""What an activation does to a space (protocol.md section 7, Transfer): it replaces, adds receipts, keeps grants.

Three things of the receiving space survive whatever the bundle holds: its tombstones (with their subjects), its archived
subjects, and its consumed candidates (with their subjects).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from immutables import Map

from conformance.oracle import candidates, fences, profiles, receipts, records, reflections, revisions, selection
from conformance.oracle.state import Doc, Ledger, Space, Table
from conformance.oracle.turn import Turn


def activated(turn: Turn, space: Space, items: Iterable[Doc]) -> Space:
    """Give the space after an activation, exactly one generation on."""
    brought = sorted_out(space, items)
    held = space.having(
        subjects=_table(turn, subjects(space, brought), _subject_key, _no_group),
        records=_table(turn, surviving(brought["record"], tombstones(space), "record_id"), _record_key, _record_group),
        candidates=_table(
            turn, surviving(brought["candidate"], consumed(space), "candidate_id"), _candidate_key, _candidate_group
        ),
        profiles=_table(turn, brought["profile"], _profile_key, _subject_key),
        reflections=_table(turn, map(unread, brought["reflection"]), _reflection_key, _reflection_group),
        receipts=added(turn, space.receipts, brought["receipt"]),
        facts=facts(turn, space, brought["context_fence"]),
    )
    return held.having(pins=pins(held))


def sorted_out(space: Space, items: Iterable[Doc]) -> dict[str, list[Doc]]:
    """Sort items by type; each becomes the receiving space's, all else of it stays verbatim."""
    brought: dict[str, list[Doc]] = {
        kind: [] for kind in ("subject", "record", "candidate", "profile", "reflection", "receipt", "context_fence")
    }
    for item in items:
        brought[item["type"]].append(received(space, item["value"]))
    return brought


def received(space: Space, value: Doc) -> Doc:
    """Give an item as the receiving space's."""
    return {**value, "space_id": space.space_id} if "space_id" in value else value


def facts(turn: Turn, space: Space, brought: Iterable[Doc]) -> Doc:
    """Give the space-level facts after an activation: the brought context fences, one revision and one generation on."""
    fenced = [fence["context_id"] for fence in brought]
    generation = next_generation(space.facts["authority_generation"])
    return revisions.revised(space.facts, turn.now, fenced_context_ids=fenced, authority_generation=generation)


def next_generation(generation: int) -> int:
    """Give the generation after an activation."""
    return generation + 1


# -- what survives


def tombstones(space: Space) -> list[Doc]:
    """List the receiving space's tombstones."""
    return [record for record in space.records.all() if records.is_tombstone(record)]


def consumed(space: Space) -> list[Doc]:
    """List the receiving space's consumed candidates."""
    return [candidate for candidate in space.candidates.all() if candidate["state"] != candidates.PENDING]


def archived(space: Space) -> list[Doc]:
    """List the receiving space's archived subjects."""
    return [subject for subject in space.subjects.all() if subject["state"] == fences.ARCHIVED]


def surviving(brought: Iterable[Doc], own: Iterable[Doc], key: str) -> list[Doc]:
    """Give what was brought with the receiving space's own in its place, and its own that the bundle lacks."""
    kept = {doc[key]: doc for doc in brought}
    kept.update((doc[key], doc) for doc in own)
    return list(kept.values())


def subjects(space: Space, brought: dict[str, list[Doc]]) -> list[Doc]:
    """Give the subjects after an activation: archived ones stay so, those of survivors stay where the bundle lacks them."""
    kept = surviving(brought["subject"], archived(space), "subject_id")
    known = {subject["subject_id"] for subject in kept}
    lacking = [subject for subject in needed(space) if subject["subject_id"] not in known]
    return [*kept, *lacking]


def needed(space: Space) -> list[Doc]:
    """List the receiving space's subjects of its tombstones and consumed candidates."""
    scopes = [*map(records.placement, tombstones(space)), *map(candidates.placement, consumed(space))]
    wanted = dict.fromkeys(scope["subject_id"] for scope in scopes)
    return [subject for subject in map(space.subjects.get, wanted) if subject is not None]


# -- receipts and reflections


def added(turn: Turn, ledger: Ledger, brought: Iterable[Doc]) -> Ledger:
    """Add brought receipts with their keys; the space's own stay, and win."""
    for receipt in brought:
        ledger = receipts.record(ledger, turn.next_number(), receipt)
    return ledger


def unread(reflection: Doc) -> Doc:
    """Give a reflection as it is kept: ``stale`` is computed at each read."""
    return {name: value for name, value in reflection.items() if name != "stale"}


def pins(space: Space) -> Map[str, Doc]:
    """Pin brought reflections: the placements of their basis records stand in for what their generators covered."""
    return Map({one["reflection_id"]: pin(space, one) for one in space.reflections.all()})


def pin(space: Space, reflection: Doc) -> Doc:
    """Pin one brought reflection."""
    basis = [space.records.get(entry["record_id"]) for entry in reflection["basis"]["records"]]
    found = [record for record in basis if record is not None]
    return reflections.pin(selection.reach_over(map(records.placement, found)), found)


# -- tables


def _table(turn: Turn, docs: Iterable[Doc], key: Callable[[Doc], Hashable], group: Callable[[Doc], str]) -> Table:
    table = Table()
    for doc in docs:
        table = table.add(key(doc), group(doc), turn.next_number(), doc)
    return table


def _subject_key(doc: Doc) -> str:
    return str(doc["subject_id"])


def _no_group(_doc: Doc) -> str:
    return ""


def _record_key(doc: Doc) -> str:
    return str(doc["record_id"])


def _record_group(doc: Doc) -> str:
    return str(doc["scope"]["subject_id"])


def _candidate_key(doc: Doc) -> str:
    return str(doc["candidate_id"])


def _candidate_group(doc: Doc) -> str:
    return str(doc["capture_scope"]["subject_id"])


def _profile_key(doc: Doc) -> tuple[str, str]:
    return profiles.key_of(doc["subject_id"], doc["kind"])


def _reflection_key(doc: Doc) -> str:
    return str(doc["reflection_id"])


def _reflection_group(doc: Doc) -> str:
    return str(doc["selection"]["subject_id"])
