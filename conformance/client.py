"""A caller of a provider that trusts neither side: it validates each request before and each answer after (architecture.md).

A request of ours that its schema refuses is a ``SuiteFault``, unless the check meant it. An answer that its response schema
refuses, an error code that the table does not know, a retry class other than the table's and the internal error are broken
rules (``CheckFailed``): no check can pass on such an answer (rules.md, Reason-bound).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.errors import SuiteFault, TargetFault
from conformance.exchange import Call, Exchange, Exercise, Reply, Trace
from conformance.expect import CheckFailed
from conformance.transport.shim import Shim
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code


@dataclass(slots=True)
class Tally:
    """What a check did: memory ``calls`` sent, ``assertions`` executed, the (operation, error code or "") pairs ``seen``.

    ``exercised`` are the capabilities that it tried, held and lacking.
    """

    calls: int = 0
    assertions: int = 0
    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    exercised: dict[Exercise, None] = field(default_factory=dict)

    def count(self, exchange: Exchange) -> None:
        """Count one memory call and its outcome; a failed receipt counts as the code that it carries."""
        self.calls += 1
        pair = (exchange.call.op, exchange.reply.code or _failure(exchange.reply))
        self.seen[pair] = self.seen.get(pair, 0) + 1


def _failure(reply: Reply) -> str:
    receipt = reply.payload.get("receipt")
    failed = isinstance(receipt, dict) and receipt.get("state") == "failed" and isinstance(receipt.get("error"), dict)
    return str(receipt["error"].get("code", "")) if failed else ""


def unannotated(reply: Reply) -> Reply:
    """Leave out the answer's own ``extensions``: a provider may mark each answer there as it likes (section 1)."""
    if reply.payload is None or "extensions" not in reply.payload:
        return reply
    return Reply({name: value for name, value in reply.payload.items() if name != "extensions"}, reply.error)


class Client:
    """Sends calls through a shim and judges the form of what comes back."""

    def __init__(self, shim: Shim, bundle: Bundle) -> None:
        self.shim = shim
        self.bundle = bundle
        self.tally = Tally()

    def send(self, call: Call, trace: Trace, *, meant_invalid: bool = False) -> Reply:
        """Send one memory call and record it in ``trace``.

        ``meant_invalid`` says that the check breaks the request's schema on purpose. Raises ``SuiteFault`` for an invalid
        request that was not meant, ``TargetFault`` for no answer, ``CheckFailed`` for a malformed one.
        """
        if not meant_invalid:
            self._check_request(call)
        started = time.perf_counter()
        reply = self.shim.send(call)
        return self._received(call, reply, trace, time.perf_counter() - started)

    def send_all(self, calls: Sequence[Call], trace: Trace) -> list[Reply]:
        """Send calls at the same time (where the target takes that) and record them in call order. Raises as ``send`` does."""
        for call in calls:
            self._check_request(call)
        started = time.perf_counter()
        replies = self.shim.send_all(calls)
        seconds = time.perf_counter() - started
        return [self._settled(call, reply, trace, seconds) for call, reply in zip(calls, replies, strict=True)]

    def send_amid(self, control: Call, calls: Sequence[Call], place: int, trace: Trace) -> list[Reply | None]:
        """Send calls at the same time with a control call at ``place`` among them that may cost answers: None for a lost one.

        Raises ``TargetFault`` where the control itself is not answered or refused, and as ``send`` does.
        """
        for call in calls:
            self._check_request(call)
        started = time.perf_counter()
        outcomes = self.shim.send_all([*calls[:place], control, *calls[place:]])
        seconds = time.perf_counter() - started
        pulled = outcomes.pop(place)
        if isinstance(pulled, TargetFault):
            raise pulled
        if pulled.error is not None:
            raise TargetFault(f"{control.op} was refused: {pulled.code}: {pulled.error.get('message', '')}")
        return [
            None if isinstance(outcome, TargetFault) else self._received(call, outcome, trace, seconds)
            for call, outcome in zip(calls, outcomes, strict=True)
        ]

    def _settled(self, call: Call, reply: Reply | TargetFault, trace: Trace, seconds: float) -> Reply:
        if isinstance(reply, TargetFault):
            raise reply
        return self._received(call, reply, trace, seconds)

    def _received(self, call: Call, reply: Reply, trace: Trace, seconds: float) -> Reply:
        exchange = Exchange(call, reply, seconds)
        trace.add(exchange)
        self.tally.count(exchange)
        self.judge(call, reply)
        return unannotated(reply)

    def _check_request(self, call: Call) -> None:
        validator = self.bundle.request(call.op)
        if not validator.accepts(call.payload):
            problem = validator.problems(call.payload)[0]
            raise SuiteFault(f"{call.op}: the suite's own request is invalid at {problem.pointer or '/'}: {problem.message}")

    def judge(self, call: Call, reply: Reply) -> None:
        """Judge the form of an answer. Raises ``CheckFailed``."""
        if reply.error is None:
            self._check_success(call, reply)
        else:
            self._check_error(call, reply.error)

    def _check_success(self, call: Call, reply: Reply) -> None:
        if call.op not in self.bundle.operations:
            raise CheckFailed(f"{call.op}: an operation that does not exist was answered with success", seen=reply.payload)
        validator = self.bundle.response(call.op)
        if not validator.accepts(reply.payload):
            problem = validator.problems(reply.payload)[0]
            raise CheckFailed(
                f"{call.op}: the answer breaks its response schema ({problem.keyword}): {problem.message}",
                seen=reply.payload,
                pointer=problem.pointer,
            )

    def _check_error(self, call: Call, error: Mapping[str, Any]) -> None:
        envelope = self.bundle.model("ErrorEnvelope")
        if not envelope.accepts(error):
            problem = envelope.problems(error)[0]
            raise CheckFailed(
                f"{call.op}: the error envelope breaks its schema: {problem.message}", seen=error, pointer=problem.pointer
            )
        if not self.bundle.knows_code(str(error["code"])):
            raise CheckFailed(f"{call.op}: the error code is none of the contract's", seen=error, pointer="/code")
        symbol = self.bundle.symbol(str(error["code"]))
        if symbol is None:
            return
        if symbol is Code.INTERNAL:
            raise CheckFailed(f"{call.op}: no input whatever may yield the internal error", seen=error, pointer="/code")
        retry = (error.get("details") or {}).get("retry")
        if retry is not None and retry != self.bundle.errors[symbol].retry:
            raise CheckFailed(
                f"{call.op}: the retry class is not the table's",
                expected=self.bundle.errors[symbol].retry,
                seen=retry,
                pointer="/details/retry",
            )
