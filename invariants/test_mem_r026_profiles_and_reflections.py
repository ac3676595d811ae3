"""MEM-R026: profiles are honestly empty and hold no rights; a reflection's basis is pinned and its staleness computed at read.

protocol.md section 7, Profiles and Reflections, and section 3, Reflection. The form of ``state_digest`` is the provider's: only
equality and inequality are tested, and only for callers whose coverage by both reflection capabilities is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import OMIT, Caller, made
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.content import profile_contents
from strategies.identifiers import extension_maps, ids, look_alikes

reflecting = pytest.mark.needs(flags=[Flag.REFLECTION])

ENTRY = {
    "view": "recorded_at",
    "dimension": "belief",
    "value": "it rains",
    "attribution": {"holder_id": "ann"},
    "basis": {"kind": "stated", "refs": []},
    "time": {"recorded_at": "2026-01-01T00:00:00Z"},
}
ANN = {"holder_id": "ann"}


# -- profiles


def wrote(caller: Caller, subject_id: str, kind: str, revision: int | None, **members: Any) -> Mapping[str, Any]:
    """Write a profile document at an expected revision and return the receipt."""
    body = {"content": {"text": "a"}, **members}
    receipt: Mapping[str, Any] = caller.do("profile.update", subject_id=subject_id, kind=kind, expected_revision=revision, **body)
    return receipt


def read(caller: Caller, subject_id: str, *kinds: str) -> Mapping[str, Any]:
    """Read profile documents by kind, or all that the provider gives without naming any."""
    answer: Mapping[str, Any] = caller.do("profile.get", subject_id=subject_id, kinds=list(kinds) or OMIT)
    return answer


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
    document = answer["documents"][0]
    expected = {
        **document,
        "subject_id": subject_id,
        "kind": kind,
        "content": content,
        "content_digest": digest(content),
        "revision": 1,
        "updated_by": author.principal_id,
        "extensions": extensions,
    }
    world.same(expected, document, "the document is not as it was written")


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
    document = read(world.root, subject_id, "preferences")["documents"][0]
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


# -- reflections


def place(bench: Bench, *, records: int = 1, profiles: bool = True) -> tuple[World, dict[str, str]]:
    """Return a world and a placement with records, and with the required profiles written or not."""
    world = bench.world()
    scope = world.scope()
    if profiles:
        scenes.complete_profile(world, scope["subject_id"])
    for _ in range(records):
        world.root.create(scope=scope)
    return world, scope


def state_of(caller: Caller, selection: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Read the reflection state of a selection."""
    answer: Mapping[str, Any] = caller.do("reflections.state", selection=selection, **members)
    return answer


def generated(caller: Caller, selection: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Generate a reflection and return it as its generator lists it."""
    reflection_id = made(caller.do("reflections.generate", selection=selection, **members), "reflection")
    members.pop("expected_state_digest", None)
    return found(caller, reflection_id, selection, **members)


def shown(caller: Caller, selection: Mapping[str, Any], **members: Any) -> list[str]:
    """Return the ids of the reflections that a caller is shown for a selection."""
    return [one["reflection_id"] for one in caller.all("reflections.list", selection=selection, **members)]


def found(caller: Caller, reflection_id: str, selection: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Return a reflection from a list that must show it."""
    listed = caller.all("reflections.list", selection=selection, **members)
    caller.world.expect(
        reflection_id in [one["reflection_id"] for one in listed], "reflections.list does not show the reflection", seen=listed
    )
    return next(one for one in listed if one["reflection_id"] == reflection_id)


@reflecting
def test_the_basis_is_pinned(bench: Bench) -> None:
    """A reflection pins its selection, filters, records, profiles, engine policy and the digest that the state told before."""
    world, scope = place(bench, records=2)
    wrote(world.root, scope["subject_id"], "voice", None)
    filtered = world.root.create(content={"text": "a", "cognition": [ENTRY]}, source_context_id="here")
    selection = scenes.selection(scope)
    cognition = {"cognition_filter": ANN} if bench.declares(Flag.COGNITION) else {}
    asked = {"filter": {"source_context_ids": ["here"]}, **cognition}
    before = state_of(world.root, selection, **asked)
    reflection = generated(world.root, selection, **asked)
    kinds = [*bench.described(world)["required_profile_kinds"], "voice"]
    pinned = {"selection": selection, **asked}
    world.same(pinned, {name: reflection.get(name) for name in pinned}, "the request's selection and filters are not pinned")
    basis = reflection["basis"]
    world.same([{"record_id": filtered, "revision": 1}], basis["records"], "the basis is not the eligible records")
    profiles = {one["kind"]: one["revision"] for one in basis["profiles"]}
    world.same(dict.fromkeys(kinds, 1), profiles, "the basis does not hold every profile of the subject")
    world.same(bench.described(world)["engine_policy_version"], basis["engine_policy_version"], "the engine policy is not pinned")
    world.same(before["state_digest"], basis["state_digest"], "the digest is not the one of the state at the request")
    world.same(1, before["record_count"], "reflections.state does not count the eligible records")


@reflecting
def test_generation_needs_every_required_profile(bench: Bench) -> None:
    """Without a required kind generation is PROFILE_INCOMPLETE and names what is missing; with all of them it is accepted."""
    world, scope = place(bench, profiles=False)
    selection = scenes.selection(scope)
    required = list(bench.described(world)["required_profile_kinds"])
    while required:
        state = state_of(world.root, selection)
        world.same_set(required, state["missing_required_kinds"], "reflections.state names the wrong missing kinds")
        world.same(True, state["sufficient"], "sufficient speaks of records, not of profiles")
        with world.unchanged("a refused generation changed something"):
            error = world.root.refused("reflections.generate", Code.PROFILE_INCOMPLETE, selection=selection)
        world.same_set(required, (error.get("details") or {}).get("missing_kinds", []), "details.missing_kinds is wrong")
        wrote(world.root, scope["subject_id"], required.pop(), None)
    world.same([], state_of(world.root, selection)["missing_required_kinds"], "a written kind is called missing")
    generated(world.root, selection)


@reflecting
def test_generation_needs_an_eligible_record(bench: Bench) -> None:
    """Without an eligible record generation is INSUFFICIENT_DATA; tombstones, candidates and other places do not count."""
    world, scope = place(bench, records=0)
    selection = scenes.selection(scope)
    dead = world.root.create(scope=scope)
    world.root.do("records.delete", record_id=dead, expected_revision=1)
    world.root.capture(scope=scope)
    world.root.create(scope=world.scope(context="c2"))
    state = state_of(world.root, selection)
    world.same([False, 0], [state["sufficient"], state["record_count"]], "reflections.state counts what is not eligible")
    with world.unchanged("a refused generation changed something"):
        world.root.refused("reflections.generate", Code.INSUFFICIENT_DATA, selection=selection)
    world.root.create(scope=scope)
    state = state_of(world.root, selection)
    world.same([True, 1], [state["sufficient"], state["record_count"]], "reflections.state does not count the eligible record")
    generated(world.root, selection)


Change = Callable[[World, Mapping[str, str], str], Any]


def _update(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "b"})


def _update_kind(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.update", record_id=record_id, expected_revision=1, kind="fact")


def _delete(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.delete", record_id=record_id, expected_revision=1)


def _create(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    world.root.create(scope=dict(scope))


def _review(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    candidate_id = world.root.capture(scope=dict(scope))
    decision = {"action": "promote"}
    world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def _move_out(world: World, _scope: Mapping[str, str], record_id: str) -> None:
    world.root.do("records.promote", record_id=record_id, expected_revision=1, to_scope=world.scope(context="c2"))


def _move_in(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    other = world.root.create(scope=world.scope(context="c2"))
    world.root.do("records.promote", record_id=other, expected_revision=1, to_scope=dict(scope))


def _required_profile(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    documents = read(world.root, scope["subject_id"], "personality")["documents"]
    wrote(world.root, scope["subject_id"], "personality", documents[0]["revision"] if documents else None)


def _other_profile(world: World, scope: Mapping[str, str], _record_id: str) -> None:
    wrote(world.root, scope["subject_id"], "a kind of its own", None)


CHANGES: Mapping[str, Change] = {
    "update": _update,
    "update_kind": _update_kind,
    "delete": _delete,
    "create": _create,
    "review": _review,
    "move_out": _move_out,
    "move_in": _move_in,
    "required_profile": _required_profile,
    "other_profile": _other_profile,
}


@reflecting
@pytest.mark.parametrize("name", CHANGES)
def test_any_change_of_the_basis_is_seen_at_read(bench: Bench, name: str) -> None:
    """A change of an eligible record, of the eligible set or of a profile changes the digest and makes the reflection stale."""
    world, scope = place(bench, records=1)
    selection = scenes.selection(scope)
    record_id = world.root.create(scope=scope)
    world.same(True, state_of(world.root, selection)["stale"], "before any generation there is a reflection on this basis")
    reflection = generated(world.root, selection)
    before = state_of(world.root, selection)
    world.same([False, False], [reflection["stale"], before["stale"]], "a reflection is stale as soon as it is made")
    CHANGES[name](world, scope, record_id)
    after = state_of(world.root, selection)
    world.expect(before["state_digest"] != after["state_digest"], f"the digest does not cover the change: {name}", seen=after)
    now = found(world.root, reflection["reflection_id"], selection)
    world.same([True, True], [now["stale"], after["stale"]], f"the reflection does not read as stale after the change: {name}")
    world.same({**reflection, "stale": True}, now, "more than staleness changed in the reflection")


@reflecting
def test_nothing_else_is_in_the_digest(bench: Bench) -> None:
    """Records elsewhere, candidates, tombstones, other subjects, grants and fences leave the digest and staleness alone."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    reflection = generated(world.root, selection)
    before = state_of(world.root, selection)
    world.root.create(scope=world.scope(context="c2"))
    world.root.create(scope=world.scope(context=None))
    world.root.create(scope=world.scope("u2"))
    world.root.capture(scope=scope)
    wrote(world.root, world.name("u2"), "preferences", None)
    world.principal("reflections_read")
    world.root.do("subjects.fence", target={"type": "context", "context_id": world.name("c3")}, action="fence")
    generated(world.root, scenes.selection(world.scope(context="c2")))
    after = state_of(world.root, selection)
    world.same(before, after, "something outside the six parts changed the state")
    world.same(reflection, found(world.root, reflection["reflection_id"], selection), "the reflection changed without its basis")


@reflecting
def test_staleness_is_computed_from_the_basis_as_it_is(bench: Bench) -> None:
    """When the eligible set is again what was pinned, the basis is exactly this one: staleness is no stored mark."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    reflection = generated(world.root, selection)
    extra = world.root.create(scope=scope)
    world.same(True, state_of(world.root, selection)["stale"], "a new eligible record does not make the basis another")
    world.root.do("records.delete", record_id=extra, expected_revision=1)
    state = state_of(world.root, selection)
    world.same(reflection["basis"]["state_digest"], state["state_digest"], "the same six parts give another digest")
    world.same(False, state["stale"], "there is a reflection on exactly this basis, and the state says that there is none")
    world.same(
        False, found(world.root, reflection["reflection_id"], selection)["stale"], "the reflection's basis is the present one"
    )


@reflecting
def test_selection_and_filters_are_in_the_digest(bench: Bench) -> None:
    """Requests that differ in selection, filter or cognition filter have different digests, though the records are the same."""
    world, scope = place(bench, records=0)
    world.root.create(scope=scope, content={"text": "a", "cognition": [ENTRY]}, source_context_id="here")
    selection = scenes.selection(scope)
    here = {"filter": {"source_context_ids": ["here"]}}
    variants: list[dict[str, Any]] = [
        {"selection": selection},
        {"selection": world.everything()},
        {"selection": selection, **here},
        {"selection": selection, "filter": {"sources": ["author"]}},
    ]
    if bench.declares(Flag.COGNITION):
        others: list[dict[str, Any]] = [ANN, {"basis_kind": "stated"}, {**ANN, "basis_kind": "stated"}]
        variants += [{"selection": selection, "cognition_filter": wanted} for wanted in others]
        variants.append({"selection": selection, **here, "cognition_filter": ANN})
    states = [world.root.do("reflections.state", **asked) for asked in variants]
    world.same([1] * len(states), [state["record_count"] for state in states], "each of the requests has the one eligible record")
    digests = [state["state_digest"] for state in states]
    world.expect(len(set(digests)) == len(digests), "two different requests have the same digest", seen=digests)
    again = [world.root.do("reflections.state", **asked)["state_digest"] for asked in variants]
    world.same(digests, again, "the same request on the same state has another digest")


@reflecting
def test_a_list_shows_exactly_what_was_pinned_alike(bench: Bench) -> None:
    """A list shows the reflections whose pinned selection and filters equal the request's; absent equals only absent."""
    world, scope = place(bench, records=0)
    world.root.create(scope=scope, content={"text": "a", "cognition": [ENTRY]}, source_context_id="here")
    subject_id = scope["subject_id"]
    both = [scope["context_id"], world.name("c2")]
    requests: list[dict[str, Any]] = [
        {"selection": scenes.selection(scope)},
        {"selection": world.everything()},
        {"selection": {"subject_id": subject_id, "mode": "contexts", "context_ids": both}},
        {"selection": {"subject_id": subject_id, "mode": "contexts", "context_ids": both[::-1]}},
        {"selection": scenes.selection(scope), "filter": {"source_context_ids": ["here"]}},
        {"selection": scenes.selection(scope), "filter": {"source_context_ids": ["here"], "sources": ["author"]}},
    ]
    if bench.declares(Flag.COGNITION):
        requests += [{**requests[0], "cognition_filter": ANN}, {**requests[4], "cognition_filter": ANN}]
        requests.append({**requests[0], "cognition_filter": {**ANN, "basis_kind": "stated"}})
    ids_made = [made(world.root.do("reflections.generate", **asked), "reflection") for asked in requests]
    for number, asked in enumerate(requests):
        world.same([ids_made[number]], shown(world.root, **asked), f"the list for {asked} shows what was pinned otherwise")


@reflecting
def test_a_list_is_newest_first(bench: Bench) -> None:
    """Reflections are listed newest first, a page at a time too."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    ids_made = []
    for _ in range(3):
        ids_made.append(made(world.root.do("reflections.generate", selection=selection), "reflection"))
        world.root.create(scope=scope)
    world.same(ids_made[::-1], shown(world.root, selection), "reflections.list is not newest first")
    world.same(ids_made[::-1], shown(world.root, selection, limits=[1]), "the pages of reflections.list are not newest first")


@reflecting
def test_a_reflection_is_shown_to_whom_covers_it(bench: Bench) -> None:
    """A reflection is shown only to a caller that covers the whole selection by ``reflections_read``."""
    world, scope = place(bench)
    subject_id, c1, c2 = scope["subject_id"], scope["context_id"], world.name("c2")
    wide = {"subject_id": subject_id, "mode": "contexts", "context_ids": [c1, c2]}
    reflection = generated(world.root, wide)
    narrow = world.principal("reflections_read", subject_ids=[subject_id], context_ids=[c1])
    narrow.denied("reflections.list", selection=wide)
    narrow.denied("reflections.state", selection=wide)
    reader = world.principal("reflections_read", subject_ids=[subject_id], context_ids=[c1, c2])
    world.same(
        reflection, found(reader, reflection["reflection_id"], wide), "a reader of the whole selection sees another reflection"
    )
    blind = world.principal("reflections_generate", "records_read", "recall", subject_ids=[subject_id], context_ids=[c1, c2])
    blind.denied("reflections.list", selection=wide)
    blind.denied("reflections.generate", selection=wide)


@reflecting
def test_over_all_authorized_a_reflection_is_shown_to_whom_covers_its_records(bench: Bench) -> None:
    """Over ``all_authorized`` a reader sees the reflections whose every basis record it covers, stale by what both cover."""
    world, scope = place(bench)
    subject_id, c1 = scope["subject_id"], scope["context_id"]
    narrow = world.principal("reflections_read", subject_ids=[subject_id], context_ids=[c1])
    mine = generated(world.root, world.everything())
    seen = found(narrow, mine["reflection_id"], world.everything())
    world.same(False, seen["stale"], "the reflection is stale though nothing changed")
    world.root.create(scope=world.scope(context="c2"))
    world.same(True, found(world.root, mine["reflection_id"], world.everything())["stale"], "a new record does not make it stale")
    seen = found(narrow, mine["reflection_id"], world.everything())
    world.same(False, seen["stale"], "staleness tells a reader of a record that it does not cover")
    theirs = generated(world.root, world.everything())
    world.same([mine["reflection_id"]], shown(narrow, world.everything()), "a reflection on a hidden record is shown")
    world.same_set(
        [mine["reflection_id"], theirs["reflection_id"]], shown(world.root, world.everything()), "root does not see both"
    )
    world.root.create(scope=scope)
    world.same(True, found(narrow, mine["reflection_id"], world.everything())["stale"], "a change that both cover is not seen")


@reflecting
def test_the_basis_is_what_both_capabilities_cover(bench: Bench) -> None:
    """Generation needs both reflection capabilities; over ``all_authorized`` the basis is what both cover."""
    world, scope = place(bench, records=0)
    subject_id, c1, c2 = scope["subject_id"], scope["context_id"], world.name("c2")
    covered = world.root.create(scope=scope)
    world.root.create(scope=world.scope(context="c2"))
    world.root.create(scope=world.scope(context=None))
    caller = world.principal("reflections_generate", subject_ids=[subject_id], context_ids=[c1, c2], shared_access="read")
    caller.denied("reflections.generate", selection=world.everything())
    world.root.grant(caller, capabilities=["reflections_read"], subject_ids=[subject_id], context_ids=[c1])
    reflection = generated(caller, world.everything())
    world.same(
        [{"record_id": covered, "revision": 1}], reflection["basis"]["records"], "the basis is not what both capabilities cover"
    )
    beyond = {"subject_id": subject_id, "mode": "contexts", "context_ids": [c2]}
    caller.denied("reflections.generate", selection=beyond)


@reflecting
def test_an_expected_digest_must_be_the_present_one(bench: Bench) -> None:
    """``expected_state_digest`` other than the present one is refused as stale; the present one is accepted."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    old = state_of(world.root, selection)["state_digest"]
    world.root.create(scope=scope)
    with world.unchanged("a refused generation changed something"):
        for wrong in (old, "0" * 64):
            world.root.refused("reflections.generate", Code.REVISION_STALE, selection=selection, expected_state_digest=wrong)
    now = state_of(world.root, selection)["state_digest"]
    reflection = generated(world.root, selection, expected_state_digest=now)
    world.same(now, reflection["basis"]["state_digest"], "the generated basis is not the expected one")


@reflecting
def test_no_read_generates_and_no_replay_bills_twice(bench: Bench) -> None:
    """Reading state and lists makes no reflection; a replayed generation is the same receipt and no second reflection."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    for _ in range(2):
        state_of(world.root, selection)
        world.same([], shown(world.root, selection), "a read generated a reflection")
    call = world.root.call("reflections.generate", selection=selection)
    receipt = world.root.accepted(call)
    world.root.create(scope=scope)
    world.same(receipt, world.root.accepted(call), "a replayed generation is not the same receipt")
    world.same([made(receipt, "reflection")], shown(world.root, selection), "a replay made a second reflection")


@reflecting
@pytest.mark.needs(flags=[Flag.REFLECTION], controls=["hold"])
def test_a_held_generation_commits_the_basis_of_its_request(bench: Bench) -> None:
    """While pending a reflection does not exist for reads; it commits the basis pinned at the request, whatever came between."""
    world, scope = place(bench)
    selection = scenes.selection(scope)
    before = state_of(world.root, selection)
    bench.levers.hold(True)
    try:
        pending = world.root.send("reflections.generate", selection=selection).payload["receipt"]
        world.same("pending", pending["state"], "a held generation is not pending")
        world.same([], shown(world.root, selection), "the object of a pending receipt is shown")
        world.root.create(scope=scope)
        scenes.freeze(world)
    finally:
        bench.levers.hold(False)
    receipt = world.root.settled(pending)
    world.same("committed", receipt["state"], "a held generation did not commit")
    reflection = found(world.root, made(receipt, "reflection"), selection)
    world.same(before["state_digest"], reflection["basis"]["state_digest"], "the basis is not the one of the request")
    world.same(True, reflection["stale"], "a reflection whose basis changed while it was pending is not stale")
