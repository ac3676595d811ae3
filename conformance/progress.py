"""Live progress of a run: on a terminal a bar, elsewhere nothing."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.verdict import CheckResult, RunResult, Verdict
from conformance.watching import Together, Watcher

_SHOWN = (Verdict.FAIL, Verdict.SUITE_ERROR, Verdict.INCONCLUSIVE)


class Bar:
    """A progress bar that names the last check and counts what was not passed."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("collecting", total=None)
        self._counts: Counter[Verdict] = Counter()

    def began(self, result: RunResult) -> None:
        """Do nothing: nothing moves yet."""

    def collected(self, total: int) -> None:
        """Set how many checks there are."""
        self._progress.update(self._task, total=total)

    def ended(self, result: CheckResult) -> None:
        """Move on by one check."""
        self._counts[result.verdict] += 1
        bad = "  ".join(f"{self._counts[verdict]} {verdict}" for verdict in _SHOWN if self._counts[verdict])
        self._progress.update(self._task, advance=1, description=f"{result.rule_id}  {bad}".strip())


@contextmanager
def watching(*, quiet: bool = False) -> Iterator[Watcher]:
    """Watch a run on standard error where that is a terminal; the bar is gone when the run is over.

    It writes to a copy of the stream: pytest captures the stream itself while checks run.
    """
    if quiet or not sys.stderr.isatty():
        yield Together()
        return
    with os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8") as stream:
        columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
        console = Console(file=stream)
        with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
            yield Bar(progress)
