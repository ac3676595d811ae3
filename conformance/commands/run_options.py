"""The options of ``run``."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

from conformance.commands.telling_options import add_telling_options
from conformance.profiles import DEFAULT_PROFILE, DEFAULT_SEED, PROFILES

TARGETS = """\
targets:
  oracle                          the bundled in-memory provider (the default)
  python:package.module:factory   an object of this process: a provider, a MemoryPort, or an adapter with as_memory()
  stdio:COMMAND                   a child process that speaks JSON lines
  http://HOST:PORT/BASE           a server, also over https:
  target.toml                     a file that names one of these and adds principals, spaces, flags, a deadline

for example:
  memory-conformance run                                          judge the bundled provider, to see what it looks like
  memory-conformance run target.toml --profile smoke              does it work at all?
  memory-conformance run target.toml --rules R010,R011 -v         a few rules, with every failure
  memory-conformance run target.toml --report html:report.html    a page to look at, and to send to others
  memory-conformance run target.toml --waivers waivers.toml       what is known to fail does not stop the gate
  memory-conformance run target.toml --profile full --certify shop.json --key release.key

exit codes:
  0 the target conforms   1 it does not   2 inconclusive, or nothing applicable   3 wrong usage, or the suite is at fault
"""


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = TARGETS
    parser.add_argument("target", nargs="?", default="oracle", metavar="TARGET", help="the provider under test (default: oracle)")
    parser.add_argument(
        "--profile", default=DEFAULT_PROFILE, help=f"how much is tried: {', '.join(PROFILES)} (default: {DEFAULT_PROFILE})"
    )
    parser.add_argument("--rules", action="append", default=[], metavar="R011,R013", help="run the checks of these rules alone")
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="ID",
        help="run this check alone (may be repeated); without its [parameter] all of them",
    )
    parser.add_argument(
        "-n",
        "--workers",
        type=int,
        default=None,
        metavar="N",
        help="worker processes; 0 runs in this process, without shelter from a provider that kills it "
        "(default: for the oracle one for each processor, and 0 in the profile smoke; else 1, since each worker opens the target "
        "for itself)",
    )
    parser.add_argument(
        "--weights",
        default=None,
        metavar="RESULT",
        help="a result in JSON: workers begin with the checks that took longest in it, and shards of similar weight are dealt by "
        "it (default: workers go by the last run of this profile on this target, kept in $XDG_CACHE_HOME/memory-conformance or "
        "~/.cache/memory-conformance; shards are dealt in turn)",
    )
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="what is random derives from it (default: 0)")
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
    parser.add_argument(
        "--certify",
        default=None,
        metavar="FILE",
        help="write a certificate of a whole run of the profile full that passes, and beside it the recorded run",
    )
    parser.add_argument("--key", default=None, metavar="FILE", help="the private key that signs it (keygen makes one)")
    parser.add_argument(
        "--artifact", action="append", default=[], metavar="FILE", help="a file of the provider that the certificate is about"
    )
    parser.add_argument(
        "--shard", default=None, metavar="I/N", help="run part I of N of the checks; merge puts the results of all parts together"
    )
    parser.add_argument(
        "--waivers", default=None, metavar="FILE", help="checks that are known not to pass: they leave the exit code alone"
    )
    parser.add_argument(
        "--baseline", default=None, metavar="RESULT", help="an earlier result: exit 1 only for what has got worse since"
    )
    add_telling_options(parser)
    parser.add_argument(
        "--record",
        default=None,
        metavar="FILE",
        help="keep all requests and answers, without credentials (JSON lines, gzip): what a certificate stands on",
    )
    parser.add_argument(
        "--stream",
        default=None,
        metavar="FILE",
        help="write each result as it comes, as JSON lines; report reads it, of a run that was killed too",
    )
