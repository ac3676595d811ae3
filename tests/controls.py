"""The control of the kill matrix: a provider that breaks everything, which every rule must kill.

Its counterpart, the inverted control that no rule may kill, are the permitted variants (``tests.variants``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.oracle import Oracle

Answer = Mapping[str, Any]


class BreaksEverything:
    """The oracle whose every success carries a member that its closed schema does not know."""

    def __init__(self) -> None:
        self._oracle = Oracle()

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        answer = self._oracle.call(credential, flags, op, payload)
        return answer if "error" in answer else {"payload": {**answer["payload"], "surprise": True}}

    def control(self, name: str, payload: Any) -> Answer:
        return self._oracle.control(name, payload)


NAMES = ("breaks_everything",)


def __getattr__(name: str) -> Callable[[], BreaksEverything]:
    if name in NAMES:
        return BreaksEverything
    raise AttributeError(f"no control is named {name!r}")
