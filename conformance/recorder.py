"""What a run's pytest tells while it runs: results, and what went wrong with the run itself.

It listens where the checks are handed out: in the one process of a run without workers, in xdist's controller otherwise. A
check that was collected and has no result at the end is trouble, never a pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import rule_of_module
from conformance.plugin import PROPERTY
from conformance.verdict import CheckResult, Verdict
from conformance.watchdog import left
from conformance.watching import Watcher


class Recorder:
    """A pytest plugin. ``results`` maps node ids to results, ``trouble`` are sentences about the run itself.

    ``reached_end`` is False where somebody interrupted it. ``post`` is where workers that end themselves leave the results of
    their checks.
    """

    def __init__(self, watcher: Watcher, post: Path) -> None:
        self.results: dict[str, CheckResult] = {}
        self.trouble: dict[str, None] = {}
        self._order: dict[str, None] = {}
        self.reached_end = True
        self._watcher = watcher
        self._post = post
        self._given_up = False

    def in_order(self) -> list[CheckResult]:
        """Return the results in the order in which the checks were collected."""
        return [self.results[node_id] for node_id in self._order if node_id in self.results]

    def complete(self) -> None:
        """See to the collected checks that have no result: they were not reached because the provider hangs, or we lost them."""
        missing = [node_id for node_id in self._order if node_id not in self.results]
        if self._given_up:
            for node_id in missing:
                self._ended(node_id, _result(node_id, Verdict.INCONCLUSIVE, "not run: the provider gave no answer before"))
        elif missing:
            self._trouble(f"{len(missing)} of the checks have no result; the first is {missing[0]}")

    # -- pytest's hooks

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the checks that were collected in this process."""
        self._collected(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:  # noqa: ARG002 - the hook's signature
        """Take the checks that a worker collected."""
        self._collected(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of a module that cannot be imported."""
        if report.failed:
            self._trouble(f"{report.nodeid} cannot be collected: {_last_line(report.longreprtext)}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a check's result from the report of its last phase; a report of no phase is that of a worker that crashed."""
        for name, value in report.user_properties:
            if name == PROPERTY:
                self._ended(report.nodeid, CheckResult.of_json(json.loads(str(value))))
        if report.when not in _PHASES:
            found = left(self._post, report.nodeid)
            self._given_up = self._given_up or found is not None
            self._ended(report.nodeid, found or _crashed(report))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ARG002 - the hook's signature
        """Take note of a worker that did not end by itself."""
        if error is not None and not any(self._post.iterdir()):
            self._trouble(_why(_last_line(str(error))))

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Take note of an error of pytest or of a plugin."""
        self._trouble(f"pytest broke: {_last_line(str(excrepr))}")

    def pytest_keyboard_interrupt(self) -> None:
        """Take note of an interruption."""
        self.reached_end = False
        self._trouble("the run was interrupted")

    # -- inside

    def _collected(self, node_ids: Iterable[str]) -> None:
        known = len(self._order)
        self._order.update(dict.fromkeys(node_ids))
        if len(self._order) > known:
            self._watcher.collected(len(self._order))

    def _ended(self, node_id: str, result: CheckResult) -> None:
        self._order.setdefault(node_id)
        self.results[node_id] = result
        self._watcher.ended(result)

    def _trouble(self, sentence: str) -> None:
        self.trouble.setdefault(sentence)


_PHASES = ("setup", "call", "teardown")


def _crashed(report: pytest.TestReport) -> CheckResult:
    """Build the result of a check whose worker died: we cannot tell why, so nobody is certified."""
    result = _result(report.nodeid, Verdict.SUITE_ERROR, "the process that ran the check died")
    return replace(result, traceback=report.longreprtext)


def _result(node_id: str, verdict: Verdict, reason: str) -> CheckResult:
    """Build the result of a check of which only the node id is known."""
    file, _, name = node_id.partition("::")
    rule = rule_of_module(file.rpartition("/")[2].removesuffix(".py"))
    rule_id = "" if rule is None else rule.rule_id
    return CheckResult(f"{rule_id}.{name.removeprefix('test_')}", rule_id, verdict, reason, node_id=node_id)


def _why(last: str) -> str:
    """Say why a worker is gone: by its last words, it could not begin, or it died."""
    _, unusable, sentence = last.partition("UsageError: ")
    if unusable:
        return f"a worker could not begin, and each opens the target for itself (-n 1 opens it once): {sentence}"
    return f"a worker process died: {last}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("E  ").strip() if lines else "no reason given"
