"""The machine: a right provider never disagrees with it, a wrong one does, and what it compares is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.bench import Bench
from conformance.machine import acts, blames
from conformance.machine.behaviour import Behaviours
from conformance.machine.disagreement import Disagreement
from conformance.machine.walk import Leg, Plan, Played, play
from conformance.target import open_target
from conformance.wire.bundle import load
from conformance.wire.vocabulary import Code, Flag
from tests.faults import FAULTS
from tests.machine_table import RULES, find
from tests.seeded.fault import Fault

ACTS = 12


def played(target: str, *legs: Leg, watch: Any = None) -> Played:
    """Play one episode."""
    bundle = load()
    opened = open_target(target, bundle=bundle).open()
    return play(Bench(opened.shim, bundle, opened.facts), Plan(legs), watch=watch)


# -- right providers


@pytest.mark.parametrize("focus", sorted(acts.FOCI))
def test_the_right_oracle_never_disagrees(focus: str) -> None:
    episode = played("oracle", Leg(11, focus, ACTS))
    assert episode.finding is None
    assert episode.share.calls > ACTS


@pytest.mark.parametrize(
    "name",
    [
        "hides_lacking_coverage",
        "completes_late",
        "revocation_cascades",
        "own_namespaces",
        "tells_the_last_reason",
        "everything_else",
    ],
)
def test_a_permitted_variant_never_disagrees(name: str) -> None:
    episode = played(f"python:tests.variants:{name}", Leg(5, "even", 12), Leg(6, "transfer", 4))
    assert episode.finding is None
    assert episode.share.calls > 16


def test_a_provider_of_the_core_alone_is_asked_for_no_more() -> None:
    seen: set[str] = set()
    episode = played(
        "python:tests.providers:core_only", Leg(3, "even", 40), watch=lambda asked, _seen, _state: seen.add(asked.op)
    )
    assert episode.finding is None
    rows = load().operations
    assert seen
    assert {rows[op].flag for op in seen} == {Flag.CORE}


# -- wrong providers

NAMED = {
    "r005_raised_by_two": "MEM-R005",
    "r006_capture_goes_through": "MEM-R006",
    "r007_counts_settled_receipts": "MEM-R007",
    "r010_shared_read_writes": "MEM-R010",
    "r011_capabilities_only": "MEM-R011",
    "r014_conflict_not_detected": "MEM-R014",
    "r016_adds_two": "MEM-R016",
    "r018_decided_twice": "MEM-R018",
    "r021_structured_stays": "MEM-R021",
    "r027_receipts_lost": "MEM-R027",
}


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_seeded_fault_is_found_and_its_rule_is_named(name: str) -> None:
    row = find(f"python:tests.faults:{name}", 20.0)
    assert row.found
    assert row.rule == NAMED[name]


def test_calls_that_race_are_found_by_sending_them_at_once() -> None:
    assert find("python:tests.faults:r016_check_then_act", 20.0).found


def test_the_rules_whose_faults_it_must_find_have_faults() -> None:
    faults: dict[str, list[Fault]] = {rule: [fault for fault in FAULTS if fault.rule == rule] for rule in RULES}
    assert len(RULES) == 15
    assert all(faults.values())


# -- playing again


def test_the_same_legs_send_the_same_calls() -> None:
    one, other = (played("oracle", Leg(8, "all", 15), Leg(9, "grants", 5)) for _ in range(2))
    assert [exchange.call for exchange in one.exchanges] == [exchange.call for exchange in other.exchanges]
    assert one.legs == (Leg(8, "all", 15), Leg(9, "grants", 5))


def test_an_episode_goes_on_from_where_another_ended() -> None:
    first = played("oracle", Leg(8, "records" if "records" in acts.FOCI else "tombstones", 10))
    both = played("oracle", *first.legs, Leg(2, "cas", 5))
    assert [exchange.call for exchange in both.exchanges][: len(first.exchanges)] == [
        exchange.call for exchange in first.exchanges
    ]
    assert len(both.exchanges) > len(first.exchanges)


def test_a_leg_travels_as_json() -> None:
    leg = Leg(8, "cas", 3)
    assert Leg.of_json(leg.to_json()) == leg
    with pytest.raises(ValueError, match="no leg"):
        Leg.of_json({"seed": 1, "focus": "elsewhere"})


# -- the table of acts


def test_the_acts_reach_every_operation() -> None:
    seen: set[str] = set()
    for seed in range(40):
        played("oracle", Leg(seed, "even", 60), watch=lambda asked, _seen, _state: seen.add(asked.op))
        if len(seen) == len(load().operations):
            break
    assert seen == set(load().operations)


def test_every_focus_that_the_command_takes_is_a_focus() -> None:
    assert set(acts.ASKED_FOR) <= {*acts.FOCI, acts.ALL}
    families = {act.family for act in acts.ACTS}
    assert all(set(more) <= families for more in acts.FOCI.values())
    assert len(acts.BY_NAME) == len(acts.ACTS)


def test_a_behaviour_is_new_once() -> None:
    behaviours = Behaviours()
    behaviours.begin()
    played("oracle", Leg(4, "even", 10), watch=behaviours.watch)
    fresh = list(behaviours.fresh)
    behaviours.begin()
    played("oracle", Leg(4, "even", 10), watch=behaviours.watch)
    assert fresh
    assert behaviours.fresh == []
    assert behaviours.rarity(fresh) == 0.5
    assert behaviours.rarity([]) == 0


# -- which rule


def test_every_code_names_a_rule() -> None:
    assert set(blames.OF_CODE) | {Code.WRONG_STATE} == set(Code)
    assert all(blames.of_operation(op) != "" for op in load().operations)


@pytest.mark.parametrize(
    ("op", "pointer", "rule"),
    [
        ("memory.records.get", "/record/tombstone/deleted_by", "R021"),
        ("memory.spaces.list", "/s1/pending_receipts", "R007"),
        ("memory.records.update", "/receipt/affected/0/revision", "R016"),
        ("memory.recall", "/used_bytes", "R023"),
        ("memory.profile.get", "/documents", "R026"),
    ],
)
def test_a_member_names_a_rule(op: str, pointer: str, rule: str) -> None:
    assert blames.of_member(op, pointer) == rule


def test_a_disagreement_is_known_by_rule_operation_and_reason() -> None:
    episode = played("python:tests.faults:r016_adds_two", Leg(2, "cas", 60))
    assert isinstance(episode.finding, Disagreement)
    rule, op, reason = episode.finding.key
    assert (rule, op) == (episode.finding.rule, episode.finding.op)
    assert reason.startswith("member: ")
    assert isinstance(episode.exchanges[-1].reply.body(), Mapping)
