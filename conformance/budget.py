"""How many examples each property tries: as many in all as their marks say, spent where seeded faults were late to fall.

The kill matrix says at which example of which property each seeded fault fell, under several seeds. A property keeps half of what
its mark gives it, whatever fell there: faults that nobody seeded are looked for too. The other halves are shared out by how long
the property had to look at the longest. The result is frozen beside the rules; ``python -m tests.freeze`` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from conformance.catalogue import PACKAGE, name_of
from conformance.check import Check
from conformance.profiles import DEFAULT_PROFILE, PROFILES

FILE = "examples.json"
FORMAT = 1
MOST = 3
"""No property gets more than so many times what its mark says."""

QUICK = PROFILES[DEFAULT_PROFILE]


@cache
def frozen() -> Mapping[str, int]:
    """Return how many examples each property tries in the quick profile, by its name; empty where nothing is frozen."""
    file = resources.files(PACKAGE).joinpath(FILE)
    found: Mapping[str, int] = json.loads(file.read_text("utf-8"))["examples"] if file.is_file() else {}
    return found


def factor_of(check: Check) -> float:
    """Return what scales the number of examples of a check: as it is frozen, or by its mark where it is new."""
    examples = frozen().get(name_of(check.check_id))
    return check.factor if examples is None else examples / QUICK.examples


def marked(checks: Iterable[Check]) -> dict[str, int]:
    """Return how many examples the marks of the properties among ``checks`` say, in the quick profile."""
    return {name_of(check.check_id): QUICK.scaled(check.factor) for check in checks if check.drawn}


def falls(matrices: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the latest example at which a fault fell, for each property that felled one (``Matrix.to_json`` of some seeds)."""
    latest: dict[str, int] = {}
    for cell in (cell for matrix in matrices for cell in matrix["cells"] if cell["examples"]):
        name = name_of(cell["check_id"])
        latest[name] = max(latest.get(name, 0), cell["examples"])
    return latest


def spread(by_mark: Mapping[str, int], latest: Mapping[str, int]) -> dict[str, int]:
    """Spread what the marks give: half of it stays, the rest goes by how many examples were tried in vain before a fault fell."""
    kept = {name: (examples + 1) // 2 for name, examples in by_mark.items()}
    late = {name: latest.get(name, 1) - 1 for name in by_mark}
    rest, shares = sum(by_mark.values()) - sum(kept.values()), sum(late.values())
    return {
        name: min(MOST * examples, kept[name] + rest * late[name] // shares) if shares else examples
        for name, examples in sorted(by_mark.items())
    }
