"""MEM-R009, how far fences reach: each of however many, and no further than to what is placed there (section 7, Fences)."""

from __future__ import annotations

from collections.abc import Sequence

from conformance import scenes
from conformance.bench import Bench
from conformance.wire.vocabulary import Code
from conformance.world import World


def _fence(world: World, context_id: str, action: str = "fence") -> None:
    world.root.do("subjects.fence", target={"type": "context", "context_id": context_id}, action=action)


def _fenced(world: World, names: Sequence[str]) -> list[str]:
    """Return which of some contexts the space tells as fenced: another check may have fenced others there."""
    return [name for name in scenes.space(world)["fenced_context_ids"] if name in names]


def test_each_of_many_fences_holds(bench: Bench) -> None:
    """However many contexts are fenced, each refuses a write, is told, and is unfenced alone."""
    world = bench.world()
    places = [world.scope(context=f"c{number}") for number in range(scenes.MANY)]
    for place in places:
        _fence(world, place["context_id"])
    for place in places:
        world.root.refused("records.create", Code.CONTEXT_FENCED, kind="note", content={"text": "a"}, scope=place)
    names = [place["context_id"] for place in places]
    world.same_set(names, _fenced(world, names), "the fenced contexts of a space are not all told")
    for place in (places[0], places[-1]):
        _fence(world, place["context_id"], "unfence")
        world.root.create(scope=place)
    world.same_set(names[1:-1], _fenced(world, names), "unfencing a context unfenced another")


def test_provenance_meets_no_fence(bench: Bench) -> None:
    """What came from a context that is fenced since is changed, moved, deleted, decided and dismissed as if it were not."""
    world = bench.world()
    source = world.name("c9")
    updated, moved, deleted = (world.root.create(source_context_id=source) for _ in range(3))
    promoted, fragmented, discarded, dismissed = (world.root.capture(source_context_id=source) for _ in range(4))
    _fence(world, source)
    world.root.do("records.update", record_id=updated, expected_revision=1, content={"text": "b"})
    world.root.do("records.promote", record_id=moved, expected_revision=1, to_scope=world.scope(context="c2"))
    world.root.do("records.delete", record_id=deleted, expected_revision=1)
    fragments = [{"content": {"text": text}} for text in ("a", "b")]
    decisions = ((promoted, {"action": "promote"}), (fragmented, {"action": "fragment", "fragments": fragments}))
    for candidate_id, decision in (*decisions, (discarded, {"action": "discard"})):
        world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    scenes.dismiss(world, dismissed)
