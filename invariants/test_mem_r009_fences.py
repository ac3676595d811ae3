"""MEM-R009: fenced subjects and contexts refuse every write that touches them and no read; unfencing restores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance import scenes, snapshot
from conformance.bench import Bench
from conformance.exchange import Call
from conformance.wire.vocabulary import Code
from conformance.world import World
from strategies.identifiers import ID_LIMIT, ids

Members = dict[str, Any]
Scope = Mapping[str, str]

DECISIONS: Mapping[str, Members] = {
    "promote": {"action": "promote"},
    "fragment": {"action": "fragment", "fragments": [{"content": {"text": "a"}}, {"content": {"text": "b"}}]},
    "discard": {"action": "discard"},
}
PLACED = ("capture", "candidates.dismiss", "records.create", "records.update", "records.delete")
"""What writes at a placement and is neither a review nor a promotion, which have a target of their own."""


def _fence(world: World, target: Scope, action: str = "fence") -> Mapping[str, Any]:
    """Fence, unfence or archive a target ``{"subject_id": …}`` or ``{"context_id": …}`` as root; return the receipt."""
    kind = "subject" if "subject_id" in target else "context"
    revision = {} if kind == "context" else {"expected_revision": _revision(world, target["subject_id"])}
    receipt: Mapping[str, Any] = world.root.do("subjects.fence", target={"type": kind, **target}, action=action, **revision)
    return receipt


def _revision(world: World, subject_id: str) -> int:
    revision: int = world.root.do("subjects.get", subject_id=subject_id)["subject"]["revision"]
    return revision


def _placed(world: World, scope: Scope) -> dict[str, Call]:
    """Build every write that is placed at ``scope``, having made the records and candidates that they change."""
    stems = filter(world.has, PLACED)
    calls = {stem: world.root.call(stem, **scenes.plain_request(world, stem, scope)) for stem in stems}
    alone: Mapping[str, Any] = {"kind": "fact", "content": {"text": "b"}}
    for name, value in alone.items():
        change: Members = {"record_id": world.root.create(scope=dict(scope)), "expected_revision": 1, name: value}
        calls[f"update: {name} alone"] = world.root.call("records.update", **change)
    for action, decision in DECISIONS.items():
        members = {**scenes.plain_request(world, "candidates.review", scope), "decision": decision}
        calls[f"review: {action}"] = world.root.call("candidates.review", **members)
    return calls


def _move(world: World, start: Scope, to_scope: Scope) -> Call:
    record_id = world.root.create(scope=dict(start))
    return world.root.call("records.promote", record_id=record_id, expected_revision=1, to_scope=dict(to_scope))


def _subject_level(world: World, scope: Scope) -> dict[str, Call]:
    """Build the writes that are for a subject and no placement in particular."""
    served = {operation.stem for operation in scenes.served(world)}
    stems = [stem for stem in ("reflections.generate", "profile.update") if stem in served]
    return {stem: world.root.call(stem, **scenes.plain_request(world, stem, scope)) for stem in stems}


def _refused(world: World, calls: Mapping[str, Call], code: Code) -> None:
    with world.unchanged("a write that a fence refused changed the state"):
        for call in calls.values():
            world.root.must_refuse(call, code)


def _accepted(world: World, calls: Mapping[str, Call]) -> None:
    for call in calls.values():
        world.root.accepted(call)


def _writes_for_subject(world: World, context: str | None) -> dict[str, Call]:
    scope = world.scope("u1", context)
    return {
        **_placed(world, scope),
        "out": _move(world, scope, world.scope("u1", "c8")),
        "into": _move(world, world.scope("u1", "c8"), scope),
        **_subject_level(world, scope),
    }


@pytest.mark.parametrize("context", ["c1", None], ids=["context", "shared"])
def test_a_fenced_subject_refuses_every_write(bench: Bench, context: str | None) -> None:
    """A fenced subject refuses every write for it; the very same requests go through once it is unfenced, with their keys."""
    world = bench.world()
    calls = _writes_for_subject(world, context)
    subject = {"subject_id": world.name("u1")}
    _fence(world, subject)
    _refused(world, calls, Code.SUBJECT_FENCED)
    _fence(world, subject, "unfence")
    _accepted(world, calls)


@pytest.mark.parametrize("context", ["c1", None], ids=["context", "shared"])
def test_an_archived_subject_refuses_for_ever(bench: Bench, context: str | None) -> None:
    """An archived subject refuses every write and every further fence action, and its archiving cannot be undone."""
    world = bench.world()
    calls = _writes_for_subject(world, context)
    subject = {"subject_id": world.name("u1")}
    _fence(world, subject, "archive")
    for action in ("unfence", "fence", "archive"):
        target, revision = {"type": "subject", **subject}, _revision(world, subject["subject_id"])
        call = world.root.call("subjects.fence", target=target, action=action, expected_revision=revision)
        _refused(world, {action: call, **(calls if action == "unfence" else {})}, Code.SUBJECT_ARCHIVED)
    state = world.root.do("subjects.get", **subject)["subject"]["state"]
    world.same("archived", state, "an archived subject left its state")
    world.root.create(scope=world.scope("u2"))


def _writes_in_context(world: World, subject: str) -> dict[str, Call]:
    scope, elsewhere, shared = world.scope(subject, "c1"), world.scope(subject, "c8"), world.scope(subject, None)
    return {
        **_placed(world, scope),
        "out": _move(world, scope, elsewhere),
        "into": _move(world, elsewhere, scope),
        "out to shared": _move(world, scope, shared),
        "in from shared": _move(world, shared, scope),
    }


def test_every_caller_is_told_of_every_fenced_context(bench: Bench) -> None:
    """Which contexts are fenced is a fact of the space: whoever sees the space sees them all, and all else of it."""
    world = bench.world()
    world.root.ensure(world.name("u1"))
    callers = [
        world.principal("records_read", subject_ids=[world.name("u1")], context_ids=[world.name("c1")]),
        world.principal("capture", subject_ids=[world.name("u2")], context_ids=[world.name("c8")], shared_access="none"),
        world.principal("admin"),
    ]
    for context in ("c1", "c2"):
        _fence(world, {"context_id": world.name(context)})
        for caller in callers:
            seen = snapshot.space(caller, world.space_id)
            world.same(scenes.space(world), seen, "the space is told otherwise to a caller of narrower grants")


def test_a_fenced_context_refuses_every_write(bench: Bench) -> None:
    """A fenced context refuses what is placed in it, moved into it or out of it, for every subject, until it is unfenced."""
    world = bench.world()
    calls = {f"{subject} {name}": call for subject in ("u1", "u2") for name, call in _writes_in_context(world, subject).items()}
    context = {"context_id": world.name("c1")}
    _fence(world, context)
    _refused(world, calls, Code.CONTEXT_FENCED)
    _fence(world, context, "unfence")
    _accepted(world, calls)


def test_a_context_is_fenced_for_subjects_to_come(bench: Bench) -> None:
    """A context is fenced for every subject, also for one that is made afterwards and in a context that nothing was in."""
    world = bench.world()
    _fence(world, {"context_id": world.name("c1")})
    scope = {"subject_id": world.root.ensure(world.name("late")), "context_id": world.name("c1")}
    members: Members = {"kind": "note", "content": {"text": "a"}, "scope": scope}
    with world.unchanged():
        for stem in ("capture", "records.create"):
            world.root.refused(stem, Code.CONTEXT_FENCED, **members)
    _fence(world, {"context_id": world.name("c1")}, "unfence")
    for stem in ("capture", "records.create"):
        world.root.do(stem, **members)


def _generations(world: World, scope: Scope) -> dict[str, Call]:
    """Build a generation over a context by each mode of a selection that can mean it."""
    if not world.has("reflections.generate"):
        return {}
    both, all_of_it = {"context_ids": [scope["context_id"]]}, {"subject_id": scope["subject_id"]}
    modes: Mapping[str, Members] = {"contexts": both, "contexts_and_shared": both, "all_authorized": {}}
    selections = [{**all_of_it, "mode": mode, **members} for mode, members in modes.items()]
    return {one["mode"]: world.root.call("reflections.generate", selection=one) for one in selections}


def test_a_fenced_context_stops_only_what_is_placed_in_it(bench: Bench) -> None:
    """Profiles, generation, the shared placement, other contexts and a mere source context go on beside a fenced context."""
    world = bench.world()
    scope, elsewhere, shared = world.scope("u1", "c1"), world.scope("u1", "c8"), world.scope("u1", None)
    calls = {**_subject_level(world, scope), **_placed(world, elsewhere)}
    calls["beside"] = _move(world, elsewhere, world.scope("u1", "c9"))
    calls["to shared"] = _move(world, elsewhere, shared)
    calls["from shared"] = _move(world, shared, elsewhere)
    _fence(world, {"context_id": world.name("c1")})
    _accepted(world, calls)
    _accepted(world, _generations(world, scope))
    _accepted(world, {**_placed(world, shared), **_placed(world, world.scope("u2", "c8"))})
    for stem in ("capture", "records.create"):
        world.root.do(stem, kind="note", content={"text": "a"}, scope=elsewhere, source_context_id=world.name("c1"))


def test_each_context_has_its_own_fence(bench: Bench) -> None:
    """A fence stops no context whose name is only like its own, and unfencing one leaves the others fenced."""
    world = bench.world()
    alike = [world.scope("u1", name) for name in ("C1", "c10", "c1 ", "c", "c1\u200b")]
    for name in ("c1", "c2"):
        _fence(world, {"context_id": world.name(name)})
    for scope in alike:
        _write(world, scope, None)
        _fence(world, {"context_id": scope["context_id"]})
    _fence(world, {"context_id": world.name("c1")}, "unfence")
    _write(world, world.scope("u1", "c1"), None)
    others = [world.scope("u1", "c2"), *alike]
    for scope in others:
        _write(world, scope, Code.CONTEXT_FENCED)
    fenced = scenes.space(world)["fenced_context_ids"]
    world.same_set([scope["context_id"] for scope in others], fenced, "unfencing one context unfenced another")


def test_a_fenced_subject_stops_no_other(bench: Bench) -> None:
    """Beside a fenced subject every write for another one goes on, in the same contexts; grants and ensures go on too."""
    world = bench.world()
    other = world.scope("u2", "c1")
    calls = {**_placed(world, other), **_subject_level(world, other)}
    calls["out"], calls["into"] = _move(world, other, world.scope("u2", "c8")), _move(world, world.scope("u2", None), other)
    untouched = world.root.do("subjects.get", subject_id=other["subject_id"])
    world.scope("u1")
    before = scenes.space(world)
    _fence(world, {"subject_id": world.name("u1")})
    world.same(before, scenes.space(world), "fencing a subject changed the space")
    world.same(untouched, world.root.do("subjects.get", subject_id=other["subject_id"]), "fencing a subject changed another one")
    _accepted(world, calls)
    for stem in ("subjects.ensure", "grants.grant"):
        world.root.do(stem, **scenes.plain_request(world, stem, world.scope("u1")))


def _reads(bench: Bench, world: World) -> dict[str, Call]:
    """Build every read that is served, but those of the space and of the fence's own target."""
    stems = [operation.stem for operation in scenes.served(world) if not operation.mutation]
    kept = bench.rows([stem for stem in stems if stem not in ("spaces.list", "subjects.get")])
    whole = {"recall": {"budget": {"max_records": 1000}}}
    members = {stem: {**scenes.plain_request(world, stem), **whole.get(stem, {})} for stem in kept}
    return {stem: world.root.call(stem, **members[stem]) for stem in kept}


OWN = ("next_cursor", "extensions")


def _answers(world: World, calls: Mapping[str, Call]) -> dict[str, Any]:
    """Return what the reads say; a cursor's text, the answer's own extensions and the order of lists are the provider's."""
    answers = {stem: dict(world.root.accepted(call)) for stem, call in calls.items()}
    kept = {stem: [entry for entry in answer.items() if entry[0] not in OWN] for stem, answer in answers.items()}
    return {stem: {name: _settled(value) for name, value in entries} for stem, entries in kept.items()}


def _settled(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, list) else value


@pytest.mark.parametrize(("kind", "action"), [("subject_id", "fence"), ("subject_id", "archive"), ("context_id", "fence")])
def test_no_read_minds_a_fence(bench: Bench, kind: str, action: str) -> None:
    """Every read answers over what is fenced or archived just as it did before."""
    world = bench.world()
    calls = _reads(bench, world)
    before = _answers(world, calls)
    target = {kind: world.scope()[kind]}
    _fence(world, target, action)
    world.same(before, _answers(world, calls), "a fence changed what a read answers")
    states = {"fence": "fenced", "archive": "archived"}
    if kind == "subject_id":
        subject = world.root.do("subjects.get", subject_id=target[kind])["subject"]
        world.same([states[action], 2], [subject["state"], subject["revision"]], "the subject does not say that it is fenced")
    else:
        fenced = scenes.space(world)["fenced_context_ids"]
        world.expect(target[kind] in fenced, "the space does not say which context is fenced", expected=target[kind], seen=fenced)


@pytest.mark.parametrize("target", [{"subject_id": "u1"}, {"context_id": "c1"}], ids=["subject", "context"])
def test_a_fence_stops_no_replay(bench: Bench, target: Scope) -> None:
    """What was committed before a fence is answered with its receipt after it (field bug F02)."""
    world = bench.world()
    calls = {**_placed(world, world.scope()), "out": _move(world, world.scope(), world.scope("u1", "c8"))}
    receipts = {name: world.root.accepted(call) for name, call in calls.items()}
    _fence(world, {kind: world.name(name) for kind, name in target.items()})
    with world.unchanged("a replay behind a fence changed the state"):
        for name, call in calls.items():
            world.same(receipts[name], world.root.accepted(call), "a replay behind a fence is not the old receipt")


@given(name=ids())
@pytest.mark.examples(0.3)
def test_any_name_can_be_fenced_as_a_context(bench: Bench, name: str) -> None:
    """Contexts are names, not objects: any id can be fenced, it adds 1 to the space's revision and comes back verbatim."""
    world = bench.world()
    name = world.name(name)
    assume(len(name) <= ID_LIMIT)
    before = scenes.space(world)["revision"]
    receipt = _fence(world, {"context_id": name})
    affected = [{"type": "space", "id": world.space_id, "revision": before + 1}]
    world.same(affected, receipt["affected"], "a context fence is not a change of the space by 1")
    world.expect(name in scenes.space(world)["fenced_context_ids"], "a fenced context is not named by its space", expected=name)
    _fence(world, {"context_id": name}, "unfence")
    after = scenes.space(world)
    world.expect(name not in after["fenced_context_ids"], "an unfenced context is still named by its space", seen=name)
    world.same(before + 2, after["revision"], "an unfencing is not a change of the space by 1")


NEXT: Mapping[tuple[str, str], str | Code] = {
    ("active", "fence"): "fenced",
    ("active", "unfence"): Code.WRONG_STATE,
    ("active", "archive"): "archived",
    ("fenced", "fence"): Code.WRONG_STATE,
    ("fenced", "unfence"): "active",
    ("fenced", "archive"): "archived",
    ("archived", "fence"): Code.SUBJECT_ARCHIVED,
    ("archived", "unfence"): Code.SUBJECT_ARCHIVED,
    ("archived", "archive"): Code.SUBJECT_ARCHIVED,
}
"""A subject's state and what a fence action makes of it, or the code that refuses the action."""
WRITES_ANSWER: Mapping[str, Code | None] = {
    "active": None,
    "fenced": Code.SUBJECT_FENCED,
    "archived": Code.SUBJECT_ARCHIVED,
}


def _write(world: World, scope: Scope, answer: Code | None) -> None:
    members: Members = {"kind": "note", "content": {"text": "a"}, "scope": dict(scope)}
    if answer is None:
        world.root.do("records.create", **members)
    else:
        world.root.refused("records.create", answer, **members)


@given(actions=st.lists(st.sampled_from(("fence", "unfence", "archive")), min_size=1, max_size=6))
def test_a_subject_goes_from_state_to_state(bench: Bench, actions: list[str]) -> None:
    """Fencing the fenced and unfencing the active are refused, archived is final; each accepted action adds exactly 1."""
    world = bench.world()
    scope, state, revision = world.scope("u1"), "active", 1
    target = {"type": "subject", "subject_id": scope["subject_id"]}
    for action in actions:
        members: Members = {"target": target, "action": action, "expected_revision": revision}
        outcome = NEXT[state, action]
        if isinstance(outcome, Code):
            with world.unchanged():
                world.root.refused("subjects.fence", outcome, **members)
        else:
            world.root.do("subjects.fence", **members)
            state, revision = outcome, revision + 1
        subject = world.root.do("subjects.get", subject_id=scope["subject_id"])["subject"]
        world.same([state, revision], [subject["state"], subject["revision"]], "a subject is in another state than was asked for")
        _write(world, scope, WRITES_ANSWER[state])


@given(steps=st.lists(st.tuples(st.sampled_from(("fence", "unfence")), st.sampled_from(("c1", "C1", "c10"))), max_size=6))
def test_contexts_go_from_state_to_state(bench: Bench, steps: list[tuple[str, str]]) -> None:
    """Fencing a fenced context and unfencing an open one are refused; each is fenced for itself alone."""
    world = bench.world()
    already = set(scenes.space(world)["fenced_context_ids"])
    fenced: set[str] = set()
    for action, context in steps:
        target = {"type": "context", "context_id": world.name(context)}
        if (action == "fence") == (context in fenced):
            with world.unchanged():
                world.root.refused("subjects.fence", Code.WRONG_STATE, target=target, action=action)
        else:
            world.root.do("subjects.fence", target=target, action=action)
            fenced ^= {context}
        named = set(scenes.space(world)["fenced_context_ids"]) - already
        world.same_set([world.name(name) for name in fenced], sorted(named), "the space names other contexts than are fenced")
    for context in ("c1", "C1", "c10"):
        _write(world, world.scope("u1", context), Code.CONTEXT_FENCED if context in fenced else None)
