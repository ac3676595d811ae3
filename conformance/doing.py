"""A check while it runs, and what becomes of it: from exceptions and tallies to its result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from conformance.bench import Bench
from conformance.check import Check
from conformance.counterexample import Counterexample
from conformance.examples import Examples
from conformance.judging import FLAKY, Judgement, judge
from conformance.listening import Listening
from conformance.redaction import steps
from conformance.secrets import Secrets
from conformance.verdict import CheckResult, Pair, Step, Verdict

NO_ASSERTION = Judgement(Verdict.INCONCLUSIVE, "the check executed no assertion")
LONGEST_TRACE = 200
"""So many of a trace's last exchanges are kept."""


@dataclass
class Doing:
    """What is known of a check: the first ``error`` that ended one of its phases, and whether it failed ``again`` when re-run.

    ``rerun`` says that a re-run was made; ``bench`` is that of the first run; ``seconds`` adds up the phases; ``waits`` says that
    other checks have their turn at a shared provider. ``secrets`` are those of the target.
    """

    check: Check
    node_id: str
    bench: Bench | None = None
    error: BaseException | None = None
    rerun: bool = False
    again: BaseException | None = None
    seconds: float = 0.0
    listening: Listening | None = None
    traceback: str = ""
    waits: bool = False
    secrets: Secrets = field(default_factory=Secrets)
    counterexample: Counterexample | None = None
    examples: Examples = field(default_factory=Examples)

    def judgement(self) -> Judgement:
        """Return the verdict as far as the check has run."""
        if self.error is None:
            return NO_ASSERTION if self.bench is None or self.bench.ran_nothing() else Judgement(Verdict.PASS)
        judged = judge(self.error)
        if self.rerun and (self.again is None or judge(self.again).reason != judged.reason):
            return replace(judged, reason=FLAKY + judged.reason)
        return judged

    def result(self) -> CheckResult:
        """Return the check's result."""
        judged = self.judgement()
        tally = None if self.bench is None else self.bench.client.tally
        result = CheckResult(
            check_id=self.check.check_id,
            rule_id=self.check.rule.rule_id,
            verdict=judged.verdict,
            reason=judged.reason,
            sentence=self.check.sentence,
            node_id=self.node_id,
            assertions=0 if tally is None else tally.assertions,
            calls=0 if tally is None else tally.calls,
            examples=self.examples.tried,
            seconds=round(self.seconds, 6),
            failure=judged.failure,
            traceback=self.traceback if judged.verdict is Verdict.SUITE_ERROR else "",
            trace=() if judged.verdict is Verdict.PASS else self._trace(),
            exercised=() if tally is None else tuple(sorted(tally.exercised)),
            seen=() if tally is None else tuple(Pair(op, code, count) for (op, code), count in sorted(tally.seen.items())),
            sent="" if self.listening is None else self.listening.digest,
            counterexample=self.counterexample,
            flaky=judged.reason.startswith(FLAKY),
        )
        return (self.secrets if self.listening is None else self.secrets.with_more(self.listening.credentials)).result(result)

    def _trace(self) -> tuple[Step, ...]:
        """Return the last exchanges of the latest world, and the call that ended it without an answer."""
        world = None if self.bench is None else self.bench.latest
        exchanges = [] if world is None else world.trace.exchanges[-LONGEST_TRACE:]
        return steps(exchanges, None if self.listening is None else self.listening.unanswered)
