"""MEM-R013, changes: whatever goes on where a caller cannot see it, nothing that the caller is told changes.

The same questionnaire is put before and after a hidden history in one world: ids and times are the same, so the answers must be
equal to the letter, order included. Left out are the space's own facts and whether a cursor still lives (section 7, Lists).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import backstage, onlooker
from conformance.bench import Bench
from conformance.likeness import agreed, masked
from conformance.onlooker import GROUPS, LOOKERS, Ask, Sight
from conformance.wire.vocabulary import Code
from conformance.world import World

Deeds = list[tuple[str, int, int]]

DEEDS = st.lists(
    st.tuples(st.sampled_from(sorted(backstage.DEEDS)), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=4
)


def _sights(world: World, *kinds: str) -> list[Sight]:
    sights = onlooker.arrive(world, *kinds)
    for stage in onlooker.STAGES:
        stage(sights)
    return sights


@dataclass(frozen=True)
class _Question:
    """An ask with its answer, and of an error what is the same when it is asked again."""

    ask: Ask
    pattern: Any


def _put(sight: Sight, asks: Sequence[Ask]) -> list[_Question]:
    """Put the questionnaire; what is refused is asked twice, since an error's details may carry something of their own."""
    questions = []
    for ask in asks:
        said = onlooker.answered(sight, ask).said
        pattern = agreed(said, onlooker.answered(sight, ask).said) if "code" in said else said
        questions.append(_Question(ask, {"said": pattern}))
    return questions


def _unmoved(sight: Sight, questions: Sequence[_Question]) -> None:
    """Expect the answers to be what they were."""
    for question in questions:
        seen = masked(question.pattern, {"said": onlooker.answered(sight, question.ask).said})
        sight.world.same(question.pattern, seen, f"{question.ask.stem}: a hidden change shows to {sight.caller.name}")


@given(looker=st.sampled_from(sorted(LOOKERS)), deeds=DEEDS, part=st.integers(0, 2))
def test_no_hidden_change_shows(bench: Bench, looker: str, deeds: Deeds, part: int) -> None:
    """Whatever is done out of a caller's sight, every read and every refusal answers as before, to the letter."""
    sight = _sights(bench.world(), looker)[0]
    questions = _put(sight, bench.rows(onlooker.asks(sight)[part::3]))
    backstage.happen(sight.world, deeds, sight.looker.hidden)
    _unmoved(sight, questions)


@pytest.mark.parametrize("group", GROUPS, ids=itemgetter(0))
def test_no_deed_of_any_kind_shows(bench: Bench, group: tuple[str, ...]) -> None:
    """All kinds of hidden deeds together change nothing for any kind of limited caller."""
    sights = _sights(bench.world(), *group)
    asks = [bench.rows(onlooker.asks(sight)[number :: 4 if number else 1]) for number, sight in enumerate(sights)]
    questions = [_put(sight, some) for sight, some in zip(sights, asks, strict=True)]
    deeds = [(name, number, 1 + number % 3) for number, name in enumerate(sorted(backstage.DEEDS))]
    backstage.happen(sights[0].world, deeds, sights[0].looker.hidden)
    for sight, put in zip(sights, questions, strict=True):
        _unmoved(sight, put)


def test_no_multitude_shows(bench: Bench) -> None:
    """A hundred hidden records that fit every question better change no order, no count, no budget and no page."""
    sight = _sights(bench.world(), "reader")[0]
    asks = [ask for ask in onlooker.asks(sight) if ask.stem in ("records.list", "recall", "candidates.list", "reflections.state")]
    questions = _put(sight, bench.rows(asks))
    backstage.happen(sight.world, [("record", place, 5) for place in (0, 1) for _ in bench.rows(range(10))], sight.looker.hidden)
    _unmoved(sight, questions)


def _cursorless(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in ("next_cursor", "extensions")}


@given(deeds=DEEDS, looker=st.sampled_from(("reader", "reader by two grants", "reader of what is shared")))
@pytest.mark.examples(0.5)
def test_a_cursor_dies_or_goes_on_as_before(bench: Bench, deeds: Deeds, looker: str) -> None:
    """After a hidden change a cursor is invalid or gives the very page that it gave before: nothing between."""
    sight = _sights(bench.world(), looker)[0]
    asks = bench.rows([ask for ask in onlooker.asks(sight) if 1 in ask.limits])
    opened = []
    for ask in asks:
        first = sight.caller.send(ask.stem, **ask.members, page={"limit": 1})
        if first.ok and "next_cursor" in first.payload:
            page = {"cursor": first.payload["next_cursor"], "limit": 1}
            opened.append((ask, page, sight.caller.do(ask.stem, **ask.members, page=page)))
    backstage.happen(sight.world, deeds, sight.looker.hidden)
    for ask, page, before in opened:
        call = sight.caller.call(ask.stem, **ask.members, page=page)
        reply = sight.world.exchange(call)
        if reply.ok:
            expected, seen = (_cursorless(answer) for answer in (before, reply.payload))
            sight.world.same(expected, seen, f"{ask.stem}: a hidden change shows behind a cursor")
        else:
            sight.world.expect_refusal(call, reply, [Code.CURSOR_INVALID])
