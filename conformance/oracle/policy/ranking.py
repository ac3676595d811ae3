"""Recall order and budget (protocol.md section 7, Recall): which records come first, and how many fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from conformance.wire import canonical

Doc = Mapping[str, Any]


class Budget(NamedTuple):
    """At most so many records and so many content bytes in all; None is no bound."""

    records: int | None
    bytes: int | None


class Cut(NamedTuple):
    """What was taken, the exact sum of its content bytes, and whether anything eligible was left out."""

    records: list[Doc]
    used: int
    truncated: bool


def by_shared_words(record: Doc, query: str | None) -> int:
    """Rank a record by how many words of the query its text holds; the smallest number is the best rank."""
    if not query:
        return 0
    words = set(record["content"]["text"].casefold().split())
    return -len(words & set(query.casefold().split()))


def ordered(records: Sequence[Doc], query: str | None, rank: Callable[[Doc, str | None], Any]) -> list[Doc]:
    """Order eligible records, best first; equal ranks keep the order they came in, so the same state gives the same answer."""
    return sorted(records, key=lambda record: rank(record, query))


def size(record: Doc) -> int:
    """Count what a record spends of a byte budget: its content bytes (section 3)."""
    return canonical.content_bytes(record["content"])


def fits(spent: int, cost: int, budget: int | None) -> bool:
    """Say whether a record of ``cost`` bytes still fits into the byte budget."""
    return budget is None or spent + cost <= budget


def cut(records: Sequence[Doc], budget: Budget, *, skips: bool) -> Cut:
    """Take records in order within both budgets; ``skips`` passes over what does not fit instead of ending there."""
    taken: list[Doc] = []
    used = 0
    for record in records:
        if budget.records is not None and len(taken) >= budget.records:
            break
        cost = size(record)
        if fits(used, cost, budget.bytes):
            taken.append(record)
            used += cost
        elif not skips:
            break
    return Cut(taken, used, is_truncated(taken, records))


def is_truncated(taken: Sequence[Doc], eligible: Sequence[Doc]) -> bool:
    """Say whether an eligible record was left out."""
    return len(taken) < len(eligible)
