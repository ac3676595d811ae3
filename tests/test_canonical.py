"""The RFC 8785 form against the RFC's own vectors, digests, content bytes, and equality that never raises."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.wire import canonical as module
from conformance.wire.canonical import NotCanonical, canonical, content_bytes, digest, same

# RFC 8785, appendix B: the bits of a double and its text.
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def nested(depth: int, kind: type) -> Any:
    value: Any = 10**20
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


class TestForm:
    @pytest.mark.parametrize(("bits", "text"), NUMBERS)
    def test_numbers_of_appendix_b(self, bits: str, text: str) -> None:
        (number,) = struct.unpack(">d", bytes.fromhex(bits))
        assert canonical(number) == text.encode()

    def test_the_example_of_section_3_2_2(self) -> None:
        source = r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"""
        form = (
            r'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            r'"string":"€$\u000f\nA' + "'" + r'B\"\\\\\"/"}'
        )
        assert canonical(json.loads(source)) == form.encode()

    def test_member_names_sort_by_utf_16_as_in_section_3_2_3(self) -> None:
        names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
        form = canonical(dict.fromkeys(names, 0)).decode()
        assert list(json.loads(form)) == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]

    @pytest.mark.parametrize(
        ("value", "form"),
        [
            (5.0, b"5"),
            (2**53, b"9007199254740992"),
            (2**53 + 1, b"9007199254740992"),
            (10**30, b"1e+30"),
            (-(10**21), b"-1e+21"),
            (True, b"true"),
            ([], b"[]"),
            ({}, b"{}"),
            ("\x7f", b'"\x7f"'),
            ("\u2028", b'"\xe2\x80\xa8"'),
            (-0.0, b"0"),
            ({"b": [10**20, {}], "a": []}, b'{"a":[],"b":[100000000000000000000,{}]}'),
            ([[10**20], []], b"[[100000000000000000000],[]]"),
        ],
    )
    def test_other_values(self, value: Any, form: bytes) -> None:
        assert canonical(value) == form

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 10**400, -(10**4000), "\ud800", "a\udfff", {"\ud800": 1}])
    @pytest.mark.parametrize("place", [lambda bad: bad, lambda bad: [1, bad], lambda bad: {"a": {"b": bad}}])
    def test_what_has_no_form_is_refused(self, bad: Any, place: Any) -> None:
        with pytest.raises(NotCanonical, match="no canonical form"):
            canonical(place(bad))

    @pytest.mark.parametrize("kind", [list, dict])
    @pytest.mark.parametrize("depth", [64, 5_000, 50_000])
    def test_depth_has_a_form(self, depth: int, kind: type) -> None:
        form = canonical(nested(depth, kind))
        assert form.count(b"[" if kind is list else b"{") == depth
        assert b"100000000000000000000" in form

    @given(JSON)
    @settings(max_examples=200, deadline=None)
    def test_a_form_is_json_of_the_same_value_and_its_own_form(self, value: Any) -> None:
        form = canonical(value)
        assert same(json.loads(form), value)
        assert canonical(json.loads(form)) == form

    @given(JSON)
    @settings(max_examples=200, deadline=None)
    def test_both_ways_to_the_form_agree(self, value: Any) -> None:
        assert module._piece_by_piece(value) == canonical(value)


class TestDigest:
    def test_it_is_the_sha_256_of_the_form(self) -> None:
        assert digest({"b": 1.0, "a": "é"}) == hashlib.sha256('{"a":"é","b":1}'.encode()).hexdigest()

    def test_a_member_can_be_left_out_at_the_top_alone(self) -> None:
        carried = {"digest": "x", "part": {"digest": "y"}}
        assert digest(carried, without="digest") == digest({"part": {"digest": "y"}})
        assert digest(carried, without="absent") == digest(carried)
        assert carried["digest"] == "x"

    def test_content_counts_every_member_in_utf_8(self) -> None:
        assert content_bytes({"text": ""}) == len('{"text":""}')
        assert content_bytes({"text": "é", "cognition": []}) == len('{"cognition":[],"text":"é"}'.encode())
        assert content_bytes({"text": "\n", "structured": 1e30}) == len(r'{"structured":1e+30,"text":"\n"}')


class TestSame:
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (5, 5.0),
            (0, -0.0),
            ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}),
            (None, None),
            ("\ud800", "\ud800"),
            (math.nan, math.nan),
            ({"\ud800": []}, {"\ud800": []}),
            (2**53, 2**53 + 1),
            (10**400, 10**400),
            (math.inf, math.inf),
            ([], []),
            (True, True),
        ],
    )
    def test_equal(self, left: Any, right: Any) -> None:
        assert same(left, right)
        assert same(right, left)

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (1, True),
            (0, False),
            (None, False),
            ("", None),
            ([], {}),
            ({}, []),
            ("1", 1),
            ([1, 2], [2, 1]),
            ([1], [1, 1]),
            ({"a": 1}, {"a": 1, "b": 1}),
            ({"a": 1}, {"b": 1}),
            ({"a": [True]}, {"a": [1]}),
            (10**400, 10**401),
            (10**400, math.inf),
            ("a", "\ud800"),
            (math.nan, 0),
            ([], ""),
            ([None], [False]),
            ([None], [math.nan]),
            ([math.nan], [math.inf]),
        ],
    )
    def test_unequal(self, left: Any, right: Any) -> None:
        assert not same(left, right)
        assert not same(right, left)

    @pytest.mark.parametrize("kind", [list, dict])
    def test_depth(self, kind: type) -> None:
        assert same(nested(50_000, kind), nested(50_000, kind))
        assert not same(nested(50_000, kind), nested(50_001, kind))

    @given(JSON, JSON)
    @settings(max_examples=200, deadline=None)
    def test_values_are_the_same_exactly_when_their_forms_are(self, left: Any, right: Any) -> None:
        assert same(left, right) == (canonical(left) == canonical(right))
        assert same(left, left)
