"""Patterns compared as languages, beside Python's own engine over all short texts."""

from __future__ import annotations

from itertools import product

import pytest

from conformance.wire.formats import compiled
from strategies.languages import Undecided, escaping

PATTERNS = [
    "^a*$", "^(ab)*$", "^a?b?c?$", "^[ab]+c$", "a", "^b", "c$", "^(a|bc){1,2}$", "^[^a]$", "^a{2,3}$", "", "^(a|b)*c?$", "^.$",
    "^ab", "^(a*b)*$", "^(?:a+|b+)*$", "b{2}",
]  # fmt: skip
TEXTS = ["".join(letters) for length in range(5) for letters in product("abc", repeat=length)]


@pytest.mark.parametrize("taken", PATTERNS)
def test_a_text_escapes_exactly_where_the_engine_finds_one(taken: str) -> None:
    for refusing in PATTERNS:
        found = escaping([taken], refusing)
        texts = [text for text in TEXTS if compiled(taken).search(text) and not compiled(refusing).search(text)]
        if found is None:
            assert texts == [], (taken, refusing)
        else:
            assert compiled(taken).search(found), (taken, refusing, found)
            assert not compiled(refusing).search(found), (taken, refusing, found)
            assert all(len(found) <= len(text) for text in texts[:1]), (taken, refusing, found)


def test_lengths_and_several_patterns_count_too() -> None:
    assert escaping(["^a*$"], "^a{0,3}$") == "aaaa"
    assert escaping(["^a*$"], "^a{0,3}$", 0, 3) is None
    assert escaping(["^[ab]*$", "^[bc]*$"], "^b*$") is None
    assert escaping(["^[ab]*$", "b"], None, 3, 3) is not None
    assert escaping(["^a$"], None, 2, 2) is None
    assert escaping([], "^[\\u0000-\\uFFFF]*$") is not None


@pytest.mark.parametrize("pattern", ["^a|b$", "a^b", "(?=a)b", "(a)\\1", "a$b", "^(a{900}){9}$"])
def test_what_is_not_read_is_not_decided(pattern: str) -> None:
    with pytest.raises(Undecided):
        escaping([pattern], "^a$")


def test_the_patterns_of_the_contract_are_decided() -> None:
    digest, kind = "^[0-9a-f]{64}$", "^[a-z][a-z0-9_-]*:[a-z][a-z0-9_.-]*$"
    assert escaping([digest], "^[0-9a-f]*$") is None
    assert escaping([digest], "^[0-9]{64}$") is not None
    assert escaping([kind], "^[a-z0-9:_.-]+$") is None
