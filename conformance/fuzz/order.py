"""What a fuzz run is to do."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from conformance.machine.acts import ALL

SHARD = "{shard}"
"""Stands for the number of a shard in a target of each shard's own."""


@dataclass(frozen=True, slots=True)
class Order:
    """``seconds`` and ``calls`` bound the run (None: not so); at least one is given. ``schemas`` names another bundle.

    ``first`` is the number of the first episode: what came before it was played by earlier runs on the same corpus. ``apart``:
    each worker has a target of its own. ``reduces`` False leaves findings as they were found.
    """

    target: str
    focus: str = ALL
    seconds: float | None = None
    calls: int | None = None
    workers: int = 1
    seed: int = 0
    schemas: str | None = None
    first: int = 0
    apart: bool = False
    reduces: bool = True

    def alone(self, *, shared: bool) -> bool:
        """Say whether a worker has its target, which may be ``shared``, for itself."""
        return self.apart or not shared or self.workers <= 1

    def seed_of(self, episode: int) -> int:
        """Give the seed of an episode by its number."""
        text = f"{self.seed}\0{self.focus}\0{episode}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
