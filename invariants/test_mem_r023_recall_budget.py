"""MEM-R023: recall returns only authorised, selected, living records, within both budgets, and accounts for them exactly.

protocol.md section 7, Recall. What the contract leaves to the provider is not judged: the ranking, and whether a byte budget is
filled by prefix or by skipping. So the checks say what every ranking must give: how many, how much, and nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import Caller, all_made, made
from conformance.cargo import ENTRY
from conformance.wire.canonical import content_bytes
from conformance.wire.vocabulary import Flag
from conformance.world import World
from strategies.content import content_of_bytes, contents
from strategies.selections import budgets, byte_edges, selections, selects

CONTEXTS = ("c1", "c2", "c3")
PLENTY = {"max_records": 1000}


def written(world: World, bodies: Sequence[Mapping[str, Any]], context: str | None = "c1") -> dict[str, Mapping[str, Any]]:
    """Write one record of each content, as root, and return the contents by record id."""
    scope = world.scope(context=context)
    return {world.root.create(content=body, scope=scope): body for body in bodies}


def recall(caller: Caller, selection: Mapping[str, Any], budget: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Ask a recall that must succeed."""
    answer: Mapping[str, Any] = caller.do("recall", selection=selection, budget=budget, **members)
    return answer


def ids(answer: Mapping[str, Any]) -> list[str]:
    """Return the ids of the records in an answer, in its order."""
    return [record["record_id"] for record in answer["records"]]


def accounted(
    world: World, answer: Mapping[str, Any], budget: Mapping[str, Any], eligible: Mapping[str, Mapping[str, Any]]
) -> None:
    """Expect an answer to be right for every ranking: a set of eligible records, within the budget, exactly accounted for."""
    found = ids(answer)
    world.expect(len(set(found)) == len(found), "recall returned a record twice", seen=found)
    world.expect(
        set(found) <= set(eligible), "recall returned a record that is not eligible", expected=sorted(eligible), seen=found
    )
    used = sum(content_bytes(record["content"]) for record in answer["records"])
    world.same(used, answer["used_bytes"], "used_bytes is not the exact sum of the content bytes returned")
    world.expect(len(found) <= budget.get("max_records", len(found)), "recall exceeds max_records", expected=budget, seen=found)
    world.expect(used <= budget.get("max_bytes", used), "recall exceeds max_bytes", expected=budget, seen=used)
    world.same(len(found) < len(eligible), answer["truncated"], "truncated is not: an eligible record was left out")
    total = sum(content_bytes(body) for body in eligible.values())
    if len(eligible) <= budget.get("max_records", len(eligible)) and total <= budget.get("max_bytes", total):
        world.same(len(eligible), len(found), "the whole eligible set fits and is not returned whole")
    if "max_bytes" not in budget:
        world.same(
            min(budget["max_records"], len(eligible)), len(found), "max_records alone: not exactly min(max_records, eligible)"
        )


@given(bodies=st.lists(contents(), max_size=4), data=st.data())
def test_both_budgets_are_kept_and_accounted_for(bench: Bench, bodies: list[Any], data: st.DataObject) -> None:
    """No budget is exceeded, ``used_bytes`` is the exact sum, ``truncated`` exactly when an eligible record was left out."""
    world = bench.world()
    eligible = written(world, bodies)
    world.root.ensure(world.name("u1"))
    budget = data.draw(budgets([content_bytes(body) for body in bodies]))
    accounted(world, recall(world.root, world.everything(), budget), budget, eligible)


@given(sizes=st.lists(st.integers(11, 60), min_size=1, max_size=4), multibyte=st.booleans())
@pytest.mark.examples(0.5)
def test_every_edge_of_the_byte_budget(bench: Bench, sizes: list[int], multibyte: bool) -> None:
    """The byte budget is right at each record's size and each sum of sizes, one below and one above, in bytes."""
    world = bench.world()
    eligible = written(world, [content_of_bytes(size, multibyte=multibyte) for size in sizes])
    for edge in byte_edges(sizes):
        budget = {"max_bytes": edge}
        accounted(world, recall(world.root, world.everything(), budget), budget, eligible)


NUMBERS = (1.0, -0.0, 1e16, 1e20, 1e21, 1e-6, 1e-7, 1.5e300, 5e-324, 100)
"""Numbers that languages write in other lengths than RFC 8785 does."""


def test_numbers_cost_the_bytes_of_their_canonical_form(bench: Bench) -> None:
    """Content bytes are those of the RFC 8785 form, in which a number has one spelling, however it was sent."""
    world = bench.world()
    bodies = [{"text": "a", "structured": [number]} for number in NUMBERS]
    eligible = written(world, bodies)
    for body in bodies:
        for edge in byte_edges([content_bytes(body)]):
            accounted(world, recall(world.root, world.everything(), {"max_bytes": edge}), {"max_bytes": edge}, eligible)
    accounted(world, recall(world.root, world.everything(), PLENTY), PLENTY, eligible)


@given(body=contents(cognition="empty"))
def test_a_present_empty_cognition_costs_its_bytes(bench: Bench, body: Any) -> None:
    """Every member that is present counts, ``[]`` too: a budget of one byte less than the record's holds nothing."""
    world = bench.world()
    eligible = written(world, [body])
    for budget in ({"max_bytes": content_bytes(body)}, {"max_bytes": content_bytes(body) - 1}):
        accounted(world, recall(world.root, world.everything(), budget), budget, eligible)


@given(count=st.integers(1, 4), query=st.none() | st.just({"text": "a"}) | contents().map(lambda body: {"text": body["text"]}))
def test_exactly_all_is_not_truncated(bench: Bench, count: int, query: Any) -> None:
    """When the whole eligible set fits exactly, it is returned whole and not truncated; with one record less, it is."""
    world = bench.world()
    bodies = [{"text": "a" * (number + 1)} for number in range(count)]
    eligible = written(world, bodies)
    total = sum(content_bytes(body) for body in bodies)
    asked = {} if query is None else {"query": query}
    for budget in (
        {"max_records": count, "max_bytes": total},
        {"max_records": count},
        {"max_bytes": total},
        {"max_bytes": total - 1},
    ):
        accounted(world, recall(world.root, world.everything(), budget, **asked), budget, eligible)
    if count > 1:
        budget = {"max_records": count - 1, "max_bytes": total}
        accounted(world, recall(world.root, world.everything(), budget, **asked), budget, eligible)


@given(wanted=selections("u1", CONTEXTS), data=st.data())
def test_only_selected_records_come(bench: Bench, wanted: dict[str, Any], data: st.DataObject) -> None:
    """Only the records of the selected placements are eligible, whichever the query; the others spend no budget."""
    world = bench.world()
    places = data.draw(st.lists(st.sampled_from((*CONTEXTS, None)), max_size=5))
    scopes = [world.scope(context=place) for place in places]
    asked = {**wanted, "subject_id": world.name("u1")}
    if "context_ids" in wanted:
        asked["context_ids"] = [world.name(context) for context in wanted["context_ids"]]
    made = [(scope, world.root.create(content={"text": f"a {number}"}, scope=scope)) for number, scope in enumerate(scopes)]
    world.root.create(scope=world.scope("u2"), content={"text": "a"})
    eligible = {record_id: world.root.read(record_id)["content"] for scope, record_id in made if selects(asked, scope)}
    for budget in (PLENTY, {"max_records": max(1, len(eligible))}):
        accounted(world, recall(world.root, asked, budget, query={"text": "a"}), budget, eligible)


def test_only_authorised_records_come(bench: Bench) -> None:
    """What the caller may not recall is not returned, spends no budget and does not make the answer truncated."""
    world = bench.world()
    hidden = written(world, [{"text": f"zebra {number} " + "z" * 200} for number in range(6)], context="c2")
    seen = written(world, [{"text": "zebra"}], context="c1")
    reader = world.principal("recall", subject_ids=[world.name("u1")], context_ids=[world.name("c1")])
    for budget in (PLENTY, {"max_records": 1}, {"max_bytes": content_bytes({"text": "zebra"})}):
        accounted(world, recall(reader, world.everything(), budget, query={"text": "zebra"}), budget, seen)
    accounted(world, recall(world.root, world.everything(), PLENTY), PLENTY, {**hidden, **seen})


def test_only_living_records_come(bench: Bench) -> None:
    """Tombstones and candidates are not eligible: they spend no budget and do not make the answer truncated."""
    world = bench.world()
    # A provider may rank by age: some of the dead are older than the living, some younger.
    dead = [world.root.create(content={"text": "zebra dead"}) for _ in range(2)]
    world.root.capture(content={"text": "zebra pending"})
    eligible = written(world, [{"text": "zebra one"}, {"text": "zebra two"}])
    dead += [world.root.create(content={"text": "zebra dead"}) for _ in range(2)]
    world.root.capture(content={"text": "zebra pending"})
    for record_id in dead:
        world.root.do("records.delete", record_id=record_id, expected_revision=1)
    for budget in (PLENTY, {"max_records": 2}, {"max_bytes": sum(content_bytes(body) for body in eligible.values())}):
        for query in ({"query": {"text": "zebra"}}, {}):
            accounted(world, recall(world.root, world.everything(), budget, **query), budget, eligible)


def test_recall_agrees_with_the_record_as_it_is_read(bench: Bench) -> None:
    """Recall returns each record whole and current, after an update and a move too."""
    world = bench.world()
    record_id = world.root.create(content={"text": "old zebra"})
    recall(world.root, world.everything(), PLENTY, query={"text": "zebra"})
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": "new", "structured": {"a": [1]}})
    scope = world.scope(context="c2")
    world.root.do("records.promote", record_id=record_id, expected_revision=2, to_scope=scope)
    answer = recall(world.root, scenes.selection(scope), PLENTY, query={"text": "zebra"})
    world.same([world.root.read(record_id)], answer["records"], "recall does not return the record as it is")
    moved_from = recall(world.root, scenes.selection(world.scope()), PLENTY, query={"text": "zebra"})
    world.same([], moved_from["records"], "recall returns a record where it no longer is")


@given(bodies=st.lists(contents(), min_size=2, max_size=4), data=st.data())
@pytest.mark.examples(0.5)
def test_the_same_state_gives_the_same_answer(bench: Bench, bodies: list[Any], data: st.DataObject) -> None:
    """The same request on the same state gives the same answer, order included, whatever was read or refused between."""
    world = bench.world()
    written(world, [*bodies, bodies[0]])
    budget = data.draw(budgets([content_bytes(body) for body in bodies]))
    asked = {"query": {"text": bodies[0]["text"]}}
    first = recall(world.root, world.everything(), budget, **asked)
    for _ in range(3):
        recall(world.root, world.everything(), PLENTY)
        world.root.send("records.get", record_id="no such record")
        world.same(
            first, recall(world.root, world.everything(), budget, **asked), "the same recall on the same state answers otherwise"
        )


def test_many_records_are_recalled(bench: Bench) -> None:
    """However many records are eligible, all come that both budgets have room for; a context that is named twice counts once."""
    world = bench.world()
    eligible = written(world, [{"text": f"zebra {number}"} for number in range(scenes.MANY)])
    total = sum(map(content_bytes, eligible.values()))
    twice = {**world.everything(), "mode": "contexts", "context_ids": [world.name("c1")] * 2}
    budgets: list[dict[str, int]] = [
        PLENTY, {"max_records": scenes.MANY}, {"max_records": scenes.MANY - 1}, {"max_bytes": total}, {"max_bytes": total - 1},
        {"max_records": 2**40, "max_bytes": 2**40},
    ]  # fmt: skip
    for selection in (world.everything(), twice):
        for budget in budgets:
            accounted(world, recall(world.root, selection, budget), budget, eligible)
            accounted(world, recall(world.root, selection, budget, query={"text": "zebra"}), budget, eligible)


def _as_they_are(world: World, caller: Caller, ids_due: Sequence[str], after: str) -> None:
    """Expect a recall of all to give these records, each as it is read."""
    answer = recall(caller, world.everything(), PLENTY)
    expected = {record_id: world.root.read(record_id) for record_id in ids_due}
    world.same(expected, {one["record_id"]: one for one in answer["records"]}, f"recall after {after} is not of what is there")


def test_recall_follows_every_change(bench: Bench) -> None:
    """Recall gives the records as they are now: an update, a move, a review, a deletion and a grant show at once."""
    world = bench.world()
    reader = world.principal("recall", subject_ids=[world.scope()["subject_id"]], context_ids=[world.name("c1")])
    one, other = world.root.create(), world.root.create()
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("a new text", "records.update", {"record_id": one, "expected_revision": 1, "content": {"text": "b"}}),
        ("a new kind", "records.update", {"record_id": one, "expected_revision": 2, "kind": "fact"}),
        ("an equal text", "records.update", {"record_id": one, "expected_revision": 3, "content": {"text": "b"}}),
    ]
    _as_they_are(world, reader, [one, other], "nothing")
    for after, stem, members in changes:
        world.root.do(stem, **members)
        for caller in (world.root, reader):
            _as_they_are(world, caller, [one, other], after)
    world.root.do("records.promote", record_id=other, expected_revision=1, to_scope=world.scope(context="c2"))
    _as_they_are(world, reader, [one], "a move out of what the caller covers")
    world.root.grant(reader, capabilities=["recall"], context_ids=[world.name("c2")])
    _as_they_are(world, reader, [one, other], "a grant of more")
    fragments = [{"content": {"text": text}} for text in ("a", "c")]
    decision = {"action": "fragment", "fragments": fragments}
    receipt = world.root.do("candidates.review", candidate_id=world.root.capture(), expected_revision=1, decision=decision)
    _as_they_are(world, reader, [one, other, *all_made(receipt, "record")], "a review into fragments")
    world.root.do("records.delete", record_id=one, expected_revision=4)
    _as_they_are(world, reader, [other, *all_made(receipt, "record")], "a deletion")


def test_a_query_lifts_no_filter(bench: Bench) -> None:
    """With a query, as without one, only what the filter and the cognition filter let through is recalled."""
    world = bench.world()
    content = {"text": "zebra", "cognition": [ENTRY]}
    candidate_id = world.root.capture(content=content)
    decision = {"action": "promote"}
    receipt = world.root.do("candidates.review", candidate_id=candidate_id, expected_revision=1, decision=decision)
    world.root.create(content=content)
    world.root.create(content={"text": "zebra"})
    asked: dict[str, Any] = {"filter": {"sources": ["review"]}, "query": {"text": "zebra"}}
    expected = {made(receipt, "record"): content}
    accounted(world, recall(world.root, world.everything(), PLENTY, **asked), PLENTY, expected)
    if bench.declares(Flag.COGNITION):
        held: dict[str, Any] = {"cognition_filter": ENTRY["attribution"], "query": {"text": "zebra"}}
        world.same(2, len(ids(recall(world.root, world.everything(), PLENTY, **held))), "a query lifts the cognition filter")
        both = recall(world.root, world.everything(), PLENTY, **held, filter=asked["filter"])
        accounted(world, both, PLENTY, expected)
