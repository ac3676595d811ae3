"""A trace as it may be shown: readable steps without credentials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.exchange import Call, Exchange
from conformance.secrets import Secrets
from conformance.verdict import Step
from conformance.wire.json_text import pruned

LEVELS_SHOWN = 100
"""What is nested deeper is left out: nobody reads it, and a report must be able to write it."""


def steps(exchanges: Iterable[Exchange], unanswered: Call | None = None) -> tuple[Step, ...]:
    """Return the exchanges as steps, and last the call that was never answered, if there is one.

    Every credential that one of them carried is blotted out wherever it stands.
    """
    made: list[tuple[Call, Any]] = [(one.call, one.reply.body()) for one in exchanges]
    made += [] if unanswered is None else [(unanswered, None)]
    secrets = Secrets({call.credential: f"<credential of {call.caller}>" for call, _ in made if call.credential})
    return tuple(Step(call.caller, call.op, _shown(call.payload, secrets), _shown(body, secrets)) for call, body in made)


def _shown(value: Any, secrets: Secrets) -> Any:
    return secrets.value(pruned(value, LEVELS_SHOWN))
