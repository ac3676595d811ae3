"""Results for the tests of reports: one with every verdict in it, and one as big as wanted; and how the terminal shows one."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console

from conformance.catalogue import rules
from conformance.counterexample import Counterexample, Expectation, Kind, Party, Said
from conformance.verdict import CheckResult, Failure, Pair, RuleResult, RunFacts, RunResult, Step, Verdict, Waiver
from reports.terminal import Loudness, summary

FACTS = RunFacts(
    "0.1.0", "d" * 64, "python:a.b:c", "shop 2", "i1", ("spoke-memory",), "quick", 7, "3.11.7", started="2026-12-02T04:00:00Z"
)
RECEIPT = {
    "receipt": {"state": "committed", "affected": [{"type": "record", "id": "r1", "revision": 2}, {"type": "space", "id": "s"}]}
}
STEPS = (
    Step("root", "memory.records.create", {"space_id": "s", "idempotency_key": "k", "kind": "note"}, RECEIPT),
    Step("ada", "memory.records.get", {"record_id": "r1"}, {"error": {"code": "NOT_FOUND", "message": "none"}}),
    Step("ada", "memory.recall", ["odd\x00 \ud800"], {"records": []}),
)
COUNTEREXAMPLE = Counterexample(
    rule="MEM-R001",
    what="it is <broken>",
    callers=(Party("root", "$root", "$space", "$root"), Party("ada", "$ada", "", "$ada")),
    spaces=("$space",),
    flags=("spoke-memory",),
    calls=(
        Said(
            "root",
            "memory.records.create",
            {"space_id": "$space", "kind": "note"},
            RECEIPT,
            {"$record1": "/receipt/affected/0/id"},
        ),
        Said("ada", "memory.records.get", {"space_id": "$space", "record_id": "$record1"}, {"record": {"a": [1, "</script>"]}}),
    ),
    expectation=Expectation(Kind.REFUSED, 1, codes=("NOT_FOUND", "NOT_AUTHORIZED")),
    check="MEM-R001.bad[x]",
    runs=3,
    failed=3,
    oracle="oracle 0.1.0",
)
FAILED = CheckResult(
    "MEM-R001.bad[\ud800\x01]",
    "MEM-R001",
    Verdict.FAIL,
    "it is <broken> & [bold]bad[/bold]",
    "It holds.",
    "n/bad",
    assertions=3,
    calls=9,
    seconds=0.25,
    failure=Failure("it is <broken>", {"a": 1}, "\ud800", "/a"),
    trace=STEPS * 3,
    seen=(Pair("memory.recall", "", 9),),
)
TRAVELS = CheckResult(
    "MEM-R001.travels",
    "MEM-R001",
    Verdict.FAIL,
    "it is <broken>",
    "It travels.",
    "n/travels",
    assertions=1,
    calls=2,
    seconds=0.1,
    failure=Failure("it is <broken>", {"a": 1}, {"a": [1, "</script>"]}, "/a"),
    counterexample=COUNTEREXAMPLE,
)
WAIVER = Waiver("MEM-R005.waived", "known <since> May", "https://shop.invalid/17", "2027-01-31")


def check(verdict: Verdict, number: int = 1, rule: str = "MEM-R002") -> CheckResult:
    return CheckResult(
        f"{rule}.c{number}",
        rule,
        verdict,
        "so",
        node_id=f"{rule}/c{number}/{verdict}",
        assertions=1,
        traceback="Traceback\nKeyError: 'x'",
    )


WAIVED = CheckResult(
    WAIVER.check_id, "MEM-R005", Verdict.FAIL, "still broken", node_id="n/waived", assertions=1, flaky=True, waiver=WAIVER
)

MIXED = RunResult(
    FACTS,
    (
        RuleResult(
            "MEM-R001",
            "Durable envelope",
            "Every object has its envelope.",
            (FAILED, check(Verdict.PASS, rule="MEM-R001"), TRAVELS),
        ),
        RuleResult("MEM-R002", "Capability gate", "Flags.", tuple(check(verdict, n) for n, verdict in enumerate(Verdict))),
        RuleResult("MEM-R003", "Admission", "Who.", absent="there is no module of this rule yet"),
        RuleResult("MEM-R004", "Dispatch validation", "What.", absent="not chosen", absence=Verdict.DESELECTED),
        RuleResult("MEM-R005", "Single authority", "One.", (check(Verdict.PASS, rule="MEM-R005"), WAIVED)),
    ),
    seconds=12.5,
    trouble=("a worker process died",),
    complaints=("waivers.toml: MEM-R005.c1 passes: its waiver is no longer needed",),
    coverage={
        "answers": {"memory.recall": {"": {"MEM-R001": 9}, "NOT_FOUND": {"MEM-R001": 1}}},
        "exercised": [{"op": "memory.recall", "capability": "recall", "dimension": "capability", "held": True}],
        "missing_operations": ["memory.describe"],
        "missing_codes": ["SPACE_FROZEN"],
        "missing_exercises": [],
    },
)
GOOD = RunResult(FACTS, (RuleResult("MEM-R005", "Single authority", "One.", (check(Verdict.PASS, rule="MEM-R005"),)),))
WAIVED_ALONE = replace(MIXED, rules=MIXED.rules[4:], trouble=(), complaints=())
UNREDUCED = replace(MIXED, rules=(replace(MIXED.rules[0], checks=(FAILED,)), *MIXED.rules[1:]))


def big(checks: int, *, failing: int) -> RunResult:
    """Make a run of so many checks, of which so many fail, over the 27 rules."""
    shared = [list[CheckResult]() for _ in rules()]
    for number in range(checks):
        shared[number % len(shared)].append(_sized(list(rules())[number % len(shared)], number, failing=number < failing))
    made = zip(rules().values(), shared, strict=True)
    return RunResult(FACTS, tuple(RuleResult(r.rule_id, r.title, r.statement, tuple(own)) for r, own in made), seconds=300.0)


def _sized(rule_id: str, number: int, *, failing: bool) -> CheckResult:
    sentence = f"A caller who holds nothing is told nothing, in the case {number} of all cases that there are."
    return CheckResult(
        f"{rule_id}.a_check_with_a_name_of_the_usual_length_{number}",
        rule_id,
        Verdict.FAIL if failing else Verdict.PASS,
        "the answer breaks the rule" if failing else "",
        sentence,
        f"invariants/test_{rule_id}.py::test_{number}",
        assertions=12,
        calls=90,
        seconds=0.5,
        seen=tuple(_pairs()),
        sent="e" * 64,
        failure=Failure("the answer breaks the rule", {"a": 1}, {"a": 2}, "/a") if failing else None,
        trace=STEPS[:2] * 10 if failing else (),
    )


def _pairs() -> Iterator[Pair]:
    return (Pair(f"memory.records.{name}", "", 10) for name in ("create", "get", "list"))


def printed(result: RunResult, loudness: Loudness = Loudness.NORMAL, width: int = 80) -> str:
    """Return a result as the terminal shows it."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False)
    for part in summary(result, loudness):
        console.print(part)
    return stream.getvalue()
