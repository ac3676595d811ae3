"""Which alternative of one list is meant by which of another."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.gate.forms import Form
from conformance.gate.meeting import disjoint, kinds, member


def paired(ours: tuple[Form, ...], theirs: tuple[Form, ...]) -> Iterator[tuple[Form, Form | None]]:
    """Give each form with the one of ``theirs`` that it is most like; None where they all are something else.

    One that became so different that nothing is both may still be the same alternative, where no listed value says otherwise.
    """
    kept = {form.key for form in ours}
    for form in ours:
        same = next((other for other in theirs if other.key == form.key), None)
        candidates = [other for other in theirs if not disjoint(form, other)]
        candidates = candidates or [other for other in theirs if other.key not in kept and _namesakes(form, other)]
        yield form, same or max(candidates, key=lambda other: _likeness(form, other), default=None)


def _namesakes(form: Form, other: Form) -> bool:
    """Say whether two objects require a member alike, and no member that both require tells them apart by its values."""
    shared = set(form["required"]) & set(other["required"])
    pairs = [(member(form, name), member(other, name)) for name in shared]
    return bool(shared) and not any(
        "enum" in ours.keywords and "enum" in theirs.keywords and disjoint(ours, theirs) for ours, theirs in pairs
    )


def _likeness(form: Form, other: Form) -> tuple[int, int, int]:
    """Rank by shared members with equal listed values, by shared required members, by shared kinds."""
    names = set(form["properties"]) & set(other["properties"])
    told = sum("enum" in member(form, name).keywords and member(form, name) == member(other, name) for name in names)
    return told, len(set(form["required"]) & set(other["required"])), len(kinds(form) & kinds(other))
