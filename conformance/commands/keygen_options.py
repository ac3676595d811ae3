"""The options of ``keygen``."""

from __future__ import annotations

from argparse import ArgumentParser


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="the private key (PEM); the public one goes to FILE.pub")
