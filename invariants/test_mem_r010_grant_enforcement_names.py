"""MEM-R010, names and spaces: a grant reaches the very names it lists in the very space it was issued in (F05, F12, F26)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.expect import Inconclusive
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.identifiers import ID_LIMIT, ids, look_alikes

Members = dict[str, Any]

READS = ("records_read", "recall", "review", "subjects_read", "profile_read")
BEGIN_ALIKE = ("acme", "acme-corp", "acme_corp", "acmeXcorp", "%", "a", "a:b", "a/b", "acme%", "*", "ACME", "_")
"""Names that a prefix, a wildcard or a pattern runs together (F05)."""


def _reads(caller: Caller, selection: Members, filters: Members | None = None) -> list[str]:
    """Return the texts that list and recall both give for a selection, and that the total counts."""
    extra: Members = {} if filters is None else {"filter": filters}
    pages = list(caller.pages("records.list", selection=selection, **extra))
    texts = sorted(record["content"]["text"] for page in pages for record in page["records"])
    total = pages[0]["total_authorized"]
    caller.world.expect(len(texts) == total, "total_authorized is not the number of listed records", seen=total)
    recalled = caller.do("recall", selection=selection, budget={"max_records": 100}, **extra)["records"]
    same = texts == sorted(record["content"]["text"] for record in recalled)
    caller.world.expect(same, "recall and list read different records", seen=recalled)
    return texts


def _contexts(subject_id: str, *context_ids: str) -> Members:
    return {"subject_id": subject_id, "mode": "contexts", "context_ids": list(context_ids)}


def _everything(subject_id: str) -> Members:
    return {"subject_id": subject_id, "mode": "all_authorized"}


def test_contexts_that_begin_alike_are_apart(bench: Bench) -> None:
    """A grant on a context reaches no other whose name begins alike or fits it as a pattern, whatever reads by it."""
    world = bench.world()
    subject_id = world.root.ensure(world.name("u1"))
    names = [world.name(name) for name in BEGIN_ALIKE]
    for name in names:
        scope = {"subject_id": subject_id, "context_id": name}
        world.root.do("records.create", kind="note", content={"text": name}, scope=scope, source_context_id=name)
    for name in bench.rows(names):
        reader = world.principal("records_read", "recall", context_ids=[name])
        others = [other for other in names if other != name]
        for selection in (_contexts(subject_id, name), _everything(subject_id)):
            world.same([name], _reads(reader, selection), "a grant on a context reads another one")
            world.same([name], _reads(reader, selection, {"source_context_ids": [name]}), "a filter by a source lost its record")
            world.same([], _reads(reader, selection, {"source_context_ids": others}), "a source context stood in for a placement")
        world.same([name], _reads(world.root, _contexts(subject_id, name)), "a selection of a context reads another one")
        for other in others[:2]:
            reader.denied("records.list", selection=_contexts(subject_id, name, other))


SELECTING: Mapping[str, Members] = {
    "records.list": {},
    "recall": {"budget": {"max_records": 1}},
    "candidates.list": {},
    "reflections.state": {},
    "reflections.list": {},
    "reflections.generate": {},
}
"""The operations with a selection, and what else each wants."""


def test_one_context_that_is_not_covered_rejects_the_whole(bench: Bench) -> None:
    """Naming a context that the caller does not cover rejects the whole request, wherever it stands among the others."""
    world = bench.world()
    subject_id = world.scope()["subject_id"]
    scenes.complete_profile(world, subject_id)
    covered = [world.name(f"c{number}") for number in range(1, 5)]
    world.root.create(scope={"subject_id": subject_id, "context_id": covered[0]})
    needs = ("records_read", "recall", "review", "reflections_read", "reflections_generate")
    reader = world.principal(*needs, subject_ids=[subject_id], context_ids=covered, shared_access="read")
    for row in (row for row in scenes.served(world) if row.stem in SELECTING):
        members, place = SELECTING[row.stem], {"subject_id": subject_id}
        for mode in ("contexts", "contexts_and_shared"):
            for at in range(len(covered) + 1):
                named = [*covered[:at], world.name("other"), *covered[at:]]
                reader.denied(row.stem, selection={**place, "mode": mode, "context_ids": named}, **members)
            reader.do(row.stem, selection={**place, "mode": mode, "context_ids": covered}, **members)


def test_subjects_that_begin_alike_are_apart(bench: Bench) -> None:
    """A grant on a subject reaches no other whose name begins alike or fits it as a pattern."""
    world = bench.world()
    names = [world.name(name) for name in ("u_", "u1", "u10", "u", "u%", "u1:c1", "U1")]
    for name in names:
        world.root.create(scope={"subject_id": world.root.ensure(name), "context_id": "c1"}, content={"text": name})
    for name in bench.rows(names):
        reader = world.principal(*READS, subject_ids=[name])
        world.same([name], _reads(reader, _everything(name)), "a grant on a subject reads another one")
        for other in names:
            if other != name:
                for stem in ("subjects.get", "profile.get"):
                    reader.denied(stem, subject_id=other)
                reader.denied("records.list", selection=_everything(other))


@given(subjects=look_alikes(2), contexts=look_alikes(2))
def test_look_alikes_share_no_grant(bench: Bench, subjects: tuple[str, str], contexts: tuple[str, str]) -> None:
    """A grant on a subject and a context reads the one placement of these very names, and none of its look-alikes."""
    world = bench.world()
    assume(all(len(world.name(name)) <= ID_LIMIT for name in (*subjects, *contexts)))
    own, other = [world.name(name) for name in subjects]
    here, there = [world.name(name) for name in contexts]
    for number, (subject, context) in enumerate(((own, here), (own, there), (other, here), (other, there))):
        scope = {"subject_id": world.root.ensure(subject), "context_id": context}
        world.root.create(scope=scope, content={"text": str(number)})
    holder = world.principal("records_read", "recall", "records_write", subject_ids=[own], context_ids=[here])
    world.same(["0"], _reads(holder, _everything(own)), "a grant on a placement reads another one")
    holder.create(scope={"subject_id": own, "context_id": here})
    for subject, context in ((own, there), (other, here), (other, there)):
        holder.denied("records.list", selection=_contexts(subject, context))
        material = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": subject, "context_id": context}}
        holder.denied("records.create", **material)


@given(names=st.lists(ids(), min_size=1, max_size=6), chosen=st.integers(0, 5))
@pytest.mark.examples(0.5)
def test_every_name_that_a_grant_lists_counts(bench: Bench, names: list[str], chosen: int) -> None:
    """Each subject and each context that a grant lists is reached, wherever in the list it stands and however often."""
    world = bench.world()
    assume(all(len(world.name(name)) <= ID_LIMIT for name in names))
    named = [world.name(name) for name in names]
    pick = named[chosen % len(named)]
    scope = {"subject_id": world.root.ensure(pick), "context_id": pick}
    world.root.create(scope=scope)
    reader = world.principal("records_read", "recall", subject_ids=named, context_ids=named[::-1])
    world.same(["a"], _reads(reader, _everything(pick)), "a name that the grant lists is not reached")


def test_any_of_several_grants_counts(bench: Bench) -> None:
    """The grant that covers counts, wherever it stands among those that do not; grants are never mixed to cover more."""
    world = bench.world()
    places = [world.scope(subject, context) for subject in ("u1", "u2") for context in ("c1", "c2")]
    for number, place in enumerate(places):
        world.root.create(scope=place, content={"text": str(number)})
    one, two = places[0], places[3]
    for order in ((one, two), (two, one)):
        reader = world.stranger()
        world.root.grant(reader, capabilities=["subjects_read"])
        for place in order:
            listed = {"subject_ids": [place["subject_id"]], "context_ids": [place["context_id"]]}
            world.root.grant(reader, capabilities=["records_read", "recall"], **listed)
        world.root.grant(reader, capabilities=["capture"])
        for place, text in ((one, "0"), (two, "3")):
            for selection in (_contexts(place["subject_id"], place["context_id"]), _everything(place["subject_id"])):
                world.same([text], _reads(reader, selection), "of several grants the one that covers does not count")
        for place in places[1:3]:
            reader.denied("records.list", selection=_contexts(place["subject_id"], place["context_id"]))


# -- another space (F12)


def _elsewhere(caller: Caller, world: World) -> Caller:
    """Return the principal as a caller of another world."""
    return replace(caller, world=world)


def _two_spaces(bench: Bench) -> tuple[World, World]:
    first = bench.world()
    if first.shared:
        raise Inconclusive("the target provisions no second space")
    return first, bench.world()


def _same_names(world: World) -> dict[str, Members]:
    """Fill a space with names that every space here has; return the reads of them."""
    scope = world.scope()
    record_id, candidate_id = world.root.create(scope=scope), world.root.capture(scope=scope)
    scenes.complete_profile(world, scope["subject_id"])
    selection = scenes.selection(scope)
    return {
        "records.list": {"selection": selection},
        "recall": {"selection": selection, "budget": {"max_records": 3}},
        "candidates.list": {"selection": selection},
        "profile.get": {"subject_id": scope["subject_id"]},
        "subjects.get": {"subject_id": scope["subject_id"]},
        "records.get": {"record_id": record_id},
        "candidates.get": {"candidate_id": candidate_id},
    }


def _refusals(caller: Caller, space_id: str, reads: Mapping[str, Members]) -> None:
    for stem, members in reads.items():
        caller.refused(stem, Code.NOT_FOUND, **{**members, "space_id": space_id})


@pytest.mark.parametrize("warm", [True, False], ids=["after its own space", "at once"])
def test_a_grant_ends_at_its_space(bench: Bench, warm: bool) -> None:
    """A grant in one space opens no other, existing or not, before or after a use of it, though all their names are alike."""
    here, there = _two_spaces(bench)
    own, foreign = _same_names(here), _same_names(there)
    reader = here.principal(*READS)
    for _ in range(2 if warm else 0):
        for stem, members in own.items():
            reader.do(stem, **members)
    before = there.snapshot()
    for reads in (own, foreign):
        _refusals(_elsewhere(reader, there), there.space_id, reads)
        _refusals(reader, "no-such-space", reads)
    there.same(before, there.snapshot(), "a refused request changed another space")
    for stem, members in own.items():
        reader.do(stem, **members)


def test_an_object_is_not_reached_through_another_space(bench: Bench) -> None:
    """A caller with all rights in both spaces does not find the one's objects through the other, nor change them."""
    here, there = _two_spaces(bench)
    record_id, candidate_id = here.root.create(), here.root.capture()
    grant_id = here.root.grant(here.stranger(), capabilities=["recall"])
    receipt_id = here.root.do("subjects.ensure", subject_id="u9")["receipt_id"]
    here.root.grant(there.root, capabilities=["records_read", "records_write", "review", "admin"], shared_access="write")
    attempts: Sequence[tuple[str, Members]] = (
        ("records.get", {"record_id": record_id}),
        ("records.update", {"record_id": record_id, "expected_revision": 1, "kind": "b"}),
        ("records.delete", {"record_id": record_id, "expected_revision": 1}),
        ("candidates.get", {"candidate_id": candidate_id}),
        ("candidates.dismiss", {"candidate_id": candidate_id, "expected_revision": 1}),
        ("grants.revoke", {"grant_id": grant_id}),
        ("receipts.get", {"receipt_id": receipt_id}),
    )
    with here.unchanged(), there.unchanged():
        for stem, members in attempts:
            if here.has(stem):
                there.root.refused(stem, Code.NOT_FOUND, **members)
    both = _elsewhere(there.root, here)
    for stem, members in (attempts[0], attempts[3], attempts[1], attempts[6]):
        if here.has(stem):
            both.do(stem, **members)


def test_what_is_done_in_a_space_stays_there(bench: Bench) -> None:
    """Ensuring, writing a profile, fencing and granting in one space leave its namesakes in another as they were (F12)."""
    here, there = _two_spaces(bench)
    for world in (here, there):
        _same_names(world)
    before = there.snapshot()
    here.root.ensure("u2", kind="app:user")
    here.root.do("profile.update", **scenes.plain_request(here, "profile.update"))
    here.root.do("subjects.fence", target={"type": "context", "context_id": "c1"}, action="fence")
    target = {"type": "subject", "subject_id": "u1"}
    here.root.do("subjects.fence", target=target, action="archive", expected_revision=1)
    there.same(before, there.snapshot(), "what was done in one space changed another")
    there.root.ensure("u2", kind="app:bot")
    there.root.create()
