"""How checks are spread over workers: the longest first, one by one, to whoever is free.

With checks handed out so, no worker can be left with more than the shortest checks when the others have ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from xdist.scheduler import LoadScheduling

from conformance.weights import longest_first


class LongestFirst(LoadScheduling):  # type: ignore[misc]  # xdist ships no types
    """xdist's scheduling of the kind ``load``, with another order of what waits."""

    def __init__(self, config: pytest.Config, log: Any, weights: Mapping[str, float]) -> None:
        super().__init__(config, log)
        self.maxschedchunk = 1
        self._weights = weights
        self._ordered = False

    def _send_tests(self, node: Any, num: int) -> None:
        if not self._ordered and self.collection is not None:
            self._ordered = True
            self.pending[:] = longest_first({place: self.collection[place] for place in self.pending}, self._weights)
        super()._send_tests(node, num)


class Spreading:
    """A pytest plugin for the process that hands the checks out."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> LongestFirst:
        """Give the scheduler."""
        return LongestFirst(config, log, self._weights)
