"""Those who watch a run: what they are told, and several of them as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from conformance.verdict import CheckResult, RunResult


class Watcher(Protocol):
    """Somebody who watches a run."""

    def began(self, result: RunResult) -> None:
        """Hear what is run; no check has a result yet."""
        ...

    def collected(self, total: int) -> None:
        """Hear how many checks there are."""
        ...

    def ended(self, result: CheckResult) -> None:
        """Hear how one check ended."""
        ...


class Together:
    """Several watchers as one; with none of them, nobody watches."""

    def __init__(self, watchers: Sequence[Watcher] = ()) -> None:
        self._watchers = watchers

    def began(self, result: RunResult) -> None:
        """Tell all."""
        for watcher in self._watchers:
            watcher.began(result)

    def collected(self, total: int) -> None:
        """Tell all."""
        for watcher in self._watchers:
            watcher.collected(total)

    def ended(self, result: CheckResult) -> None:
        """Tell all."""
        for watcher in self._watchers:
            watcher.ended(result)
