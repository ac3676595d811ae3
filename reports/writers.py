"""The report formats: one table from a format's name to a pure function of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from conformance.verdict import RunResult
from reports import badge, html, json_file, junit, markdown

Render = Callable[[RunResult], str]

FORMATS: Mapping[str, Render] = MappingProxyType(
    {
        "html": html.render,
        "markdown": markdown.render,
        "junit": junit.render,
        "json": json_file.render,
        "badge": badge.render,
    }
)


@dataclass(frozen=True, slots=True)
class Report:
    """A report that a person asked for: what is rendered how, and where it goes."""

    render: Render
    path: Path

    def write(self, result: RunResult) -> None:
        """Write the report, whole or not at all. Raises ``OSError``."""
        part = self.path.with_name(f"{self.path.name}.part")
        part.write_text(self.render(result), "utf-8")
        part.replace(self.path)


def report_named(text: str) -> Report:
    """Return the report that ``FORMAT:FILE`` asks for. Raises ``ValueError`` with the reason where it cannot be made."""
    name, _, file = text.partition(":")
    if name not in FORMATS or not file:
        raise ValueError(f"a report is asked for as FORMAT:FILE; the formats are {', '.join(FORMATS)}")
    path = Path(file)
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError("the file cannot be written there: " + ("it is a directory" if path.is_dir() else "no such directory"))
    return Report(FORMATS[name], path)
