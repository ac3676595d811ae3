"""A shim that keeps in mind what was sent through it.

A digest of all of it shows that two runs sent the same; the call that was never answered is what a person wants to see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from conformance.errors import TargetFault
from conformance.exchange import CONTROL_PREFIX, Call, Reply
from conformance.histories import History
from conformance.transport.shim import Shim
from conformance.wire import json_text


class Listening:
    """Carries calls as ``shim`` does. The digest covers each call in order: caller, operation, flags, payload, no credential.

    ``answered`` is called after each call: a provider in this process may have imported something. ``digested`` False: nobody
    will ask for the digest.
    """

    def __init__(self, shim: Shim, answered: Callable[[], None] = lambda: None, *, digested: bool = True) -> None:
        self._shim = shim
        self._answered = answered
        self._digested = digested
        self._sum = hashlib.sha256()
        self.history = History()
        self.unanswered: Call | None = None
        self._shown: dict[str, str] = {}
        self.shared = shim.shared

    @property
    def digest(self) -> str:
        """SHA-256 over what was sent up to now, 64 lower-case hex digits."""
        return self._sum.hexdigest()

    @property
    def credentials(self) -> dict[str, str]:
        """The credentials that were given out and those that were shown, with what may stand for them where people read."""
        return {party.credential: "<credential>" for party in self.history.parties} | self._shown

    def send(self, call: Call) -> Reply:
        """Carry one call (see ``Shim``)."""
        self._hear(call)
        self.unanswered = call
        try:
            reply = self._shim.send(call)
        except TargetFault:
            self.history.add([call], [None])
            raise
        self.unanswered = None
        self._answered()
        self.history.add([call], [reply])
        return reply

    def send_all(self, calls: Sequence[Call]) -> list[Reply | TargetFault]:
        """Carry calls at the same time where that is possible (see ``Shim``)."""
        for call in calls:
            self._hear(call)
        replies = self._shim.send_all(calls)
        self._answered()
        self.history.add(calls, [None if isinstance(reply, TargetFault) else reply for reply in replies])
        return replies

    def restart(self) -> bool:
        """Restart the provider (see ``Shim``)."""
        restarted = self._shim.restart()
        if restarted:
            self.history.add([Call(f"{CONTROL_PREFIX}restart", {"crash": True})], [Reply(payload={})])
        return restarted

    def close(self) -> None:
        """Release what the shim holds."""
        self._shim.close()

    def _hear(self, call: Call) -> None:
        if call.credential:
            self._shown.setdefault(call.credential, f"<credential of {call.caller}>")
        if not self._digested:
            return
        # By name: what a request takes from an answer has its members in the order that the provider gave them.
        sent = [call.caller, call.op, sorted(call.flags), call.payload]
        self._sum.update(json_text.fingerprint(sent))
