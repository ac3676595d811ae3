"""JSON text of any depth: the slow way writes and reads what the fast one does."""

from __future__ import annotations

import json
import uuid
from datetime import date, datetime
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.wire import json_text
from conformance.wire.canonical import same
from conformance.wire.json_text import DEEPEST, LEFT_OUT, TooLong, copied, fingerprint, pruned, read, written

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


LEVELS = 20_000
"""More than any version of the library goes into."""


def deep(inner: Any) -> Any:
    for level in range(LEVELS):
        inner = {"a": inner} if level % 2 else [inner]
    return inner


def around(text: str) -> str:
    return '{"a": [' * (LEVELS // 2) + text + "]}" * (LEVELS // 2)


@given(value=JSON, ordered=st.booleans())
def test_both_ways_write_the_same(value: Any, ordered: bool) -> None:
    slowly = "".join(json_text.pieces(value, json.dumps, sorted if ordered else list))
    assert slowly == written(value, ordered=ordered) == json.dumps(value, sort_keys=ordered)


@given(value=JSON, indent=st.none() | st.integers(0, 2))
def test_both_ways_read_the_same(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert same(json_text._Reading(json.JSONDecoder()).of(text), value)
    assert same(read(text), value)


def test_what_is_too_deep_for_the_library_is_written_and_read() -> None:
    value = {"b": [1.5, None, "\ud800"], "a": {}}
    assert written(deep(value)) == around(json.dumps(value))
    assert written(deep(value), ordered=True) == around(json.dumps(value, sort_keys=True))
    assert same(read(around(json.dumps(value))), deep(value))


BROKEN = [
    "[",
    "]",
    "[1,]",
    "[,1]",
    "[1 2]",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{1:2}",
    '{"a" 1}',
    "[1}",
    '{"a":1]',
    "1 2",
    "tru",
    "'a'",
]


@pytest.mark.parametrize("text", [*BROKEN, '"a', "[NaN]", "-Infinity", "1e999", "\ufeff1", ":", ",", '["a":1]', '{"a":1 "b":2}'])
def test_a_text_that_is_no_json_is_refused_at_any_depth(text: str) -> None:
    for given_text in (text, around(text)):
        with pytest.raises(ValueError, match=r"."):
            read(given_text)


@pytest.mark.parametrize("tail", ["1", "]", "}", ",", "{}", "x"])
def test_nothing_may_follow(tail: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(around("1") + tail)
    with pytest.raises(ValueError, match=r"."):
        read(around("1")[:-1])


def test_what_json_lacks_passes_only_where_it_is_asked_for() -> None:
    assert written(deep(float("inf"))) == around("Infinity")
    assert same(read(around("Infinity"), strict=False), deep(float("inf")))
    with pytest.raises(ValueError, match="Out of range"):
        written(deep(float("inf")), strict=True)


def circle() -> list[Any]:
    """Return a value that holds itself, further down than the library looks."""
    first: list[Any] = []
    last = first
    for _ in range(LEVELS):
        last.append([])
        last = last[0]
    last.append(first)
    return first


def test_no_text_is_longer_or_deeper_than_it_may_be() -> None:
    assert written([1], limit=3) == "[1]"
    for value in ("aa", deep("aa")):
        with pytest.raises(TooLong):
            written(value, limit=3)
    assert read("[" * DEEPEST + "]" * DEEPEST)
    with pytest.raises(ValueError, match="deeper than"):
        read("[" * (DEEPEST + 1))
    with pytest.raises(ValueError, match="deeper than"):
        written(circle())


def test_pruned_leaves_out_what_is_deep_and_nothing_else() -> None:
    assert pruned({"a": [1, {"b": 2}, [3]], "c": "d"}, 2) == {"a": [1, LEFT_OUT, LEFT_OUT], "c": "d"}
    assert pruned(deep(1), 3) == {"a": [{"a": LEFT_OUT}]}
    assert pruned((1, 2), 9) == [1, 2]


def test_an_empty_text_is_none() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        read(" ")
    with pytest.raises(ValueError, match="ends"):
        json_text._Reading(json.JSONDecoder()).of(" ")


def test_the_library_is_used_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "pieces", None)
    monkeypatch.setattr(json_text, "_Reading", None)
    assert read(written({"a": [1]})) == {"a": [1]}


@given(value=JSON | st.floats() | st.tuples(JSON) | st.text(st.characters(categories=["Cs"])), strict=st.booleans())
def test_a_copy_is_what_comes_of_its_text(value: Any, strict: bool) -> None:
    for one in (value, {"a": [value, None]}):
        try:
            expected = repr(read(written(one, strict=strict), strict=strict))
        except ValueError:
            with pytest.raises(ValueError, match="not JSON compliant"):
                copied(one, strict=strict)
        else:
            assert repr(copied(one, strict=strict)) == expected


class Colour(Enum):
    """What orjson would write as its value."""

    RED = "red"


class Text(str):
    """What json writes as text."""


@pytest.mark.parametrize(
    "value",
    [uuid.UUID(int=0), Colour.RED, datetime(2026, 1, 1), date(2026, 1, 1), b"x", {1, 2}, object(), {(1,): 1}],
)
def test_what_text_cannot_carry_is_not_copied_either(value: Any) -> None:
    with pytest.raises(TypeError):
        copied({"a": value})


def test_a_copy_shares_nothing_and_is_no_longer_than_it_may_be() -> None:
    value = {"a": [{"b": Text("é")}], "c": {1: None}, "d": 2**70}
    copy = copied(value)
    assert copy == {"a": [{"b": "é"}], "c": {"1": None}, "d": 2**70}
    assert copy["a"][0]["b"].__class__ is str
    inner: dict[str, Any] = {"b": ["é"]}
    assert copied(inner, limit=len(written(inner))) == inner
    assert copied(inner)["b"] is not inner["b"]
    with pytest.raises(TooLong):
        copied(inner, limit=len(written(inner)) - 1)
    with pytest.raises(ValueError, match="deeper"):
        copied(circle())


@given(JSON, JSON)
def test_fingerprints_tell_texts_apart(left: Any, right: Any) -> None:
    texts = [written(one, ordered=True) for one in (left, right)]
    assert (fingerprint(left) == fingerprint(right)) == (texts[0] == texts[1])


def test_a_fingerprint_takes_no_order_of_members_and_every_value() -> None:
    nan, inf = float("nan"), float("inf")
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
    values = [None, nan, inf, "\ud800", 2**70, 1, 1.0, True, deep([1]), deep([2])]
    assert len({fingerprint({"a": value}) for value in values}) == len(values)
