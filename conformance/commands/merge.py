"""``memory-conformance merge``: put the results of a run's shards together."""

from __future__ import annotations

from argparse import Namespace

from conformance.collecting import in_order
from conformance.commands.telling import read, reports_of, say, waivers_of
from conformance.merging import merged
from conformance.reporting import Reporting
from conformance.wire.bundle import load


def main(options: Namespace) -> int:
    """Merge, report, and return the exit code of the whole run. Raises ``BadInput``."""
    reporting, waivers = Reporting(reports_of(options.report)), waivers_of(options.waivers)
    result = merged([(name, read(name)) for name in options.results], load(options.schemas), in_order())
    if waivers is not None:
        result = waivers.applied(result)
    reporting.over(result)
    say(result, options)
    return result.exit_code()
