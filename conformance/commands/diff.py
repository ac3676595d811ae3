"""``memory-conformance diff``: what changed from one result to another."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from dataclasses import asdict

from conformance.commands.telling import read, say_changes
from conformance.comparison import changes, comparable, regressed


def main(options: Namespace) -> int:
    """Compare: exit 1 for regressions, else 0. Raises ``BadInput``."""
    before, after = read(options.before), read(options.after)
    found = list(changes(before, after))
    if options.json:
        told = [{**asdict(change), "kind": str(change.kind), "regression": change.regression} for change in found]
        sys.stdout.write(json.dumps({"changes": told, "notes": comparable(before, after)}, indent=1) + "\n")
    else:
        say_changes(found, comparable(before, after))
    return 1 if regressed(found, after) else 0
