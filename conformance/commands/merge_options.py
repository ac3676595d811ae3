"""The options of ``merge``."""

from __future__ import annotations

from argparse import ArgumentParser

from conformance.commands.telling_options import add_telling_options


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", nargs="+", metavar="RESULT", help="the results of all shards of one run (json, or streams)")
    parser.add_argument("--waivers", default=None, metavar="FILE", help="the waivers of the run, judged over the whole of it")
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
    add_telling_options(parser)
