"""``memory-conformance report``: tell a result again, from its file."""

from __future__ import annotations

from argparse import Namespace

from conformance.commands.telling import read, reports_of, say
from conformance.reporting import Reporting


def main(options: Namespace) -> int:
    """Report, and return the exit code that the run had. Raises ``BadInput`` for what a person got wrong."""
    reporting = Reporting(reports_of(options.report))
    result = read(options.result)
    reporting.over(result)
    say(result, options)
    return result.exit_code()
