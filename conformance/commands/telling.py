"""How a command tells a result: reports into files, a summary on standard output."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from conformance.errors import BadUsage
from conformance.growing import read_result
from conformance.verdict import RunResult
from reports.terminal import Loudness, summary
from reports.writers import Report, report_named


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


def read(path: str) -> RunResult:
    """Read a result file. Raises ``BadUsage``."""
    try:
        return read_result(Path(path))
    except OSError as error:
        raise BadUsage(f"{path}: the result cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadUsage(f"{path}: no result of a run: {' '.join(str(error).split())}.") from error
