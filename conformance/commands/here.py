"""The directory that a command is called in, as a place for a person's own modules."""

from __future__ import annotations

import os
import sys


def find_modules_here() -> None:
    """Let ``python:`` name modules of the current directory; last, so that nothing there hides a module of ours."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
