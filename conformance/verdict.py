"""Results and their algebra (architecture.md, What a check is).

A check has a verdict, a rule has the worst of its checks', a run the worst of its rules'. Everything here is a frozen value that
goes to JSON and comes back equal; every report is a function of a ``RunResult``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from conformance.counterexample import Counterexample
from conformance.exchange import Exercise

FORMAT = 1
"""The number of the result format; a reader refuses another one."""


class Verdict(StrEnum):
    """How a check, a rule or a run ended."""

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    DESELECTED = "DESELECTED"
    SUITE_ERROR = "SUITE_ERROR"


# From harmless to worst: one check that ran makes a rule more than not applicable, one that could not be exercised spoils it.
_ORDER = (
    Verdict.DESELECTED,
    Verdict.NOT_APPLICABLE,
    Verdict.PASS,
    Verdict.INCONCLUSIVE,
    Verdict.FAIL,
    Verdict.SUITE_ERROR,
)
_RANK = MappingProxyType({verdict: rank for rank, verdict in enumerate(_ORDER)})

# 0 conforms, 1 does not, 2 inconclusive or nothing applicable, 3 usage or suite error.
EXIT_CODES: Mapping[Verdict, int] = MappingProxyType(
    {
        Verdict.PASS: 0,
        Verdict.FAIL: 1,
        Verdict.INCONCLUSIVE: 2,
        Verdict.NOT_APPLICABLE: 2,
        Verdict.DESELECTED: 2,
        Verdict.SUITE_ERROR: 3,
    }
)

WRONG_USAGE = 3


def worst(verdicts: Iterable[Verdict], *, none: Verdict) -> Verdict:
    """Return the worst of the verdicts, ``none`` where there is not one."""
    return max(verdicts, key=_RANK.__getitem__, default=none)


@dataclass(frozen=True, slots=True)
class Failure:
    """What broke: ``what`` in one sentence; ``expected`` and ``seen`` are JSON values, ``pointer`` a JSON pointer into them.

    ``transport`` says that no well-formed answer came at all: the provider is to blame, but no rule was seen broken. None stands
    for a value that the check does not say, unless ``null_expected`` or ``null_seen`` says that null is meant.
    """

    what: str
    expected: Any = None
    seen: Any = None
    pointer: str = ""
    transport: bool = False
    null_expected: bool = False
    null_seen: bool = False

    def said(self) -> Iterator[tuple[str, Any]]:
        """Give what was expected and what was seen by these words, each where the check says it."""
        if not self.transport:
            for word, value, null in (("expected", self.expected, self.null_expected), ("seen", self.seen, self.null_seen)):
                if null or value is not None:
                    yield word, value


@dataclass(frozen=True, slots=True)
class Step:
    """One exchange of a trace, without credentials: ``answer`` is the success members, or ``{"error": …}``, or None for none."""

    caller: str
    op: str
    payload: Any
    answer: Any


@dataclass(frozen=True, slots=True)
class Pair:
    """How often an operation was answered with an error code; the code "" stands for success."""

    op: str
    code: str
    count: int


@dataclass(frozen=True, slots=True)
class Waiver:
    """That somebody accepts, until ``expires`` (a date, YYYY-MM-DD), that a check does not pass.

    ``flaky``: only a failure that did not show again is accepted.
    """

    check_id: str
    reason: str
    link: str
    expires: str
    flaky: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check's end.

    ``reason`` is one sentence where the verdict is not PASS; the ``trace`` is kept then too, a ``traceback`` where the suite
    itself is to blame. ``examples`` counts those that a property tried, up to the one that it failed with. ``sent`` is a digest
    of all requests in order: equal where two runs sent the same. ``counterexample`` is the shortest list of calls that shows the
    failure, where one was made. ``flaky``: it failed, and not again. A ``waiver`` leaves the verdict as it is.
    """

    check_id: str
    rule_id: str
    verdict: Verdict
    reason: str = ""
    sentence: str = ""
    node_id: str = ""
    assertions: int = 0
    calls: int = 0
    examples: int = 0
    seconds: float = 0.0
    failure: Failure | None = None
    traceback: str = ""
    trace: tuple[Step, ...] = ()
    seen: tuple[Pair, ...] = ()
    exercised: tuple[Exercise, ...] = ()
    sent: str = ""
    counterexample: Counterexample | None = None
    flaky: bool = False
    waiver: Waiver | None = None

    @property
    def counted(self) -> Verdict:
        """The verdict as far as the exit code goes: that of a waived check is as good as PASS."""
        return Verdict.PASS if self.waiver is not None else self.verdict

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> CheckResult:
        """Build the result from what ``dataclasses.asdict`` made of one."""
        given = dict(value)
        given["verdict"] = Verdict(given["verdict"])
        given["failure"] = None if given.get("failure") is None else Failure(**given["failure"])
        given["waiver"] = None if given.get("waiver") is None else Waiver(**given["waiver"])
        given["trace"] = tuple(Step(**step) for step in given.get("trace", ()))
        given["seen"] = tuple(Pair(**pair) for pair in given.get("seen", ()))
        given["exercised"] = tuple(Exercise(**one) for one in given.get("exercised", ()))
        found = given.get("counterexample")
        given["counterexample"] = None if found is None else Counterexample.of_json(found)
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            **asdict(self),
            "verdict": str(self.verdict),
            "trace": [asdict(step) for step in self.trace],
            "seen": [asdict(pair) for pair in self.seen],
            "exercised": [one._asdict() for one in self.exercised],
            "counterexample": None if self.counterexample is None else self.counterexample.to_json(),
        }


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule's end. ``absent`` says why there is no check of it, ``absence`` is its verdict then."""

    rule_id: str
    title: str
    statement: str = ""
    checks: tuple[CheckResult, ...] = ()
    absent: str = ""
    absence: Verdict = Verdict.INCONCLUSIVE

    @property
    def verdict(self) -> Verdict:
        """The worst of the checks' verdicts; never PASS without an executed assertion."""
        verdict = worst((check.verdict for check in self.checks), none=self.absence)
        return Verdict.INCONCLUSIVE if verdict is Verdict.PASS and self.assertions == 0 else verdict

    @property
    def counted(self) -> Verdict:
        """The verdict as far as the exit code goes: waived checks are as good as passed."""
        counted = worst((check.counted for check in self.checks), none=self.absence)
        return Verdict.INCONCLUSIVE if counted is Verdict.PASS and self.assertions == 0 and self.waived == 0 else counted

    @property
    def waived(self) -> int:
        """How many checks did not pass and are waived."""
        return sum(check.waiver is not None for check in self.checks)

    @property
    def assertions(self) -> int:
        """How many assertions its checks executed."""
        return sum(check.assertions for check in self.checks)

    @property
    def calls(self) -> int:
        """How many memory calls its checks sent."""
        return sum(check.calls for check in self.checks)

    @property
    def seconds(self) -> float:
        """How long its checks took, added up."""
        return sum(check.seconds for check in self.checks)

    @property
    def passed(self) -> int:
        """How many checks passed."""
        return sum(check.verdict is Verdict.PASS for check in self.checks)

    @property
    def reason(self) -> str:
        """Why the verdict is not PASS: the reason of the first check that has the rule's verdict."""
        return next((check.reason for check in self.checks if check.verdict is self.verdict), self.absent)

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> RuleResult:
        """Build the result from ``to_json``'s object."""
        checks = tuple(CheckResult.of_json(check) for check in value["checks"])
        plain = {name: value[name] for name in ("rule_id", "title", "statement", "absent")}
        return cls(**plain, checks=checks, absence=Verdict(value["absence"]))

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object; its ``verdict`` is told for readers and computed anew by ``of_json``."""
        return {
            "rule_id": self.rule_id,
            "title": self.title,
            "statement": self.statement,
            "verdict": str(self.verdict),
            "absent": self.absent,
            "absence": str(self.absence),
            "checks": [check.to_json() for check in self.checks],
        }


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What was run, on what, by what, and when (``started``: a time of day in UTC).

    ``kill_matrix`` is the digest of the proof that the rule modules bite, ``shard`` says which part of the run this is, as
    ``2/3``, and ``weights`` by which its checks were dealt out; all may be "".
    """

    suite: str
    bundle: str
    target: str
    provider: str
    instance: str
    flags: tuple[str, ...]
    profile: str
    seed: int
    python: str
    kill_matrix: str = ""
    shard: str = ""
    weights: str = ""
    started: str = ""


@dataclass(frozen=True, slots=True)
class RunResult:
    """A whole run. ``trouble`` are sentences about the run itself (a crashed worker, say): any makes it SUITE_ERROR.

    ``complaints`` are sentences about the waivers: they are wrong usage, whatever the target does. ``complete`` False: the run
    did not reach its end. ``coverage`` says what of the contract it exercised, as ``conformance.contract_coverage`` puts it into
    JSON.
    """

    facts: RunFacts
    rules: tuple[RuleResult, ...]
    seconds: float = 0.0
    trouble: tuple[str, ...] = ()
    coverage: Mapping[str, Any] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()
    complete: bool = True

    @property
    def verdict(self) -> Verdict:
        """The worst of the rules' verdicts."""
        if self.trouble or not self.complete:
            return Verdict.SUITE_ERROR
        return worst((rule.verdict for rule in self.rules), none=Verdict.INCONCLUSIVE)

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """All checks, in the order of the rules."""
        return tuple(check for rule in self.rules for check in rule.checks)

    @property
    def counted(self) -> Verdict:
        """The verdict as far as the exit code goes: waived checks are as good as passed."""
        if self.trouble or not self.complete:
            return Verdict.SUITE_ERROR
        return worst((rule.counted for rule in self.rules), none=Verdict.INCONCLUSIVE)

    def exit_code(self) -> int:
        """Return what the command ends with."""
        return WRONG_USAGE if self.complaints else EXIT_CODES[self.counted]

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> RunResult:
        """Build the result from ``to_json``'s object. Raises ``ValueError`` for another format."""
        if value.get("format") != FORMAT:
            raise ValueError(f"a result of format {value.get('format')!r}; this suite reads {FORMAT}")
        facts = RunFacts(**{**value["facts"], "flags": tuple(value["facts"]["flags"])})
        rules = tuple(RuleResult.of_json(rule) for rule in value["rules"])
        return cls(
            facts,
            rules,
            value["seconds"],
            tuple(value["trouble"]),
            value["coverage"],
            tuple(value["complaints"]),
            value["complete"],
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            "format": FORMAT,
            "verdict": str(self.verdict),
            "exit_code": self.exit_code(),
            "complete": self.complete,
            "facts": {**asdict(self.facts), "flags": list(self.facts.flags)},
            "seconds": self.seconds,
            "trouble": list(self.trouble),
            "complaints": list(self.complaints),
            "coverage": dict(self.coverage),
            "rules": [rule.to_json() for rule in self.rules],
        }
