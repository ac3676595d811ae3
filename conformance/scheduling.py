"""xdist's scheduler that hands out the longest checks first. Loaded by name alone (see ``conformance.spreading``)."""

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
