"""MEM-R027: an export holds the space as it was, and a move by export and import reproduces it (protocol.md section 7, Transfer).

This part is about what travels. How chunks are staged and verified is in ``…_staging``, what an activation does to the space
that receives in ``…_activation``, ``…_keys`` and ``…_survivors``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import moving, scenes, sealing
from conformance.bench import Bench
from conformance.caller import Caller, all_made
from conformance.sealing import Parcel
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.content import contents, profile_contents
from strategies.identifiers import extension_maps, ids, kinds

ENTRY = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "it rains",
    "attribution": {"holder_id": "ann", "asserted_by": "bob"},
    "basis": {"kind": "inferred", "refs": ["a", "b", "a"]},
    "time": {"recorded_at": "2026-01-01T00:00:00.000Z", "occurred_at": "2024-02-29T23:59:59.1234567890Z"},
}
ANN = {"holder_id": "ann"}
EXTENSIONS = {"acme": {"deep": [{"x": None}], "": 1, "none": None}, "other-product": {}}
VOID: tuple[Any, ...] = (None, False, 0, "", [], {})
"""Values of ``structured`` that say something although they look like nothing."""


# -- a space with everything in it (field bug F15)


def furnish(bench: Bench, world: World) -> None:
    """Put all seven item types with every optional member into a space."""
    records(world)
    candidates(world)
    profiles(bench, world)
    if bench.declares(Flag.REFLECTION):
        reflections(bench, world)
    moving.found_defective(world, spoilt(moving.exported(world)), "an export whose last digest was changed")
    fences(world)


def records(world: World) -> None:
    """Write records: placed and shared, bare and full, with cognition of each of the three values, changed, moved, deleted."""
    world.root.do("subjects.ensure", subject_id=world.name("u1"), kind="app:user", extensions=EXTENSIONS)
    scope, root = world.scope(), world.root
    root.create()
    root.create(content={"text": "full", "structured": {"a": [1, None]}, "cognition": [ENTRY, ENTRY]}, extensions=EXTENSIONS)
    root.create(content={"text": "empty", "cognition": []}, scope=world.scope(context=None), source_context_id="src")
    changed = root.create(content={"text": "null", "structured": None})
    root.do("records.update", record_id=changed, expected_revision=1, kind="fact")
    root.do("records.promote", record_id=changed, expected_revision=2, to_scope=world.scope(context="c2"))
    dead = root.create(content={"text": "gone"}, extensions=EXTENSIONS, source_context_id="src")
    root.do("records.delete", record_id=dead, expected_revision=1)
    root.create(scope=world.scope("u2"))
    root.create(scope={**scope, "subject_id": world.scope("u3")["subject_id"]})


def candidates(world: World) -> None:
    """Capture candidates and bring them into all five states."""
    full = {"content": {"text": "a", "cognition": [ENTRY]}, "source_context_id": "src", "extensions": EXTENSIONS}
    pending, promoted, fragmented, discarded, dismissed = (world.root.capture(**full) for _ in range(5))
    world.root.do("capture", content={"text": "without a kind"}, scope=world.scope(context=None))
    fragments = [{"content": {"text": "one"}}, {"kind": "fact", "content": {"text": "two", "cognition": []}}]
    decisions: dict[str, dict[str, Any]] = {
        promoted: {"action": "promote", "kind": "fact"},
        fragmented: {"action": "fragment", "fragments": fragments},
        discarded: {"action": "discard"},
    }
    for candidate_id, decision in decisions.items():
        world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    scenes.dismiss(world, dismissed)
    world.same("pending", world.root.candidate(pending)["state"], "a capture does not stay pending")


def profiles(bench: Bench, world: World) -> None:
    """Write the required profiles and two more, one of them twice."""
    subject_id = world.name("u1")
    members: dict[str, Any] = {"subject_id": subject_id, "content": {"text": "a", "structured": None}, "extensions": EXTENSIONS}
    for kind in dict.fromkeys(["voice", *bench.described(world)["required_profile_kinds"]]):
        world.root.do("profile.update", kind=kind, expected_revision=None, **members)
    world.root.do("profile.update", kind="voice", expected_revision=1, **members)
    world.root.do("profile.update", kind="a/b", expected_revision=None, **{**members, "subject_id": world.name("u2")})


def reflections(bench: Bench, world: World) -> None:
    """Generate two reflections that are stale after, the second with all that can be pinned, and one that is current."""
    place = scenes.selection(world.scope())
    cognition = {"cognition_filter": ANN} if bench.declares(Flag.COGNITION) else {}
    world.root.do("reflections.generate", selection=place)
    world.root.create()
    pinned = {"selection": place, "filter": {"sources": ["author", "review"]}, **cognition}
    world.root.do("reflections.generate", **pinned, extensions=EXTENSIONS)
    world.root.create(content={"text": "late", "cognition": [ENTRY]})
    world.root.do("reflections.generate", selection=scenes.selection(world.scope(context=None)))


def fences(world: World) -> None:
    """Fence a subject, archive another, fence two contexts and unfence a third."""
    for subject, action in (("u2", "fence"), ("u3", "archive")):
        target = {"type": "subject", "subject_id": world.name(subject)}
        world.root.do("subjects.fence", target=target, action=action, expected_revision=1)
    for context, action in (("c8", "fence"), ("c9", "fence"), ("c1", "fence"), ("c1", "unfence")):
        world.root.do("subjects.fence", target={"type": "context", "context_id": world.name(context)}, action=action)


def voids(world: World) -> dict[str, Any]:
    """Write each value that looks like nothing into a record, a candidate and a profile; return the contents by name."""
    written: dict[str, Any] = {}
    subject_id = world.scope()["subject_id"]
    for number, value in enumerate(VOID):
        content, kind = {"text": "", "structured": value}, f"void-{number}"
        full = {**content, "cognition": []} if number % 2 else content
        record_id = world.root.create(content=full, extensions={"acme": {"void": value}})
        written[sealing.name_of("record", {"record_id": record_id})] = full
        candidate_id = world.root.capture(content=full, extensions={"acme": {"void": value}})
        written[sealing.name_of("candidate", {"candidate_id": candidate_id})] = full
        world.root.do("profile.update", subject_id=subject_id, kind=kind, content=content, expected_revision=None)
        written[sealing.name_of("profile", {"subject_id": subject_id, "kind": kind})] = content
    return written


def spoilt(parcel: Parcel) -> Parcel:
    """Return a parcel whose final chunk claims another digest: an earlier defect could be refused without a receipt."""
    bundle, chunks = parcel
    return bundle, [*chunks[:-1], {**chunks[-1], "chunk_digest": "0" * 64}]


# -- what an export is


def well_made(world: World, parcel: Parcel, size: int) -> None:
    """Expect chunks in order, none above ``size`` items, and every digest and count right."""
    bundle, chunks = parcel
    world.same(len(chunks), bundle["chunk_count"], "chunk_count is not the number of chunks")
    for number, chunk in enumerate(chunks):
        world.same(number, chunk["ordinal"], "the chunks are not numbered from 0")
        world.same(number == len(chunks) - 1, chunk["final"], "not exactly the last chunk is the final one")
        world.same(bundle["export_id"], chunk["export_id"], "a chunk belongs to another export")
        world.expect(len(chunk["items"]) <= size, "a chunk holds more items than asked for", expected=size, seen=chunk)
        world.same(digest(chunk, without="chunk_digest"), chunk["chunk_digest"], "a chunk's digest is not its own")
    world.same([chunk["chunk_digest"] for chunk in chunks], bundle["chunk_digests"], "chunk_digests are not those of the chunks")
    world.same(sealing.counted(sealing.items_of(chunks)), bundle["counts"], "counts are not the numbers of the items")
    world.same(digest(bundle, without="digest"), bundle["digest"], "the bundle's digest is not its own")
    world.same(world.space_id, bundle["space_id"], "the bundle names another space")
    generation = scenes.generation(world)
    world.same(generation, bundle["authority_generation"], "the bundle does not name the generation of its space")


def holds_the_space(world: World, parcel: Parcel, receipts: list[str]) -> None:
    """Expect an export to hold the receipts named, all that they made, and of each subject exactly what root reads of it."""
    items = sealing.items_of(parcel[1])
    settled = sealing.values(parcel[1], "receipt")
    missing = sorted(set(receipts) - {receipt["receipt_id"] for receipt in settled})
    world.expect(not missing, "the export lacks receipts that were settled when it was made", seen=missing)
    lost = sorted(affected_by(settled) - {(item["type"], affected_id(item)) for item in items})
    world.expect(not lost, "the export lacks objects that were made", seen=lost)
    world.same(moving.seen(world, items), sealing.carried(items), "the export is not what the space reads as")
    for item in items:
        if "space_id" in item["value"]:
            world.same(world.space_id, item["value"]["space_id"], "an item names another space")


def holds_as_written(world: World, parcel: Parcel, written: Mapping[str, Any]) -> None:
    """Expect an export to hold the contents of some items as they were written, whatever its own space reads them as."""
    held = sealing.carried(sealing.items_of(parcel[1]))
    contents_held = {name: held.get(name, {}).get("content") for name in written}
    world.same(written, contents_held, "the export does not hold a content as it was written")


def affected_by(receipts: list[sealing.Doc]) -> set[tuple[str, str]]:
    """Return what receipts say was made or changed, as (type, id), of the types that travel."""
    entries = [entry for receipt in receipts for entry in receipt["affected"]]
    return {(entry["type"], entry["id"]) for entry in entries if entry["type"] in sealing.NAMED_BY}


def affected_id(item: sealing.Doc) -> str:
    """Return the id by which a receipt names an item: a profile's is of its subject and kind."""
    return "/".join(item["value"][member] for member in sealing.NAMED_BY[item["type"]])


def arrived(there: World, parcel: Parcel) -> None:
    """Expect the receiving space to hold exactly what the parcel holds, as its own."""
    items = sealing.items_of(parcel[1])
    world_holds = moving.seen(there, items)
    expected = sealing.carried(items)
    there.same(expected, {name: world_holds.get(name) for name in expected}, "an item did not arrive verbatim")
    there.same_set(list(expected), list(world_holds), "the space holds more than what arrived")


@pytest.mark.parametrize("size", [1, None], ids=["one", "default"])
def test_a_move_reproduces_the_space(bench: Bench, size: int | None) -> None:
    """Every item of all seven types travels with every member, and another space reads the same after the activation."""
    here, there = moving.two_spaces(bench)
    furnish(bench, here)
    written = voids(here)
    settled = list(here.receipts)
    most = bench.described(here)["limits"]["max_chunk_items"]
    parcel = moving.exported(here, **({} if size is None else {"max_items_per_chunk": size}))
    well_made(here, parcel, size or most)
    holds_the_space(here, parcel, settled)
    holds_as_written(here, parcel, written)
    expected = {kind for kind in sealing.NAMED_BY if kind != "reflection" or bench.declares(Flag.REFLECTION)}
    held = {item["type"] for item in sealing.items_of(parcel[1])}
    here.same_set(sorted(expected), sorted(held), "the export does not hold every type that there is")
    states = {receipt["state"] for receipt in sealing.values(parcel[1], "receipt")}
    here.same_set(["committed", "failed"], sorted(states), "not exactly the settled receipts travel")
    moving.activated(there, parcel)
    arrived(there, parcel)
    same_staleness(here, there, parcel)


def same_staleness(here: World, there: World, parcel: Parcel) -> None:
    """Expect each reflection on named placements to be as stale in the receiving space as where it came from."""
    for value in sealing.values(parcel[1], "reflection"):
        asked = {member: value[member] for member in moving.PINNED if member in value}
        old, new = (
            {one["reflection_id"]: one["stale"] for one in world.root.all("reflections.list", **asked)} for world in (here, there)
        )
        there.same(old, new, "a reflection changed its staleness on the way")


WRITTEN = st.fixed_dictionaries(
    {"content": contents(), "kind": kinds(), "extensions": extension_maps()}, optional={"source_context_id": ids()}
)


@given(
    written=st.lists(WRITTEN, max_size=2),
    captured=st.lists(WRITTEN, max_size=1),
    profile=profile_contents(),
    context=st.none() | ids(),
    size=st.integers(1, 3),
)
@pytest.mark.examples(0.3)
def test_whatever_was_written_travels_verbatim(
    bench: Bench, written: list[Any], captured: list[Any], profile: Any, context: str | None, size: int
) -> None:
    """Any content, kind, extension, name and placement comes out of the receiving space as it went into the exporting one."""
    here, there = moving.two_spaces(bench)
    scope = {**here.scope(), "context_id": context} if context is not None else here.scope(context=None)
    for members in written:
        here.root.create(scope=scope, **members)
    for members in captured:
        here.root.capture(scope=scope, **members)
    here.root.do("profile.update", subject_id=scope["subject_id"], kind="voice", content=profile, expected_revision=None)
    most = min(size, bench.described(here)["limits"]["max_chunk_items"])
    parcel = moving.exported(here, max_items_per_chunk=most)
    well_made(here, parcel, most)
    holds_the_space(here, parcel, [])
    moving.activated(there, parcel)
    arrived(there, parcel)


def test_an_export_of_nothing_is_an_export(bench: Bench) -> None:
    """A space with nothing in it, frozen or not, gives a bundle of one chunk at least, as asked for, that can be activated."""
    here, there = moving.two_spaces(bench)
    most = bench.described(here)["limits"]["max_chunk_items"]
    for state in ("active", "frozen"):
        if state == "frozen":
            scenes.freeze(here)
        parcel = moving.exported(here, extensions=EXTENSIONS)
        well_made(here, parcel, most)
        here.carries(EXTENSIONS, parcel[0], f"the bundle of an empty {state} space lacks the extensions of its request")
    there.root.create()
    moving.activated(there, parcel)
    if not here.shared:
        listed = there.root.all("records.list", selection=there.everything(), include_tombstones=True)
        there.same([], listed, "the activation of an empty export left a record")
        there.root.refused("subjects.get", Code.NOT_FOUND, subject_id=there.name("u1"))


def granted(there: World, caller: Caller) -> list[Any]:
    """Return the grants of a space by id, and those of a caller in it."""
    everyone = {grant["grant_id"]: grant for grant in there.root.all("grants.list", view="admin")}
    return [everyone, caller.all("grants.list", view="own", space_id=there.space_id)]


def test_no_grant_travels(bench: Bench) -> None:
    """A bundle holds no grant, and an activation changes none: who could read in one space cannot in the other."""
    here, there = moving.two_spaces(bench)
    record_id = here.root.create()
    reader = here.principal("records_read", "recall", "transfer", "admin")
    here.same(record_id, reader.read(record_id)["record_id"], "the reader cannot read where it was granted to")
    # Both worlds draw on one pool of principals: the second of the first world is nobody else's.
    keeper = replace(here.stranger("keeper"), world=there)
    there.root.grant(keeper, capabilities=["records_read"])
    before = granted(there, reader)
    parcel = moving.exported(here)
    moving.activated(there, parcel)
    there.same(before, granted(there, reader), "an activation changed the grants of the space")
    reader.denied("records.get", record_id=record_id, space_id=there.space_id)
    reader.denied("records.list", selection=here.everything(), space_id=there.space_id)
    there.same(record_id, keeper.read(record_id)["record_id"], "the receiving space's own grant does not cover what arrived")


def test_what_arrived_can_be_worked_on(bench: Bench) -> None:
    """Moved candidates are reviewed, moved records updated and moved profiles rewritten, each at the revision it came with."""
    here, there = moving.two_spaces(bench)
    record_id, candidate_id = here.root.create(), here.root.capture()
    here.root.do("records.update", record_id=record_id, expected_revision=1, kind="fact")
    profile: dict[str, Any] = {"subject_id": here.name("u1"), "kind": "voice", "content": {"text": "a"}}
    here.root.do("profile.update", expected_revision=None, **profile)
    moving.activated(there, moving.exported(here))
    there.root.refused("records.update", Code.REVISION_STALE, record_id=record_id, expected_revision=1, kind="note")
    there.root.do("records.update", record_id=record_id, expected_revision=2, kind="note")
    there.root.refused("profile.update", Code.REVISION_STALE, expected_revision=None, **profile)
    there.root.do("profile.update", expected_revision=1, **profile)
    decision = {"action": "promote"}
    receipt = there.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    recalled = there.root.do("recall", selection=here.everything(), budget={"max_records": 9})["records"]
    expected = [record_id, *all_made(receipt, "record")]
    there.same_set(expected, [record["record_id"] for record in recalled], "recall does not find what arrived and was reviewed")
    there.same("note", there.root.read(record_id)["kind"], "the moved record was not updated")
    here.same("pending", here.root.candidate(candidate_id)["state"], "work in the receiving space changed the exporting one")
