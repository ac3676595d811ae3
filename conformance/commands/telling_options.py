"""The options of all commands that tell a result."""

from __future__ import annotations

from argparse import ArgumentParser


def add_telling_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT:FILE",
        help="write a report too: html, markdown, junit, json or badge; may be repeated",
    )
    parser.add_argument(
        "--counterexamples",
        default=None,
        metavar="DIR",
        help="save the shortest list of calls that shows each failure there (*.mem.json): replay sends it again",
    )
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="say the verdict alone")
    loudness.add_argument("-v", "--verbose", action="store_true", help="tell every check and every failure")
