"""Which cursors the machine holds for alive and dead, and which pages for right."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from conformance.bench import Bench
from conformance.exchange import Reply
from conformance.machine.chains import Chain
from conformance.machine.disagreement import Disagreement
from conformance.machine.stage import Stage
from conformance.target import open_target
from conformance.wire.bundle import load
from tests.one_stage import WHOLE, by_root, confined, created, fresh_stage, home


@pytest.fixture
def stage() -> Stage:
    return fresh_stage()


# -- cursors


def _two_records(stage: Stage) -> Chain:
    created(stage)
    created(stage)
    selection = {"subject_id": "u1", "mode": "all_authorized"}
    root = stage.roots[home(stage)]
    chain = Chain(root, "memory.records.list", stage.request("records.list", home(stage), {"selection": selection}))
    stage.chains.page(chain, {"limit": 1})
    return chain


def test_a_cursor_lives_through_reads_and_dies_at_a_change_of_its_items(stage: Stage) -> None:
    chain = _two_records(stage)
    by_root(stage, "records.get", record_id=next(iter(chain.taken)))
    stage.chains.age()
    assert (chain.dead, chain.doubtful) == (False, False)
    by_root(stage, "subjects.ensure", subject_id="another")
    stage.chains.age()
    assert (chain.dead, chain.doubtful) == (False, True)
    created(stage)
    stage.chains.age()
    assert chain.dead


def test_two_chains_that_are_alike_both_age(stage: Stage) -> None:
    first = _two_records(stage)
    again = Chain(first.actor, first.op, first.request)
    stage.chains.page(again, {"limit": 1})
    created(stage)
    stage.chains.age()
    assert [chain.dead for chain in stage.chains.open] == [True, True]


def test_a_cursor_that_should_be_dead_and_lives_is_found(stage: Stage) -> None:
    chain = _two_records(stage)
    chain.dead = True
    with pytest.raises(Disagreement, match="R022"):
        stage.chains.page(chain, {})


def test_a_cursor_in_other_hands_is_refused(stage: Stage) -> None:
    chain = _two_records(stage)
    request = {**chain.request, "include_tombstones": True}
    seen = stage.chains.misuse(chain.actor, chain.op, request, chain.cursor)
    assert seen.code == "CURSOR_INVALID"


def _listing(stage: Stage, actor: Any) -> Chain:
    return Chain(actor, "memory.records.list", stage.request("records.list", home(stage), {"selection": WHOLE}))


def test_a_page_may_be_short() -> None:
    bundle = load()
    opened = open_target("python:tests.other_answers:ShortPages", bundle=bundle).open()
    stage = Stage(Bench(opened.shim, bundle, opened.facts), Random(1))
    for _ in range(4):
        created(stage)
    stage.chains.page(_listing(stage, stage.roots[home(stage)]), {"limit": 1})
    chain = _listing(stage, confined(stage, "records_read"))
    assert len(stage.chains.page(chain, {"limit": 3}).payload["records"]) == 2
    assert len(stage.chains.page(chain, {"limit": 3}).payload["records"]) == 2
    assert not chain.cursor


@pytest.mark.parametrize(
    ("taken", "goes_on", "reason"),
    [
        (3, True, "above the limit"),
        (0, True, "an empty page that goes on"),
        (1, False, "an item is lacking"),
        (4, True, "goes on after the last item"),
        (1, True, ""),
        (2, True, ""),
    ],
)
def test_a_page_is_neither_too_long_nor_empty_nor_the_last_too_early(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, taken: int, goes_on: bool, reason: str
) -> None:
    for _ in range(4):
        created(stage)
    chain = _listing(stage, stage.roots[home(stage)])
    listed = stage.duo.exchange(chain.actor, chain.op, chain.request).payload["records"]
    whole = {"records": listed[:taken], "total_authorized": 4, **({"next_cursor": "c"} if goes_on else {})}
    monkeypatch.setattr(type(stage.duo), "exchange", lambda *_call: Reply(payload=whole))
    try:
        stage.chains.page(chain, {"limit": 2})
        found = ""
    except Disagreement as disagreement:
        found = disagreement.reason
    assert found == reason
