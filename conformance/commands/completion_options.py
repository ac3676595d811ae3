"""The options of ``completion``."""

from __future__ import annotations

import argparse

EPILOG = """\
bash:  eval "$(memory-conformance completion bash)"
zsh:   eval "$(memory-conformance completion zsh)"
fish:  memory-conformance completion fish | source
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="whose script is printed")
    parser.add_argument("--words", nargs=argparse.REMAINDER, default=None, help=argparse.SUPPRESS)
