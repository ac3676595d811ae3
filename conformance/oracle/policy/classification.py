"""Candidate classification: advice only, it decides nothing (protocol.md section 3, MemoryCandidate)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COGNITION_SIGNAL = "cognition"
STRUCTURED_SIGNAL = "structured"


def classify(content: Mapping[str, Any]) -> dict[str, Any]:
    """Give the label and the signals of captured content."""
    found = signals(content)
    return {"label": label(found), "signals": found}


def signals(content: Mapping[str, Any]) -> list[str]:
    """List what was noticed; ``cognition`` exactly when the captured cognition array is not empty."""
    return [
        *([COGNITION_SIGNAL] if has_cognition(content) else []),
        *([STRUCTURED_SIGNAL] if "structured" in content else []),
    ]


def has_cognition(content: Mapping[str, Any]) -> bool:
    """Say whether at least one cognition record was captured: ``[]`` is none."""
    return bool(content.get("cognition"))


def label(found: list[str]) -> str:
    """Name the sort of material by its signals."""
    return "cognitive" if COGNITION_SIGNAL in found else "plain"
