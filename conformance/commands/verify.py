"""``memory-conformance verify``: whether a certificate holds."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from conformance.commands.certifying import TRANSCRIPT
from conformance.envelope import public_key
from conformance.errors import BadUsage
from conformance.progress import watching
from conformance.verification import Given, Refused, verify
from conformance.watching import Watcher


def main(options: Namespace) -> int:
    """Verify: exit 0 where it holds, 1 where it does not. Raises ``BadInput``."""
    if options.workers < 0:
        raise BadUsage(f"-n {options.workers}: the number of workers is 0 or more.")
    certificate = Path(options.certificate)
    transcript = Path(options.transcript or f"{certificate}{TRANSCRIPT}")
    given = Given(certificate, transcript, public_key(Path(options.key)), options.schemas, options.workers)
    with watching(quiet=options.quiet) as progress:
        return _told(given, progress, quiet=options.quiet)


def _told(given: Given, progress: Watcher, *, quiet: bool) -> int:
    try:
        for step in verify(given, progress):
            if not quiet:
                sys.stdout.write(f"{step}\n")
    except Refused as refused:
        sys.stdout.write(f"REFUSED  {given.certificate}: {refused}\n")
        return 1
    if not quiet:
        sys.stdout.write(f"HOLDS  {given.certificate}\n")
    return 0
