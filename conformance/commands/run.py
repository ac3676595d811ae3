"""``memory-conformance run``: decide whether a target keeps the contract."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from conformance.catalogue import Rule, named
from conformance.commands.here import find_modules_here
from conformance.commands.telling import reports_of, say
from conformance.errors import BadUsage
from conformance.growing import Stream
from conformance.profiles import profile_named
from conformance.progress import watching
from conformance.reporting import Reporting
from conformance.runner import Order, run
from conformance.target import DEFAULT_TARGET
from conformance.verdict import RunResult
from conformance.watching import Together


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
    reporting = Reporting(reports_of(options.report))
    find_modules_here()
    with _stream(options.stream) as streams, _ended_by_signal():
        with watching(quiet=options.quiet) as progress:
            result = run(order, chosen, Together([progress, reporting, *streams]))
        _over(result, reporting, streams)
    say(result, options)
    return result.exit_code()


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


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Let the signal that asks to end (SIGTERM) do what Ctrl-C does: what is known until then is reported."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _workers(given: int | None, target: str) -> int:
    if given is None:
        return os.cpu_count() or 1 if target == DEFAULT_TARGET else 1
    if given < 0:
        raise BadUsage(f"-n {given}: the number of workers is 0 or more.")
    return given


def _chosen(texts: Sequence[str]) -> list[Rule]:
    return [named(name) for text in texts for name in text.split(",") if name.strip()]
