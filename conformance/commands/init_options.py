"""The options of ``init``."""

from __future__ import annotations

from argparse import ArgumentParser

LANGUAGES = ("python", "javascript")


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("directory", nargs="?", default=".", metavar="DIRECTORY", help="where it is written (default: here)")
    parser.add_argument(
        "--language", choices=LANGUAGES, default=LANGUAGES[0], help="the language of the provider (default: %(default)s)"
    )
    parser.add_argument("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
