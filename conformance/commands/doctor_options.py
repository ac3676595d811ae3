"""The options of ``doctor``."""

from __future__ import annotations

from argparse import ArgumentParser


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "target", nargs="?", default="oracle", metavar="TARGET", help="the provider, as for run (default: oracle)"
    )
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
