"""The options of ``diff``."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

EPILOG = """\
exit codes:
  0 nothing got worse   1 a check is broken that was not, or has vanished; or the later run says nothing   3 wrong usage

In a gate, keep the result of the main branch and compare with it:
  memory-conformance run target.toml --report json:new.json --baseline main.json
"""


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("before", metavar="BEFORE", help="the earlier result (json, or a stream)")
    parser.add_argument("after", metavar="AFTER", help="the later result")
    parser.add_argument("--json", action="store_true", help="tell the changes as JSON")
