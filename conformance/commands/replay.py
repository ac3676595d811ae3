"""``memory-conformance replay``: send a counterexample again, to any target, and say whether what it shows is repaired."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from rich.text import Text

from conformance.commands.ending import ended_by_signal
from conformance.commands.here import find_modules_here
from conformance.counterexample import Counterexample, Kind
from conformance.errors import BadUsage, NotOffered
from conformance.profiles import DEFAULT_PROFILE, PROFILES
from conformance.rehearsal import Stage
from conformance.replay import Replayed, Status, checked, read_counterexample, replayed
from conformance.runner import Order
from conformance.target import Target, open_target
from conformance.wire.bundle import Bundle, load
from reports.shell import curl_lines, json_lines
from reports.words import answered, clean, expected, given, short

EXITS: Mapping[Status, int] = MappingProxyType({Status.FIXED: 0, Status.FAILED: 1, Status.ERROR: 3})
_STYLES: Mapping[Status, str] = MappingProxyType({Status.FIXED: "green", Status.FAILED: "bold red", Status.ERROR: "bold yellow"})
SHORT, WHOLE = 300, 1_000_000


def main(options: Namespace) -> int:
    """Replay each file and return the worst exit code. Raises ``BadInput`` for what a person got wrong."""
    examples = [read_counterexample(Path(file)) for file in options.files]
    if options.lines is not None:
        return _printed(examples, options.lines)
    find_modules_here()
    console = Console(highlight=False)
    bundle = load(options.schemas)
    target = open_target(options.target, bundle=bundle)
    worst = 0
    with ended_by_signal(), target.started():
        try:
            for file, example in zip(options.files, examples, strict=True):
                found = _replayed(example, target, bundle, options)
                for line in _told(file, example, found, options):
                    console.print(line, soft_wrap=True)
                worst = max(worst, EXITS[found.status])
        finally:
            target.close()
    return worst


def _printed(examples: Sequence[Counterexample], form: str) -> int:
    for example in examples:
        if example.expectation.kind is Kind.CHECK:
            raise BadUsage(f"{example.check}: it is judged by its check alone, no list of calls shows it.")
        sys.stdout.writelines(f"{line}\n" for line in LINES[form](example))
    return 0


LINES = MappingProxyType({"curl": curl_lines, "stdio": json_lines})


def _replayed(example: Counterexample, target: Target, bundle: Bundle, options: Namespace) -> Replayed:
    if example.expectation.kind is Kind.CHECK:
        profile = example.profile if example.profile in PROFILES else DEFAULT_PROFILE
        return checked(example, Order(options.target, profile, example.seed, schemas=options.schemas, counterexamples=False))
    try:
        opened = target.open()
    except NotOffered as nothing:
        return Replayed(Status.ERROR, str(nothing))
    try:
        return replayed(example, Stage(opened, bundle))
    finally:
        target.release(opened)


def _told(file: str, example: Counterexample, found: Replayed, options: Namespace) -> Iterator[Text]:
    if not options.quiet:
        yield Text(f"{example.rule}  {clean(example.what)}", style="bold")
        yield from _calls(example, found, WHOLE if options.verbose else SHORT)
        yield Text(f"  expected: {clean(expected(example.expectation))}")
        if found.status is Status.FAILED and found.seen is not None:
            yield Text(f"  seen:     {clean(short(found.seen, WHOLE if options.verbose else SHORT))}")
    reason = f": {clean(found.reason)}" if found.reason else ""
    yield Text.assemble((f"{found.status:<7}", _STYLES[found.status]), f"{clean(file)}{reason}")


def _calls(example: Counterexample, found: Replayed, limit: int) -> Iterator[Text]:
    """Give each call with its answer here; what was not sent comes without one."""
    for number, said in enumerate(example.calls):
        beside = f" (together, {said.together})" if said.together else ""
        payload = said.payload if limit == WHOLE else given(said.payload)
        yield Text(clean(f"{number + 1:>3}  {said.caller or 'bench'}: {said.op} {short(payload, limit)}{beside}"))
        if number < len(found.answers):
            answer = found.answers[number]
            told = short(answer, limit) if limit == WHOLE else answered(answer, limit)
            yield Text(clean(f"     -> {told}"), style="dim")
