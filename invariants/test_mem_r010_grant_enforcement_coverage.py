"""MEM-R010, coverage: whatever grants a caller holds, it reaches exactly what one of them covers, no point less or more.

Judged by the exact set of (capability, subject, placement) that section 5 gives to the drawn grants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.wire.bundle import Bundle, Need, load
from conformance.wire.vocabulary import Code, Flag
from conformance.world import World
from strategies.grants import Access, GrantShape, covers, grant_shapes
from strategies.selections import selections, selects

Scope = dict[str, str]
Members = dict[str, Any]

SUBJECTS = ("u1", "u10")
CONTEXTS = ("c1", "C1")
READING = ("records_read", "recall", "review", "reflections_read", "profile_read", "subjects_read")


# -- what the grants cover


def _scopes(world: World) -> list[Scope]:
    return [world.scope(subject, context) for subject in SUBJECTS for context in (*CONTEXTS, None)]


def _names(world: World, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(world.name(name) for name in names)


def _salted(world: World, shape: GrantShape) -> GrantShape:
    """Return the shape with the world's own forms of its names."""
    return replace(shape, subject_ids=_names(world, shape.subject_ids), context_ids=_names(world, shape.context_ids))


def _reaches(shapes: Sequence[GrantShape], capability: str, scope: Mapping[str, str], access: Access) -> bool:
    """Tell whether one of the grants covers (capability, subject, placement)."""
    place = scope.get("context_id")
    return any(covers(shape, capability, scope["subject_id"], place, access=access) for shape in shapes)


def _reaches_subject(shapes: Sequence[GrantShape], capability: str, subject_id: str) -> bool:
    return any(covers(shape, capability, subject_id, None, access="") for shape in shapes)


def _satisfied(need: Need, shapes: Sequence[GrantShape], scope: Scope, members: Mapping[str, Any]) -> bool:
    """Tell whether the grants satisfy one need of a row of the operation table for a request at ``scope``."""
    if need.on == "space":
        return any(covers(shape, need.capability, None, None, access="") for shape in shapes)
    if need.on == "subject":
        return _reaches_subject(shapes, need.capability, scope["subject_id"])
    access: Access = "read" if need.access == "read" else "write"
    return _reaches(shapes, need.capability, members["to_scope"] if need.on == "to_scope" else scope, access)


def _holder(world: World, shapes: Sequence[GrantShape]) -> Caller:
    caller = world.stranger("holder")
    for shape in shapes:
        world.root.grant(caller, **shape.members())
    return caller


# -- any operation anywhere


@dataclass(frozen=True)
class _Plan:
    """Requests to try (stem, number of the placement) and the grants to try them under."""

    tries: tuple[tuple[str, int], ...]
    shapes: tuple[GrantShape, ...]


def _stems(bundle: Bundle) -> dict[str, list[str]]:
    """Return the operations that the grants decide in an active space, with the capabilities that each needs.

    Issuance has a rule of its own (MEM-R011); freezing and activating would change the space under the other requests.
    """
    apart = ("spaces.freeze", "spaces.unfreeze", "imports.activate", "grants.grant")
    rows = [row for row in bundle.operations.values() if row.needs and row.stem not in apart]
    return {row.stem: [need.capability for need in row.needs] for row in rows}


STEMS = _stems(load())


@st.composite
def _plans(draw: DrawFn) -> _Plan:
    tries = draw(st.lists(st.tuples(st.sampled_from(sorted(STEMS)), st.integers(0, 5)), min_size=3, max_size=8, unique=True))
    needed = sorted({capability for stem, _ in tries for capability in STEMS[stem]})
    shape = grant_shapes(SUBJECTS, CONTEXTS, capabilities=needed)
    return _Plan(tuple(tries), tuple(draw(st.lists(shape, min_size=1, max_size=3))))


def _request(world: World, stem: str, scope: Scope) -> Members:
    on_space = world.bundle.operations[world.operation(stem)].needs[0].on == "space"
    return scenes.plain_request(world, stem, None if on_space else scope)


def _allowed(world: World, shapes: Sequence[GrantShape], stem: str, scope: Scope, members: Mapping[str, Any]) -> bool:
    needs = world.bundle.operations[world.operation(stem)].needs
    return all(_satisfied(need, shapes, scope, members) for need in needs)


def _tries(world: World, plan: _Plan) -> list[tuple[str, Scope, Members]]:
    """Build the requests of a plan; one profile update at most for each subject, whose revisions would clash otherwise."""
    scopes, served = _scopes(world), {operation.stem for operation in scenes.served(world)}
    chosen = {
        (stem, scopes[number]["subject_id"] if stem == "profile.update" else number): (stem, scopes[number])
        for stem, number in plan.tries
        if stem in served
    }
    for scope in scopes[::3]:
        scenes.complete_profile(world, scope["subject_id"])
    return [(stem, scope, _request(world, stem, scope)) for stem, scope in chosen.values()]


@given(plan=_plans())
def test_every_request_is_answered_as_its_grants_cover(bench: Bench, plan: _Plan) -> None:
    """Each operation on each target is accepted exactly when the caller's grants cover all that it needs there."""
    world = bench.world()
    shapes = [_salted(world, shape) for shape in plan.shapes]
    tries = _tries(world, plan)
    holder = _holder(world, shapes)
    judged = [(stem, members, _allowed(world, shapes, stem, scope, members)) for stem, scope, members in tries]
    with world.unchanged():
        for stem, members, allowed in judged:
            if not allowed:
                holder.denied(stem, **members)
    for stem, members, allowed in judged:
        if allowed:
            holder.do(stem, **members)


# -- what a caller can read, as a set


def _fill(world: World) -> dict[str, list[Scope]]:
    """Put one record and one candidate at every placement; return the placements by the texts."""
    scopes = _scopes(world)
    for number, scope in enumerate(scopes):
        world.root.create(scope=scope, content={"text": str(number)})
        world.root.capture(scope=scope, content={"text": str(number)})
    return {subject: [scope for scope in scopes if scope["subject_id"] == world.name(subject)] for subject in SUBJECTS}


def _texts(items: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(item["content"]["text"] for item in items)


def _listed(caller: Caller, selection: Members) -> list[str]:
    pages = list(caller.pages("records.list", selection=selection))
    texts = _texts([record for page in pages for record in page["records"]])
    for page in pages:
        caller.world.expect(page["total_authorized"] == len(texts), "total_authorized is not what the caller may read", seen=page)
    return texts


def _recalled(caller: Caller, selection: Members) -> list[str]:
    answer = caller.do("recall", selection=selection, budget={"max_records": 100})
    caller.world.expect(not answer["truncated"], "recall left something out although all of it fits", seen=answer)
    return _texts(answer["records"])


def _candidates(caller: Caller, selection: Members) -> list[str]:
    return _texts(caller.all("candidates.list", selection=selection))


READERS: Sequence[tuple[str, str, Members, Callable[[Caller, Members], list[str]]]] = (
    ("records.list", "records_read", {}, _listed),
    ("recall", "recall", {"budget": {"max_records": 1}}, _recalled),
    ("candidates.list", "review", {}, _candidates),
)
"""(operation, capability, the rest of a request, what it gives as sorted texts)"""


def _numbers(world: World, scopes: Sequence[Scope]) -> list[str]:
    every = _scopes(world)
    return sorted(str(every.index(scope)) for scope in scopes)


def _may_ask(shapes: Sequence[GrantShape], capability: str, selection: Members, named: Sequence[Scope]) -> bool:
    """Tell whether a selection is answered: all that it names is covered; what narrows silently needs the capability at all."""
    if selection["mode"] == "all_authorized":
        return _reaches_subject(shapes, capability, selection["subject_id"])
    return all(_reaches(shapes, capability, scope, "read") for scope in named)


@given(
    shapes=st.lists(grant_shapes(SUBJECTS, CONTEXTS, capabilities=READING[:3]), min_size=1, max_size=3),
    drawn=st.one_of([selections(subject, CONTEXTS) for subject in SUBJECTS]),
)
def test_a_selection_gives_exactly_what_is_covered(bench: Bench, shapes: list[GrantShape], drawn: Members) -> None:
    """A selection is refused when it names a placement that is not covered, and gives exactly the covered ones otherwise."""
    world = bench.world()
    filled = _fill(world)
    shapes = [_salted(world, shape) for shape in shapes]
    holder = _holder(world, shapes)
    subject = str(drawn["subject_id"])
    selection = {**drawn, "subject_id": world.name(subject)}
    if "context_ids" in drawn:
        selection["context_ids"] = [world.name(name) for name in drawn["context_ids"]]
    named = [scope for scope in filled[subject] if selects(selection, scope)]
    for stem, capability, members, read in READERS:
        if _may_ask(shapes, capability, selection, named):
            covered = [scope for scope in named if _reaches(shapes, capability, scope, "read")]
            world.same(_numbers(world, covered), read(holder, selection), f"{stem} does not give exactly what the grants cover")
        else:
            holder.denied(stem, selection=selection, **members)


@given(shapes=st.lists(grant_shapes(SUBJECTS, CONTEXTS, capabilities=READING), min_size=1, max_size=3))
@pytest.mark.examples(0.5)
def test_a_caller_reads_exactly_what_is_covered(bench: Bench, shapes: list[GrantShape]) -> None:
    """Record by record, candidate by candidate and subject by subject, a caller reads what its grants cover and nothing else."""
    world = bench.world()
    scopes = _scopes(world)
    made = [(scope, world.root.create(scope=scope), world.root.capture(scope=scope)) for scope in scopes]
    shapes = [_salted(world, shape) for shape in shapes]
    holder = _holder(world, shapes)
    reads: list[tuple[str, Members, bool]] = []
    for scope, record_id, candidate_id in made:
        reads.append(("records.get", {"record_id": record_id}, _reaches(shapes, "records_read", scope, "read")))
        reads.append(("candidates.get", {"candidate_id": candidate_id}, _reaches(shapes, "review", scope, "read")))
    for subject in SUBJECTS:
        named = {"subject_id": world.name(subject)}
        for stem, capability in (("subjects.get", "subjects_read"), ("profile.get", "profile_read")):
            reads.append((stem, named, _reaches_subject(shapes, capability, named["subject_id"])))
    for stem, members, allowed in reads:
        if allowed:
            holder.do(stem, **members)
        else:
            holder.denied(stem, **members)


@given(shapes=st.lists(grant_shapes(SUBJECTS, CONTEXTS, capabilities=("reflections_read",)), min_size=1, max_size=3))
@pytest.mark.examples(0.3)
@pytest.mark.needs(flags=[Flag.REFLECTION])
def test_a_reflection_counts_exactly_what_is_covered(bench: Bench, shapes: list[GrantShape]) -> None:
    """The state of reflection speaks of exactly the records that the caller covers by reflections_read."""
    world = bench.world()
    filled = _fill(world)
    shapes = [_salted(world, shape) for shape in shapes]
    holder = _holder(world, shapes)
    for subject in SUBJECTS:
        selection = world.everything(subject)
        covered = [scope for scope in filled[subject] if _reaches(shapes, "reflections_read", scope, "read")]
        if _reaches_subject(shapes, "reflections_read", selection["subject_id"]):
            count = holder.do("reflections.state", selection=selection)["record_count"]
            world.same(len(covered), count, "reflections.state counts other records than the grants cover")
        else:
            holder.denied("reflections.state", selection=selection)


def test_each_of_many_grants_counts(bench: Bench) -> None:
    """However many grants a caller holds, each covers what it names, the first as the last, and what none names stays hidden."""
    world = bench.world()
    places = [world.scope(context=f"c{number}") for number in range(scenes.MANY)]
    ids = [world.root.create(scope=place) for place in places]
    caller = world.stranger("caller")
    for place in places[:-1]:
        world.root.grant(caller, capabilities=["records_read", "recall"], context_ids=[place["context_id"]])
    for record_id in ids[:-1]:
        caller.read(record_id)
    caller.refused("records.get", Code.NOT_FOUND, record_id=ids[-1])
    listed = [record["record_id"] for record in caller.all("records.list", selection=world.everything())]
    world.same_set(ids[:-1], listed, "a list does not show what each of the caller's grants covers")
    contexts = [place["context_id"] for place in places]
    named = {"subject_id": places[0]["subject_id"], "mode": "contexts", "context_ids": contexts[:-1]}
    for selection in (world.everything(), named):
        recalled = caller.do("recall", selection=selection, budget={"max_records": 2 * scenes.MANY})["records"]
        world.same_set(ids[:-1], [record["record_id"] for record in recalled], "recall does not find what each grant covers")
    caller.denied("recall", selection={**named, "context_ids": contexts}, budget={"max_records": 1})


def test_each_of_many_names_counts(bench: Bench) -> None:
    """However many subjects and contexts a grant names, it covers each, the first as the last, and no other."""
    world = bench.world()
    subjects = [world.root.ensure(world.name(f"s{number}")) for number in range(scenes.MANY)]
    contexts = [world.name(f"c{number}") for number in range(scenes.MANY)]
    caller = world.stranger("caller")
    world.root.grant(caller, capabilities=["records_write", "records_read"], subject_ids=subjects[:-1], context_ids=contexts[:-1])
    for subject_id, context_id in zip(subjects, contexts, strict=True):
        material = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": subject_id, "context_id": context_id}}
        if subject_id == subjects[-1]:
            caller.denied("records.create", **material)
        else:
            caller.do("records.create", **material)
