"""MEM-R010, the shared placement: every need of every operation takes its own degree of shared access there, no less, no more.

Driven by the ``access`` of each need in the operation table; a request that takes several forms is tried in each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller
from conformance.wire.bundle import Operation
from conformance.world import World
from strategies.vocabulary import capabilities

Members = dict[str, Any]

BELOW = {"write": "read", "read": "none"}
"""The next lower degree of shared access."""

SPACE_WIDE = ("issuer", "space", "subject")
"""What a need is about where no placement counts."""

DECISIONS: Sequence[Members] = (
    {"action": "promote", "kind": "note"},
    {"action": "fragment", "fragments": [{"kind": "note", "content": {"text": "b"}}, {"kind": "note", "content": {"text": "c"}}]},
    {"action": "discard"},
)


@dataclass(frozen=True)
class _Form:
    """One form of an operation's request at a shared placement."""

    operation: Operation
    changes: tuple[tuple[str, Any], ...] = ()
    into: bool = False
    """Whether the request starts at a context and only leads to the shared placement."""
    optional: tuple[str, ...] = ()
    """The capabilities that a provider may demand here or not."""

    def needs(self) -> dict[str, str]:
        """Give the degree that each capability takes, without those that a provider need not demand."""
        return {need.capability: need.access for need in self.operation.needs if need.capability not in self.optional}

    def request(self, world: World) -> Members:
        """Build the request; what it is about is made by root."""
        shared = world.scope("u1", None)
        members = scenes.plain_request(world, self.operation.stem, world.scope("u1", "c1") if self.into else shared)
        return {**members, **({"to_scope": shared} if self.into else {}), **dict(self.changes)}


def _forms(operation: Operation) -> Sequence[_Form]:
    if operation.stem == "records.promote":
        return (_Form(operation), _Form(operation, into=True))
    if operation.stem == "candidates.review":
        optional = {"discard": ("records_write",)}
        return [_Form(operation, (("decision", one),), optional=optional.get(one["action"], ())) for one in DECISIONS]
    return (_Form(operation),)


def _rows(world: World) -> list[_Form]:
    placed = [row for row in scenes.served(world) if row.needs and row.needs[0].on not in SPACE_WIDE]
    return [form for row in placed for form in _forms(row)]


def _poor(world: World, capability: str, access: str) -> Caller:
    """Return a caller with everything but this capability, which reaches the shared placement one degree less than needed."""
    others = [name for name in capabilities(world.bundle) if name != capability]
    caller = world.principal(*others, shared_access="write", name=f"{capability} below {access}")
    world.root.grant(caller, capabilities=[capability], shared_access=BELOW[access])
    return caller


def _rich(world: World, form: _Form, *, apart: bool) -> Caller:
    """Return a caller whose one grant, or whose grants of a capability each, reach exactly as far as is needed."""
    degrees = {need.capability: need.access for need in form.operation.needs}
    caller = world.stranger("exact")
    for names in [[name] for name in degrees] if apart else [list(degrees)]:
        world.root.grant(caller, capabilities=names, shared_access=degrees[names[0]])
    return caller


@pytest.mark.parametrize("apart", [False, True], ids=["by one grant", "by a grant each"])
def test_each_need_takes_its_own_shared_access(bench: Bench, apart: bool) -> None:
    """At the shared placement no other grant's access stands in for a needed capability's; each one's own degree is enough."""
    for form in bench.rows(_rows(bench.world())):
        world = bench.world()
        poor = [_poor(world, capability, access) for capability, access in form.needs().items()]
        rich = _rich(world, form, apart=apart)
        members = form.request(world)
        with world.unchanged():
            for caller in poor:
                caller.denied(form.operation.stem, **members)
        rich.do(form.operation.stem, **members)
