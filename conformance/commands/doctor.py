"""``memory-conformance doctor``: what a target says, what it answers, and what a run will leave open."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.commands.ending import ended_by_signal
from conformance.commands.here import find_modules_here
from conformance.doctor import Findings, Lack, Trip, examine
from conformance.target import open_target
from conformance.wire.bundle import load

SLOW_SECONDS = 0.5


def main(options: Namespace) -> int:
    """Examine: exit 0 where the basic operations succeed, else 1. Raises ``BadInput`` for what a person got wrong."""
    find_modules_here()
    bundle = load(options.schemas)
    target = open_target(options.target, bundle=bundle)
    with ended_by_signal(), target.started():
        opened = target.open()
        try:
            findings = examine(opened, bundle, restarts=target.restarts)
        finally:
            opened.shim.close()
    console = Console(highlight=False)
    for part in _parts(findings):
        console.print(part, soft_wrap=isinstance(part, Text))
    return 0 if findings.well else 1


def _parts(findings: Findings) -> Iterator[RenderableType]:
    yield _facts(findings)
    yield _trips(findings.trips)
    for lack in findings.lacks:
        yield _lack(lack)
    yield Text(
        "The basic operations succeed." if findings.well else "Not all of the basic operations succeed: put these right first."
    )


def _facts(findings: Findings) -> Table:
    facts = findings.facts
    table = Table.grid(padding=(0, 2))
    table.add_row("provider", f"{facts.name} {facts.version}".strip())
    table.add_row("instance", facts.instance or "not told")
    table.add_row("flags", ", ".join(sorted(facts.flags)) or "none")
    table.add_row("controls", ", ".join(sorted(facts.controls)) or "none")
    table.add_row("target file", f"{findings.principals} principals, {findings.spaces} spaces")
    limits = findings.limits
    table.add_row("limits", "not told" if limits is None else ", ".join(f"{name} {limits[name]}" for name in sorted(limits)))
    return table


def _trips(trips: Sequence[Trip]) -> Table:
    table = Table("operation", "answer", "ms")
    for trip in trips:
        table.add_row(trip.op, Text(trip.fault or trip.code or "success"), f"{trip.seconds * 1000:.1f}{_slow(trip)}")
    return table


def _slow(trip: Trip) -> str:
    return " slow" if trip.seconds > SLOW_SECONDS else ""


def _lack(lack: Lack) -> Text:
    return Text(f"{lack.what} is lacking: {lack.effect}. What to do: {lack.remedy}.")
