"""Moving a space's contents by export and import, and looking at what arrived (protocol.md section 7, Transfer)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import OMIT, made
from conformance.exchange import Call
from conformance.expect import Inconclusive
from conformance.sealing import Doc, Parcel, moved, name_of
from conformance.wire.canonical import same
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

PINNED = ("selection", "filter", "cognition_filter")


def two_spaces(bench: Bench) -> tuple[World, World]:
    """Return two worlds in two spaces. Raises ``Inconclusive`` where the target has only one space."""
    here, there = bench.world(), bench.beside()
    if here.space_id == there.space_id:
        raise Inconclusive("the target provisions no space and its target file names only one")
    return here, there


def exported(world: World, **members: Any) -> Parcel:
    """Export the space and return the bundle with all its chunks."""
    return scenes.fetched(world, scenes.export(world, **members))


# -- staging


def stage_call(world: World, bundle: Doc, chunk: Doc, import_id: str | None = None) -> Call:
    """Return the call that stages a chunk, by which an import begins where none is named."""
    return world.root.call("imports.stage", bundle=bundle, chunk=chunk, import_id=OMIT if import_id is None else import_id)


def ends_import(bundle: Doc, chunk: Doc) -> bool:
    """Say whether a chunk is the final one: the first that says so or that is the last by count."""
    return bool(chunk["final"]) or chunk["ordinal"] == bundle["chunk_count"] - 1


def found_defective(world: World, parcel: Parcel, what: str) -> Doc | None:
    """Expect a parcel with one defect to be found out, at the latest by the failed receipt of its final chunk.

    Before the final chunk the defect may be refused at once. Returns the failed receipt, None where it was refused.
    """
    bundle, chunks = parcel
    import_id: str | None = None
    for chunk in chunks:
        call = stage_call(world, bundle, chunk, import_id)
        reply = world.exchange(call)
        if ends_import(bundle, chunk):
            world.expect(reply.ok, f"{what}: the final chunk settles a receipt, it is not refused", seen=reply.error)
            return failed(world, world.root.settled(reply.payload["receipt"]), Code.IMPORT_INVALID, what)
        if not reply.ok:
            world.expect_refusal(call, reply, (Code.IMPORT_INVALID,))
            return None
        import_id = made(reply.payload["receipt"], "import")
    world.expect(False, f"{what}: no chunk of the parcel is a final one")
    return None


def receipt_of(world: World, call: Call) -> Doc:
    """Send a call that is answered by a receipt, whatever that says, and return it settled."""
    reply = world.exchange(call)
    world.expect(reply.ok, f"{call.op}: a request was refused that settles a receipt", seen=reply.error)
    receipt: Doc = world.root.settled(reply.payload["receipt"])
    return receipt


def held(world: World, call: Call) -> Doc:
    """Send a call while the provider holds, and return its pending receipt."""
    reply = world.exchange(call)
    world.expect(reply.ok, f"{call.op}: a request was refused that the contract accepts", seen=reply.error)
    receipt: Doc = reply.payload["receipt"]
    world.same("pending", receipt["state"], f"{call.op}: the receipt is not pending although control.hold is on")
    return receipt


def failed(world: World, receipt: Doc, code: Code, what: str) -> Doc:
    """Expect a receipt to have settled ``failed`` with ``code``, and return it."""
    world.expect(receipt["state"] == "failed", f"{what}: the receipt settled {receipt['state']}", expected="failed", seen=receipt)
    world.same({"code": world.bundle.code(code)}, receipt.get("error"), f"{what}: the receipt failed for another reason")
    return receipt


# -- activation


def activation(world: World, import_id: str) -> Call:
    """Return the call that activates an import under the present generation; the space has to be frozen."""
    generation = scenes.generation(world)
    return world.root.call("imports.activate", import_id=import_id, expected_authority_generation=generation)


def activated(world: World, parcel: Parcel) -> Doc:
    """Stage and activate a parcel in an active space, which is active again afterwards; return the activation's receipt."""
    import_id = scenes.stage(world, *parcel)
    scenes.freeze(world)
    receipt: Doc = world.root.accepted(activation(world, import_id))
    scenes.unfreeze(world)
    return receipt


# -- looking


def seen(world: World, items: Iterable[Doc]) -> dict[str, Any]:
    """Return what root reads of all that ``items`` are about, by name, in the form of ``sealing.carried``.

    Of each subject that an item names it is all there is, whether an item holds it or not; profiles, reflections and receipts
    are those asked for by the items. Each names this space as its own, wherever it came from.
    """
    items = list(items)
    readings = [*_subjects(world, items), *_profiles(world, items), *_reflections(world, items), *_receipts(world, items)]
    readings += [("context_fence", {"context_id": context}) for context in scenes.space(world)["fenced_context_ids"]]
    for kind, value in readings:
        world.same(world.space_id, value.get("space_id", world.space_id), f"a {kind} in the space names another space")
    return {name_of(kind, value): moved(value) for kind, value in readings}


def _subjects(world: World, items: list[Doc]) -> Iterator[tuple[str, Doc]]:
    for subject_id in dict.fromkeys(subject for item in items for subject in subjects_of(item)):
        reply = world.root.send("subjects.get", subject_id=subject_id)
        if reply.ok:
            yield "subject", reply.payload["subject"]
        wanted = {"subject_id": subject_id, "mode": "all_authorized"}
        yield from (("record", one) for one in world.root.all("records.list", selection=wanted, include_tombstones=True))
        yield from (("candidate", one) for one in world.root.all("candidates.list", selection=wanted))


def subjects_of(item: Doc) -> list[str]:
    """Return the subjects that an item is about."""
    value: Mapping[str, Any] = item["value"]
    holders = (value, value.get("scope", {}), value.get("capture_scope", {}), value.get("selection", {}))
    return [holder["subject_id"] for holder in holders if "subject_id" in holder]


def _profiles(world: World, items: list[Doc]) -> Iterator[tuple[str, Doc]]:
    kinds: dict[str, list[str]] = {}
    for value in (item["value"] for item in items if item["type"] == "profile"):
        kinds.setdefault(value["subject_id"], []).append(value["kind"])
    for subject_id, wanted in kinds.items():
        documents = world.root.do("profile.get", subject_id=subject_id, kinds=wanted)["documents"]
        yield from (("profile", document) for document in documents)


def _reflections(world: World, items: list[Doc]) -> Iterator[tuple[str, Doc]]:
    if world.bundle.flag(Flag.REFLECTION) not in world.root.flags:
        return
    asked: list[dict[str, Any]] = []
    for value in (item["value"] for item in items if item["type"] == "reflection"):
        pinned = {member: value[member] for member in PINNED if member in value}
        if not any(same(pinned, other) for other in asked):
            asked.append(pinned)
    for request in asked:
        yield from (("reflection", one) for one in world.root.all("reflections.list", **request))


def _receipts(world: World, items: list[Doc]) -> Iterator[tuple[str, Doc]]:
    for value in (item["value"] for item in items if item["type"] == "receipt"):
        reply = world.root.send("receipts.get", receipt_id=value["receipt_id"])
        if reply.ok:
            yield "receipt", reply.payload["receipt"]
