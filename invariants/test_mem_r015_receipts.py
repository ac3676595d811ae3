"""MEM-R015, receipts: what one says, and who reads it (protocol.md sections 3, MemoryReceipt, and 4, ``affected``).

The sibling module ``…_settled`` holds the rest: free of content, durable, never changed once settled, none for a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.expect import Inconclusive
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.content import contents
from strategies.grants import GrantShape, covers, grant_shapes
from strategies.identifiers import ID_LIMIT, extension_maps, ids
from strategies.vocabulary import capabilities

ADMIN = "admin"


def _mutations(world: World) -> list[str]:
    return [operation.stem for operation in scenes.served(world) if operation.mutation]


# -- bound to the request


def _own(world: World, key: str) -> str:
    """Return a drawn key as this world's own: in a space that others use too it is salted."""
    own = world.name(key)
    return own if len(own) <= ID_LIMIT else world.fresh_key()


@given(content=contents(), extensions=extension_maps(hostile=True), key=ids())
def test_the_digest_is_of_the_whole_request(bench: Bench, content: Any, extensions: Any, key: str) -> None:
    """``payload_digest`` is the digest of the whole request as received, extensions and key included (F18)."""
    world = bench.world()
    members = {"kind": "note", "content": content, "scope": world.scope(), "extensions": extensions}
    for stem in ("records.create", "capture"):
        call = world.root.call(stem, **members, idempotency_key=_own(world, key))
        receipt = world.root.accepted(call)
        world.same(digest(call.payload), receipt["payload_digest"], f"{call.op}: payload_digest is not of the whole request")
        world.same(call.payload["idempotency_key"], receipt["idempotency_key"], f"{call.op}: the receipt names another key")


NUMBERS = (-0.0, 1e-7, 1.5e-7, 1e16, 1e20, 1e21, 1.2e22, 333333333.33333329, 5e-324, 1.7976931348623157e308, 9007199254740991)
NAMES = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
"""Names in another order than their code points have: RFC 8785 sorts by UTF-16 units."""
TEXTS = ('\u20ac$\u000f\nA\'B"\\\\"/', "\u2028\u2029\x7f", "<&>\u0000")


def test_the_digest_is_over_the_canonical_form(bench: Bench) -> None:
    """Numbers, names and texts that are written in many ways are digested in the one of RFC 8785."""
    world = bench.world()
    for value in (*NUMBERS, NAMES, *TEXTS):
        call = world.root.call("records.create", kind="note", content={"text": "a", "structured": [value]}, scope=world.scope())
        receipt = world.root.accepted(call)
        world.same(digest(call.payload), receipt["payload_digest"], f"payload_digest is not over the canonical form of {value!r}")


def test_every_receipt_names_its_request(bench: Bench) -> None:
    """A receipt names the space, operation, principal, key and payload digest of its request, in every operation."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        caller = world.principal(*capabilities(world.bundle), name="A", shared_access="write")
        call = caller.call(stem, **scenes.plain_request(world, stem), extensions={"other": {}})
        expected = {
            "space_id": world.space_id,
            "op": call.op,
            "principal_id": caller.principal_id,
            "idempotency_key": call.payload["idempotency_key"],
            "payload_digest": digest(call.payload),
            "state": "committed",
        }
        receipt = caller.accepted(call)
        world.same(expected, {name: receipt[name] for name in expected}, f"{call.op}: the receipt does not name its request")


def test_a_receipt_names_the_generation_in_force(bench: Bench) -> None:
    """``authority_generation`` is the one in force when the receipt was made, in every operation that does not raise it."""
    for stem in _mutations(bench.world()):
        if stem == "imports.activate":
            continue
        world = bench.world()
        request = scenes.plain_request(world, stem)
        generation = scenes.generation(world)
        receipt = world.root.do(stem, **request)
        world.same(generation, receipt["authority_generation"], f"memory.{stem}: the receipt names another generation")


# -- affected


def _record(world: World, record_id: str) -> Any:
    return world.root.read(record_id)["revision"]


def _candidate(world: World, candidate_id: str) -> Any:
    return world.root.candidate(candidate_id)["revision"]


def _subject(world: World, subject_id: str) -> Any:
    return world.root.do("subjects.get", subject_id=subject_id)["subject"]["revision"]


def _grant(world: World, grant_id: str) -> Any:
    grants = {grant["grant_id"]: grant for grant in world.root.all("grants.list", view="admin")}
    return grants[grant_id]["revision"]


def _space(world: World, space_id: str) -> Any:
    world.same(world.space_id, space_id, "the affected space is another than the request's")
    return scenes.space(world)["revision"]


def _profile(world: World, profile_id: str) -> Any:
    subject_id = world.scope()["subject_id"]
    documents = world.root.do("profile.get", subject_id=subject_id, kinds=["preferences"])["documents"]
    world.same(f"{subject_id}/preferences", profile_id, "a profile's affected id is not <subject_id>/<kind>")
    return documents[0]["revision"]


REVISIONS: Mapping[str, Callable[[World, str], Any]] = {
    "record": _record,
    "candidate": _candidate,
    "subject": _subject,
    "grant": _grant,
    "space": _space,
    "profile": _profile,
}
"""How to read the revision of an affected object, by its type; the other three types carry none."""

AFFECTED: Mapping[str, tuple[str, ...]] = {
    "spaces.freeze": ("space",),
    "spaces.unfreeze": ("space",),
    "subjects.ensure": ("subject",),
    "subjects.fence": ("subject",),
    "grants.grant": ("grant",),
    "grants.revoke": ("grant",),
    "capture": ("candidate",),
    "candidates.dismiss": ("candidate",),
    "candidates.review": ("candidate", "record"),
    "records.create": ("record",),
    "records.update": ("record",),
    "records.delete": ("record",),
    "records.promote": ("record",),
    "profile.update": ("profile",),
    "reflections.generate": ("reflection",),
    "exports.create": ("export",),
    "imports.stage": ("import",),
    "imports.activate": ("import", "space"),
    "imports.discard": ("import",),
}
"""The types of the changed objects, in order, for the plain request of each operation."""


def _expect_affected(world: World, op: str, types: tuple[str, ...], receipt: Mapping[str, Any]) -> None:
    affected = receipt["affected"]
    world.same(list(types), [entry["type"] for entry in affected], f"{op}: affected does not list the changed objects")
    for entry in affected:
        revision = REVISIONS[entry["type"]](world, entry["id"]) if entry["type"] in REVISIONS else None
        world.same(revision, entry.get("revision"), f"{op}: affected does not give the new revision of the {entry['type']}")


def test_affected_lists_the_changed_objects_with_their_new_revision(bench: Bench) -> None:
    """``affected`` lists the changed objects with their new revision, in every operation."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        receipt = world.root.do(stem, **scenes.plain_request(world, stem))
        _expect_affected(world, f"memory.{stem}", AFFECTED[stem], receipt)


def test_affected_of_the_other_forms(bench: Bench) -> None:
    """A context fence affects the space, a repeated ensure the subject as it is, a fragmentation the records in their order."""
    world = bench.world()
    scope = world.scope()
    target = {"type": "context", "context_id": scope["context_id"]}
    for action in ("fence", "unfence"):
        _expect_affected(
            world, "memory.subjects.fence", ("space",), world.root.do("subjects.fence", target=target, action=action)
        )
    ensured = world.root.do("subjects.ensure", subject_id=scope["subject_id"])
    _expect_affected(world, "memory.subjects.ensure", ("subject",), ensured)
    fragments = [{"kind": "note", "content": {"text": text}} for text in ("first", "second")]
    decision = {"action": "fragment", "fragments": fragments}
    candidate_id = world.root.capture()
    receipt = world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    _expect_affected(world, "memory.candidates.review", ("candidate", "record", "record"), receipt)
    texts = [world.root.read(entry["id"])["content"]["text"] for entry in receipt["affected"][1:]]
    world.same(["first", "second"], texts, "memory.candidates.review: the records are not in the order of the fragments")


NAMED: tuple[tuple[str, str], ...] = (
    ("s", "a/b"), ("s/t", "k"), ("s/", "/k"), ("s t", "a b"), ("s%2F", "%2F"), ("\u00e9", "\u65e5\u672c"), ("S", "K.k:k"),
    ('"s"', "\\k"), ("s?", "k#&"), ("s" * 100, "k" * ID_LIMIT),
)  # fmt: skip
"""Subjects and kinds whose names some encode, quote, fold, trim, cut or take apart."""


@pytest.mark.parametrize("action", ["made", "changed"])
def test_a_profile_is_named_by_its_plain_subject_and_kind(bench: Bench, action: str) -> None:
    """A profile's affected id is ``<subject_id>/<kind>`` as they stand, whatever is in them: nothing is encoded or quoted."""
    world = bench.world()
    for name, kind in bench.rows(NAMED):
        subject_id = world.name(name)
        world.root.do("subjects.ensure", subject_id=subject_id)
        for revision in (None, 1)[: 1 if action == "made" else 2]:
            members = {"subject_id": subject_id, "kind": kind, "content": {"text": "a"}, "expected_revision": revision}
            receipt = world.root.do("profile.update", **members)
        named = [[entry["type"], entry["id"]] for entry in receipt["affected"]]
        world.same([["profile", f"{subject_id}/{kind}"]], named, "memory.profile.update: affected does not name subject and kind")


# -- readers


def _hidden_from(world: World, reader: Caller, receipt_id: str) -> None:
    """Want the reader to be told of a receipt what it is told of one that does not exist."""
    hidden = reader.denied("receipts.get", receipt_id=receipt_id)
    missing = reader.denied("receipts.get", receipt_id="none")
    world.same(missing["code"], hidden["code"], "memory.receipts.get: a hidden receipt is told from a missing one")
    shapes = [sorted(error.get("details") or {}) for error in (missing, hidden)]
    world.same(shapes[0], shapes[1], "memory.receipts.get: the details tell a hidden receipt from a missing one")


@given(shape=grant_shapes(("u1", "u2"), ("c1", "c2"), capabilities=(ADMIN, "records_read", "transfer")))
def test_nothing_less_than_admin_reads_the_receipt_of_another(bench: Bench, shape: GrantShape) -> None:
    """Another principal reads a receipt exactly when it holds ``admin`` for the whole space."""
    world = bench.world()
    receipt = world.root.do("records.create", **scenes.plain_request(world, "records.create"))
    reader = world.stranger("B")
    world.root.grant(reader, **shape.members())
    if covers(shape, ADMIN, None, None, access=""):
        read = reader.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
        world.same(receipt, read, "memory.receipts.get: the admin reads another receipt")
    else:
        _hidden_from(world, reader, receipt["receipt_id"])


def test_every_receipt_is_read_by_its_principal_and_admin_alone(bench: Bench) -> None:
    """A receipt of any operation is read by its own principal and by ``admin``, by nobody else."""
    for stem in _mutations(bench.world()):
        world = bench.world()
        held = capabilities(world.bundle)
        owner = world.principal(*held, name="A", shared_access="write")
        other = world.principal(*(one for one in held if one != ADMIN), name="B", shared_access="write")
        admin = world.principal(ADMIN, name="C")
        receipt = owner.do(stem, **scenes.plain_request(world, stem))
        for reader in (owner, admin):
            read = reader.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
            world.same(receipt, read, f"memory.{stem}: the receipt reads otherwise than it was given")
        _hidden_from(world, other, receipt["receipt_id"])


def test_an_own_receipt_needs_no_grant(bench: Bench) -> None:
    """A principal reads its own receipts when its grants are revoked; one who never had a grant reads nobody's."""
    world = bench.world()
    owner = world.stranger("A")
    grant_id = world.root.grant(owner, capabilities=["records_write"])
    receipt = owner.do("records.create", **scenes.plain_request(world, "records.create"))
    world.root.do("grants.revoke", grant_id=grant_id)
    read = owner.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
    world.same(receipt, read, "memory.receipts.get: a principal without grants reads another receipt than its own")
    world.stranger("B").refused("receipts.get", Code.NOT_FOUND, receipt_id=receipt["receipt_id"])


def test_a_receipt_belongs_to_its_space(bench: Bench) -> None:
    """The admin of one space reads no receipt of another, neither here nor there."""
    here = bench.world()
    receipt = here.root.do("records.create", **scenes.plain_request(here, "records.create"))
    there = bench.world()
    if there.space_id == here.space_id or there.root.principal_id == here.root.principal_id:
        raise Inconclusive("the target's spaces have one and the same root principal")
    for space_id in (there.space_id, here.space_id):
        there.root.refused("receipts.get", Code.NOT_FOUND, receipt_id=receipt["receipt_id"], space_id=space_id)
    read = here.root.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
    here.same(receipt, read, "memory.receipts.get: the root of the space reads another receipt")


def test_an_own_receipt_is_of_its_space_alone(bench: Bench) -> None:
    """A principal of two spaces reads its receipt in the space that it is of, and finds none under that id in the other."""
    here, there = bench.world(), bench.beside()
    if here.space_id == there.space_id:
        raise Inconclusive("the target provisions no space and its target file names only one")
    caller = here.stranger("both")
    here.root.grant(caller, capabilities=["subjects_write"])
    there.root.grant(replace(caller, world=there), capabilities=["subjects_write"])
    receipt = caller.do("subjects.ensure", subject_id=here.name("u1"))
    caller.refused("receipts.get", Code.NOT_FOUND, receipt_id=receipt["receipt_id"], space_id=there.space_id)
    read = caller.do("receipts.get", receipt_id=receipt["receipt_id"])["receipt"]
    here.same(receipt, read, "memory.receipts.get: another receipt in the space that it is of")
