"""Freeze what certificates stand on: ``python -m tests.freeze [KILL_MATRIX.json]``, in a checkout (``nox -s freeze``).

The requirements of this version are the checks that there are now; a released version's are never changed. The kill matrix is
what ``memory-conformance faults --kill-matrix --json FILE`` wrote.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from conformance import ledger, requirements
from conformance.collecting import collected

INVARIANTS = Path(__file__).parent.parent / "invariants"
SUITE = metadata.version("memory-conformance")


def main(arguments: Sequence[str]) -> None:
    """Write the files."""
    sets = {**requirements.frozen(), SUITE: requirements.sets_of(collected())}
    _write(requirements.FILE, sets)
    if arguments:
        _write(ledger.FILE, ledger.ledger_of(json.loads(Path(arguments[0]).read_text("utf-8")), SUITE))


def _write(name: str, value: Any) -> None:
    (INVARIANTS / name).write_text(json.dumps(value, indent=1) + "\n", "ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
