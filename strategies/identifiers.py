"""Names as data: ids, kinds and extension namespaces, plain and hard on code (protocol.md section 1, Id).

An id is opaque: 1 to 128 code points, compared code point by code point. Code that compares by a collation, trims,
normalises, joins with a separator, matches by prefix or puts a name into a query runs some of the families below together.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies.json_values import open_objects

ID_LIMIT = 128
"""The longest id, in code points."""

LOOK_ALIKES: tuple[tuple[str, ...], ...] = (
    # case, and what a collation or a case folding takes for the same
    ("a", "A", "\u00aa", "\uff41", "\u0430", "\u00e4"),
    ("ann", "Ann", "ANN", "\u00e1nn", "a\u0301nn", "ann ", " ann", "ann\u200b", "ann\u00a0", "ann\n", "ann\x00", "\ufeffann"),
    ("\u00df", "ss", "SS", "\u1e9e", "\u017fs"),
    ("i", "I", "\u0130", "\u0131", "i\u0307"),
    ("k", "K", "\u212a"),
    ("\u03a9", "\u2126", "\u03c9"),
    ("\u03c3", "\u03c2", "\u03a3"),
    # normalisation: composed and decomposed, compatibility forms, the order of marks
    ("\u00e9", "e\u0301", "\u00e8", "e"),
    ("fi", "\ufb01", "\uff46\uff49"),
    ("q\u0307\u0323", "q\u0323\u0307", "q"),
    ("\uac00", "\u1100\u1161"),
    # invisible marks and spaces
    ("u1", "u1\u200b", "u1\u200d", "u1\u2060", "u1\u00ad", "u1\u200e", "\u202eu1", "u1\ufe0f"),
    ("u1", "u1 ", " u1", "u1\t", "u1\x00", "u1\u3000", "u1\r\n"),
    ("\u2764", "\u2764\ufe0f", "\u2665"),
    # numbers in disguise
    ("1", "01", "1.0", "+1", "1e0", "0x1", "\uff11", "\u0661", "1 ", "true"),
    ("0", "-0", "00", "false", "null", "None", "undefined", "NaN"),
    ("9007199254740992", "9007199254740993", "9007199254740992.0"),
    # prefixes and wildcards of query languages
    ("acme", "acme-corp", "acme_corp", "acmeXcorp", "acm", "acme%", "acme*", "acme."),
    ("u_", "u1", "u10", "u%", "u?", "u"),
    ("%", "_", "*", "?", ".*", "%%", "[a-z]"),
    # separators: two names joined are one name
    ("a", "a:b", "a/b", "a|b", "a.b", "a,b", "a b", "a-b", "a\x00b", "a\x1fb", "a\nb", "a=b", "a&b"),
    ("u1:c1", "u1/c1", "u1|c1", "u1c1", "u1"),
    # paths and escapes
    ("x", "./x", "../x", "/x", "x/", "x/../x", "x%2F", "..", ".", "x\\"),
    ("a b", "a+b", "a%20b", "a\u00a0b"),
    ("'", "''", "\\'", '"', "`", "\\", "\\\\"),
    # names that an object model already has
    ("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__class__", "length", "self"),
    # long names that differ at the very end, or only in length
    ("a" * 127 + "b", "a" * 127 + "c", "a" * 127, "a" * 128, "a" * 64, "a" * 63),
    ("\U0001f600" * 128, "\U0001f600" * 127, "\U0001f600" * 127 + "\U0001f601"),
)
"""Families of distinct ids that careless code takes for one another; the first of a family is its plainest."""

SEPARATORS: tuple[str, ...] = ("|", ":", "/", ".", ",", "-", "_", "#", "\x00", "\x1f", "\n", " ", "::", "")
"""What two parts of a key are joined with; the last is no separator at all."""

HOSTILE_IDS: tuple[str, ...] = (
    "__proto__", "constructor", "toString", "hasOwnProperty", "../x", "..", ".", "/", "a/b", "a\\b", "a|b", "%00", "%2e%2e%2f",
    "'; DROP TABLE records; --", "' OR '1'='1", "$(id)", "`id`", "${7*7}", "{{7*7}}", "<script>alert(1)</script>", "%s%n", "*",
    "%", "\x00", "a\x00b", "\n", "\r\n", " ", "\t", "\u200b", "\ufeff", "\u202e", "\u2028", "\uffff", "\x7f", "\U0001f600" * 128,
    "\U0010ffff", "a" * 128, "null", "true", "0", "-1", "$record1", "{}", "[]", '"', "\\", "\\u0000", "\\ud800", "~0~1", "#",
    "?a=b", "$where", "a.$.b", "CON", "a;b", "a=b", "a,b", "data:,", "\u0430dmin", "e\u0301", "\u00df", "1.0", "01",
)  # fmt: skip
"""Single ids that query languages, templates, shells, paths, headers and object models take for something of their own."""

_PLAIN = "abcdefghijklmnopqrstuvwxyz"


@cache
def hostile_ids() -> SearchStrategy[str]:
    """Return schema-valid ids that are hard on code, one at a time."""
    return st.sampled_from(HOSTILE_IDS)


def _any_id() -> SearchStrategy[str]:
    return st.text(st.characters(codec="utf-8"), min_size=1, max_size=ID_LIMIT)


@cache
def plain_ids() -> SearchStrategy[str]:
    """Return ids that no code has trouble with; shrinks to ``a``."""
    return st.text(_PLAIN, min_size=1, max_size=6)


@cache
def ids() -> SearchStrategy[str]:
    """Return any schema-valid id: mostly plain ones, now and then one that is hard on code; shrinks to ``a``."""
    return st.one_of(
        plain_ids(),
        st.text(_PLAIN + "0123456789_-", min_size=1, max_size=24),
        st.text(_PLAIN, min_size=1, max_size=12),
        hostile_ids(),
        _any_id(),
    )


@st.composite
def look_alikes(draw: DrawFn, n: int = 2) -> tuple[str, ...]:
    """Return ``n`` distinct ids of one family of ``LOOK_ALIKES``; shrinks to the first of the first family that has so many."""
    family = list(draw(st.sampled_from([family for family in LOOK_ALIKES if len(family) >= n])))
    # as many draws for every family: a small family must not shrink better than the plainest one
    return tuple(family.pop(index % len(family)) for index in draw(st.tuples(*[st.integers(0, 2 * 27720 - 1)] * n)))


Pair = tuple[str, str]


def _collision(separator: str, left: str, middle: str, right: str) -> tuple[Pair, Pair]:
    return (left + separator + middle, right), (left, middle + separator + right)


@cache
def colliding_pairs() -> SearchStrategy[tuple[Pair, Pair]]:
    """Return two distinct pairs of ids that one separator joins to the same text: ``("a|b", "c")`` and ``("a", "b|c")``."""
    part = st.text("abc", min_size=1, max_size=3)
    return st.builds(_collision, st.sampled_from(SEPARATORS), part, part, part)


@cache
def kinds() -> SearchStrategy[str]:
    """Return open kinds (1 to 128 code points); shrinks to ``a``."""
    return st.one_of(plain_ids(), st.sampled_from(("note", "fact", "preferences", "Preferences")), ids())


_HEAD = st.text(_PLAIN, min_size=1, max_size=1)


def _name(rest: str, longest: int) -> SearchStrategy[str]:
    return st.builds(str.__add__, _HEAD, st.text(_PLAIN + "0123456789" + rest, max_size=longest))


@cache
def subject_kinds() -> SearchStrategy[str]:
    """Return kinds of subjects, ``<namespace>:<name>`` (protocol.md section 3, Subject); shrinks to ``a:a``."""
    return st.builds("{}:{}".format, _name("_-", 8), _name("_.-", 8))


_NAMESPACES: tuple[str, ...] = ("acme", "constructor", "prototype", "length", "a", "a-b", "a_b", "a1", "then", "x" * 128)


@cache
def extension_maps(hostile: bool = False) -> SearchStrategy[dict[str, Any]]:
    """Return extension maps with namespaces that nobody knows (protocol.md section 1); shrinks to ``{}``.

    ``hostile`` takes namespaces that an object model already has, and hard values under them.
    """
    namespace = st.sampled_from(_NAMESPACES) if hostile else _name("_-", 6)
    return st.dictionaries(namespace, open_objects(hostile=hostile), max_size=3 if hostile else 2)
