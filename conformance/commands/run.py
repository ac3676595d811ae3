"""``memory-conformance run``: decide whether a target keeps the contract."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conformance.commands.certifying import certify, certifying
from conformance.commands.choosing import chosen
from conformance.commands.ending import ended_by_signal
from conformance.commands.here import find_modules_here
from conformance.commands.telling import read, reports_of, say, say_changes, waivers_of
from conformance.comparison import changes, comparable, regressed
from conformance.errors import BadUsage
from conformance.growing import Stream
from conformance.merging import shard_named
from conformance.profiles import profile_named
from conformance.progress import watching
from conformance.reporting import Reporting
from conformance.runner import Order, run
from conformance.target import DEFAULT_TARGET
from conformance.verdict import WRONG_USAGE, RunResult
from conformance.watching import Together
from conformance.weights import keep, kept, weights_of


def main(options: Namespace) -> int:
    """Run, report, and return the exit code. Raises ``BadInput`` for what a person got wrong."""
    asked = certifying(options)
    wanted = chosen(options)
    recorded = options.record or (None if asked is None else str(asked.transcript))
    for file in filter(None, (options.certify, recorded)):
        _see_that_it_can_be_written(Path(file))
    given = None if options.weights is None else weights_of(read(options.weights))
    order = Order(
        target=options.target,
        profile=profile_named(options.profile).name,
        seed=options.seed,
        workers=_workers(options),
        schemas=options.schemas,
        record=recorded,
        shard=None if options.shard is None else shard_named(options.shard),
        checks=wanted.checks,
        weights=kept(options.target, options.profile) if given is None else given,
        deal_by=given or {},
    )
    waivers = waivers_of(options.waivers)
    baseline = None if options.baseline is None else read(options.baseline)
    reporting = Reporting(reports_of(options.report))
    find_modules_here()
    with _stream(options.stream) as streams, ended_by_signal():
        with watching(quiet=options.quiet) as progress:
            result = run(order, wanted.rules, Together([progress, reporting, *streams]))
        if waivers is not None:
            result = waivers.applied(result)
        _over(result, reporting, streams)
    keep(order.target, order.profile, result)
    say(result, options)
    if asked is not None and recorded is not None:
        certify(asked, Path(recorded), result)
    return result.exit_code() if baseline is None else _against(baseline, result)


def _against(baseline: RunResult, result: RunResult) -> int:
    """Say what changed since the baseline: exit 1 for a regression, 3 for what says nothing, else 0."""
    found = list(changes(baseline, result))
    say_changes(found, comparable(baseline, result))
    if result.exit_code() == WRONG_USAGE:
        return WRONG_USAGE
    return 1 if regressed(found, result) else 0


def _see_that_it_can_be_written(path: Path) -> None:
    """Raise ``BadUsage`` before the run for a file that could not be written after it."""
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise BadUsage(f"{path}: the file cannot be written there.")


def _over(result: RunResult, reporting: Reporting, streams: Sequence[Stream]) -> None:
    for stream in streams:
        stream.over(result)
    reporting.over(result)


@contextmanager
def _stream(path: str | None) -> Iterator[list[Stream]]:
    with ExitStack() as stack:
        try:
            files = [] if path is None else [stack.enter_context(Path(path).open("w", encoding="ascii"))]
        except OSError as error:
            raise BadUsage(f"{path}: the stream cannot be written: {error.strerror}.") from error
        yield [Stream(file) for file in files]


def _workers(options: Namespace) -> int:
    """Return how many processes run checks; a few checks are over before workers have even started."""
    given: int | None = options.workers
    if given is None:
        return _by_itself(options.profile) if options.target == DEFAULT_TARGET else 1
    if given < 0:
        raise BadUsage(f"-n {given}: the number of workers is 0 or more.")
    return given


def _by_itself(profile: str) -> int:
    return 0 if profile_named(profile).checks is not None else os.cpu_count() or 1
