"""The options of ``schemas``."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

NAMES = """\
a bundle is a directory with schema files (and maybe operations.json and errors.json), "packaged" for ours, or a git revision of
a directory: REVISION:DIRECTORY, or REVISION alone with --dir DIRECTORY, or where the other one is a directory

exit codes:
  check  0 nothing to say   1 findings              2 something could not be told   3 wrong usage
  diff   0 it may land      1 a breaking change     2 something could not be told   3 wrong usage
"""


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = NAMES
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|diff")
    _check(actions.add_parser("check", help="look at one bundle: form, conventions, what can never hold"))
    _diff(actions.add_parser("diff", help="tell what a change does to providers, clients, stored data and this suite"))


def _check(parser: ArgumentParser) -> None:
    parser.add_argument("bundle", metavar="DIR", nargs="?", default="packaged", help="the bundle (default: packaged)")
    parser.add_argument("--dir", dest="within", metavar="DIRECTORY", help="the directory that a git revision is of")
    _reports(parser)


def _diff(parser: ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="the bundle before")
    parser.add_argument("new", metavar="NEW", help="the bundle after")
    parser.add_argument("--dir", dest="within", metavar="DIRECTORY", help="the directory that git revisions are of")
    parser.add_argument(
        "--readers",
        choices=("strict", "tolerant"),
        default="strict",
        help="strict readers validate and refuse members that they do not know, tolerant ones skip them (default: %(default)s)",
    )
    parser.add_argument(
        "--version-step",
        choices=("model", "any", "never", "off"),
        default="model",
        help="which breaking changes may land: those in a model whose schema_version steps (model), all as soon as one model "
        "steps (any), none (never), all (off) (default: %(default)s)",
    )
    parser.add_argument(
        "--examples", type=int, default=20, metavar="N", help="instances to try of each type and direction (default: %(default)s)"
    )
    parser.add_argument("--no-suite", action="store_true", help="leave out the effect on this suite's checks")
    parser.add_argument("--run", metavar="PROFILE", help="run the suite on the oracle by both, and tell what differs")
    parser.add_argument("--kill-matrix", action="store_true", help="run the seeded faults by the new one (in a checkout; long)")
    parser.add_argument("-n", dest="workers", type=int, default=2, metavar="N", help="processes for these (default: %(default)s)")
    parser.add_argument("--transcripts", metavar="DIR", help="judge recorded calls by both, and tell what differs")
    _reports(parser)


def _reports(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT:FILE",
        help="write a report too, as json or markdown; - is stdout; may be repeated",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="tell the evidence of what does not break too")
    parser.add_argument("-q", "--quiet", action="store_true", help="say the verdict alone")
