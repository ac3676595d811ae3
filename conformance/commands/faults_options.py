"""The options of ``faults``."""

from __future__ import annotations

from argparse import ArgumentParser

from conformance.profiles import DEFAULT_PROFILE, DEFAULT_SEED


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--kill-matrix", action="store_true", help="run each fault against its own rule's module")
    parser.add_argument("--all-rules", action="store_true", help="run each fault against every rule, not only its own (long)")
    parser.add_argument("--freedom", action="store_true", help="run every permitted variant against every rule: none may fail")
    parser.add_argument(
        "--only", metavar="NAME,…", default="", help="only these faults or variants; a rule (R014) names all of its faults"
    )
    parser.add_argument("--profile", default=DEFAULT_PROFILE, help="how much is tried (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="what is random derives from it (default: %(default)s)")
    parser.add_argument("--schemas", metavar="DIR", help="run them by another schema bundle than the packaged one")
    parser.add_argument("-n", dest="workers", type=int, default=2, metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the matrix as JSON")
