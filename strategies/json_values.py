"""JSON values for the places that take any: plain ones, hard ones, and ones without a canonical form.

Every value but those of ``uncanonical_values`` has an RFC 8785 form, holds numbers that an IEEE double holds exactly, and has
no member name twice (protocol.md section 1). Hard on code are the names that some languages read as something else, values
that a flat or a relational store cannot keep, and numbers at the edges of a double.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

DEPTH_LIMIT = 30
"""The deepest nesting of a hard value; with the request around it this stays well inside the 64 levels of section 1."""

HOSTILE_NAMES: tuple[str, ...] = (
    "", "a.b", "$set", "$ref", "__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__class__", "length",
    "a", "A", "\u00e1", "a\u0301", " a", "a ", "a\u200b", "0", "-1", "null", "id", "_id", "type", "text", "cognition",
    "a\x00b", "\ufeff", "\u2028", "\uffff", "\u202ea", "\U0001f600", "<script>", "{{7*7}}", "a'--", "\\u0000", "a/b", "a~1b",
)  # fmt: skip
"""Member names that stores, templates, query languages and object models take for something of their own."""

HARD_NUMBERS: tuple[int | float, ...] = (
    0, 1, -1, -0.0, 5.0, 0.1, 1e-7, 1e21, 2**31, -(2**31) - 1, 2**53 - 1, 2**53, float(2**53 + 2),
    -(2**53), 1e308, 5e-324, 123456789.125,
)  # fmt: skip
"""Numbers at the edges of 32-bit integers and doubles; all of them are doubles, so none changes on the wire."""

HARD_TEXTS: tuple[str, ...] = (
    "", "a", "\x00", "a\x00b", "\uffff", "\u2028\u2029", "\ufeffa", "\U0001f600", "\U0010ffff" * 8, "<script>alert(1)</script>",
    "\\u0000", "\\ud800", '"', "\\", "\r\n\t\x7f\x80", "'; DROP TABLE records; --", "${7*7}{{7*7}}<%=7%>", "\u202eabc\u202c",
    "a\u0301", "\u00e1", "\u1e9e\u00df", "\u200b", " ", "%s%n%x", "NaN", "null", "true", "1e999", "2000-01-01T00:00:00Z",
)  # fmt: skip
"""Texts that a text type, a template, a terminal or a parser may not keep as they are."""


def _nest(depth: int) -> Any:
    """Return ``depth`` levels of objects and arrays by turns."""
    value: Any = []
    for level in range(depth - 1):
        value = {"a": value} if level % 2 else [value]
    return value


STORED_SHAPES: tuple[Any, ...] = (
    None,
    True,
    False,
    "s",
    [],
    {},
    {"a": None},
    {"a": "text"},
    {"a": []},
    {"a": {}},
    {"a": {"b": [{"c": 1}, {"c": "x"}]}},
    [[1], [{"k": None}]],
    {"a.b": 1, "$set": 2, "": 3},
    {"__proto__": {"polluted": True}},
    {"constructor": {"prototype": {"polluted": True}}},
    {"a": 1, "A": 2, "\u00e1": 3, "a\u0301": 4, "a ": 5, "a\u200b": 6},
    {"cognition": [], "text": "", "structured": None},
    {"view": "recorded_at", "dimension": "belief", "value": "looks like cognition"},
    {f"m{index}": index for index in range(300)},
    _nest(DEPTH_LIMIT),
)
"""Whole values that some store could not keep: nulls, empties, changing types under one name, many members, deep nests."""


def _characters() -> SearchStrategy[str]:
    return st.characters(codec="utf-8")


@cache
def texts() -> SearchStrategy[str]:
    """Return any text that has a canonical form: plain, hard, or of any characters; shrinks to the empty one."""
    return st.one_of(
        st.text("abc ", max_size=12),
        st.text("abcdefghijklmnopqrstuvwxyz .,", max_size=60),
        st.text(_characters(), max_size=24),
        st.sampled_from(HARD_TEXTS),
    )


@cache
def numbers() -> SearchStrategy[int | float]:
    """Return numbers that a double holds exactly; shrinks to 0."""
    return st.one_of(
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(HARD_NUMBERS),
    )


@cache
def scalars() -> SearchStrategy[Any]:
    """Return null, booleans, numbers and texts; shrinks to null."""
    return st.one_of(st.none(), st.booleans(), numbers(), texts())


@cache
def names() -> SearchStrategy[str]:
    """Return member names, hostile ones among them; shrinks to the empty one."""
    return st.one_of(st.text("abc", max_size=3), st.sampled_from(HOSTILE_NAMES))


@cache
def structured() -> SearchStrategy[Any]:
    """Return any JSON value with a canonical form, nested ``DEPTH_LIMIT`` levels at most; shrinks to null."""
    trees = st.recursive(
        scalars(),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names(), inner, max_size=4)),
        max_leaves=12,
    )
    return st.one_of(scalars(), trees, st.sampled_from(STORED_SHAPES))


@cache
def open_objects(*, hostile: bool = False) -> SearchStrategy[dict[str, Any]]:
    """Return objects with any members; ``hostile`` draws names and values from the hard pools. Shrinks to ``{}``."""
    if hostile:
        return st.dictionaries(st.sampled_from(HOSTILE_NAMES), st.one_of(scalars(), st.sampled_from(STORED_SHAPES)), max_size=4)
    plain = st.one_of(st.none(), st.booleans(), st.integers(0, 9))
    return st.dictionaries(st.text("abc", min_size=1, max_size=3), plain, max_size=2)


LONE_SURROGATES: tuple[str, ...] = (
    "\ud800", "\udc00", "\udbff", "\udfff", "a\ud800", "\udc00\ud800", "\ud800\ud800", "\U0001f600\ud83d",
)  # fmt: skip
"""Texts that JSON can spell by escapes and that no UTF-8, and so no RFC 8785 form, can hold."""


def _buried(value: Any, path: Sequence[str | None]) -> Any:
    """Put ``value`` under ``path``, outermost first: a name is a member, None an array item between innocent neighbours."""
    for step in reversed(path):
        value = [0, value] if step is None else {step: value}
    return value


@cache
def uncanonical_values() -> SearchStrategy[Any]:
    """Return values with one unpaired surrogate, in a value or a member name, at some depth; shrinks to the bare text.

    ``json.dumps`` with ``ensure_ascii`` writes them as escapes, which is how they travel: protocol.md section 1 wants
    them refused. They cannot be encoded as UTF-8.
    """
    texts_without_form = st.sampled_from(LONE_SURROGATES)
    culprits: SearchStrategy[Any] = st.one_of(texts_without_form, texts_without_form.map(lambda name: {name: 1}))
    paths: SearchStrategy[list[str | None]] = st.lists(st.sampled_from((None, "a", "b")), max_size=6)
    return st.builds(_buried, culprits, paths)


def depth(value: Any) -> int:
    """Return the levels of arrays and objects of ``value``, itself the first; 0 for a scalar."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, Mapping | list):
            deepest = max(deepest, level)
            waiting.extend((item, level + 1) for item in (node.values() if isinstance(node, Mapping) else node))
    return deepest
