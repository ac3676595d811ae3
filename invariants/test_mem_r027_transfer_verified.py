"""MEM-R027: digests, counts, items and export ids of an import are verified (protocol.md section 7, Transfer; field bug F22).

They are verified at the final chunk, by the failed receipt of that stage; an earlier defect may be refused at once. Each parcel
is sealed again after its one edit, so that it has this one defect and no other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import moving, scenes, sealing
from conformance.bench import Bench
from conformance.caller import made
from conformance.cargo import ENTRY, THEN, WORD, Cargo, cargo, landed, unseen
from conformance.sealing import Doc, Parcel
from conformance.wire.canonical import content_bytes, digest
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.content import content_of_bytes
from strategies.timestamps import INVALID_TIMESTAMPS

Edit = Callable[[Parcel], Parcel]

# -- edits of a parcel


def of_bundle(**members: Any) -> Edit:
    """Put members into the bundle and give it its own digest again."""
    return lambda parcel: (sealing.sealed_bundle({**parcel[0], **members}), parcel[1])


def of_count(by: int) -> Edit:
    """Let the bundle count another number of chunks."""
    return lambda parcel: of_bundle(chunk_count=parcel[0]["chunk_count"] + by)(parcel)


def of_chunk(number: int, **members: Any) -> Edit:
    """Put members into one chunk and seal the parcel again."""
    return lambda parcel: sealing.sealed(parcel[0], replaced(parcel[1], number, members))


def replaced(chunks: list[Doc], number: int, members: Mapping[str, Any]) -> list[Doc]:
    """Return the chunks with other members in one of them; -1 is the last."""
    return [{**chunk, **members} if chunk is chunks[number] else chunk for chunk in chunks]


def miscounted(kind: str, by: int) -> Edit:
    """Count one item type wrong."""
    return lambda parcel: of_bundle(counts={**parcel[0]["counts"], kind: parcel[0]["counts"][kind] + by})(parcel)


def mislisted(digests: Callable[[list[str]], list[str]]) -> Edit:
    """List other chunk digests than the chunks'."""
    return lambda parcel: of_bundle(chunk_digests=digests(parcel[0]["chunk_digests"]))(parcel)


def misdigested(number: int) -> Edit:
    """Let a chunk claim a digest that is not its own, and the bundle list that very digest."""

    def edit(parcel: Parcel) -> Parcel:
        chunks = replaced(parcel[1], number, {"chunk_digest": "1" * 64})
        return of_bundle(chunk_digests=[chunk["chunk_digest"] for chunk in chunks])((parcel[0], chunks))

    return edit


def altered_under_seal(number: int) -> Edit:
    """Change a chunk's content and leave every digest as it was."""
    return lambda parcel: (parcel[0], replaced(parcel[1], number, {"extensions": {"acme": {}}}))


DEFECTS: Mapping[str, Edit] = {
    "bundle digest": lambda parcel: ({**parcel[0], "digest": "0" * 64}, parcel[1]),
    "bundle altered under its seal": lambda parcel: ({**parcel[0], "authority_generation": 9}, parcel[1]),
    "digest of the first chunk": misdigested(0),
    "digest of the last chunk": misdigested(-1),
    "first chunk altered under its seal": altered_under_seal(0),
    "middle chunk altered under its seal": altered_under_seal(1),
    "swapped chunk digests": mislisted(lambda listed: [listed[1], listed[0], *listed[2:]]),
    "missing chunk digest": mislisted(lambda listed: listed[:-1]),
    "further chunk digest": mislisted(lambda listed: [*listed, listed[0]]),
    "first chunk of another export": of_chunk(0, export_id="another"),
    "middle chunk of another export": of_chunk(1, export_id="another"),
    "last chunk of another export": of_chunk(-1, export_id="another"),
    "final too early": of_chunk(1, final=True),
    "never final": of_chunk(-1, final=False),
    "chunk count too high": of_count(1),
    "chunk count too low": of_count(-1),
    **{f"one {kind} too many counted": miscounted(kind, 1) for kind in sealing.NAMED_BY},
    **{f"one {kind} too few counted": miscounted(kind, -1) for kind in sealing.NAMED_BY},
}


def over(world: World, load: Cargo, receipt: Doc | None, parcel: Parcel, what: str) -> None:
    """Expect a failed import not to be used again; where its defect was refused before, there may be none."""
    if receipt is None:
        return
    import_id = made(receipt, "import")
    read = world.root.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
    world.same(receipt, read, f"{what}: the failed receipt reads otherwise")
    world.root.must_refuse(moving.activation(world, import_id), Code.WRONG_STATE)
    world.root.refused("imports.discard", Code.WRONG_STATE, import_id=import_id)
    # A chunk of a complete import is also out of order: either answer says that it is not taken.
    again = moving.stage_call(world, parcel[0], parcel[1][1], import_id)
    world.root.must_refuse(again, Code.WRONG_STATE, Code.IMPORT_SEQUENCE)
    unseen(world, load, f"{what}: something of a defective import is visible")


def test_a_defect_is_found_at_the_latest_at_the_end(bench: Bench) -> None:
    """A wrong digest, count, export id or end is found out, and the import cannot be used; the right parcel is activated."""
    world = bench.world()
    load = cargo(world)
    scenes.freeze(world)
    for what, edit in bench.rows(list(DEFECTS.items())):
        parcel = edit(load.parcel())
        over(world, load, moving.found_defective(world, parcel, what), parcel, what)
    unseen(world, load, "something of a defective import is visible")
    world.root.accepted(moving.activation(world, scenes.stage(world, *load.parcel())))
    landed(world, load.items(), "the parcel without defect did not arrive")


def test_a_failed_stage_has_used_its_key(bench: Bench) -> None:
    """A replay of the stage that failed returns the failed receipt; with a new key and a right chunk another import works."""
    world = bench.world()
    load = cargo(world)
    bundle, (chunk,) = load.parcel(load.items("subject"))
    call = moving.stage_call(world, {**bundle, "digest": "0" * 64}, chunk)
    receipt = moving.failed(world, moving.receipt_of(world, call), Code.IMPORT_INVALID, "a wrong bundle digest")
    world.same(receipt, moving.receipt_of(world, call), "the replay of a failed stage is not the failed receipt")
    activated = scenes.stage(world, bundle, [chunk])
    scenes.freeze(world)
    world.root.accepted(moving.activation(world, activated))


def test_a_chunk_refused_early_was_not_staged(bench: Bench) -> None:
    """Where a defect is refused before the final chunk, that chunk was not staged: the right one is still due."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    import_id = made(world.root.accepted(moving.stage_call(world, bundle, chunks[0])), "import")
    bad = moving.stage_call(world, bundle, {**chunks[1], "chunk_digest": "0" * 64}, import_id)
    reply = world.exchange(bad)
    if reply.ok:
        for chunk in chunks[2:-1]:
            world.root.accepted(moving.stage_call(world, bundle, chunk, import_id))
        last = moving.receipt_of(world, moving.stage_call(world, bundle, chunks[-1], import_id))
        moving.failed(world, last, Code.IMPORT_INVALID, "a wrong chunk digest")
        import_id = scenes.stage(world, bundle, chunks)
    else:
        world.expect_refusal(bad, reply, (Code.IMPORT_INVALID,))
        for chunk in chunks[1:]:
            world.root.accepted(moving.stage_call(world, bundle, chunk, import_id))
    scenes.freeze(world)
    world.root.accepted(moving.activation(world, import_id))
    landed(world, load.items(), "the right chunks did not arrive")


def test_another_bundle_on_the_way_is_not_taken(bench: Bench) -> None:
    """The bundle is the same on every call: with another export's bundle the import does not come to be staged."""
    world = bench.world()
    load = cargo(world)
    bundle, chunks = load.parcel()
    other, _ = load.parcel(load.items()[::-1], export_id="another")
    import_id = scenes.stage(world, bundle, chunks[:-1])
    call = moving.stage_call(world, other, chunks[-1], import_id)
    reply = world.exchange(call)
    if reply.ok:
        moving.failed(world, world.root.settled(reply.payload["receipt"]), Code.IMPORT_INVALID, "another bundle at the end")
    else:
        # The contract names no code for a bundle that is not the same.
        codes = (Code.IMPORT_INVALID, Code.INVALID_VALUE, Code.MALFORMED_REQUEST, Code.IMPORT_SEQUENCE, Code.WRONG_STATE)
        world.expect_refusal(call, reply, codes)
    scenes.freeze(world)
    if reply.ok:
        world.root.must_refuse(moving.activation(world, import_id), Code.WRONG_STATE)
    unseen(world, load, "something of a defective import is visible")


# -- what is inside


def entry(**members: Any) -> dict[str, Any]:
    """Return a content with a right cognition entry, and one that has other members; ``...`` leaves a member out."""
    other = {name: member for name, member in {**ENTRY, **members}.items() if member is not ...}
    return {"content": {"text": WORD, "cognition": [ENTRY, other]}}


OUTCOME = {"decision": "discard", "record_ids": [], "decided_by": "ann", "decided_at": THEN}
MALFORMED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "an entry without view": ("record", entry(view=...)),
    "an entry of no dimension": ("record", entry(dimension="hope")),
    "an entry with an empty value": ("record", entry(value="")),
    "an entry with an extra member": ("record", entry(confidence=1)),
    "an entry of no date": ("record", entry(time={"recorded_at": "2025-02-30T00:00:00Z"})),
    "null cognition": ("record", {"content": {"text": WORD, "cognition": None}}),
    "a malformed entry in a candidate": ("candidate", entry(view="now")),
    "cognition in a profile": ("profile", {"content": {"text": WORD, "cognition": []}}),
    "revision 0": ("record", {"revision": 0}),
    "a kind of 129": ("record", {"kind": "a" * 129}),
    "an open subject kind": ("subject", {"kind": "user"}),
    "an unknown state": ("subject", {"state": "retired"}),
    "a tombstone with text": ("record", {"tombstone": {"deleted_at": THEN, "deleted_by": "ann"}}),
    "a pending candidate with outcome": ("candidate", {"outcome": OUTCOME}),
    "a promoted candidate without outcome": ("candidate", {"state": "promoted"}),
    "a failed receipt without error": ("receipt", {"state": "failed"}),
    "a settled receipt without settled_at": ("receipt", {"settled_at": ...}),
    "an upper-case extension": ("record", {"extensions": {"Acme": {}}}),
    "an extra member": ("record", {"vector": [0.5]}),
    "a fence without context": ("context_fence", {"context_id": ...}),
    **{f"the date {text}": ("record", {"created_at": text}) for text in INVALID_TIMESTAMPS},
}

MISSHAPEN: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "no value": lambda item: {"type": item["type"]},
    "null value": lambda item: {**item, "value": None},
    "a member beside the value": lambda item: {**item, "note": 1},
    "no type": lambda item: {"value": item["value"]},
    "an unknown type": lambda item: {**item, "type": "note"},
    "a type in upper case": lambda item: {**item, "type": "Record"},
    "a grant": lambda item: {**item, "type": "grant"},
    "a value of another type": lambda item: {**item, "type": "candidate"},
    "an empty item": lambda _item: {},
}


def test_a_malformed_item_is_found(bench: Bench) -> None:
    """An item that no other entrance would take is a defect of the import, although every digest and count is right."""
    world = bench.world()
    load = cargo(world)
    bad = {what: load.item(kind, **members) for what, (kind, members) in MALFORMED.items()}
    bad |= {what: shape(load.item("record")) for what, shape in MISSHAPEN.items()}
    companions = load.items("subject", "receipt", "context_fence")
    for number, (what, item) in enumerate(bench.rows(list(bad.items()))):
        others = [other for other in companions if other["type"] != item.get("type")] if number % 2 else []
        moving.found_defective(world, load.parcel([*others, item]), what)
    unseen(world, load, "something of a defective import is visible")
    moving.activated(world, load.parcel())


def breakable(bench: Bench, load: Cargo, kind: str) -> list[dict[str, Any]]:
    """List items of one type that its schema refuses: a member less, a member more, a member of no use."""
    value = load.values[kind]
    changed = [load.item(kind, **{name: other}) for name, member in value.items() for other in (..., None, [member], 0)]
    judge = bench.bundle.model("ExportItem")
    return [item for item in [*changed, load.item(kind, extra=1)] if not judge.accepts(item)]


@given(data=st.data())
@pytest.mark.examples(0.6)
def test_any_item_that_its_schema_refuses_is_found(bench: Bench, data: st.DataObject) -> None:
    """Whichever member of whichever item is missing, superfluous or of another type, the import is found defective."""
    world = bench.world()
    load = cargo(world)
    kind = data.draw(st.sampled_from(list(load.values)))
    item = data.draw(st.sampled_from(breakable(bench, load, kind)))
    kinds = data.draw(st.lists(st.sampled_from([other for other in load.values if other != kind]), max_size=3, unique=True))
    others = load.items(*kinds) if kinds else []
    place = data.draw(st.integers(0, len(others)))
    moving.found_defective(world, load.parcel([*others[:place], item, *others[place:]]), f"a malformed {kind}")
    unseen(world, load, "something of a defective import is visible")


# -- twins: what is right, however odd

BARE = {"text": "", "structured": None}
ODD_NAMES = {"\U0001f600": 1, "\ufb01": 2, "\u20ac": 3, "\r": 4, "1": 5, "\u0080": 6, "\u00f6": 7}
ODD: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "an unknown namespace": ("record", {"extensions": {"never-heard-of": {"a": [None, {}]}}}),
    "a high revision": ("record", {"revision": 2**40}),
    "a kind of 128": ("record", {"kind": "\U0001f600" * 128}),
    "many digits": ("record", {"created_at": "1999-12-31T23:59:59.123456789012345Z"}),
    "odd names": ("record", {"content": {"text": WORD, "structured": ODD_NAMES}}),
    "empty cognition": ("record", {"content": {"text": WORD, "cognition": []}}),
    "structured null": ("candidate", {"content": {"text": WORD, "structured": None}}),
    "empty cognition in a candidate": ("candidate", {"content": {"text": "", "structured": {}, "cognition": []}}),
    "edges of white space": ("reflection", {"text": "\u00a0 edges\t\n"}),
    "structured null in a profile": ("profile", {"content": BARE, "content_digest": digest(BARE)}),
    "a subject without kind": ("subject", {"kind": ...}),
    "a tombstone": ("record", {"content": {"text": ""}, "tombstone": {"deleted_at": THEN, "deleted_by": "ann"}}),
}


def test_an_odd_item_arrives_verbatim(bench: Bench) -> None:
    """What its schema admits is taken and comes out verbatim, however odd."""
    world = bench.world()
    load = cargo(world)
    for what, (kind, members) in bench.rows(list(ODD.items())):
        items = [load.item(one, **members) if one == kind else load.item(one) for one in load.values]
        moving.activated(world, load.parcel(items))
        landed(world, items, f"{what}: an odd item did not arrive verbatim")


def test_imported_content_is_not_measured(bench: Bench) -> None:
    """Content above ``max_content_bytes`` is refused by other entrances and taken by an import, and nothing stops it later."""
    world = bench.world()
    load = cargo(world)
    most = bench.described(world)["limits"]["max_content_bytes"]
    content = content_of_bytes(min(most + 1, 500_000))
    items: list[Doc] = [load.item("subject"), load.item("record", content=content), load.item("candidate", content=content)]
    moving.activated(world, load.parcel(items, 1))
    landed(world, items, "large imported content did not arrive verbatim")
    if content_bytes(content) > most:
        world.root.refused("records.create", Code.LIMIT_EXCEEDED, kind="note", content=content, scope=load.scope)
    record, candidate = ({f"{kind}_id": load.values[kind][f"{kind}_id"]} for kind in ("record", "candidate"))
    revision = world.root.read(record["record_id"])["revision"]
    decided = {"decision": {"action": "promote", "kind": "note"}}
    there = {**load.scope, "context_id": world.name("there")}
    world.root.do("records.promote", **record, expected_revision=revision, to_scope=there)
    world.root.do("records.delete", **record, expected_revision=revision + 1)
    pending = world.root.candidate(candidate["candidate_id"])
    world.root.do("candidates.review", **candidate, expected_revision=pending["revision"], **decided)


def test_the_bundle_is_not_judged_by_where_it_comes_from(bench: Bench) -> None:
    """Another protocol version, generation, space, instant or extension of the bundle is no defect."""
    world = bench.world()
    load = cargo(world)
    facts: dict[str, Any] = {
        "protocol_version": "\u03c0/never",
        "authority_generation": 999,
        "created_at": "0001-01-01T00:00:00Z",
    }
    moving.activated(world, load.parcel(extensions={"acme": {"x": [1]}}, export_id="\u00e9", **facts))
    landed(world, load.items(), "the items of an odd bundle did not arrive verbatim")


def by_code_point(value: Any) -> str:
    """Digest a value with its names sorted by code point, which is not the RFC 8785 form where names leave the first plane."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def test_digests_are_over_the_canonical_form(bench: Bench) -> None:
    """A digest over names that are sorted by code point is wrong; the one over the RFC 8785 form is right."""
    world = bench.world()
    load = cargo(world)
    bundle, (chunk,) = load.parcel([load.item("record", content={"text": WORD, "structured": ODD_NAMES})])
    wrong = {**chunk, "chunk_digest": by_code_point({name: chunk[name] for name in chunk if name != "chunk_digest"})}
    parcel = of_bundle(chunk_digests=[wrong["chunk_digest"]])((bundle, [wrong]))
    moving.found_defective(world, parcel, "a chunk digest over names sorted by code point")
    scenes.stage(world, bundle, [chunk])
