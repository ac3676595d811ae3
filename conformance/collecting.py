"""Which checks there are, parameters and all, without running one."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout

import pytest

from conformance.check import Check, check_of
from conformance.errors import SuiteFault
from conformance.runner import collecting_arguments, own_ground


class Collector:
    """A pytest plugin that keeps the checks that were collected: ``everything`` before any was left out."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.everything: list[Check] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Take what there is."""
        self.everything = _checks(items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the checks."""
        self.checks = _checks(session.items)


def collected() -> list[Check]:
    """List the checks of all rules, as the oracle in this process gets them. Raises ``SuiteFault`` where that cannot be."""
    return _collector().checks


def in_order() -> list[str]:
    """List the ids of all checks, those of HTTP's edge too, in the order of a run. Raises ``SuiteFault`` where that cannot be."""
    return [check.check_id for check in _collector().everything]


def _checks(items: Iterable[pytest.Item]) -> list[Check]:
    return [check for item in items if (check := check_of(item)) is not None]


def _collector() -> Collector:
    collector = Collector()
    with own_ground(), io.StringIO() as said, redirect_stdout(said), redirect_stderr(said):
        code = pytest.main(collecting_arguments(), plugins=[collector])
        if code != pytest.ExitCode.OK:
            raise SuiteFault(f"the checks cannot be collected: {' '.join(said.getvalue().split())[-300:]}")
    return collector
