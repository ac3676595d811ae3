"""JSON text from a provider, read without trust: what is no JSON is a ``TargetFault`` that names the call."""

from __future__ import annotations

from typing import Any

from conformance.errors import TargetFault, blame
from conformance.wire import json_text

ANSWER_LIMIT = 32 * 2**20
"""No answer is longer, in bytes: an export chunk is the longest that the contract has, and is far shorter."""


def read_json(op: str, text: bytes) -> Any:
    """Read a JSON text: strict UTF-8, no NaN or infinity, no number beyond the doubles. Raises ``TargetFault`` naming ``op``."""
    try:
        return json_text.read(text.decode("utf-8"))
    except ValueError as error:
        raise TargetFault(f"{op}: the answer is not JSON: {blame(error)}: {excerpt(text)}") from error


def excerpt(text: bytes) -> str:
    """Show the beginning of what came, in one line."""
    return ascii(text[:80].decode("utf-8", "replace")) + ("…" if len(text) > 80 else "")
