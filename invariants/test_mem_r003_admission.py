"""MEM-R003, admission: the caller is who admission says, and nothing in a payload can say otherwise (sections 1, 3 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, made
from conformance.wire.vocabulary import Code, Flag
from strategies.identifiers import ID_LIMIT, ids, look_alikes

# Under these names a careless host might look for who is calling.
NAMES = ("principal", "principal_id", "caller", "actor", "user", "as", "on_behalf_of", "impersonate", "subject", "credential",
         "authorization", "auth", "session", "token", "admin", "root", "flags", "capabilities", "op")  # fmt: skip
SPACES = [*(name for name in NAMES if name != "op"), "spoke", "memory", "spoke-memory"]


def _claims(who: Caller) -> list[Any]:
    """Give the ways in which a payload may claim to be another's: its id, its credential, a Principal."""
    principal = {"schema_version": 1, "principal_id": who.principal_id, "kind": "agent", "extensions": {}}
    return [who.principal_id, who.credential, principal, {"id": who.principal_id, "credential": who.credential}]


def _claiming(who: Caller, *namespaces: str) -> dict[str, Any]:
    """Give request members whose extensions claim, under every name, that ``who`` is calling."""
    identity, credential, principal, pair = _claims(who)
    members = dict.fromkeys(NAMES, principal) | {"principal_id": identity, "credential": credential, "auth": pair}
    return {"extensions": dict.fromkeys(namespaces, members)}


def _false_credentials(true: str) -> Iterator[str | None]:
    """Give what is no credential, among it look-alikes of a true one; none has outer spaces, which HTTP does not carry."""
    yield from (None, "", "nobody", "null", "undefined")
    yield from (near for near in (f"{true}x", f"x{true}", true[1:], true.swapcase(), true[::-1]) if near != true)


def test_unauthenticated_call_leaves_no_trace(bench: Bench) -> None:
    """An unauthenticated call is refused as such in every operation, whatever it shows for a credential, and leaves no trace."""
    for world, _, call in scenes.each(bench):
        attempts = [replace(call, credential=false) for false in _false_credentials(str(call.credential))]
        scenes.stopped(world, call, attempts, Code.NOT_AUTHENTICATED)


@given(credential=st.text(st.characters(codec="ascii", categories=("L", "N", "P")), max_size=40))
def test_no_credential_but_a_true_one_is_admitted(bench: Bench, credential: str) -> None:
    """Credentials are compared exactly: what is none is refused, and the true one is admitted after it as before."""
    world = bench.world()
    call = world.root.call("records.create", **scenes.plain_request(world, "records.create"))
    scenes.stopped(world, call, [replace(call, credential=credential)], Code.NOT_AUTHENTICATED)


def test_no_payload_member_lends_authority(bench: Bench) -> None:
    """A caller without any grant stays one, whatever its payload claims in extensions; the same claims do root no harm."""
    for world, _, call in scenes.each(bench, lambda operation: bool(operation.needs)):
        stranger = world.stranger()
        claiming = {**call.payload, **_claiming(world.root, "acme", *SPACES)}
        attempt = replace(call, payload=claiming, credential=stranger.credential, caller=stranger.name)
        scenes.stopped(world, call, [attempt], Code.NOT_FOUND, Code.NOT_AUTHORIZED)


def test_no_payload_member_adds_to_what_a_caller_sees(bench: Bench) -> None:
    """The reads that any caller may make show the caller's own, whoever its payload claims to be."""
    world = bench.world()
    limited = world.principal("recall", context_ids=[world.name("c1")])
    claims = _claiming(world.root, "acme", *SPACES)
    stranger = world.stranger()
    # A principal of a shared target's pool may have had grants before, which were revoked; each was its own all the same.
    for caller, holds in ((limited, True), (stranger, False)):
        seen = {grant["grantee_id"] for grant in caller.all("grants.list", view="own", **claims)}
        world.same([], sorted(seen - {caller.principal_id}), "a caller saw grants that are not its own")
        spaces = [space["space_id"] for space in caller.all("spaces.list", **claims)]
        world.same(holds, world.space_id in spaces, "whether a space shows to a caller with or without a grant in it")


@given(name=st.sampled_from(NAMES), claim=st.integers(0, 3), data=st.data())
def test_no_request_has_a_member_for_the_caller(bench: Bench, name: str, claim: int, data: st.DataObject) -> None:
    """No payload member can name, add to or replace the principal: a request that tries is no request."""
    world = bench.world()
    operation = data.draw(st.sampled_from(scenes.served(world)), "operation")
    call = world.root.call(operation.stem, **scenes.plain_request(world, operation.stem))
    if name in world.members_of(operation.name):
        world.root.accepted(call)
        return
    attempt = replace(call, payload={**call.payload, name: _claims(world.stranger())[claim]})
    scenes.stopped(world, call, [attempt], Code.MALFORMED_REQUEST, meant_invalid=True)


RIGHTS = ("capture", "review", "records_read", "records_write", "profile_read", "profile_write", "grants_issue")

Author = tuple[str, Caller, Any]


def _authors_of_a_record(maker: Caller, other: Caller, claims: Mapping[str, Any]) -> Iterator[Author]:
    record_id = maker.create(**claims)
    other.do("records.update", record_id=record_id, expected_revision=1, content={"text": "b"}, **claims)
    yield "the author of a record", maker, maker.read(record_id)["provenance"]["created_by"]
    other.do("records.delete", record_id=record_id, expected_revision=2, **claims)
    yield "who deleted a record", other, maker.read(record_id)["tombstone"]["deleted_by"]


def _authors_of_a_candidate(maker: Caller, other: Caller, claims: Mapping[str, Any]) -> Iterator[Author]:
    candidate_id = maker.capture(**claims)
    decision = {"action": "promote"}
    receipt = other.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision, **claims)
    seen = maker.candidate(candidate_id)
    yield "who captured a candidate", maker, seen["provenance"]["captured_by"]
    yield "who decided on a candidate", other, seen["outcome"]["decided_by"]
    yield "the author of a reviewed record", other, maker.read(made(receipt, "record"))["provenance"]["created_by"]


def _authors_of_the_rest(maker: Caller, other: Caller, claims: Mapping[str, Any]) -> Iterator[Author]:
    subject_id = maker.world.scope()["subject_id"]
    written = {"subject_id": subject_id, "kind": "preferences", "content": {"text": "a"}}
    maker.do("profile.update", **written, expected_revision=None, **claims)
    other.do("profile.update", **written, expected_revision=1, **claims)
    documents = maker.do("profile.get", subject_id=subject_id, kinds=["preferences"])["documents"]
    yield "who wrote a profile", other, documents[0]["updated_by"]
    grant_id = maker.grant(other, capabilities=["capture"], **claims)
    issued = [grant for grant in other.all("grants.list", view="own") if grant["grant_id"] == grant_id]
    yield "who issued a grant", maker, issued[0]["issuer_id"] if issued else None


def _author_of_a_dismissal(maker: Caller, other: Caller, claims: Mapping[str, Any]) -> Iterator[Author]:
    receipt = other.do("candidates.dismiss", candidate_id=maker.capture(), expected_revision=1, **claims)
    yield "who dismissed a candidate", other, maker.candidate(made(receipt, "candidate"))["outcome"]["decided_by"]


@pytest.mark.examples(0.4)
@given(names=st.lists(st.sampled_from(SPACES), min_size=1, max_size=3, unique=True))
def test_every_author_is_the_caller(bench: Bench, names: list[str]) -> None:
    """What a call makes, decides or changes is put down to its caller, whoever its payload claims to be."""
    world = bench.world()
    world.scope()
    maker, other = (world.principal(*RIGHTS, shared_access="write") for _ in range(2))
    claims = _claiming(world.root, *names)
    for authors in (_authors_of_a_record, _authors_of_a_candidate, _authors_of_the_rest):
        for what, who, seen in authors(maker, other, claims):
            world.same(who.principal_id, seen, f"{what} is not the caller")


def test_every_receipt_is_its_callers(bench: Bench) -> None:
    """The receipt of every mutation names its caller as the principal, whoever the payload claims to be."""
    for world, _, call in scenes.each(bench, lambda operation: operation.mutation):
        claiming = {**call.payload, **_claiming(world.stranger(), "acme", *SPACES)}
        receipt = world.root.accepted(replace(call, payload=claiming))
        world.same(world.root.principal_id, receipt["principal_id"], f"{call.op}: the receipt is another principal's")


@given(key=ids(), same_body=st.booleans())
def test_keys_of_two_callers_are_two_keys(bench: Bench, key: str, same_body: bool) -> None:
    """Two callers under one idempotency key are two requests, and one caller is the same in whatever session it calls."""
    world = bench.world()
    first, second = (world.principal("records_write", "records_read", name=name) for name in ("A", "B"))
    written = {"kind": "note", "content": {"text": "a"}, "scope": world.scope()}
    call = first.call("records.create", idempotency_key=scenes.own(world, key), **written)
    other = replace(call, payload=call.payload if same_body else {**call.payload, "content": {"text": "b"}})
    mine = first.accepted(call)
    theirs = second.accepted(replace(other, credential=second.credential, caller=second.name))
    world.expect(mine["receipt_id"] != theirs["receipt_id"], "a caller was answered with another caller's receipt", seen=theirs)
    world.same(second.principal_id, theirs["principal_id"], "the receipt of a caller names another")
    again = first.accepted(replace(call, flags=first.with_flags(Flag.CORE).flags))
    world.same(mine, again, "a caller that repeats its request in another session is not answered alike")


@given(names=look_alikes(2))
def test_names_like_a_principals_are_no_principals(bench: Bench, names: tuple[str, ...]) -> None:
    """A grant to a name that resembles the caller's, or to its credential, is no grant to the caller; one to its id is."""
    world = bench.world()
    record_id = world.root.create()
    caller = world.stranger()
    true = caller.principal_id
    near = (f"{true}{names[0]}", f"{names[1]}{true}", f"{true} ", true[:-1], true.swapcase(), str(caller.credential))
    for grantee in sorted({name[:ID_LIMIT] for name in near} - {true, ""}):
        world.root.do("grants.grant", grantee_id=grantee, capabilities=["records_read"], shared_access="read")
    caller.refused("records.get", Code.NOT_FOUND, record_id=record_id)
    world.root.grant(caller, capabilities=["records_read"])
    world.same(record_id, caller.read(record_id)["record_id"], "a caller was given another record than it asked for")
