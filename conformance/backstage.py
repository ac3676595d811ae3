"""What goes on where a limited caller cannot see it (rule MEM-R013): hidden histories, one deed a function.

Each deed works at a placement that is hidden from the caller, or on subjects, principals, exports and spaces that it has nothing
to do with. What a deed sends may be refused, since deeds meet in any order: nobody looks at the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance import scenes
from conformance.onlooker import QUERY, Place, content
from conformance.wire.vocabulary import Flag
from conformance.world import World

COMMON = (f"{QUERY} {QUERY} {QUERY}", "amber amber", "river stone", "fox")
Deed = Callable[[World, Place, int], None]
FAR = "u9"
"""A subject that no limited caller covers."""


def _scope(world: World, place: Place) -> dict[str, str]:
    return world.scope(*place)


def _record(world: World, place: Place, amount: int) -> None:
    """Write records that fit the query better than all in view, or make some of its words common."""
    for number in range(amount):
        body = {**content(number), "text": COMMON[(number + amount) % len(COMMON)]}
        world.root.create(scope=_scope(world, place), content=body, source_context_id="src")


def _revise(world: World, place: Place, amount: int) -> None:
    record_id = world.root.create(scope=_scope(world, place), content=content(0))
    for revision in range(1, amount + 1):
        world.root.do("records.update", record_id=record_id, expected_revision=revision, content=content(revision))


def _delete(world: World, place: Place, amount: int) -> None:
    for number in range(amount):
        record_id = world.root.create(scope=_scope(world, place), content=content(number))
        world.root.do("records.delete", record_id=record_id, expected_revision=1)


def _capture(world: World, place: Place, amount: int) -> None:
    for number in range(amount):
        world.root.capture(scope=_scope(world, place), content=content(number), source_context_id="src")


DECISIONS: Sequence[Mapping[str, Any]] = (
    {"action": "promote"},
    {"action": "discard"},
    {"action": "fragment", "fragments": [{"content": content(0)}, {"content": content(1)}]},
)


def _review(world: World, place: Place, amount: int) -> None:
    candidate_id = world.root.capture(scope=_scope(world, place), content=content(amount))
    decision = DECISIONS[amount % len(DECISIONS)]
    world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)


def _grant(world: World, _place: Place, amount: int) -> None:
    """Give others what the limited caller has, and take every second one back."""
    other = world.stranger("other")
    for number in range(amount):
        grant_id = world.root.grant(other, capabilities=["records_read", "grants_issue"], context_ids=[world.name("c1")])
        if number % 2:
            world.root.do("grants.revoke", grant_id=grant_id)


def _others(world: World, place: Place, amount: int) -> None:
    """Let another principal work, under the very keys that the limited caller uses."""
    other = world.principal("records_write", "records_read", "capture", shared_access="write", name="other")
    for number in range(1, amount + 1):
        key = world.name(f"look-{number}")
        other.do("records.create", kind="note", content=content(number), scope=_scope(world, place), idempotency_key=key)


def _profile(world: World, _place: Place, amount: int) -> None:
    subject_id = world.root.ensure(world.name(FAR))
    members = {"subject_id": subject_id, "kind": f"kind {amount}", "content": {"text": "a"}}
    world.root.send("profile.update", **members, expected_revision=None)
    world.root.send("profile.update", **members, expected_revision=1)


def _fence(world: World, _place: Place, amount: int) -> None:
    subject_id = world.root.ensure(world.name(f"{FAR}-{amount}"))
    target, action = {"type": "subject", "subject_id": subject_id}, ("fence", "archive")[amount % 2]
    world.root.send("subjects.fence", target=target, action=action, expected_revision=1)


def _context(world: World, _place: Place, amount: int) -> None:
    """Fence a context that is not in view: the space's own facts change, which every caller may see."""
    target = {"type": "context", "context_id": world.name(f"c8-{amount}")}
    world.root.send("subjects.fence", target=target, action="fence")


def _reflect(world: World, _place: Place, _amount: int) -> None:
    if world.bundle.flag(Flag.REFLECTION) in world.root.flags:
        scenes.reflect(world, world.scope(FAR, "c2"))


def _transfer(world: World, _place: Place, _amount: int) -> None:
    if world.bundle.flag(Flag.TRANSFER) in world.root.flags:
        scenes.staged(world)


def _refused(world: World, place: Place, amount: int) -> None:
    """Ask for what is refused: nothing changes, but something was tried."""
    record_id = world.root.create(scope=_scope(world, place))
    for _ in range(amount):
        world.root.send("records.update", record_id=record_id, expected_revision=7, kind="b")


DEEDS: Mapping[str, Deed] = {
    "record": _record,
    "revise": _revise,
    "delete": _delete,
    "capture": _capture,
    "review": _review,
    "grant": _grant,
    "others": _others,
    "profile": _profile,
    "fence": _fence,
    "context": _context,
    "reflect": _reflect,
    "transfer": _transfer,
    "refused": _refused,
}


def happen(world: World, deeds: Sequence[tuple[str, int, int]], hidden: Sequence[Place]) -> None:
    """Do deeds (name, number of the hidden placement, amount) out of the limited caller's sight."""
    for name, place, amount in deeds:
        DEEDS[name](world, hidden[place % len(hidden)], amount)
