"""``memory-conformance run``: decide whether a target keeps the contract."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from rich.console import Console

from conformance.catalogue import Rule, named
from conformance.commands.here import find_modules_here
from conformance.errors import BadUsage
from conformance.profiles import profile_named
from conformance.progress import watching
from conformance.runner import Order, run
from conformance.target import DEFAULT_TARGET
from conformance.verdict import RunResult
from reports.terminal import Loudness, summary
from reports.writers import Report, report_named


def main(options: Namespace) -> int:
    """Run, report, and return the exit code. Raises ``BadInput`` for what a person got wrong."""
    order = Order(
        target=options.target,
        profile=profile_named(options.profile).name,
        seed=options.seed,
        workers=_workers(options.workers, options.target),
        schemas=options.schemas,
    )
    chosen = _chosen(options.rules)
    reports = [_report(text) for text in options.report]
    find_modules_here()
    with watching(quiet=options.quiet) as progress:
        result = run(order, chosen, progress)
    _write(reports, result)
    _say(result, options)
    return result.exit_code()


def _workers(given: int | None, target: str) -> int:
    if given is None:
        return os.cpu_count() or 1 if target == DEFAULT_TARGET else 1
    if given < 0:
        raise BadUsage(f"-n {given}: the number of workers is 0 or more.")
    return given


def _chosen(texts: Sequence[str]) -> list[Rule]:
    return [named(name) for text in texts for name in text.split(",") if name.strip()]


def _report(text: str) -> Report:
    try:
        return report_named(text)
    except ValueError as error:
        raise BadUsage(f"--report {text}: {error}.") from error


def _write(reports: Sequence[Report], result: RunResult) -> None:
    for report in reports:
        try:
            report.write(result)
        except OSError as error:
            raise BadUsage(f"{report.path}: the report cannot be written: {error.strerror}.") from error


def _say(result: RunResult, options: Namespace) -> None:
    loudness = Loudness.QUIET if options.quiet else Loudness.VERBOSE if options.verbose else Loudness.NORMAL
    console = Console(highlight=False)
    for part in summary(result, loudness):
        console.print(part)
