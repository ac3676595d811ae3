"""Which release of the suite this is: the name under which it is distributed, and its version."""

from __future__ import annotations

from importlib import metadata
from typing import Final

DISTRIBUTION: Final = "memory-conformance"


def version() -> str:
    """Return the version of the suite that is installed."""
    return metadata.version(DISTRIBUTION)
