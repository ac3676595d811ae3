"""What a step is given and what it gives back.

A step is ``(turn, space, request) -> Outcome``. It reads the turn (who calls which operation, when, with which effective grants),
never changes the space it is given, and raises ``Refusal`` to change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from conformance.oracle.choices import Choices
from conformance.oracle.state import Doc, Job, Space, State
from conformance.wire.bundle import Bundle, Need, Operation, instant, load
from conformance.wire.vocabulary import Code


@dataclass(frozen=True, slots=True)
class Env:
    """What every step may rely on: ``declared`` flags and served cognition ``dimensions`` as wire strings.

    ``secret`` makes cursors that nobody else can make up.
    """

    bundle: Bundle
    choices: Choices
    declared: frozenset[str]
    dimensions: frozenset[str]
    secret: str = ""


@dataclass
class Turn:
    """One call: ``caller`` is a principal id, ``now`` a Timestamp, ``grants`` the caller's effective grants in the space.

    ``number`` is the last number that was given out; it is kept only where the step commits.
    """

    env: Env
    state: State
    caller: str
    op: Operation
    now: str
    number: int = 0
    grants: list[Doc] = field(default_factory=list)

    @property
    def choices(self) -> Choices:
        """The provider's choices."""
        return self.env.choices

    def envelope(self, extensions: Doc | None = None) -> Doc:
        """Give what every durable object has (section 3): ``extensions`` of its request, if any, beside the provider's own."""
        return {
            "schema_version": self.choices.schema_version,
            "extensions": {**self.choices.own_namespaces, **(extensions or {})},
        }

    @property
    def bundle(self) -> Bundle:
        """The contract as data."""
        return self.env.bundle

    @cached_property
    def instant(self) -> tuple[str, str]:
        """The present as a key that compares with those of other Timestamps."""
        return instant(self.now)

    def need(self, index: int = 0) -> Need:
        """Give a capability that this operation needs, by its place in the table of operations."""
        return self.op.needs[index]

    def need_of(self, op: str, index: int = 0) -> Need:
        """Give a capability that another operation needs."""
        return self.bundle.operations[op].needs[index]

    def carried(self, request: Doc, title: str) -> Doc:
        """Give the members of a request that this run's contract has and ours has not, if the model has them too: they stay."""
        ours = load()
        if self.bundle is ours:
            return {}
        known = ours.schema(ours.request_ref(self.op.name))["properties"]
        kept = self.bundle.schema(self.bundle.model_ref(title))["properties"]
        return {name: value for name, value in request.items() if name in kept and name not in known}

    def next_number(self) -> int:
        """Give the next number."""
        self.number += 1
        return self.number

    def mint(self, kind: str, taken: Container[Any] = ()) -> tuple[str, int]:
        """Make a new id, none that is ``taken`` (an import may have brought it), with the number it was made from."""
        made = ""
        while not made or made in taken:
            number = self.next_number()
            made = self.choices.make_id(kind, number)
        return made, number


class Outcome(NamedTuple):
    """What a step gives: the space after it, and the members of a read's reply or what a mutation changed.

    With a ``job`` the mutation may be pending: ``space`` is what the request itself leaves behind, and the job does the rest.
    ``grantees`` are principals that were granted something in the space for the first time, perhaps.
    """

    space: Space
    members: Doc = {}  # noqa: RUF012  (a default that nobody changes)
    affected: tuple[Doc, ...] = ()
    job: Job | None = None
    grantees: tuple[str, ...] = ()


class Settled(NamedTuple):
    """What a job gives when it is done: the space after it and what changed, or the code of its failure."""

    space: Space
    affected: tuple[Doc, ...] = ()
    error: Code | None = None


Request = Mapping[str, Any]
Step = Callable[[Turn, Space, Doc], Outcome]
Settler = Callable[[Turn, Space, Doc], Settled]


def changed(kind: str, object_id: str, revision: int | None = None) -> Doc:
    """Name an object that a mutation changed, as a receipt lists it (section 4, affected)."""
    return {"type": kind, "id": object_id} if revision is None else {"type": kind, "id": object_id, "revision": revision}


def extensions_of(request: Doc) -> Doc:
    """Give the extensions of a request, which go to the object that it creates (section 4)."""
    found: Doc = request.get("extensions", {})
    return found
