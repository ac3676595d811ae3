"""The oracle as the model of a target: its steps, over a state that takes on what the target chose.

Nothing here talks to the target. A step is asked with a state and gives the state after it, so that a caller may try several
and keep one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.oracle import Choices, authority, imports, jobs, steps
from conformance.oracle.choices import Limits
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space, State, Table
from conformance.oracle.turn import Env, Turn
from conformance.wire import canonical
from conformance.wire.bundle import Bundle

ACTIVATE = "memory.imports.activate"
GENERATE = "memory.reflections.generate"
DIGEST_MEMBER = "expected_state_digest"
NO_LIMIT = 1_000_000

# What an object is called in a receipt, and what the oracle calls it where it makes an id.
MINTED: Mapping[str, str] = {
    "grant": "grant", "candidate": "cand", "record": "rec", "reflection": "refl", "export": "exp", "import": "imp",
}  # fmt: skip


class Ids:
    """Names new objects as the target named them; where it named too few, by names of the model's own."""

    def __init__(self) -> None:
        self._offered: dict[str, deque[str]] = {}

    def offer(self, receipt: Doc | None) -> None:
        """Take the names of a receipt for the objects that are made next; None forgets them."""
        self._offered = {}
        if receipt is None:
            return
        self._offered["rcpt"] = deque([receipt["receipt_id"]])
        for entry in receipt["affected"]:
            if entry["type"] in MINTED:
                self._offered.setdefault(MINTED[entry["type"]], deque()).append(entry["id"])

    def make(self, kind: str, number: int) -> str:
        """Give the next offered name of this kind."""
        offered = self._offered.get(kind)
        return offered.popleft() if offered else f"{kind}-of-the-model-{number}"


@dataclass(frozen=True, slots=True)
class Asked:
    """One call as the model takes it: ``caller`` is a principal id.

    ``named`` is the receipt with the target's names for what is made; ``pends`` says that the target left it pending.
    """

    caller: str
    op: str
    request: Doc
    named: Doc | None = None
    pends: bool = False


class Model:
    """The oracle's steps with a target's choices. ``now`` is the Timestamp at which the next step is taken."""

    def __init__(self, bundle: Bundle, described: Mapping[str, Any], flags: frozenset[str]) -> None:
        self.bundle = bundle
        self.ids = Ids()
        self.state = State()
        self.now = ""
        self.described = described
        # the target's state digests, and what this model calls the same states: ``comparison.Sight`` fills it
        self.digests: dict[str, str] = {}
        # by receipt, the codes of all reasons for which its pending activation failed
        self.failures: dict[str, frozenset[str]] = {}
        choices = Choices(
            limits=Limits(**described["limits"]),
            required_profile_kinds=tuple(described["required_profile_kinds"]),
            cognition_dimensions=tuple(described["cognition_dimensions"]),
            protocol_version=described["protocol_version"],
            engine_policy_version=described["engine_policy_version"],
            make_id=self.ids.make,
            cursor_dies_at_any_change=False,
            tells_retry=False,
        )
        dimensions = frozenset(described["cognition_dimensions"])
        self.env = Env(bundle=bundle, choices=choices, declared=flags, dimensions=dimensions, secret="model")  # noqa: S106  (it makes the model's own cursors, which nobody sees)
        self.wide = self.having(limits=replace(choices.limits, max_page=NO_LIMIT), default_limit=NO_LIMIT)

    def having(self, **choices: Any) -> Env:
        """Give the surroundings of a step with other choices of the provider."""
        return replace(self.env, choices=replace(self.env.choices, **choices))

    # -- beginning

    def found(self, facts: Doc, grants: Sequence[Doc]) -> None:
        """Begin with a space as the target shows it to its root: its document and the root's grants."""
        space_id = facts["space_id"]
        kept = {name: value for name, value in facts.items() if name != "pending_receipts"}
        table = Table()
        for number, grant in enumerate(grants, start=self.state.number + 1):
            table = table.add(grant["grant_id"], grant["grantee_id"], number, grant)
        state = self.state.having(Space(space_id, kept, grants=table), self.state.number + len(grants) + 1)
        self.state = state.joined(space_id, [grant["grantee_id"] for grant in grants])

    # -- stepping

    def step(self, state: State, asked: Asked, env: Env | None = None) -> tuple[State, Doc | Refusal]:
        """Take one step from ``state``, which stays as it is."""
        self.ids.offer(asked.named)
        if asked.op == GENERATE and DIGEST_MEMBER in asked.request:
            return self._generate(state, asked, env or self.env)
        after, reply = steps.step(state, asked.caller, asked.op, asked.request, env or self.env, self.now, holds=asked.pends)
        if asked.op == ACTIVATE and not isinstance(reply, Refusal):
            after = self._renamed(after, asked.request["space_id"])
        return after, reply

    def _renamed(self, state: State, space_id: str) -> State:
        """Give reflections that an activation brought from the target the digests that this model gives the same states."""
        space = state.spaces[space_id]
        reflections = space.reflections
        for name, row in space.reflections.rows.items():
            told = row.doc["basis"]["state_digest"]
            mine = self.digests.get(told, told)
            if mine != told:
                reflections = reflections.change(name, {**row.doc, "basis": {**row.doc["basis"], "state_digest": mine}})
        return state if reflections is space.reflections else state.having(space.having(reflections=reflections), state.number)

    def _generate(self, state: State, asked: Asked, env: Env) -> tuple[State, Doc | Refusal]:
        """Step with the digest that this model gives the state; the receipt stays bound to the request that was sent."""
        request, space = asked.request, state.spaces.get(asked.request["space_id"])
        if space is None or space.receipts.by_key((asked.caller, asked.op, request["idempotency_key"])) is not None:
            return steps.step(state, asked.caller, asked.op, request, env, self.now, holds=asked.pends)
        digest = request[DIGEST_MEMBER]
        mine = {**request, DIGEST_MEMBER: self.digests.get(digest, digest)}
        after, reply = steps.step(state, asked.caller, asked.op, mine, env, self.now, holds=asked.pends)
        return (after, reply) if isinstance(reply, Refusal) else self._bound(after, reply["receipt"], request)

    def _bound(self, state: State, receipt: Doc, request: Doc) -> tuple[State, Doc]:
        space = state.spaces[receipt["space_id"]]
        bound = {**receipt, "payload_digest": canonical.digest(request)}
        receipts = space.receipts.change(space.receipts.ids[receipt["receipt_id"]], bound)
        return state.having(space.having(receipts=receipts), state.number), {"receipt": bound}

    def listing(self, state: State, asked: Asked) -> list[Doc] | Refusal:
        """Give all items of a paged operation, whatever the page, or how it is refused."""
        request = {name: value for name, value in asked.request.items() if name != "page"}
        _, reply = self.step(state, replace(asked, request=request), self.wide)
        if isinstance(reply, Refusal):
            return reply
        items: list[Doc] = reply[str(self.bundle.operations[asked.op].lists)]
        return items

    # -- what is pending

    def pending(self, state: State) -> list[tuple[int, str]]:
        """List the pending receipts of all spaces as (number, space id), oldest first."""
        return jobs.due(state)

    def settle(self, state: State, number: int, space_id: str) -> State:
        """Settle one pending receipt."""
        space = state.spaces[space_id]
        if space.jobs[number].op == ACTIVATE:
            receipt_id = space.receipts.docs[number]["receipt_id"]
            self.failures[receipt_id] = frozenset(self._reasons(space, space.jobs[number].pinned))
        return self._renamed(jobs.settle_one(state, space_id, number, self.env, self.now), space_id)

    def _reasons(self, space: Space, job: Doc) -> Iterator[str]:
        """Give the codes for which an activation fails in a space."""
        held = imports.found(space, job["import_id"])
        checks: tuple[Callable[[], None], ...] = (
            lambda: imports.refuse_unfrozen(space),
            lambda: imports.refuse_unstaged(held),
            lambda: imports.refuse_other_generation(space, job["expected"]),
        )
        for check in checks:
            try:
                check()
            except Refusal as refusal:
                yield self.bundle.answered(refusal.symbol).code

    def number_of(self, state: State, space_id: str, receipt_id: str) -> int | None:
        """Give the number of a receipt that is pending, None where it is not."""
        number = state.spaces[space_id].receipts.ids.get(receipt_id)
        return number if number in state.spaces[space_id].jobs else None

    # -- looking

    def space(self, space_id: str) -> Space:
        """Give a space of the present state."""
        return self.state.spaces[space_id]

    def turn(self, caller: str, op: str, space: Space, state: State | None = None) -> Turn:
        """Give a turn in which the caller's effective grants are looked up, to ask what it holds."""
        turn = Turn(self.env, state or self.state, caller, self.bundle.operations[op], self.now)
        turn.grants = authority.effective(turn, space)
        return turn

    def replaced(self, space: Space) -> None:
        """Put another version of a space into the present state."""
        self.state = self.state.having(space, self.state.number)
