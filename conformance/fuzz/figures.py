"""What a person sees of a run: a line that lives on a terminal, each finding as it comes, and a summary at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from conformance.counterexample import SUFFIX
from conformance.fuzz.crew import Look, Outcome
from conformance.fuzz.findings import Finding, name_of
from conformance.fuzz.order import Order
from conformance.fuzz.work import News

REFRESH = 4


def line(outcome: Outcome, order: Order) -> str:
    """Tell the figures of a run in one line."""
    rate = outcome.calls / outcome.seconds if outcome.seconds else 0.0
    budget = "" if order.seconds is None else f" of {_clock(order.seconds)}"
    most = "" if order.calls is None else f" of {order.calls:,}"
    return (
        f"{_clock(outcome.seconds)}{budget}  {outcome.calls:,}{most} calls  {rate:,.0f} calls/s  {outcome.episodes:,} episodes  "
        f"{len(outcome.corpus.behaviours):,} behaviours (+{outcome.fresh:,})  {len(outcome.findings.found)} findings"
    )


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@contextmanager
def watching(order: Order, *, quiet: bool = False) -> Iterator[Look]:
    """Show a run while it goes on: on standard error, where that is a terminal."""
    console = Console(stderr=True, highlight=False)
    if quiet or not sys.stderr.isatty():
        yield lambda _outcome, _news: None
        return
    with Live("", console=console, refresh_per_second=REFRESH, transient=True) as live:
        seen: set[object] = set()

        def look(outcome: Outcome, news: News) -> None:
            live.update(Text(line(outcome, order)))
            if news.finding is not None and news.finding.key not in seen:
                seen.add(news.finding.key)
                console.print(Text(f"found: {news.finding.what} ({news.finding.reason})"))

        yield look


def summary(outcome: Outcome, order: Order, folder: Path | None) -> Iterator[Table | Text]:
    """Tell what came of a run."""
    found = sorted(outcome.findings.found.values(), key=lambda finding: finding.key)
    if found:
        table = Table("rule", "operation", "what", "times", "calls", title="Disagreements with the model", title_justify="left")
        for finding in found:
            table.add_row(finding.rule, finding.op, finding.reason, str(finding.times), _calls(finding))
        yield table
        yield from (Text(f"{finding.rule} {finding.op} {finding.reason}: {why}") for finding in found if (why := _why(finding)))
    yield Text(line(outcome, order) + (" (stopped by hand)" if outcome.stopped else ""))
    yield Text(_shares(outcome))
    if folder is not None and found:
        yield Text(f"saved in {folder}")
        reduced = next((finding for finding in found if finding.counterexample is not None), None)
        if reduced is not None:
            yield Text(f"show one again with: memory-conformance replay {folder}/{name_of(reduced)}{SUFFIX}")


def _calls(finding: Finding) -> str:
    if finding.counterexample is None:
        return f"{finding.calls}, not reduced"
    return str(len(finding.counterexample.calls))


def _why(finding: Finding) -> str:
    """Say what went wrong when a finding was reduced, "" for nothing."""
    found = finding.counterexample
    why = finding.unreduced if found is None else found.unreduced
    return f"not reduced: {why}" if why else ""


def _shares(outcome: Outcome) -> str:
    worked = outcome.worked or 1.0
    provider, suite = outcome.share.provider / worked, outcome.share.suite / worked
    rest = max(0.0, 1 - provider - suite)
    return f"time: provider and form checks {provider:.0%}, model and comparison {suite:.0%}, choosing and the rest {rest:.0%}"
