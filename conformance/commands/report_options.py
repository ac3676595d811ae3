"""The options of ``report``."""

from __future__ import annotations

from argparse import ArgumentParser

from conformance.commands.telling_options import add_telling_options


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("result", metavar="RESULT", help="a result file: json, or a stream, of a run that was killed too")
    add_telling_options(parser)
