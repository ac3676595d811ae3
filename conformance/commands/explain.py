"""``memory-conformance explain``: what a rule says, where it is from, and what its checks look at."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.catalogue import Rule, named
from conformance.errors import BadUsage
from conformance.modules import listed
from conformance.traceability import Standing, duties
from conformance.wire.bundle import load
from conformance.wire.vocabulary import Flag

_SOURCES: Mapping[str, str] = {
    "ref": "the reference page: it binds every provider",
    "profile": "a decision of the profile, where the reference page is silent",
}


def main(options: Namespace) -> int:
    """Print a rule and its checks. Raises ``BadUsage`` for an unknown rule."""
    console = Console(highlight=False)
    if options.rule is None and not options.coverage:
        raise BadUsage("explain needs a rule, as MEM-R014, or --coverage for the duties of the reference page.")
    parts = _parts(named(options.rule), coverage=options.coverage) if options.rule else _duties()
    for part in parts:
        console.print(part)
    return 0


def _parts(rule: Rule, *, coverage: bool) -> Iterator[RenderableType]:
    yield Text.assemble((rule.rule_id, "bold"), f"  {rule.title}")
    yield Padding(Text(rule.statement), (0, 0, 1, 2))
    yield _facts(rule)
    yield from _checks(rule)
    if coverage:
        yield Text("\nduties of the reference page that these checks cover", style="bold")
        for duty in duties():
            own = [check for check in duty.checks if check.startswith(f"{rule.rule_id}.")]
            if own:
                yield Padding(Text(f"{duty.key}: {', '.join(own)}"), (0, 0, 0, 2))


def _duties() -> Iterator[RenderableType]:
    """Count the duties: mapped to checks, excluded with a reason, open; list what is not mapped."""
    table = Table.grid(padding=(0, 2))
    for standing in Standing:
        table.add_row(str(standing), str(sum(duty.standing is standing for duty in duties())))
    yield Text("duties of the reference page", style="bold")
    yield table
    for duty in duties():
        if duty.standing is not Standing.MAPPED:
            yield Padding(Text(f"{duty.standing}: {duty.key}: {duty.excluded or 'no check and no reason'}"), (0, 0, 0, 2))


def _facts(rule: Rule) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    bundle = load()
    table.add_row("source", _SOURCES[rule.source])
    table.add_row("flags", ", ".join(bundle.flag(Flag(flag)) for flag in rule.flags) or "none beyond the core")
    table.add_row("operations", "all" if rule.operations == ("*",) else ", ".join(rule.operations))
    return table


def _checks(rule: Rule) -> Iterator[RenderableType]:
    checks = list(listed(rule))
    if not checks:
        yield Text("\nThere is no module of this rule yet.")
        return
    yield Text(f"\n{len(checks)} checks", style="bold")
    for check in checks:
        yield Padding(Text(check.check_id), (0, 0, 0, 2))
        yield Padding(Text(check.sentence, style="dim"), (0, 0, 0, 4))
