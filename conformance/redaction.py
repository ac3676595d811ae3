"""A trace as it may be shown: readable steps without credentials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.exchange import Call, Exchange
from conformance.verdict import Step
from conformance.wire.json_text import pruned

SHORTEST_INSIDE = 6
"""A shorter credential is blotted out only where it is a whole string: it may be a part of any word."""
LEVELS_SHOWN = 100
"""What is nested deeper is left out: nobody reads it, and a report must be able to write it."""


def steps(exchanges: Iterable[Exchange], unanswered: Call | None = None) -> tuple[Step, ...]:
    """Return the exchanges as steps, and last the call that was never answered, if there is one.

    Every credential that one of them carried is blotted out wherever it stands.
    """
    made: list[tuple[Call, Any]] = [(one.call, one.reply.body()) for one in exchanges]
    made += [] if unanswered is None else [(unanswered, None)]
    secrets = {call.credential: f"<credential of {call.caller}>" for call, _ in made if call.credential}
    return tuple(Step(call.caller, call.op, _shown(call.payload, secrets), _shown(body, secrets)) for call, body in made)


def _shown(value: Any, secrets: Mapping[str, str]) -> Any:
    return _blotted(pruned(value, LEVELS_SHOWN), secrets)


def _blotted(value: Any, secrets: Mapping[str, str]) -> Any:
    match value:
        case str():
            return _text(value, secrets)
        case Mapping():
            return {_text(str(name), secrets): _blotted(member, secrets) for name, member in value.items()}
        case list() | tuple():
            return [_blotted(member, secrets) for member in value]
        case _:
            return value


def _text(value: str, secrets: Mapping[str, str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if value == secret or len(secret) >= SHORTEST_INSIDE:
            value = value.replace(secret, secrets[secret])
    return value
