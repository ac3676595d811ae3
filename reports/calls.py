"""The calls that show a failure, from the counterexample or else from the trace, and the member that offends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.counterexample import Counterexample
from conformance.verdict import CheckResult, Step


@dataclass(frozen=True, slots=True)
class Call:
    """One call with its answer (None: none came). ``offends``: the failure was seen in this answer, ``pointer`` says where.

    Neighbours with the same ``together`` above 0 were sent at the same time.
    """

    caller: str
    op: str
    payload: Any
    answer: Any
    offends: bool = False
    pointer: str = ""
    together: int = 0


def calls(check: CheckResult) -> list[Call]:
    """List the calls that show the check's failure, none where there is none."""
    if check.counterexample is not None and check.counterexample.calls:
        return list(_reduced(check.counterexample, check))
    return [_traced(step, check, last=number == len(check.trace)) for number, step in enumerate(check.trace, 1)]


def _reduced(found: Counterexample, check: CheckResult) -> Iterator[Call]:
    due = found.expectation
    for number, said in enumerate(found.calls):
        offends = number == due.call or number in due.calls
        pointer = (due.pointer or _place(said.answer, check)) if offends else ""
        yield Call(said.caller, said.op, said.payload, said.answer, offends, pointer, said.together)


def _traced(step: Step, check: CheckResult, *, last: bool) -> Call:
    offends = last and check.failure is not None
    return Call(step.caller, step.op, step.payload, step.answer, offends, _place(step.answer, check) if offends else "")


def _place(answer: Any, check: CheckResult) -> str:
    """Return where in the answer the failure was seen: where what was seen stands, and from there the failure's own pointer."""
    failure = check.failure
    if failure is None:
        return ""
    start = next(_found(answer, failure.seen, ""), None)
    inner = "" if failure.pointer == "/" else failure.pointer
    return inner if start is None else start + inner


def _found(value: Any, wanted: Any, pointer: str) -> Iterator[str]:
    if wanted not in (None, "", 0, True, False) and type(value) is type(wanted) and value == wanted:
        yield pointer
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _found(inner, wanted, f"{pointer}/{escaped(str(name))}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _found(inner, wanted, f"{pointer}/{index}")


def escaped(name: str) -> str:
    """Return a member's name as it stands in a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
