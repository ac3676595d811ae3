"""How checks are spread over workers: the longest first, one by one, to whoever is free.

With checks handed out so, no worker can be left with more than the shortest checks when the others have ended.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any

import pytest

SCHEDULER = "conformance.scheduling:LongestFirst"
"""Loaded when it is asked for: once xdist is imported, what is added to ``sys.path`` no longer reaches its workers."""


class Spreading:
    """A pytest plugin for the process that hands the checks out."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Give the scheduler."""
        return pkgutil.resolve_name(SCHEDULER)(config, log, self._weights)
