"""The options of ``call``."""

from __future__ import annotations

from argparse import ArgumentParser


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("target", metavar="TARGET", help="the provider, as for run")
    parser.add_argument("op", metavar="OP", help="the operation, as memory.describe, or a control, as control.hello")
    parser.add_argument(
        "payload",
        nargs="?",
        default="{}",
        metavar="JSON",
        help="the request's body; - reads it from stdin; $space is the caller's space",
    )
    parser.add_argument(
        "--as",
        dest="credential",
        default=None,
        metavar="CREDENTIAL",
        help="who calls; '' for nobody (default: the root of the target file's first space, else of a new space)",
    )
    parser.add_argument("--flags", default=None, metavar="A,B", help="the negotiated flags (default: all that are declared)")
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
