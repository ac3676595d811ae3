"""A chain of pages comes to its end, or is told to have none; and so does a check."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import world as worlds
from conformance.expect import CheckFailed, Inconclusive
from conformance.paging import MOST_BARREN, Chain
from tests import scripted


def page(*numbers: int, more: bool = True, **members: Any) -> dict[str, Any]:
    items = [{"record_id": f"r{number}", **members} for number in numbers]
    return {"records": items, **({"next_cursor": f"c{numbers}"} if more else {})}


def followed(pages: list[dict[str, Any]]) -> list[str | None]:
    chain = Chain("memory.records.list", "records")
    return [chain.cursor(one) for one in pages]


def test_the_cursor_of_each_page_is_given_and_none_at_the_end() -> None:
    assert followed([page(1, 2), page(3), page(4, more=False)]) == ["c(1, 2)", "c(3,)", None]


def test_pages_that_bring_nothing_new_are_borne_for_a_while() -> None:
    """An item twice, or an empty page, is for the rule of paging to judge; a chain that goes on with them is not followed."""
    again = [page(1), *[page(1, changed=number) for number in range(MOST_BARREN)]]
    borne = followed([*again[:-1], page(2), *again[1:-1], page(more=False)])
    assert (len(borne), borne[-1]) == (2 * MOST_BARREN + 1, None)
    for endless in (again, [page()] * MOST_BARREN):
        with pytest.raises(CheckFailed, match=r"memory\.records\.list: the chain of pages has no end"):
            followed(endless)


def test_a_check_that_asks_without_end_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "MOST_CALLS", 20)
    ensured = {"type": "subject", "id": "u1", "revision": 1}
    world = scripted.world(lambda op, _payload: {"payload": {"receipt": scripted.receipt(op, ensured)}})
    for _ in range(20):
        world.root.do("subjects.ensure", subject_id="u1")
    with pytest.raises(Inconclusive, match="no end within 20 calls"):
        world.root.do("subjects.ensure", subject_id="u1")
    assert len(world.trace) == 20
