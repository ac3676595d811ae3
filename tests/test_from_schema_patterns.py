"""Patterns read as ECMA-262 means them, and texts built from them."""

from __future__ import annotations

import pytest
from hypothesis.strategies import SearchStrategy

from strategies.compile_strings import pattern_piece
from strategies.formats import FORMATS, timestamp
from strategies.patterns import Run, UnreadPattern, lengths, read, runs, searches, shortest
from tests.drawing import drawn

READ = [
    "^[a-z]+$", "a|b|cd", "^(ab|c(d|e)){2,3}f*$", r"^\d{4}-\w+\s?$", r"^[^\s/]{2}$", "^x.y$", r"^[\u0041-\u0043]\.$", "^a{0}b$",
    "^(?:a|b)?c+$", r"^[\]\-\\]$", "^$", "", r"\t\x41", "^[a-c][a-c0-9]*$", "^[0-9a-f]{20}$", "^ab?$", r"^[\w.-]+@[\w]+$",
]  # fmt: skip
UNREAD = ["(?=a)", r"(a)\1", r"\bword", "a**", "(a", "[a", "a{x}", "(?<n>a)", "a^b", "a$b", r"\k"]


def built(pattern: str, least: int = 0, most: int | None = None) -> SearchStrategy[str]:
    piece, exact = pattern_piece(read(pattern), least, most, "")
    assert exact
    return piece.alone()


@pytest.mark.parametrize("pattern", READ)
def test_what_is_built_from_a_pattern_matches_it(pattern: str) -> None:
    piece, _ = pattern_piece(read(pattern), 0, None, "")
    assert [text for text in drawn(piece.alone(), 36) if not searches(pattern, text)] == []


@pytest.mark.parametrize("pattern", READ)
def test_the_shortest_match_is_one_and_is_as_short_as_said(pattern: str) -> None:
    assert searches(pattern, shortest(read(pattern)))
    assert len(shortest(read(pattern))) == lengths(read(pattern))[0]


@pytest.mark.parametrize("pattern", UNREAD)
def test_what_is_not_read_is_said(pattern: str) -> None:
    with pytest.raises(UnreadPattern):
        read(pattern)


def test_equal_neighbours_become_one_run() -> None:
    assert runs(read("^aaa*$")) == (Run(((97, 97),), 2, None),)


def test_alternatives_are_no_runs() -> None:
    assert runs(read("a|b")) is None


@pytest.mark.parametrize(("least", "most"), [(5, 5), (1, 2), (7, None), (0, 30)])
def test_lengths_are_kept_without_a_search(least: int, most: int | None) -> None:
    lengths_drawn = {len(text) for text in drawn(built("^[a-z][a-z0-9_-]*$", least, most), 36)}
    assert all(max(1, least) <= length <= (most or length) for length in lengths_drawn)


def test_a_trailing_newline_is_no_end() -> None:
    assert not searches("^a$", "a\n")


def test_timestamps_have_every_form() -> None:
    texts = drawn(FORMATS["date-time"].piece.alone(), 240)
    assert any("." in text for text in texts)
    assert any("." not in text for text in texts)
    assert any(text[5:10] == "02-29" for text in texts)
    assert len({text[:2] for text in texts}) > 20
    assert {len(text.partition(".")[2]) for text in texts} >= {2, 3, 4, 7, 10, 13}


def test_the_first_timestamp_is_the_plainest() -> None:
    assert timestamp(0) == "2000-01-01T00:00:00Z"
