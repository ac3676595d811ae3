"""What goes to a provider and what comes back: frozen values, JSON in and out (harness.md).

A ``Call`` is a memory call or a control call, a ``Reply`` its answer; an ``Exchange`` pairs them, a ``Trace`` lists them in the
order in which they were sent. Appending to a trace costs the same however long it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CONTROL_PREFIX = "control."


@dataclass(frozen=True, slots=True)
class Call:
    """One request: ``op`` is an operation's full name, or a control's with its prefix.

    ``credential`` is what admission turns into a principal (None: no credential is sent), ``flags`` the negotiated capability
    set as wire strings, ``payload`` the request body as is. ``caller`` is the name that a person reads in a trace.
    """

    op: str
    payload: Any
    credential: str | None = None
    flags: frozenset[str] = frozenset()
    caller: str = ""

    @property
    def is_control(self) -> bool:
        """True for a lever of the test bench, which is no part of the protocol."""
        return self.op.startswith(CONTROL_PREFIX)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: the success body in ``payload``, or the error envelope in ``error`` (then ``payload`` is None)."""

    payload: Any = None
    error: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """True for the success branch."""
        return self.error is None

    @property
    def code(self) -> str | None:
        """The wire error code, None on success."""
        return None if self.error is None else str(self.error.get("code"))

    def body(self) -> dict[str, Any]:
        """Return the answer as the operation's response schema describes it: the success members, or ``{"error": …}``."""
        return dict(self.payload) if self.error is None else {"error": dict(self.error)}


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call with its answer; ``seconds`` is the wall time between them."""

    call: Call
    reply: Reply
    seconds: float = 0.0


class Exercise(NamedTuple):
    """That a caller who ``held`` a capability for an operation in a dimension, or lacked it there alone, was answered rightly.

    ``dimension``: ``capability`` (listed or not), ``space`` (a grant of the whole space), ``subject``, ``context`` or ``shared``.
    """

    op: str
    capability: str
    dimension: str
    held: bool


@dataclass(slots=True)
class Trace:
    """The exchanges of one world, oldest first; of a long one that was forgotten, the latest."""

    exchanges: list[Exchange] = field(default_factory=list)

    def add(self, exchange: Exchange) -> None:
        """Record one exchange."""
        self.exchanges.append(exchange)

    def forget_all_but(self, latest: int) -> None:
        """Keep the latest exchanges alone; nothing happens until there are twice as many."""
        if len(self.exchanges) > 2 * latest:
            del self.exchanges[:-latest]

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self.exchanges)

    def __len__(self) -> int:
        return len(self.exchanges)
