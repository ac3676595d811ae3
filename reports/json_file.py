"""The result as a JSON file: the whole of it, and counts for those who only count (reports/schema/result.schema.json)."""

from __future__ import annotations

import json

from conformance.verdict import RunResult
from reports.counts import counts


def render(result: RunResult) -> str:
    """Return the JSON text. Only ASCII is in it, since what a provider sent may hold lone surrogates."""
    return json.dumps({**result.to_json(), "counts": counts(result).to_json()}, indent=1) + "\n"
