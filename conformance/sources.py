"""Which code judges: a digest of the suite's own sources, and the version of what generates examples.

Where both are the same, the same seed sends the same requests to a provider that answers the same.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

PACKAGES = ("conformance", "invariants", "strategies", "reports")
_KINDS = frozenset({".py", ".json", ".ini"})


@cache
def sources() -> str:
    """Return SHA-256 over the sources of the four packages: names and contents, in order."""
    total = hashlib.sha256()
    for package in PACKAGES:
        root = Path(str(import_module(package).__file__)).parent
        for path in sorted(path for path in root.rglob("*") if path.suffix in _KINDS):
            total.update(f"{package}/{path.relative_to(root).as_posix()}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def engine() -> str:
    """Return the version of what generates, and whether the sources take part in what it generates (a checkout)."""
    kind = "installed" if "/site-packages/" in __file__ else "checkout"
    return f"hypothesis {metadata.version('hypothesis')}, {kind}"
