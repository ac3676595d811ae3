"""MEM-R001, durable envelope: what a request puts beside the known members comes back verbatim, for ever (sections 3 and 4).

Request extensions go to the object that the request creates, never to a receipt, and later requests do not change them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from conformance import scenes, snapshot
from conformance.bench import Bench
from conformance.caller import all_made, made
from conformance.exchange import Call
from conformance.wire.vocabulary import Flag
from conformance.world import World
from strategies.identifiers import extension_maps
from strategies.json_values import STORED_SHAPES, structured

Extensions = Mapping[str, Any]
Found = tuple[str, Mapping[str, Any]]

LATER: Extensions = {"later-request": {"x": 1}}
"""What later requests bring along; it must show up nowhere."""

KNOWN_TO_NOBODY: Extensions = {"acme": {"x": 1, "y": [None, {"z": {}}]}, "constructor": {"prototype": {}}, "a_b-1": {}}


def everywhere(world: World) -> dict[str, Any]:
    """Return the selection of all that root may read of the world's first subject, as a request member."""
    return {"selection": {"subject_id": world.scope()["subject_id"], "mode": "all_authorized"}}


def records(world: World, record_id: str) -> Iterator[Found]:
    """Return a living record by each operation that reads it."""
    selected = everywhere(world)
    yield "records.get", world.root.read(record_id)
    yield "records.list", _one(world.root.all("records.list", **selected), "record_id", record_id)
    recalled = world.root.do("recall", **selected, budget={"max_records": 50})["records"]
    yield "recall", _one(recalled, "record_id", record_id)


def _one(listed: list[Mapping[str, Any]], member: str, wanted: str) -> Mapping[str, Any]:
    """Return the listed object with an id; the empty one where it is missing, which no comparison takes for it."""
    return next((found for found in listed if found[member] == wanted), {})


FRAGMENTS = {"action": "fragment", "fragments": [{"content": {"text": "b"}}, {"content": {"text": "c"}}]}
CONSUMING: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("candidates.review", {"decision": {"action": "promote"}}),
    ("candidates.review", {"decision": FRAGMENTS}),
    ("candidates.review", {"decision": {"action": "discard"}}),
    ("candidates.dismiss", {}),
)

# -- what carries extensions: each makes an object with them, sends later requests about it, and gives what is read


def _record(world: World, given_: Extensions) -> Iterator[Found]:
    record_id = world.root.create(extensions=given_)
    yield from records(world, record_id)
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "b"}, extensions=LATER)
    world.root.do("records.update", record_id=record_id, expected_revision=2, kind="fact", extensions=LATER)
    yield from records(world, record_id)
    elsewhere = world.scope(context="c2")
    world.root.do("records.promote", record_id=record_id, expected_revision=3, to_scope=elsewhere, extensions=LATER)
    yield from records(world, record_id)
    world.root.do("records.delete", record_id=record_id, expected_revision=4, extensions=LATER)
    yield "records.get of the tombstone", world.root.read(record_id)


def _candidate(world: World, given_: Extensions) -> Iterator[Found]:
    for stem, members in CONSUMING:
        candidate_id = world.root.capture(extensions=given_)
        yield "candidates.get", world.root.candidate(candidate_id)
        world.root.do(stem, candidate_id=candidate_id, expected_revision=1, **members, extensions=LATER)
        yield f"candidates.get after {stem} {members}", world.root.candidate(candidate_id)
        yield "candidates.list", _one(world.root.all("candidates.list", **everywhere(world)), "candidate_id", candidate_id)


def _reviewed(world: World, given_: Extensions) -> Iterator[Found]:
    candidate_id = world.root.capture(extensions=LATER)
    review = {"candidate_id": candidate_id, "expected_revision": 1, "decision": FRAGMENTS}
    for record_id in all_made(world.root.do("candidates.review", **review, extensions=given_), "record"):
        yield from records(world, record_id)


def _subject(world: World, given_: Extensions) -> Iterator[Found]:
    subject_id = world.root.ensure(world.name("s"), extensions=given_)
    yield "subjects.get", world.root.do("subjects.get", subject_id=subject_id)["subject"]
    world.root.ensure(subject_id, extensions=LATER)
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action="fence", expected_revision=1, extensions=LATER)
    yield "subjects.get of the fenced subject", world.root.do("subjects.get", subject_id=subject_id)["subject"]


def _grant(world: World, given_: Extensions) -> Iterator[Found]:
    members = scenes.plain_request(world, "grants.grant")
    grant_id = made(world.root.do("grants.grant", **members, extensions=given_), "grant")
    yield "grants.list", _one(world.root.all("grants.list", view="admin"), "grant_id", grant_id)
    world.root.do("grants.revoke", grant_id=grant_id, extensions=LATER)
    yield "grants.list of the revoked grant", _one(world.root.all("grants.list", view="admin"), "grant_id", grant_id)


def _profile(world: World, given_: Extensions) -> Iterator[Found]:
    profile = {"subject_id": world.scope()["subject_id"], "kind": "preferences", "content": {"text": "a"}}
    for expected, brought in ((None, given_), (1, LATER)):
        world.root.do("profile.update", **profile, expected_revision=expected, extensions=brought)
        documents = world.root.do("profile.get", subject_id=profile["subject_id"], kinds=["preferences"])["documents"]
        yield "profile.get", _one(documents, "kind", "preferences")


def _reflection(world: World, given_: Extensions) -> Iterator[Found]:
    members = scenes.plain_request(world, "reflections.generate")
    reflection_id = made(world.root.do("reflections.generate", **members, extensions=given_), "reflection")
    yield "reflections.list", _one(world.root.all("reflections.list", **members), "reflection_id", reflection_id)


def _export(world: World, given_: Extensions) -> Iterator[Found]:
    export_id = scenes.export(world, extensions=given_)
    yield "exports.get", world.root.do("exports.get", export_id=export_id, ordinal=0, extensions=LATER)["bundle"]


Carrier = Callable[[World, Extensions], Iterator[Found]]

CARRIERS: Mapping[str, tuple[Flag, Carrier]] = {
    "record": (Flag.CORE, _record),
    "candidate": (Flag.CORE, _candidate),
    "record of a review": (Flag.CORE, _reviewed),
    "subject": (Flag.CORE, _subject),
    "grant": (Flag.CORE, _grant),
    "profile": (Flag.CORE, _profile),
    "reflection": (Flag.REFLECTION, _reflection),
    "export": (Flag.TRANSFER, _export),
}
"""What a request with extensions creates, and the flag that it takes to create it."""


def _come_back(bench: Bench, what: str, given_: Extensions) -> None:
    """Expect an object to carry what its creation brought, by every path and after every later request, and receipts nothing."""
    world = bench.world()
    for path, seen in CARRIERS[what][1](world, given_):
        world.carries(given_, seen, f"the extensions of a {what}, read by {path}")
        taken = LATER.keys() & seen["extensions"].keys()
        world.expect(not taken, f"a {what} took extensions of a later request", seen=seen["extensions"])
    for receipt_id in world.receipts:
        receipt = world.root.do("receipts.get", receipt_id=receipt_id)["receipt"]
        brought = (given_.keys() | LATER.keys()) & receipt["extensions"].keys()
        world.expect(not brought, "a receipt took extensions of its request", seen=receipt["extensions"])


def test_unknown_extensions_come_back_from_every_model(bench: Bench) -> None:
    """Extension namespaces that nobody knows come back verbatim from every model that a request creates."""
    for what, (flag, _) in CARRIERS.items():
        if bench.declares(flag):
            _come_back(bench, what, KNOWN_TO_NOBODY)


@given(data=st.data(), hostile=st.booleans())
def test_any_extensions_come_back(bench: Bench, data: st.DataObject, hostile: bool) -> None:
    """Whatever an extension namespace holds comes back verbatim, on the object that the request creates and nowhere else."""
    what = data.draw(st.sampled_from([what for what, (flag, _) in CARRIERS.items() if bench.declares(flag)]), "model")
    given_ = data.draw(extension_maps(hostile), "extensions")
    _come_back(bench, what, {namespace: value for namespace, value in given_.items() if namespace not in LATER})


def _leaves_no_mark(world: World, call: Call) -> None:
    """Expect a request's extensions on nothing that was there before it."""
    before = {path: found["extensions"] for path, found in snapshot.holding(world.snapshot(), "extensions")}
    world.root.accepted(replace(call, payload={**call.payload, "extensions": LATER}))
    for path, found in snapshot.holding(world.snapshot(), "extensions"):
        # In a space that checks share, an earlier one may have made an object with these very extensions.
        marked = path in before and LATER.keys() & (found["extensions"].keys() - before[path].keys())
        world.expect(not marked, f"{call.op}: {'/'.join(path)} took extensions of a later request", seen=found["extensions"])


def test_no_request_marks_what_was_there_before_it(bench: Bench) -> None:
    """Later requests do not change the extensions of an object: of none that is there, the space itself included."""
    for world, _, call in scenes.each(bench, lambda operation: operation.mutation):
        _leaves_no_mark(world, call)
    world = bench.world()
    for action in ("fence", "unfence"):
        context = {"type": "context", "context_id": world.name("c1")}
        _leaves_no_mark(world, world.root.call("subjects.fence", target=context, action=action))


# -- what else stands beside the known members


@given(value=structured())
def test_structured_content_comes_back(bench: Bench, value: Any) -> None:
    """Structured content of any shape is kept as it is, whichever request brought it and by every path that reads it."""
    world = bench.world()
    content = {"text": "a", "structured": value}
    assume(scenes.fits(bench, world, content))
    for record_id in _carrying(world, content):
        for path, seen in records(world, record_id):
            world.same(content, seen.get("content"), f"the content of a record, read by {path}")
    candidate_id = world.root.capture(content=content)
    world.same(content, world.root.candidate(candidate_id)["content"], "the content of a candidate")
    profile = {"subject_id": world.scope()["subject_id"], "kind": "preferences"}
    world.root.do("profile.update", **profile, content=content, expected_revision=None)
    documents = world.root.do("profile.get", subject_id=profile["subject_id"], kinds=["preferences"])["documents"]
    world.same(content, documents[0]["content"], "the content of a profile")


def test_no_shape_is_too_much_for_the_store(bench: Bench) -> None:
    """Structured content keeps its type, its nulls and its empty parts, whatever was stored under the same names before."""
    world = bench.world()
    shapes = [value for value in STORED_SHAPES if scenes.fits(bench, world, {"text": "a", "structured": value})]
    for value in shapes:
        content = {"text": "a", "structured": value}
        extensions = {"acme": {"a": value}}
        record = world.root.read(world.root.create(content=content, extensions=extensions))
        world.same(content, record["content"], "the content of a record")
        world.carries(extensions, record, "the extensions of a record")
    world.same(len(shapes), world.root.do("records.list", **everywhere(world))["total_authorized"], "the records written")


def _carrying(world: World, content: Mapping[str, Any]) -> Iterator[str]:
    """Bring a content into records by every request that can; return their ids."""
    yield world.root.create(content=content)
    record_id = world.root.create(content={"text": "b", "structured": {"a": {"a": "text"}}})
    world.root.do("records.update", record_id=record_id, expected_revision=1, content=content)
    yield record_id
    fragments = [{"content": {"text": "b"}}, {"content": content}]
    for decision in ({"action": "promote", "content_override": content}, {"action": "fragment", "fragments": fragments}):
        review = {"candidate_id": world.root.capture(), "expected_revision": 1, "decision": decision}
        yield all_made(world.root.do("candidates.review", **review), "record")[-1]


ENTRY = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "a",
    "attribution": {"holder_id": "h", "asserted_by": "b"},
    "basis": {"kind": "stated", "refs": ["r"]},
    "time": {"recorded_at": "2026-01-01T00:00:00.000Z", "occurred_at": "2025-12-31T23:59:59.9999999Z"},
}


def test_a_change_keeps_what_it_does_not_name(bench: Bench) -> None:
    """An update, a promote or a deletion rebuilds nothing: what it does not name is what it was, to the byte."""
    world = bench.world()
    author, editor = (world.principal("records_write", "records_read") for _ in range(2))
    content = {"text": "a", "structured": {"b": [None]}, "cognition": [ENTRY]}
    record_id = author.create(kind="note", content=content, source_context_id=world.name("src"), extensions=KNOWN_TO_NOBODY)
    before = author.read(record_id)
    changes: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("records.update", {"kind": "fact"}, {"kind": "fact"}),
        ("records.update", {"content": {"text": "new"}}, {"content": {"text": "new"}}),
        ("records.promote", {"to_scope": world.scope(context="c2")}, {"scope": world.scope(context="c2")}),
        ("records.delete", {}, {"content": {"text": ""}}),
    )
    for revision, (stem, members, changed) in enumerate(changes, start=1):
        editor.do(stem, record_id=record_id, expected_revision=revision, **members)
        after = editor.read(record_id)
        before = {**before, **changed, "revision": revision + 1, "updated_at": after["updated_at"]}
        untouched = {name: member for name, member in after.items() if name != "tombstone"}
        world.same(before, untouched, f"the record after {stem} of {sorted(members)}")


@pytest.mark.needs(flags=[Flag.TRANSFER])
@pytest.mark.examples(0.3)
@given(given_=extension_maps(hostile=True))
@example(given_=dict(KNOWN_TO_NOBODY))
def test_extensions_travel(bench: Bench, given_: dict[str, Any]) -> None:
    """An export holds each object as it is read, extensions included, and so does the space that the export is activated in."""
    world = bench.world()
    content = {"text": "a", "structured": {}, "cognition": []}
    ids = {
        "record": ("record_id", world.root.create(extensions=given_, content=content)),
        "candidate": ("candidate_id", world.root.capture(extensions=given_)),
        "subject": ("subject_id", world.root.ensure(world.name("s"), extensions=given_)),
    }
    before = world.snapshot()
    bundle, chunks = scenes.fetched(world, scenes.export(world))
    for kind, (member, wanted) in ids.items():
        items = [item["value"] for chunk in chunks for item in chunk["items"] if item["type"] == kind]
        world.same(_read(world, kind, wanted), _one(items, member, wanted), f"a {kind} in an export")
    import_id = scenes.stage(world, bundle, chunks)
    scenes.freeze(world)
    generation = scenes.generation(world)
    world.root.do("imports.activate", import_id=import_id, expected_authority_generation=generation)
    world.same(before["subjects"], world.snapshot()["subjects"], "what the space holds after it was exported and imported")


def _read(world: World, kind: str, object_id: str) -> Mapping[str, Any]:
    stem = f"{kind}s.get"
    answer: Mapping[str, Any] = world.root.do(stem, **{f"{kind}_id": object_id})[kind]
    return answer


LOOK_ALIKES: tuple[Any, ...] = (
    2**31, -(2**31) - 1, 2**32 + 5, 2**40 + 5, 2**53 - 1, -(2**53) + 1, 0.1, 1e-7, 1e21, 5e-324, 1.7976931348623157e308,
    "5", "05", "-0", "1e3", "0.1", "true", "null", "", " a", "a\n", "2030-01-02", "2030-01-02T00:00:00Z", "{}", "[1]", "x" * 900,
    "x" * 5000, {"5": 5}, [[], {}], {"null": None},
)  # fmt: skip
"""Values that a store, a column or a language could take for others: wide integers, doubles, texts that read as more."""


def test_no_value_is_taken_for_another(bench: Bench) -> None:
    """Integers, doubles and texts come back as they were sent, in structured content, in the text and in extensions."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    for number, value in enumerate(LOOK_ALIKES):
        text = value if isinstance(value, str) else "a\n"
        content, extensions = {"text": text, "structured": value}, {"acme": {"value": value}}
        if not scenes.fits(bench, world, content):
            continue
        found = [
            world.root.read(world.root.create(content=content, extensions=extensions)),
            world.root.candidate(world.root.capture(content=content, extensions=extensions)),
        ]
        wanted = {"subject_id": subject_id, "kind": f"kind-{number}"}
        world.root.do("profile.update", **wanted, content=content, extensions=extensions, expected_revision=None)
        found += world.root.do("profile.get", subject_id=subject_id, kinds=[wanted["kind"]])["documents"]
        for seen in found:
            world.same(content, seen["content"], "a value of a content is taken for another")
            world.carries(extensions, seen, "a value of extensions is taken for another")
