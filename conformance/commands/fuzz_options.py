"""The options of ``fuzz``."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

FOCI = ("grants", "cas", "idempotency", "tombstones", "transfer", "all")
"""As ``conformance.machine.acts`` has them; here so that the help needs not load it."""

CODES = """\
exit codes:
  0 nothing was found   1 the target disagrees with the contract   3 wrong usage, or the suite is at fault
"""


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = CODES
    parser.add_argument("target", metavar="TARGET", nargs="?", default="oracle", help="the provider under test (default: oracle)")
    parser.add_argument("--focus", default="all", help=f"what is done most: {', '.join(FOCI)} (default: all, each in turn)")
    parser.add_argument("--minutes", type=float, default=None, help="how long it may take (default: 1, without --calls)")
    parser.add_argument("--calls", type=int, default=None, help="how many calls may be sent")
    parser.add_argument(
        "-n", "--workers", type=int, default=None, metavar="N",
        help="worker processes, each opens the target for itself; 0 works in this process (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--cluster", default=None, metavar="dask:tcp://HOST:PORT",
        help="work on the workers of a Dask scheduler, -n shards of the campaign (default: one for each of their threads); needs "
        "the extra memory-conformance[cluster], here and there",
    )  # fmt: skip
    parser.add_argument(
        "--target-template", default=None, metavar="TARGET",
        help="with --cluster: a target of each shard's own, {shard} stands for its number, from 0",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="what is random derives from it (default: 0)")
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
    parser.add_argument(
        "--corpus", default=None, metavar="DIR", help="keep what reached something new there, and go on from what is there"
    )
    parser.add_argument(
        "--findings", default=None, metavar="DIR", help="where findings are saved (default: findings in the corpus folder)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="say what came of it alone")
