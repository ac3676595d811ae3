"""The options of ``serve``."""

from __future__ import annotations

from argparse import ArgumentParser


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "provider", nargs="?", default="oracle", metavar="PROVIDER", help="oracle (the default) or python:package.module:factory"
    )
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
    parser.add_argument(
        "--db", default=None, metavar="FILE", help="keep what the bundled provider holds in FILE (SQLite), over every restart"
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--stdio", action="store_true", help="answer JSON lines on stdin and stdout, as a stdio: target does")
    way.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help="answer HTTP on the loopback interface, as an http: target does; 0 takes a free port",
    )
    way.add_argument(
        "--ws",
        type=int,
        metavar="PORT",
        help="answer SPOKE connect sessions on the loopback interface, as a ws: target does; 0 takes a free port",
    )
