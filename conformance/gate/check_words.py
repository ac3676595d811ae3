"""A look at a bundle, told at a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from conformance.gate.checking import Checked


def headline(found: Checked) -> str:
    """Say the verdict in one line."""
    verdict = {0: "nothing to say against it", 1: "it has faults", 2: "something could not be told"}[found.exit_code()]
    told = f"{len(found.points)} findings, {len(found.unknown)} unknown"
    return f"{found.origin}: {found.documents} documents, {found.operations} operations, {_branches(found)}: {told}: {verdict}"


def _branches(found: Checked) -> str:
    return f"{found.reached} of {found.branches} branches reached"


def report(found: Checked) -> Iterator[RenderableType]:
    """Give the parts of the report."""
    if found.points:
        table = Table("convention", "where", "what", box=None, padding=(0, 2, 0, 0))
        for point in found.points:
            table.add_row(Text(point.kind, style="bold red"), Text(point.where), Text(point.what))
        yield table
    yield from (Text(f"unknown: {why}", style="yellow") for why in found.unknown)
    yield Text(headline(found), style=("bold green", "bold red", "bold yellow")[found.exit_code()])


def markdown(found: Checked) -> str:
    """Return the findings as a comment."""
    lines = [f"### Schema check: {headline(found)}", ""]
    if found.points:
        lines += ["| convention | where | what |", "|---|---|---|"]
        lines += [f"| {_cell(point.kind)} | {_cell(point.where)} | {_cell(point.what)} |" for point in found.points]
    lines += [f"- unknown: {why}" for why in found.unknown]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
