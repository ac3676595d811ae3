"""A comparison as Markdown, for a comment on a pull request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.gate import words
from conformance.gate.effect_words import effect_lines
from conformance.gate.outcome import Comparison, Finding, Severity, TypeChange

_SHOWN = 40
"""Findings with witnesses; more would be longer than a comment may be."""
_WITNESS = 2000


def markdown(found: Comparison) -> str:
    """Return the whole comment."""
    lines = [f"### Schema gate: {words.LANDS[found.exit_code()]}", "", words.headline(found) + ".", ""]
    lines += _tables(found)
    lines += _types(found)
    lines += _witnesses(found)
    if found.effect is not None:
        lines += ["#### Effect on the suite", "", *(f"- {_escaped(line.strip())}" for line in effect_lines(found.effect)), ""]
    lines.append(f"`{found.old['origin']}` ({found.old['digest'][:12]}) → `{found.new['origin']}` ({found.new['digest'][:12]})")
    return "\n".join(lines) + "\n"


def _tables(found: Comparison) -> Iterator[str]:
    if found.tables:
        yield from _header("row", "change", "severity", "means")
        for one in found.tables:
            yield _row(one.old_at, words.change_of(one), words.standing(found, one), "; ".join(one.affects))
        yield ""


def _types(found: Comparison) -> Iterator[str]:
    changes = sorted(found.types, key=lambda one: list(Severity).index(one.severity), reverse=True)
    if changes:
        yield from _header("type", "severity", "changes", "evidence")
        for change in changes:
            yield _row(change.title, str(change.severity), _changes(found, change), _evidence(change))
        yield ""


def _changes(found: Comparison, change: TypeChange) -> str:
    told = [f"{words.change_of(one)} ({words.standing(found, one)})" for one in change.findings]
    return "; ".join([*told, *(f"unknown: {why}" for why in change.unknown), *change.notes])


def _evidence(change: TypeChange) -> str:
    return "; ".join(words.proof(name, one) for name, one in change.evidence.items())


def _witnesses(found: Comparison) -> Iterator[str]:
    rows = [(one.old_at, one) for one in found.tables if one.direction is not None]
    types = [(change.title, one) for change in found.types for one in change.findings]
    told = [(title, one) for title, one in (*rows, *types) if one.severity is Severity.BREAKING]
    if not told:
        return
    yield from ("<details><summary>Witnesses of what breaks</summary>", "")
    for title, finding in told[:_SHOWN]:
        yield from _witness(title, finding)
    if len(told) > _SHOWN:
        yield f"{len(told) - _SHOWN} more are in the JSON report."
    yield from ("</details>", "")


def _witness(title: str, finding: Finding) -> Iterable[str]:
    if finding.witness is None:
        return
    yield f"**{title}** `{_code(words.change_of(finding))}`: {'; '.join(finding.affects)}"
    yield from ("", "```json", _cut(finding.witness.instance), "```")
    yield from (f"{words.refuser(finding.direction)}: `{_code(finding.witness.message)}`", "")


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return (text if len(text) <= _WITNESS else f"{text[:_WITNESS]}…").replace("```", "'''")


def _header(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield "|" + "---|" * len(names)


def _row(*cells: str) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")
