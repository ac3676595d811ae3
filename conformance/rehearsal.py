"""A list of calls on a target: new spaces and principals, each call with its symbols resolved, what came of it.

Where the target makes no spaces, those of its file are used, and the names that the calls choose (subjects, contexts, keys) get a
salt; it is taken out of the answers again. The levers that were pulled are put back at the end.
"""

from __future__ import annotations

import itertools
import json
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.client import Client
from conformance.counterexample import Counterexample, Said
from conformance.errors import TargetFault
from conformance.exchange import CONTROL_PREFIX, Call, Reply
from conformance.expect import CheckFailed, Inconclusive
from conformance.levers import Home, Levers, Login
from conformance.symbols import START, Unbound, member, resolved, symbols_in
from conformance.target import Opened
from conformance.wire.bundle import Bundle

CHOSEN = frozenset({"subject_id", "subject_ids", "context_id", "context_ids", "idempotency_key", "source_context_id"})
SETTLE_SECONDS = 10.0
SETTLE_AGAIN, MANY_TIMES = 0.3, 10
POLL_SECONDS = 0.01
_SHOWN = re.compile(r"\$\{([^}]*)\}")


class Unready(Exception):
    """The calls cannot be sent to this target, or one before the last was not answered so that they can go on."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one call. ``reply`` is None where nothing came; ``broken`` says what is wrong with the answer's form.

    A pending receipt was followed until it was settled, unless operations are held.
    """

    call: Call
    reply: Reply | None
    broken: str = ""

    @property
    def body(self) -> Any:
        """The answer as JSON, None where nothing came."""
        return None if self.reply is None else self.reply.body()

    @property
    def outcome(self) -> str:
        """The error code, "" for success; a receipt that settled failed counts as the code that it carries."""
        if self.reply is None:
            return "no answer"
        if self.reply.error is not None:
            return str(self.reply.code)
        receipt = self.reply.payload.get("receipt")
        error = receipt.get("error") if isinstance(receipt, Mapping) else None
        return str(error.get("code")) if isinstance(error, Mapping) else ""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of all calls, in their order, and what the symbols stood for at the end."""

    answers: tuple[Answered, ...]
    bound: Mapping[str, Any]


class Patience:
    """How long a pending receipt is waited for. Where one did not settle in all that time, less is enough for the next ones."""

    def __init__(self) -> None:
        self.seconds = SETTLE_SECONDS
        self._longest = 0.0

    def took(self, seconds: float) -> None:
        """Take note of how long one took to settle."""
        self._longest = max(self._longest, seconds)

    def is_over(self) -> None:
        """Take note that one did not settle: wait only for what settles as fast as those that did."""
        self.seconds = min(self.seconds, max(SETTLE_AGAIN, MANY_TIMES * self._longest))


class Stage:
    """A target on which lists of calls are sent, each in spaces of its own."""

    def __init__(self, opened: Opened, bundle: Bundle) -> None:
        self.bundle = bundle
        self._opened = opened
        self._client = Client(opened.shim, bundle)
        self.levers = Levers(opened.shim, opened.facts)
        self.patience = Patience()

    def lacks(self, example: Counterexample) -> list[str]:
        """Return the flags and controls that the calls need and the target does not offer."""
        facts = self.levers.facts
        flags = [f"the flag {flag}" for flag in example.flags if flag not in facts.flags]
        return flags + [f"control.{name}" for name in example.controls if not self.levers.has(name) and name != "restart"]

    def perform(self, example: Counterexample, *, partly: bool = False) -> Heard:
        """Send all calls. Raises ``Unready`` where they cannot be sent, ``Unbound`` where a symbol has no meaning.

        ``partly``: where that is so after some of them, what came of these is given.
        """
        try:
            run = _Run(self, example, *self._places(example))
        except (Inconclusive, TargetFault) as error:
            raise Unready(str(error)) from error
        try:
            return run.through(partly=partly)
        finally:
            run.put_back()

    def _places(self, example: Counterexample) -> tuple[list[Home], list[Login]]:
        guests = sum(1 for party in example.callers if party.principal and not party.space)
        if self.levers.has("provision"):
            homes = [self.levers.provision() for _ in example.spaces]
        else:
            homes = list(self._opened.homes[: len(example.spaces)])
        if self.levers.has("principal"):
            logins = [self.levers.principal() for _ in range(guests)]
        else:
            logins = list(self._opened.logins[:guests])
        if len(homes) < len(example.spaces) or len(logins) < guests:
            wanted = f"{len(example.spaces)} spaces and {guests} principals"
            raise Inconclusive(f"the calls need {wanted}, the target offers {len(homes)} and {len(logins)}")
        return homes, logins

    def started(self, space_id: str, credential: str) -> str:
        """Ask when a space was made, "" where its root is not told."""
        (reply,) = self.send([Call("memory.spaces.list", {}, credential, self.levers.facts.flags, "root")])
        spaces = reply.payload["spaces"] if reply is not None and reply.payload else ()
        return next((str(space["created_at"]) for space in spaces if space["space_id"] == space_id), "")

    def send(self, calls: Sequence[Call]) -> list[Reply | None]:
        """Send calls at the same time; None where no well-formed answer came."""
        if len(calls) > 1:
            return [None if isinstance(reply, TargetFault) else reply for reply in self._opened.shim.send_all(calls)]
        try:
            return [self._opened.shim.send(call) for call in calls]
        except TargetFault:
            return [None]

    def broken(self, call: Call, reply: Reply | None) -> str:
        """Say what is wrong with an answer's form, "" for nothing."""
        if reply is None:
            return "no answer of the harness's form came"
        try:
            self._client.judge(call, reply)
        except CheckFailed as failed:
            return failed.what
        return ""


class _Run:
    """One pass over the calls."""

    def __init__(self, stage: Stage, example: Counterexample, homes: Sequence[Home], logins: Sequence[Login]) -> None:
        self._stage = stage
        self._example = example
        self._salt = f"-{secrets.token_hex(6)}" if any(home.shared for home in homes) else ""
        self._credentials: dict[str, str] = {}
        self._bound: dict[str, Any] = {}
        self._waiting = dict(example.materials)
        self._held = False
        self._pulled: set[str] = set()
        self._place(homes, logins)

    def _place(self, homes: Sequence[Home], logins: Sequence[Login]) -> None:
        free = iter(logins)
        spaces = dict(zip(self._example.spaces, homes, strict=True))
        self._bound.update({symbol: home.space_id for symbol, home in spaces.items()})
        for party in self._example.callers:
            if party.principal:
                login = spaces[party.space].root if party.space else next(free)
                self._bound[party.principal] = login.principal_id
                self._credentials[party.name] = login.credential
        if START in set().union(*(symbols_in(said.payload) for said in self._example.calls)):
            self._bound[START] = self._started(spaces)

    def _started(self, spaces: Mapping[str, Home]) -> str:
        """Ask when the first space was made."""
        home = next(iter(spaces.values()))
        if found := self._stage.started(home.space_id, home.root.credential):
            return found
        raise Unready("the target does not list the space, so that nothing tells its time")

    def through(self, *, partly: bool) -> Heard:
        """Send all calls, those of a group together; ``partly``: up to one that cannot be sent."""
        answers: list[Answered] = []
        for _, group in itertools.groupby(enumerate(self._example.calls), lambda entry: entry[1].together or -1 - entry[0]):
            try:
                answers += self._together([said for _, said in group])
            except (Unready, Unbound):
                if not (partly and answers):
                    raise
                break
        return Heard(tuple(answers), self._bound)

    def _together(self, group: Sequence[Said]) -> Iterator[Answered]:
        if len(group) == 1 and group[0].op.startswith(CONTROL_PREFIX):
            return iter([self._pull(group[0])])
        if any(said.op.startswith(CONTROL_PREFIX) for said in group):
            raise Unready("what a lever does amid calls in flight is another thing each time")
        calls = [self._call(said) for said in group]
        replies = [self._unsalted(reply) for reply in self._stage.send(calls)]
        told = [
            Answered(call, self._settled(call, reply), self._stage.broken(call, reply))
            for call, reply in zip(calls, replies, strict=True)
        ]
        for said, answered in zip(group, told, strict=True):
            self._bind(said, answered)
        return iter(told)

    def _call(self, said: Said) -> Call:
        self._make(symbols_in(said.payload))
        payload = self._salted(resolved(said.payload, self._bound))
        if not (said.malformed or self._stage.bundle.request(said.op).accepts(payload)):
            raise Unready(f"{said.op}: the request breaks its schema")
        flags = self._example.flags if said.flags is None else said.flags
        return Call(said.op, payload, self._credential(said.caller), frozenset(flags), said.caller)

    def _make(self, symbols: Iterable[str]) -> None:
        """Make the materials among the symbols, and what they are made of."""
        for symbol in symbols:
            if (value := self._waiting.pop(symbol, None)) is not None:
                self._make(symbols_in(value))
                self._bound[symbol] = resolved(value, self._bound)

    def _credential(self, name: str) -> str | None:
        party = next(party for party in self._example.callers if party.name == name)
        if party.credential is None:
            return None
        return _SHOWN.sub(lambda found: self._credentials[found[1]], party.credential)

    def _pull(self, said: Said) -> Answered:
        name, payload = said.op.removeprefix(CONTROL_PREFIX), resolved(said.payload, self._bound)
        self._pulled.add(name)
        try:
            if name == "restart":
                self._stage.levers.restart()
                answer: Mapping[str, Any] = {}
            else:
                answer = self._stage.levers.pull(name, **payload)
        except (TargetFault, Inconclusive, CheckFailed) as error:
            raise Unready(str(error)) from error
        if name == "hold":
            self._held = bool(payload.get("hold"))
        return Answered(Call(said.op, payload), Reply(payload=answer))

    def put_back(self) -> None:
        """Let held operations settle and a stopped clock run on."""
        if "hold" in self._pulled:
            self._stage.levers.hold(False)
        if "clock" in self._pulled:
            self._stage.levers.run_clock()

    def _bind(self, said: Said, answered: Answered) -> None:
        for symbol, pointer in said.names.items():
            if symbol not in self._bound and answered.reply is not None and answered.reply.payload is not None:
                try:
                    self._bound[symbol] = member(answered.reply.payload, pointer, self._bound)
                except (LookupError, ValueError, Unbound):
                    continue

    def _settled(self, call: Call, reply: Reply | None) -> Reply | None:
        """Return an answer with its receipt settled, where it was pending and nothing holds it."""
        patience, began = self._stage.patience, time.monotonic()
        while not self._held and (receipt := _pending(reply)) is not None:
            if time.monotonic() - began > patience.seconds:
                patience.is_over()
                break
            named = {"space_id": receipt["space_id"], "receipt_id": receipt["receipt_id"]}
            ask = replace(call, op="memory.receipts.get", payload=named)
            (found,) = self._stage.send([ask])
            if found is None or found.payload is None or reply is None:
                return reply
            reply = Reply(payload={**reply.payload, "receipt": found.payload["receipt"]})
            if _pending(reply) is not None:
                time.sleep(POLL_SECONDS)
            else:
                patience.took(time.monotonic() - began)
        return reply

    # -- names in a space that others use too

    def _salted(self, value: Any, member_name: str = "") -> Any:
        if not self._salt:
            return value
        if isinstance(value, Mapping):
            return {name: self._salted(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._salted(inner, member_name) for inner in value]
        return f"{value}{self._salt}" if isinstance(value, str) and member_name in CHOSEN else value

    def _unsalted(self, reply: Reply | None) -> Reply | None:
        if not self._salt or reply is None:
            return reply
        return Reply(*(json.loads(json.dumps(part).replace(self._salt, "")) for part in (reply.payload, reply.error)))


def _pending(reply: Reply | None) -> Mapping[str, Any] | None:
    receipt = reply.payload.get("receipt") if reply is not None and isinstance(reply.payload, Mapping) else None
    return receipt if isinstance(receipt, Mapping) and receipt.get("state") == "pending" else None
