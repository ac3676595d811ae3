"""The options of ``replay``."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

CODES = """\
exit codes:
  0 FIXED: the target does what is expected   1 FAILED: it does not   3 ERROR: it cannot be told here, or wrong usage
"""


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = CODES
    parser.add_argument("files", nargs="+", metavar="FILE", help="counterexamples (*.mem.json)")
    parser.add_argument("--target", default="oracle", metavar="TARGET", help="the provider, as for run (default: oracle)")
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
    parser.add_argument(
        "--print",
        dest="lines",
        choices=("curl", "stdio"),
        default=None,
        help="send nothing; print the calls as a shell script of curl lines for HTTP, or as JSON lines for stdio",
    )
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="say what came of each file alone")
    loudness.add_argument("-v", "--verbose", action="store_true", help="tell each request and answer whole")
