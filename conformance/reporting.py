"""The reports of a run while it goes on: from the beginning each file is there and says that the run is not over.

So a run that is killed at any moment leaves reports that say so. They are written anew from time to time, and seldom enough that
this takes no more than a small part of the run's time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from conformance.errors import BadUsage
from conformance.growing import Growing
from conformance.verdict import CheckResult, RunResult
from reports.writers import Report

PAUSE_SECONDS = 5.0
SHARE = 50
"""Between two writings there is at least so many times as long as the last one took."""


class Reporting:
    """Keeps reports up to date. A watcher of a run."""

    def __init__(self, reports: Sequence[Report]) -> None:
        self._reports = reports
        self._growing = Growing()
        self._due = 0.0

    def began(self, result: RunResult) -> None:
        """Write the reports for the first time. Raises ``BadUsage`` where one cannot be written."""
        self._growing.began(result)
        self._write(self._growing.result())

    def collected(self, total: int) -> None:
        """Take how many checks there are."""
        self._growing.collected(total)

    def ended(self, result: CheckResult) -> None:
        """Take one check's result, and write where it is time; what cannot be written now is told at the end."""
        self._growing.ended(result)
        if time.monotonic() >= self._due:
            with suppress(BadUsage):
                self._write(self._growing.result())

    def over(self, result: RunResult) -> None:
        """Write the reports for the last time. Raises ``BadUsage`` where one cannot be written."""
        self._write(result)

    def _write(self, result: RunResult) -> None:
        started = time.monotonic()
        for report in self._reports:
            try:
                report.write(result)
            except OSError as error:
                raise BadUsage(f"{report.path}: the report cannot be written: {error.strerror}.") from error
        ended = time.monotonic()
        self._due = ended + max(PAUSE_SECONDS, SHARE * (ended - started))
