"""How long the checks took the last time, so that workers begin with the longest ones.

A run of the command keeps it in the cache folder, a file for each profile and target. It decides the order of work alone, never
what is sent or told: where it is lacking, or cannot be read or written, checks are taken as they come.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.release import DISTRIBUTION
from conformance.verdict import RunResult


def cache() -> Path:
    """Return where things are kept that may be lost: not the directory that the command is called in."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / DISTRIBUTION


def weights_of(result: RunResult) -> dict[str, float]:
    """Return the seconds of the checks of a result by their node ids."""
    return {check.node_id: check.seconds for check in result.checks if check.node_id and check.seconds > 0}


def kept(target: str, profile: str) -> dict[str, float]:
    """Return what the last runs took; nothing where nothing usable was kept."""
    try:
        found = json.loads(_place(target, profile).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: float(value) for name, value in found.items() if _is_weight(value)} if isinstance(found, dict) else {}


def keep(target: str, profile: str, result: RunResult) -> None:
    """Keep what a run took, beside what is known of checks that it left out."""
    place = _place(target, profile)
    text = json.dumps({**kept(target, profile), **weights_of(result)}, indent=0, sort_keys=True)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        made = place.with_suffix(f".{os.getpid()}")
        made.write_text(text, "utf-8")
        made.replace(place)


def longest_first(places: Mapping[int, str], weights: Mapping[str, float]) -> list[int]:
    """Order places by the weight of the node id there; one that is not known counts as much as the mean."""
    known = [weights[name] for name in places.values() if name in weights]
    mean = math.fsum(known) / len(known) if known else 0.0
    return sorted(places, key=lambda place: -weights.get(places[place], mean))


def _place(target: str, profile: str) -> Path:
    name = hashlib.sha256(f"{target}\0{profile}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache() / f"seconds-{name}.json"


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
