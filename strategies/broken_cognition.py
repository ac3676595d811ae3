"""Cognition that the operation layer has to refuse (protocol.md section 6, check 5), one fault at a time.

Dispatch takes any value for the member (``ContentInput``), so each of these requests passes its schema; the operation says
which field is wrong, before it counts a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from strategies.cognition import Entry, cognition_records
from strategies.timestamps import INVALID_TIMESTAMPS

Path = tuple[str, ...]
Fault = Callable[[Entry], Any]


def _changed(path: Path, change: Callable[[dict[str, Any], str], dict[str, Any]]) -> Fault:
    """Make a fault that changes the object which holds the member at the end of ``path``."""

    def rewrite(node: dict[str, Any], rest: Path) -> dict[str, Any]:
        if len(rest) == 1:
            return change(node, rest[0])
        return {**node, rest[0]: rewrite(node[rest[0]], rest[1:])}

    return lambda entry: rewrite(entry, path)


def _without(*path: str) -> Fault:
    return _changed(path, lambda node, name: {key: value for key, value in node.items() if key != name})


def _with(value: Any, *path: str) -> Fault:
    return _changed(path, lambda node, name: {**node, name: value})


_MISSING: Mapping[str, Fault] = {
    f"missing_{'_'.join(path)}": _without(*path)
    for path in (
        ("view",), ("dimension",), ("value",), ("attribution",), ("attribution", "holder_id"), ("basis",), ("basis", "kind"),
        ("basis", "refs"), ("time",), ("time", "recorded_at"),
    )
}  # fmt: skip

_EXTRA: Mapping[str, Fault] = {
    "extra_member": _with(1, "extra"),
    "extra_null": _with(None, "confidence"),
    "extra_extensions": _with({}, "extensions"),
    "extra_prototype": _with({}, "__proto__"),
    "extra_in_attribution": _with("a", "attribution", "role"),
    "extra_in_basis": _with("a", "basis", "note"),
    "extra_in_time": _with("2000-01-01T00:00:00Z", "time", "expires_at"),
}

_WRONG: Mapping[str, Fault] = {
    "other_view": _with("occurred_at", "view"),
    "upper_case_view": _with("Recorded_At", "view"),
    "null_view": _with(None, "view"),
    "unknown_dimension": _with("hope", "dimension"),
    "upper_case_dimension": _with("Belief", "dimension"),
    "number_dimension": _with(5, "dimension"),
    "empty_value": _with("", "value"),
    "null_value": _with(None, "value"),
    "object_value": _with({"text": "a"}, "value"),
    "text_attribution": _with("a", "attribution"),
    "empty_holder": _with("", "attribution", "holder_id"),
    "long_holder": _with("a" * 129, "attribution", "holder_id"),
    "number_holder": _with(1, "attribution", "holder_id"),
    "empty_asserted_by": _with("", "attribution", "asserted_by"),
    "null_asserted_by": _with(None, "attribution", "asserted_by"),
    "unknown_basis_kind": _with("guessed", "basis", "kind"),
    "null_refs": _with(None, "basis", "refs"),
    "text_refs": _with("a", "basis", "refs"),
    "number_in_refs": _with([1], "basis", "refs"),
    "empty_id_in_refs": _with(["a", ""], "basis", "refs"),
    "array_time": _with([], "time"),
    "null_recorded_at": _with(None, "time", "recorded_at"),
    "number_recorded_at": _with(0, "time", "recorded_at"),
    "null_occurred_at": _with(None, "time", "occurred_at"),
}

_NO_OBJECTS: Mapping[str, Fault] = {
    "null_record": lambda _: None,
    "text_record": lambda _: "a",
    "number_record": lambda _: 0,
    "boolean_record": lambda _: True,
    "array_record": lambda _: [],
    "empty_record": lambda _: {},
    "nested_array": lambda entry: [entry],
}

_DATES: Mapping[str, Callable[[str], Fault]] = {
    "bad_recorded_at": lambda text: _with(text, "time", "recorded_at"),
    "bad_occurred_at": lambda text: _with(text, "time", "occurred_at"),
}

FAULTS: Mapping[str, Fault] = {**_MISSING, **_EXTRA, **_WRONG, **_NO_OBJECTS}
"""Label -> what it makes of a valid record. Wrong dates come on top, one label for each of the two members."""

NO_ARRAYS: tuple[tuple[str, Any], ...] = (
    ("null_member", None),
    ("text_member", "a"),
    ("number_member", 0),
    ("boolean_member", False),
    ("object_member", {}),
    ("text_empty_member", ""),
)
"""Values of the whole ``cognition`` member that are no array of records."""


def labels() -> tuple[str, ...]:
    """Return every label that ``broken_cognition_records`` can give."""
    return (*FAULTS, *_DATES)


@st.composite
def broken_cognition_records(draw: DrawFn) -> tuple[str, Any]:
    """Return (label, record): a valid record with exactly one thing broken; shrinks to the first label on the plainest record."""
    label = draw(st.sampled_from(labels()))
    entry = draw(cognition_records())
    if label in _DATES:
        return label, _DATES[label](draw(st.sampled_from(INVALID_TIMESTAMPS)))(entry)
    return label, FAULTS[label](entry)


@st.composite
def broken_cognition(draw: DrawFn) -> tuple[str, Any]:
    """Return (label, value of the ``cognition`` member): no array, or an array with one broken record at any position."""
    if draw(st.integers(0, 4)) == 4:
        label, broken = draw(st.sampled_from(NO_ARRAYS))
        return label, broken
    label, broken = draw(broken_cognition_records())
    valid = draw(st.lists(cognition_records(), max_size=2))
    position = draw(st.integers(0, len(valid)))
    return label, [*valid[:position], broken, *valid[position:]]
