"""What a check holds: one ``Bench`` for one check on one target, from which each generated example takes a fresh world.

Examples are independent and need no teardown where the target can provision spaces. Where it cannot, the worlds of a check
share the spaces and principals of the target file: then the grants of a world are revoked before the next one begins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from conformance.client import Client
from conformance.edge.probe import Edge
from conformance.expect import Inconclusive, NotApplicable
from conformance.levers import Facts, Home, Levers, Login
from conformance.transport.shim import Shim
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Flag
from conformance.world import World

Row = TypeVar("Row")


class Bench:
    """A check's place of work. ``homes`` and ``logins`` are those of the target file, for targets that cannot make new ones.

    ``edge`` is the way to a server that takes any HTTP request, None where the target is reached otherwise.
    ``most_rows`` bounds how many rows of a table a check tries (None: all of them).
    """

    def __init__(
        self,
        shim: Shim,
        bundle: Bundle,
        facts: Facts,
        *,
        check_id: str = "",
        seed: int = 0,
        most_rows: int | None = None,
        edge: Edge | None = None,
        homes: Sequence[Home] = (),
        logins: Sequence[Login] = (),
    ) -> None:
        self.bundle = bundle
        self.client = Client(shim, bundle)
        self.levers = Levers(shim, facts)
        self.check_id = check_id
        self.seed = seed
        self.latest: World | None = None
        self._open: list[World] = []
        self.edge = edge
        self._most_rows = most_rows
        self._homes = tuple(homes)
        self._logins = tuple(logins)
        self._described: Mapping[str, Any] | None = None
        self._worlds = 0

    @property
    def facts(self) -> Facts:
        """What the target says of itself."""
        return self.levers.facts

    def declares(self, flag: Flag) -> bool:
        """Say whether the target declares ``flag``."""
        return self.bundle.flag(flag) in self.facts.flags

    def require(self, flag: Flag) -> None:
        """End the check NOT_APPLICABLE where the target does not declare ``flag``."""
        if flag not in self.bundle.flags:
            raise NotApplicable(f"the contract of this run has no flag {flag}")
        if not self.declares(flag):
            raise NotApplicable(f"the target does not declare {self.bundle.flag(flag)}")

    def world(self) -> World:
        """Make a fresh world.

        Raises ``Inconclusive`` where the target can neither provision a space nor names one in its file.
        """
        self.close()
        return self.beside()

    def beside(self) -> World:
        """Make a fresh world beside the latest one, which goes on: the two are taken back together. Raises as ``world`` does."""
        self._worlds += 1
        home = self._home()
        self.latest = World(self.client, self.facts, home, login=self.login, salt=self._salt() if home.shared else "")
        self._open.append(self.latest)
        return self.latest

    def close(self) -> None:
        """Take back what was granted in shared spaces."""
        for world in self._open:
            if world.shared:
                world.close()
        self._open.clear()

    def _home(self) -> Home:
        if self.levers.has("provision"):
            return self.levers.provision()
        if not self._homes:
            raise Inconclusive("the target provisions no space and its target file names none")
        return self._homes[self._worlds % len(self._homes)]

    def login(self, index: int) -> Login:
        """Return a principal without grants: a new one, else number ``index`` of the target file's pool."""
        if self.levers.has("principal"):
            return self.levers.principal()
        if index >= len(self._logins):
            raise Inconclusive(f"the target makes no principals and its target file names only {len(self._logins)}")
        return self._logins[index]

    def described(self, world: World) -> Mapping[str, Any]:
        """Return the answer of ``memory.describe``, asked once a check."""
        if self._described is None:
            self._described = world.root.do("describe")
        return self._described

    def rows(self, table: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of a check's table that this run tries: all, or in a run that only touches each rule a few of them.

        Which ones derives from the seed and the check alone.
        """
        if self._most_rows is None or self._most_rows >= len(table):
            return table
        first = int.from_bytes(hashlib.sha256(f"{self.seed}\0{self.check_id}".encode()).digest()[:4], "big")
        return [table[(first + number * len(table) // self._most_rows) % len(table)] for number in range(self._most_rows)]

    def _salt(self) -> str:
        text = f"{self.seed}\0{self.check_id}\0{self.facts.instance}\0{self._worlds}"
        return "-" + hashlib.sha256(text.encode()).hexdigest()[:12]

    def ran_nothing(self) -> bool:
        """Say whether no assertion was executed."""
        return self.client.tally.assertions == 0
