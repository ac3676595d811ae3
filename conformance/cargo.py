"""One plain item of each of the seven types, as values that no export made: what a check stages when it needs no real export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance import moving, sealing
from conformance.sealing import Doc, Parcel
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

THEN = "2026-01-01T00:00:00Z"
WORD = "zebra"
ENTRY: dict[str, Any] = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "it rains",
    "attribution": {"holder_id": "ann"},
    "basis": {"kind": "stated", "refs": []},
    "time": {"recorded_at": THEN},
}


@dataclass(frozen=True, slots=True)
class Cargo:
    """The values by type, under names that are one world's own; ``home`` is the space that they say they come from."""

    home: str
    values: Mapping[str, Mapping[str, Any]]

    @property
    def scope(self) -> dict[str, str]:
        """The placement of the record and the candidate."""
        return dict(self.values["record"]["scope"])

    def item(self, kind: str, /, **members: Any) -> dict[str, Any]:
        """Return the item of one type with other members in its value; ``...`` leaves a member out."""
        value = {name: member for name, member in {**self.values[kind], **members}.items() if member is not ...}
        return {"type": kind, "value": value}

    def items(self, *kinds: str) -> list[Doc]:
        """Return the items of some types, of all seven where none is named."""
        return [self.item(kind) for kind in kinds or self.values]

    def parcel(self, items: Sequence[Doc] | None = None, size: int = 2, **facts: Any) -> Parcel:
        """Return a sealed parcel of the seven items or of others, in chunks of two, which every provider takes."""
        return sealing.forged(self.home, self.items() if items is None else items, size, **facts)


def cargo(world: World) -> Cargo:
    """Return the cargo of a world."""
    home, subject_id, record_id = world.name("elsewhere"), world.name("moved"), world.name("r1")
    scope = {"subject_id": subject_id, "context_id": world.name("c1")}
    stamped = {"schema_version": 1, "space_id": home, "created_at": THEN, "extensions": {}}
    revised = {**stamped, "revision": 1, "updated_at": THEN}
    content = {"text": WORD, "cognition": [ENTRY]}
    return Cargo(
        home,
        {
            "subject": {**revised, "subject_id": subject_id, "kind": "app:user", "state": "active"},
            "record": {**revised, "record_id": record_id, "kind": "note", "content": content, "scope": scope, **_WRITTEN},
            "candidate": {**revised, "candidate_id": world.name("k1"), "capture_scope": scope, **_CAPTURED},
            "profile": {**revised, "subject_id": subject_id, **_PROFILE},
            "reflection": {
                **stamped,
                "reflection_id": world.name("f1"),
                "selection": _one_context(scope),
                **_reflected(record_id),
            },
            "receipt": {
                **stamped,
                "receipt_id": world.name("t1"),
                "idempotency_key": world.name("moved-key"),
                **_receipt(record_id),
            },
            "context_fence": {"context_id": world.name("c7")},
        },
    )


_WRITTEN = {"provenance": {"source": "author", "created_by": "ann"}}
_CAPTURED = {
    "state": "pending",
    "content": {"text": WORD},
    "classification": {"label": "note", "signals": []},
    "provenance": {"captured_by": "ann"},
}
_PROFILE = {"kind": "voice", "content": {"text": WORD}, "content_digest": digest({"text": WORD}), "updated_by": "ann"}


def _one_context(scope: Mapping[str, str]) -> dict[str, Any]:
    return {"subject_id": scope["subject_id"], "mode": "contexts", "context_ids": [scope["context_id"]]}


def _reflected(record_id: str) -> dict[str, Any]:
    records = [{"record_id": record_id, "revision": 1}]
    basis = {"state_digest": "0" * 64, "records": records, "profiles": [], "engine_policy_version": "1"}
    return {"basis": basis, "text": WORD, "stale": False}


def _receipt(record_id: str) -> dict[str, Any]:
    return {
        "op": "memory.records.create",
        "principal_id": "ann",
        "payload_digest": "0" * 64,
        "state": "committed",
        "affected": [{"type": "record", "id": record_id, "revision": 1}],
        "authority_generation": 1,
        "settled_at": THEN,
    }


# -- looking


def unseen(world: World, load: Cargo, what: str) -> None:
    """Expect nothing of a cargo to be visible by any read of the world's root."""
    names = sealing.carried(load.items())
    visible = [name for name in moving.seen(world, load.items()) if name in names]
    world.same([], visible, what)
    everything = {"subject_id": load.scope["subject_id"], "mode": "all_authorized"}
    recalled = world.root.do("recall", selection=everything, query={"text": WORD}, budget={"max_records": 9})
    world.same([], recalled["records"], f"{what} (recall)")
    world.root.refused("records.get", Code.NOT_FOUND, record_id=load.values["record"]["record_id"])
    world.root.refused("candidates.get", Code.NOT_FOUND, candidate_id=load.values["candidate"]["candidate_id"])


def landed(world: World, items: Sequence[Doc], what: str) -> None:
    """Expect items to have arrived verbatim, each of their subjects with nothing beside; reflections where there is a read."""
    reflecting = world.bundle.flag(Flag.REFLECTION) in world.root.flags
    readable = [item for item in items if reflecting or item["type"] != "reflection"]
    world.same(sealing.carried(readable), moving.seen(world, readable), what)
