"""What of the contract a run exercised: operations x error codes x capabilities x rules, and what it did not reach.

A function of the result and the bundle. The internal error is no code to reach: an answer with it fails the check that got it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.exchange import Exercise
from conformance.verdict import RunResult
from conformance.wire.bundle import Bundle, Operation
from conformance.wire.vocabulary import Code

# In which dimensions a need that is about this can be lacking, besides the capability itself (protocol.md section 5).
_DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "space": ("space",),
    "subject": ("subject",),
    "issuer": ("subject", "context"),
}
_PLACED = ("subject", "context", "shared")


@dataclass(frozen=True, slots=True)
class ContractCoverage:
    """``answers``: operation -> answer (an error code, or "" for success) -> the rules whose checks got it -> how often.

    ``exercised`` are the capabilities tried; the ``missing_*`` members say what the contract has besides.
    """

    answers: Mapping[str, Mapping[str, Mapping[str, int]]]
    exercised: frozenset[Exercise]
    missing_operations: tuple[str, ...]
    missing_codes: tuple[str, ...]
    missing_exercises: tuple[Exercise, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return {
            "answers": {op: {code: dict(rules) for code, rules in by.items()} for op, by in self.answers.items()},
            "exercised": [one._asdict() for one in sorted(self.exercised)],
            "missing_operations": list(self.missing_operations),
            "missing_codes": list(self.missing_codes),
            "missing_exercises": [one._asdict() for one in self.missing_exercises],
        }


def contract_coverage(result: RunResult, bundle: Bundle) -> ContractCoverage:
    """Compute what a run reached of the contract that ``bundle`` is."""
    answers: dict[str, dict[str, dict[str, int]]] = {}
    for check in result.checks:
        for pair in check.seen:
            rules = answers.setdefault(pair.op, {}).setdefault(pair.code, {})
            rules[check.rule_id] = rules.get(check.rule_id, 0) + pair.count
    exercised = frozenset(one for check in result.checks for one in check.exercised)
    reached = {code for by in answers.values() for code in by}
    codes = [row.code for symbol, row in bundle.errors.items() if symbol is not Code.INTERNAL]
    return ContractCoverage(
        answers=answers,
        exercised=exercised,
        missing_operations=tuple(op for op in bundle.operations if "" not in answers.get(op, {})),
        missing_codes=tuple(code for code in codes if code not in reached),
        missing_exercises=tuple(one for one in exercises(bundle) if one not in exercised),
    )


def exercises(bundle: Bundle) -> Iterator[Exercise]:
    """Give every (operation, capability, dimension), held and lacking, that the table of operations has.

    Receipts and grants are left out where the caller's own need no capability: there ``admin`` is one way of two.
    """
    for operation in bundle.operations.values():
        # A move needs the same capability at both ends: it is tried once.
        for capability, on in {need.capability: need.on for need in operation.needs}.items():
            for dimension in ("capability", *dimensions(operation, on)):
                yield Exercise(operation.name, capability, dimension, held=True)
                yield Exercise(operation.name, capability, dimension, held=False)


def dimensions(operation: Operation, on: str) -> tuple[str, ...]:
    """Return in which dimensions a grant for the operation can be too narrow; a move has no shared placement at both ends."""
    placed = _PLACED if operation.stem != "records.promote" else ("subject", "context")
    return _DIMENSIONS.get(on, placed)
