"""A counterexample read from its file and sent again: is what it shows repaired on this target (conformance.counterexample)?

What was found is judged from the answers alone. One that no answers can show is judged by the check that found it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from conformance.catalogue import rules
from conformance.counterexample import Counterexample, Kind, Said
from conformance.errors import BadInput
from conformance.exchange import CONTROL_PREFIX
from conformance.expectations import judge
from conformance.rehearsal import Answered, Heard, Stage, Unready
from conformance.runner import Order, run
from conformance.symbols import Unbound, symbolic
from conformance.verdict import Verdict
from conformance.wire import json_text

RACES = 10
"""So often calls are repeated that do not show it each time, until one does."""


class BadCounterexample(BadInput):
    """A file is no counterexample. The sentence names the file and a JSON pointer."""


class Status(StrEnum):
    """What came of a replay."""

    FIXED = "FIXED"
    FAILED = "FAILED"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of it. ``answers`` are symbolic, one for each call that was sent; ``seen`` stands at the place that is judged."""

    status: Status
    reason: str = ""
    answers: tuple[Any, ...] = ()
    seen: Any = None


# -- the file


def read_counterexample(path: Path) -> Counterexample:
    """Read a ``*.mem.json``. Raises ``BadCounterexample``."""
    try:
        value = json_text.read(path.read_text("utf-8"))
    except OSError as error:
        raise BadCounterexample(f"{path}: the counterexample cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadCounterexample(f"{path}: it is no JSON: {' '.join(str(error).split())}.") from error
    for place, why in _problems(value):
        raise BadCounterexample(f"{path}: no counterexample, at {place or '/'}: {why}.")
    return Counterexample.of_json(value)


def _problems(value: Any) -> Iterator[tuple[str, str]]:
    """Give what is wrong with a file's value, each with its JSON pointer."""
    for error in _schema().iter_errors(value):
        message = error.message if len(error.message) < LONGEST else f"{error.message[:LONGEST]}…"
        yield "".join(f"/{part}" for part in error.absolute_path), message
        return
    if value["rule"] not in rules():
        yield "/rule", f"there is no rule {value['rule']}"
    yield from _dangling(value)


LONGEST = 160


def _dangling(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the numbers and names of the file that lead nowhere."""
    if value["expectation"]["kind"] != Kind.CHECK:
        yield from _lost_numbers(value["expectation"], len(value["calls"]))
    callers = {party["name"] for party in value["callers"]}
    for number, party in enumerate(value["callers"]):
        if party.get("space", "") not in {"", *value.get("spaces", ())}:
            yield f"/callers/{number}/space", f"there is no space {party['space']}"
    for number, said in enumerate(value["calls"]):
        if not said["op"].startswith(CONTROL_PREFIX) and said.get("caller", "") not in callers:
            yield f"/calls/{number}/caller", f"there is no caller {said.get('caller', '')!r}"


def _lost_numbers(expectation: Mapping[str, Any], calls: int) -> Iterator[tuple[str, str]]:
    for name in ("call", "other"):
        if expectation.get(name, 0) >= calls:
            yield f"/expectation/{name}", f"there are only {calls} calls"
    if any(number >= calls for number in expectation.get("calls", ())):
        yield "/expectation/calls", f"there are only {calls} calls"


@cache
def _schema() -> Draft202012Validator:
    text = resources.files("reports").joinpath("schema", "counterexample.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


# -- sending it again


def replayed(example: Counterexample, stage: Stage) -> Replayed:
    """Send the calls, and judge: ``ERROR`` where the target does not get as far as what is judged.

    What comes from a race is sent again, until it shows.
    """
    if lacking := stage.lacks(example):
        return Replayed(Status.ERROR, f"the target does not offer {', '.join(lacking)}")
    times = RACES if example.flaky or any(said.together for said in example.calls) else 1
    found = _once(example, stage)
    for _ in range(times - 1):
        if found.status is not Status.FIXED:
            break
        found = _once(example, stage)
    return found


def _once(example: Counterexample, stage: Stage) -> Replayed:
    try:
        heard = stage.perform(example)
    except Unready as why:
        return Replayed(Status.ERROR, str(why))
    except Unbound as symbol:
        return Replayed(Status.ERROR, f"nothing on this target is {symbol}")
    answers = _symbolic(heard)
    if strayed := next(_strayed(example, heard), None):
        return Replayed(Status.ERROR, strayed, answers)
    try:
        judged = judge(example, heard)
    except Unready as why:
        return Replayed(Status.ERROR, str(why), answers)
    return Replayed(Status.FIXED if judged.met else Status.FAILED, "", answers, symbolic(judged.seen, _names(heard)))


def _strayed(example: Counterexample, heard: Heard) -> Iterator[str]:
    """Say which call before what is judged went another way than it did when this was found."""
    expectation = example.expectation
    for number, (said, answer) in enumerate(zip(example.calls, heard.answers, strict=True)):
        judged = number == expectation.call or number in expectation.calls
        if judged or said.together or answer.call.is_control:
            continue
        if answer.broken:
            yield f"call {number + 1} got no answer of the contract's form: {answer.broken}"
        elif bool(answer.outcome) not in _ways(said):
            yield f"call {number + 1} {_went(answer)}, otherwise than when this was found"


def _ways(said: Said) -> set[bool]:
    """Return whether a call was refused when this was found, on the target and on a right provider."""
    match said.answer:
        case None:
            return {True, False}
        case {"error": _} | {"receipt": {"error": _}}:
            found = True
        case _:
            found = False
    return {found} if said.also is None else {found, bool(said.also)}


def _went(answer: Answered) -> str:
    return f"was refused with {answer.outcome}" if answer.outcome else "succeeded"


def _symbolic(heard: Heard) -> tuple[Any, ...]:
    names = _names(heard)
    return tuple(symbolic(answer.body, names) for answer in heard.answers)


def _names(heard: Heard) -> dict[str, str]:
    return {value: symbol for symbol, value in heard.bound.items() if isinstance(value, str)}


# -- what only its check can tell


def checked(example: Counterexample, order: Order) -> Replayed:
    """Run the check that found it, with its profile and seed. Raises ``BadInput``."""
    result = run(order, [rules()[example.rule]])
    found = next((check for check in result.checks if check.check_id == example.check), None)
    if found is None:
        return Replayed(Status.ERROR, f"this suite has no check {example.check}")
    match found.verdict:
        case Verdict.PASS:
            return Replayed(Status.FIXED)
        case Verdict.FAIL:
            return Replayed(Status.FAILED, found.reason)
        case _:
            return Replayed(Status.ERROR, f"{example.check} ended {found.verdict}: {found.reason}")
