"""Whether the answers to a counterexample's calls are as it expects, from the answers alone (conformance.counterexample)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from conformance.counterexample import Counterexample, Expectation, Kind
from conformance.rehearsal import Answered, Heard, Unready
from conformance.symbols import Unbound, is_own_digest, leaves, member, resolved
from conformance.wire.canonical import same


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether the expectation is met, and what was seen."""

    met: bool
    seen: Any = None


def judge(example: Counterexample, heard: Heard) -> Judged:
    """Judge. Raises ``Unready`` where the answers before say nothing about it."""
    expectation = example.expectation
    if expectation.kind not in JUDGES:
        raise Unready("it is judged by its check alone")
    if expectation.call >= len(heard.answers):
        raise Unready(f"there is no call {expectation.call + 1}")
    try:
        return JUDGES[expectation.kind](expectation, heard)
    except Unbound as symbol:
        raise Unready(f"nothing on this target is {symbol}") from symbol


def _answer(expectation: Expectation, heard: Heard) -> Answered:
    return heard.answers[expectation.call]


def _accepted(expectation: Expectation, heard: Heard) -> Judged:
    answer = _answer(expectation, heard)
    return Judged(not answer.outcome and not answer.broken, answer.broken or answer.outcome)


def _refused(expectation: Expectation, heard: Heard) -> Judged:
    answer = _answer(expectation, heard)
    details = ((answer.body or {}).get("error") or {}).get("details") or {}
    return Judged(
        answer.outcome in expectation.codes, {"code": answer.outcome or "success", **({"details": details} if details else {})}
    )


def _form(expectation: Expectation, heard: Heard) -> Judged:
    answer = _answer(expectation, heard)
    return Judged(not answer.broken, answer.broken)


def _at(expectation: Expectation, heard: Heard) -> Any:
    """Return the member that is looked at. Raises ``LookupError`` where there is none."""
    answer = _answer(expectation, heard)
    try:
        return member(answer.body, expectation.pointer, heard.bound)
    except (ValueError, TypeError) as error:
        raise LookupError(expectation.pointer) from error


def _looking(judged: Callable[[Expectation, Heard, Any], bool]) -> Callable[[Expectation, Heard], Judged]:
    """Make the judge of a member that must be there."""

    def judge_member(expectation: Expectation, heard: Heard) -> Judged:
        try:
            seen = _at(expectation, heard)
        except LookupError:
            return Judged(False, _answer(expectation, heard).body)
        return Judged(judged(expectation, heard, seen), seen)

    return judge_member


def _absent(expectation: Expectation, heard: Heard) -> Judged:
    if _answer(expectation, heard).outcome:
        return Judged(False, _answer(expectation, heard).body)
    try:
        return Judged(False, _at(expectation, heard))
    except LookupError:
        return Judged(True)


def _is_value(expectation: Expectation, heard: Heard, seen: Any) -> bool:
    return same(resolved(expectation.value, heard.bound), seen)


def _is_fresh(expectation: Expectation, heard: Heard, seen: Any) -> bool:
    before = heard.answers[: expectation.call]
    return all(leaf != seen for answer in before for _, leaf in leaves(answer.body))


def _is_at_most(expectation: Expectation, heard: Heard, seen: Any) -> bool:  # noqa: ARG001 - the signature of a judge
    return bool((len(seen) if isinstance(seen, list) else seen) <= expectation.value)


def _holds(expectation: Expectation, heard: Heard, seen: Any) -> bool:
    return isinstance(seen, list) and resolved(expectation.value, heard.bound) in seen


def _lacks(expectation: Expectation, heard: Heard, seen: Any) -> bool:
    return isinstance(seen, list) and not _holds(expectation, heard, seen)


def _is_sealed(expectation: Expectation, heard: Heard, seen: Any) -> bool:  # noqa: ARG001 - the signature of a judge
    around, _, name = expectation.pointer.rpartition("/")
    holder = member(_answer(expectation, heard).body, around, heard.bound)
    return is_own_digest(holder, name)


def _has_items(expectation: Expectation, heard: Heard, seen: Any) -> bool:
    if not isinstance(seen, list):
        return False
    by = expectation.by
    told = [item.get(by) if by and isinstance(item, Mapping) else item for item in seen]
    return sorted(map(str, told)) == sorted(map(str, resolved(expectation.value, heard.bound)))


def _same(expectation: Expectation, heard: Heard) -> Judged:
    try:
        seen = _at(expectation, heard)
        other = member(heard.answers[expectation.other].body, expectation.pointer, heard.bound)
    except (LookupError, ValueError):
        return Judged(False, _answer(expectation, heard).body)
    return Judged(same(other, seen), seen)


def _one_commits(expectation: Expectation, heard: Heard) -> Judged:
    won = [number for number in expectation.calls if not heard.answers[number].outcome]
    return Judged(len(won) == 1, f"{len(won)} of {len(expectation.calls)} committed")


JUDGES: Mapping[Kind, Callable[[Expectation, Heard], Judged]] = MappingProxyType(
    {
        Kind.ACCEPTED: _accepted,
        Kind.REFUSED: _refused,
        Kind.FORM: _form,
        Kind.MEMBER: _looking(_is_value),
        Kind.ABSENT: _absent,
        Kind.FRESH: _looking(_is_fresh),
        Kind.AT_MOST: _looking(_is_at_most),
        Kind.HOLDS: _looking(_holds),
        Kind.LACKS: _looking(_lacks),
        Kind.SEALED: _looking(_is_sealed),
        Kind.ITEMS: _looking(_has_items),
        Kind.SAME: _same,
        Kind.ONE_COMMITS: _one_commits,
    }
)
