"""``memory-conformance explain``: what a rule says, where it is from, and what its checks look at."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.catalogue import Rule, named
from conformance.errors import BadUsage
from conformance.modules import directory, listed
from conformance.wire.bundle import load
from conformance.wire.vocabulary import Flag

TRACEABILITY = "traceability.json"
_SOURCES: Mapping[str, str] = {
    "ref": "the reference page: it binds every provider",
    "profile": "a decision of the profile, where the reference page is silent",
}


def main(options: Namespace) -> int:
    """Print a rule and its checks. Raises ``BadUsage`` for an unknown rule."""
    rule = named(options.rule)
    console = Console(highlight=False)
    for part in _parts(rule, _coverage(rule) if options.coverage else None):
        console.print(part)
    return 0


def _parts(rule: Rule, coverage: list[Any] | None) -> Iterator[RenderableType]:
    yield Text.assemble((rule.rule_id, "bold"), f"  {rule.title}")
    yield Padding(Text(rule.statement), (0, 0, 1, 2))
    yield _facts(rule)
    yield from _checks(rule)
    if coverage is not None:
        yield Text("\ncovers", style="bold")
        yield from (Padding(Text(json.dumps(row, ensure_ascii=False)), (0, 0, 0, 2)) for row in coverage)


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


def _coverage(rule: Rule) -> list[Any]:
    path = directory() / TRACEABILITY
    if not path.is_file():
        raise BadUsage(f"this version carries no {TRACEABILITY}, so --coverage has nothing to tell.")
    return [row for row in json.loads(path.read_text("utf-8")).get("rows", []) if rule.rule_id in json.dumps(row)]
