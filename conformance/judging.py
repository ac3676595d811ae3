"""From the exception that ended a check to its verdict: who is to blame is in the type.

Hypothesis wraps: several failures come as an ``ExceptionGroup``, and a failure that a second run did not show again comes as a
flaky one. Both are looked through.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis.errors import Flaky

from conformance.errors import CannotTravel, NotInContract, TargetFault, blame
from conformance.expect import CheckFailed, Inconclusive, NotApplicable
from conformance.redaction import LEVELS_SHOWN
from conformance.verdict import Failure, Verdict
from conformance.wire.json_text import pruned

FLAKY = "flaky: it failed, and did not fail the same way when it was run again: "


class LeftOut(Inconclusive):
    """The check was not run, because of what other checks had shown; ``verdict`` is what that makes of it."""

    def __init__(self, reason: str, verdict: Verdict) -> None:
        super().__init__(reason)
        self.verdict = verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a check ended; ``reason`` is one sentence, ``failure`` says what broke where the provider is to blame."""

    verdict: Verdict
    reason: str = ""
    failure: Failure | None = None


def judge(error: BaseException) -> Judgement:
    """Return what the exception that ended a check means. An exception of no known kind is the suite's own fault."""
    prefix = FLAKY if isinstance(error, Flaky) else ""
    for found in _inside(error):
        match found:
            case CheckFailed():
                failure = Failure(
                    found.what,
                    _plain(found.expected),
                    _plain(found.seen),
                    found.pointer,
                    null_expected=found.null_expected,
                    null_seen=found.null_seen,
                )
                return Judgement(Verdict.FAIL, prefix + found.what, failure)
            case TargetFault():
                return Judgement(Verdict.FAIL, prefix + str(found), Failure(str(found), transport=True))
            case LeftOut():
                return Judgement(found.verdict, str(found))
            case Inconclusive():
                return Judgement(Verdict.INCONCLUSIVE, str(found))
            case CannotTravel() | NotInContract() | NotApplicable():
                return Judgement(Verdict.NOT_APPLICABLE, str(found))
    return Judgement(Verdict.SUITE_ERROR, f"the suite's own code failed: {blame(error)}")


def _inside(error: BaseException) -> Iterator[BaseException]:
    """Walk the leaves of exception groups; an exception of ours that has no group is its own leaf."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _inside(inner)
    else:
        yield error


def _plain(value: Any) -> Any:
    """Return ``value`` as JSON would carry it; what JSON cannot carry becomes its ``repr``."""
    return json.loads(json.dumps(pruned(value, LEVELS_SHOWN), default=repr))
