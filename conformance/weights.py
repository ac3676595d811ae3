"""How long the checks took the last time, so that workers begin with the longest ones, and shards are of similar weight.

A run of the command keeps it in the cache folder, a file for each profile and target. It decides the order of work alone, never
what is sent or told: where it is lacking, or cannot be read or written, checks are taken as they come. What machines keep for
themselves deals out no shards: those that deal must go by one and the same result.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
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
        return read(_place(target, profile))
    except (OSError, ValueError):
        return {}


def keep(target: str, profile: str, result: RunResult) -> None:
    """Keep what a run took, beside what is known of checks that it left out."""
    place = _place(target, profile)
    weights = {**kept(target, profile), **weights_of(result)}
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        made = place.with_suffix(f".{os.getpid()}")
        write(made, weights)
        made.replace(place)


def longest_first(places: Mapping[int, str], weights: Mapping[str, float]) -> list[int]:
    """Order places by the weight of the node id there; one that is not known counts as much as the mean."""
    mean = _mean(places.values(), weights)
    return sorted(places, key=lambda place: -weights.get(places[place], mean))


def dealt(names: Sequence[str], weights: Mapping[str, float], shards: int) -> list[int]:
    """Deal node ids out to so many shards of similar weight: give the number of each one's shard, from 1.

    The longest goes first, each to the shard that has the least until then; where nothing is known they are dealt in turn.
    """
    mean, loads, found = _mean(names, weights), [0.0] * shards, [0] * len(names)
    for place in longest_first(dict(enumerate(names)), weights):
        shard = loads.index(min(loads))
        loads[shard] += weights.get(names[place], mean)
        found[place] = shard + 1
    return found


def digest_of(weights: Mapping[str, float]) -> str:
    """Give a short text that is another one for other weights; "" for none."""
    return hashlib.sha256(_text(weights).encode()).hexdigest()[:16] if weights else ""


def write(place: Path, weights: Mapping[str, float]) -> None:
    """Write weights into a file. Raises ``OSError``."""
    place.write_text(_text(weights), "utf-8")


def read(place: Path) -> dict[str, float]:
    """Read weights from a file. Raises ``OSError``, or ``ValueError`` for another text."""
    found = json.loads(place.read_text("utf-8"))
    return {name: float(value) for name, value in found.items() if _is_weight(value)} if isinstance(found, dict) else {}


def _text(weights: Mapping[str, float]) -> str:
    return json.dumps(weights, indent=0, sort_keys=True)


def _mean(names: Iterable[str], weights: Mapping[str, float]) -> float:
    """Give what counts for a node id that is not known."""
    known = [weights[name] for name in names if name in weights]
    return math.fsum(known) / len(known) if known else 1.0


def _place(target: str, profile: str) -> Path:
    name = hashlib.sha256(f"{target}\0{profile}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache() / f"seconds-{name}.json"


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
