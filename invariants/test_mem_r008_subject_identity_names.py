"""MEM-R008, names: ids are opaque and compared code point by code point, and no name stands above another (field bug F26)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import assume, given

from conformance.bench import Bench
from conformance.caller import Caller, all_made
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.identifiers import ID_LIMIT, LOOK_ALIKES, SEPARATORS, colliding_pairs, look_alikes

KINDS = ("app:user", "app:bot")


def _named(world: World, *names: str) -> list[str]:
    """Return the world's own forms of drawn names; in a shared space names too long for its salt are passed over."""
    salted = [world.name(name) for name in names]
    assume(all(len(name) <= ID_LIMIT for name in salted))
    return salted


def _texts(caller: Caller, selection: dict[str, Any]) -> list[str]:
    """Return the texts of what a selection lists, having seen that the total and recall agree."""
    pages = list(caller.pages("records.list", selection=selection))
    texts = [record["content"]["text"] for page in pages for record in page["records"]]
    caller.world.expect(len(texts) == pages[0]["total_authorized"], "total_authorized is not the number of listed records")
    recalled = caller.do("recall", selection=selection, budget={"max_records": 50})["records"]
    caller.world.expect(
        sorted(texts) == sorted(record["content"]["text"] for record in recalled), "recall and list read different records"
    )
    return texts


def _everything(subject_id: str) -> dict[str, Any]:
    return {"subject_id": subject_id, "mode": "all_authorized"}


def _contexts(subject_id: str, *context_ids: str) -> dict[str, Any]:
    return {"subject_id": subject_id, "mode": "contexts", "context_ids": list(context_ids)}


def test_every_look_alike_is_a_subject_of_its_own(bench: Bench) -> None:
    """Ids that a collation, a normal form, a trim or a number would run together name subjects of their own."""
    for family in bench.rows(LOOK_ALIKES):
        world = bench.world()
        for index, name in enumerate(family):
            subject_id = world.name(name)
            if len(subject_id) > ID_LIMIT:
                continue
            receipt = world.root.do("subjects.ensure", subject_id=subject_id, kind=KINDS[index % 2])
            named = [{"type": "subject", "id": subject_id, "revision": 1}]
            world.same(named, receipt["affected"], "subjects.ensure took the id for another one")
        for index, name in enumerate(family):
            if len(world.name(name)) <= ID_LIMIT:
                subject = world.root.do("subjects.get", subject_id=world.name(name))["subject"]
                seen = [subject["subject_id"], subject["revision"], subject.get("kind")]
                world.same([world.name(name), 1, KINDS[index % 2]], seen, "subjects.get gave another subject than was named")


@given(names=look_alikes(2))
def test_a_subject_is_missing_until_its_very_id_is_ensured(bench: Bench, names: tuple[str, str]) -> None:
    """A look-alike of an existing subject does not exist, and nothing that happens to the one happens to the other."""
    world = bench.world()
    first, second = _named(world, *names)
    world.root.ensure(first, kind=KINDS[0])
    world.root.refused("subjects.get", Code.NOT_FOUND, subject_id=second)
    scope = {"subject_id": second}
    world.root.refused("records.create", Code.NOT_FOUND, kind="note", content={"text": "a"}, scope=scope)
    world.root.ensure(second, kind=KINDS[1])
    target = {"type": "subject", "subject_id": first}
    world.root.do("subjects.fence", target=target, action="archive", expected_revision=1)
    subject = world.root.do("subjects.get", subject_id=second)["subject"]
    world.same(["active", 1], [subject["state"], subject["revision"]], "archiving a subject changed a look-alike")
    world.root.create(scope=scope)


@given(names=look_alikes(3))
def test_records_stay_with_the_subject_they_name(bench: Bench, names: tuple[str, str, str]) -> None:
    """A record belongs to the one subject that it names: no look-alike lists it, and no grant on a look-alike reaches it."""
    world = bench.world()
    subjects = _named(world, *names)
    for number, subject_id in enumerate(subjects):
        world.root.ensure(subject_id)
        world.root.create(scope={"subject_id": subject_id, "context_id": world.name("c1")}, content={"text": f"of {number}"})
    for number, subject_id in enumerate(subjects):
        world.same([f"of {number}"], _texts(world.root, _everything(subject_id)), "a subject lists a look-alike's record")
    reader = world.principal("records_read", "recall", subject_ids=subjects[:1])
    world.same(["of 0"], _texts(reader, _everything(subjects[0])), "a grant on a subject does not reach its records")
    for subject_id in subjects[1:]:
        reader.denied("records.list", selection=_everything(subject_id))


@given(names=look_alikes(3))
def test_look_alike_contexts_are_apart(bench: Bench, names: tuple[str, str, str]) -> None:
    """Contexts are compared code point by code point in placements, selections, grants and fences."""
    world = bench.world()
    contexts = _named(world, *names)
    subject_id = world.root.ensure(world.name("u1"))
    for number, context_id in enumerate(contexts):
        world.root.create(scope={"subject_id": subject_id, "context_id": context_id}, content={"text": f"of {number}"})
    both = _texts(world.root, _contexts(subject_id, *contexts[1:]))
    world.same(["of 1", "of 2"], sorted(both), "a selection of two look-alike contexts is not those two")
    reader = world.principal("records_read", "recall", context_ids=contexts[:1])
    for selection in (_contexts(subject_id, contexts[0]), _everything(subject_id)):
        world.same(["of 0"], _texts(reader, selection), "a grant on a context reaches another one")
    reader.denied("records.list", selection=_contexts(subject_id, contexts[1]))
    world.root.do("subjects.fence", target={"type": "context", "context_id": contexts[0]}, action="fence")
    world.root.refused(
        "records.create",
        Code.CONTEXT_FENCED,
        kind="note",
        content={"text": "a"},
        scope={"subject_id": subject_id, "context_id": contexts[0]},
    )
    for context_id in contexts[1:]:
        world.root.create(scope={"subject_id": subject_id, "context_id": context_id})


@given(names=look_alikes(3))
@pytest.mark.examples(0.5)
def test_look_alike_keys_and_kinds_are_apart(bench: Bench, names: tuple[str, str, str]) -> None:
    """Idempotency keys, kinds of profiles and kinds of records are compared code point by code point too."""
    world = bench.world()
    keys = _named(world, *names)
    scope = world.scope()
    everything = world.everything()
    for number, key in enumerate(keys):
        members = {"kind": key, "content": {"text": f"of {number}"}, "scope": scope, "idempotency_key": key}
        all_made(world.root.do("records.create", **members), "record")
    kinds = {record["content"]["text"]: record["kind"] for record in world.root.all("records.list", selection=everything)}
    world.same({f"of {number}": key for number, key in enumerate(keys)}, kinds, "look-alike keys or kinds were run together")
    for number, kind in enumerate(keys):
        profile = {"subject_id": scope["subject_id"], "kind": kind, "content": {"text": f"of {number}"}}
        world.root.do("profile.update", **profile, expected_revision=None)
    for number, kind in enumerate(keys):
        documents = world.root.do("profile.get", subject_id=scope["subject_id"], kinds=[kind])["documents"]
        seen = [[document["kind"], document["content"]["text"], document["revision"]] for document in documents]
        world.same([[kind, f"of {number}", 1]], seen, "look-alike kinds of profiles were run together")


def _apart(world: World, pairs: Sequence[tuple[str, str]]) -> None:
    """Keep a record and a profile under each pair of names, and find each under its own alone."""
    for number, (subject, context) in enumerate(pairs):
        subject_id = world.root.ensure(world.name(subject))
        world.root.create(scope={"subject_id": subject_id, "context_id": context}, content={"text": f"of {number}"})
        profile = {"subject_id": subject_id, "kind": context, "content": {"text": f"of {number}"}}
        world.root.do("profile.update", **profile, expected_revision=None)
    for number, (subject, context) in enumerate(pairs):
        subject_id = world.name(subject)
        texts = _texts(world.root, _contexts(subject_id, context))
        world.same([f"of {number}"], texts, "two placements were run together")
        documents = world.root.do("profile.get", subject_id=subject_id, kinds=[context])["documents"]
        texts = [document["content"]["text"] for document in documents]
        world.same([f"of {number}"], texts, "the profiles of two subjects were run together")


@given(pairs=colliding_pairs())
@pytest.mark.examples(0.3)
def test_joined_names_do_not_collide(bench: Bench, pairs: tuple[tuple[str, str], tuple[str, str]]) -> None:
    """A placement is a pair of names, whatever separator they would be joined by; a profile is a subject and a kind."""
    _apart(bench.world(), pairs)


def test_no_separator_joins_names(bench: Bench) -> None:
    """Two pairs of names that any of the usual separators joins to one text are still two."""
    for number, separator in enumerate(bench.rows(SEPARATORS)):
        left, middle, right = f"a{number}", "b", "c"
        _apart(bench.world(), [(f"{left}{separator}{middle}", right), (left, f"{middle}{separator}{right}")])


PATHS: Sequence[tuple[str, Sequence[str]]] = (
    ("u1", ("u1/c1", "u1:c1", "u1.c1", "u10", "u1 ", "u", "u1/u1", "u1#x")),
    ("a/b", ("a", "a/b/c", "b", "a/")),
)
"""A subject, and names that a hierarchy, a prefix or a path would put above or below it."""


def _archive(world: World, subject_id: str) -> None:
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action="archive", expected_revision=1)


def _fence(world: World, subject_id: str) -> None:
    target = {"type": "subject", "subject_id": subject_id}
    world.root.do("subjects.fence", target=target, action="fence", expected_revision=1)


@pytest.mark.parametrize("stop", [_fence, _archive])
def test_subjects_are_flat(bench: Bench, stop: Callable[[World, str], None]) -> None:
    """No subject is part of another: what is done to one, granted on it or kept for it is not done, granted or kept below it."""
    for above, names in PATHS:
        world = bench.world()
        subject_id, others = world.root.ensure(world.name(above)), [world.name(name) for name in names]
        for other in others:
            world.root.ensure(other)
            world.root.create(scope={"subject_id": other}, content={"text": other})
        reader = world.principal("records_read", "recall", "subjects_read", subject_ids=[subject_id], shared_access="read")
        for caller in (world.root, reader):
            world.same([], _texts(caller, _everything(subject_id)), "a subject lists what is kept for another")
        stop(world, subject_id)
        for other in others:
            reader.denied("subjects.get", subject_id=other)
            reader.denied("records.list", selection=_everything(other))
            subject = world.root.do("subjects.get", subject_id=other)["subject"]
            world.same(["active", 1], [subject["state"], subject["revision"]], "what was done to a subject was done to another")
            world.root.create(scope={"subject_id": other})
