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
    parser.add_argument(
        "action",
        choices=("check", "diff"),
        help="check BUNDLE: look at one bundle: form, conventions, what can never hold (default: packaged); "
        "diff OLD NEW: tell what a change does to clients, readers, stored data and this suite",
    )
    parser.add_argument("bundles", metavar="BUNDLE", nargs="*", help="one for check, two for diff")
    parser.add_argument("--dir", dest="within", metavar="DIRECTORY", help="the directory that git revisions are of")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT:FILE",
        help="write a report too, as json or markdown; - is stdout; may be repeated",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="tell the evidence of what does not break too")
    parser.add_argument("-q", "--quiet", action="store_true", help="say the verdict alone")
    _diff(parser)


def _diff(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("for diff")
    group.add_argument(
        "--readers",
        choices=("strict", "tolerant"),
        default="strict",
        help="strict readers validate and refuse members that they do not know, tolerant ones skip them (default: %(default)s)",
    )
    group.add_argument(
        "--version-step",
        choices=("model", "any", "never", "off"),
        default="model",
        help="which breaking changes may land: those in a model whose schema_version steps (model), all as soon as one model "
        "steps (any), none (never), all (off) (default: %(default)s)",
    )
    group.add_argument(
        "--examples", type=int, default=20, metavar="N", help="instances to try of each type and direction (default: %(default)s)"
    )
    group.add_argument("--no-suite", action="store_true", help="leave out the effect on this suite's checks")
    group.add_argument("--run", metavar="PROFILE", help="run the suite on the oracle by both, and tell what differs")
    group.add_argument("--kill-matrix", action="store_true", help="run the seeded faults by the new one (in a checkout; long)")
    group.add_argument(
        "--rules", action="append", default=[], metavar="R011,R013", help="run these rules alone, or the faults of these alone"
    )
    group.add_argument("-n", dest="workers", type=int, default=2, metavar="N", help="processes for these (default: %(default)s)")
    group.add_argument("--transcripts", metavar="DIR", help="judge recorded calls by both, and tell what differs")
