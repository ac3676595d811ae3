"""The kill matrix as it is shipped: which check of which rule kills each seeded fault of this version of the suite.

It is what a certificate's trust in the rules rests on: ``memory-conformance faults --kill-matrix --ledger FILE`` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from conformance.catalogue import PACKAGE
from conformance.wire.canonical import digest

FILE = "kill_matrix.json"
FORMAT = 1


@cache
def ledger() -> Mapping[str, Any]:
    """Return the ledger of this installation, empty where it has none."""
    file = resources.files(PACKAGE).joinpath(FILE)
    found: Mapping[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return found


def ledger_digest() -> str:
    """Return the ledger's digest, "" where there is none."""
    return digest(ledger()) if ledger() else ""


def ledger_of(matrix: Mapping[str, Any], suite: str) -> dict[str, Any]:
    """Return the ledger that a kill matrix (``Matrix.to_json``) comes to. Raises ``ValueError`` where it has a miss."""
    if matrix["misses"]:
        raise ValueError(f"{matrix['misses'][0]['name']} was not killed by its rule")
    killed = [cell for cell in matrix["cells"] if cell["outcome"] == "killed"]
    faults = {cell["name"]: cell["check_id"] for cell in killed if matrix["expected"][cell["name"]] == cell["rule"]}
    return {
        "format": FORMAT,
        "suite": suite,
        "profile": matrix["profile"],
        "seed": matrix["seed"],
        "killed": dict(sorted(faults.items())),
    }


def unproven(suite: str, rules: Mapping[str, Any]) -> str:
    """Say why the ledger does not prove that each of ``rules`` bites, "" where it does."""
    found = ledger()
    if not found:
        return "this installation ships no kill matrix"
    if found["suite"] != suite:
        return f"the kill matrix is of suite {found['suite']}, not of {suite}"
    biting = {check.partition(".")[0] for check in found["killed"].values()}
    missing = [rule for rule in rules if rule not in biting]
    return f"the kill matrix knows no fault that {missing[0]} kills" if missing else ""
