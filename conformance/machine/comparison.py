"""Two answers side by side: what the model says, what the target said, and the first member in which they differ.

Every member is compared exactly but those that ``freedom`` names. A document's table gives a comparator for each such member;
inside content, extensions and selections everything is exact, whatever a member is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

from conformance.oracle.contents import carried
from conformance.oracle.state import Doc
from conformance.wire.bundle import instant
from conformance.wire.canonical import canonical, same


class Difference(NamedTuple):
    """The first place where two answers differ: a JSON pointer into the answer, what the model has there, what was seen."""

    pointer: str
    expected: Any
    seen: Any


@dataclass(slots=True)
class Sight:
    """What comparing remembers. ``timed``: the target's clock stands where the model's does.

    ``digests`` pairs the target's state digests with the model's; ``kept`` holds members that are the target's own but do not
    change, as they were first seen. ``failures``: by receipt, the codes that it may have failed with. Of requests: ``namespaces``
    are those of the extensions that they brought, ``texts`` the longer ones of the contents that they wrote.
    """

    timed: bool = True
    digests: dict[str, str] = field(default_factory=dict)
    own_digests: dict[str, str] = field(default_factory=dict)
    failures: Mapping[str, frozenset[str]] = field(default_factory=dict)
    kept: dict[tuple[str, str], Any] = field(default_factory=dict)
    namespaces: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def hear(self, request: Doc) -> None:
        """Take note of what a request brings that must not turn up elsewhere."""
        self.namespaces.update(request.get("extensions", ()))
        self.texts.update(content["text"] for content in carried(request) if len(content["text"]) >= TELLING_LENGTH)


TELLING_LENGTH = 8
"""A text of fewer characters may be anybody's."""
COGNITION = "cognition"
"""The signal of a classification that is no mere advice (section 3, Candidate)."""

Comparator = Callable[[Sight, Any, Any, str], Difference | None]
Table = Mapping[str, Comparator]


# -- comparators


def exact(_sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare as JSON."""
    return None if same(expected, seen) else _narrowed(expected, seen, pointer)


def _narrowed(expected: Any, seen: Any, pointer: str) -> Difference:
    if isinstance(expected, Mapping) and isinstance(seen, Mapping):
        for name in sorted({*expected, *seen}):
            if name not in expected or name not in seen or not same(expected[name], seen[name]):
                inner = expected.get(name), seen.get(name)
                return _narrowed(*inner, f"{pointer}/{name}")
    if isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
        for index, (one, other) in enumerate(zip(expected, seen, strict=True)):
            if not same(one, other):
                return _narrowed(one, other, f"{pointer}/{index}")
    return Difference(pointer, expected, seen)


def free(_sight: Sight, _expected: Any, _seen: Any, _pointer: str) -> Difference | None:
    """Leave a member to the target."""
    return None


def moment(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare Timestamps as instants, to within a second; where the target's clock is its own, only that there is one."""
    if not isinstance(seen, str) or not isinstance(expected, str):
        return Difference(pointer, expected, seen)
    if not sight.timed or seen == expected or _seconds_apart(expected, seen) < 1:
        return None
    return Difference(pointer, expected, seen)


def _seconds_apart(one: str, other: str) -> Fraction:
    (first, digits), (second, others) = instant(one), instant(other)
    if first == second:
        return Fraction(0)
    whole = datetime.fromisoformat(first) - datetime.fromisoformat(second)
    return abs(whole.days * 86_400 + whole.seconds + _part(digits) - _part(others))


def _part(digits: str) -> Fraction:
    return Fraction(int(digits or 0), 10 ** len(digits))


def as_instant(_sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare Timestamps as instants, exactly."""
    alike = isinstance(seen, str) and isinstance(expected, str) and instant(seen) == instant(expected)
    return None if alike else Difference(pointer, expected, seen)


def as_set(_sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare arrays as sets."""
    if expected == seen:
        return None
    return (
        None if {canonical(one) for one in expected} == {canonical(one) for one in seen} else Difference(pointer, expected, seen)
    )


def paired_digest(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare state digests by equality alone: one of the target's belongs to one of the model's."""
    mine, theirs = sight.digests.setdefault(seen, expected), sight.own_digests.setdefault(expected, seen)
    if mine == expected and theirs == seen:
        return None
    return Difference(pointer, theirs, seen)


def affected(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare what a receipt affects; one that names an import may name its space too, while that has no new revision."""
    named = isinstance(seen, list) and len(seen) == 2 and isinstance(seen[1], Mapping) and set(seen[1]) == {"type", "id"}
    if named and [one.get("type") for one in expected] == ["import"] and seen[1]["type"] == "space":
        seen = seen[:1]
    return exact(sight, expected, seen, pointer)


def signal(found: Mapping[str, Any]) -> bool:
    """Say whether a classification names the one signal that the contract determines."""
    return COGNITION in found["signals"]


def classification(_sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare whether the signals name cognition; all else is advice."""
    return None if signal(expected) == signal(seen) else Difference(f"{pointer}/signals", expected["signals"], seen["signals"])


def own_namespaces(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
    """Compare the extensions of requests; further namespaces are the target's own, where they quote no content."""
    if not isinstance(seen, Mapping):
        return Difference(pointer, expected, seen)
    further = seen.keys() - expected.keys()
    wrong = sorted(name for name in further if name in sight.namespaces or _quotes(sight.texts, seen[name]))
    if wrong:
        return Difference(f"{pointer}/{wrong[0]}", None, seen[wrong[0]])
    return exact(sight, expected, {name: value for name, value in seen.items() if name not in further}, pointer)


def _quotes(texts: set[str], value: Any) -> bool:
    if isinstance(value, str):
        return len(value) >= TELLING_LENGTH and any(value in text or text in value for text in texts)
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(_quotes(texts, one) for one in inner)


def document(table: Table) -> Comparator:
    """Make the comparator of an object whose members are compared by ``table``, and exactly where it names none."""

    def compare(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
        if not isinstance(expected, dict) or not isinstance(seen, dict):
            return exact(sight, expected, seen, pointer)
        if expected.keys() != seen.keys():
            name = min(expected.keys() ^ seen.keys())
            return Difference(f"{pointer}/{name}", expected.get(name), seen.get(name))
        for name, value in expected.items():
            how, other = table.get(name, exact), seen[name]
            if how is free or (value.__class__ is str and value == other and how is not paired_digest):
                continue  # most members are such, and a pointer to each would take as long as all else
            found = how(sight, value, other, f"{pointer}/{name}")
            if found is not None:
                return found
        return None

    return compare


def failing(how: Comparator) -> Comparator:
    """Let a receipt that failed for several reasons at once tell any of them."""

    def compare(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
        told = seen.get("error") if isinstance(seen, Mapping) else None
        code = told.get("code") if isinstance(told, Mapping) else None
        if code in sight.failures.get(expected["receipt_id"], ()) and "error" in expected:
            expected = {**expected, "error": {**expected["error"], "code": code}}
        return how(sight, expected, seen, pointer)

    return compare


def keeping(key: str, members: Sequence[str], one: Comparator) -> Comparator:
    """Compare by ``one``; ``members`` are the target's own, as they were first seen for the object that ``key`` names."""

    def compare(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
        found = one(sight, expected, seen, pointer)
        if found is not None:
            return found
        for member in members:
            kept = sight.kept.setdefault((str(seen[key]), member), seen[member])
            if kept != seen[member]:
                return Difference(f"{pointer}/{member}", kept, seen[member])
        return None

    return compare


def listed(key: Callable[[Mapping[str, Any]], Any], one: Comparator) -> Comparator:
    """Make the comparator of an array of documents in any order, which ``key`` names: by a text, or by several."""

    def compare(sight: Sight, expected: Any, seen: Any, pointer: str) -> Difference | None:
        mine, theirs = {key(doc): doc for doc in expected}, {key(doc): doc for doc in seen}
        if len(theirs) != len(seen) or set(mine) != set(theirs):
            return Difference(pointer, sorted(mine), sorted(map(key, seen)))
        found = (one(sight, doc, theirs[name], f"{pointer}/{name}") for name, doc in mine.items())
        return next((difference for difference in found if difference is not None), None)

    return compare
