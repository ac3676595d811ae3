"""The verdict as a badge: a small SVG image that says the same to those who see it and to those who hear it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from xml.sax.saxutils import escape

from conformance.verdict import RunResult, Verdict
from reports.counts import counts

LABEL = "memory contract"
UNFINISHED = ("incomplete", "#737373")
WAIVED = ("waived", "#8a6100")
# Each colour has a contrast of at least 4.5 to 1 against the white text.
_SAYS: Mapping[Verdict, tuple[str, str]] = MappingProxyType(
    {
        Verdict.PASS: ("conforms", "#1a7f37"),
        Verdict.FAIL: ("broken", "#c62828"),
        Verdict.SUITE_ERROR: ("suite error", "#8e24aa"),
        Verdict.INCONCLUSIVE: ("inconclusive", "#8a6100"),
        Verdict.NOT_APPLICABLE: ("not offered", "#616161"),
        Verdict.DESELECTED: ("not run", "#616161"),
    }
)
_NARROW = frozenset("fijltrI1.,:; ()")
_PADDING = 12


def render(result: RunResult) -> str:
    """Return the SVG text."""
    said, colour = _said(result)
    left, right = _width(LABEL), _width(said)
    title = escape(f"{LABEL}: {said}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#424242"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2}" y="14">{escape(LABEL)}</text><text x="{left + right / 2}" y="14">{escape(said)}</text></g></svg>\n'
    )


def _said(result: RunResult) -> tuple[str, str]:
    """Return the words and their colour: the verdict, and how many checks it stands on."""
    found = counts(result)
    if not result.complete:
        said, colour = UNFINISHED
    elif found.waived and result.exit_code() == 0:
        said, colour = WAIVED
    else:
        said, colour = _SAYS[result.verdict]
    return f"{said} {found.passed}/{found.total}", colour


def _width(text: str) -> int:
    return _PADDING + sum(4 if letter in _NARROW else 7 for letter in text)
