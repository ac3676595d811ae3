"""The result as a JSON file: the whole of it, and counts for those who only count."""

from __future__ import annotations

import json
from collections import Counter

from conformance.verdict import RunResult


def render(result: RunResult) -> str:
    """Return the JSON text. Only ASCII is in it, since what a provider sent may hold lone surrogates."""
    counts = {
        "rules": dict(sorted(Counter(str(rule.verdict) for rule in result.rules).items())),
        "checks": dict(sorted(Counter(str(check.verdict) for check in result.checks).items())),
    }
    return json.dumps({**result.to_json(), "counts": counts}, indent=1) + "\n"
