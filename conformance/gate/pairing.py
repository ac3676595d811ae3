"""Which alternative of one list is meant by which of another."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.gate.forms import Form
from conformance.gate.meeting import disjoint, kinds, member


def paired(ours: tuple[Form, ...], theirs: tuple[Form, ...]) -> Iterator[tuple[Form, Form | None]]:
    """Give each form with the one of ``theirs`` that it is most like; None where they all are something else."""
    for form in ours:
        same = next((other for other in theirs if other.key == form.key), None)
        candidates = [other for other in theirs if not disjoint(form, other)]
        yield form, same or max(candidates, key=lambda other: _likeness(form, other), default=None)


def _likeness(form: Form, other: Form) -> tuple[int, int, int]:
    """Rank by shared members with equal listed values, by shared required members, by shared kinds."""
    names = set(form["properties"]) & set(other["properties"])
    told = sum("enum" in member(form, name).keywords and member(form, name) == member(other, name) for name in names)
    return told, len(set(form["required"]) & set(other["required"])), len(kinds(form) & kinds(other))
