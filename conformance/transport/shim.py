"""The protocol that every shim keeps, and the reading of an answer's outer shape (harness.md).

A shim carries memory calls and control calls and nothing else. It never lets the transport show: what goes wrong between us
and the provider is a ``TargetFault`` that names the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from conformance.errors import TargetFault
from conformance.exchange import Call, Reply


class Shim(Protocol):
    """A way to a provider.

    ``shared`` is true where several workers reach one and the same provider, so that checks which turn its clock, hold its
    operations or restart it must run alone.
    """

    shared: bool

    def send(self, call: Call) -> Reply:
        """Carry one call. Raises ``TargetFault`` where no well-formed answer comes within the deadline."""
        ...

    def send_all(self, calls: Sequence[Call]) -> list[Reply | TargetFault]:
        """Carry calls at the same time where the target takes parallel calls, else one after another; answers in call order."""
        ...

    def restart(self) -> bool:
        """Kill the provider without a goodbye and start it again; False where the shim has no hold on the process."""
        ...

    def close(self) -> None:
        """Release what the shim holds; the shim answers no call after it."""
        ...


def read_answer(op: str, answer: Any) -> Reply:
    """Turn an answer object into a ``Reply``: ``payload``, an object, or ``error``, an object with a ``code``.

    Raises ``TargetFault`` naming ``op`` for every other shape.
    """
    if not isinstance(answer, dict):
        raise TargetFault(f"{op}: the answer is no JSON object but {type(answer).__name__}")
    if ("payload" in answer) == ("error" in answer):
        raise TargetFault(f"{op}: an answer has exactly one of 'payload' and 'error'; this one has {sorted(map(str, answer))}")
    if "payload" in answer:
        if not isinstance(answer["payload"], dict):
            raise TargetFault(f"{op}: 'payload' is no JSON object but {type(answer['payload']).__name__}")
        if "error" in answer["payload"]:
            raise TargetFault(f"{op}: a success body with an 'error' member is success and error both")
        return Reply(payload=answer["payload"])
    error = answer["error"]
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        raise TargetFault(f"{op}: 'error' is no object with a string 'code'")
    return Reply(error=error)
