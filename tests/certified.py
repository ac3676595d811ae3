"""A certificate of the oracle by every check, made and verified: ``python -m tests.certified``.

The profile ``full`` is cut to few examples, so that CI sees in half a minute what ``nox -s certify`` does at length: each check
is recorded, and judged again from its recording as it was judged.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from conformance.certificate import PROFILE
from conformance.cli import main
from conformance.profiles import PROFILES, Profile

EXAMPLES = 3


def certified(place: Path) -> int:
    """Make keys and a certificate in a directory and verify it: return the first exit code that is not 0, else 0."""
    key, certificate = str(place / "key"), str(place / "oracle.json")
    run = ["run", "--profile", PROFILE, "-n", "0", "-q", "--certify", certificate, "--key", key]
    steps = (["keygen", key], run, ["verify", certificate, "--key", f"{key}.pub", "-n", "0"])
    return next((code for code in map(main, steps) if code != 0), 0)


if __name__ == "__main__":
    few = {**PROFILES, PROFILE: Profile(PROFILE, EXAMPLES)}
    with TemporaryDirectory(prefix="certified-") as room, patch("conformance.plugin.PROFILES", few):
        sys.exit(certified(Path(room)))
