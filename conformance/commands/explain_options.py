"""The options of ``explain``."""

from __future__ import annotations

from argparse import ArgumentParser


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("rule", metavar="MEM-R0NN", nargs="?", help="the rule, as MEM-R014 or R014")
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="tell which duties of the reference page the checks cover: of the rule, or without a rule how many of all",
    )
