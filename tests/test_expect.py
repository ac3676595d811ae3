"""The first difference of two JSON values, and the text of a failed check."""

from __future__ import annotations

import pytest

from conformance.expect import UNSAID, CheckFailed, at, difference


@pytest.mark.parametrize(
    ("expected", "seen", "pointer"),
    [
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": 1}, {"a": True}, "/a"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "/a/b/1"),
        ({"a": 1}, {"a": 1, "b": 2}, "/b"),
        ({"a": 1, "b": 2}, {"a": 1}, "/b"),
        ([1], [1, 2], "/"),
        (None, [], "/"),
        ("a", "b", "/"),
        ({"a": "\ud800"}, {"a": "\ud800"}, None),
    ],
)
def test_difference_names_the_first_place(expected: object, seen: object, pointer: str | None) -> None:
    assert difference(expected, seen) == pointer


def test_at_follows_a_pointer_as_far_as_it_goes() -> None:
    value = {"a": [{"b": 1}]}
    assert at(value, "/a/0/b") == 1
    assert at(value, "/a/7") == value["a"]
    assert at(value, "/nope/x") is UNSAID
    assert at(value, "/") == value
    assert at({"": 1}, "/") == 1


def test_failure_text_says_what_where_expected_and_seen() -> None:
    text = str(CheckFailed("the record moved", expected="c1", seen="c" * 1000, pointer="/scope/context_id"))
    assert text.splitlines()[:3] == ["the record moved", "  at: /scope/context_id", "  expected: 'c1'"]
    assert "(1002 characters)" in text


def test_only_what_is_said_is_in_the_text() -> None:
    assert str(CheckFailed("broken", seen={"a": 1})) == "broken\n  seen:     {'a': 1}"
    assert str(CheckFailed("broken", expected=None, seen=0)) == "broken\n  expected: None\n  seen:     0"
    assert str(CheckFailed("broken")) == "broken"
    again = CheckFailed("broken", expected=None, pointer="/a").retold("broken, after: b")
    assert (again.what, again.null_expected, again.null_seen, again.pointer) == ("broken, after: b", True, False, "/a")
