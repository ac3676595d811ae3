"""What an episode plays on: one or two spaces, their roots, some principals, a handful of names, and a source of choices.

All that is random comes from ``random``; all that is known of the target's objects is looked up in the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from conformance.bench import Bench
from conformance.errors import TargetFault
from conformance.exchange import Reply
from conformance.machine import cascades
from conformance.machine.chains import Chain, Chains
from conformance.machine.comparison import Sight
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Actor, Duo, Watch
from conformance.machine.model import Model
from conformance.machine.parcels import Parcels
from conformance.machine.recalls import RECALL, Recalls
from conformance.oracle.state import Doc, Row, Space, Table
from conformance.paging import MOST_BARREN
from conformance.wire.vocabulary import Flag
from conformance.world import World
from strategies.identifiers import LOOK_ALIKES
from strategies.timestamps import shifted

Chosen = TypeVar("Chosen")

PEOPLE = 4
GRANTS_LIST = "memory.grants.list"
LATEST_YEAR = "9000"


@dataclass(frozen=True, slots=True)
class Names:
    """The names of an episode: subjects, contexts, profile kinds; some are look-alikes of others."""

    subjects: tuple[str, ...]
    contexts: tuple[str, ...]
    kinds: tuple[str, ...]


class Stage:
    """One episode's place. ``aside`` (a second space) is None where the target gives only one."""

    def __init__(self, bench: Bench, random: Random, *, watch: Watch | None = None, alone: bool = True) -> None:
        self.bench = bench
        self.random = random
        self.alone = alone
        self.world = bench.world()
        homes = [self.world, *self._second(bench)]
        self.flags = bench.facts.flags
        self.roots = {world.space_id: _root(world, number) for number, world in enumerate(homes)}
        self.space_ids = tuple(self.roots)
        self.model = Model(bench.bundle, bench.described(self.world), self.flags)
        self.sight = Sight(timed=alone and bench.levers.has("clock"), digests=self.model.digests, failures=self.model.failures)
        self.duo = Duo(self.world, self.model, self.sight, self.flags, watch)
        self.chains = Chains(self.duo)
        self.recalls = Recalls(self.duo)
        self.parcels = Parcels(self.duo)
        self.served = {row.name for row in bench.bundle.operations.values() if self.serves(row.flag)}
        self.names = _names(random, bench.described(self.world)["required_profile_kinds"])
        self.people = [self._person(number) for number in range(PEOPLE)]
        self._keys = 0
        self._members: dict[str, Mapping[str, Any]] = {}
        self._begin()

    @staticmethod
    def _second(bench: Bench) -> list[World]:
        return [bench.beside()] if bench.levers.has("provision") else []

    def _person(self, number: int) -> Actor:
        login = self.bench.login(number)
        return Actor(f"p{number + 1}", login.principal_id, login.credential)

    # -- beginning

    def _begin(self) -> None:
        """Set the clock, and take the spaces as the target shows them to their roots."""
        self.model.now = "0001-01-01T00:00:00Z"
        if self.sight.timed:
            now = str(self.bench.levers.pull("clock", advance_seconds=2)["now"])
            self.set_clock(shifted(f"{now[:19]}Z", 2))
        for space_id, root in self.roots.items():
            spaces = self.duo.exchange(root, "memory.spaces.list", {}).payload["spaces"]
            grants = self.duo.exchange(root, "memory.grants.list", {"space_id": space_id, "view": "own"}).payload["grants"]
            self.model.found(next(space for space in spaces if space["space_id"] == space_id), grants)

    def set_clock(self, now: str) -> None:
        """Stop the target's clock at an instant, and the model's where the target says that it stands: it may be coarser."""
        self.model.now = str(self.bench.levers.pull("clock", set=now, frozen=True)["now"])

    def advance(self, seconds: int) -> None:
        """Let whole seconds pass on both sides; near the end of the calendar none do."""
        if self.sight.timed and self.model.now < LATEST_YEAR:
            self.set_clock(shifted(self.model.now, seconds))

    def restart(self) -> None:
        """Restart the target: it must go on as it was."""
        self.duo.timed("control.restart", self.bench.levers.restart)
        self.chains.restarted()

    def hold(self, hold: bool) -> None:
        """Hold what may be pending, or let it settle; what settled is read."""
        waiting = self.model.pending(self.model.state)
        self.duo.hold(hold, lambda name, payload: self.bench.levers.pull(name, **payload))
        if not hold:
            for number, space_id in waiting:
                receipt = self.model.space(space_id).receipts.docs[number]
                self.ask(
                    self.actor_of(receipt["principal_id"], space_id), "receipts.get", space_id, receipt_id=receipt["receipt_id"]
                )

    def end(self) -> None:
        """Put back what others would meet: a hold, a clock that stands still. A target that is gone is let go."""
        with suppress(TargetFault):
            if self.duo.held:
                self.duo.held = False
                self.bench.levers.hold(False)
            if self.sight.timed:
                self.bench.levers.run_clock()

    def serves(self, flag: Flag) -> bool:
        """Say whether the target declares a flag."""
        return self.bench.declares(flag)

    # -- choosing

    def chance(self, share: float) -> bool:
        """Say yes in this share of cases."""
        return self.random.random() < share

    def pick(self, options: Sequence[Chosen]) -> Chosen:
        """Pick one of some options."""
        return options[self.random.randrange(len(options))]

    def some(self, options: Sequence[Chosen], most: int = 4) -> list[Chosen]:
        """Pick one to ``most`` different options, in any order."""
        return self.random.sample(list(options), self.random.randint(1, min(most, len(options))))

    def space_id(self) -> str:
        """Pick a space, mostly the first."""
        return self.space_ids[-1] if self.chance(0.15) else self.space_ids[0]

    def space(self, space_id: str) -> Space:
        """Give a space as the model has it."""
        return self.model.space(space_id)

    def everyone(self, space_id: str) -> list[Actor]:
        """List who may act in a space, its root first."""
        return [self.roots[space_id], *self.people]

    def someone(self, space_id: str) -> Actor:
        """Pick a caller: often root, else anybody."""
        return self.roots[space_id] if self.chance(0.4) else self.pick(self.people)

    def actor_of(self, principal_id: str, space_id: str) -> Actor:
        """Give the actor that is a principal; root of the space where it is none of ours."""
        known = [*self.people, *self.roots.values()]
        return next((actor for actor in known if actor.principal_id == principal_id), self.roots[space_id])

    def fresh_key(self) -> str:
        """Give an idempotency key that was not used before in this episode."""
        self._keys += 1
        return self.world.name(f"k{self._keys}")

    # -- asking

    def request(self, stem: str, space_id: str, members: Mapping[str, Any]) -> Doc:
        """Build the request of an operation, with the space and a fresh key where it has them."""
        op = f"memory.{stem}"
        taken = self._members.get(op)
        if taken is None:
            taken = self._members[op] = self.world.members_of(op)
        request = dict(members)
        if "space_id" in taken:
            request = {"space_id": space_id, **request}
        if "idempotency_key" in taken and "idempotency_key" not in request:
            request["idempotency_key"] = self.fresh_key()
        return request

    def ask(self, actor: Actor, stem: str, space_id: str, **members: Any) -> Reply:
        """Send one call to both sides and judge it. Raises ``Disagreement``."""
        return self.send(actor, f"memory.{stem}", self.request(stem, space_id, members))

    def by_root(self, space_id: str, stem: str, **members: Any) -> Reply:
        """Send one call of a space's root (see ``ask``)."""
        return self.ask(self.roots[space_id], stem, space_id, **members)

    def send(self, actor: Actor, op: str, request: Doc) -> Reply:
        """Send a built request (a replay is the same one again)."""
        row = self.model.bundle.operations[op]
        if op == RECALL:
            return self.recalls.send(actor, request)
        if row.lists is not None:
            page = request.get("page", {})
            bare = {name: value for name, value in request.items() if name != "page"}
            return self.chains.page(Chain(actor, op, bare), page)
        seen = self.duo.send(actor, op, request)
        if op == "memory.grants.revoke" and seen.error is None:
            self._follow(request["space_id"], request["grant_id"])
        return seen

    def listed(self, actor: Actor, stem: str, space_id: str, limits: Sequence[int] = (), **members: Any) -> Chain:
        """Walk a list to its end, with these page limits in turn (the last goes on)."""
        chain = Chain(actor, f"memory.{stem}", self.request(stem, space_id, members))
        given, going = list(limits), True
        while going:
            seen = self.chains.page(chain, {"limit": given[0]} if given else {})
            given = given[1:] or given
            going = seen.error is None and bool(chain.cursor)
        return chain

    def _follow(self, space_id: str, grant_id: str) -> None:
        """Look up what else a revocation ended, where the target may have ended more."""
        space = self.space(space_id)
        revoked = space.grants.rows[grant_id].doc
        if not cascades.descendants(space, revoked):
            return
        reader = self.roots[space_id]
        request = {"space_id": space_id, "view": "admin", "page": {"limit": self.model.described["limits"]["max_page"]}}
        grants: list[Doc] = []
        for _ in range(len(space.grants.rows) + MOST_BARREN):
            seen = self.duo.exchange(reader, GRANTS_LIST, request)
            if seen.error is not None:
                return
            grants += seen.payload["grants"]
            if "next_cursor" not in seen.payload:
                self.model.replaced(cascades.fallen(space, grants, revoked))
                return
            request = {**request, "page": {"cursor": seen.payload["next_cursor"]}}
        raise Disagreement("R022", GRANTS_LIST, Kind.MEMBER, reason="a chain of pages without end", seen=seen.payload)


def ordered(table: Table) -> list[tuple[Any, Row]]:
    """List a table's rows with their keys, oldest first: the order of a map is another in each process."""
    return sorted(table.rows.items(), key=lambda entry: entry[1].number)


def keys(table: Table) -> list[Any]:
    """List a table's keys, oldest first."""
    return [key for key, _ in ordered(table)]


def _root(world: World, number: int) -> Actor:
    return Actor("root" if number == 0 else f"root{number + 1}", world.root.principal_id, world.root.credential)


def _names(random: Random, required: Sequence[str]) -> Names:
    subjects = _alike(random, "u1")
    # A subject and a kind that read alike when they are joined.
    joined = any(name.endswith("/x") for name in subjects)
    kinds = (*required, "preferences", "note", *(("x/note",) if joined or random.random() < 0.1 else ()))
    return Names(subjects, _alike(random, "c1"), kinds)


def _alike(random: Random, plain: str) -> tuple[str, ...]:
    """Give a plain name, and beside it names that are nearly the same or nearly one another's."""
    near = (f"{plain} ", f" {plain}", plain.upper(), f"{plain}\u200b", f"{plain}0", f"{plain}/x", f"{plain[0]}_", f"{plain[0]}%")
    family = random.choice(LOOK_ALIKES)
    others = (*random.sample(near, 2), *random.sample(family, 2)) if random.random() < 0.7 else (f"{plain[0]}2", f"{plain[0]}3")
    return tuple(dict.fromkeys((plain, *others)))
