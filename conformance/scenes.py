"""A plain valid request for each of the 33 operations, for tables over all of them (freeze, gate, admission, revocation, replay).

``plain_request`` makes, as root, the objects that the request needs and returns its members as ``Caller.do`` takes them: without
``space_id`` and ``idempotency_key``, which the caller fills in. Root can send it with success in the world as it then is. The
space must be active; the builders of ``spaces.unfreeze`` and ``imports.activate`` freeze it, since they need it so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from conformance import snapshot
from conformance.bench import Bench
from conformance.caller import made
from conformance.exchange import Call
from conformance.expect import CheckFailed
from conformance.wire.bundle import Operation
from conformance.wire.canonical import content_bytes
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World

Scope = Mapping[str, str]
Members = dict[str, Any]

NAME_LIMIT = 128
"""The most code points of an id or an idempotency key."""

MANY = 101
"""More of one kind than a store may take at once where it forgets to go on: no list of the contract has an end of its own."""

LATE: Mapping[str, Flag] = MappingProxyType(
    {
        "reflections.generate": Flag.REFLECTION,
        "exports.create": Flag.TRANSFER,
        "imports.stage": Flag.TRANSFER,
        "imports.activate": Flag.TRANSFER,
    }
)
"""The operations that may be pending (section 4), each with its flag."""

Builder = Callable[[World, Scope | None], Members]


def plain_request(world: World, stem: str, scope: Scope | None = None) -> Members:
    """Return the members of a plain request of the operation ``stem``, having made what it needs.

    ``scope`` is where it takes place: by default the world's first scope, and a subject of its own for ``subjects.ensure`` and
    ``subjects.fence``. Raises ``CheckFailed`` where the provider refuses to make what is needed.
    """
    return BUILDERS[stem](world, scope)


def request_in_peace(world: World, stem: str) -> Members:
    """Return a plain request that leaves the space active, for a caller who must not see the space whatever else is wrong.

    Root could send those of ``spaces.unfreeze`` and ``imports.activate`` with success only while the space is frozen.
    """
    if stem == "spaces.unfreeze":
        return plain_request(world, "spaces.freeze")
    if stem == "imports.activate":
        return {**plain_request(world, "imports.discard"), "expected_authority_generation": generation(world)}
    return plain_request(world, stem)


def in_rounds(world: World, rows: Sequence[Operation]) -> Iterator[list[tuple[Operation, Members]]]:
    """Give plain requests of these operations in two rounds: of an active space, then, having frozen it, of a frozen one.

    So a caller who sees the space and lacks a capability lacks nothing else.
    """
    frozen = [row for row in rows if row.stem in ("spaces.unfreeze", "imports.activate")]
    yield [(row, plain_request(world, row.stem)) for row in rows if row not in frozen]
    if frozen:
        yield [(row, plain_request(world, row.stem)) for row in frozen]


def served(world: World) -> list[Operation]:
    """Return the operations whose flag the world's root has negotiated, in table order."""
    return [operation for operation in world.bundle.operations.values() if world.bundle.flag(operation.flag) in world.root.flags]


def each(bench: Bench, wanted: Callable[[Operation], bool] = lambda _: True) -> Iterator[tuple[World, Operation, Call]]:
    """Give each wanted operation that is served with a fresh world and a plain call of it, which root can send there."""
    for operation in bench.rows([row for row in served(bench.world()) if wanted(row)]):
        world = bench.world()
        yield world, operation, world.root.call(operation.stem, **plain_request(world, operation.stem))


def stopped(world: World, call: Call, attempts: Iterable[Call], *codes: Code, meant_invalid: bool = False) -> None:
    """Expect every attempt to be refused with one of ``codes`` and to leave no trace: no change, and the key of ``call`` unused.

    ``call`` is a request that root can send; the attempts are that request with one thing wrong. At the end root sends it with
    another payload under the same key, which commits only where no attempt used the key. ``meant_invalid`` says that the
    attempts break the schema of the request.
    """
    with world.unchanged():
        for attempt in attempts:
            world.root.must_refuse(attempt, *codes, meant_invalid=meant_invalid)
    world.root.accepted(other_payload(call))


def other_payload(call: Call) -> Call:
    """Return the same request with another payload under the same key: it differs in an extension alone."""
    return replace(call, payload={**call.payload, "extensions": {"other": {}}})


def own(world: World, text: str) -> str:
    """Return ``text`` as a name or key of this world's own: as it is in a space of its own, told apart in a shared one."""
    return f"{world.name('')}{text}"[:NAME_LIMIT]


def fits(bench: Bench, world: World, content: Mapping[str, Any]) -> bool:
    """Say whether a content is within the provider's limit of content bytes."""
    return content_bytes(content) <= int(bench.described(world)["limits"]["max_content_bytes"])


# -- objects


def space(world: World) -> Mapping[str, Any]:
    """Return the world's space as root lists it. Raises ``CheckFailed`` where it is not listed."""
    found = snapshot.space(world.root, world.space_id)
    if found is None:
        raise CheckFailed("memory.spaces.list: the space of a caller's effective grant is missing", expected=world.space_id)
    seen: Mapping[str, Any] = found
    return seen


def generation(world: World) -> int:
    """Return the generation of authority that the space tells."""
    return int(space(world)["authority_generation"])


def freeze(world: World) -> Mapping[str, Any]:
    """Freeze the space and return the receipt."""
    receipt: Mapping[str, Any] = world.root.do("spaces.freeze", expected_revision=space(world)["revision"])
    return receipt


def unfreeze(world: World) -> Mapping[str, Any]:
    """Unfreeze the space and return the receipt."""
    receipt: Mapping[str, Any] = world.root.do("spaces.unfreeze", expected_revision=space(world)["revision"])
    return receipt


def selection(scope: Scope) -> Members:
    """Return the selection of exactly one placement."""
    if "context_id" not in scope:
        return {"subject_id": scope["subject_id"], "mode": "shared"}
    return {"subject_id": scope["subject_id"], "mode": "contexts", "context_ids": [scope["context_id"]]}


def complete_profile(world: World, subject_id: str) -> None:
    """Write every required profile kind of a subject that was never written."""
    for kind in world.root.do("profile.get", subject_id=subject_id)["missing_kinds"]:
        world.root.do("profile.update", subject_id=subject_id, kind=kind, content={"text": "a"}, expected_revision=None)


def reflect(world: World, scope: Scope) -> str:
    """Generate a reflection over one placement, having made a record and the profiles that it needs; return its id."""
    return made(world.root.do("reflections.generate", **_generate(world, scope)), "reflection")


def export(world: World, **members: Any) -> str:
    """Make an export of the space and return its id."""
    return made(world.root.do("exports.create", **members), "export")


def fetched(world: World, export_id: str) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """Return an export's bundle and all its chunks in order."""
    first = world.root.do("exports.get", export_id=export_id, ordinal=0)
    count, digests = first["bundle"]["chunk_count"], first["bundle"]["chunk_digests"]
    world.same(len(digests), count, "memory.exports.get: chunk_count is not the number of chunk_digests")
    rest = range(1, count)
    chunks = [first["chunk"], *(world.root.do("exports.get", export_id=export_id, ordinal=ordinal)["chunk"] for ordinal in rest)]
    return first["bundle"], chunks


def stage(world: World, bundle: Mapping[str, Any], chunks: list[Mapping[str, Any]]) -> str:
    """Stage every chunk in order and return the import's id."""
    import_id = made(world.root.do("imports.stage", bundle=bundle, chunk=chunks[0]), "import")
    for chunk in chunks[1:]:
        world.root.do("imports.stage", bundle=bundle, chunk=chunk, import_id=import_id)
    return import_id


def staged(world: World) -> str:
    """Stage an export of the space as it is, completely, and return the import's id."""
    return stage(world, *fetched(world, export(world)))


def failed_import(world: World) -> Mapping[str, Any]:
    """Stage an export of the space whose final chunk has a false digest, which none can refuse earlier; return the receipt.

    Raises ``CheckFailed`` where the receipt of that chunk does not settle failed.
    """
    bundle, chunks = fetched(world, export(world))
    begun = {"import_id": stage(world, bundle, chunks[:-1])} if chunks[1:] else {}
    reply = world.root.send("imports.stage", bundle=bundle, chunk={**chunks[-1], "chunk_digest": "0" * 64}, **begun)
    world.expect(reply.ok, "memory.imports.stage: a defect at the final chunk settles its receipt failed", seen=reply.error)
    receipt = world.root.settled(reply.payload["receipt"])
    world.same("failed", receipt["state"], "the state of the receipt of a chunk with a false digest")
    return receipt


# -- one builder for each operation


def _scope(world: World, scope: Scope | None) -> Scope:
    return world.scope() if scope is None else scope


def _own_subject(world: World, scope: Scope | None) -> str:
    return f"subject-{world.fresh_key()}" if scope is None else scope["subject_id"]


def _nothing(world: World, scope: Scope | None) -> Members:  # noqa: ARG001 - the signature of a builder
    return {}


def _freeze(world: World, scope: Scope | None) -> Members:  # noqa: ARG001 - the signature of a builder
    return {"expected_revision": space(world)["revision"]}


def _unfreeze(world: World, scope: Scope | None) -> Members:
    if space(world)["state"] == "active":
        freeze(world)
    return _freeze(world, scope)


def _ensure(world: World, scope: Scope | None) -> Members:
    return {"subject_id": _own_subject(world, scope)}


def _subject(world: World, scope: Scope | None) -> Members:
    return {"subject_id": _scope(world, scope)["subject_id"]}


def _fence(world: World, scope: Scope | None) -> Members:
    subject_id = world.root.ensure(_own_subject(world, scope))
    revision = world.root.do("subjects.get", subject_id=subject_id)["subject"]["revision"]
    return {"target": {"type": "subject", "subject_id": subject_id}, "action": "fence", "expected_revision": revision}


def _grants(world: World, scope: Scope | None) -> Members:  # noqa: ARG001 - the signature of a builder
    return {"view": "admin"}


def _grant(world: World, scope: Scope | None) -> Members:
    place = _scope(world, scope)
    members: Members = {"grantee_id": world.name("nobody"), "capabilities": ["recall"], "subject_ids": [place["subject_id"]]}
    if "context_id" in place:
        return {**members, "context_ids": [place["context_id"]], "shared_access": "none"}
    return {**members, "shared_access": "read"}


def _revoke(world: World, scope: Scope | None) -> Members:
    return {"grant_id": made(world.root.do("grants.grant", **_grant(world, scope)), "grant")}


def _capture(world: World, scope: Scope | None) -> Members:
    return {"kind": "note", "content": {"text": "a"}, "scope": dict(_scope(world, scope))}


def _selection(world: World, scope: Scope | None) -> Members:
    return {"selection": selection(_scope(world, scope))}


def _candidate(world: World, scope: Scope | None) -> Members:
    return {"candidate_id": world.root.capture(scope=dict(_scope(world, scope)))}


def _dismiss(world: World, scope: Scope | None) -> Members:
    return {**_candidate(world, scope), "expected_revision": 1}


def dismiss(world: World, candidate_id: str, revision: int = 1) -> None:
    """Dismiss a candidate that a scene needs as decided; a contract without dismissals has it discarded."""
    members = {"candidate_id": candidate_id, "expected_revision": revision}
    if world.has("candidates.dismiss"):
        world.root.do("candidates.dismiss", **members)
    else:
        world.root.do("candidates.review", **members, decision={"action": "discard"})


def _review(world: World, scope: Scope | None) -> Members:
    return {**_dismiss(world, scope), "decision": {"action": "promote"}}


def _record(world: World, scope: Scope | None) -> Members:
    return {"record_id": world.root.create(scope=dict(_scope(world, scope)))}


def _delete(world: World, scope: Scope | None) -> Members:
    return {**_record(world, scope), "expected_revision": 1}


def _update(world: World, scope: Scope | None) -> Members:
    return {**_delete(world, scope), "content": {"text": "b"}}


def _promote(world: World, scope: Scope | None) -> Members:
    place = _scope(world, scope)
    elsewhere = next(name for name in (world.name("c2"), world.name("c1")) if name != place.get("context_id"))
    return {**_delete(world, scope), "to_scope": {"subject_id": place["subject_id"], "context_id": elsewhere}}


def _recall(world: World, scope: Scope | None) -> Members:
    return {**_selection(world, scope), "budget": {"max_records": 3}}


def _profile(world: World, scope: Scope | None) -> Members:
    members = {**_subject(world, scope), "kind": "preferences"}
    written = world.root.do("profile.get", subject_id=members["subject_id"], kinds=[members["kind"]])["documents"]
    return {**members, "content": {"text": "a"}, "expected_revision": written[0]["revision"] if written else None}


def _receipt(world: World, scope: Scope | None) -> Members:
    return {"receipt_id": world.root.do("records.create", **_capture(world, scope))["receipt_id"]}


def _generate(world: World, scope: Scope | None) -> Members:
    place = _scope(world, scope)
    complete_profile(world, place["subject_id"])
    world.root.create(scope=dict(place))
    return {"selection": selection(place)}


def _export(world: World, scope: Scope | None) -> Members:  # noqa: ARG001 - the signature of a builder
    return {"export_id": export(world), "ordinal": 0}


def _stage(world: World, scope: Scope | None) -> Members:  # noqa: ARG001 - the signature of a builder
    bundle, chunks = fetched(world, export(world))
    return {"bundle": bundle, "chunk": chunks[0]}


def _activate(world: World, scope: Scope | None) -> Members:  # noqa: ARG001 - the signature of a builder
    import_id = staged(world)
    if space(world)["state"] == "active":
        freeze(world)
    return {"import_id": import_id, "expected_authority_generation": generation(world)}


def _discard(world: World, scope: Scope | None) -> Members:  # noqa: ARG001 - the signature of a builder
    return {"import_id": staged(world)}


BUILDERS: Mapping[str, Builder] = {
    "describe": _nothing,
    "spaces.list": _nothing,
    "spaces.freeze": _freeze,
    "spaces.unfreeze": _unfreeze,
    "subjects.ensure": _ensure,
    "subjects.get": _subject,
    "subjects.fence": _fence,
    "grants.list": _grants,
    "grants.grant": _grant,
    "grants.revoke": _revoke,
    "capture": _capture,
    "candidates.list": _selection,
    "candidates.get": _candidate,
    "candidates.dismiss": _dismiss,
    "candidates.review": _review,
    "records.create": _capture,
    "records.get": _record,
    "records.update": _update,
    "records.delete": _delete,
    "records.list": _selection,
    "records.promote": _promote,
    "recall": _recall,
    "profile.get": _subject,
    "profile.update": _profile,
    "receipts.get": _receipt,
    "reflections.state": _selection,
    "reflections.list": _selection,
    "reflections.generate": _generate,
    "exports.create": _nothing,
    "exports.get": _export,
    "imports.stage": _stage,
    "imports.activate": _activate,
    "imports.discard": _discard,
}
"""How to build the plain request of each operation, by its stem."""

STEMS = tuple(BUILDERS)
"""All operations, in the order of the contract's table."""
