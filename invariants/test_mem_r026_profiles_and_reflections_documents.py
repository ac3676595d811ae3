"""MEM-R026: profiles are the author's material under CAS, hold no rights, and are honestly empty when missing.

protocol.md section 7, Profiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.bench import Bench
from conformance.expect import Inconclusive
from conformance.reflecting import read, wrote
from conformance.wire.canonical import content_bytes, digest
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.content import content_of_bytes, profile_contents
from strategies.identifiers import extension_maps, ids, look_alikes


def only(world: World, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the one document of an answer."""
    documents = answer["documents"]
    world.expect(len(documents) == 1, "not exactly one document is given for one written kind", seen=documents)
    document: Mapping[str, Any] = documents[0]
    return document


@given(content=profile_contents(), kind=ids(), extensions=extension_maps())
def test_a_profile_is_what_was_written(bench: Bench, content: Any, kind: str, extensions: Any) -> None:
    """A written document comes back with its content, the digest of it, its writer and revision 1."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    author = world.principal("profile_write")
    receipt = wrote(author, subject_id, kind, None, content=content, extensions=extensions)
    affected = [{"type": "profile", "id": f"{subject_id}/{kind}", "revision": 1}]
    world.same(affected, receipt["affected"], "the receipt does not name the profile")
    answer = read(world.root, subject_id, kind)
    world.same([], answer["missing_kinds"], "a written kind is called missing")
    document = only(world, answer)
    expected = {
        **document,
        "subject_id": subject_id,
        "kind": kind,
        "content": content,
        "content_digest": digest(content),
        "revision": 1,
        "updated_by": author.principal_id,
    }
    world.same(expected, document, "the document is not as it was written")
    world.carries(extensions, document, "the document does not carry the extensions that it was made with")


def test_an_update_replaces_content_and_writer_alone(bench: Bench) -> None:
    """An update replaces the content as a whole and names its writer; what was given at creation stays."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    first, second = world.principal("profile_write", name="first"), world.principal("profile_write", name="second")
    wrote(first, subject_id, "voice", None, content={"text": "a", "structured": {"b": 1}}, extensions={"acme": {"x": 1}})
    before = only(world, read(world.root, subject_id, "voice"))
    wrote(second, subject_id, "voice", 1, content={"text": "c"}, extensions={"other": {}})
    after = only(world, read(world.root, subject_id, "voice"))
    content = {"text": "c"}
    changed = {"content": content, "content_digest": digest(content), "updated_by": second.principal_id, "revision": 2}
    expected = {**before, **changed, "updated_at": after["updated_at"]}
    world.same(expected, after, "an update of a profile changes more than the content and its writer, or less")


LARGEST = 900_000
"""The content bytes that surely fit into a request that is taken."""

METERED: tuple[dict[str, Any], ...] = ({}, {"structured": None}, {"structured": {"\u20ac": "\u00e9"}})
"""What a profile's content holds beside its text."""


def _of_bytes(count: int, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile's content of so many content bytes in all."""
    beside = content_bytes({"text": "", **extra}) - content_bytes({"text": ""})
    return {**content_of_bytes(count - beside, multibyte=True), **extra}


def test_a_profile_is_measured_whenever_it_is_written(bench: Bench) -> None:
    """A content of exactly ``max_content_bytes`` is taken, one byte more is not, in a new document and in a written one."""
    world = bench.world()
    most = int(bench.described(world)["limits"]["max_content_bytes"])
    if most > LARGEST:
        raise Inconclusive(f"max_content_bytes is {most}: a request that reaches it need not be taken for its size")
    subject_id = world.scope()["subject_id"]
    for revision, extra in enumerate(METERED):
        members: dict[str, Any] = {"subject_id": subject_id, "kind": "preferences", "expected_revision": revision or None}
        with world.unchanged("a refused update of a profile changed something"):
            world.root.refused("profile.update", Code.LIMIT_EXCEEDED, **members, content=_of_bytes(most + 1, extra))
        world.root.do("profile.update", **members, content=_of_bytes(most, extra))


LOOK_ALIKES = ("preferences", "Preferences", "preferences ", "prefer", "pr\u00e9ferences", "pre\u0301ferences", "%")


def test_kinds_that_look_alike_are_kinds_apart(bench: Bench) -> None:
    """Kinds are told apart by their very code points, as documents and as what is missing."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    for number, kind in enumerate(LOOK_ALIKES):
        answer = read(world.root, subject_id, *LOOK_ALIKES)
        world.same_set(LOOK_ALIKES[:number], [one["kind"] for one in answer["documents"]], "not the written kinds are given")
        world.same_set(LOOK_ALIKES[number:], answer["missing_kinds"], "not the unwritten kinds are called missing")
        wrote(world.root, subject_id, kind, None, content={"text": kind})
    texts = [one["content"]["text"] for one in read(world.root, subject_id, *LOOK_ALIKES)["documents"]]
    world.same_set(LOOK_ALIKES, texts, "a kind holds the content of another")


@given(steps=st.integers(1, 3))
@pytest.mark.examples(0.3)
def test_a_profile_changes_only_at_its_exact_revision(bench: Bench, steps: int) -> None:
    """An update names the stored revision, or null for a document that must not exist; else it changes nothing."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    members: dict[str, Any] = {"subject_id": subject_id, "kind": "preferences", "content": {"text": "b"}}
    world.root.refused("profile.update", Code.REVISION_AHEAD, **members, expected_revision=1)
    for revision in range(steps):
        wrote(world.root, subject_id, "preferences", revision or None)
    with world.unchanged("a refused update of a profile changed something"):
        world.root.refused("profile.update", Code.REVISION_STALE, **members, expected_revision=None)
        world.root.refused("profile.update", Code.REVISION_AHEAD, **members, expected_revision=steps + 1)
        if steps > 1:
            world.root.refused("profile.update", Code.REVISION_STALE, **members, expected_revision=steps - 1)
    wrote(world.root, subject_id, "preferences", steps, content={"text": "b"})
    document = only(world, read(world.root, subject_id, "preferences"))
    world.same({"text": "b"}, document["content"], "the update did not replace the content")
    world.same(steps + 1, document["revision"], "the update did not add exactly 1")


@given(kinds=look_alikes(3), count=st.integers(0, 2))
@pytest.mark.examples(0.5)
def test_a_kind_that_was_never_written_is_honestly_empty(bench: Bench, kinds: tuple[str, ...], count: int) -> None:
    """Asked kinds are documents or listed as missing, never an error, and told apart by their very code points."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    for kind in kinds[:count]:
        wrote(world.root, subject_id, kind, None, content={"text": kind})
    answer = read(world.root, subject_id, *kinds)
    world.same_set([*kinds[:count]], [document["kind"] for document in answer["documents"]], "not the written kinds are given")
    world.same_set([*kinds[count:]], answer["missing_kinds"], "not the unwritten kinds are called missing")


def test_a_kind_is_answered_as_if_there_were_no_others(bench: Bench) -> None:
    """Asked for one kind, the provider answers its document, or an empty result, whatever else was written."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    written = [*bench.described(world)["required_profile_kinds"], "a kind of its own", "another"]
    for kind in written:
        wrote(world.root, subject_id, kind, None, content={"text": kind})
    for kind in written:
        document = only(world, read(world.root, subject_id, kind))
        world.same([kind, {"text": kind}], [document["kind"], document["content"]], "the document is of another kind")
    answer = read(world.root, subject_id, "never written")
    world.same([], answer["documents"], "the result for a kind that was never written is not empty")
    world.same(["never written"], answer["missing_kinds"], "the unwritten kind is not called missing")


def test_without_kinds_the_required_ones_are_named(bench: Bench) -> None:
    """Without ``kinds`` the missing ones are the required kinds that were never written, for any subject."""
    world = bench.world()
    required = bench.described(world)["required_profile_kinds"]
    subject_id = world.scope()["subject_id"]
    for unknown in (subject_id, world.name("nobody")):
        world.same_set(required, read(world.root, unknown)["missing_kinds"], "not the required kinds are called missing")
    wrote(world.root, subject_id, "voice of reason", None)
    world.same_set(required, read(world.root, subject_id)["missing_kinds"], "another kind changed what is missing")
    for kind in required:
        wrote(world.root, subject_id, kind, None)
    answer = read(world.root, subject_id)
    world.same([], answer["missing_kinds"], "a written required kind is called missing")
    given_kinds = {document["kind"] for document in answer["documents"]}
    world.expect(
        set(required) <= given_kinds, "a written required kind is not given", expected=required, seen=sorted(given_kinds)
    )


def test_a_profile_needs_its_subject_and_is_its_own(bench: Bench) -> None:
    """A profile of a subject that does not exist is NOT_FOUND; one subject's profile is no other's."""
    world = bench.world()
    members: dict[str, Any] = {"kind": "preferences", "content": {"text": "a"}, "expected_revision": None}
    world.root.refused("profile.update", Code.NOT_FOUND, subject_id=world.name("nobody"), **members)
    first, second = world.scope("u1")["subject_id"], world.scope("u2")["subject_id"]
    world.root.do("profile.update", subject_id=first, **members)
    world.same(["preferences"], read(world.root, second, "preferences")["missing_kinds"], "a profile shows under another subject")


def test_a_profile_holds_no_rights(bench: Bench) -> None:
    """What a profile says authorises nobody, and ``profile_write`` and ``profile_read`` imply nothing else."""
    world = bench.world()
    record_id = world.root.create()
    subject_id = world.name("u1")
    author = world.principal("profile_write", "profile_read")
    structured = {"grantee_id": author.principal_id, "capabilities": ["records_read", "admin"], "shared_access": "write"}
    wrote(author, subject_id, "preferences", None, content={"text": "may read all", "structured": structured})
    author.denied("records.get", record_id=record_id)
    author.denied("subjects.get", subject_id=subject_id)
    world.same(record_id, world.root.read(record_id)["record_id"], "root cannot read the record")
