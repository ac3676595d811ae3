"""The options of ``verify``."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

EPILOG = """\
What is looked at: the signature; the digests of the suite, its schema bundle, kill matrix and requirements;
the recorded run, which is judged again, without the provider and without a network.

exit codes:
  0 it holds   1 it does not, with the reason   3 wrong usage
"""


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("certificate", metavar="FILE", help="the certificate")
    parser.add_argument("--key", required=True, metavar="PUB", help="the public key (PEM) of the one whom you trust")
    parser.add_argument("--transcript", default=None, metavar="FILE", help="the recorded run (default: FILE.transcript.gz)")
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
    parser.add_argument("-n", "--workers", type=int, default=0, metavar="N", help="worker processes (default: %(default)s)")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but the reason where it does not hold")
