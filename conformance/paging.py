"""That a chain of pages comes to its end (protocol.md section 7, Lists), whatever a provider makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.expect import CheckFailed
from conformance.wire.canonical import digest

MOST_BARREN = 100
"""A chain that names a further page after so many in a row without a new item has no end."""


class Chain:
    """What the pages of one chain have brought; ``lists`` names the member of an answer that holds its items."""

    def __init__(self, op: str, lists: str) -> None:
        self._op = op
        self.lists = lists
        self._id = f"{lists.removesuffix('s')}_id"
        self._seen: set[str] = set()
        self._barren = 0

    def cursor(self, page: Mapping[str, Any]) -> str | None:
        """Return the cursor of the page after this one, None at the end. Raises ``CheckFailed`` where the chain has no end."""
        if "next_cursor" not in page:
            return None
        before = len(self._seen)
        self._seen.update(map(self._name, page[self.lists]))
        self._barren = self._barren + 1 if len(self._seen) == before else 0
        if self._barren == MOST_BARREN:
            raise CheckFailed(f"{self._op}: the chain of pages has no end: {MOST_BARREN} in a row hold no new item", seen=page)
        cursor: str = page["next_cursor"]
        return cursor

    def _name(self, item: Any) -> str:
        return str(item[self._id]) if self._id in item else digest(item)
