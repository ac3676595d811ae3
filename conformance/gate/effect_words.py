"""The effect on the suite, in lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SHOWN = 8


def effect_lines(effect: Mapping[str, Any] | None) -> Iterator[str]:
    """Say what the suite makes of a change, a line each."""
    if effect is None:
        return
    yield "effect on the suite:"
    for name, value in effect.items():
        if isinstance(value, list) and value:
            shown = ", ".join(map(str, value[:_SHOWN]))
            yield f"  {name.replace('_', ' ')}: {len(value)}: {shown}{', …' if len(value) > _SHOWN else ''}"
        elif isinstance(value, str) and value:
            yield f"  {name.replace('_', ' ')}: {value}"
    if not any(effect.values()):
        yield "  none: every check, target and fault still applies"
