"""What the formats say alike: sentences of verdicts, values in short, calls and answers in a line."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from conformance.counterexample import SUFFIX, Expectation, Kind
from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict

NAME = "memory-conformance"
SENTENCES: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.PASS: "the target conforms",
        Verdict.FAIL: "the target does not conform",
        Verdict.SUITE_ERROR: "the run itself broke: it says nothing about the target",
        Verdict.INCONCLUSIVE: "not every rule could be exercised",
        Verdict.NOT_APPLICABLE: "nothing is applicable to this target",
        Verdict.DESELECTED: "no rule was run",
    }
)
UNFINISHED = "the run did not reach its end: it says nothing about the target"
ACCEPTED = "all that is wrong is waived"
WRONG_WAIVERS = "the waivers are wrong"
WHOLE = ("", "/")
_PLAIN = ("space_id", "idempotency_key", "extensions")
_BEYOND_ASCII = re.compile("[^\x20-\x7e]")
# What XML 1.0 and HTML have no place for.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Return the text with what no document may hold (lone surrogates, control characters) replaced."""
    return _FORBIDDEN.sub("\ufffd", text)


def sentence(result: RunResult) -> str:
    """Say what the run's verdict means, and where the waivers change what comes of it."""
    said = SENTENCES[result.verdict] if result.complete else UNFINISHED
    if result.complaints:
        return f"{said}; {WRONG_WAIVERS}"
    return f"{said}; {ACCEPTED}" if result.counted is not result.verdict and result.exit_code() == 0 else said


def as_json(value: Any) -> str:
    """Return a value as JSON text in which values that differ look different: what no reader would see is escaped."""
    return _BEYOND_ASCII.sub(_told_apart, json.dumps(value, ensure_ascii=False))


def _told_apart(found: re.Match[str]) -> str:
    """Escape controls, surrogates, odd spaces, what has no glyph, and accents that stand apart from their letter."""
    character = found[0]
    unseen = unicodedata.category(character)[0] in "CZ" or unicodedata.combining(character)
    return json.dumps(character)[1:-1] if unseen else character


def short(value: Any, limit: int) -> str:
    """Return a JSON value as text of about ``limit`` characters."""
    text = as_json(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def given(payload: Any) -> Any:
    """Return a payload without what nearly every call has the same."""
    if not isinstance(payload, Mapping):
        return payload
    return {name: value for name, value in payload.items() if name not in _PLAIN}


def answered(answer: Any, limit: int) -> str:
    """Say an answer in a line: what was affected, the error, or the answer itself in short."""
    match answer:
        case None:
            return "no answer"
        case {"error": error}:
            return f"error {short(error, limit)}"
        case {"receipt": {"state": str() as state, "affected": list() as affected}}:
            return f"{state} {', '.join(_affected(entry, limit) for entry in affected)}"
        case _:
            return short(answer, limit)


def _affected(entry: Any, limit: int) -> str:
    match entry:
        case {"type": kind, "id": id_, "revision": revision}:
            return f"{kind} {id_} at {revision}"
        case {"type": kind, "id": id_}:
            return f"{kind} {id_}"
        case _:
            return short(entry, limit)


def again(what: RuleResult | CheckResult, result: RunResult) -> str:
    """Return the command that runs a rule or a check again."""
    facts = result.facts
    if isinstance(what, RuleResult):
        chosen = f"--rules {what.rule_id.removeprefix('MEM-')}"
    else:
        chosen = f"--check {shlex.quote(what.check_id)}"
    return f"{NAME} run {shlex.quote(facts.target)} {chosen} --profile {facts.profile} --seed {facts.seed}"


def replay(check: CheckResult, result: RunResult) -> str:
    """Return the command that replays the check's counterexample, which has been saved under its usual name."""
    return f"{NAME} replay {shlex.quote(file_name(check))} --target {shlex.quote(result.facts.target)}"


def file_name(check: CheckResult) -> str:
    """Return the name of the check's counterexample as a file."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", check.check_id) + SUFFIX


def bad_checks(result: RunResult) -> Iterator[tuple[RuleResult, CheckResult]]:
    """Walk the checks that stand against the target or the suite, waived ones last, each with its rule."""
    found = [(rule, check) for rule in result.rules for check in rule.checks if check.verdict in BAD]
    yield from (pair for pair in found if pair[1].waiver is None)
    yield from (pair for pair in found if pair[1].waiver is not None)


BAD = (Verdict.FAIL, Verdict.SUITE_ERROR)


def expected(expectation: Expectation) -> str:
    """Say what must be so, in words."""
    return _EXPECTED[expectation.kind].format(
        call=expectation.call + 1,
        codes=" or ".join(expectation.codes),
        pointer=expectation.pointer or "the whole answer",
        value=short(expectation.value, 200),
        other=expectation.other + 1,
        calls=", ".join(str(number + 1) for number in expectation.calls),
    )


_EXPECTED: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.ACCEPTED: "call {call} succeeds",
        Kind.REFUSED: "call {call} is refused with {codes}",
        Kind.FORM: "the answer to call {call} is of the contract's form",
        Kind.MEMBER: "in the answer to call {call}, {pointer} is {value}",
        Kind.ABSENT: "the answer to call {call} has no {pointer}",
        Kind.FRESH: "in the answer to call {call}, {pointer} stands in no earlier answer",
        Kind.AT_MOST: "in the answer to call {call}, {pointer} is at most {value}, or a list no longer than that",
        Kind.HOLDS: "in the answer to call {call}, {pointer} is a list with {value} in it",
        Kind.LACKS: "in the answer to call {call}, {pointer} is a list without {value}",
        Kind.SEALED: "in the answer to call {call}, {pointer} is the digest of the rest of what is around it",
        Kind.ITEMS: "in the answer to call {call}, {pointer} holds exactly {value}, in any order",
        Kind.SAME: "in the answer to call {call}, {pointer} is what it is in the answer to call {other}",
        Kind.ONE_COMMITS: "exactly one of the calls {calls} succeeds",
        Kind.CHECK: "the check, run again as a whole, passes (no answers to calls alone tell it)",
    }
)
