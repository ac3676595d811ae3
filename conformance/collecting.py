"""Which checks there are, parameters and all, without running one."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from conformance.check import Check, check_of
from conformance.errors import SuiteFault
from conformance.runner import collecting_arguments, own_ground


class Collector:
    """A pytest plugin that keeps the checks that were collected."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the checks."""
        self.checks = [check for item in session.items if (check := check_of(item)) is not None]


def collected() -> list[Check]:
    """List all checks of all rules. Raises ``SuiteFault`` where they cannot be collected."""
    collector = Collector()
    with own_ground(), io.StringIO() as said, redirect_stdout(said), redirect_stderr(said):
        code = pytest.main(collecting_arguments(), plugins=[collector])
        if code != pytest.ExitCode.OK:
            raise SuiteFault(f"the checks cannot be collected: {' '.join(said.getvalue().split())[-300:]}")
    return collector.checks
