"""MEM-R013, two worlds: equal visible histories, different hidden ones, equal transcripts up to renaming of ids and times.

Three worlds are built: one, the other, and the one again. The last tells what in a cursor's text is the provider's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import backstage, onlooker
from conformance.bench import Bench
from conformance.caller import made
from conformance.expect import Inconclusive
from conformance.likeness import agreed, masked
from conformance.onlooker import GROUPS, LOOKERS, Ask, Sight
from conformance.transcript import numbers
from conformance.wire.vocabulary import Code
from conformance.world import World

Members = dict[str, Any]
History = list[list[tuple[str, int, int]]]

DEED = st.tuples(st.sampled_from(sorted(backstage.DEEDS)), st.integers(0, 2), st.integers(1, 3))
STAGES = len(onlooker.STAGES)
HISTORIES = st.lists(st.lists(DEED, max_size=1), min_size=STAGES, max_size=STAGES)
"""Hidden deeds, as many lists of them as there are stages of what is in view: each goes before its stage."""


class Number(NamedTuple):
    """A number that can be read in a cursor, and whether it stands in an id in view too."""

    text: str
    in_id: bool


@dataclass(frozen=True)
class Told:
    """One entry of a transcript: what was asked, what was told up to renaming, and the numbers to be read in its cursors."""

    what: str
    answer: Any
    numbers: list[list[Number]]


def _world(bench: Bench) -> World:
    """Make a world whose hidden part is the check's own. Raises ``Inconclusive`` where others share its space."""
    world = bench.world()
    if world.shared:
        raise Inconclusive("the target provisions no space of its own for each of two worlds")
    return world


def _sights(world: World, history: History, *kinds: str) -> list[Sight]:
    """Build a world in which the hidden history goes on between the stages of the visible one."""
    sights = onlooker.arrive(world, *kinds)
    for stage, deeds in zip(onlooker.STAGES, history, strict=True):
        backstage.happen(world, deeds, sights[0].looker.hidden)
        stage(sights)
    return sights


def _cursor(sight: Sight, cursor: str) -> list[Number]:
    ids = {int(number) for actual in sight.made.values() for number in re.findall(r"\d+", actual)}
    return [Number(number, int(number) in ids) for number in numbers(sight.names.inside(cursor))]


def _reads(bench: Bench, sight: Sight, part: slice) -> Iterator[Told]:
    for ask in bench.rows(onlooker.asks(sight)[part]):
        answer = onlooker.answered(sight, ask)
        yield Told(ask.stem, onlooker.told(sight, ask, answer), [_cursor(sight, cursor) for cursor in answer.cursors])


def _writes(sight: Sight) -> Iterator[tuple[str, Members]]:
    """Give what the caller tries to change: in view, out of its sight, and by ids that may exist or not."""
    world, ids = sight.world, sight.made
    here, there, elsewhere = world.scope("u1", "c1"), {"subject_id": "u1", "context_id": "c2"}, {"subject_id": "u2"}
    for scope in (here, *({name: world.name(value) for name, value in place.items()} for place in (there, elsewhere))):
        yield "records.create", {"kind": "note", "content": onlooker.content(0), "scope": scope}
        yield "capture", {"kind": "note", "content": onlooker.content(0), "scope": scope}
    for record_id in (ids["record 0"], "no-such-record"):
        yield "records.update", {"record_id": record_id, "expected_revision": 1, "content": onlooker.content(1)}
        yield "records.promote", {"record_id": record_id, "expected_revision": 2, "to_scope": {**here, "context_id": "c2"}}
        yield "records.delete", {"record_id": record_id, "expected_revision": 9}
    if world.has("candidates.dismiss"):
        yield "candidates.dismiss", {"candidate_id": ids["consumed"], "expected_revision": 2}
    yield "candidates.review", {"candidate_id": ids["candidate"], "expected_revision": 1, "decision": {"action": "promote"}}
    for subject_ids in (["u1"], ["u2"]):
        names = {"subject_ids": [world.name(name) for name in subject_ids], "context_ids": [world.name("c1")]}
        yield "grants.grant", {"grantee_id": "nobody", "capabilities": ["recall"], "shared_access": "none", **names}
    yield "subjects.ensure", {"subject_id": world.name("u1")}
    yield "subjects.ensure", {"subject_id": world.name("u2")}
    yield "grants.revoke", {"grant_id": ids[f"grant 0 of {sight.caller.name}"]}


def _changes(sight: Sight) -> Iterator[Told]:
    for stem, members in _writes(sight):
        reply = sight.caller.send(stem, **members, idempotency_key=sight.key())
        said: Any = {"code": reply.code, "details": dict((reply.error or {}).get("details") or {})}
        if reply.ok:
            said = {"receipt": {**reply.payload["receipt"], "idempotency_key": ""}}
            _remember(sight, said["receipt"])
        yield Told(stem, onlooker.told(sight, Ask(stem, members), onlooker.Answer(said)), [])


def _remember(sight: Sight, receipt: Mapping[str, Any]) -> None:
    for entry in receipt["affected"]:
        if entry["type"] in ("record", "candidate", "grant"):
            sight.call(entry["type"], f"own {entry['type']} {len(sight.made)}", made(receipt, entry["type"]))


def _transcript(bench: Bench, sight: Sight, start: int = 0, step: int = 1) -> list[Told]:
    """Ask (every ``step``-th question), try every change, and ask some questions again."""
    return [*_reads(bench, sight, slice(start, None, step)), *_changes(sight), *_reads(bench, sight, slice(start, None, 7))]


def _alike(world: World, one: Sequence[Told], other: Sequence[Told], again: Sequence[Told]) -> None:
    """Expect two transcripts to be equal, where the first one comes out alike in a like world."""
    for first, seen, second in zip(one, other, again, strict=True):
        pattern = _pattern(first, second)
        world.same(pattern, masked(pattern, {"told": seen.answer}), f"{first.what}: two worlds can be told apart")
        if first.numbers == second.numbers:
            for left, right in zip(first.numbers, seen.numbers, strict=False):
                what = f"{first.what}: a cursor states a number that depends on what is hidden"
                world.expect(_same_numbers(left, right), what, expected=left, seen=right)


def _same_numbers(left: Sequence[Number], right: Sequence[Number]) -> bool:
    """Say whether two cursors state the same numbers, where they state as many and none of them may be part of an id."""
    pairs = zip(left, right, strict=False)
    return len(left) != len(right) or all(one.text == other.text or (one.in_id and other.in_id) for one, other in pairs)


def _pattern(first: Told, second: Told) -> Any:
    """Leave out of an error's details what differs between like worlds; nothing else may."""
    if "code" in first.answer and "code" in second.answer:
        return {"told": agreed(first.answer, second.answer)}
    return {"told": first.answer}


def _alike_in_kind(world: World, one: Sequence[Told], other: Sequence[Told]) -> None:
    """Expect two transcripts to be equal but for what an error's details say beside their names."""
    for first, seen in zip(one, other, strict=True):
        expected, found = _in_kind(first.answer), _in_kind(seen.answer)
        world.same(expected, found, f"{first.what}: two worlds can be told apart")


def _in_kind(answer: Any) -> Any:
    return {"code": answer["code"], "details": sorted(answer["details"])} if "code" in answer else answer


@pytest.mark.examples(0.6)
@given(looker=st.sampled_from(sorted(LOOKERS)), one=HISTORIES, other=HISTORIES, start=st.integers(0, 3))
def test_two_worlds_are_told_alike(bench: Bench, looker: str, one: History, other: History, start: int) -> None:
    """A limited caller's reads, refusals, receipts, counts, budgets, pages and cursors are the same in both worlds."""
    sights, transcripts = [], []
    for history in (one, other, one):
        sights += _sights(_world(bench), history, looker)
        transcripts.append(_transcript(bench, sights[-1], start, 4))
    bench.latest = sights[1].world
    _alike(sights[1].world, transcripts[0], transcripts[1], transcripts[2])


def test_an_empty_stage_and_a_full_one_are_told_alike(bench: Bench) -> None:
    """Every kind of limited caller is told the same beside nothing at all and beside every kind of hidden deed."""
    empty: History = [[] for _ in range(STAGES)]
    every = sorted(backstage.DEEDS)
    full: History = [[(name, stage, 1 + stage) for name in every[stage::STAGES]] for stage in range(STAGES)]
    for group in bench.rows(GROUPS):
        one, other = (_sights(_world(bench), history, *group) for history in (empty, full))
        bench.latest = other[0].world
        for place, pair in enumerate(zip(one, other, strict=True)):
            first, second = (_transcript(bench, sight, place % 2, 4 if place else 2) for sight in pair)
            _alike_in_kind(other[0].world, first, second)


def test_no_cursor_states_what_is_hidden(bench: Bench) -> None:
    """No number that can be read in a cursor depends on how much there is beside what the caller may see."""
    empty: History = [[] for _ in range(STAGES)]
    full: History = [[("record", place, 1 + place), ("capture", place, 2)] for place in range(STAGES)]
    told = []
    for history in (empty, full, empty):
        sight = _sights(_world(bench), history, "reader")[0]
        told.append([one for one in _reads(bench, sight, slice(None)) if one.numbers])
    _alike(sight.world, *told)


def test_an_empty_space_is_told_from_no_full_one(bench: Bench) -> None:
    """To a caller without grants a space full of everything answers as an empty one."""
    answers = []
    for full in (False, True):
        world = _world(bench)
        sight = onlooker.arrive(world, "bystander")[0]
        if full:
            backstage.happen(world, [(name, 0, 2) for name in sorted(backstage.DEEDS)], [onlooker.HERE])
        sight.made |= dict.fromkeys(("record 0", "reviewed", "tombstone", "candidate", "consumed"), "no-such-thing")
        asks = bench.rows(onlooker.asks(sight))
        answers.append([_in_kind(onlooker.told(sight, ask, onlooker.answered(sight, ask))) for ask in asks])
        missing = world.bundle.code(Code.NOT_FOUND)
        for ask, answer in zip(asks, answers[-1], strict=True):
            if world.bundle.operations[world.operation(ask.stem)].needs and ask.members.get("view") != "own":
                world.same(missing, answer.get("code"), f"{ask.stem}: a caller without grants finds a space")
    world.same(answers[0], answers[1], "a caller without grants tells a full space from an empty one")
