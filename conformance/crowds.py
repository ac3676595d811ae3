"""Several of everything that is listed: for each paged operation a request that lists more than one item, and what names one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from conformance import scenes
from conformance.caller import Caller
from conformance.world import World

Asked = tuple[dict[str, Any], str]
"""The members of a request, and the member of an item that names it."""


def records(world: World) -> Asked:
    """Make several records in one commit each, so that they are of the same instants."""
    world.scope()
    for _ in range(2):
        candidate_id = world.root.capture()
        fragments = [{"content": {"text": text}} for text in ("a", "b")]
        world.root.do(
            "candidates.review",
            candidate_id=candidate_id,
            expected_revision=1,
            decision={"action": "fragment", "fragments": fragments},
        )
    return {"selection": world.everything(), "include_tombstones": True}, "record_id"


def candidates(world: World) -> Asked:
    """Make candidates in several states."""
    made = [world.root.capture() for _ in range(4)]
    scenes.dismiss(world, made[0])
    world.root.do("candidates.review", candidate_id=made[1], expected_revision=1, decision={"action": "discard"})
    return {"selection": world.everything()}, "candidate_id"


def grants(world: World) -> Asked:
    """Make grants, a revoked one among them."""
    friend = world.principal("recall")
    for _ in range(2):
        world.root.grant(friend, capabilities=["recall"])
    world.root.do("grants.revoke", grant_id=world.root.grant(friend, capabilities=["review"]))
    return {"view": "admin"}, "grant_id"


def spaces(world: World) -> Asked:  # noqa: ARG001 - the signature of a crowd
    """Ask for the spaces of root: what follows holds for one as for many."""
    return {}, "space_id"


def reflections(world: World) -> Asked:
    """Generate reflections on one pinned selection."""
    scope = world.scope()
    for _ in range(3):
        scenes.reflect(world, scope)
    return {"selection": scenes.selection(scope)}, "reflection_id"


CROWDS: Mapping[str, Callable[[World], Asked]] = MappingProxyType(
    {
        "records.list": records,
        "candidates.list": candidates,
        "grants.list": grants,
        "spaces.list": spaces,
        "reflections.list": reflections,
    }
)
"""How to fill each paged operation's list, by its stem."""

SEVERAL = tuple(stem for stem in CROWDS if stem != "spaces.list")
"""The paged operations that list several items in one space."""


def paged(world: World) -> list[str]:
    """Return the stems of the paged operations that the target serves."""
    return [operation.stem for operation in scenes.served(world) if operation.lists is not None]


def opened(caller: Caller, stem: str, asked: Mapping[str, Any]) -> str:
    """Ask the first page of one item and return the cursor to the second."""
    answer = caller.do(stem, **asked, page={"limit": 1})
    more = "next_cursor" in answer
    caller.world.expect(more, f"memory.{stem}: a page of one of several items names no next_cursor", seen=answer)
    return str(answer.get("next_cursor"))
