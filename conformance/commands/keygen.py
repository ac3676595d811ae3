"""``memory-conformance keygen``: a new pair of keys for certificates."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from conformance.envelope import key_id, new_key, public_key


def main(options: Namespace) -> int:
    """Make the keys. Raises ``BadKey`` where a file is there already."""
    public = new_key(Path(options.file))
    sys.stdout.write(f"private key: {options.file} (keep it)\npublic key: {public}, {key_id(public_key(public))[:16]}…\n")
    return 0
