"""``memory-conformance init``: a target file with comments, and a minimal provider to begin with."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from conformance.errors import BadUsage
from conformance.skeleton import LANGUAGES, TARGET_FILE, skeleton
from conformance.wire.bundle import load


def main(options: Namespace) -> int:
    """Write the files, and tell what comes next. Raises ``BadInput``; no file that is there is overwritten."""
    directory = Path(options.directory)
    files = skeleton(LANGUAGES[options.language], load(options.schemas))
    if present := [str(directory / name) for name in files if (directory / name).exists()]:
        raise BadUsage(f"{' and '.join(present)}: already there, and nothing was written: name another directory.")
    try:
        _write(directory, files)
    except OSError as error:
        raise BadUsage(f"{error.filename}: it cannot be written: {error.strerror}.") from error
    target = shlex.quote(str(directory / TARGET_FILE))
    sys.stdout.write(f"Written: {', '.join(str(directory / name) for name in files)}. What comes next:\n\n")
    sys.stdout.write(f"  memory-conformance doctor {target}\n  memory-conformance run {target}\n")
    return 0


def _write(directory: Path, files: Mapping[str, str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with (directory / name).open("x", encoding="utf-8") as file:
            file.write(text)
