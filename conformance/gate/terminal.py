"""A comparison for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from conformance.gate import words
from conformance.gate.effect_words import effect_lines
from conformance.gate.outcome import Comparison, Finding, Severity, TypeChange

_STYLES = {
    Severity.BREAKING: "bold red",
    Severity.UNKNOWN: "bold yellow",
    Severity.ADDITIVE: "green",
    Severity.EDITORIAL: "dim",
    Severity.NONE: "dim",
}
_WITNESS = 1000


def report(found: Comparison, *, verbose: bool = False) -> Iterator[RenderableType]:
    """Give the parts of the report; ``verbose`` tells the evidence of types that did not break too."""
    for finding in found.tables:
        yield from _finding(found, finding, heading=finding.old_at)
    for change in sorted(found.types, key=lambda one: list(Severity).index(one.severity), reverse=True):
        yield from _change(found, change, verbose=verbose)
    yield from (Text(line) for line in effect_lines(found.effect))
    exit_code = found.exit_code()
    yield Text(words.headline(found), style="bold green" if exit_code == 0 else "bold red" if exit_code == 1 else "bold yellow")
    if found.stepped:
        yield Text(f"a later schema_version: {', '.join(found.stepped)}")


def _change(found: Comparison, change: TypeChange, *, verbose: bool) -> Iterator[RenderableType]:
    yield Text.assemble((f"{change.severity:<10}", _STYLES[change.severity]), (change.title, "bold"), f"  {change.file}")
    for finding in change.findings:
        yield from _finding(found, finding)
    for line in (*(f"unknown: {why}" for why in change.unknown), *change.notes):
        yield Padding(Text(line), (0, 0, 0, 10))
    for name, evidence in change.evidence.items():
        if verbose or evidence.shown != "refuted":
            yield Padding(Text(words.proof(name, evidence), style="dim"), (0, 0, 0, 10))


def _finding(found: Comparison, finding: Finding, heading: str = "") -> Iterator[RenderableType]:
    standing = words.standing(found, finding)
    if heading:
        yield Text.assemble((f"{finding.severity:<10}", _STYLES[finding.severity]), (heading, "bold"))
    yield Padding(
        Text.assemble((standing, _STYLES[finding.severity]), f"  {words.change_of(finding)}{_places(finding)}"), (0, 0, 0, 10)
    )
    for line in finding.affects:
        yield Padding(Text(line), (0, 0, 0, 12))
    if finding.witness is not None and finding.direction is not None:
        text = f"{words.refuser(finding.direction)}: {words.short(finding.witness.instance, _WITNESS)}"
        yield Padding(Text(text), (0, 0, 0, 12))
        yield Padding(Text(f"because {finding.witness.pointer or '/'}: {finding.witness.message}"), (0, 0, 0, 12))


def _places(finding: Finding) -> str:
    return f"  (in {finding.places} places)" if finding.places > 1 else ""
