"""How a command tells a result: reports into files, a summary on standard output."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from conformance.comparison import Change, Kind
from conformance.errors import BadUsage
from conformance.growing import read_result
from conformance.verdict import RunResult
from conformance.waivers import Waivers, read_waivers
from reports.terminal import Loudness, summary
from reports.words import clean, file_name
from reports.writers import Report, report_named

_STYLES: Mapping[Kind, str] = MappingProxyType(
    {Kind.BROKEN: "bold red", Kind.VANISHED: "bold red", Kind.CHANGED: "yellow", Kind.FIXED: "green", Kind.ADDED: "dim"}
)


def reports_of(texts: Sequence[str]) -> list[Report]:
    """Return the reports that were asked for. Raises ``BadUsage``."""
    return [_report(text) for text in texts]


def _report(text: str) -> Report:
    try:
        return report_named(text)
    except ValueError as error:
        raise BadUsage(f"--report {text}: {error}.") from error


def say(result: RunResult, options: Namespace) -> None:
    """Print the result, as loud as the options say."""
    loudness = Loudness.QUIET if options.quiet else Loudness.VERBOSE if options.verbose else Loudness.NORMAL
    console = Console(highlight=False)
    for part in summary(result, loudness):
        console.print(part)
    if options.counterexamples is not None:
        save_counterexamples(result, Path(options.counterexamples))


def save_counterexamples(result: RunResult, folder: Path) -> None:
    """Write each counterexample of the result into the folder, under its check's name. Raises ``BadUsage``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for check in result.checks:
            if check.counterexample is not None:
                # A lone surrogate of an answer travels as its escape.
                text = json.dumps(check.counterexample.to_json(), indent=1, ensure_ascii=True)
                (folder / file_name(check)).write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise BadUsage(f"{folder}: a counterexample cannot be written: {error.strerror}.") from error


def read(path: str) -> RunResult:
    """Read a result file. Raises ``BadUsage``."""
    try:
        return read_result(Path(path))
    except OSError as error:
        raise BadUsage(f"{path}: the result cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadUsage(f"{path}: no result of a run: {' '.join(str(error).split())}.") from error


def waivers_of(path: str | None) -> Waivers | None:
    """Read a waiver file, where one is named. Raises ``BadWaivers``."""
    return None if path is None else read_waivers(Path(path), today=datetime.now(UTC).date())


def say_changes(found: Sequence[Change], notes: Sequence[str]) -> None:
    """Print what changed, worst first, and what must be known besides."""
    console = Console(highlight=False)
    for kind in Kind:
        for change in (change for change in found if change.kind is kind):
            console.print(Text.assemble((f"{kind:<15}", _STYLES[kind]), clean(change.check_id)), soft_wrap=True)
            told = ((name, said) for name, said in (("before", change.before), ("after", change.after)) if said)
            for name, said in told:
                console.print(Padding(Text(f"{name:<7}{clean(said)}", style="dim"), (0, 0, 0, 4)))
    for note in notes:
        console.print(Text(f"note: {clean(note)}"))
    counted = ", ".join(f"{number} {kind}" for kind in Kind if (number := sum(change.kind is kind for change in found)))
    console.print(Text(counted or "nothing changed"))
